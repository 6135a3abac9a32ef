"""One SAS line of the machine: its link, its end of the protocol, and what polls mean to the core.

Read polls are answered at once from the last durable state. A command becomes an event; its answer goes out when the
core says so, which it does once everything is on record. The line's end keeps the rule that an answer which is late
is not sent but given to the host's repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from firmware.core.commands import Event, HostHeard, HostLink
from firmware.core.effects import Answer
from firmware.core.host_queue import Line as OwedLine
from firmware.core.state import Machine
from firmware.links.sas.answers import ANSWERS, METER_POLLS
from firmware.links.sas.behaviours import BEHAVIOURS
from firmware.links.sas.commands import COMMANDS, LINE_COMMANDS, Command
from firmware.links.sas.notices import translate
from firmware.links.sas.view import SasIdentity, SasView
from hal.ports.links import LinkError, WakeupLink
from sas_protocol.line_events import (
    ACK,
    BUSY,
    IGNORE,
    NACK,
    Delivered,
    LinkDown,
    LinkUp,
    PollReceived,
    RawData,
    Transmit,
    Unsendable,
)
from sas_protocol.line_events import Answer as LineAnswer
from sas_protocol.longpolls.meters import SEND_SELECTED_METERS
from sas_protocol.machine_end import MachineEnd
from sas_protocol.meter_answers import MeterAnswers
from sas_protocol.meters import METERS_602, METERS_603

ANSWER_WINDOW_US = 15_000
"""A command whose record is not durable by then gets no answer; its repeat does (design.md law 2)."""

SERVED = frozenset(poll.code for poll in (*ANSWERS, *METER_POLLS, *COMMANDS, *LINE_COMMANDS))

# A poll is looked up by its code: the hash of a table entry is that of all its fields.
_ANSWERS_BY_CODE = {poll.code: answer for poll, answer in ANSWERS.items()}
_COMMANDS_BY_CODE = {poll.code: command for poll, command in COMMANDS.items()}
_METER_CODES = frozenset(poll.code for poll in METER_POLLS)

_LINE_ANSWERS: dict[Answer, LineAnswer] = {
    Answer.ACK: ACK,
    Answer.NACK: NACK,
    Answer.BUSY: BUSY,
    Answer.IGNORE: IGNORE,
}


class SasLink:
    """The machine's end of one line.

    Args:
        number: of the line, from 0; events and effects name it.
        link: the bytes.
        address: 1..127.
        behaviour: a key of ``behaviours.BEHAVIOURS``.
        duties: what its host may do.
        identity: who the machine says it is.
        wall_us: gives civil time, microseconds since 1970; asked only when a host asks.
        now_us: time of power-up.

    Attributes:
        end: the protocol's end, with its counters.
        trouble: why the link carries nothing at present, "" if it does; that the host is gone the protocol finds
            out by itself (SAS 6.5).
    """

    def __init__(
        self,
        number: int,
        link: WakeupLink,
        address: int,
        behaviour: str,
        duties: tuple[str, ...],
        identity: SasIdentity,
        wall_us: Callable[[], int],
        now_us: int,
    ) -> None:
        self._number = number
        self._link = link
        self._duties = frozenset(duties)
        self._identity = identity
        self._wall_us = wall_us
        rules = replace(BEHAVIOURS[behaviour], answer_window_us=ANSWER_WINDOW_US)
        self.end = MachineEnd(address, now_us, served=SERVED, version=int(identity.version), rules=rules)
        self._durable: Machine | None = None
        self._view: SasView | None = None
        self._owed: OwedLine | None = None
        self._meters = MeterAnswers(self._meter, METERS_603 if identity.version == "603" else METERS_602)
        self._asked: list[int] = []  # numbers of polls whose command the core has not answered, oldest first
        self.trouble = ""

    # --- the loop's side ---

    def step(self, now_us: int) -> list[Event]:
        """Take what has arrived, answer what can be answered, return what the core must decide."""
        try:
            runs = self._link.read()
            self.trouble = ""
        except LinkError as error:
            self.trouble = str(error)
            runs = []
        events: list[Event] = []
        if runs:
            self._look()
            for item in self.end.receive(now_us, runs):
                self._take(item, now_us, events)
            return events  # what is due by time is due in silence; the next step sees to it
        due_us = self.end.next_deadline_us()
        if due_us is not None and now_us >= due_us:
            self._look()
            for item in self.end.tick(now_us):
                self._take(item, now_us, events)
        return events

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called even if nothing arrives."""
        return self.end.next_deadline_us()

    def tell(self, now_us: int, answer: Answer) -> None:
        """Answer the oldest command that is waiting; its record is durable."""
        if self._asked:
            self._send(self.end.send(now_us, _LINE_ANSWERS[answer], self._asked.pop(0)))

    def refresh(self, machine: Machine) -> None:
        """A new durable state: polls are answered from it, and its queue is what the host is owed.

        Both are looked at when the line next has something to do: most states come and go between two polls.
        """
        self._durable = machine

    def _look(self) -> None:
        """Bring view and queue up to the last durable state."""
        machine = self._durable
        if machine is None or (self._view is not None and self._view.machine is machine):
            return
        self._view = SasView(machine, self._identity, self._wall_us)
        owed = machine.host_queues[self._number]
        if owed is not self._owed:
            self._owed = owed
            denomination = machine.denomination
            self.end.set_pending(tuple(translate(notice, denomination) for notice in owed.pending))

    # --- the line's side ---

    def _take(self, item: object, now_us: int, events: list[Event]) -> None:
        match item:
            case Transmit(data, wakeup):
                self._send(data, wakeup=wakeup)
            case PollReceived():
                event = self._poll(item, now_us)
                if event is not None:
                    events.append(event)
            case Delivered(notice) | Unsendable(notice):
                events.append(HostHeard(self._number, notice.sequence))
            case LinkUp():
                events.append(HostLink(self._number, True))
            case LinkDown():
                events.append(HostLink(self._number, False))
            case _:
                return  # acknowledgements of answers and the real-time switch: the line's end keeps those

    def _poll(self, received: PollReceived, now_us: int) -> Event | None:
        """Answer a read poll; turn a command into its event."""
        poll = received.poll
        command = _COMMANDS_BY_CODE.get(poll.code)
        if command is not None:
            return self._command(command, received, now_us)
        if received.is_broadcast or self._view is None:
            return None
        self._send(self.end.send(now_us, self._answer(received), received.number, is_reading=True))
        return None

    def _answer(self, received: PollReceived) -> LineAnswer:
        poll, fields = received.poll, received.fields
        view = self._view
        if view is None:
            return IGNORE
        if poll.code in _METER_CODES:
            game, codes = fields["game"], fields["meters"]
            if poll is SEND_SELECTED_METERS:
                return RawData(self._meters.selected(game, codes))
            return RawData(self._meters.extended(game, codes))
        return _ANSWERS_BY_CODE[poll.code](view, fields)

    def _command(self, command: Command, received: PollReceived, now_us: int) -> Event | None:
        if not command.duties & self._duties:
            if not received.is_broadcast:
                self._send(self.end.send(now_us, IGNORE, received.number))
            return None
        if received.is_broadcast:
            return command.event(None, received.fields)
        self._asked.append(received.number)
        return command.event(self._number, received.fields)

    def _meter(self, code: int, game: int) -> int | None:
        return None if self._view is None else self._view.meter(code, game)

    def _send(self, data: bytes, *, wakeup: bool = False) -> None:
        if not data:
            return
        try:
            self._link.write(data, wakeup=wakeup)
        except LinkError as error:
            self.trouble = str(error)
