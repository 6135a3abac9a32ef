"""Orders to devices: effects that the executor hands to a driver once their cause is durable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AcceptNotes:
    """Set what the acceptor may take. Empty ``cents``: take nothing (inhibit)."""

    cents: frozenset[int]
    tickets: bool = False


@dataclass(frozen=True, slots=True)
class StackNote:
    """Swallow the item in escrow; its intent is on record.

    Dropped if another item is there by now; 0: whatever is there.
    """

    item: int = 0


@dataclass(frozen=True, slots=True)
class ReturnNote:
    """Give the item in escrow back. Dropped if another item is there by now; 0: whatever is there."""

    item: int = 0


@dataclass(frozen=True, slots=True)
class HoldNote:
    """Keep the item in escrow until another order: the driver repeats the hold as its protocol needs."""

    item: int = 0


@dataclass(frozen=True, slots=True)
class AcknowledgeStacked:
    """The money of a ``NoteStacked`` is on record: the acceptor may forget it."""


@dataclass(frozen=True, slots=True)
class SetLamp:
    """Light or darken a lamp by its name: ``spin``, ``service``, ``tower_top`` …"""

    lamp: str
    on: bool


Order = AcceptNotes | StackNote | ReturnNote | HoldNote | AcknowledgeStacked | SetLamp
