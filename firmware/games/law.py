"""What a jurisdiction asks of a game's mathematics, measured against the enumerated cycle.

Each rule reads its figures from the profile and never the profile's name; each finding names the clauses
that the profile gives for it. Not measured yet, because no game here has them: merchandise and other awards
that are no credits, progressive shares, skill, optional gambles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, TypeVar

from firmware.games.cycle import BetFigures, Cycle
from firmware.games.par_sheet import ParSheet, Reel

Value = TypeVar("Value", covariant=True)


class Rule(Protocol[Value]):
    """One figure of a profile with the clauses it comes from (none: no clause asks for it)."""

    @property
    def value(self) -> Value:
        """The figure."""

    @property
    def clauses(self) -> tuple[str, ...]:
        """Ids of the requirements it comes from."""


class GameLaw(Protocol):
    """What a profile must say about games. Shares are fractions of one: 83 % is 83/100."""

    @property
    def return_min(self) -> Rule[Fraction]:
        """Least theoretical return."""

    @property
    def return_min_at(self) -> Rule[str]:
        """Where it is measured: ``every_wager`` or ``lowest_wager``."""

    @property
    def return_below(self) -> Rule[Fraction | None]:
        """What the return at the highest wager must stay below; None: no such rule."""

    @property
    def return_drop_ignored(self) -> Rule[Fraction]:
        """A return that is lower than at a smaller wager by at most this counts as equal."""

    @property
    def return_drops_total_max(self) -> Rule[Fraction]:
        """If it falls by more, how much all falls together may be."""

    @property
    def return_not_below_lowest_wager(self) -> Rule[bool]:
        """If it falls, it may not fall below the return at the lowest wager."""

    @property
    def odds_max(self) -> Rule[int]:
        """The longest odds, ``n`` to 1, that a winning combination may have."""

    @property
    def combinations_at_every_wager(self) -> Rule[bool]:
        """Every winning combination can be won at every wager."""

    @property
    def neighbour_ratio_max(self) -> Rule[Fraction | None]:
        """How much oftener than any other symbol a stop next to a top-award symbol may be mapped."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the law has to say. ``refused``: the game may not be offered; else it is only a note."""

    clauses: tuple[str, ...]
    message: str
    refused: bool

    def __str__(self) -> str:
        return f"{', '.join(self.clauses) or 'no clause'}: {self.message}"


def measure(sheet: ParSheet, cycle: Cycle, law: GameLaw) -> tuple[Finding, ...]:
    """Measure a game against the law. Empty: nothing to say."""
    return (
        *_return_floor(cycle, law),
        *_return_ceiling(cycle, law),
        *_falling_returns(cycle, law),
        *_odds(cycle, law),
        *_combinations(sheet, cycle, law),
        *_neighbours(sheet, cycle, law),
    )


def _refused(rule: Rule[object], message: str) -> Finding:
    return Finding(rule.clauses, message, refused=True)


def _percent(share: Fraction) -> str:
    """Four decimals, cut: 0.8299999 is shown below 83 %, not as 83 %."""
    parts = int(share * 1_000_000)
    return f"{parts // 10_000}.{parts % 10_000:04d} %"


def _return_floor(cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    measured = cycle.bets[:1] if law.return_min_at.value == "lowest_wager" else cycle.bets
    for bet in measured:
        if bet.theoretical_return < law.return_min.value:
            yield _refused(
                law.return_min,
                f"minimum return: {_percent(bet.theoretical_return)} at a bet of {bet.credits} "
                f"is below {_percent(law.return_min.value)}",
            )


def _return_ceiling(cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    bet, ceiling = cycle.bets[-1], law.return_below.value
    if ceiling is not None and bet.theoretical_return >= ceiling:
        yield _refused(
            law.return_below,
            f"maximum return: {_percent(bet.theoretical_return)} at the highest bet, {bet.credits}, "
            f"is not below {_percent(ceiling)}",
        )


def _falling_returns(cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    """Compare each bet with the best of the smaller ones, so that many small steps down do not go unseen."""
    returns = [bet.theoretical_return for bet in cycle.bets]
    fallen = [
        bet
        for index, bet in enumerate(cycle.bets[1:], start=1)
        if max(returns[:index]) - bet.theoretical_return > law.return_drop_ignored.value
    ]
    if not fallen:
        return
    bets = ", ".join(str(bet.credits) for bet in fallen)
    total = sum((max(higher - lower, Fraction(0)) for higher, lower in pairwise(returns)), Fraction(0))
    yield Finding(law.return_drop_ignored.clauses, f"the return falls at higher bets ({bets})", refused=False)
    if total > law.return_drops_total_max.value:
        yield _refused(
            law.return_drops_total_max,
            f"falling return: all falls together are {_percent(total)}, "
            f"more than {_percent(law.return_drops_total_max.value)}",
        )
    if law.return_not_below_lowest_wager.value:
        for bet in cycle.bets[1:]:
            if bet.theoretical_return < returns[0]:
                yield _refused(
                    law.return_not_below_lowest_wager,
                    f"falling return: {_percent(bet.theoretical_return)} at a bet of {bet.credits} "
                    f"is below {_percent(returns[0])} at the lowest bet",
                )


def _odds(cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    for bet in cycle.bets:
        for key, multiplier in bet.awards:
            odds = bet.odds((key, multiplier))
            if odds > law.odds_max.value:
                yield _refused(
                    law.odds_max,
                    f"odds: {_award_name(key, multiplier)} at a bet of {bet.credits} is "
                    f"{int(odds):,} to 1, longer than {law.odds_max.value:,} to 1",
                )


def _combinations(sheet: ParSheet, cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    """A prize on the glass that a bet cannot win, although it is wagered."""
    if not law.combinations_at_every_wager.value:
        return
    for bet in cycle.bets:
        attainable = {key for key, _ in bet.awards}
        for combination in sheet.combinations:
            if combination.key not in attainable:
                yield _refused(
                    law.combinations_at_every_wager,
                    f"attainable combinations: {combination.key} cannot be won at a bet of {bet.credits}",
                )


def _neighbours(sheet: ParSheet, cycle: Cycle, law: GameLaw) -> Iterator[Finding]:
    """Near misses: a stop directly above or below a top-award symbol that comes up too often.

    Compared with the rarest other symbol of the strip, all its stops together; the top-award symbol is one of
    these (decisions.md "NJ's symbol rule").
    """
    ratio_max = law.neighbour_ratio_max.value
    if ratio_max is None:
        return
    for index, reel in enumerate(sheet.reels):
        top = _top_award_symbols(sheet, cycle, index)
        ratio, neighbour, other = _worst_neighbour(reel, top)
        if ratio > ratio_max:
            yield _refused(
                law.neighbour_ratio_max,
                f"symbol weights: reel {index + 1} maps {neighbour} beside the top award {float(ratio):.4g} "
                f"times as often as {other}, more than {float(ratio_max):.4g} times",
            )


def _worst_neighbour(reel: Reel, top: frozenset[str]) -> tuple[Fraction, str, str]:
    """The largest ratio, the neighbouring symbol and the symbol it is compared with; ratio 0 if none."""
    weights: Counter[str] = Counter()
    for stop in reel.stops:
        weights[stop.symbol] += stop.weight
    worst = (Fraction(0), "", "")
    for place, stop in enumerate(reel.stops):
        if stop.symbol not in top:
            continue
        for beside in (reel.stops[place - 1], reel.stops[(place + 1) % len(reel.stops)]):
            for other, weight in weights.items():
                ratio = Fraction(beside.weight, weight)
                if other != beside.symbol and ratio > worst[0]:
                    worst = (ratio, beside.symbol, other)
    return worst


def _top_award_symbols(sheet: ParSheet, cycle: Cycle, reel_index: int) -> frozenset[str]:
    """The symbols of a reel that the highest award of any bet asks for there."""
    asked: set[str] = set()
    for bet in cycle.bets:
        for key in _top_combinations(bet):
            (combination,) = (one for one in sheet.combinations if one.key == key)
            places = combination.symbols if combination.in_any_order else (combination.symbols[reel_index],)
            for place in places:
                asked |= sheet.groups.get(place, frozenset({place}))
    return frozenset(asked)


def _top_combinations(bet: BetFigures) -> set[str]:
    top = max((award.credits for award in bet.awards.values()), default=0)
    return {key for (key, _), award in bet.awards.items() if award.credits == top}


def _award_name(key: str, multiplier: int) -> str:
    return key if multiplier == 1 else f"{key} x{multiplier}"
