"""The health tests of SP 800-90B: cut-offs, exact failing points, start-up, and the latch."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rng.health import (
    STARTUP_SAMPLES,
    AdaptiveProportion,
    HealthTest,
    HealthTestError,
    MonitoredEntropy,
    RepetitionCount,
    proportion_cutoff,
    proportion_window,
    repetition_cutoff,
)
from hal.ports.entropy import EntropyError

HALF = Fraction(1, 2)
# rng_and_stats.md 1: alpha = 2^-row, H = column, cells: repetition, proportion (computed there with SciPy).
TABLE = {
    20: {HALF: (41, 793), 1: (21, 589), 2: (11, 177), 4: (6, 62), 6: (5, 25), 7: (4, 18), 8: (4, 13)},
    30: {HALF: (61, 810), 1: (31, 609), 2: (16, 190), 4: (9, 71), 6: (6, 31), 7: (6, 22), 8: (5, 16)},
    40: {HALF: (81, 824), 1: (41, 625), 2: (21, 201), 4: (11, 78), 6: (8, 35), 7: (7, 26), 8: (6, 19)},
}


@pytest.mark.parametrize("alpha", TABLE)
def test_cutoffs_are_those_of_the_table(alpha: int) -> None:
    for entropy, cutoffs in TABLE[alpha].items():
        exact = Fraction(entropy)
        window = proportion_window(is_binary=exact <= 1)
        assert (repetition_cutoff(alpha, exact), proportion_cutoff(alpha, exact, window)) == cutoffs, entropy


def test_cutoff_that_others_use() -> None:
    """Go's standard library: H = 0.5, alpha = 2^-20, window 512 gives 41 and 410 (rng_and_stats.md 1)."""
    assert (repetition_cutoff(20, HALF), proportion_cutoff(20, HALF, 512)) == (41, 410)


@pytest.mark.parametrize("alpha", [3, 10, 20, 40])
@pytest.mark.parametrize("entropy", [1, 3, 8])
def test_cutoff_is_the_smallest_that_keeps_the_false_alarm_rate(alpha: int, entropy: int) -> None:
    window, hit = 64, Fraction(1, 2**entropy)

    def more_than(k: int) -> Fraction:
        return sum(
            (math.comb(window, i) * hit**i * (1 - hit) ** (window - i) for i in range(k + 1, window + 1)),
            Fraction(0),
        )

    critical = proportion_cutoff(alpha, Fraction(entropy), window) - 1
    assert more_than(critical) <= Fraction(1, 2**alpha) < more_than(critical - 1)


def test_repetition_count_fails_at_its_cutoff_and_not_before() -> None:
    test = RepetitionCount(6)
    assert all(test.take(sample) for sample in [7] * 5 + [8] * 5 + [7] * 5)
    assert not test.take(7)


def test_adaptive_proportion_fails_at_its_cutoff_and_not_before() -> None:
    test = AdaptiveProportion(cutoff=4, window=10)
    # The window's first value three times is well; a new window counts anew, on its own first value.
    assert all(test.take(sample) for sample in [1, 2, 1, 2, 1, 2, 2, 2, 2, 2])
    assert all(test.take(sample) for sample in [2, 1, 2, 1, 2])
    assert not test.take(2)


def test_a_value_that_is_not_the_first_of_its_window_is_the_other_tests_business() -> None:
    test = AdaptiveProportion(cutoff=4, window=10)
    assert all(test.take(sample) for sample in [1] + [2] * 9)


@given(st.lists(st.integers(0, 3), max_size=300), st.integers(2, 8))
def test_repetition_count_agrees_with_a_plain_search(samples: list[int], cutoff: int) -> None:
    test = RepetitionCount(cutoff)
    for end in range(1, len(samples) + 1):
        tail = samples[max(0, end - cutoff) : end]
        stuck = len(tail) == cutoff and len(set(tail)) == 1
        assert test.take(samples[end - 1]) is not stuck
        if stuck:
            break


def test_start_up_reads_and_drops_1024_samples(source) -> None:  # type: ignore[no-untyped-def]
    entropy = MonitoredEntropy(source)
    entropy.start_up()
    assert source.taken == STARTUP_SAMPLES == 1024
    fresh = type(source)(1)
    fresh.read(1024)
    assert entropy.read(16) == fresh.read(16)


def test_a_stuck_source_is_caught_at_once_and_for_good(source) -> None:  # type: ignore[no-untyped-def]
    entropy = MonitoredEntropy(source)
    entropy.start_up()
    source.stuck_at = 0x5A
    with pytest.raises(HealthTestError) as failure:
        entropy.read(48)
    assert failure.value.test is HealthTest.REPETITION_COUNT
    source.stuck_at = None
    with pytest.raises(HealthTestError):
        entropy.read(48)


def test_a_source_that_favours_a_value_is_caught_by_the_proportion_test() -> None:
    class Favourite:
        """Every eighth byte is 9, never two in a row."""

        def read(self, size: int) -> bytes:
            return bytes(9 if i % 8 == 0 else 16 + i % 97 for i in range(size))

    with pytest.raises(HealthTestError) as failure:
        MonitoredEntropy(Favourite()).start_up()
    assert failure.value.test is HealthTest.ADAPTIVE_PROPORTION


def test_tests_run_across_reads() -> None:
    class Slow:
        """No single read is long enough to fail."""

        def read(self, size: int) -> bytes:
            return b"\x11" * size

    entropy = MonitoredEntropy(Slow())
    entropy.read(3)
    entropy.read(2)
    with pytest.raises(HealthTestError):
        entropy.read(1)


def test_a_source_that_gives_too_few_bytes_has_failed() -> None:
    class Short:
        def read(self, size: int) -> bytes:
            return bytes(range(size - 1))

    with pytest.raises(EntropyError, match="asked for 48 bytes, the source gave 47"):
        MonitoredEntropy(Short()).read(48)


def test_healthy_sources_are_not_accused(new_source) -> None:  # type: ignore[no-untyped-def]
    for seed in range(20):
        MonitoredEntropy(new_source(seed)).read(20_000)
