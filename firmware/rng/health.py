"""Health tests on the noise source, SP 800-90B section 4.4: is it still a source, or is it stuck?

Two tests run on every byte of seed material, for as long as the machine runs, and on 1,024 bytes at start-up
that are tested and dropped (decisions.md). On the operating system's generator they can only catch a source
that is stuck or nearly so; the same code with a device's own min-entropy guards a hardware source. The
cut-offs are computed exactly, in integers.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Final

from hal.ports.entropy import Entropy, EntropyError

STARTUP_SAMPLES: Final = 1024  # SP 800-90B 4.3: at least 1,024 consecutive samples
FALSE_ALARM_BITS: Final = 40  # alpha = 2^-40 (rng_and_stats.md 1)
OS_MIN_ENTROPY: Final = Fraction(8)  # bits a byte, claimed for the operating system's generator
_ROOT_BITS: Final = 96  # precision of 2^-H where H is not whole


class HealthTest(Enum):
    """Which test the source failed."""

    REPETITION_COUNT = "repetition_count"
    ADAPTIVE_PROPORTION = "adaptive_proportion"


class HealthTestError(Exception):
    """The noise source failed ``test``. Nothing it gave may be used."""

    def __init__(self, test: HealthTest) -> None:
        super().__init__(f"the noise source failed its {test.value.replace('_', ' ')} test")
        self.test = test


def repetition_cutoff(false_alarm_bits: int, min_entropy: Fraction) -> int:
    """Return how many equal samples in a row fail: 1 + ceil(-log2(alpha) / H), section 4.4.1.

    ``false_alarm_bits``: a for alpha = 2^-a. ``min_entropy``: H, bits a sample, above 0.
    """
    return 1 - (-false_alarm_bits * min_entropy.denominator) // min_entropy.numerator


def proportion_window(is_binary: bool) -> int:
    """Return the window of the adaptive proportion test in samples, section 4.4.2."""
    return 1024 if is_binary else 512


def proportion_cutoff(false_alarm_bits: int, min_entropy: Fraction, window: int) -> int:
    """Return how many samples equal to a window's first fail: 1 + critbinom(W, 2^-H, 1 - alpha).

    Section 4.4.2. The smallest k for which more than k of W samples equal a given value with probability at
    most alpha, plus one. Exact for a whole H; otherwise 2^-H is taken to 96 bits. ``window`` + 1: never.
    """
    # Each sample matches with probability hit / whole; every term below carries the factor whole^window.
    hit, whole = _two_to_minus(min_entropy)
    miss = whole - hit
    # Weight of exactly i matches: C(W, i) hit^i miss^(W-i), from i = W downwards, added up into the tail.
    weight = hit**window
    tail = 0
    matches = window
    limit = whole**window >> false_alarm_bits
    while matches >= 0:
        tail += weight
        if tail > limit:  # P(X >= matches) > alpha, so k = matches is the smallest with P(X > k) <= alpha
            return 1 + matches
        weight = weight * matches * miss // ((window - matches + 1) * hit)  # divides without remainder
        matches -= 1
    return window + 1


def _two_to_minus(exponent: Fraction) -> tuple[int, int]:
    """Return 2^-exponent as (numerator, denominator), rounded down where it is irrational."""
    if exponent.denominator == 1:
        return 1, 1 << exponent.numerator
    degree = exponent.denominator
    return _integer_root(1 << (_ROOT_BITS * degree - exponent.numerator), degree), 1 << _ROOT_BITS


def _integer_root(value: int, degree: int) -> int:
    """Return the largest r with r^degree <= value, by bisection."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree <= value:
            low = middle
        else:
            high = middle
    return low


class RepetitionCount:
    """Section 4.4.1: fails when one value comes ``cutoff`` times in a row."""

    def __init__(self, cutoff: int) -> None:
        self._cutoff = cutoff
        self._last = -1
        self._count = 0

    def take(self, sample: int) -> bool:
        """Take one sample (0 or above); return False if the test fails at it."""
        if sample != self._last:
            self._last, self._count = sample, 1
        else:
            self._count += 1
        return self._count < self._cutoff


class AdaptiveProportion:
    """Section 4.4.2: fails when a window's first value comes ``cutoff`` times within the window."""

    def __init__(self, cutoff: int, window: int) -> None:
        self._cutoff = cutoff
        self._window = window
        self._first = -1
        self._count = 0
        self._seen = 0

    def take(self, sample: int) -> bool:
        """Take one sample (0 or above); return False if the test fails at it."""
        if self._seen == 0:
            self._first, self._count = sample, 0
        self._count += sample == self._first
        self._seen = (self._seen + 1) % self._window
        return self._count < self._cutoff


class MonitoredEntropy:
    """A noise source behind its health tests. Samples are bytes. A failure is for good: nothing more is read.

    Args:
        source: the noise source.
        min_entropy: bits a byte that the source is claimed to hold, above 0 and at most 8.
        false_alarm_bits: a for the accepted false-alarm rate 2^-a a sample, 20..40 by the standard.
    """

    def __init__(
        self,
        source: Entropy,
        min_entropy: Fraction = OS_MIN_ENTROPY,
        false_alarm_bits: int = FALSE_ALARM_BITS,
    ) -> None:
        window = proportion_window(is_binary=False)
        self._source = source
        self._repetition = RepetitionCount(repetition_cutoff(false_alarm_bits, min_entropy))
        self._proportion = AdaptiveProportion(
            proportion_cutoff(false_alarm_bits, min_entropy, window), window
        )
        self._failed: HealthTest | None = None

    def start_up(self) -> None:
        """Test 1,024 samples and drop them. Also the test on demand. Raises HealthTestError, EntropyError."""
        self.read(STARTUP_SAMPLES)

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes that passed both tests.

        Raises HealthTestError (and from then on always), EntropyError.
        """
        if self._failed is not None:
            raise HealthTestError(self._failed)
        data = self._source.read(size)
        if len(data) != size:
            raise EntropyError(f"asked for {size} bytes, the source gave {len(data)}")
        for sample in data:
            if not self._repetition.take(sample):
                self._failed = HealthTest.REPETITION_COUNT
            elif not self._proportion.take(sample):
                self._failed = HealthTest.ADAPTIVE_PROPORTION
            if self._failed is not None:
                raise HealthTestError(self._failed)
        return data
