"""The play: values to stops and wins, its refusals, and that it is what the core asks for."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from firmware.core.game_rules import GameRules
from firmware.games.reel_game import ReelGame
from tests.firmware.games.sheets import SHIPPED, shipped, shipped_text


@pytest.fixture
def game() -> ReelGame:
    return shipped("lantern_night")


def test_a_reel_game_is_what_the_core_asks_for(game: ReelGame) -> None:
    rules: GameRules = game  # mypy holds the signatures; this holds the values
    assert (rules.name, rules.number, rules.paytable_id) == ("lantern_night", 1, "LN0001")
    assert (rules.bets, rules.max_bet_credits, rules.base_percent) == ((1, 2, 3), 3, "9521")
    assert (rules.reel_count, rules.lines_played(2), rules.spin_time_us) == (3, 1, 600_000)
    assert [rules.top_award_credits(bet) for bet in rules.bets] == [1000, 2000, 5000]
    assert rules.ranges(3) == (64, 64, 64)


def test_every_virtual_stop_leads_to_its_physical_stop(game: ReelGame) -> None:
    strips = [one["strip"] for one in tomllib.loads(shipped_text("lantern_night"))["reels"]]
    for reel, strip in enumerate(strips):
        counts: Counter[int] = Counter()
        for value in range(64):
            values = tuple(value if other == reel else 0 for other in range(3))
            counts[game.outcome(values, 1).stops[reel]] += 1
        assert [counts[stop] for stop in range(22)] == [weight for _, weight in strip]


def test_three_lanterns_pay_the_top_award_of_the_bet(game: ReelGame) -> None:
    for bet in game.bets:
        outcome = game.outcome((0, 1, 0), bet)  # the lantern has virtual stops 0 and 1 of reels 1 and 2
        (win,) = outcome.wins
        assert outcome.stops == (0, 0, 0)
        assert (win.line, win.combination, win.multiplier) == (1, "three_lanterns", 1)
        assert win.positions == ((0, 1), (1, 1), (2, 1))
        assert win.credits == outcome.win_credits == game.top_award_credits(bet)


@pytest.mark.parametrize(
    ("values", "bet", "error"),
    [
        ((0, 0, 0), 4, KeyError),
        ((0, 0, 0), 0, KeyError),
        ((64, 0, 0), 1, IndexError),
        ((0, 0, -1), 1, IndexError),
        ((0, 0), 1, ValueError),
        ((0, 0, 0, 0), 1, ValueError),
        ((), 1, ValueError),
    ],
)
def test_values_that_were_never_drawn_are_refused(
    game: ReelGame, values: tuple[int, ...], bet: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        game.outcome(values, bet)


def test_ranges_of_an_unknown_bet_are_refused(game: ReelGame) -> None:
    with pytest.raises(KeyError):
        game.ranges(4)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_game_stands_in_the_directory_of_its_name(name: str) -> None:
    assert shipped(name).name == name


def test_shipped_games_have_numbers_and_paytables_of_their_own() -> None:
    games = [shipped(name) for name in SHIPPED]
    assert len({game.number for game in games}) == len(games)
    assert len({game.paytable_id for game in games}) == len(games)
