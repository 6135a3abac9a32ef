"""Simulation draws are the machine's numbers: the same words through the same exact scaling, only faster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.scaling import RangeError, scale_word
from simulator.maths.bulk_draws import BulkDraws, scale_words

WORD = 1 << 32
SIZES = (1, 2, 3, 32, 38, 10_000, 1 << 31, (1 << 31) + 1, 3 << 30, WORD - 1, WORD)


def mechanism() -> CtrDrbg:
    drbg = CtrDrbg()
    drbg.instantiate(bytes(range(48)), bytes(16))
    return drbg


def expected(size: int, count: int) -> list[int]:
    """Word by word, from requests of 64 KiB, what is left of the last one thrown away."""
    drbg = mechanism()
    numbers: list[int] = []
    while len(numbers) < count:
        for word in np.frombuffer(drbg.generate(65_536), dtype="<u4").tolist():
            number = scale_word(word, size)
            if number is not None:
                numbers.append(number)
    return numbers[:count]


@pytest.mark.parametrize("size", SIZES)
def test_bulk_draws_equal_the_exact_scaling(size: int) -> None:
    count = 20_000
    assert BulkDraws(mechanism()).below(size, count).tolist() == expected(size, count)


@given(st.lists(st.integers(0, WORD - 1), max_size=50), st.integers(1, WORD))
def test_any_words_scale_alike(words: list[int], size: int) -> None:
    wanted = [number for number in (scale_word(word, size) for word in words) if number is not None]
    assert scale_words(np.array(words, dtype=np.uint32), size).tolist() == wanted


@pytest.mark.parametrize("size", [0, -1, WORD + 1])
def test_impossible_ranges_are_refused(size: int) -> None:
    with pytest.raises(RangeError):
        BulkDraws(mechanism()).below(size, 1)


def test_a_bulk_draw_of_nothing_is_empty() -> None:
    assert BulkDraws(mechanism()).below(32, 0).size == 0
