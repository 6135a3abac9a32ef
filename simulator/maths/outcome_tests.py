"""Statistical tests of final outcomes: the numbers that a game gets, after scaling, reel by reel.

Each test takes outcomes and returns a p-value: the probability that an ideal source looks at least this
odd. Under an ideal source p is uniform in 0..1; what level is too small is the caller's decision, and
a caller who runs many tests must correct for their number. The names are those of the gaming rules
(rng_and_stats.md 1: NJ 13:69E-1.28G(b)3, 25 CFR 547.14, 58 Pa. Code 810a.5); the methods are Knuth's,
volume 2, 3.3.2, and SP 800-22's where it defines one. Not included: spectral, overlaps, subsequences.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Outcomes = npt.NDArray[Any]
"""One dimension of integers, in the order they were drawn."""

_SERIES_TERMS_MAX = 10_000


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return P(chi-square with ``degrees`` >= ``statistic``), to about 12 digits; ``degrees`` 1 or more."""
    half_degrees, half = degrees / 2, statistic / 2
    if half <= 0:
        return 1.0
    scale = math.exp(half_degrees * math.log(half) - half - math.lgamma(half_degrees))
    if half < half_degrees + 1:  # the series of the lower tail converges quickly here
        term = total = 1 / half_degrees
        for step in range(1, _SERIES_TERMS_MAX):
            term *= half / (half_degrees + step)
            total += term
            if term < total * 1e-15:
                break
        return 1 - scale * total
    # Continued fraction of the upper tail, by Lentz's method.
    b = half + 1 - half_degrees
    c, d = 1e300, 1 / b
    fraction = d
    for step in range(1, _SERIES_TERMS_MAX):
        a = -step * (step - half_degrees)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return scale * fraction


def normal_two_sided(z: float) -> float:
    """Return P(|standard normal| >= |z|)."""
    return math.erfc(abs(z) / math.sqrt(2))


def goodness_of_fit(observed: Outcomes, probabilities: npt.NDArray[np.float64]) -> float:
    """Chi-square of counts against the probabilities of their classes (which sum to 1; each above 0)."""
    expected = probabilities * observed.sum()
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return chi_square_tail(statistic, len(expected) - 1)


def frequency(outcomes: Outcomes, size: int) -> float:
    """Chi-square: each of 0..size-1 equally often."""
    return goodness_of_fit(np.bincount(outcomes, minlength=size), np.full(size, 1 / size))


def mono_bit(bits: Outcomes) -> float:
    """SP 800-22, 2.1: as many ones as zeros. ``bits``: 0 and 1."""
    excess = 2 * int(bits.sum()) - len(bits)
    return normal_two_sided(excess / math.sqrt(len(bits)))


def bit_runs(bits: Outcomes) -> float:
    """SP 800-22, 2.3: the number of runs of equal bits. 0 where the bits are too uneven for it to apply."""
    share = float(bits.mean())
    if abs(share - 0.5) >= 2 / math.sqrt(len(bits)):
        return 0.0
    runs = 1 + int(np.count_nonzero(bits[1:] != bits[:-1]))
    mixed = share * (1 - share)
    return math.erfc(abs(runs - 2 * len(bits) * mixed) / (2 * math.sqrt(2 * len(bits)) * mixed))


def median_runs(outcomes: Outcomes, size: int) -> float:
    """Runs above and below the middle (Wald and Wolfowitz); an odd ``size`` drops its middle value."""
    doubled = 2 * outcomes.astype(np.int64) - (size - 1)
    above = doubled[doubled != 0] > 0
    highs = int(above.sum())
    lows = len(above) - highs
    if highs == 0 or lows == 0:
        return 0.0
    runs = 1 + int(np.count_nonzero(above[1:] != above[:-1]))
    total = highs + lows
    mean = 2 * highs * lows / total + 1
    variance = (mean - 1) * (mean - 2) / (total - 1)
    return normal_two_sided((runs - mean) / math.sqrt(variance))


def up_down_runs(outcomes: Outcomes) -> float:
    """Runs up and down. For ranges so wide that equal neighbours do not occur."""
    rising = outcomes[1:] > outcomes[:-1]
    runs = 1 + int(np.count_nonzero(rising[1:] != rising[:-1]))
    count = len(outcomes)
    return normal_two_sided((runs - (2 * count - 1) / 3) / math.sqrt((16 * count - 29) / 90))


def serial_correlation(outcomes: Outcomes, lag: int) -> float:
    """Correlation of each outcome with the one ``lag`` later."""
    return correlation(outcomes[:-lag], outcomes[lag:])


def correlation(first: Outcomes, second: Outcomes) -> float:
    """Interplay correlation of two rows of equal length, such as two reels of the same games."""
    a = first - first.mean()
    b = second - second.mean()
    spread = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if spread == 0:
        return 0.0
    return normal_two_sided(float((a * b).sum()) / spread * math.sqrt(len(a)))


def pairs(first: Outcomes, second: Outcomes, size: int) -> float:
    """Chi-square over all size x size pairs of two rows of equal length."""
    return frequency(first.astype(np.int64) * size + second, size * size)


def serial_pairs(outcomes: Outcomes, size: int) -> float:
    """Chi-square over pairs of neighbours that share no outcome."""
    even = outcomes[: len(outcomes) // 2 * 2]
    return pairs(even[::2], even[1::2], size)


def gap(outcomes: Outcomes, size: int, value: int = 0) -> float:
    """Lengths of the gaps between two occurrences of ``value``: a geometric distribution."""
    places = np.flatnonzero(outcomes == value)
    if len(places) < 10:
        return 0.0
    gaps = np.diff(places) - 1
    hit = 1 / size
    longest = 10 * size
    chances: npt.NDArray[np.float64] = hit * (1 - hit) ** np.arange(longest + 1, dtype=np.float64)
    chances[longest] = (1 - hit) ** longest  # this long or longer
    return _merged_fit(np.bincount(np.minimum(gaps, longest), minlength=longest + 1), chances)


def poker(outcomes: Outcomes, size: int, hand: int = 5) -> float:
    """How many different values hands of ``hand`` outcomes hold."""
    hands = np.sort(outcomes[: len(outcomes) // hand * hand].reshape(-1, hand), axis=1)
    different = 1 + (hands[:, 1:] != hands[:, :-1]).sum(axis=1)
    chances = _chances_of_different(size, hand)
    observed = np.bincount(different, minlength=hand + 1)[1:]
    return _merged_fit(observed, np.array([float(chance) for chance in chances]))


def coupon_collector(outcomes: Outcomes, size: int) -> float:
    """How many outcomes it takes until each of 0..size-1 has come; for a small ``size``."""
    lengths = []
    missing = set(range(size))
    length = 0
    for value in outcomes.tolist():
        length += 1
        missing.discard(value)
        if not missing:
            lengths.append(length)
            missing, length = set(range(size)), 0
    if len(lengths) < 10:
        return 0.0
    longest = 8 * size
    # known[k]: the chance that k different values have come so far.
    known = [1.0] + [0.0] * size
    chances = []
    for _ in range(longest):
        complete = known[size]
        for k in range(size, 0, -1):
            stay = k / size if k < size else 1.0
            known[k] = known[k] * stay + known[k - 1] * (size - k + 1) / size
        known[0] = 0.0
        chances.append(known[size] - complete)
    chances.append(1 - sum(chances))
    observed = np.bincount(np.minimum(lengths, longest + 1), minlength=longest + 2)[1:]
    return _merged_fit(observed, np.array(chances))


def permutation(outcomes: Outcomes, length: int = 4) -> float:
    """The order of groups of ``length``. For ranges so wide that equal values do not occur."""
    groups = outcomes[: len(outcomes) // length * length].reshape(-1, length)
    ranks = np.argsort(groups, axis=1)
    index = np.zeros(len(ranks), dtype=np.int64)
    for column in range(length):
        index = index * length + ranks[:, column]
    observed = np.unique(index, return_counts=True)[1]
    orders = math.factorial(length)
    padded = np.concatenate([observed, np.zeros(orders - len(observed), dtype=observed.dtype)])
    return goodness_of_fit(padded, np.full(orders, 1 / orders))


def order_statistic(outcomes: Outcomes, size: int, group: int = 5) -> float:
    """The largest of each ``group``: its ``group``-th power is uniform. For a wide range."""
    largest = outcomes[: len(outcomes) // group * group].reshape(-1, group).max(axis=1)
    return kolmogorov_smirnov(((largest + 0.5) / size) ** group)


def kolmogorov_smirnov(sample: npt.NDArray[np.float64]) -> float:
    """Kolmogorov-Smirnov against the uniform distribution on 0..1, both sides; also for p-values."""
    count = len(sample)
    ordered = np.sort(sample)
    steps = np.arange(count)
    distance = max(float((ordered - steps / count).max()), float(((steps + 1) / count - ordered).max()))
    root = math.sqrt(count)
    x = (root + 0.12 + 0.11 / root) * distance  # Stephens' correction for finite samples
    if x < 0.2:
        return 1.0  # the sum below would need many terms, and is 1 to 12 digits
    total = math.fsum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * total))


def duplicates(rows: npt.NDArray[np.uint8]) -> int:
    """Return how many of the rows (two dimensions of bytes) equal an earlier one."""
    return len(rows) - len({row.tobytes() for row in rows})


def position(outcomes: Outcomes, size: int) -> dict[str, float]:
    """All tests that fit the outcomes of one reel of ``size`` stops, by name."""
    results = {
        "frequency": frequency(outcomes, size),
        "median_runs": median_runs(outcomes, size),
        "gap": gap(outcomes, size),
        "poker": poker(outcomes, size),
    }
    if len(outcomes) // 2 >= 5 * size * size:  # five expected in each class, or chi-square does not hold
        results["serial_pairs"] = serial_pairs(outcomes, size)
    if size <= 64:
        results["coupon_collector"] = coupon_collector(outcomes, size)
    for lag in range(1, 21):
        results[f"serial_correlation_{lag}"] = serial_correlation(outcomes, lag)
    return results


def _chances_of_different(size: int, hand: int) -> list[Fraction]:
    """The chances of 1, 2, … ``hand`` different values in a hand."""
    chances = [Fraction(1)] + [Fraction(0)] * hand
    for _ in range(hand):
        for k in range(hand, 0, -1):
            chances[k] = chances[k] * Fraction(k, size) + chances[k - 1] * Fraction(
                max(size - k + 1, 0), size
            )
        chances[0] = Fraction(0)
    return chances[1:]


def _merged_fit(observed: Outcomes, chances: npt.NDArray[np.float64]) -> float:
    """Chi-square after joining neighbouring classes until each expects ten or more."""
    total = int(observed.sum())
    merged_counts: list[int] = []
    merged_chances: list[float] = []
    count, chance = 0, 0.0
    for seen, expected in zip(observed.tolist(), chances.tolist(), strict=True):
        count, chance = count + seen, chance + expected
        if chance * total >= 10:
            merged_counts.append(count)
            merged_chances.append(chance)
            count, chance = 0, 0.0
    merged_counts[-1] += count
    merged_chances[-1] += chance
    return goodness_of_fit(np.array(merged_counts), np.array(merged_chances))
