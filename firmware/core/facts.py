"""Facts that drivers report about the world. Each is an event of the core; none is a decision.

Drivers import this file and ``orders``; nothing else of the core.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class NotePosition(Enum):
    """Where the acceptor says, at power-up, that the note is which it held when power was lost (id003.md 4.2)."""

    NONE = "none"
    IN_ACCEPTOR = "in_acceptor"  # in front of the point of no return: will be given back
    IN_STACKER = "in_stacker"  # behind it: will be stacked


@dataclass(frozen=True, slots=True)
class AcceptorPoweredUp:
    """The acceptor (re)started and says what it holds; decides an open *stacking* intent (id003.md 6.4).

    Answer ``IN_STACKER`` with ``AcknowledgeStacked`` once the decision is on record, intent or no intent: until
    then the driver keeps the acceptor in the state that says so, since its reset would make it forget.
    """

    note: NotePosition


@dataclass(frozen=True, slots=True)
class AcceptorReady:
    """Self-test and settings are done: the acceptor idles, enabled or inhibited, with nothing in its path.

    Reported at every change into idling, so an intent that is still open then was not stacked.
    """


@dataclass(frozen=True, slots=True)
class AcceptorNotReady:
    """The acceptor is starting or self-testing; notes are not taken."""


@dataclass(frozen=True, slots=True)
class NoteInEscrow:
    """A note was read and waits for ``StackNote`` or ``ReturnNote``.

    ``item`` numbers what comes into escrow; the order names it, so that a late order cannot meet the next note.
    """

    cents: int
    item: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TicketInEscrow:
    """A bar-coded ticket was read and waits in escrow. ``number``: its digits as read; ``item`` as for a note."""

    number: str
    item: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NoteStacked:
    """The escrowed item is in the box for good (first VEND VALID). Answer with ``AcknowledgeStacked``."""


@dataclass(frozen=True, slots=True)
class NoteReturned:
    """The escrowed item went back to the player."""


@dataclass(frozen=True, slots=True)
class NoteRejected:
    """The acceptor refused an item before or in escrow. ``reason``: a word of the driver's reject table."""

    reason: str


@dataclass(frozen=True, slots=True)
class DeviceFault:
    """A lasting condition of a device came or went.

    ``kind``: a key of ``tilts.CONDITIONS``, e.g. ``acceptor_jam``, ``stacker_removed``. ``detail``: free words.
    """

    kind: str
    on: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A player or attendant button went down: ``spin``, ``bet_one``, ``bet_max``, ``cash_out`` …"""

    button: str


@dataclass(frozen=True, slots=True)
class DoorMoved:
    """A door opened (reported at once) or closed (after its debounce time)."""

    door: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class KeyTurned:
    """A key switch: ``reset`` (spring return) or ``audit`` (stays)."""

    key: str
    on: bool


Fact = (
    AcceptorPoweredUp
    | AcceptorReady
    | AcceptorNotReady
    | NoteInEscrow
    | TicketInEscrow
    | NoteStacked
    | NoteReturned
    | NoteRejected
    | DeviceFault
    | ButtonPressed
    | DoorMoved
    | KeyTurned
)
