"""Payments by an attendant: wins above the machine's limit, and the credit meter on request.

Play is locked until the reset key ends each of them, oldest first (NJ 13:69E-1.28B(j), PA 461a.7(q)). Cancelled
credits stay on the meter until the key: nothing leaves it before an attendant has paid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from firmware.core.effects import (
    AddMeter,
    Asked,
    CancelCredits,
    ClearCondition,
    LockWin,
    RaiseCondition,
    Report,
    ShowPaid,
)
from firmware.core.errors import InvariantError
from firmware.core.facts import ButtonPressed, KeyTurned
from firmware.core.money import Amounts

if TYPE_CHECKING:
    from firmware.core.state import Machine

Kind = Literal["jackpot", "cancelled_credits"]
QUEUE_MAX = 5
"""Hand pays kept at once (SAS 15: at least 5)."""


@dataclass(frozen=True, slots=True)
class Handpay:
    """One payment to be made.

    ``game``: number of the game that won, 0 for cancelled credits. ``non_restricted_cents``: how much of cancelled
    credits is of that kind; the rest is cashable.
    """

    kind: Kind
    cents: int
    game: int
    non_restricted_cents: int = 0


State = tuple[Handpay, ...]
"""Oldest first."""

Event = LockWin | ButtonPressed | KeyTurned


def step(state: State, event: Event, machine: Machine) -> tuple[State, list[Asked]]:
    """Add or end a hand pay."""
    match event:
        case LockWin(cents, game):
            return _pend(state, Handpay("jackpot", cents, game))
        case ButtonPressed("cash_out"):
            return _cash_out(state, machine)
        case KeyTurned("reset", True):
            return _reset(state)
        case ButtonPressed() | KeyTurned():
            return state, []


def _pend(state: State, handpay: Handpay) -> tuple[State, list[Asked]]:
    if len(state) >= QUEUE_MAX:
        raise InvariantError(f"a hand pay more than memory has room for: {handpay}")
    facts = (("kind", handpay.kind), ("cents", handpay.cents))
    return (*state, handpay), [RaiseCondition("handpay"), Report("handpay_pending", facts)]


def _cash_out(state: State, machine: Machine) -> tuple[State, list[Asked]]:
    """Cash out is possible under a host's disable (SAS 12.1), but not in a game, in a tilt or on an empty meter.

    Restricted money may only be played; it stays.
    """
    amount = machine.credits.cashable + machine.credits.non_restricted
    blocked = machine.tilts - {"host_disabled"}
    if state or not amount or blocked or machine.game_in_play:
        return state, []
    started = Report("cash_out_started", (("cents", amount),))
    new_state, asked = _pend(state, Handpay("cancelled_credits", amount, 0, machine.credits.non_restricted))
    return new_state, [started, *asked]


def _reset(state: State) -> tuple[State, list[Asked]]:
    if not state:
        return state, []  # A turned key with nothing to reset is no fault.
    paid, *rest = state
    asked: list[Asked] = []
    if paid.kind == "jackpot":
        asked.append(AddMeter("attendant_paid_jackpots", paid.cents, paid.game))
    else:
        # Exactly what was locked up is paid: a note that was on its way then may have come on top since.
        taken = Amounts(paid.cents - paid.non_restricted_cents, paid.non_restricted_cents)
        asked.append(CancelCredits(taken))
    asked.append(ShowPaid(paid.cents))
    asked.append(Report("handpay_reset", (("kind", paid.kind), ("cents", paid.cents))))
    if rest:
        following = rest[0]
        asked.append(Report("handpay_pending", (("kind", following.kind), ("cents", following.cents))))
    else:
        asked.append(ClearCondition("handpay"))
    return tuple(rest), asked
