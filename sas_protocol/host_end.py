"""The host's end of a SAS line to one machine, without I/O. SAS reference 4.1, 6.2, 6.4, 18.3.

Sends polls one at a time, repeats them when the answer is missing or broken, inserts the sync poll where the
same poll would otherwise be taken for a repeat, lets real-time events pass and asks again. What the answers
mean is the caller's business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sas_protocol import longpolls
from sas_protocol.crc import append_crc, has_good_crc
from sas_protocol.errors import DecodeError, Reason
from sas_protocol.fields import total_size
from sas_protocol.frames import (
    EVENT,
    SYNC_POLL,
    decode_answer,
    decode_event,
    encode_request,
    general_poll,
)
from sas_protocol.longpolls.authentication import MULTI_DENOMINATION, VERIFY_SIGNATURE
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS
from sas_protocol.longpolls.poll import LongPoll, Size
from sas_protocol.notices import NOTICES_603, NoticeKind


@dataclass(frozen=True, slots=True)
class HostRules:
    """Timing and patience of the host, in microseconds.

    Attributes:
        answer_us: how long to wait for the first byte of an answer. A machine begins within 20 ms; public
            hosts wait 50 to 3000 ms.
        quiet_us: pause that ends an answer whose length nothing tells (a bare ACK, a noisy byte).
        sends_max: identical sends before giving up.
        interruptions_max: real-time events that one long poll lets pass before giving up.
    """

    answer_us: int = 100_000
    quiet_us: int = 5_000
    sends_max: int = 3
    interruptions_max: int = 64


class Write(NamedTuple):
    """Bytes to write now, every one with the ninth bit ``wakeup``."""

    data: bytes
    wakeup: bool


class GeneralPoll(NamedTuple):
    """Ask for news."""


class LongPollRequest(NamedTuple):
    """A long poll by its table entry.

    Attributes:
        values: request fields by name; None if ``data`` is given or the poll has none.
        data: the bytes between command (or length byte, which is added) and CRC, instead of ``values``.
        is_broadcast: send it to address 0; nobody answers.
    """

    poll: LongPoll
    values: Mapping[str, Any] | None = None
    data: bytes | None = None
    is_broadcast: bool = False


class RawRequest(NamedTuple):
    """A long poll exactly as given, address to CRC: for what no table knows."""

    frame: bytes


Request = GeneralPoll | LongPollRequest | RawRequest


class NoticeReceived(NamedTuple):
    """News of the machine. ``code`` 00: none. ``facts``: real-time data in table order, else empty."""

    code: int
    kind: NoticeKind
    facts: tuple[int, ...]
    frame: bytes


class Answered(NamedTuple):
    """A data answer; ``values`` has only ``data`` (bytes between command and CRC) if no layout is declared.

    A signature (LP 21) arrives so in answer to any poll; ``poll`` tells.
    """

    request: Request
    poll: LongPoll | None
    values: Mapping[str, Any]
    frame: bytes


class Acked(NamedTuple):
    """The machine accepted the command."""

    request: Request


class Nacked(NamedTuple):
    """The machine refused the command."""

    request: Request


class WasBusy(NamedTuple):
    """The machine cannot do it now: let another poll pass, then ask again."""

    request: Request


class Unanswered(NamedTuple):
    """Given up. ``reason``: what was wrong with the last answer, None if there was none at all."""

    request: Request
    sends: int
    reason: Reason | None


class Chirp(NamedTuple):
    """A byte that nobody asked for: a machine that misses its host says its address (6.6)."""

    address: int


HostEvent = Write | NoticeReceived | Answered | Acked | Nacked | WasBusy | Unanswered | Chirp


class HostEnd:
    """The host's end towards one machine.

    Args:
        address: of the machine, 1..127.
        version: table of long polls, 602 or 603.
        rules: timing and patience.
    """

    def __init__(self, address: int, *, version: int = 603, rules: HostRules | None = None) -> None:
        if not 1 <= address <= 127:
            raise ValueError(f"a machine address is 1..127, not {address}")
        self._address: Final = address
        self._table: Final = longpolls.V602 if version == 602 else longpolls.V603
        self._rules: Final = HostRules() if rules is None else rules
        self._queue: Final[deque[Request]] = deque()
        self._asked: Request | None = None  # waiting for its answer
        self._frame = b""  # what was sent for it
        self._sends = 0
        self._interruptions = 0
        self._sent_us = 0
        self._heard = bytearray()
        self._heard_us = 0
        self._last_key: bytes | None = None  # of the latest poll to the machine; None: synchronise first
        self._real_time = False

    # --- The four verbs --------------------------------------------------------------------------------

    def send(self, now_us: int, request: Request) -> list[Write]:
        """Queue a request; return what to write now (nothing while another waits for its answer).

        Raises EncodeError if the values do not fit the table.
        """
        self._encode(request)
        self._queue.append(request)
        return self._start(now_us) if self._asked is None else []

    def receive(self, now_us: int, data: bytes) -> list[HostEvent]:
        """Take bytes from the machine; return what they mean, and what to write next."""
        if self._asked is None:
            return [Chirp(byte) for byte in data if 0 < byte < SYNC_POLL]
        if not data:
            return []
        self._heard += data
        self._heard_us = now_us
        return self._judge(now_us, is_over=False)

    def tick(self, now_us: int) -> list[HostEvent]:
        """Do what is due: end an answer, repeat a poll, give up."""
        due_us = self.next_deadline_us()
        if due_us is None or now_us < due_us:
            return []
        return self._judge(now_us, is_over=True)

    def next_deadline_us(self) -> int | None:
        """When ``tick`` must be called; None if nothing is awaited."""
        if self._asked is None:
            return None
        if not self._heard:
            return self._sent_us + self._rules.answer_us
        quiet_us = self._heard_us + self._rules.quiet_us
        # A lone address byte is an ACK only where an ACK is possible; else it is the start of late data.
        return quiet_us if self._may_be_whole() else max(quiet_us, self._sent_us + self._rules.answer_us)

    # --- State -----------------------------------------------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is awaited."""
        return self._asked is not None

    @property
    def is_real_time(self) -> bool:
        """Whether the machine acknowledged real-time reporting."""
        return self._real_time

    # --- Sending ---------------------------------------------------------------------------------------

    def _encode(self, request: Request) -> bytes:
        """The bytes of a request."""
        match request:
            case GeneralPoll():
                return bytes((general_poll(self._address),))
            case RawRequest(frame):
                return frame
            case LongPollRequest(poll, values, data, is_broadcast):
                address = 0 if is_broadcast else self._address
                if data is None:
                    return encode_request(poll, address, values)
                head = bytes((address, poll.code))
                if poll.is_read:
                    return head + data
                return append_crc(head + (bytes((len(data),)) if poll.request_prefixed else b"") + data)

    def _start(self, now_us: int) -> list[Write]:
        """Begin the next request of the queue, behind a sync poll where it is needed."""
        writes: list[Write] = []
        while self._queue and self._asked is None:
            request = self._queue.popleft()
            frame = self._encode(request)
            key = frame[:5] if frame[1:2] == bytes((MULTI_DENOMINATION.code,)) else frame[:2]
            if self._last_key is None or self._last_key == key:
                writes.append(Write(bytes((SYNC_POLL,)), wakeup=True))
            self._last_key = key
            writes += self._write(frame)
            if frame[:1] == b"\x00":
                continue  # nobody answers a broadcast
            self._asked, self._frame = request, frame
            self._sends, self._interruptions = 1, 0
            self._sent_us = now_us
            self._heard.clear()
        return writes

    def _write(self, frame: bytes) -> list[Write]:
        """A message as writes: its first byte marked, the rest not."""
        first = Write(frame[:1], wakeup=True)
        return [first, Write(frame[1:], wakeup=False)] if len(frame) > 1 else [first]

    def _again(self, now_us: int) -> list[HostEvent]:
        """Send the waiting request once more."""
        self._sent_us = now_us
        self._heard.clear()
        return list(self._write(self._frame))

    def _done(self, now_us: int, *events: HostEvent) -> list[HostEvent]:
        """The request is over: report, and go on with the queue."""
        self._asked = None
        self._heard.clear()
        return [*events, *self._start(now_us)]

    # --- Answers ---------------------------------------------------------------------------------------

    def _judge(self, now_us: int, *, is_over: bool) -> list[HostEvent]:
        """Look at what was heard so far. ``is_over``: no more bytes will come."""
        request = self._asked
        if request is None:
            return []
        reason: Reason | None = None
        if self._heard:
            try:
                event = self._understand(request, bytes(self._heard), is_over)
            except DecodeError as error:
                if not is_over:
                    return []  # let the broken answer run out before asking again
                reason = error.reason
            else:
                return [] if event is None else self._react(now_us, request, event)
        if self._sends < self._rules.sends_max:
            self._sends += 1
            return self._again(now_us)
        # The machine may take the next poll for an acknowledgement or a repeat: synchronise first.
        self._last_key = None
        return self._done(now_us, Unanswered(request, self._sends, reason))

    def _react(self, now_us: int, request: Request, event: HostEvent) -> list[HostEvent]:
        """Take an understood answer."""
        if isinstance(event, Acked) and self._frame[1] == ENABLE_REAL_TIME_EVENTS.code:
            self._real_time = self._frame[2] == 1
        is_interruption = isinstance(event, NoticeReceived) or (
            isinstance(event, Answered) and event.poll is VERIFY_SIGNATURE
        )
        if not is_interruption or isinstance(request, GeneralPoll):
            return self._done(now_us, event)
        # 4.1: the long poll was not executed. Acknowledge the event, then ask again.
        self._interruptions += 1
        if self._interruptions > self._rules.interruptions_max:
            return self._done(now_us, event, Unanswered(request, self._sends, None))
        self._sends = 1
        return [event, Write(bytes((SYNC_POLL,)), wakeup=True), *self._again(now_us)]

    def _may_be_whole(self) -> bool:
        """Whether what was heard could be a whole answer if nothing follows."""
        if len(self._heard) > 1 or self._heard[0] != self._address:
            return True
        match self._asked:
            case LongPollRequest(poll):
                return poll.response_size in (Size.NONE, Size.UNKNOWN) or poll is VERIFY_SIGNATURE
            case _:
                return True

    def _understand(self, request: Request, heard: bytes, is_over: bool) -> HostEvent | None:
        """What the bytes mean; None: more are needed. Raises DecodeError."""
        if len(heard) > 1 and heard[0] == self._address:
            if heard[1] == EVENT:
                return self._event(heard, is_over)
            if heard[1] == VERIFY_SIGNATURE.code and len(heard) >= 6:
                values = decode_answer(VERIFY_SIGNATURE, self._address, heard[:6])
                return Answered(request, VERIFY_SIGNATURE, values, heard[:6])
        if isinstance(request, GeneralPoll):
            return self._general_answer(heard, is_over)
        if heard[0] == general_poll(self._address):
            return Nacked(request)
        if heard[0] != self._address:
            raise DecodeError(Reason.WRONG_ADDRESS, 0, heard)
        if len(heard) == 1:
            if not is_over:
                return None
            if not self._may_be_whole():
                raise DecodeError(Reason.TOO_SHORT, 1, heard)
            return Acked(request)
        if heard[1] == 0:
            return WasBusy(request)
        return self._data_answer(request, heard, is_over)

    def _general_answer(self, heard: bytes, is_over: bool) -> HostEvent | None:
        """One notice code; the machine's own address may be the start of an event frame."""
        if heard[0] == self._address and not is_over and len(heard) < 6:
            return None
        kind = NOTICES_603.get(heard[0])
        if kind is None:
            raise DecodeError(Reason.BAD_VALUE, 0, heard)
        return NoticeReceived(kind.code, kind, (), heard[:1])

    def _event(self, heard: bytes, is_over: bool) -> HostEvent | None:
        """A real-time event frame, whose length its code tells."""
        kind = NOTICES_603.get(heard[2]) if len(heard) > 2 else None
        size = len(heard) if kind is None else 5 + (total_size(kind.fields) or 0)
        if len(heard) < size or kind is None:
            if not is_over:
                return None
            raise DecodeError(Reason.TOO_SHORT if kind or len(heard) < 3 else Reason.BAD_VALUE, 2, heard)
        found, facts = decode_event(NOTICES_603, self._address, heard[:size])
        return NoticeReceived(found.code, found, facts, heard[:size])

    def _data_answer(self, request: Request, heard: bytes, is_over: bool) -> HostEvent | None:
        """A data answer: as long as the table says, or until quiet if it does not."""
        poll = request.poll if isinstance(request, LongPollRequest) else self._table.get(self._frame[1])
        if heard[1] != self._frame[1]:
            raise DecodeError(Reason.WRONG_COMMAND, 1, heard)
        size: int | None = None
        if poll is not None and isinstance(poll.response_size, int):
            size = poll.response_size
        elif poll is not None and poll.response_size is Size.PREFIXED and len(heard) > 2:
            size = 5 + heard[2]
        if size is None or len(heard) < size:
            if not is_over:
                return None
            if size is not None or len(heard) < 4:
                raise DecodeError(Reason.TOO_SHORT, len(heard), heard)
        frame = heard[:size]
        if poll is not None and poll.response is not None and size is not None:
            return Answered(request, poll, decode_answer(poll, self._address, frame), frame)
        if not has_good_crc(frame):
            raise DecodeError(Reason.BAD_CRC, len(frame) - 2, frame)
        return Answered(request, poll, {"data": frame[2:-2]}, frame)
