"""Driver of an ID-003 note acceptor (JCM UBA, WBA, iVIZION, DBV): polls it, obeys orders, reports facts.

One request is on the wire at a time; what to send next follows from the last answer, never from a script, so
a lost, late or repeated message costs a poll and no more. After any doubt (silence, 4B) it polls and looks.

What it says about money is only what the acceptor said. An item's facts are ``NoteInEscrow`` or
``TicketInEscrow``, then one of ``NoteStacked`` (the first VEND VALID), ``NoteReturned``, ``NoteRejected``; or
an ``AcceptorPoweredUp`` or ``AcceptorReady`` that ends what is still open. The two messages that make the
acceptor forget, ACK and RESET, are not sent while a reported VEND VALID (or power-up with a note in the
stacker) waits for ``AcknowledgeStacked``. Source: id003.md 3 to 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorPoweredUp,
    AcceptorReady,
    Fact,
    NoteInEscrow,
    NotePosition,
    NoteRejected,
    NoteReturned,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, HoldNote, Order, ReturnNote, StackNote
from firmware.drivers.id003_faults import LASTING, FaultReport, is_lasting
from firmware.drivers.id003_setup import Id003Setup, Identification
from hal.ports.links import ByteLink, LinkError
from hal.wire import id003
from hal.wire.errors import Reason
from hal.wire.id003 import Command, Status

_IDLE: Final = frozenset({Status.IDLING, Status.INHIBITED})
_ESCROW: Final = frozenset({Status.ESCROW, Status.HOLDING})
_POWER_UP: Final[Mapping[int, NotePosition]] = {
    Status.POWER_UP: NotePosition.NONE,
    Status.POWER_UP_BILL_IN_ACCEPTOR: NotePosition.IN_ACCEPTOR,
    Status.POWER_UP_BILL_IN_STACKER: NotePosition.IN_STACKER,
}
_FIRST_CONTACT: Final[Mapping[int, NotePosition]] = {
    **_POWER_UP,
    Status.IDLING: NotePosition.NONE,
    Status.INHIBITED: NotePosition.NONE,
    Status.ACCEPTING: NotePosition.NONE,  # a note of now, not of then
    Status.STACKED: NotePosition.NONE,  # its VEND VALID has been acknowledged
    Status.ESCROW: NotePosition.IN_ACCEPTOR,
    Status.HOLDING: NotePosition.IN_ACCEPTOR,
    Status.REJECTING: NotePosition.IN_ACCEPTOR,
    Status.RETURNING: NotePosition.IN_ACCEPTOR,
    Status.VEND_VALID: NotePosition.IN_STACKER,
}
"""What the first status after silence says of a note.

Others say nothing yet, so we keep looking: STACKING ends in VEND VALID or not; an error may stand in front of a
power-up status, and INITIALIZE in front of that error.
"""

_STATUSES: Final = frozenset(Status)
_NO_NEWS: Final = frozenset({Status.COMMUNICATION_ERROR, Status.SIGNATURE_BUSY, Status.SIGNATURE_END})
_SLOW: Final = _IDLE | LASTING.keys() | {Status.INITIALIZE}
"""Statuses in which nothing moves that we wait for."""
_ECHOES: Final = frozenset(range(0x80, 0x88)) | id003.SETTING_SIZES.keys() | id003.QUERIES
_INHIBITED: Final = "inhibited"
_RESETS_IN_VAIN_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class Periods:
    """Times of the driver, in microseconds (id003.md 1, 3.1)."""

    poll_us: int = 200_000
    poll_moving_us: int = 100_000
    answer_us: int = 200_000  # the unit answers within 50 ms; a long answer takes as much on the wire
    answer_starting_us: int = 500_000
    acknowledged_us: int = 50_000  # from our ACK, which has no answer, to the next poll
    lost_us: int = 1_000_000
    boot_us: int = 5_000_000  # silence before the first contact that is taken for booting
    hold_us: int = 3_000_000  # HOLD lapses after 5 s
    decide_us: int = 5_000_000  # an item without an order is given back
    reset_us: int = 1_000_000  # between two RESETs that were both taken


MISSED_MAX: Final = 3
"""Answers missed in a row, over at least ``lost_us``, that mean *disconnected*."""


class _Stage(Enum):
    LOST = auto()  # no contact
    UNTOLD = auto()  # contact; where a note of before is cannot be told yet
    STARTING = auto()  # told; reset, settings and self-test are under way, or an error lasts
    READY = auto()


class _Vend(Enum):
    """How far the money of the last stacked item is."""

    NONE = auto()
    REPORTED = auto()  # the core knows; the acceptor must not forget
    ACKNOWLEDGED = auto()  # on record: the acceptor may forget


class _Wish(Enum):
    NONE = auto()
    STACK = auto()
    RETURN = auto()
    HOLD = auto()


_WISHES: Final[Mapping[type[Order], _Wish]] = {
    StackNote: _Wish.STACK,
    ReturnNote: _Wish.RETURN,
    HoldNote: _Wish.HOLD,
}


@dataclass(slots=True)
class _Escrow:
    """The item in escrow, from its first ESCROW until its end is known."""

    data: bytes
    item: int
    since_us: int
    hold_due_us: int
    wish: _Wish = _Wish.NONE
    is_refused: bool = False  # by us, without asking the core
    is_stacking: bool = False


@dataclass(frozen=True, slots=True)
class _Awaited:
    """The request on the wire."""

    code: int
    due_us: int


class Id003Acceptor:
    """Run one acceptor.

    Args:
        link: byte pipe to the device.
        denominations: escrow code -> cents, from the cabinet file, for a unit that has no CURRENCY ASSIGN.
        currency: key of ``id003.COUNTRIES``; notes of the unit's table in other currencies are returned.
        stacks_fully: VEND VALID when the note is in the box (STACK-2), not already at the lever (STACK-1).
        periods: times.

    Raises KeyError for an unknown currency.
    """

    def __init__(
        self,
        link: ByteLink,
        denominations: Mapping[int, int] = id003.US_CENTS,
        *,
        currency: str = "USD",
        stacks_fully: bool = False,
        periods: Periods | None = None,
    ) -> None:
        self._link = link
        self._setup = Id003Setup(denominations, currency)
        self._stack = Command.STACK_2 if stacks_fully else Command.STACK_1
        self._periods = periods or Periods()
        self._framer = id003.Framer()
        self._faults = FaultReport()
        self._facts: list[Fact] = []

        self._stage = _Stage.LOST
        self._status: int | None = None
        self._is_fresh = False  # no command has gone out since the status came in
        self._is_ready_told: bool | None = None
        self._is_reset_needed = True
        self._resets_in_vain = 0
        self._vend = _Vend.NONE
        self._escrow: _Escrow | None = None
        self._items = 0  # numbers what comes into escrow

        self._awaited: _Awaited | None = None
        self._missed = 0
        self._is_started = False
        self._has_spoken = False
        self._heard_us = 0
        self._poll_due_us = 0
        self._reset_due_us = 0

    # --- The four verbs of a driver -------------------------------------------------------------------

    @property
    def identification(self) -> Identification:
        """What the unit said about itself, for the state page."""
        return self._setup.identification

    @property
    def version_text(self) -> str:
        """Its answer to VERSION, "" if unknown."""
        version = self._setup.identification.version
        return "" if version is None else version.text

    @property
    def error_counts(self) -> Mapping[Reason, int]:
        """Bytes and frames that were refused since the start, by reason."""
        return dict(self._framer.errors)

    def step(self, now_us: int) -> list[Fact]:
        """Take what has arrived, send what is due; return facts in order of arrival. Raises nothing."""
        if not self._is_started:
            self._is_started = True
            self._heard_us = self._poll_due_us = now_us
            self._not_ready()
        try:
            data = self._link.read(limit=4096)
            for frame in self._framer.receive(now_us, data):
                self._take(frame, now_us)
            if self._awaited is not None and now_us >= self._awaited.due_us:
                self._missed_answer(self._awaited, now_us)
            if self._awaited is None:
                self._send_next(now_us)
        except LinkError:
            self._link_failed(now_us)
        facts, self._facts = self._facts, []
        return facts

    def order(self, order: Order, now_us: int) -> None:
        """Take an order; what comes of it is a later fact. Orders that fit nothing (any more) are dropped."""
        escrow = self._escrow
        match order:
            case AcceptNotes():
                self._setup.accept(order)
            case AcknowledgeStacked():
                if self._vend is _Vend.REPORTED:
                    self._vend = _Vend.ACKNOWLEDGED
            case StackNote() | ReturnNote() | HoldNote():
                if escrow is None or escrow.is_refused or order.item not in (0, escrow.item):
                    return
                escrow.wish = _WISHES[type(order)]
            case _:
                return
        if self._awaited is None and self._is_fresh:
            self._poll_due_us = min(self._poll_due_us, now_us)  # so that step is called at once

    def next_deadline_us(self) -> int:
        """When ``step`` must be called again even if nothing arrives."""
        return self._poll_due_us if self._awaited is None else self._awaited.due_us

    # --- Sending --------------------------------------------------------------------------------------

    def _send_next(self, now_us: int) -> None:
        """Send the one message that is due: an operation, else a poll, else a question or a setting."""
        operation = self._operation(now_us) if self._is_fresh else None
        if operation == id003.ACK:
            self._write(id003.ACK)
            self._is_fresh = False
            self._poll_due_us = now_us + self._periods.acknowledged_us
        elif operation is not None:
            self._is_fresh = False
            self._poll_due_us = now_us
            self._ask(operation, b"", now_us)
        elif now_us >= self._poll_due_us:
            is_slow = self._stage is _Stage.LOST or self._status in _SLOW
            period_us = self._periods.poll_us if is_slow else self._periods.poll_moving_us
            self._poll_due_us = now_us + period_us
            self._ask(Command.STATUS_REQUEST, b"", now_us)
        elif self._is_fresh:
            talk = self._talk()
            if talk is not None:
                self._ask(talk.code, talk.data, now_us)

    def _operation(self, now_us: int) -> int | None:
        """Return the command that the fresh status calls for, the host's ACK included."""
        if self._status == Status.VEND_VALID:
            return id003.ACK if self._vend is _Vend.ACKNOWLEDGED else None
        if self._status in _ESCROW:
            return self._decision(now_us)
        return Command.RESET if self._is_reset_due(now_us) else None

    def _decision(self, now_us: int) -> int | None:
        """Return what to do with the item in escrow."""
        escrow = self._escrow
        if escrow is None or escrow.is_refused:
            return Command.RETURN
        match escrow.wish:
            case _Wish.STACK:
                return self._stack
            case _Wish.RETURN:
                return Command.RETURN
            case _Wish.HOLD:
                return Command.HOLD if now_us >= escrow.hold_due_us else None
            case _Wish.NONE:
                # Nobody decides: give it back before the unit does (id003.md 4.1).
                return Command.RETURN if now_us >= escrow.since_us + self._periods.decide_us else None

    def _is_reset_due(self, now_us: int) -> bool:
        """Whether the unit must restart now. Never while it alone knows of money, nor while a note moves."""
        if self._vend is _Vend.REPORTED or now_us < self._reset_due_us:
            return False
        if self._status == Status.POWER_UP:
            return self._setup.next_query() is None  # there is time for questions (id003.md 6.1)
        if self._status in _IDLE:
            return self._is_reset_needed
        return self._status in _POWER_UP or is_lasting(self._status)

    def _talk(self) -> id003.Frame | None:
        """Return a question or setting that the present state has room for."""
        if self._stage is _Stage.READY:
            if self._setup.inhibit_is_due:
                return self._setup.inhibit
            return self._setup.next_setting() if self._status in _IDLE else None
        if self._status in (Status.POWER_UP, Status.POWER_UP_BILL_IN_STACKER):
            return self._setup.next_query()
        if self._status == Status.INITIALIZE or (self._status in _IDLE and not self._is_reset_needed):
            return self._setup.next_query() or self._setup.next_setting()
        return None

    def _ask(self, code: int, data: bytes, now_us: int) -> None:
        """Send a message that has an answer."""
        is_running = self._stage is _Stage.READY
        patience_us = self._periods.answer_us if is_running else self._periods.answer_starting_us
        self._awaited = _Awaited(code, now_us + patience_us)
        self._setup.sent(code)
        self._write(code, data)

    def _write(self, code: int, data: bytes = b"") -> None:
        self._link.write(id003.encode(code, data))

    # --- Silence --------------------------------------------------------------------------------------

    def _missed_answer(self, awaited: _Awaited, now_us: int) -> None:
        self._awaited = None
        self._is_fresh = False
        self._poll_due_us = min(self._poll_due_us, now_us)
        self._missed += 1
        self._setup.unanswered(awaited.code)
        if self._missed >= MISSED_MAX and now_us - self._heard_us >= self._patience_us:
            self._lose_contact()

    @property
    def _patience_us(self) -> int:
        """How long silence is borne: a unit that has never spoken may be booting."""
        return self._periods.lost_us if self._has_spoken else self._periods.boot_us

    def _link_failed(self, now_us: int) -> None:
        """The pipe itself is gone: no need to count answers. Try again at the pace of polls."""
        self._awaited = None
        self._poll_due_us = now_us + self._periods.poll_us
        if self._has_spoken or now_us - self._heard_us >= self._patience_us:
            self._lose_contact()

    def _lose_contact(self) -> None:
        """From here on nothing is known of the unit. What it holds it will say when it is back."""
        self._stage = _Stage.LOST
        self._status = None
        self._is_fresh = False
        self._escrow = None
        self._framer.clear()
        self._faults.is_lost = True
        self._facts += self._faults.news()

    # --- Answers --------------------------------------------------------------------------------------

    def _take(self, frame: id003.Frame, now_us: int) -> None:
        """Take one frame, asked for or late. One that fits nothing is no sign of life."""
        asked = None if self._awaited is None else self._awaited.code
        code = frame.code
        if code == id003.ACK:
            if asked is not None and asked in id003.OPERATIONS:
                self._hear(now_us)
                self._command_taken(asked, now_us)
        elif code == id003.INVALID_COMMAND:
            if asked is not None and asked != Command.STATUS_REQUEST:
                self._hear(now_us)
                self._command_refused(asked, now_us)
        elif code in _ECHOES:
            if asked == code:
                self._hear(now_us)
                self._awaited = None
            if asked == code or code in id003.QUERIES:
                self._setup.answered(frame)
        else:
            self._hear(now_us)
            is_answer = asked in (None, Command.STATUS_REQUEST)
            if is_answer:
                self._awaited = None
            self._take_status(frame, is_answer, now_us)

    def _hear(self, now_us: int) -> None:
        self._missed = 0
        self._heard_us = now_us
        self._has_spoken = True

    def _command_taken(self, code: int, now_us: int) -> None:
        self._awaited = None
        if code == Command.HOLD and self._escrow is not None:
            self._escrow.hold_due_us = now_us + self._periods.hold_us
        if code != Command.RESET:
            return
        error = LASTING.get(self._status or 0)
        self._reset_due_us = now_us + (self._periods.reset_us if error is None else error.reset_after_us)
        self._setup.forget_settings()
        self._is_reset_needed = False
        self._resets_in_vain += error is None
        if self._resets_in_vain > _RESETS_IN_VAIN_MAX:
            self._faults.set_lasting("acceptor_failure", "does not take its settings")
            self._facts += self._faults.news()

    def _command_refused(self, code: int, now_us: int) -> None:
        """4B: the state was not what we thought, or the unit cannot do it. Poll and look, without hurry."""
        self._awaited = None
        self._is_fresh = False
        self._poll_due_us = now_us + self._periods.acknowledged_us
        if code == Command.RESET:
            self._reset_due_us = now_us + self._periods.reset_us
        elif code not in id003.OPERATIONS and self._setup.refused(code):
            if self._stage is _Stage.READY:
                self._setup.skip(code)  # Notes that should not be let in are refused in escrow instead.
            elif self._status in _IDLE:
                self._is_reset_needed = True

    # --- Statuses -------------------------------------------------------------------------------------

    def _take_status(self, frame: id003.Frame, is_answer: bool, now_us: int) -> None:
        self._faults.see(frame.code, frame.data)
        self._facts += self._faults.news()
        if frame.code in _NO_NEWS or frame.code not in _STATUSES:
            self._is_fresh = False  # Nothing is known to be wrong with the note: keep looking.
            return
        status, previous = Status(frame.code), self._status
        if self._stage is _Stage.LOST:
            self._make_contact()
            previous = None
        self._status = status
        self._is_fresh = is_answer
        is_entered = status != previous
        if is_lasting(status):
            self._take_error(status, is_entered, now_us)
        elif status in _POWER_UP or self._stage is _Stage.UNTOLD:
            self._take_power_up(status, is_entered)
        self._take_item(status, frame.data, previous, now_us)

    def _make_contact(self) -> None:
        self._stage = _Stage.UNTOLD
        self._is_reset_needed = True
        self._resets_in_vain = 0
        self._setup.forget_unit()
        self._faults.is_lost = False
        self._facts += self._faults.news()

    def _take_error(self, status: Status, is_entered: bool, now_us: int) -> None:
        if is_entered:
            self._reset_due_us = max(self._reset_due_us, now_us + LASTING[status].reset_after_us)
        self._is_reset_needed = True
        if self._stage is _Stage.READY:
            self._stage = _Stage.STARTING

    def _take_power_up(self, status: Status, is_entered: bool) -> None:
        """A restart, or first contact: tell where a note is as soon as the status says it."""
        note = _FIRST_CONTACT.get(status)
        if note is None or (self._stage is not _Stage.UNTOLD and not is_entered):
            return
        if status in _POWER_UP:
            self._setup.forget_unit()  # It may be another one.
            self._is_reset_needed = True
            self._reset_due_us = 0
        self._restart(note)

    def _restart(self, note: NotePosition) -> None:
        self._stage = _Stage.STARTING
        self._escrow = None
        if note is NotePosition.IN_STACKER and self._vend is _Vend.NONE:
            self._vend = _Vend.REPORTED
        self._facts.append(AcceptorPoweredUp(note))
        self._not_ready()

    def _not_ready(self) -> None:
        if self._is_ready_told is not False:
            self._is_ready_told = False
            self._facts.append(AcceptorNotReady())

    def _take_item(self, status: Status, data: bytes, previous: int | None, now_us: int) -> None:
        """What the status says of an item and of the way to readiness."""
        match status:
            case Status.ESCROW if self._stage is _Stage.READY:
                self._take_escrow(data, now_us)
            case Status.STACKING if self._escrow is not None:
                self._escrow.is_stacking = True
            case Status.VEND_VALID:
                self._take_vend()
            case Status.REJECTING if status != previous:
                self._take_rejecting(data)
            case Status.RETURNING | Status.ACCEPTING:
                self._end_returned()
            case Status.INITIALIZE if status != previous:
                self._take_initialize()
            case Status.IDLING | Status.INHIBITED:
                self._take_idle(previous)
            case _:
                pass

    def _take_escrow(self, data: bytes, now_us: int) -> None:
        """A new item was read, unless it is the one we know. Refuse at once what must not be taken."""
        if self._escrow is not None and self._escrow.data == data:
            return
        self._end_returned()
        self._vend = _Vend.NONE
        self._items += 1
        fact = self._read(data)
        self._escrow = _Escrow(data, self._items, now_us, now_us, is_refused=isinstance(fact, NoteRejected))
        self._facts.append(fact)

    def _read(self, data: bytes) -> NoteInEscrow | TicketInEscrow | NoteRejected:
        """Say what the data of ESCROW mean."""
        code = data[0] if data else 0
        if code == id003.TICKET:
            number = data[1:].decode("ascii", "replace")
            if not (number.isascii() and number.isdigit()):
                return NoteRejected("barcode_unreadable")
            return (
                TicketInEscrow(number, self._items) if self._setup.takes_tickets else NoteRejected(_INHIBITED)
            )
        cents = self._setup.denominations.get(code)
        if cents is None:
            return NoteRejected("unknown_denomination")
        return NoteInEscrow(cents, self._items) if self._setup.takes_note(cents) else NoteRejected(_INHIBITED)

    def _take_vend(self) -> None:
        """VEND VALID. It repeats until our ACK is heard: only the first one of an item is money."""
        escrow, self._escrow = self._escrow, None
        if escrow is not None and not escrow.is_refused:
            self._vend = _Vend.REPORTED
            self._facts.append(NoteStacked())
        elif self._vend is _Vend.NONE:
            # Stacked without an order of ours: only a record of before can say what it was.
            self._is_reset_needed = True
            self._restart(NotePosition.IN_STACKER)

    def _take_rejecting(self, data: bytes) -> None:
        """The unit pushes an item out: a bad one, or one that nobody decided on."""
        escrow, self._escrow = self._escrow, None
        if self._stage is _Stage.READY and (escrow is None or not escrow.is_refused):
            self._facts.append(NoteRejected(id003.reject_reason(data)))

    def _end_returned(self) -> None:
        """Whatever was in escrow is on its way out, or out."""
        escrow, self._escrow = self._escrow, None
        if escrow is not None and self._stage is _Stage.READY and not escrow.is_refused:
            self._facts.append(NoteReturned())

    def _take_initialize(self) -> None:
        self._escrow = None
        self._is_reset_needed = False
        self._setup.forget_settings()
        if self._stage is _Stage.READY:
            self._stage = _Stage.STARTING
        self._not_ready()

    def _take_idle(self, previous: int | None) -> None:
        """Nothing in the path. Ready once everything is set; told again after every item."""
        if self._escrow is not None and self._escrow.is_stacking:
            self._escrow = (
                None  # Neither money nor return was shown: the core closes it with ``AcceptorReady``.
            )
        self._end_returned()
        if self._stage is _Stage.READY:
            if previous not in _IDLE:
                self._facts.append(AcceptorReady())
        elif not self._is_reset_needed and self._setup.is_complete:
            self._stage = _Stage.READY
            self._is_ready_told = True
            self._resets_in_vain = 0
            self._faults.clear_lasting()
            self._facts += [*self._faults.news(), AcceptorReady()]
