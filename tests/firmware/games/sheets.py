"""Par sheets as text for tests: one sound sheet as data, to be bent and written out again."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomlkit

from firmware.games.par_parser import parse_par_sheet
from firmware.games.reel_game import ReelGame
from firmware.profiles.profile import Profile, parse_profile

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "firmware" / "games" / "library"
PROFILES = ROOT / "firmware" / "profiles"
SHIPPED = sorted(path.parent.name for path in LIBRARY.glob("*/par.toml"))

Sheet = dict[str, Any]


def profile(name: str) -> Profile:
    def read(other: str) -> str:
        return (PROFILES / f"{other}.toml").read_text()

    return parse_profile(read(name), name, read)


def shipped_text(name: str) -> str:
    return (LIBRARY / name / "par.toml").read_text()


def shipped(name: str) -> ReelGame:
    return ReelGame(parse_par_sheet(shipped_text(name), name))


def text_of(sheet: Sheet) -> str:
    return tomlkit.dumps(sheet)


def game_of(sheet: Sheet) -> ReelGame:
    return ReelGame(parse_par_sheet(text_of(sheet), "test"))


def reel(*stops: tuple[str, int]) -> dict[str, Any]:
    return {"strip": [[symbol, weight] for symbol, weight in stops]}


def combination(key: str, symbols: list[str], pays: list[int], **more: Any) -> dict[str, Any]:
    return {"key": key, "title": key, "symbols": symbols, "pays": pays, **more}


def one_line_sheet(reels: list[dict[str, Any]], combinations: list[dict[str, Any]], bets: list[int]) -> Sheet:
    """A sheet of one line in the middle of three rows; every symbol of the reels is declared."""
    names = sorted({symbol for one in reels for symbol, _ in one["strip"]})
    return {
        "format": 1,
        "lines": [[1] * len(reels)],
        "game": {
            "name": "test",
            "title": "Test",
            "number": 1,
            "paytable_id": "TEST01",
            "play_mode": "reels_and_lines",
            "denominations": [1],
            "spin_time_us": 0,
        },
        "symbols": [{"key": name, "title": name, "text": name[:4]} for name in names],
        "window": {"rows": 3, "stop_row": 1},
        "reels": deepcopy(reels),
        "bets": [{"credits": credits_, "lines": 1} for credits_ in bets],
        "combinations": deepcopy(combinations),
        "declared": {"cycle": 1, "winning": [0] * len(bets), "paid": [0] * len(bets)},
    }


def declared(sheet: Sheet) -> Sheet:
    """The same sheet declaring what its enumeration gives, so that only the law can refuse it."""
    cycle = game_of(sheet).cycle
    return {
        **sheet,
        "declared": {
            "cycle": cycle.size,
            "winning": [bet.winning for bet in cycle.bets],
            "paid": [bet.paid for bet in cycle.bets],
        },
    }


def sheet_returning(*percents: str, bet_step: int = 1) -> Sheet:
    """Three reels of ten stops; at bet i the one win, a hundredth of the cycle, pays back ``percents[i]``.

    A percentage of up to two decimals: bets are multiples of 100 credits times ``bet_step``.
    """
    bets = [100 * bet_step * (index + 1) for index in range(len(percents))]
    # A hundredth of the games win: two reels of one in ten, the third always.
    ten = reel(("win", 1), ("lose", 9))
    pays = [Fraction(percent) * bet for percent, bet in zip(percents, bets, strict=True)]
    assert all(pay.denominator == 1 for pay in pays), "choose bets that make whole credits"
    return one_line_sheet(
        [with_three_stops(ten), with_three_stops(ten), reel(("win", 1), ("win", 1), ("win", 1))],
        [combination("all_win", ["win"] * 3, [int(pay) for pay in pays])],
        bets,
    )


def with_three_stops(one: dict[str, Any]) -> dict[str, Any]:
    """A window of three rows needs three stops: halve the last one, so that no stop is heavy either."""
    *front, (symbol, weight) = one["strip"]
    return {"strip": [*front, [symbol, weight - weight // 2], [symbol, weight // 2]]}
