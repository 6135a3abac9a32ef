"""Tilts and lock-ups as one keyed set: the machine is playable only when it is empty.

A row says what stops play, in which words the player and the attendant read it, who hears of it and what ends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from firmware.core.effects import Asked, ClearCondition, RaiseCondition, Report

Kind = Literal["lockup", "soft", "hard"]
ClearedBy = Literal["device", "reset_key", "host", "ram_clear", "self"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One reason not to play.

    Args:
        key: its name in ``playable_blocked_by`` and in the facts of drivers.
        bit: its place in critical memory, never reused.
        kind: ``lockup`` (no fault), ``soft`` or ``hard`` tilt.
        text: what the display says.
        cleared_by: what ends it.
        raised: row of ``events.EVENTS`` reported when it comes, "" for none of its own.
        cleared: the same when it goes.
        starts_with: part of a cabinet whose presence sets it at every power-up, until its self-test is done.
        kept: survives a power loss; all others are found anew at power-up.
    """

    key: str
    bit: int
    kind: Kind
    text: str
    cleared_by: ClearedBy
    raised: str = ""
    cleared: str = ""
    kept: bool = False
    starts_with: str = ""


def _door(name: str, bit: int, words: str) -> Condition:
    """Kept, so that a door that stays open through a power loss is not opened twice."""
    return Condition(f"{name}_door_open", bit, "soft", f"{words} OPEN", "device", kept=True)


_ROWS = (
    Condition("acceptor_starting", 1, "lockup", "BILL ACCEPTOR STARTING", "device", starts_with="bill_acceptor"),
    Condition("host_disabled", 2, "lockup", "OUT OF SERVICE: DISABLED BY THE SYSTEM", "host", kept=True),
    Condition("handpay", 3, "lockup", "HAND PAY. CALL ATTENDANT", "reset_key", kept=True),
    _door("main", 8, "MAIN DOOR"),
    _door("belly", 9, "BELLY DOOR"),
    _door("drop", 10, "DROP DOOR"),
    _door("cash_box", 11, "CASH BOX DOOR"),
    _door("logic", 12, "LOGIC DOOR"),
    _door("top_box", 13, "TOP BOX"),
    _door("acceptor", 14, "BILL ACCEPTOR DOOR"),
    _door("hard_meter", 15, "METER COVER"),
    Condition("acceptor_jam", 20, "soft", "BILL JAM", "device", "bill_jam"),
    Condition("stacker_full", 21, "soft", "BILL BOX FULL", "device", "stacker_full"),
    Condition("stacker_removed", 22, "soft", "BILL BOX REMOVED", "device", "stacker_removed", "stacker_installed"),
    Condition("acceptor_failure", 23, "soft", "BILL ACCEPTOR FAILURE", "device", "acceptor_failure"),
    Condition("acceptor_cheated", 24, "soft", "BILL ACCEPTOR TAMPERED WITH", "device", "acceptor_cheated"),
    Condition("acceptor_paused", 25, "soft", "REMOVE SECOND BILL", "device"),
    Condition("acceptor_disconnected", 26, "soft", "BILL ACCEPTOR DOES NOT ANSWER", "device", "acceptor_lost"),
    Condition("memory_failure", 40, "hard", "MEMORY FAILURE. CALL TECHNICIAN", "ram_clear", "memory_failed"),
    Condition("program_error", 41, "hard", "PROGRAM ERROR. CALL TECHNICIAN", "ram_clear", "program_error", kept=True),
    Condition("generator_failure", 42, "hard", "GENERATOR FAILURE. CALL TECHNICIAN", "self", "generator_failed"),
)  # fmt: skip

CONDITIONS: Mapping[str, Condition] = {row.key: row for row in _ROWS}

State = frozenset[str]
"""Keys of the conditions that are set."""


def step(state: State, event: RaiseCondition | ClearCondition) -> tuple[State, list[Asked]]:
    """Set or clear one condition. Raises KeyError for a key without a row."""
    row = CONDITIONS[event.key]
    match event:
        case RaiseCondition(key, detail):
            if key in state:
                return state, []
            reports: list[Asked] = [Report(row.raised, (("detail", detail),))] if row.raised else []
            facts = (("tilt", key), ("kind", row.kind), ("text", row.text), ("detail", detail))
            return state | {key}, [*reports, Report("tilt_raised", facts)]
        case ClearCondition(key):
            if key not in state:
                return state, []
            reports = [Report(row.cleared)] if row.cleared else []
            return state - {key}, [*reports, Report("tilt_cleared", (("tilt", key),))]


def kept(state: State) -> State:
    """The conditions that a power loss does not end."""
    return frozenset(key for key in state if CONDITIONS[key].kept)
