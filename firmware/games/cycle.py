"""The exact mathematics of a game: its whole cycle enumerated with integers, nothing sampled or rounded.

Stops of a reel that show the same symbols on the played rows are taken together with their weight, so the
enumeration is small and still counts every combination of virtual stops (performance.md 5).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from firmware.games.line_pays import LinePay, LinePays
from firmware.games.par_sheet import ParSheet, ParSheetError, Reel

WINDOWS_MAX = 2_000_000
"""Different windows that are walked one by one: some ten seconds of one core."""

Award = tuple[str, int]
"""A prize as the player knows it: combination key and the multiplier of the wild symbols in it."""


@dataclass(frozen=True, slots=True)
class AwardFigures:
    """One award at one bet.

    ``credits``: what it pays. ``hits``: combinations of the cycle that show it on at least one played line.
    ``paid``: credits it pays over the cycle; with several lines more than ``hits`` times ``credits``.
    """

    credits: int
    hits: int
    paid: int


@dataclass(frozen=True, slots=True)
class BetFigures:
    """One bet over the whole cycle.

    ``wins``: credits won by a game -> combinations of the cycle that win it, those that win nothing included.
    ``awards``: what can be won, in the order of the par sheet.
    """

    credits: int
    cycle: int
    wins: dict[int, int]
    awards: dict[Award, AwardFigures]

    @property
    def paid(self) -> int:
        """Credits paid over the cycle."""
        return sum(win * count for win, count in self.wins.items())

    @property
    def winning(self) -> int:
        """Combinations of the cycle that pay something."""
        return self.cycle - self.wins.get(0, 0)

    @property
    def theoretical_return(self) -> Fraction:
        """Share of the wager paid back: 1 is 100 %."""
        return Fraction(self.paid, self.cycle * self.credits)

    @property
    def hit_frequency(self) -> Fraction:
        """Share of games that pay something."""
        return Fraction(self.winning, self.cycle)

    @property
    def variance(self) -> Fraction:
        """Variance of one game's win in units of the wager."""
        squares = sum(win * win * count for win, count in self.wins.items())
        return Fraction(squares, self.cycle * self.credits**2) - self.theoretical_return**2

    def odds(self, award: Award) -> Fraction:
        """Odds against an award in one game: ``n`` to 1."""
        hits = self.awards[award].hits
        return Fraction(self.cycle - hits, hits)


@dataclass(frozen=True, slots=True)
class Cycle:
    """The figures of a whole game, one entry for each bet, rising by wager."""

    size: int
    bets: tuple[BetFigures, ...]

    @property
    def base_percent(self) -> str:
        """The return at the largest bet as SAS states it: ``9512`` is 95.12 %, cut to two decimals.

        SAS has no room for 100 % or more: 99.99 % is stated then.
        """
        return f"{min(int(self.bets[-1].theoretical_return * 10_000), 9_999):04d}"


def enumerate_cycle(sheet: ParSheet, pays: LinePays) -> Cycle:
    """Play the whole cycle at every bet. Cost: the product of how many different columns each reel has.

    Raises ParSheetError where that product is more than ``WINDOWS_MAX``.
    """
    columns = [_columns(sheet, index, reel, pays) for index, reel in enumerate(sheet.reels)]
    windows = prod(len(column) for column in columns)
    if windows > WINDOWS_MAX:
        raise ParSheetError(sheet.source, "reels", f"give {windows:,} windows, more than {WINDOWS_MAX:,}")
    tallies = [_Tally() for _ in sheet.bets]
    for combination in product(*columns):
        weight = 1
        for _, column_weight in combination:
            weight *= column_weight
        line_codes = [sum(codes) for codes in zip(*(column for column, _ in combination), strict=True)]
        for bet, bet_pays, tally in zip(sheet.bets, pays.by_bet, tallies, strict=True):
            tally.add([bet_pays[code] for code in line_codes[: bet.lines]], weight)
    return Cycle(
        size=sheet.cycle,
        bets=tuple(
            BetFigures(bet.credits, sheet.cycle, dict(sorted(tally.wins.items())), tally.awards(sheet))
            for bet, tally in zip(sheet.bets, tallies, strict=True)
        ),
    )


def _columns(sheet: ParSheet, index: int, reel: Reel, pays: LinePays) -> list[tuple[tuple[int, ...], int]]:
    """The different columns of a reel with their weights; a column is its share of each line's code."""
    codes, size = pays.codes[index], len(reel.stops)
    weights: Counter[tuple[int, ...]] = Counter()
    for stop, drawn in enumerate(reel.stops):
        first = stop - sheet.window.stop_row
        column = tuple(codes[reel.stops[(first + line[index]) % size].symbol] for line in sheet.lines)
        weights[column] += drawn.weight
    return list(weights.items())


class _Tally:
    """Counts of one bet while the cycle is walked."""

    def __init__(self) -> None:
        self.wins: Counter[int] = Counter()
        self._hits: Counter[Award] = Counter()
        self._paid: Counter[Award] = Counter()
        self._credits: dict[Award, int] = {}

    def add(self, line_pays: list[LinePay | None], weight: int) -> None:
        won = [pay for pay in line_pays if pay is not None]
        self.wins[sum(pay.credits for pay in won)] += weight
        for pay in won:
            award = (pay.combination.key, pay.multiplier)
            self._credits[award] = pay.credits
            self._paid[award] += pay.credits * weight
        for award in {(pay.combination.key, pay.multiplier) for pay in won}:
            self._hits[award] += weight

    def awards(self, sheet: ParSheet) -> dict[Award, AwardFigures]:
        order = {combination.key: place for place, combination in enumerate(sheet.combinations)}
        return {
            award: AwardFigures(self._credits[award], self._hits[award], self._paid[award])
            for award in sorted(self._credits, key=lambda award: (order[award[0]], -award[1]))
        }


def disagreements(sheet: ParSheet, cycle: Cycle) -> tuple[str, ...]:
    """Where the par sheet's declared figures are not what the enumeration gives; empty if all agree."""
    declared = sheet.declared
    pairs = [("declared.cycle", declared.cycle, cycle.size)]
    for index, figures in enumerate(cycle.bets):
        at = f"at a bet of {figures.credits}"
        pairs.append((f"declared.winning {at}", declared.winning[index], figures.winning))
        pairs.append((f"declared.paid {at}", declared.paid[index], figures.paid))
    return tuple(
        f"{key}: declared {said:,}, counted {found:,}" for key, said, found in pairs if said != found
    )
