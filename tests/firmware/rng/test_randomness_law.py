"""The randomness clauses of the law, on outcomes of the machine's own calls, at the law table's figures.

Seeds are fixed, so a run repeats exactly; they were not chosen for passing: they are simply 1, 2, 3 …
Each test that accepts the generator also rejects bad ones, below under "Negative controls".
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.generator import Generator, Personalization
from firmware.rng.scaling import DRAWS_MAX
from simulator.maths import outcome_tests
from simulator.maths.outcome_tests import chi_square_tail, normal_two_sided

STOPS = 32  # a common length of reel strip
RUNS, DRAWS = 100, 100_000
FAILURES_MAX = 13  # of 100 runs at p < 0.05: what the law table allows
Row = npt.NDArray[np.int64]


def draw(generator: Generator, size: int, count: int) -> Row:
    """``count`` numbers from the production call, in decisions of up to 8,000."""
    parts = []
    while count:
        part = min(count, DRAWS_MAX)
        parts.append(np.fromiter(generator.draw((size,) * part), dtype=np.int64, count=part))
        count -= part
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def outcomes(new_generator: Callable[..., Generator]) -> Row:
    """100 runs of 100,000 stops, one run a row."""
    return draw(new_generator(1), STOPS, RUNS * DRAWS).reshape(RUNS, DRAWS)


@pytest.fixture(scope="module")
def bit_blocks(new_generator: Callable[..., Generator]) -> npt.NDArray[np.uint8]:
    """100 blocks of 20,000 bits, one block a row."""
    generator = new_generator(2)
    blocks = [np.frombuffer(generator.raw(2_500), dtype=np.uint8) for _ in range(RUNS)]
    return np.unpackbits(np.stack(blocks), axis=1)


def failures(p_values: list[float]) -> int:
    return sum(p < 0.05 for p in p_values)


@pytest.mark.law("NJ-28G-b3-chi", "PA-7-d-2")
def test_chi_square_of_a_hundred_runs(outcomes: Row) -> None:
    p_values = [outcome_tests.frequency(run, STOPS) for run in outcomes]
    assert failures(p_values) <= FAILURES_MAX
    assert outcome_tests.kolmogorov_smirnov(np.array(p_values)) > 0.001  # neither too good nor too bad


@pytest.mark.law("NJ-28G-b3-mono")
def test_mono_bit_of_a_hundred_blocks(bit_blocks: npt.NDArray[np.uint8]) -> None:
    assert bit_blocks.shape == (RUNS, 20_000)
    p_values = [outcome_tests.mono_bit(block) for block in bit_blocks]
    assert failures(p_values) <= FAILURES_MAX
    assert outcome_tests.kolmogorov_smirnov(np.array(p_values)) > 0.001


@pytest.mark.law("NJ-28G-b3-runs")
def test_runs_of_a_hundred_blocks(bit_blocks: npt.NDArray[np.uint8]) -> None:
    p_values = [outcome_tests.bit_runs(block) for block in bit_blocks]
    assert failures(p_values) <= FAILURES_MAX
    assert outcome_tests.kolmogorov_smirnov(np.array(p_values)) > 0.001


@pytest.mark.law("NJ-28G-b3-ind")
def test_a_million_draws_are_independent(outcomes: Row) -> None:
    """Serial correlation at lags 1..20 and pairs of neighbours, each inside its 99.9 % bound."""
    million = outcomes[:10].reshape(-1)
    assert len(million) == 1_000_000
    for lag in range(1, 21):
        assert outcome_tests.serial_correlation(million, lag) > 0.001
    assert outcome_tests.serial_pairs(million, STOPS) > 0.001


@pytest.mark.law(
    "NJ-28G-b3-ind", partly="the further tests of the gaming rules, without figures in the clause"
)
def test_every_reel_passes_the_tests_of_the_gaming_rules(new_generator: Callable[..., Generator]) -> None:
    """Five reels of different length, drawn in decisions. 99 %, corrected for the number."""
    ranges = (22, 32, 64, 5, 72)
    generator = new_generator(3)
    games = np.array([generator.draw(ranges * 400) for _ in range(100)]).reshape(-1, len(ranges))
    p_values = []
    for reel, size in enumerate(ranges):
        p_values += outcome_tests.position(games[:, reel], size).values()
    for first, second in ((0, 1), (1, 2), (2, 3), (3, 4), (0, 4)):
        p_values.append(outcome_tests.correlation(games[:, first], games[:, second]))
        p_values.append(outcome_tests.correlation(games[:-1, first], games[1:, second]))
    assert len(p_values) > 100
    assert min(p_values) > 0.01 / len(p_values)
    assert outcome_tests.kolmogorov_smirnov(np.array(p_values)) > 0.001


def test_wide_draws_pass_the_tests_of_order(new_generator: Callable[..., Generator]) -> None:
    size = 1 << 32
    wide = draw(new_generator(4), size, 200_000)
    p_values = [
        outcome_tests.up_down_runs(wide),
        outcome_tests.permutation(wide),
        outcome_tests.order_statistic(wide, size),
        outcome_tests.kolmogorov_smirnov((wide + 0.5) / size),
    ]
    assert min(p_values) > 0.01 / len(p_values)


@pytest.mark.law("NJ-28G-b5")
def test_a_thousand_cold_starts_begin_differently(new_source: Callable[[int], Any]) -> None:
    """Nothing but the noise source differs: same serial, same boot count, same clock, no carry-over."""
    first = []
    seeds = set()
    for start in range(1_000):
        source = new_source(start)
        generator = Generator(source, Personalization("SIM00001", 1), now_us=0)
        seeds.add(bytes(generator._drbg._work[-48:]))  # type: ignore[attr-defined]
        first.append(generator.raw(64))
    assert len(seeds) == 1_000
    rows = np.frombuffer(b"".join(first), dtype=np.uint8).reshape(1_000, 64)
    assert outcome_tests.duplicates(rows) == 0
    assert outcome_tests.frequency(rows[:, 0] >> 3, 32) > 0.001
    assert outcome_tests.frequency(rows.reshape(-1), 256) > 0.001


def test_starts_from_the_operating_systems_own_source_never_repeat() -> None:
    class Kernel:
        def read(self, size: int) -> bytes:
            return os.urandom(size)

    starts = [Generator(Kernel(), Personalization("SIM00001", 1), now_us=0) for _ in range(100)]
    assert all(generator.failure is None for generator in starts)
    assert len({generator.raw(16) for generator in starts}) == 100


@pytest.mark.law("NJ-28G-b6")
def test_scaling_to_38_numbers_keeps_them_equally_likely(new_generator: Callable[..., Generator]) -> None:
    numbers = draw(new_generator(5), 38, 3_800_000)
    assert outcome_tests.frequency(numbers, 38) > 0.01
    by_remainder = (
        np.frombuffer(b"".join(new_generator(6).raw(38_000) for _ in range(100)), dtype=np.uint8) % 38
    )
    assert len(by_remainder) == 3_800_000
    assert outcome_tests.frequency(by_remainder, 38) < 1e-9


@pytest.mark.law(
    "NJ-28G-b1", partly="the reach of the generator; each game's cycle is held to it with the game"
)
@pytest.mark.law("PA-7-d-3")
def test_every_combination_of_a_small_game_comes_whatever_came_before(
    new_generator: Callable[..., Generator],
) -> None:
    reels = (6, 5, 4)
    cycle = math.prod(reels)
    generator = new_generator(7)
    games = [generator.draw(reels) for _ in range(100 * cycle)]
    assert set(games) == set(product(*(range(size) for size in reels)))
    # Independent of the game before: the table of (combination, next combination) is that of chance.
    index = np.array([(a * reels[1] + b) * reels[2] + c for a, b, c in games])
    followers = Counter(zip(index[:-1].tolist(), index[1:].tolist(), strict=True))
    expected = (len(games) - 1) / cycle**2
    statistic = sum((count - expected) ** 2 / expected for count in followers.values())
    statistic += (cycle**2 - len(followers)) * expected  # pairs that never came
    # With less than one expected in each cell the statistic is normal, of variance 2 x cells.
    assert normal_two_sided((statistic - cycle**2) / math.sqrt(2 * cycle**2)) > 0.001
    assert outcome_tests.serial_correlation(index, 1) > 0.001


@pytest.mark.law(
    "NJ-28G-b1", partly="the reach of the generator; each game's cycle is held to it with the game"
)
def test_the_seed_has_room_for_more_starts_than_any_game_has_outcomes() -> None:
    seed_bits, strength_bits = 384, 256
    largest_game = math.prod([1 << 32] * 5)  # five reels of four thousand million stops
    assert largest_game < 1 << strength_bits < 1 << seed_bits


@pytest.mark.law("PA-7-d-1")
def test_winning_combinations_come_as_often_as_95_percent_intervals_say(
    new_generator: Callable[..., Generator],
) -> None:
    """A small game of 10 x 10 x 10 stops; the 271 combinations with a seven win. Ten cycles of it."""
    generator = new_generator(8)
    games = 10_000
    hits = Counter(generator.draw((10, 10, 10)) for _ in range(games))
    winning = [row for row in product(range(10), repeat=3) if 7 in row]
    assert len(winning) == 271
    low, high = binomial_interval(games, 1 / 1000, 0.95)
    inside = sum(low <= hits[row] <= high for row in winning)
    assert inside >= 0.9 * len(winning)


def binomial_interval(trials: int, chance: float, level: float) -> tuple[int, int]:
    """The narrowest counts that leave at most half of 1 - level outside on each side."""
    tail = (1 - level) / 2
    below, count = 0.0, 0
    term = (1 - chance) ** trials
    low = None
    while True:
        if low is None and below + term > tail:
            low = count
        below += term
        if below >= 1 - tail:
            assert low is not None
            return low, count
        term *= (trials - count) / (count + 1) * chance / (1 - chance)
        count += 1


# Prediction


def lag_copy(seen: Row, size: int) -> Callable[[Row], int]:
    """Says again what came a few outcomes ago: the lag that agreed best so far."""
    best = max(range(1, 21), key=lambda lag: int((seen[lag:] == seen[:-lag]).sum()))
    return lambda past: int(past[-best])


def most_frequent(seen: Row, size: int) -> Callable[[Row], int]:
    favourite = int(np.bincount(seen, minlength=size).argmax())
    return lambda past: favourite


def follower(seen: Row, size: int) -> Callable[[Row], int]:
    """Says what most often followed the last outcome."""
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (seen[:-1], seen[1:]), 1)
    best = table.argmax(axis=1)
    return lambda past: int(best[past[-1]])


def hits_of(predictor: Any, outcomes: Row, size: int) -> int:
    """Learn on the first half, predict the second."""
    half = len(outcomes) // 2
    predict = predictor(outcomes[:half], size)
    return sum(predict(outcomes[max(0, at - 32) : at]) == outcomes[at] for at in range(half, len(outcomes)))


def linear_complexity(bits: list[int]) -> tuple[int, int]:
    """Berlekamp and Massey: the shortest feedback register that makes these bits, as (length, taps)."""
    taps, older, length, shift = 1, 1, 0, 1
    past = 0  # bit i is the bit i steps ago
    for at, bit in enumerate(bits):
        past = past << 1 | bit
        if (past & taps).bit_count() & 1:
            kept = taps
            taps ^= older << shift
            if 2 * length <= at:
                length, older, shift = at + 1 - length, kept, 0
        shift += 1
    return length, taps


def congruential_hits(words: list[int], modulus: int) -> int:
    """Recover a and c of x -> a x + c from three words, and count how often the next word fits."""
    found = 0
    for x, y, z, then in zip(words, words[1:], words[2:], words[3:], strict=False):
        step = (y - x) % modulus
        if math.gcd(step, modulus) == 1:
            a = (z - y) * pow(step, -1, modulus) % modulus
            found += (a * (z - y) + z) % modulus == then
    return found


PREDICTORS = (lag_copy, most_frequent, follower)
CONFIDENCE = 0.01


def chance_bound(trials: int, chance: float, tests: int) -> int:
    """The most hits that chance explains at 99 %, with so many tests at once."""
    return binomial_interval(trials, chance, 1 - 2 * CONFIDENCE / tests)[1]


@pytest.mark.law("NJ-28G-a")
def test_ten_thousand_outputs_do_not_tell_the_next(new_generator: Callable[..., Generator]) -> None:
    size = 16
    generator = new_generator(9)
    outcomes = draw(generator, size, 10_000)
    for predictor in PREDICTORS:
        assert hits_of(predictor, outcomes, size) <= chance_bound(5_000, 1 / size, len(PREDICTORS)), predictor
    # State recovery. A register recovered from the bits so far is as long as chance makes it: half of them.
    bits = np.unpackbits(np.frombuffer(generator.raw(1_250), dtype=np.uint8)).tolist()
    length, taps = linear_complexity(bits[:5_000])
    assert abs(length - 2_500) < 20
    register_hits = sum(predict_bit(bits, at, taps) == bits[at] for at in range(5_000, 10_000))
    # The sum of so many even chances is as good as normal; 99 % on one side is 2.33 standard deviations.
    assert register_hits <= 2_500 + 2.33 * math.sqrt(5_000) / 2
    words = np.frombuffer(generator.raw(40_000), dtype="<u4").tolist()
    assert congruential_hits(words, 1 << 32) == 0


def predict_bit(bits: list[int], at: int, taps: int) -> int:
    """The next bit of the register with these taps after ``bits[:at]``."""
    return sum(bits[at - step] for step in range(1, taps.bit_length()) if taps >> step & 1) & 1


def test_the_predictors_recognise_what_can_be_predicted() -> None:
    x, words = 1, []
    for _ in range(10_000):
        x = (1_664_525 * x + 1_013_904_223) % (1 << 32)
        words.append(x)
    assert congruential_hits(words, 1 << 32) > 4_000
    low = np.array([word & 15 for word in words])  # the low bits of such a generator repeat after 16
    assert hits_of(lag_copy, low, 16) == 5_000
    assert hits_of(follower, low, 16) == 5_000
    register, bits = 1, []
    for _ in range(400):
        register = (register >> 1) ^ (0xB400 if register & 1 else 0)
        bits.append(register & 1)
    length, taps = linear_complexity(bits[:200])
    assert length == 16
    assert all(predict_bit(bits, at, taps) == bits[at] for at in range(200, 400))
    uneven = np.array([0, 0, 1] * 100)
    assert hits_of(most_frequent, uneven, 2) == 100


# Negative controls: the same tests must reject these, or passing them means nothing


@cache
def good_words() -> npt.NDArray[np.uint32]:
    """400,000 words of the machine's own mechanism, to be spoilt."""
    drbg = CtrDrbg()
    drbg.instantiate(bytes(range(48)), bytes(16))
    return np.frombuffer(b"".join(drbg.generate(64_000) for _ in range(25)), dtype="<u4")


def remainder_of_a_wide_range() -> Iterator[tuple[Row, int]]:
    """word % n for n = 3 x 2^30: the first third of the range comes twice as often. In six equal parts."""
    yield (good_words() % np.uint32(3 << 30)) // np.uint32(1 << 29), 6


def stuck_bit() -> Iterator[tuple[Row, int]]:
    yield (good_words() | np.uint32(1 << 28)) >> np.uint32(27), 32


def small_congruential() -> Iterator[tuple[Row, int]]:
    """A full-period generator of 16 bits, scaled properly."""
    x, values = 1, []
    for _ in range(400_000):
        x = (25_173 * x + 13_849) & 0xFFFF
        values.append(x >> 11)
    yield np.array(values), 32


def skips_after_a_win() -> Iterator[tuple[Row, int]]:
    """Stop 0 wins; after a win the next winning draw is thrown away."""
    kept, won = [], False
    for value in (good_words() >> np.uint32(27)).tolist():
        if won and value == 0:
            won = False
            continue
        won = value == 0
        kept.append(value)
    yield np.array(kept), 32


@pytest.mark.law("NJ-28G-b6", partly="negative controls")
@pytest.mark.parametrize(
    ("spoil", "caught_by"),
    [
        (remainder_of_a_wide_range, "frequency"),
        (stuck_bit, "frequency"),
        (small_congruential, "gap"),
        (skips_after_a_win, "gap"),
    ],
)
def test_bad_outcomes_are_rejected(spoil: Callable[[], Iterator[tuple[Row, int]]], caught_by: str) -> None:
    for values, size in spoil():
        results = outcome_tests.position(values.astype(np.int64), size)
        assert results[caught_by] < 1e-6, results


def test_the_same_words_unspoilt_are_accepted() -> None:
    results = outcome_tests.position((good_words() >> np.uint32(27)).astype(np.int64), 32)
    assert min(results.values()) > 0.01 / len(results)


def test_stuck_and_uneven_bits_are_rejected() -> None:
    bits = np.unpackbits(good_words().view(np.uint8))[:20_000]
    assert outcome_tests.mono_bit(bits) > 0.001
    stuck = bits.copy()
    stuck[::32] = 1
    assert outcome_tests.mono_bit(stuck) < 1e-4
    repeated = np.repeat(bits[:10_000], 2)
    assert outcome_tests.bit_runs(repeated) < 1e-6


def test_outcomes_too_good_to_be_true_are_rejected_as_well() -> None:
    """Six rounds of that 16-bit generator hold every number equally often: honest chance never would."""
    ((values, size),) = small_congruential()
    p_values = [outcome_tests.frequency(run, size) for run in values[: 6 * 65_536].reshape(6, 65_536)]
    assert outcome_tests.kolmogorov_smirnov(np.array(p_values)) < 1e-5  # six values of 1


def test_remainders_of_just_over_half_the_words_hide_from_any_frequency_test() -> None:
    """word % (2^31 + 1) leaves two numbers short: why scaling is proven word by word, not by sampling."""
    size = (1 << 31) + 1
    short = size - (1 << 32) % size
    assert short == 2


@pytest.mark.parametrize(
    ("statistic", "degrees", "p"),
    [
        (3.841459, 1, 0.05),
        (18.307038, 10, 0.05),
        (23.209251, 10, 0.01),
        (44.985343, 31, 0.05),
        (1.0, 10, 0.999828),
    ],
)
def test_chi_square_tail_is_that_of_the_printed_tables(statistic: float, degrees: int, p: float) -> None:
    assert chi_square_tail(statistic, degrees) == pytest.approx(p, abs=2e-6)
