"""The play mode of reels and lines: drawn numbers in, stops and line wins out.

Everything a game can need is worked out once; one game is then a handful of look-ups. What the drawn values
mean for money belongs to ``firmware.core``, where they come from to ``firmware.rng``.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.core.game_rules import LineWin, Outcome
from firmware.games.cycle import Cycle, enumerate_cycle
from firmware.games.line_pays import LinePay, LinePays
from firmware.games.par_sheet import ParSheet, Reel


@dataclass(frozen=True, slots=True)
class _Line:
    """One line ready to be looked up.

    ``codes``: for each reel and physical stop, that reel's share of the line's code.
    """

    number: int
    rows: tuple[int, ...]
    codes: tuple[tuple[int, ...], ...]


class ReelGame:
    """A game of reels and lines; fulfils ``firmware.core.game_rules.GameRules``. Never changes once made.

    Making one enumerates the cycle; raises ParSheetError where that is too large.
    """

    def __init__(self, sheet: ParSheet) -> None:
        pays = LinePays(sheet)
        self.sheet = sheet
        self.cycle: Cycle = enumerate_cycle(sheet, pays)
        self.number = sheet.number
        self.name = sheet.name
        self.title = sheet.title
        self.paytable_id = sheet.paytable_id
        self.base_percent = self.cycle.base_percent
        self.denominations = sheet.denominations
        self.bets = tuple(bet.credits for bet in sheet.bets)
        self.max_bet_credits = self.bets[-1]
        self.reel_count = len(sheet.reels)
        self.spin_time_us = sheet.spin_time_us
        self._ranges = tuple(reel.total_weight for reel in sheet.reels)
        self._stop_of_value = tuple(_stop_of_value(reel) for reel in sheet.reels)
        lines = tuple(_line(sheet, pays, index) for index in range(len(sheet.lines)))
        self._plays: dict[int, tuple[tuple[_Line, ...], tuple[LinePay | None, ...]]] = {
            bet.credits: (lines[: bet.lines], table)
            for bet, table in zip(sheet.bets, pays.by_bet, strict=True)
        }
        self._top_awards = {
            figures.credits: max((award.credits for award in figures.awards.values()), default=0)
            for figures in self.cycle.bets
        }

    def lines_played(self, bet_credits: int) -> int:
        """How many lines a bet plays. Raises KeyError for a bet that is not offered."""
        return len(self._plays[bet_credits][0])

    def top_award_credits(self, bet_credits: int) -> int:
        """The largest pay of one combination. Raises KeyError for a bet that is not offered."""
        return self._top_awards[bet_credits]

    def ranges(self, bet_credits: int) -> tuple[int, ...]:
        """The number of virtual stops of each reel. Raises KeyError for a bet that is not offered."""
        if bet_credits not in self._plays:
            raise KeyError(bet_credits)
        return self._ranges

    def outcome(self, values: tuple[int, ...], bet_credits: int) -> Outcome:
        """Turn one virtual stop for each reel into stops and wins.

        Raises KeyError for a bet that is not offered, ValueError for too many or too few values, IndexError
        for a value outside its range.
        """
        lines, table = self._plays[bet_credits]
        if min(values) < 0:  # Python would count it from the end of the strip
            raise IndexError(f"a virtual stop of {min(values)}")
        stops = tuple([stop_of[value] for stop_of, value in zip(self._stop_of_value, values, strict=True)])
        wins: tuple[LineWin, ...] = ()
        win_credits = 0
        for line in lines:
            code = 0
            for reel_codes, stop in zip(line.codes, stops, strict=True):
                code += reel_codes[stop]
            pay = table[code]
            if pay is not None:
                win_credits += pay.credits
                wins = (*wins, _line_win(line, pay))
        return Outcome(stops, wins, win_credits)

    def window(self, stops: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
        """Symbol keys as displayed: rows from top to bottom, each from the left reel to the right.

        ``stops``: one physical stop a reel, as in an ``Outcome``.
        """
        return tuple(
            tuple(
                reel.stops[(stop + row - self.sheet.window.stop_row) % len(reel.stops)].symbol
                for reel, stop in zip(self.sheet.reels, stops, strict=True)
            )
            for row in range(self.sheet.window.rows)
        )


def _stop_of_value(reel: Reel) -> tuple[int, ...]:
    """Virtual stop -> physical stop: each physical stop as often as its weight, in the order of the strip."""
    return tuple(index for index, stop in enumerate(reel.stops) for _ in range(stop.weight))


def _line(sheet: ParSheet, pays: LinePays, index: int) -> _Line:
    rows = sheet.lines[index]
    return _Line(
        number=index + 1,
        rows=rows,
        codes=tuple(
            tuple(
                codes[reel.stops[(stop + row - sheet.window.stop_row) % len(reel.stops)].symbol]
                for stop in range(len(reel.stops))
            )
            for codes, reel, row in zip(pays.codes, sheet.reels, rows, strict=True)
        ),
    )


def _line_win(line: _Line, pay: LinePay) -> LineWin:
    positions = tuple((reel, line.rows[reel]) for reel in pay.reels)
    return LineWin(line.number, pay.combination.key, pay.multiplier, positions, pay.credits)
