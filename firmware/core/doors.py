"""Doors and keys. An open door stops play and is reported; closing it ends that (cabinet_io.md 1)."""

from __future__ import annotations

from firmware.core.effects import AddMeter, Asked, ClearCondition, RaiseCondition, Report
from firmware.core.facts import DoorMoved, KeyTurned

DOORS = ("main", "belly", "drop", "cash_box", "acceptor", "logic", "top_box", "hard_meter")
KEYS = ("reset", "audit")

State = frozenset[str]
"""Names of open doors, or of keys that are on."""


def step(state: State, event: DoorMoved) -> tuple[State, list[Asked]]:
    """Open or close one door."""
    door = event.door
    facts = (("door", door),)
    if event.is_open == (door in state):
        return state, []
    if event.is_open:
        return state | {door}, [
            AddMeter(f"{door}_door_openings", 1),
            Report(f"{door}_door_opened", facts),
            RaiseCondition(f"{door}_door_open"),
        ]
    return state - {door}, [Report(f"{door}_door_closed", facts), ClearCondition(f"{door}_door_open")]


def turn_key(state: State, event: KeyTurned) -> tuple[State, list[Asked]]:
    """Remember which keys are on."""
    if event.on == (event.key in state):
        return state, []
    report = Report("key_on" if event.on else "key_off", (("key", event.key),))
    return (state | {event.key} if event.on else state - {event.key}), [report]
