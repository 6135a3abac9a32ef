"""SAS messages in words: which poll a host sent, what the answer to it says. For people and for JSON.

Pure. A machine's answer cannot be read without the message before it: one byte is a notice after a general
poll, an acknowledgement after a long poll.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sas_protocol.crc import append_crc
from sas_protocol.errors import DecodeError, EncodeError
from sas_protocol.frames import EVENT, SYNC_POLL, decode_answer, decode_event, decode_request
from sas_protocol.longpolls import V603, LongPoll
from sas_protocol.longpolls.meters import SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN
from sas_protocol.meters import METERS_603
from sas_protocol.notices import NOTICES_603

Kind = Literal[
    "sync_poll", "general_poll", "long_poll",
    "notice", "event", "answer", "ack", "nack", "busy", "unreadable",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message says.

    Attributes:
        kind: of message; the first three are a host's, the others a machine's.
        address: 0..127, None where the message does not tell (a notice).
        name: of the poll or notice, "" where there is none.
        code: command or notice code, None where there is none.
        fields: by name, ready for JSON.
        problem: why it is unreadable, or what is doubtful; "" if nothing is.
    """

    kind: Kind
    address: int | None = None
    name: str = ""
    code: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the reading for machines."""
        return {
            "kind": self.kind,
            "address": self.address,
            "name": self.name,
            "code": None if self.code is None else f"{self.code:02X}",
            "fields": dict(self.fields),
            "problem": self.problem,
        }

    def as_text(self) -> str:
        """Return the reading as one line."""
        words = [self.kind.replace("_", " ")]
        if self.kind in ("general_poll", "long_poll"):
            words.append("to all" if self.address == 0 else f"to {self.address}")
        if self.code is not None:
            words.append(f"{self.code:02X}")
        if self.name:
            words.append(self.name)
        words += [f"{name}={_short(value)}" for name, value in self.fields.items()]
        if self.problem:
            words.append(f"({self.problem})")
        return " ".join(words)


def read_host(frame: bytes) -> Reading:
    """Read one whole message of a host: general, sync or long poll."""
    if not frame:
        return Reading("unreadable", problem="no bytes")
    if len(frame) == 1:
        if frame[0] == SYNC_POLL:
            return Reading("sync_poll")
        if frame[0] > SYNC_POLL:
            return Reading("general_poll", frame[0] & 0x7F)
        return Reading("unreadable", frame[0], problem="an address without a command")
    if frame[0] >= SYNC_POLL:
        return Reading("unreadable", problem="a general poll is one byte")
    poll = V603.get(frame[1])
    name = poll.name if poll else ""
    try:
        _, values = decode_request(V603, frame)
    except DecodeError as error:
        return Reading("unreadable", frame[0], name, frame[1], problem=_words(error))
    return Reading("long_poll", frame[0], name, frame[1], readable(values))


def read_machine(asked: bytes, frame: bytes) -> Reading:
    """Read one whole answer of a machine to the host's message ``asked`` (a general or a long poll)."""
    if not asked or not frame:
        return Reading("unreadable", problem="no bytes" if asked else "nobody asked")
    address = asked[0] & 0x7F
    if len(frame) > 2 and frame[0] == address and frame[1] == EVENT:
        return _event(address, frame)
    if len(asked) == 1:
        return _notice(address, frame)
    fixed: dict[bytes, Kind] = {
        bytes((address,)): "ack", bytes((0x80 | address,)): "nack", bytes((address, 0)): "busy",
    }  # fmt: skip
    if frame in fixed:
        return Reading(fixed[frame], address, _poll_name(asked[1]), asked[1])
    poll = V603.get(asked[1])
    if poll is None:
        return Reading("unreadable", address, code=asked[1], problem="the poll is not in the table")
    try:
        values = decode_answer(poll, address, frame)
    except DecodeError as error:
        return Reading("unreadable", address, poll.name, poll.code, problem=_words(error))
    return Reading("answer", address, poll.name, poll.code, readable(values))


def _event(address: int, frame: bytes) -> Reading:
    try:
        kind, facts = decode_event(NOTICES_603, address, frame)
    except DecodeError as error:
        return Reading("unreadable", address, code=frame[2], problem=_words(error))
    names = [getattr(each, "name", "") for each in kind.fields]
    return Reading("event", address, kind.name, kind.code, dict(zip(names, facts, strict=True)))


def _notice(address: int, frame: bytes) -> Reading:
    if len(frame) > 1:
        return Reading("unreadable", address, problem="a notice is one byte, an event has a CRC")
    kind = NOTICES_603.get(frame[0])
    if kind is None:
        return Reading("notice", address, code=frame[0], problem="no such notice")
    return Reading("notice", address, kind.name, kind.code)


def _poll_name(code: int) -> str:
    poll = V603.get(code)
    return poll.name if poll else ""


def request_from_hex(address: int, words: list[str]) -> bytes:
    """Return the long poll that a person wrote as a command and data in hexadecimal, without CRC.

    ``6F 0000A000`` is command 6F with game 0000 and meter 00A0. A length byte is put in where the poll has
    one, and the CRC is computed; the high byte 00 of a last meter code may be left out (``6F 0000A0``). Any
    command may be sent, in the table or not, with data that make sense or not.

    Raises:
        ValueError: not hexadecimal, nothing at all, or data for a poll that takes none.
    """
    try:
        written = bytes.fromhex("".join(words))
        command, data = written[0], written[1:]
    except (ValueError, IndexError):
        problem = f"{' '.join(words)!r} is not a command and data in hexadecimal, such as 6F 0000A0"
        raise ValueError(problem) from None
    poll = V603.get(command)
    if poll is None:
        return append_crc(bytes((address, command)) + data)
    if poll.is_read:
        if data:
            raise ValueError(f"{command:02X} {poll.name} takes no data")
        return bytes((address, command))
    frame = _framed(poll, address, data)
    if poll in (SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN) and not _fits(frame):
        with_high_byte = _framed(poll, address, data + b"\x00")
        return with_high_byte if _fits(with_high_byte) else frame
    return frame


def _framed(poll: LongPoll, address: int, data: bytes) -> bytes:
    return append_crc(bytes((address, poll.code)) + _with_length(poll, data))


def _fits(frame: bytes) -> bool:
    """Whether the data are what the table declares."""
    try:
        decode_request(V603, frame)
    except DecodeError:
        return False
    return True


def _with_length(poll: LongPoll, data: bytes) -> bytes:
    if not poll.request_prefixed:
        return data
    if len(data) > 0xFF:
        raise ValueError(f"{len(data)} data bytes do not fit a length byte")
    return bytes((len(data),)) + data


def readable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return decoded fields for JSON; meters of 2F, 6F and AF by name."""
    return {
        name: _readable_meters(value) if name == "meters" else _plain(value) for name, value in values.items()
    }


def _readable_meters(items: tuple[Any, ...]) -> Any:
    """``(code, …, value)`` of an answer becomes name -> value, the codes of a request a list of names."""
    if items and isinstance(items[0], int):
        return [_meter_name(code) for code in items]
    return {_meter_name(item[0]): item[-1] for item in items}


def _meter_name(code: int) -> str:
    meter = METERS_603.get(code)
    return meter.name if meter else f"meter_{code:04X}"


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex().upper()
        case datetime.date() | datetime.time():
            return value.isoformat()
        case tuple() | list():
            return [_plain(each) for each in value]
        case Mapping():
            return {key: _plain(each) for key, each in value.items()}
    return value


def _short(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key}={_short(each)}" for key, each in value.items()) + "}"
        case None:
            return "none"
    return str(value)


def _words(error: DecodeError | EncodeError) -> str:
    return error.reason.value.replace("_", " ") if isinstance(error, DecodeError) else str(error)


@dataclass(slots=True)
class Listener:
    """Read a recorded conversation message by message, remembering what was last asked."""

    asked: bytes = b""
    is_answered: bool = False

    def hear(self, frame: bytes, sender: Literal["host", "machine", ""]) -> Reading:
        """Read one message; ``sender`` "" leaves it to what the bytes can mean after the message before."""
        if sender == "machine" or (not sender and self._is_answer(frame)):
            self.is_answered = True
            return read_machine(self.asked, frame)
        self.asked, self.is_answered = frame, False
        return read_host(frame)

    def _is_answer(self, frame: bytes) -> bool:
        """After a poll comes one answer; after sync polls and broadcasts none."""
        if self.is_answered or not self.asked or self.asked[0] in (0, SYNC_POLL):
            return False
        answer = read_machine(self.asked, frame)
        if answer.kind != "unreadable" and not answer.problem:
            # The same bytes again are more often a host that got no answer.
            return frame != self.asked or answer.kind == "answer"
        return read_host(frame).kind == "unreadable"
