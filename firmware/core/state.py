"""The whole machine as one value, and what it was built with.

``Machine`` is replaced, never changed; the executor writes to critical memory exactly those parts whose identity
changed. ``Rules`` is what does not change while the program runs: the games, the cabinet's parts, the lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from firmware.core import cash_in as cash_in_subject
from firmware.core import game_cycle, host_queue
from firmware.core import handpay as handpay_subject
from firmware.core import host_control as host_control_subject
from firmware.core import meters as meter_table
from firmware.core import settings as settings_table
from firmware.core import tilts as tilt_table
from firmware.core.credits import EMPTY
from firmware.core.event_log import Log
from firmware.core.game_rules import GameRules
from firmware.core.marks import Marks
from firmware.core.money import Amounts


@dataclass(frozen=True, slots=True)
class OfferedGame:
    """A game in this machine: its number in SAS polls (1 = first) and its exact return, in hundredths of a percent."""

    number: int
    rules: GameRules
    base_hundredths: int


@dataclass(frozen=True, slots=True)
class Rules:
    """What the machine was built with.

    Args:
        games: offered games, number 1 first.
        parts: parts of the cabinet that count or move money: ``bill_acceptor``, ``printer`` …
        doors: doors that have a switch.
        line_count: SAS lines.
        duties: what the host of each line is trusted with (decisions.md "SAS"); empty: each with everything.
    """

    games: tuple[OfferedGame, ...]
    parts: frozenset[str]
    doors: tuple[str, ...]
    line_count: int
    duties: tuple[frozenset[str], ...] = ()

    def has_duty(self, line: int, duty: str) -> bool:
        """The host of ``line`` is trusted with ``duty``; "" is everyone's."""
        return not duty or not self.duties or duty in self.duties[line]

    def game(self, number: int) -> OfferedGame:
        """The offered game with that number (1..). Raises IndexError."""
        if number < 1:
            raise IndexError(f"there is no game {number}")
        return self.games[number - 1]

    def weighted_payback(self, machine: Machine) -> int:
        """Theoretical return weighted by coin in, hundredths of a percent (SAS meter 7F, PA 461a.7(g)(1)(ii))."""
        slot = meter_table.ATOMS["coin_in"].game_slot or 0
        total = weighted = 0
        for game in self.games:
            coin_in = machine.game_meters[(game.number - 1) * meter_table.GAME_SLOT_COUNT + slot]
            total += coin_in
            weighted += coin_in * game.base_hundredths
        return weighted // total if total else self.games[0].base_hundredths


@dataclass(frozen=True, slots=True)
class Now:
    """When an event happens: monotonic microseconds, and civil time in microseconds since 1970."""

    us: int = 0
    wall_us: int = 0


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything that the machine knows about itself. Only ``router`` makes a new one."""

    rules: Rules
    settings: settings_table.State
    meters: tuple[int, ...] = (0,) * meter_table.SLOT_COUNT
    game_meters: tuple[int, ...] = (0,) * (meter_table.GAME_COUNT_MAX * meter_table.GAME_SLOT_COUNT)
    credits: Amounts = EMPTY
    cash_in: cash_in_subject.State = cash_in_subject.IDLE
    game: game_cycle.State = game_cycle.NEW
    handpay: handpay_subject.State = ()
    tilts: tilt_table.State = frozenset()
    host_control: host_control_subject.State = host_control_subject.ALL_ENABLED
    host_queues: tuple[host_queue.Line, ...] = ()
    marks: Marks = field(default_factory=Marks)
    log: Log = field(default_factory=Log)
    doors_open: frozenset[str] = frozenset()  # kept with the tilts that open doors are
    # Found anew at each power-up, never kept:
    keys_on: frozenset[str] = frozenset()
    accepting: frozenset[int] | None = None  # what the acceptor was last told to take, in cents
    host_links_up: frozenset[int] = frozenset()

    @property
    def is_playable(self) -> bool:
        """No tilt and no lock-up is set."""
        return not self.tilts

    def setting(self, key: str) -> int:
        """The present value of a row of ``settings_table.SETTINGS``."""
        return self.settings[settings_table.SETTINGS[key].slot]

    @property
    def game_in_play(self) -> bool:
        """A wager was made and its game has not ended."""
        return isinstance(self.game, game_cycle.Spinning)

    @property
    def shown_play(self) -> game_cycle.Play | None:
        """The game in play, or else the last one; ``None`` before the first."""
        match self.game:
            case game_cycle.Idle(last=play) | game_cycle.Spinning(play=play):
                return play
            case game_cycle.Drawing():
                return None

    @property
    def denomination(self) -> int:
        """Cents a credit: what the player wagers in and what SAS counts in."""
        return self.settings[0]


def new_machine(rules: Rules, given_settings: Mapping[str, int]) -> Machine:
    """A machine as it leaves the factory. Raises SettingError for a setting out of range."""
    return Machine(
        rules=rules,
        settings=settings_table.defaults(given_settings),
        host_queues=tuple(host_queue.EMPTY for _ in range(rules.line_count)),
    )
