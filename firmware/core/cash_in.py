"""Notes in, as two steps: the intent to stack is on record before the acceptor may move, the money once it has.

On power-up an open intent is settled by what the acceptor says it did (id003.md 6.4): behind the point of no
return means credit, in front of it or nothing in the path means none. Nothing here guesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from firmware.core import facts, orders
from firmware.core.effects import AddMeter, Asked, ClearCondition, Deposit, RaiseCondition, Report
from firmware.core.meters import ATOMS, BILL_VALUES
from firmware.core.money import Money

if TYPE_CHECKING:
    from firmware.core.state import Machine


@dataclass(frozen=True, slots=True)
class Idle:
    """No note is on its way. ``last_cents``: the last note that was credited, 0 before the first."""

    last_cents: int = 0


@dataclass(frozen=True, slots=True)
class Stacking:
    """The acceptor was, or is about to be, ordered to stack a note of ``cents``; kept through a power loss."""

    cents: int
    last_cents: int = 0


State = Idle | Stacking
IDLE = Idle()

Event = (
    facts.AcceptorPoweredUp
    | facts.AcceptorReady
    | facts.AcceptorNotReady
    | facts.NoteInEscrow
    | facts.TicketInEscrow
    | facts.NoteStacked
    | facts.NoteReturned
    | facts.NoteRejected
)


def step(state: State, event: Event, machine: Machine) -> tuple[State, list[Asked]]:
    """Advance the way of one note."""
    match state:
        case Idle():
            return _while_idle(state, event, machine)
        case Stacking():
            return _while_stacking(state, event, machine)


def _while_idle(state: Idle, event: Event, machine: Machine) -> tuple[State, list[Asked]]:
    match event:
        case facts.NoteInEscrow(cents, item):
            escrowed = Report("bill_escrowed", (("cents", cents),))
            refusal = why_refused(machine, cents)
            if refusal:
                return state, [escrowed, orders.ReturnNote(item)]
            return Stacking(cents, state.last_cents), [escrowed, orders.StackNote(item)]
        case facts.TicketInEscrow(number, item):
            return state, [Report("ticket_returned", (("number", number),)), orders.ReturnNote(item)]
        case facts.NoteStacked():
            # Its money is on record already and the acceptor missed our word for it.
            return state, _acknowledged(machine)
        case facts.NoteReturned():
            return state, [Report("bill_returned")]
        case facts.NoteRejected(reason):
            return state, [Report("bill_rejected", (("reason", reason),))]
        case facts.AcceptorReady():
            return state, [ClearCondition("acceptor_starting")]
        case facts.AcceptorPoweredUp(facts.NotePosition.IN_STACKER):
            # No intent is open: this note's money is on record already.
            return state, [RaiseCondition("acceptor_starting"), *_acknowledged(machine)]
        case facts.AcceptorNotReady() | facts.AcceptorPoweredUp():
            return state, [RaiseCondition("acceptor_starting")]


def _acknowledged(machine: Machine) -> list[Asked]:
    """Let the acceptor forget a note whose money is on record.

    With a failed memory nobody can know that: the note stays unacknowledged for the technician.
    """
    return [] if "memory_failure" in machine.tilts else [orders.AcknowledgeStacked()]


def _while_stacking(state: Stacking, event: Event, machine: Machine) -> tuple[State, list[Asked]]:
    cents = state.cents
    credited, not_stacked = Idle(cents), Idle(state.last_cents)
    match event:
        case facts.NoteStacked():
            return credited, [*_credit(cents, machine), orders.AcknowledgeStacked()]
        case facts.AcceptorPoweredUp(facts.NotePosition.IN_STACKER):
            starting = RaiseCondition("acceptor_starting")
            return credited, [*_credit(cents, machine), starting, orders.AcknowledgeStacked()]
        case facts.AcceptorPoweredUp():
            return not_stacked, [
                _lost(cents, "in front of the stacker at power-up"),
                RaiseCondition("acceptor_starting"),
            ]
        case facts.AcceptorReady():
            return not_stacked, [_lost(cents, "the acceptor is empty"), ClearCondition("acceptor_starting")]
        case facts.NoteReturned():
            return not_stacked, [_lost(cents, "returned"), Report("bill_returned")]
        case facts.NoteRejected(reason):
            return not_stacked, [_lost(cents, reason), Report("bill_rejected", (("reason", reason),))]
        case facts.AcceptorNotReady():
            return state, [RaiseCondition("acceptor_starting")]
        case facts.NoteInEscrow() | facts.TicketInEscrow():
            # One path, one note: an item in escrow now means that the former one never went behind the lever.
            new_state, asked = _while_idle(not_stacked, event, machine)
            return new_state, [_lost(cents, "another item is in escrow"), *asked]


def _credit(cents: int, machine: Machine) -> list[Asked]:
    count_key = f"bill_in_count_{cents // 100}"
    count = machine.meters[_COUNT_SLOTS[cents]] + 1
    return [
        Deposit(Money.CASHABLE, cents),
        AddMeter("bill_in", cents),
        AddMeter(count_key, 1),
        Report("bill_stacked", (("cents", cents), ("count", count))),
    ]


def _lost(cents: int, reason: str) -> Report:
    return Report("bill_lost", (("cents", cents), ("reason", reason)))


def why_refused(machine: Machine, cents: int) -> str:
    """Why a note of ``cents`` is not taken now, or "" if it is."""
    if not machine.is_playable:
        return "not_playable"
    if cents not in acceptable(machine):
        return "not_accepted"
    if machine.credits.total + cents > machine.setting("credit_limit"):
        return "credit_limit"
    return ""


def acceptable(machine: Machine) -> frozenset[int]:
    """Which notes the acceptor may take now, in cents.

    Nothing while play is blocked, by a host's word or by a setting (NJ 13:69E-1.28N(i)); never a note that the
    accounting denomination does not divide (decisions.md "Money and meters").
    """
    if machine.tilts or machine.host_control.acceptor_off_by or not machine.setting("acceptor_enabled"):
        return frozenset()
    return _notes(machine.setting("notes_accepted"), machine.denomination)


_COUNT_SLOTS = {value * 100: ATOMS[f"bill_in_count_{value}"].slot for value in BILL_VALUES}


@cache
def _notes(mask: int, denomination: int) -> frozenset[int]:
    return frozenset(
        value * 100
        for bit, value in enumerate(BILL_VALUES)
        if mask >> bit & 1 and value * 100 % denomination == 0
    )
