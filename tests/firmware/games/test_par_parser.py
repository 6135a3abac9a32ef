"""A par sheet that is not sound is refused with file, key and what is allowed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.games.par_parser import parse_par_sheet
from firmware.games.par_sheet import ParSheetError, Stop, WildUse
from tests.firmware.games.sheets import LIBRARY, SHIPPED, shipped, shipped_text, text_of

Bend = Callable[[dict[str, Any]], None]


def refusal(bend: Bend) -> ParSheetError:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    bend(sheet)
    with pytest.raises(ParSheetError) as caught:
        parse_par_sheet(text_of(sheet), "here/par.toml")
    assert str(caught.value) == f"here/par.toml: {caught.value.key}: {caught.value.problem}"
    return caught.value


def setting(*path: str | int, to: object) -> Bend:
    def bend(sheet: Any) -> None:
        for key in path[:-1]:
            sheet = sheet[key]
        sheet[path[-1]] = to

    return bend


def dropping(*path: str | int) -> Bend:
    def bend(sheet: Any) -> None:
        for key in path[:-1]:
            sheet = sheet[key]
        del sheet[path[-1]]

    return bend


def test_what_is_read_is_what_stands_there() -> None:
    sheet = parse_par_sheet(shipped_text("lantern_night"), "x")
    assert sheet.reels[2].stops[:3] == (Stop("lantern", 1), Stop("blank", 5), Stop("match", 1))
    assert [reel.total_weight for reel in sheet.reels] == [64, 64, 64]
    assert sheet.groups == {"flame": frozenset({"torch", "candle"})}
    two_matches = sheet.combinations[7]
    assert (two_matches.symbols, two_matches.in_any_order) == (("match", "match", "any"), True)
    assert two_matches.wild is WildUse.MULTIPLIES
    assert not sheet.combinations[0].in_any_order


@pytest.mark.parametrize(
    ("bend", "key", "words"),
    [
        (setting("format", to=2), "format", "from 1 to 1"),
        (dropping("format"), "format", "is missing"),
        (dropping("game", "paytable_id"), "game.paytable_id", "is missing"),
        (setting("game", "paytable_id", to="LN00001"), "game.paytable_id", "6 to 6 characters"),
        (setting("game", "paytable_id", to="LN000é"), "game.paytable_id", "ASCII"),
        (setting("game", "name", to="Lantern Night"), "game.name", "small letters"),
        (setting("game", "title", to="x" * 21), "game.title", "1 to 20 characters"),
        (setting("game", "number", to=0), "game.number", "from 1 to 9999"),
        (setting("game", "number", to=True), "game.number", "whole number"),
        (setting("game", "number", to=1.0), "game.number", "whole number"),
        (setting("game", "play_mode", to="video"), "game.play_mode", "allowed: reels_and_lines"),
        (setting("game", "colour", to="red"), "game.colour", "is not known here"),
        (setting("game", "denominations", to=[5, 1]), "game.denominations", "must rise"),
        (setting("game", "denominations", to=[]), "game.denominations", "at least one"),
        (setting("colour", to="red"), "colour", "is not known here"),
        (setting("bets", 1, "credits", to=1), "bets", "must rise"),
        (setting("bets", 0, "lines", to=2), "bets[1].lines", "from 1 to 1"),
        (setting("bets", 2, "credits", to=10_000), "bets[3].credits", "from 1 to 9999"),
        (setting("symbols", 1, "key", to="blank"), "symbols", "'blank' twice"),
        (setting("symbols", 1, "key", to="any"), "symbols[2].key", "every symbol"),
        (setting("symbols", 1, "text", to="LANTERN"), "symbols[2].text", "1 to 4 characters"),
        (setting("groups", "moon", to=["star"]), "groups.moon", "already"),
        (setting("groups", "flame", to=["fire"]), "groups.flame", "known symbols"),
        (setting("wild", "symbol", to="joker"), "wild.symbol", "allowed: blank"),
        (setting("wild", "multiplier", to=0), "wild.multiplier", "from 1 to 100"),
        (setting("window", "stop_row", to=3), "window.stop_row", "from 0 to 2"),
        (setting("window", "rows", to=23), "window.rows", "from 1 to 22"),
        (setting("lines", to=[[1, 1]]), "lines[1]", "3 rows from 0 (top) to 2"),
        (setting("lines", to=[[1, 1, 3]]), "lines[1]", "3 rows from 0 (top) to 2"),
        (setting("reels", 0, "strip", 4, to=["blank", 0]), "reels[1].strip[5]", "weight from 1"),
        (setting("reels", 0, "strip", 4, to=["blank", True]), "reels[1].strip[5]", "weight from 1"),
        (setting("reels", 0, "strip", 4, to=["blank"]), "reels[1].strip[5]", "weight from 1"),
        (setting("combinations", 0, "symbols", to=["moon"] * 2), "combinations[1].symbols", "2 places"),
        (setting("combinations", 0, "symbols", 0, to="sun"), "combinations[1].symbols", "asks for 'sun'"),
        (setting("combinations", 0, "pays", to=[1, 2]), "combinations[1].pays", "2 entries"),
        (setting("combinations", 0, "pays", to=[0, 0, 0]), "combinations[1].pays", "pays nothing"),
        (setting("combinations", 0, "pays", 0, to=-1), "combinations[1].pays", "from 0"),
        (setting("combinations", 0, "wild", to="helps"), "combinations[1].wild", "allowed: substitutes"),
        (setting("combinations", 0, "key", to="three_moons"), "combinations", "'three_moons' twice"),
        (setting("declared", "paid", to=[1, 2]), "declared.paid", "each of 3 bets"),
        (dropping("declared", "winning"), "declared.winning", "is missing"),
    ],
)
def test_each_mistake_is_named(bend: Bend, key: str, words: str) -> None:
    error = refusal(bend)
    assert error.key == key
    assert words in error.problem


@pytest.mark.law("PA-7-a-1")
def test_a_displayed_symbol_that_is_not_listed_is_refused() -> None:
    error = refusal(setting("reels", 1, "strip", 3, to=["comet", 2]))
    assert (error.key, error.problem) == (
        "reels[2].strip[4]",
        "shows 'comet'; known symbols: blank, lantern, moon, star, torch, candle, match",
    )


@pytest.mark.law("PA-7-a-1")
def test_a_listed_symbol_that_no_reel_shows_is_refused() -> None:
    error = refusal(lambda sheet: sheet["symbols"].append({"key": "sun", "title": "sun", "text": "SUN"}))
    assert error.problem == "has 'sun', which no reel shows"


def test_a_par_sheet_too_large_to_enumerate_is_refused_at_once() -> None:
    error = refusal(lambda sheet: sheet["reels"].extend(sheet["reels"] * 3))
    assert error.key == "reels"


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(ParSheetError):
        parse_par_sheet(text, "x")


@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    """Put a wrong thing in a random place of a sound sheet: it is read, or refused by name; never a crash."""
    sheet = tomllib.loads(shipped_text("lantern_night"))
    place: Any = sheet
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(
        st.sampled_from(
            [None, -1, 0, 10**30, 1.5, "", "any", "x", "\x00", True, [], [[]], {}, {"a": 1}, [1, "x"]]
        )
    )
    if place[key] is None:
        del place[key]
    try:
        parse_par_sheet(text_of(sheet), "x")
    except ParSheetError as error:
        assert error.source == "x"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_rules_page_tells_every_pay_and_denomination(name: str) -> None:
    """Only the file: that the machine shows it is for the help screens to prove (NJ-28A-n-rules)."""
    game = shipped(name)
    rules = (LIBRARY / name / "rules.md").read_text()
    for combination in game.sheet.combinations:
        row = " | ".join([combination.title, *(str(pay) for pay in combination.pays)])
        assert f"| {row} |" in rules
    for cents in game.denominations:
        assert str(cents if cents < 100 else cents // 100) in rules.split("|")[0]
    assert "Malfunction voids all pays" in rules
