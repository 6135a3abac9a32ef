"""A machine on the bench: events in, everything that must always hold checked after each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from firmware.core import books, router
from firmware.core.commands import Drawn, Event, PowerUp, TimerExpired
from firmware.core.doors import DOORS
from firmware.core.effects import Draw, Effect, Publish
from firmware.core.facts import AcceptorReady, ButtonPressed, NoteInEscrow, NoteStacked
from firmware.core.game_rules import LineWin, Outcome
from firmware.core.meters import ATOMS, value
from firmware.core.money import Amounts
from firmware.core.state import Machine, Now, OfferedGame, Rules, new_machine

SPIN, CASH_OUT = ButtonPressed("spin"), ButtonPressed("cash_out")
REELS_STAND = TimerExpired("reels")
FIELDS = tuple(field.name for field in fields(Machine))


@dataclass(frozen=True)
class DialGame:
    """Fulfils ``GameRules``: one reel of a million stops, and stop *n* pays *n* credits."""

    number: int = 1
    bets: tuple[int, ...] = (1, 2, 3)
    base_percent: str = "9512"
    paytable_id: str = "PT0001"
    name: str = "dial"
    title: str = "Dial"
    denominations: tuple[int, ...] = (1, 5, 25, 100)
    spin_time_us: int = 600_000
    reel_count: int = 1

    @property
    def max_bet_credits(self) -> int:
        return self.bets[-1]

    def lines_played(self, bet_credits: int) -> int:
        return 1

    def top_award_credits(self, bet_credits: int) -> int:
        return 999_999

    def ranges(self, bet_credits: int) -> tuple[int, ...]:
        return (1_000_000,)

    def outcome(self, values: tuple[int, ...], bet_credits: int) -> Outcome:
        (won,) = values
        wins = (LineWin(1, "dial", 1, ((0, 0),), won),) if won else ()
        return Outcome((won % 7,), wins, won)

    def window(self, stops: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
        return ((str(stops[0]),),)


def dial_rules(
    games: Iterable[DialGame] = (DialGame(),), parts: Iterable[str] = ("bill_acceptor",), lines: int = 1
) -> Rules:
    offered = tuple(OfferedGame(number, game, int(game.base_percent)) for number, game in enumerate(games, 1))
    return Rules(offered, frozenset(parts), DOORS, lines)


class Bench:
    """One machine. Every event is stepped twice, and the old machine, the books and the meters are looked at.

    Args:
        rules: what it was built with; one ``DialGame`` and a note acceptor if left out.
        powered: powered up and with its acceptor ready, so that it is playable.
        settings: first settings by key.
    """

    def __init__(self, rules: Rules | None = None, *, powered: bool = True, **settings: int) -> None:
        self.machine = new_machine(rules or dial_rules(), settings)
        self.now = Now(1_000_000, 1_767_225_600_000_000)
        self.effects: list[Effect] = []
        if powered:
            self.do(PowerUp(memory_fresh=True))
            if "bill_acceptor" in self.machine.rules.parts:
                self.do(AcceptorReady())
            assert self.machine.is_playable

    def do(self, *events: Event, draw: int = 0) -> list[Effect]:
        """Give the machine events; a draw is answered with ``draw``. Returns all effects but draws."""
        done: list[Effect] = []
        for event in events:
            effects = self._step(event)
            if any(isinstance(effect, Draw) for effect in effects):
                effects = [effect for effect in effects if not isinstance(effect, Draw)]
                effects += self._step(Drawn((draw,)))
            done += effects
            self.now = Now(self.now.us + 1000, self.now.wall_us + 1000)
        self.effects = done
        return done

    def _step(self, event: Event) -> list[Effect]:
        old = self.machine
        before = [getattr(old, name) for name in FIELDS]
        turn, again = router.step(old, event, self.now), router.step(old, event, self.now)
        assert turn == again, "equal inputs gave different outputs"
        assert all(getattr(old, name) is value for name, value in zip(FIELDS, before, strict=True))
        self.machine = turn.machine
        assert books.imbalance(self.machine) == (0, 0, 0)
        assert min(self.machine.credits.by_kind()) >= 0
        assert all(amount >= 0 for _, amount in (*turn.added, *turn.game_added))
        return turn.effects

    def game(self, won_credits: int = 0) -> list[Effect]:
        """Play one game at the chosen bet to its end."""
        return [*self.do(SPIN, draw=won_credits), *self.do(REELS_STAND)]

    def insert(self, cents: int) -> None:
        """Let a note go all the way."""
        self.do(NoteInEscrow(cents), NoteStacked())

    def give(self, cashable: int = 0, non_restricted: int = 0, restricted: int = 0) -> None:
        """Add money of any kind to the credit meter and to the meters that account for it, as a transfer would."""
        have = self.machine.credits
        self.machine = with_meters(
            replace(
                self.machine,
                credits=Amounts(
                    have.cashable + cashable,
                    have.non_restricted + non_restricted,
                    have.restricted + restricted,
                ),
            ),
            wat_in=self.meter("wat_in") + cashable,
            cashable_electronic_promotion_in=self.meter("cashable_electronic_promotion_in") + non_restricted,
            noncashable_electronic_promotion_in=self.meter("noncashable_electronic_promotion_in")
            + restricted,
        )
        assert books.imbalance(self.machine) == (0, 0, 0)

    def meter(self, key: str) -> int:
        return value(self.machine, key)

    def events(self) -> list[str]:
        """Names of what the last ``do`` made public, in order."""
        return [effect.event for effect in self.effects if isinstance(effect, Publish)]

    def facts(self, event: str) -> dict[str, int | str]:
        """The facts of the one such event of the last ``do``."""
        (found,) = [dict(e.facts) for e in self.effects if isinstance(e, Publish) and e.event == event]
        return found

    def owed(self, line: int = 0) -> list[int]:
        """Codes of what a host is owed, in order."""
        return [notice.code for notice in self.machine.host_queues[line].pending]


def with_meters(machine: Machine, **values: int) -> Machine:
    """The machine with atoms preset."""
    meters = list(machine.meters)
    for key, amount in values.items():
        meters[ATOMS[key].slot] = amount
    return replace(machine, meters=tuple(meters))
