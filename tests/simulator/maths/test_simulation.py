"""Seeded draws: the machine's scaling, exact and repeatable; the decimals of a report."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest

from firmware.rng.scaling import DRAWS_MAX, scale
from simulator.maths.par_report import decimal
from simulator.maths.simulation import Sample, draws, seeded_generator
from tests.firmware.games.sheets import shipped


def test_batches_are_the_machines_scaling_of_the_same_bytes() -> None:
    ranges = (64, 22, 7)
    batch = DRAWS_MAX // 3
    generator = seeded_generator(9)
    expected = [scale(generator.generate, ranges * batch) for _ in range(2)]
    flat = [value for values in islice(draws(9, ranges), 2 * batch) for value in values]
    assert tuple(flat) == expected[0] + expected[1]


def test_each_value_stays_in_its_own_range() -> None:
    seen = list(islice(draws(3, (2, 64, 5)), 4_000))
    for place, size in enumerate((2, 64, 5)):
        assert {values[place] for values in seen} == set(range(size))


def test_seeds_differ() -> None:
    def first(seed: int) -> list[tuple[int, ...]]:
        return list(islice(draws(seed, (1 << 20,)), 5))

    assert first(1) == first(1)
    assert len({tuple(first(seed)) for seed in range(-5, 20)}) == 25


def test_deviations_count_in_standard_deviations_of_the_mean() -> None:
    figures = shipped("lantern_night").cycle.bets[0]
    games = 10_000
    exact = round(float(figures.theoretical_return) * games)
    assert abs(Sample(1, games, {exact: 1, 0: games - 1}).deviations(figures)) < 0.01
    one_more = (float(figures.variance) * games) ** 0.5
    sample = Sample(1, games, {exact + round(one_more): 1, 0: games - 1})
    assert sample.deviations(figures) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(2, 3), "66.6666"),
        (Fraction(1), "100.0000"),
        (Fraction(1, 10**7), "0.0000"),
        (Fraction(-1, 3), "-33.3333"),
        (Fraction(829_999_999, 10**9), "82.9999"),
    ],
)
def test_decimals_are_cut(share: Fraction, text: str) -> None:
    assert decimal(share, 4) == text
