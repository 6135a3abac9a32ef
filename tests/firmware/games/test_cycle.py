"""The exact figures, against a brute force written on its own and against hand counts."""

from __future__ import annotations

import tomllib
from collections import Counter
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.games.cycle import disagreements
from firmware.games.reel_game import ReelGame
from simulator.maths.simulation import simulate
from tests.firmware.games.sheets import (
    SHIPPED,
    Sheet,
    combination,
    game_of,
    one_line_sheet,
    reel,
    shipped,
    shipped_text,
)


def lantern_night_pays(line: tuple[str, str, str], bet: int) -> int:
    """The rules page of Lantern Night in plain code: nothing here is read from the par sheet."""
    lanterns, matches = line.count("lantern"), line.count("match")
    if lanterns == 3:
        return {1: 1000, 2: 2000, 3: 5000}[bet]
    others = {symbol for symbol in line if symbol != "lantern"}
    three = {"moon": 100, "star": 50, "torch": 25, "match": 20, "candle": 12}
    if len(others) == 1 and (symbol := others.pop()) in three:
        return three[symbol] * 2**lanterns * bet
    if all(symbol in ("torch", "candle", "lantern") for symbol in line):
        return 5 * 2**lanterns * bet
    if matches == 2:
        return 5 * bet
    if matches == 1:
        return 2 * 2**lanterns * bet
    return 0


@pytest.mark.parametrize("bet", [1, 2, 3])
def test_every_stop_of_lantern_night_counted_one_by_one(bet: int) -> None:
    strips = [
        [(symbol, weight) for symbol, weight in one["strip"]]
        for one in tomllib.loads(shipped_text("lantern_night"))["reels"]
    ]
    wins: Counter[int] = Counter()
    for stops in product(*strips):
        weight = stops[0][1] * stops[1][1] * stops[2][1]
        wins[lantern_night_pays((stops[0][0], stops[1][0], stops[2][0]), bet)] += weight
    figures = shipped("lantern_night").cycle.bets[bet - 1]
    assert figures.wins == dict(wins)
    total = sum(wins.values())
    mean = Fraction(sum(win * count for win, count in wins.items()), total * bet)
    assert figures.theoretical_return == mean
    assert figures.hit_frequency == Fraction(total - wins[0], total)
    squares = sum((Fraction(win, bet) - mean) ** 2 * count for win, count in wins.items())
    assert figures.variance == squares / total


@pytest.mark.law("PA-7-a-3")
@pytest.mark.parametrize("name", SHIPPED)
def test_each_winning_combination_enters_the_return(name: str) -> None:
    for bet in shipped(name).cycle.bets:
        expected = sum(
            Fraction(award.hits, bet.cycle) * award.credits for award in bet.awards.values()
        )  # one line: an award is paid once a game
        assert expected == bet.theoretical_return * bet.credits
        assert sum(award.paid for award in bet.awards.values()) == bet.paid


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_games_are_what_they_declare(name: str) -> None:
    game = shipped(name)
    assert disagreements(game.sheet, game.cycle) == ()
    assert game.base_percent == f"{int(game.cycle.bets[-1].theoretical_return * 10_000):04d}"


@pytest.mark.law("PA-7-a-2", partly="the independence of the draws themselves")
@pytest.mark.parametrize("name", SHIPPED)
def test_the_cycle_is_every_combination_of_virtual_stops(name: str) -> None:
    game = shipped(name)
    size = 1
    for virtual_stops in game.ranges(game.max_bet_credits):
        size *= virtual_stops
    assert game.cycle.size == size
    for bet in game.cycle.bets:
        assert sum(bet.wins.values()) == size


def test_lantern_night_by_hand() -> None:
    """Three lanterns: 2 x 2 x 1 of 64^3. Two matches, no lantern, no third match: counted by hand."""
    bet = shipped("lantern_night").cycle.bets[0]
    assert bet.awards["three_lanterns", 1].hits == 2 * 2 * 1
    assert bet.odds(("three_lanterns", 1)) == Fraction(64**3 - 4, 4)
    neither = (64 - 4 - 2, 64 - 4 - 2, 64 - 3 - 1)
    assert bet.awards["two_matches", 1].hits == 4 * 4 * neither[2] + 4 * neither[1] * 3 + neither[0] * 4 * 3


def test_false_declarations_are_named() -> None:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    sheet["declared"]["paid"][2] += 1
    sheet["declared"]["winning"][0] -= 1
    sheet["declared"]["cycle"] = 262_143
    game = game_of(sheet)
    assert disagreements(game.sheet, game.cycle) == (
        "declared.cycle: declared 262,143, counted 262,144",
        "declared.winning at a bet of 1: declared 49,507, counted 49,508",
        "declared.paid at a bet of 3: declared 748,788, counted 748,787",
    )


def test_base_percent_is_cut_and_has_four_digits() -> None:
    def base(pay: int) -> str:
        one = reel(("win", 1), ("win", 1), ("win", 1))
        return game_of(one_line_sheet([one], [combination("win", ["win"], [pay])], [9_999])).base_percent

    assert base(9_998) == "9998"  # 99.9899...: rounding would claim 99.99
    assert base(500) == "0500"
    assert base(9_999) == "9999"  # 100 %: SAS has no room for more
    assert base(20_000) == "9999"


SYMBOLS = ("a", "b", "w")


@st.composite
def small_sheets(draw: st.DrawFn) -> Sheet:
    """Small games of several lines, a wild and unequal weights."""
    weights = st.tuples(st.sampled_from(SYMBOLS), st.integers(1, 4))
    reels = [
        reel(("a", 1), ("b", 1), ("w", 1), *draw(st.lists(weights, max_size=3)))
        for _ in range(draw(st.integers(2, 3)))
    ]
    count = len(reels)
    lines = draw(
        st.lists(st.lists(st.integers(0, 2), min_size=count, max_size=count), min_size=1, max_size=3)
    )
    pays = st.lists(st.integers(0, 9), min_size=2, max_size=2)
    rules = [
        combination("a_run", ["a"] * count, [7, 9], wild="substitutes"),
        combination("w_run", ["w"] * count, [20, 50], wild="none"),
        combination(
            "one_b",
            ["b"] + ["any"] * (count - 1),
            [1, *draw(pays)[:1]],
            in_any_order=draw(st.booleans()),
            wild=draw(st.sampled_from(["substitutes", "multiplies", "none"])),
        ),
    ]
    sheet = one_line_sheet(reels, rules, [1, 5])
    sheet["lines"] = lines
    sheet["bets"] = [{"credits": 1, "lines": 1}, {"credits": 5, "lines": len(lines)}]
    sheet["window"]["stop_row"] = draw(st.integers(0, 2))
    return {**sheet, "wild": {"symbol": "w", "multiplier": draw(st.integers(1, 3))}}


@settings(max_examples=40)
@given(sheet=small_sheets())
def test_the_cycle_is_the_play_of_every_value(sheet: Sheet) -> None:
    """Columns taken together with their weights lose nothing: play each virtual stop and count."""
    game = game_of(sheet)
    for bet in game.cycle.bets:
        wins: Counter[int] = Counter()
        paid: Counter[tuple[str, int]] = Counter()
        for values in product(*(range(size) for size in game.ranges(bet.credits))):
            outcome = game.outcome(values, bet.credits)
            wins[outcome.win_credits] += 1
            for win in outcome.wins:
                paid[win.combination, win.multiplier] += win.credits
        assert bet.wins == dict(wins)
        assert {award: figures.paid for award, figures in bet.awards.items()} == dict(paid)


@settings(max_examples=40)
@given(sheet=small_sheets(), data=st.data())
def test_line_wins_are_read_from_the_window(sheet: Sheet, data: Any) -> None:
    """The symbols that the window shows on the named line are the ones that won."""
    game = game_of(sheet)
    bet = game.max_bet_credits
    values = tuple(data.draw(st.integers(0, size - 1)) for size in game.ranges(bet))
    outcome = game.outcome(values, bet)
    window = game.window(outcome.stops)
    for win in outcome.wins:
        line = sheet["lines"][win.line - 1]
        assert all(row == line[column] for column, row in win.positions)
        shown = [window[row][column] for column, row in win.positions]
        allowed = {"a_run": {"a", "w"}, "w_run": {"w"}, "one_b": {"b", "w"}}[win.combination]
        assert set(shown) <= allowed
    assert outcome.win_credits == sum(win.credits for win in outcome.wins)
    assert game.lines_played(bet) == len(sheet["lines"])


@pytest.mark.parametrize("bet", [1, 3])
def test_a_played_sample_is_within_four_standard_deviations(bet: int) -> None:
    game = shipped("lantern_night")
    games = 100_000
    sample = simulate(game, bet, games, seed=20_261_130)
    figures: Any = game.cycle.bets[game.bets.index(bet)]
    assert sum(sample.wins.values()) == games
    assert abs(sample.deviations(figures)) < 4
    hits = games - sample.wins[0]
    chance = float(figures.hit_frequency)
    assert abs(hits - games * chance) < 4 * sqrt(games * chance * (1 - chance))
    assert set(sample.wins) <= set(figures.wins)


def test_a_sample_that_pays_wrongly_is_noticed() -> None:
    """The negative control: the same sample against a game that pays one thing more must fail."""
    sheet = tomllib.loads(shipped_text("lantern_night"))
    sheet["combinations"][-1]["pays"] = [3, 6, 9]  # one match pays a half more
    sample = simulate(shipped("lantern_night"), 1, 100_000, seed=20_261_130)
    assert abs(sample.deviations(ReelGame(game_of(sheet).sheet).cycle.bets[0])) > 4
