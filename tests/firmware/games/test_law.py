"""The loader refuses what a profile does not allow, naming the clause; at the limit it does not."""

from __future__ import annotations

import tomllib

import pytest

from firmware.games.cycle import AwardFigures, BetFigures, Cycle
from firmware.games.law import Finding, measure
from firmware.games.loader import GameRefusedError, load_game
from firmware.games.par_sheet import ParSheetError
from tests.firmware.games.sheets import (
    SHIPPED,
    Sheet,
    combination,
    declared,
    one_line_sheet,
    profile,
    reel,
    sheet_returning,
    shipped,
    shipped_text,
    text_of,
)


def findings(sheet: Sheet, name: str) -> tuple[Finding, ...]:
    """What the loader refuses the game for; notes too if it is not refused."""
    text = text_of(declared(sheet))
    try:
        game = load_game(text, "test", profile(name))
    except GameRefusedError as error:
        assert all(finding.refused for finding in error.findings)
        return error.findings
    return measure(game.sheet, game.cycle, profile(name))


def refusals(sheet: Sheet, name: str) -> list[tuple[tuple[str, ...], str]]:
    """Clauses of each refusal with the rule it names; empty: the game is loaded."""
    return [
        (finding.clauses, finding.message.split(":")[0])
        for finding in findings(sheet, name)
        if finding.refused
    ]


@pytest.mark.law("NJ-28A-a")
def test_nj_wants_83_percent() -> None:
    for name in SHIPPED:
        assert all(bet.theoretical_return * 100 >= 83 for bet in shipped(name).cycle.bets)
    assert refusals(sheet_returning("83.00"), "nj") == []
    assert refusals(sheet_returning("82.99"), "nj") == [(("NJ-28A-a",), "minimum return")]


@pytest.mark.law("NJ-28A-a")
def test_nj_wants_it_at_every_wager() -> None:
    assert refusals(sheet_returning("82.99", "90.00"), "nj") == [(("NJ-28A-a",), "minimum return")]


@pytest.mark.law("PA-7-a-min")
def test_pa_wants_85_percent_at_the_lowest_wager() -> None:
    assert refusals(sheet_returning("85.00", "86.00"), "pa") == []
    assert refusals(sheet_returning("84.99", "86.00"), "pa") == [(("PA-7-a-min",), "minimum return")]


@pytest.mark.law("PA-7-a-max")
def test_pa_wants_less_than_100_percent_at_the_highest_wager() -> None:
    assert refusals(sheet_returning("90.00", "99.99"), "pa") == []
    assert refusals(sheet_returning("90.00", "100.00"), "pa") == [(("PA-7-a-max",), "maximum return")]
    assert refusals(sheet_returning("90.00", "100.00"), "nj") == []


@pytest.mark.law("NJ-28A-b")
@pytest.mark.parametrize("name", SHIPPED)
def test_every_combination_can_be_won_at_every_bet(name: str) -> None:
    game = shipped(name)
    offered = {combination.key for combination in game.sheet.combinations}
    for bet in game.cycle.bets:
        assert {key for key, _ in bet.awards} == offered


@pytest.mark.law("NJ-28A-b")
@pytest.mark.parametrize("index", range(9))
@pytest.mark.parametrize("bet", range(3))
def test_nj_refuses_a_combination_that_one_bet_cannot_win(index: int, bet: int) -> None:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    sheet["combinations"][index]["pays"][bet] = 0
    assert (("NJ-28A-b",), "attainable combinations") in refusals(sheet, "nj")
    assert "attainable combinations" not in [rule for _, rule in refusals(sheet, "pa")]


def test_nj_refuses_a_combination_that_no_stop_can_make() -> None:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    # Three candles would always be read as three torches or candles, which pays more.
    sheet["combinations"][6]["pays"] = [13, 26, 39]
    assert (("NJ-28A-b",), "attainable combinations") in refusals(sheet, "nj")


def with_odds(cycle: int) -> Cycle:
    """A cycle in which the top award comes once."""
    award = {("three_lanterns", 1): AwardFigures(cycle, 1, cycle)}
    bet = BetFigures(1, cycle, {0: cycle - 1, cycle: 1}, award)
    return Cycle(cycle, (bet,))


@pytest.mark.parametrize(
    ("name", "cycle", "refused"),
    [
        pytest.param("nj", 100_000_001, False, marks=pytest.mark.law("NJ-28A-c")),
        pytest.param("nj", 100_000_002, True, marks=pytest.mark.law("NJ-28A-c")),
        pytest.param("pa", 50_000_001, False, marks=pytest.mark.law("PA-7-a-6")),
        pytest.param("pa", 50_000_002, True, marks=pytest.mark.law("PA-7-a-6")),
    ],
)
def test_odds_have_a_limit(name: str, cycle: int, refused: bool) -> None:
    """One in ``cycle`` is ``cycle - 1`` to 1."""
    law = profile(name)
    found = [
        finding
        for finding in measure(shipped("lantern_night").sheet, with_odds(cycle), law)
        if finding.message.startswith("odds")
    ]
    assert [finding.clauses for finding in found] == ([law.odds_max.clauses] if refused else [])


def test_long_odds_are_refused_from_the_par_sheet_on() -> None:
    """A jackpot at one in 500^3, 125 million, in a game that returns 90 % by its other win."""
    reels = [reel(("jackpot", 1), ("win", 200), ("lose", 299))] * 3
    rules = [
        combination("jackpot", ["jackpot"] * 3, [100_000]),
        combination("win", ["win", "win", "any"], [11]),
        combination("one", ["jackpot", "any", "any"], [2]),
    ]
    sheet = one_line_sheet(reels, rules, [2])
    assert (("NJ-28A-c",), "odds") in refusals(sheet, "nj")
    assert (("PA-7-a-6",), "odds") in refusals(sheet, "pa")


@pytest.mark.parametrize(
    ("returns", "broken"),
    [
        (["90.00", "89.80", "89.60"], []),
        (["90.00", "89.70", "89.40"], ["NJ-28A-d"]),
        (["90.000", "89.995"], []),
        (["90.00", "89.50"], []),
        (["90.00", "89.49"], ["NJ-28A-d"]),
        (["90.00", "91.00", "90.40"], ["NJ-28A-d"]),
    ],
)
@pytest.mark.law("NJ-28A-d")
def test_nj_limits_falls_of_the_return(returns: list[str], broken: list[str]) -> None:
    sheet = sheet_returning(*returns, bet_step=10)
    assert [clause for clauses, _ in refusals(sheet, "nj") for clause in clauses] == broken


@pytest.mark.parametrize(
    ("returns", "broken"),
    [
        pytest.param(["90.00", "90.10"], [], marks=pytest.mark.law("PA-7-c-base")),
        pytest.param(["90.000", "89.995"], [], marks=pytest.mark.law("PA-7-c-base")),
        pytest.param(["90.00", "90.50", "90.10"], [], marks=pytest.mark.law("PA-7-c-1")),
        pytest.param(["90.00", "90.60", "90.09"], ["PA-7-c-1"], marks=pytest.mark.law("PA-7-c-1")),
        pytest.param(["90.00", "89.80"], ["PA-7-c-2"], marks=pytest.mark.law("PA-7-c-2")),
        pytest.param(["90.00", "90.40", "90.10"], [], marks=pytest.mark.law("PA-7-c-2")),
    ],
)
def test_pa_limits_falls_of_the_return(returns: list[str], broken: list[str]) -> None:
    sheet = sheet_returning(*returns, bet_step=10)
    assert [clause for clauses, _ in refusals(sheet, "pa") for clause in clauses] == broken


@pytest.mark.law("PA-7-c-base")
def test_pa_notes_a_fall_that_only_the_exceptions_allow() -> None:
    (note,) = findings(sheet_returning("90.00", "90.10", "90.05", bet_step=10), "pa")
    assert (note.clauses, note.refused) == (("PA-7-c-base",), False)
    assert "falls" in note.message


def test_many_small_steps_down_are_one_fall() -> None:
    """Each step is too small to count, the sum is not: the rule compares with every smaller wager."""
    steps = [f"{90 - index / 100:.2f}" for index in range(60)]
    assert [clauses for clauses, _ in refusals(sheet_returning(*steps, bet_step=1), "nj")] == [("NJ-28A-d",)]


def near_miss(beside: int, others: int = 100, top: int = 100) -> Sheet:
    """A strip of top-award symbol, a neighbour of the given weight on both sides, and a third symbol."""
    strip = reel(("top", top), ("blank", beside), ("other", others), ("blank", beside))
    rules = [combination("top", ["top"], [2]), combination("other", ["other"], [1])]
    return one_line_sheet([strip], rules, [1])


@pytest.mark.law("NJ-28A-k-adj")
def test_nj_limits_the_weight_beside_the_top_award() -> None:
    def broken(sheet: Sheet) -> list[str]:
        return [rule for _, rule in refusals(sheet, "nj") if rule == "symbol weights"]

    assert broken(near_miss(600)) == []
    assert broken(near_miss(601)) == ["symbol weights"]
    assert broken(near_miss(601, top=101)) == ["symbol weights"]  # the third symbol is rarer than that
    assert broken(near_miss(601, others=101)) == ["symbol weights"]  # the top symbol is a symbol too
    assert broken(near_miss(601, top=101, others=101)) == []


@pytest.mark.law("NJ-28A-k-adj")
def test_only_stops_beside_the_top_award_are_limited() -> None:
    strip = reel(("top", 1), ("blank", 6), ("other", 10_000), ("blank", 6))
    sheet = one_line_sheet([strip], [combination("top", ["top"], [9_000])], [1])
    assert "symbol weights" not in [rule for _, rule in refusals(sheet, "nj")]
    above = one_line_sheet(
        [reel(("other", 3), ("top", 1), ("blank", 6), ("blank", 7))],
        [combination("top", ["top"], [15])],
        [1],
    )
    assert "symbol weights" not in [rule for _, rule in refusals(above, "nj")]
    around = one_line_sheet(
        [reel(("top", 1), ("other", 3), ("other", 3), ("blank", 7))],  # the last stop is above the first
        [combination("top", ["top"], [13])],
        [1],
    )
    assert "symbol weights" in [rule for _, rule in refusals(around, "nj")]


def test_pa_has_no_rule_on_symbol_weights() -> None:
    assert [rule for _, rule in refusals(near_miss(601), "pa") if rule == "symbol weights"] == []


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("jurisdiction", ["nj", "pa", "md"])
def test_shipped_games_are_allowed_everywhere(name: str, jurisdiction: str) -> None:
    game = load_game(shipped_text(name), name, profile(jurisdiction))
    assert measure(game.sheet, game.cycle, profile(jurisdiction)) == ()


def test_md_refuses_what_pa_refuses_and_cites_no_clause() -> None:
    (finding,) = findings(sheet_returning("84.99"), "md")
    assert finding.clauses == ()
    assert str(finding).startswith("no clause: minimum return")


def test_false_figures_are_refused_before_the_law_is_asked() -> None:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    sheet["declared"]["paid"][1] += 1
    with pytest.raises(ParSheetError) as caught:
        load_game(text_of(sheet), "test", profile("nj"))
    assert str(caught.value) == (
        "test: declared: declared.paid at a bet of 2: declared 493,859, counted 493,858"
    )


def test_the_refusal_says_file_clause_and_figures() -> None:
    with pytest.raises(GameRefusedError) as caught:
        load_game(text_of(declared(sheet_returning("82.99"))), "bad/par.toml", profile("nj"))
    assert str(caught.value) == (
        "bad/par.toml: NJ-28A-a: minimum return: 82.9900 % at a bet of 100 is below 83.0000 %"
    )
