"""Scaling is exact: no number has more words than another. Checked word by word where that is possible."""

from __future__ import annotations

import itertools
import struct
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rng.drbg import REQUEST_BYTES_MAX
from firmware.rng.scaling import DRAWS_MAX, RANGE_MAX, RangeError, pick, pick_ranges, scale, scale_word

WORD = 1 << 32


class Words:
    """A source that gives these words, then 0x80000001 for ever; notes what was asked."""

    def __init__(self, *words: int, code: str = "I") -> None:
        self.words = list(words)
        self.code = code
        self.asked: list[int] = []

    def __call__(self, size: int) -> bytes:
        self.asked.append(size)
        count = size // struct.calcsize(self.code)
        given, self.words = self.words[:count], self.words[count:]
        return struct.pack(f"<{count}{self.code}", *given, *[0x80000001] * (count - len(given)))


@pytest.mark.law("NJ-28G-b6", partly="exactness word by word; the statistical test at 2^32 stands elsewhere")
@pytest.mark.parametrize("width", [1, 3, 8, 11])
def test_every_number_has_equally_many_words(width: int) -> None:
    """All words of this width for all ranges: exhaustive."""
    for size in range(1, (1 << width) + 1) if width < 11 else (38, 1000, 1023, 1024, 1025, 2047, 2048):
        counts = Counter(scale_word(word, size, width) for word in range(1 << width))
        assert counts.pop(None, 0) == (1 << width) % size
        assert counts == dict.fromkeys(range(size), (1 << width) // size)


@given(st.integers(0, WORD - 1), st.integers(1, WORD))
def test_refused_words_of_32_bits_are_those_with_the_low_part_below_the_remainder(
    word: int, size: int
) -> None:
    value = scale_word(word, size)
    is_refused = (word * size) % WORD < WORD % size
    assert value == (None if is_refused else word * size // WORD)


@given(st.integers(1, WORD), st.data())
def test_each_number_of_32_bits_starts_at_its_word_and_ends_after_its_share(
    size: int, data: st.DataObject
) -> None:
    """Number k owns floor(2^32 / size) words in a row; both ends of that row are looked at."""
    number = data.draw(st.integers(0, size - 1))
    share = WORD // size
    first = -(-(number * WORD + WORD % size) // size)
    assert scale_word(first, size) == number
    assert scale_word(first + share - 1, size) == number
    if first:
        assert scale_word(first - 1, size) in (None, number - 1)
    if first + share < WORD:
        assert scale_word(first + share, size) in (None, number + 1)


def test_a_decision_is_one_request() -> None:
    source = Words(1 << 27, 5 << 27, 31 << 27)
    assert scale(source, (32, 32, 32)) == (1, 5, 31)
    assert len(source.asked) == 1


def test_refused_words_are_passed_over_and_the_next_is_tried() -> None:
    size = 3 << 30  # refuses every word that is 0 mod 4
    source = Words(0, 4, 8, 0x80000001, 12, 0x40000003)
    assert scale(source, (size, size)) == (size // 2, size // 4 + 2)
    assert len(source.asked) == 1


def test_more_words_are_asked_for_only_when_the_spare_ones_are_gone() -> None:
    size = 3 << 30
    source = Words(*[0] * 5, 0x80000001)
    assert scale(source, (size,)) == (size // 2,)
    assert source.asked == [20, 4]


@given(
    st.lists(st.integers(1, WORD), min_size=1, max_size=8), st.lists(st.integers(0, WORD - 1), max_size=12)
)
def test_scale_is_scale_word_on_the_words_in_order(ranges: list[int], words: list[int]) -> None:
    supply = itertools.chain(words, itertools.repeat(0x80000001))
    expected = []
    for size in ranges:
        value = None
        while value is None:
            value = scale_word(next(supply), size)
        expected.append(value)
    assert scale(Words(*words), ranges) == tuple(expected)


@given(st.lists(st.integers(1, RANGE_MAX), min_size=1, max_size=5), st.integers(WORD + 1, RANGE_MAX))
def test_ranges_above_2_to_the_32_are_drawn_with_words_of_64_bits(ranges: list[int], wide: int) -> None:
    word = 0xC000000000000003
    source = Words(*[word] * 20, code="Q")
    row = [*ranges, wide]
    if all(scale_word(word, size, 64) is not None for size in row):
        assert scale(source, row) == tuple(word * size >> 64 for size in row)
        assert source.asked == [(len(row) + 4) * 8]


def test_the_largest_ranges_are_whole_words() -> None:
    assert scale(Words(0xDEADBEEF), (WORD,)) == (0xDEADBEEF,)
    assert scale(Words(0xDEADBEEF_01234567, code="Q"), (RANGE_MAX,)) == (0xDEADBEEF_01234567,)


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ((), "0 numbers"),
        ((0,), "range of 0"),
        ((32, -1), "range of -1"),
        ((RANGE_MAX + 1,), "larger than 2\\^64"),
        ((2,) * (DRAWS_MAX + 1), "8001 numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_asked(
    ranges: tuple[int, ...], words: str
) -> None:
    source = Words()
    with pytest.raises(RangeError, match=words):
        scale(source, ranges)
    assert source.asked == []


def test_the_largest_decision_fits_one_request() -> None:
    source = Words()
    scale(source, (2,) * (DRAWS_MAX - 1) + (WORD + 1,))
    assert len(source.asked) == 1
    assert source.asked[0] <= REQUEST_BYTES_MAX


@pytest.mark.parametrize(("population", "count"), [(1, 1), (4, 4), (5, 3), (6, 2)])
def test_every_ordered_selection_comes_from_exactly_one_row_of_offsets(population: int, count: int) -> None:
    rows = itertools.product(*(range(size) for size in pick_ranges(population, count)))
    picked = Counter(pick(row) for row in rows)
    assert set(picked) == set(itertools.permutations(range(population), count))
    assert set(picked.values()) == {1}


@given(st.integers(1, 1 << 40), st.data())
def test_picked_numbers_are_different_and_in_range(population: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, min(population, 30)))
    offsets = [data.draw(st.integers(0, size - 1)) for size in pick_ranges(population, count)]
    picked = pick(offsets)
    assert len(set(picked)) == count
    assert all(0 <= number < population for number in picked)


@pytest.mark.parametrize(("population", "count"), [(0, 1), (5, 0), (5, 6), (RANGE_MAX + 1, 1), (-3, 1)])
def test_impossible_selections_are_refused(population: int, count: int) -> None:
    with pytest.raises(RangeError):
        pick_ranges(population, count)


@pytest.mark.parametrize(
    ("name", "cheat"),
    [
        ("remainder", lambda word, size, width: word % size),
        ("no rejection", lambda word, size, width: word * size >> width),
        ("floats", lambda word, size, width: int(word / ((1 << width) - 1) * (size - 1))),
    ],
)
def test_the_exhaustive_check_catches_the_usual_mistakes(
    name: str, cheat: Callable[[int, int, int], int]
) -> None:
    counts = Counter(cheat(word, 38, 8) for word in range(256))
    assert len(set(counts.values())) > 1, name
