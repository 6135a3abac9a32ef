"""What a subject asks for: of another subject in the same turn, of the loop, of devices, of hosts, of the public.

The router hands the first group to its subject before the turn ends. The rest leaves the core, in order, and is
executed only once everything that the turn changed is durable.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from firmware.core.money import Amounts, Money
from firmware.core.orders import Order

# --- asked of another subject, in the same turn ---


@dataclass(frozen=True, slots=True)
class AddMeter:
    """Count ``amount`` (cents or events) on an atom of the meter table; ``game``: its SAS number, 0 for none."""

    key: str
    amount: int
    game: int = 0


@dataclass(frozen=True, slots=True)
class Deposit:
    """Put money on the credit meter."""

    kind: Money
    cents: int


@dataclass(frozen=True, slots=True)
class Wager:
    """Take a wager off the credit meter, restricted money first (NJ 1.28B(n), PA 461a.7(x))."""

    cents: int
    game: int


@dataclass(frozen=True, slots=True)
class CancelCredits:
    """Take money off the credit meter because an attendant pays it."""

    amounts: Amounts


@dataclass(frozen=True, slots=True)
class ShowPaid:
    """The credits-paid meter shows this payment to the player until the next one (PA 461a.7(j)(3))."""

    cents: int


@dataclass(frozen=True, slots=True)
class LockWin:
    """A win that the machine does not pay itself waits for an attendant."""

    cents: int
    game: int


@dataclass(frozen=True, slots=True)
class RaiseCondition:
    """Set a row of ``tilts.CONDITIONS``; already set is no change."""

    key: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ClearCondition:
    """Clear a row of ``tilts.CONDITIONS``; not set is no change."""

    key: str


FactValue = int | str


@dataclass(frozen=True, slots=True)
class Report:
    """Something happened that others hear of: a row of ``events.EVENTS`` and its facts by name."""

    event: str
    facts: tuple[tuple[str, FactValue], ...] = ()


Request = (
    AddMeter | Deposit | Wager | CancelCredits | ShowPaid | LockWin | RaiseCondition | ClearCondition | Report
)

# --- asked of the loop ---


@dataclass(frozen=True, slots=True)
class Draw:
    """Ask for chance, answered by ``Drawn`` in the same turn: one value in 0..n-1 for each n of ``ranges``."""

    ranges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Come back with ``TimerExpired(name)`` after ``delay_us``; a running timer of that name is replaced."""

    name: str
    delay_us: int


@dataclass(frozen=True, slots=True)
class StopTimer:
    """Forget the timer of that name."""

    name: str


class Answer(Enum):
    """How a host's command ends (SAS 4, fixed answers)."""

    ACK = "ack"
    NACK = "nack"
    BUSY = "busy"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class TellHost:
    """Answer the command that a host's line is waiting on."""

    line: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Publish:
    """Tell the public (panel, log, scenario) of an event, with its number in the event log."""

    sequence: int
    event: str
    facts: tuple[tuple[str, FactValue], ...]


Effect = Draw | StartTimer | StopTimer | TellHost | Publish | Order
"""What leaves the core."""

Asked = Request | Draw | StartTimer | StopTimer | TellHost | Order
"""What a subject's ``step`` may return."""
