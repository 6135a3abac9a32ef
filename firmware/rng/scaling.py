"""From random words to numbers in a range, every number exactly as likely as any other.

Multiply and reject (Lemire, "Fast random integer generation in an interval", 2019; rng_and_stats.md 2.5):
``word * range`` spreads the words over the range in units of 2^width; the few low parts that would give some
numbers one word more than others are refused and the next word is tried. No division of outcomes, no
remainder, no floating point. NJ 13:69E-1.28G(b)6: all numbers stay equally probable.

Pure functions of the bytes that a source hands them; who the source is belongs to ``generator``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Final

Source = Callable[[int], bytes]
"""Takes a size in bytes, returns exactly that many random ones."""

WORD_BITS: Final = 32
RANGE_MAX: Final = 1 << 64
"""The largest range of one number: it takes words of 64 bits."""

DRAWS_MAX: Final = 8_000
"""The most numbers of one decision: their words, even of 64 bits, fit one generate request of 64 KiB."""

_WORD_RANGE_MAX: Final = 1 << WORD_BITS
_MASK: Final = _WORD_RANGE_MAX - 1
_SPARE_WORDS: Final = 4  # for rejected words; below a range of 10,000 one word in 400,000 is rejected at most
_FORMATS: Final = {32: "I", 64: "Q"}


class RangeError(ValueError):
    """A range, or the number of ranges, that cannot be drawn."""


def scale_word(word: int, size: int, width: int = WORD_BITS) -> int | None:
    """Return the number in 0..size-1 that ``word`` stands for, or None where the word must be refused.

    ``word``: uniform in 0..2^width-1. ``size``: 1..2^width.
    Exactly floor(2^width / size) words lead to each number; the other 2^width mod size words are refused.
    """
    product = word * size
    low = product & ((1 << width) - 1)
    if low < size and low < (1 << width) % size:
        return None
    return product >> width


def scale(source: Source, ranges: Sequence[int]) -> tuple[int, ...]:
    """Draw one number for each range: value i is uniform in 0..ranges[i]-1.

    One request of the source, sized for the whole decision with four words to spare; a further request only
    where rejections have used those up (likely only for ranges near 2^32: they reject up to half the words).

    Args:
        source: gives random bytes.
        ranges: 1..8,000 ranges of 1..2^64. If one is above 2^32, all are drawn with words of 64 bits.

    Raises RangeError before the source is asked, and whatever the source raises.
    """
    if not 1 <= len(ranges) <= DRAWS_MAX:
        raise RangeError(f"{len(ranges)} numbers in one draw are not in 1..{DRAWS_MAX}")
    if min(ranges) < 1:
        raise RangeError(f"a range of {min(ranges)} has no number in it")
    if max(ranges) > _WORD_RANGE_MAX:
        if max(ranges) > RANGE_MAX:
            raise RangeError(f"a range of {max(ranges)} is larger than 2^64")
        return _scale_exactly(source, ranges, _words(source, len(ranges) + _SPARE_WORDS, 64), 64)
    words = _words(source, len(ranges) + _SPARE_WORDS, WORD_BITS)
    values = []
    for word, size in zip(words, ranges, strict=False):  # the spare words stay over
        product = word * size
        if product & _MASK < size:  # perhaps a rejection: rare, so the exact test has a function of its own
            return _scale_exactly(source, ranges, words, WORD_BITS)
        values.append(product >> WORD_BITS)
    return tuple(values)


def pick(offsets: Sequence[int]) -> tuple[int, ...]:
    """Turn draws into different numbers, in the order they came: a partial Fisher-Yates shuffle.

    ``offsets[i]`` is uniform in 0..population-i-1 (``pick_ranges``); the numbers are in 0..population-1.
    Each ordered selection has exactly one row of offsets, so all are equally likely. Only the places that
    were moved are kept, so a large population costs nothing.
    """
    moved: dict[int, int] = {}
    picked = []
    for taken, offset in enumerate(offsets):
        place = taken + offset
        picked.append(moved.get(place, place))
        moved[place] = moved.get(taken, taken)
    return tuple(picked)


def pick_ranges(population: int, count: int) -> range:
    """Return the ranges to draw for ``pick``: population, population - 1, … ``count`` of them.

    Raises RangeError unless 1 <= count <= population <= 2^64.
    """
    if not 1 <= population <= RANGE_MAX:
        raise RangeError(f"a population of {population} is not in 1..2^64")
    if not 1 <= count <= population:
        raise RangeError(f"cannot pick {count} different numbers out of {population}")
    return range(population, population - count, -1)


def _scale_exactly(
    source: Source, ranges: Sequence[int], words: Sequence[int], width: int
) -> tuple[int, ...]:
    """Scale ``words`` of ``width`` bits one by one, passing over the refused; ask for more if need be."""
    values = []
    supply = iter(words)
    for size in ranges:
        value = None
        while value is None:
            word = next(supply, None)
            if word is None:
                supply = iter(_words(source, len(ranges), width))
            else:
                value = scale_word(word, size, width)
        values.append(value)
    return tuple(values)


def _words(source: Source, count: int, width: int) -> tuple[int, ...]:
    """Return ``count`` little-endian words of 32 or 64 bits, from one request."""
    return struct.unpack(f"<{count}{_FORMATS[width]}", source(count * width // 8))
