"""Whole SAS messages: address, command, length byte, fields, CRC. SAS reference 4, 8.

Pure functions over the poll table; when to send what is for the two ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sas_protocol.crc import append_crc, has_good_crc
from sas_protocol.errors import DecodeError, EncodeError, Reason
from sas_protocol.fields import Field, Values, decode_fields, encode_fields
from sas_protocol.longpolls.poll import LongPoll, Size
from sas_protocol.notices import NoticeKind, encode_facts

SYNC_POLL: Final = 0x80
"""General poll to address 0, which no machine has: synchronises the line."""
EVENT: Final = 0xFF
"""Stands in place of the command in a real-time event frame."""
LENGTH_MAX: Final = 255
"""A length byte counts at most this many bytes after itself."""


def general_poll(address: int) -> int:
    """The one byte that polls machine ``address`` (1..127)."""
    return 0x80 | address


def ack(address: int) -> bytes:
    """Command accepted."""
    return bytes([address])


def nack(address: int) -> bytes:
    """CRC or field wrong, or impossible for this machine."""
    return bytes([0x80 | address])


def busy(address: int) -> bytes:
    """Valid, but not now."""
    return bytes([address, 0])


def request_length(table: Mapping[int, LongPoll], start: bytes | bytearray) -> int | None:
    """Total length of the long poll that begins with ``start`` (address, command, ...).

    Returns 0 if more bytes are needed to tell, None if nobody can tell (command not in the table, or its
    length is not public).
    """
    if len(start) < 2:
        return 0
    poll = table.get(start[1])
    if poll is None or poll.request_size is Size.UNKNOWN:
        return None
    if isinstance(poll.request_size, int):
        return poll.request_size
    return 5 + start[2] if len(start) > 2 else 0


def _body(fields: tuple[Field, ...] | None, prefixed: bool, values: Mapping[str, Any], code: int) -> bytes:
    """Encode the fields of one direction, with their length byte if they have one."""
    if fields is None:
        raise EncodeError(f"the layout of long poll {code:02X} is not declared")
    body = encode_fields(fields, values)
    if not prefixed:
        return body
    if len(body) > LENGTH_MAX:
        raise EncodeError(f"{len(body)} bytes do not fit a length byte")
    return bytes([len(body)]) + body


def encode_request(poll: LongPoll, address: int, values: Mapping[str, Any] | None = None) -> bytes:
    """Return the whole long poll. ``address`` 0 broadcasts. Raises EncodeError."""
    frame = bytes([address, poll.code])
    if poll.is_read:
        return frame
    return append_crc(frame + _body(poll.request, poll.request_prefixed, values or {}, poll.code))


def encode_answer_body(poll: LongPoll, values: Mapping[str, Any]) -> bytes:
    """Return the data answer without address, command and CRC. Raises EncodeError."""
    return _body(poll.response, poll.response_prefixed, values, poll.code)


def encode_answer(poll: LongPoll, address: int, values: Mapping[str, Any]) -> bytes:
    """Return the whole data answer. Raises EncodeError."""
    return append_crc(bytes([address, poll.code]) + encode_answer_body(poll, values))


def _fields_of(frame: bytes, fields: tuple[Field, ...] | None, prefixed: bool, tail: int) -> Values:
    """Decode what lies between command and the last ``tail`` bytes."""
    if fields is None:
        raise DecodeError(Reason.NO_LAYOUT, 1, frame)
    end = len(frame) - tail
    start = 2
    if prefixed:
        if end < 3:
            raise DecodeError(Reason.TOO_SHORT, len(frame), frame)
        if frame[2] != end - 3:
            raise DecodeError(Reason.BAD_LENGTH, 2, frame)
        start = 3
    elif end < start:
        raise DecodeError(Reason.TOO_SHORT, len(frame), frame)
    return decode_fields(fields, frame, start, end)


def decode_request_fields(poll: LongPoll, frame: bytes) -> Values:
    """Decode a request whose CRC is known to be good. Raises DecodeError."""
    return _fields_of(frame, poll.request, poll.request_prefixed, 0 if poll.is_read else 2)


def decode_request(table: Mapping[int, LongPoll], frame: bytes) -> tuple[LongPoll, Values]:
    """Check and decode a whole long poll of any machine. Raises DecodeError."""
    if len(frame) < 2:
        raise DecodeError(Reason.TOO_SHORT, len(frame), frame)
    poll = table.get(frame[1])
    if poll is None:
        raise DecodeError(Reason.UNKNOWN_COMMAND, 1, frame)
    if not poll.is_read and not has_good_crc(frame):
        raise DecodeError(Reason.BAD_CRC, max(0, len(frame) - 2), frame)
    return poll, decode_request_fields(poll, frame)


def decode_answer(poll: LongPoll, address: int, frame: bytes) -> Values:
    """Check and decode a whole data answer. Raises DecodeError."""
    if len(frame) < 4:
        raise DecodeError(Reason.TOO_SHORT, len(frame), frame)
    if frame[0] != address:
        raise DecodeError(Reason.WRONG_ADDRESS, 0, frame)
    if frame[1] != poll.code:
        raise DecodeError(Reason.WRONG_COMMAND, 1, frame)
    if not has_good_crc(frame):
        raise DecodeError(Reason.BAD_CRC, len(frame) - 2, frame)
    return _fields_of(frame, poll.response, poll.response_prefixed, 2)


def encode_event(address: int, kind: NoticeKind, facts: tuple[int, ...] = ()) -> bytes:
    """Return the real-time event frame of a notice (reference 8). Raises EncodeError."""
    return append_crc(bytes([address, EVENT, kind.code]) + encode_facts(kind, facts))


def decode_event(
    kinds: Mapping[int, NoticeKind], address: int, frame: bytes
) -> tuple[NoticeKind, tuple[int, ...]]:
    """Check and decode a real-time event frame. Returns its row and facts. Raises DecodeError."""
    if len(frame) < 5:
        raise DecodeError(Reason.TOO_SHORT, len(frame), frame)
    if frame[0] != address:
        raise DecodeError(Reason.WRONG_ADDRESS, 0, frame)
    if frame[1] != EVENT:
        raise DecodeError(Reason.WRONG_COMMAND, 1, frame)
    if not has_good_crc(frame):
        raise DecodeError(Reason.BAD_CRC, len(frame) - 2, frame)
    kind = kinds.get(frame[2])
    if kind is None:
        raise DecodeError(Reason.BAD_VALUE, 2, frame)
    values = decode_fields(kind.fields, frame, 3, len(frame) - 2)
    return kind, tuple(values.values())
