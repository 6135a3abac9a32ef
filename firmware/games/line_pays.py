"""What a line of symbols pays: every combination read in every way, the best reading taken.

One table for each bet, made once from the par sheet; both the play and the enumeration look up in it, so the
proof is a proof of what is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

from firmware.games.par_sheet import ANY_SYMBOL, Combination, ParSheet, WildUse


@dataclass(frozen=True, slots=True)
class LinePay:
    """The best reading of a line. ``multiplier``: of the wild symbols; ``credits``: with it.

    ``reels``: which reels hold a symbol that won, from 0.
    """

    combination: Combination
    multiplier: int
    credits: int
    reels: tuple[int, ...]


class LinePays:
    """The pays of one line for each bet.

    A line is looked up by its code: the sum over the reels of ``codes[reel][symbol]``.
    """

    def __init__(self, sheet: ParSheet) -> None:
        names = [symbol.key for symbol in sheet.symbols]
        size, count = len(names), len(sheet.reels)
        self.codes: tuple[dict[str, int], ...] = tuple(
            {name: index * size**reel for index, name in enumerate(names)} for reel in range(count)
        )
        by_bet: list[list[LinePay | None]] = [[None] * size**count for _ in sheet.bets]
        for line in product(names, repeat=count):
            readings = tuple(_readings(sheet, line))
            if readings:
                code = self.code(line)
                for bet, pays in enumerate(by_bet):
                    pays[code] = _best(readings, bet)
        self.by_bet: tuple[tuple[LinePay | None, ...], ...] = tuple(tuple(pays) for pays in by_bet)

    def code(self, line: tuple[str, ...]) -> int:
        """The place in a bet's table of a line of symbols, left to right."""
        return sum(codes[symbol] for codes, symbol in zip(self.codes, line, strict=True))


_Reading = tuple[Combination, int, tuple[int, ...]]


def _best(readings: tuple[_Reading, ...], bet: int) -> LinePay | None:
    """The reading that pays most at this bet; of equal ones the first in the par sheet."""
    best: LinePay | None = None
    for combination, multiplier, reels in readings:
        pay = combination.pays[bet] * multiplier
        if pay > (best.credits if best else 0):
            best = LinePay(combination, multiplier, pay, reels)
    return best


def _readings(sheet: ParSheet, line: tuple[str, ...]) -> Iterator[_Reading]:
    """Every way in which the line is some combination."""
    for combination in sheet.combinations:
        for asked in _arrangements(combination):
            if all(
                _fits(sheet, combination, wanted, symbol) for wanted, symbol in zip(asked, line, strict=True)
            ):
                yield combination, *_multiplied(sheet, combination, asked, line)


def _arrangements(combination: Combination) -> list[tuple[str, ...]]:
    if not combination.in_any_order:
        return [combination.symbols]
    return sorted(set(permutations(combination.symbols)))


def _fits(sheet: ParSheet, combination: Combination, wanted: str, symbol: str) -> bool:
    if wanted == ANY_SYMBOL or symbol == wanted or symbol in sheet.groups.get(wanted, ()):
        return True
    return sheet.wild is not None and symbol == sheet.wild.symbol and combination.wild is WildUse.SUBSTITUTES


def _multiplied(
    sheet: ParSheet, combination: Combination, asked: tuple[str, ...], line: tuple[str, ...]
) -> tuple[int, tuple[int, ...]]:
    """The multiplier of a reading, and the reels whose symbol took part.

    A wild that substitutes takes part where it stands for an asked symbol; one that only multiplies does
    so anywhere on the line.
    """
    multiplier, reels = 1, []
    for reel, (wanted, symbol) in enumerate(zip(asked, line, strict=True)):
        is_wild = sheet.wild is not None and symbol == sheet.wild.symbol
        helps = is_wild and (
            combination.wild is WildUse.MULTIPLIES
            or (combination.wild is WildUse.SUBSTITUTES and wanted != ANY_SYMBOL)
        )
        if helps and sheet.wild is not None:
            multiplier *= sheet.wild.multiplier
        if helps or wanted != ANY_SYMBOL:
            reels.append(reel)
    return multiplier, tuple(reels)
