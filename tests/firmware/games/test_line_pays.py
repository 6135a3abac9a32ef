"""Readings of a line: Double Diamond rules, from slot_math.md 2.3 and its 17 strip sets."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from typing import Any

import pytest

from tests.firmware.games.sheets import ROOT, Sheet, combination, game_of, one_line_sheet, reel

VECTORS = tomllib.loads((ROOT / "tests" / "vectors" / "double_diamond.toml").read_text())
SYMBOLS: list[str] = VECTORS["symbols"]
BARS = ["triple_bar", "double_bar", "single_bar"]


def double_diamond(reels: list[dict[str, Any]]) -> Sheet:
    """The rules of the pay glass as par-sheet data."""

    def three(symbol: str, pay: int) -> dict[str, Any]:
        return combination(f"three_{symbol}", [symbol] * 3, [pay], wild="substitutes")

    sheet = one_line_sheet(
        reels,
        [
            combination("three_diamonds", ["diamond"] * 3, [1000], wild="none"),
            three("seven", 80),
            three("triple_bar", 40),
            three("double_bar", 25),
            three("single_bar", 10),
            three("bar", 5),
            three("cherry", 10),
            combination(
                "two_cherries", ["cherry", "cherry", "any"], [5], in_any_order=True, wild="multiplies"
            ),
            combination("one_cherry", ["cherry", "any", "any"], [2], in_any_order=True, wild="multiplies"),
        ],
        [1],
    )
    return {**sheet, "groups": {"bar": BARS}, "wild": {"symbol": "diamond", "multiplier": 2}}


def counted(row: dict[str, Any]) -> Sheet:
    """A strip set as par-sheet data: one stop a symbol, its count as weight."""
    return double_diamond([reel(*zip(SYMBOLS, counts, strict=True)) for counts in row["counts"]])


@pytest.mark.parametrize("row", VECTORS["sets"], ids=lambda row: row["name"])
def test_strip_sets_give_their_published_figures(row: dict[str, Any]) -> None:
    cycle = game_of(counted(row)).cycle
    (bet,) = cycle.bets
    assert cycle.size == row["cycle"] == row["stops"] ** 3
    assert bet.paid == row["paid"]
    assert bet.winning == row["winning"]
    assert bet.theoretical_return == Fraction(row["paid"], row["cycle"])
    assert abs(bet.theoretical_return * 100 - Fraction(row["name"])) <= Fraction(5, 10_000)


@pytest.mark.parametrize(
    ("line", "pay", "key", "multiplier"),
    [
        ("diamond diamond diamond", 1000, "three_diamonds", 1),
        ("seven seven seven", 80, "three_seven", 1),
        ("seven diamond seven", 160, "three_seven", 2),
        ("diamond diamond seven", 320, "three_seven", 4),
        ("triple_bar double_bar single_bar", 5, "three_bar", 1),
        ("triple_bar diamond single_bar", 10, "three_bar", 2),
        ("diamond single_bar diamond", 40, "three_single_bar", 4),
        ("blank cherry seven", 2, "one_cherry", 1),
        ("cherry cherry seven", 5, "two_cherries", 1),
        ("blank cherry diamond", 4, "one_cherry", 2),  # the pay glass: one cherry with one diamond pays 4
        ("diamond cherry diamond", 40, "three_cherry", 4),  # two diamonds and a cherry pay 40
        ("cherry diamond cherry", 20, "three_cherry", 2),
        ("diamond diamond blank", 0, None, None),
        ("blank blank blank", 0, None, None),
        ("seven seven triple_bar", 0, None, None),
    ],
)
def test_a_line_is_paid_by_its_best_reading(
    line: str, pay: int, key: str | None, multiplier: int | None
) -> None:
    stops = tuple(SYMBOLS.index(symbol) for symbol in line.split())
    game = game_of(double_diamond([reel(*((symbol, 1) for symbol in SYMBOLS))] * 3))
    outcome = game.outcome(stops, 1)
    assert outcome.win_credits == pay
    assert [(win.combination, win.multiplier) for win in outcome.wins] == ([(key, multiplier)] if key else [])


def test_the_symbols_that_won_are_named() -> None:
    game = game_of(double_diamond([reel(*((symbol, 1) for symbol in SYMBOLS))] * 3))

    def positions(line: str) -> tuple[tuple[int, int], ...]:
        (win,) = game.outcome(tuple(SYMBOLS.index(symbol) for symbol in line.split()), 1).wins
        return win.positions

    assert positions("blank cherry seven") == ((1, 1),)
    assert positions("cherry seven cherry") == ((0, 1), (2, 1))
    assert positions("blank cherry diamond") == ((1, 1), (2, 1))  # the diamond doubled it
    assert positions("seven diamond seven") == ((0, 1), (1, 1), (2, 1))


def test_the_window_shows_the_strip_in_its_true_order() -> None:
    strips = [[SYMBOLS[number] for number in strip] for strip in VECTORS["ordered"]["strips"]]
    game = game_of(double_diamond([reel(*((symbol, 1) for symbol in strip)) for strip in strips]))
    (row,) = (row for row in VECTORS["sets"] if row["name"] == VECTORS["ordered"]["name"])
    assert game.cycle.bets[0].paid == row["paid"]
    for stop in range(len(strips[0])):
        top, middle, bottom = game.window((stop, 0, 11))
        assert middle == (strips[0][stop], strips[1][0], strips[2][11])
        assert top == (strips[0][stop - 1], strips[1][-1], strips[2][10])
        assert bottom == (strips[0][(stop + 1) % 46], strips[1][1], strips[2][12])
