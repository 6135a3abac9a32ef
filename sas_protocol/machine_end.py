"""The machine's end of one SAS line, without I/O. SAS reference 2.2, 3, 4, 6, 7.1, 8.

Knows what a line needs and nothing of a machine: addressing with and without the ninth bit, synchronisation,
implied acknowledgement and exact repeat, notices and real-time events, loop break and chirp. What a long poll
means, and the answer, are its link's business.

Order of judgement for a long poll to us: synchronised? - repeat of the last one? - acknowledgement of the
last answer - pending real-time event? - served at all? - CRC - fields - report it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sas_protocol import longpolls
from sas_protocol.crc import append_crc, has_good_crc
from sas_protocol.errors import DecodeError, EncodeError
from sas_protocol.frames import (
    ack,
    busy,
    decode_request_fields,
    encode_answer_body,
    encode_event,
    general_poll,
    nack,
)
from sas_protocol.framing import Ear, Message, MessageKind, Run
from sas_protocol.line_events import (
    Ack,
    Acknowledged,
    Answer,
    Busy,
    Data,
    Delivered,
    DownReason,
    Ignore,
    LineCounters,
    LineEvent,
    LinkDown,
    LinkUp,
    Nack,
    PollReceived,
    RawData,
    RealTimeEvents,
    Transmit,
    Unsendable,
)
from sas_protocol.line_rules import REFERENCE, LineRules
from sas_protocol.longpolls.authentication import MULTI_DENOMINATION
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS
from sas_protocol.longpolls.poll import LongPoll
from sas_protocol.notice_queue import NoticeQueue
from sas_protocol.notices import NOTHING, NOTICES_602, NOTICES_603, Notice

_KNOWN_FRAMES_MAX: Final = 512
_LATE_ANSWERS_MAX: Final = 8
_NO_FIELDS: Final[Mapping[str, Any]] = MappingProxyType({})


class _Exchange:
    """A poll to us and what we said to it: what a repeat and an implied acknowledgement refer to."""

    __slots__ = (
        "answer",
        "answered_at",
        "asked_us",
        "first_us",
        "frame",
        "is_general",
        "key",
        "notice",
        "number",
        "poll",
        "sends",
    )

    def __init__(self, key: bytes, frame: bytes, asked_us: int) -> None:
        self.key = key  # the bytes that decide whether a poll is the same (6.2)
        self.is_general = not frame
        self.frame = frame  # empty for a general poll
        self.first_us = self.asked_us = asked_us  # when it came first, and latest
        self.answer: Transmit | None = None  # None: the link has not answered yet
        self.answered_at = 0  # number of the latest poll when the answer was known, if too late to be sent
        self.sends = 0  # how often the answer was sent
        self.poll: LongPoll | None = None  # whose acknowledgement the link wants to hear of
        self.number = 0
        self.notice: Notice | None = None  # what the answer carries


class MachineEnd:
    """One line of the machine.

    Args:
        address: 1..127; 0 switches the line off: everything is ignored and nothing is ever sent.
        now_us: time of power-up; the chirp counts from it.
        served: commands that the link answers; None: all of the table. Others are ignored, never NACKed.
        version: 602 or 603: which polls and notices exist.
        rules: timing.

    Raises ValueError for an impossible address or version.
    """

    def __init__(
        self,
        address: int,
        now_us: int = 0,
        *,
        served: frozenset[int] | None = None,
        version: int = 602,
        rules: LineRules = REFERENCE,
    ) -> None:
        if not 0 <= address <= 127:
            raise ValueError(f"a machine address is 0..127, not {address}")
        if version not in (602, 603):
            raise ValueError(f"SAS version is 602 or 603, not {version}")
        self.counters: Final = LineCounters()
        self._address: Final = address
        self._rules: Final = rules
        self._table: Final = longpolls.V602 if version == 602 else longpolls.V603
        self._served: Final = frozenset(self._table) if served is None else served
        self._ear: Final = Ear(address, self._table, rules, self.counters)
        kinds = NOTICES_602 if version == 602 else NOTICES_603
        self._notices: Final = NoticeQueue(kinds, rules.ordinary_codes)
        self._nothing: Final = Transmit(bytes((NOTHING,)))
        self._nothing_real_time: Final = Transmit(encode_event(address, kinds[NOTHING]))
        self._general: Final = bytes((general_poll(address),))
        self._real_time = False
        self._results: Final[deque[tuple[LongPoll, Transmit]]] = deque()
        self._known: Final[dict[bytes, tuple[LongPoll, Mapping[str, Any]]]] = {}  # good frames, decoded
        self._last: _Exchange | None = None
        self._late: Final[dict[bytes, _Exchange]] = {}  # unanswered in time, by frame
        self._number = 0
        self._has_heard_other = False  # 6.1: WAIT_OTHER is left
        self._is_up = False  # 6.1: SYNCED
        self._heard_us = now_us  # the latest address byte
        self._acknowledged_us = now_us  # the latest implied acknowledgement
        self._chirp_due_us: int | None = None  # None: no loop break

    # --- The four verbs --------------------------------------------------------------------------------

    def receive(self, now_us: int, runs: list[Run]) -> list[LineEvent]:
        """Take what has arrived, as runs of one ninth bit; return what happened, in order."""
        if self._address == 0:
            return []
        events: list[LineEvent] = []
        if now_us - self._heard_us >= self._rules.loop_break_us or self._is_supervision_over(now_us):
            self._watch(now_us, events)
        whole = self._ear.whole_message(now_us, runs)
        if whole:
            if len(whole) == 1:
                self._ear.took(now_us, is_proven=True)
                self._heard(now_us)
                if whole == self._general:
                    self._general_poll(now_us, events)
                else:
                    self._other(now_us, events)
                return events
            is_read = self._table[whole[1]].is_read
            if is_read or whole in self._known or has_good_crc(whole):
                self._ear.took(now_us, is_proven=not is_read)
                self._heard(now_us)
                self._long_poll(now_us, whole, events)
                return events
        for message in self._ear.hear(now_us, runs):
            self._dispatch(now_us, message, events)
        return events

    def send(
        self, now_us: int, answer: Answer, number: int | None = None, *, is_reading: bool = False
    ) -> bytes:
        """Answer a reported long poll; return the bytes to transmit now, empty if there are none.

        ``number``: of the PollReceived that is answered; None: the latest. When the answer comes later than
        ``answer_window_us`` after the poll, or the host has gone on to something else, it is kept for the
        identical repeat and nothing is returned; until the host gives another command, after which the same
        one again is a new one. ``is_reading``: the answer shows the present and does nothing; too late it is
        forgotten, and a repeat is reported again, for the present may have changed. Raises EncodeError if
        ``Data`` does not fit the poll's table entry; the poll then still waits for its answer.
        """
        exchange = self._awaiting(number)
        if exchange is None:
            return b""
        if isinstance(answer, Ignore):
            self._forget(exchange)
            return b""
        data = self._encode(exchange, answer)
        exchange.answer = Transmit(data)
        if self._late and not is_reading:
            self._forget_answers_before(exchange)
        if exchange is self._last and now_us - exchange.asked_us <= self._rules.answer_window_us:
            exchange.sends = 1
            self._ear.answered()
            return data
        self.counters.late_answers += 1
        exchange.answered_at = self._number
        if is_reading:
            self._forget(exchange)
        return b""

    def tick(self, now_us: int) -> list[LineEvent]:
        """Do what is due by time: chirp, link down, decide between two readings of the same bytes."""
        events: list[LineEvent] = []
        if self._address == 0:
            return events
        for message in self._ear.settle(now_us):
            self._dispatch(now_us, message, events)
        self._watch(now_us, events)
        if self._chirp_due_us is not None and now_us >= self._chirp_due_us:
            events.append(Transmit(bytes((self._address,)), wakeup=True))
            self._chirp_due_us = now_us + self._rules.chirp_us
        return events

    def next_deadline_us(self) -> int | None:
        """When ``tick`` must be called even if nothing arrives; None for a line that is off."""
        if self._address == 0:
            return None
        due_us = self._chirp_due_us
        if due_us is None:
            due_us = self._heard_us + self._rules.loop_break_us
            if self._is_up:
                due_us = min(due_us, self._acknowledged_us + self._rules.supervision_us)
        settle_us = self._ear.settle_deadline_us()
        return due_us if settle_us is None else min(due_us, settle_us)

    # --- What the link tells between polls -------------------------------------------------------------

    def set_pending(self, notices: tuple[Notice, ...]) -> None:
        """Take the machine's notice queue as it now is, oldest first.

        Delivered notices stay known by sequence until the queue is given without them. Raises EncodeError
        for a notice that is not in the table or whose facts do not fit.
        """
        self._notices.set_pending(notices)

    def post(self, poll: LongPoll, answer: Data | RawData) -> None:
        """Queue the late result of an acknowledged long poll (LP 21, reference 8, 17.1).

        It goes before notices, in answer to the next general poll (in real-time mode also to a long poll),
        until its implied acknowledgement, which is reported with number 0. A newer result of the same poll
        replaces a waiting one. Raises EncodeError.
        """
        body = answer.body if isinstance(answer, RawData) else encode_answer_body(poll, answer.values)
        result = (poll, Transmit(append_crc(bytes((self._address, poll.code)) + body)))
        kept = [each for each in self._results if each[0].code != poll.code]
        self._results.clear()
        self._results.extend((*kept, result))

    @property
    def address(self) -> int:
        """The machine's address on this line; 0: off."""
        return self._address

    @property
    def is_up(self) -> bool:
        """Whether a host polls us."""
        return self._is_up

    @property
    def is_real_time(self) -> bool:
        """Whether the host has turned real-time event reporting on."""
        return self._real_time

    # --- Messages --------------------------------------------------------------------------------------

    def _dispatch(self, now_us: int, message: Message, events: list[LineEvent]) -> None:
        """Judge one message."""
        self._heard(now_us)
        match message.kind:
            case MessageKind.GENERAL:
                self._general_poll(now_us, events)
            case MessageKind.LONG | MessageKind.DAMAGED | MessageKind.UNKNOWN:
                self._long_poll(now_us, message.frame, events, message.kind)
            case MessageKind.OTHER:
                self._other(now_us, events)
            case MessageKind.BROADCAST:
                self._other(now_us, events)
                self._broadcast(message.frame, events)

    def _heard(self, now_us: int) -> None:
        """An address byte was heard: the loop is whole."""
        self._heard_us = now_us
        self._chirp_due_us = None

    def _other(self, now_us: int, events: list[LineEvent]) -> None:
        """A poll that is not for us alone acknowledges and synchronises (6.1, 6.2)."""
        self._has_heard_other = True
        last = self._last
        if last is not None:
            self._last = None
            self._acknowledge(now_us, last, events)

    def _broadcast(self, frame: bytes, events: list[LineEvent]) -> None:
        """Execute a global long poll; nobody answers. Others to address 0 are ignored (section 4)."""
        poll = self._table[frame[1]]
        if not poll.is_global or poll.code not in self._served:
            self.counters.unserved += 1
            return
        fields = self._decoded(poll, frame)
        if fields is not None:
            self._number += 1
            events.append(PollReceived(poll, fields, frame, True, self._number))

    def _is_ours(self, now_us: int, events: list[LineEvent]) -> bool:
        """While the link is down: whether a poll to our address may be answered, which brings it up (6.1)."""
        if not self._has_heard_other:
            self.counters.unsynchronised += 1
            return False
        self._is_up = True
        self._acknowledged_us = now_us
        events.append(LinkUp())
        return True

    def _general_poll(self, now_us: int, events: list[LineEvent]) -> None:
        """Answer a general poll with a result, the next notice, or nothing to report."""
        if not self._is_up and not self._is_ours(now_us, events):
            return
        last = self._last
        if last is not None:
            if last.is_general:
                self._repeat(last, events)
                return
            self._acknowledge(now_us, last, events)
        exchange = _Exchange(b"", b"", now_us)
        self._last = exchange
        if not self._say_news(now_us, exchange, events):
            exchange.answer = self._nothing_real_time if self._real_time else self._nothing
            self._transmit(exchange, events)

    def _long_poll(
        self, now_us: int, frame: bytes, events: list[LineEvent], kind: MessageKind = MessageKind.LONG
    ) -> None:
        """Judge a long poll to our address, in the order of the module's docstring."""
        if not self._is_up and not self._is_ours(now_us, events):
            return
        key = frame[:5] if frame[1] == MULTI_DENOMINATION.code else frame[:2]  # what makes polls equal (6.2)
        last = self._last
        if last is not None:
            if last.key == key and last.sends:
                self._repeat(last, events)
                return
            self._last = None
            self._acknowledge(now_us, last, events)
        if self._real_time and kind is not MessageKind.UNKNOWN:
            exchange = _Exchange(key, frame, now_us)
            if self._say_news(now_us, exchange, events):
                self._last = exchange
                return
        if kind is MessageKind.UNKNOWN:
            self.counters.unknown_commands += 1
        elif frame[1] not in self._served:
            self.counters.unserved += 1
        elif kind is MessageKind.DAMAGED:
            # Not remembered: the repeat is judged afresh (6.3).
            self.counters.crc_errors += 1
            self._ear.answered()
            events.append(Transmit(nack(self._address)))
        else:
            self._good_long_poll(now_us, key, frame, events)

    def _good_long_poll(self, now_us: int, key: bytes, frame: bytes, events: list[LineEvent]) -> None:
        """Report a long poll whose CRC is good, unless its answer is known already."""
        late = self._late.get(frame) if self._late else None
        if late is not None:
            if now_us - late.first_us <= self._rules.late_answer_us:
                self._resume(now_us, late, events)
                return
            del self._late[frame]
        exchange = _Exchange(key, frame, now_us)
        self._last = exchange
        known = self._known.get(frame)
        if known is None:
            poll = self._table[frame[1]]
            fields = self._decoded(poll, frame)
            if fields is None:
                exchange.answer = Transmit(nack(self._address))
                self._transmit(exchange, events)
                return
            self._remember(frame, poll, fields)
        else:
            poll, fields = known
        exchange.poll = poll
        if poll.code == ENABLE_REAL_TIME_EVENTS.code:
            self._real_time = bool(fields["enable"])
            exchange.answer = Transmit(ack(self._address))
            self._transmit(exchange, events)
            events.append(RealTimeEvents(self._real_time))
            return
        self._number = exchange.number = self._number + 1
        events.append(PollReceived(poll, fields, frame, False, exchange.number))

    def _decoded(self, poll: LongPoll, frame: bytes) -> Mapping[str, Any] | None:
        """The fields of a request, none for a layout that is not declared; None if they are wrong."""
        if poll.request is None:
            return _NO_FIELDS
        try:
            return MappingProxyType(decode_request_fields(poll, frame))
        except DecodeError:
            self.counters.bad_fields += 1
            return None

    def _remember(self, frame: bytes, poll: LongPoll, fields: Mapping[str, Any]) -> None:
        """Keep a decoded frame: hosts ask the same things again and again."""
        if len(self._known) >= _KNOWN_FRAMES_MAX:
            self._known.clear()
        self._known[frame] = (poll, fields)

    # --- Answers, repeats, acknowledgements ------------------------------------------------------------

    def _transmit(self, exchange: _Exchange, events: list[LineEvent]) -> None:
        """Send an answer that is known."""
        if exchange.answer is not None:
            exchange.sends += 1
            self._ear.answered()
            events.append(exchange.answer)

    def _say_news(self, now_us: int, exchange: _Exchange, events: list[LineEvent]) -> bool:
        """Answer with a waiting result or the next notice; False if there is neither."""
        if self._results:
            exchange.poll, exchange.answer = self._results[0]
            self._transmit(exchange, events)
            return True
        notice = self._notices.next(now_us, real_time=self._real_time)
        if notice is None:
            events += [Unsendable(each) for each in self._notices.unsendable(real_time=self._real_time)]
            return False
        exchange.notice = notice
        exchange.answer = Transmit(self._notices.encode(notice, self._address, real_time=self._real_time))
        self._transmit(exchange, events)
        return True

    def _repeat(self, last: _Exchange, events: list[LineEvent]) -> None:
        """The same poll again: first NACK, the same bytes; second NACK, the host gives up (6.3)."""
        if last.sends == 1:
            self.counters.repeats += 1
            self._transmit(last, events)
            return
        self.counters.given_up += 1
        if self._rules.answer_third:
            self._transmit(last, events)
        self._last = None  # the data stay where they are; the next message starts afresh

    def _resume(self, now_us: int, exchange: _Exchange, events: list[LineEvent]) -> None:
        """The identical poll again, whose answer was never sent: send it if it is known by now."""
        exchange.asked_us = now_us
        self._last = exchange
        self._late.pop(exchange.frame, None)
        self._transmit(exchange, events)

    def _acknowledge(self, now_us: int, last: _Exchange, events: list[LineEvent]) -> None:
        """The host has gone on, so it has our last answer; unless there was none yet."""
        if last.sends == 0:
            if len(self._late) >= _LATE_ANSWERS_MAX:
                del self._late[next(iter(self._late))]
            self._late[last.frame] = last
            return
        self._acknowledged_us = now_us
        if last.notice is not None:
            self._notices.delivered(last.notice, now_us)
            events.append(Delivered(last.notice))
        elif last.poll is not None:
            if self._results and last.answer is self._results[0][1]:
                self._results.popleft()
            events.append(Acknowledged(last.poll, last.number))

    def _awaiting(self, number: int | None) -> _Exchange | None:
        """The reported long poll that waits for its answer."""
        last = self._last
        if last is not None and last.answer is None and number in (None, last.number):
            return last
        for exchange in self._late.values():
            if exchange.answer is None and exchange.number == (self._number if number is None else number):
                return exchange
        return None

    def _forget_answers_before(self, exchange: _Exchange) -> None:
        """A command has followed: what was known before it is no answer to the same thing asked after it."""
        for frame, late in tuple(self._late.items()):
            if 0 < late.answered_at < exchange.number:
                del self._late[frame]

    def _forget(self, exchange: _Exchange) -> None:
        """A poll that was ignored, or that only read, leaves nothing to repeat."""
        if exchange is self._last:
            self._last = None
        else:
            self._late.pop(exchange.frame, None)

    def _encode(self, exchange: _Exchange, answer: Answer) -> bytes:
        """The bytes of an answer."""
        match answer:
            case RawData(body):
                return append_crc(exchange.frame[:2] + body)
            case Data(values):
                if exchange.poll is None:
                    raise EncodeError("only a long poll has a data answer")
                return append_crc(exchange.frame[:2] + encode_answer_body(exchange.poll, values))
            case Ack():
                return ack(self._address)
            case Nack():
                return nack(self._address)
            case Busy():
                return busy(self._address)
            case Ignore():
                return b""

    # --- Time ------------------------------------------------------------------------------------------

    def _is_supervision_over(self, now_us: int) -> bool:
        return self._is_up and now_us - self._acknowledged_us >= self._rules.supervision_us

    def _watch(self, now_us: int, events: list[LineEvent]) -> None:
        """Notice silence (6.6) and a host that acknowledges nothing (6.5)."""
        if self._chirp_due_us is None and now_us - self._heard_us >= self._rules.loop_break_us:
            self._chirp_due_us = now_us
            self._go_down("loop_break", events)
        if self._is_supervision_over(now_us):
            self._go_down("no_acknowledgement", events)

    def _go_down(self, reason: DownReason, events: list[LineEvent]) -> None:
        """Back to the start of synchronisation; what was not acknowledged is kept by its owner."""
        was_up = self._is_up
        self._is_up = self._has_heard_other = False
        self._last = None
        self._late.clear()
        if was_up:
            events.append(LinkDown(reason))
