"""Where the meters stood at a moment that others count from, the last payment, and the clock's correction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firmware.core.commands import HostSetClock, PowerUp
from firmware.core.effects import Answer, Asked, Report, ShowPaid, TellHost
from firmware.core.facts import DeviceFault, DoorMoved
from firmware.core.meters import ATOMS, BILL_VALUES

if TYPE_CHECKING:
    from firmware.core.state import Machine, Now


@dataclass(frozen=True, slots=True)
class Marks:
    """Values of meters at past moments.

    ``games_at_power_up``, ``games_at_door_closed``: games played then (PA 461a.7(k)).
    ``bills_at_stacker``, ``bill_in_at_stacker``: notes and cents accepted when the box was last put in empty.
    ``clock_offset_us``: what a host's clock setting added to the cabinet's clock.
    ``power_ups``: how often the program started.
    ``last_paid_cents``: the last cash-out or hand pay (PA 461a.7(j)(3)).
    """

    games_at_power_up: int = 0
    games_at_door_closed: int = 0
    bills_at_stacker: int = 0
    bill_in_at_stacker: int = 0
    clock_offset_us: int = 0
    power_ups: int = 0
    last_paid_cents: int = 0


State = Marks

_GAMES_PLAYED = ATOMS["games_played"].slot
_BILL_IN = ATOMS["bill_in"].slot
_BILL_COUNTS = slice(ATOMS["bill_in_count_1"].slot, ATOMS["bill_in_count_1"].slot + len(BILL_VALUES))


def step(
    state: State,
    event: PowerUp | DoorMoved | DeviceFault | HostSetClock | ShowPaid,
    machine: Machine,
    now: Now,
) -> tuple[State, list[Asked]]:
    """Take a new mark where the event asks for one."""
    games = machine.meters[_GAMES_PLAYED]
    match event:
        case PowerUp():
            return replace(state, games_at_power_up=games, power_ups=state.power_ups + 1), []
        case DoorMoved("main", False) if "main" in machine.doors_open:
            return replace(state, games_at_door_closed=games), []
        case DeviceFault("stacker_removed", False) if "stacker_removed" in machine.tilts:
            emptied = replace(
                state,
                bills_at_stacker=sum(machine.meters[_BILL_COUNTS]),
                bill_in_at_stacker=machine.meters[_BILL_IN],
            )
            return emptied, [Report("stacker_meters_reset")]
        case HostSetClock(line, wall_us):
            offset = state.clock_offset_us + wall_us - now.wall_us
            answered: list[Asked] = [] if line is None else [TellHost(line, Answer.ACK)]
            return replace(state, clock_offset_us=offset), [Report("clock_set"), *answered]
        case ShowPaid(cents):
            return replace(state, last_paid_cents=cents), []
        case DoorMoved() | DeviceFault():
            return state, []
