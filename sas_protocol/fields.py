"""The kinds of field that SAS messages are made of, with one encoder and one decoder for all.

A message body is a tuple of fields. Each field takes what it needs from a mapping of values by name and
writes bytes, or reads bytes and puts values into a mapping. Lengths, CRC and address are not fields; they
belong to ``frames``. Source: SAS reference 1 (data types).
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sas_protocol.errors import DecodeError, EncodeError, Reason

Values = dict[str, Any]
"""Decoded fields by name: int, str, bytes, date, time, or a tuple of such (or of nested mappings)."""


class Field(Protocol):
    """One or more neighbouring values of a message body."""

    @property
    def size(self) -> int | None:
        """Size on the wire in bytes; None if it varies."""

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """Return the bytes for the values this field names. Raises EncodeError."""

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """Read from ``data[at:end]``, put values ``into``, return the next offset. Raises DecodeError."""


def encode_fields(fields: tuple[Field, ...], values: Mapping[str, Any]) -> bytes:
    """Encode a whole body. Raises EncodeError if a value is missing or out of range."""
    return b"".join([each.encode(values) for each in fields])


def decode_fields(fields: tuple[Field, ...], data: bytes, at: int = 0, end: int | None = None) -> Values:
    """Decode ``data[at:end]`` as exactly these fields. Raises DecodeError, also if bytes are left over."""
    stop = len(data) if end is None else end
    into: Values = {}
    for each in fields:
        at = each.decode(data, at, stop, into)
    if at != stop:
        raise DecodeError(Reason.TRAILING, at, data)
    return into


def total_size(fields: tuple[Field, ...]) -> int | None:
    """Size of a body in bytes, or None if any field varies."""
    total = 0
    for each in fields:
        if each.size is None:
            return None
        total += each.size
    return total


def _integer(values: Mapping[str, Any], name: str, limit: int) -> int:
    """Fetch an integer 0..limit-1 or raise EncodeError."""
    value = values.get(name)
    if not isinstance(value, int) or not 0 <= value < limit:
        raise EncodeError(f"{name} must be an integer from 0 to {limit - 1}, not {value!r}")
    return value


def _text(values: Mapping[str, Any], name: str, limit: int) -> bytes:
    """Fetch a 7-bit text of at most ``limit`` characters or raise EncodeError."""
    value = values.get(name)
    if not isinstance(value, str) or not value.isascii() or len(value) > limit:
        raise EncodeError(f"{name} must be ASCII text of at most {limit} characters, not {value!r}")
    return value.encode("ascii")


def _decode_text(data: bytes, at: int, stop: int) -> str:
    """Decode ``data[at:stop]`` as ASCII or raise DecodeError at the first byte above 7F."""
    try:
        return data[at:stop].decode("ascii")
    except UnicodeDecodeError as error:
        raise DecodeError(Reason.BAD_TEXT, at + error.start, data) from error


def _need(data: bytes, at: int, size: int, end: int) -> int:
    """Return ``at + size`` or raise DecodeError if the data ends before."""
    stop = at + size
    if stop > end:
        raise DecodeError(Reason.TOO_SHORT, end, data)
    return stop


def encode_bcd(value: int, size: int) -> bytes:
    """Pack ``value`` (0 .. 10^(2*size)-1) into ``size`` bytes, most significant digits first."""
    return bytes.fromhex(f"{value:0{2 * size}d}")


def decode_bcd(data: bytes, at: int, size: int) -> int:
    """Unpack ``size`` bytes of packed BCD. Raises DecodeError on a nibble A..F."""
    try:
        return int(data[at : at + size].hex())
    except ValueError as error:
        # The hexadecimal text of BCD is its decimal text; a letter in it betrays the bad byte.
        bad = next(i for i in range(at, at + size) if data[i] > 0x99 or data[i] & 15 > 9)
        raise DecodeError(Reason.BAD_BCD, bad, data) from error


@dataclass(frozen=True, slots=True)
class Bcd:
    """Packed BCD, two digits a byte, most significant first. Value: int 0..10^(2*size)-1."""

    name: str
    size: int = 4

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        return encode_bcd(_integer(values, self.name, 100**self.size), self.size)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = _need(data, at, self.size, end)
        into[self.name] = decode_bcd(data, at, self.size)
        return stop


@dataclass(frozen=True, slots=True)
class Binary:
    """Unsigned integer, least significant byte first.

    ``allowed``: the values that exist; anything else is BAD_VALUE. None: all.
    """

    name: str
    size: int = 1
    allowed: frozenset[int] | None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        value = _integer(values, self.name, 1 << (8 * self.size))
        if self.allowed is not None and value not in self.allowed:
            raise EncodeError(f"{self.name} must be one of {sorted(self.allowed)}, not {value}")
        return value.to_bytes(self.size, "little")

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = _need(data, at, self.size, end)
        value = int.from_bytes(data[at:stop], "little")
        if self.allowed is not None and value not in self.allowed:
            raise DecodeError(Reason.BAD_VALUE, at, data)
        into[self.name] = value
        return stop


@dataclass(frozen=True, slots=True)
class Ascii:
    """Text of exactly ``size`` characters, first character first."""

    name: str
    size: int

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        text = _text(values, self.name, self.size)
        if len(text) != self.size:
            raise EncodeError(f"{self.name} must have exactly {self.size} characters, not {len(text)}")
        return text

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = _need(data, at, self.size, end)
        into[self.name] = _decode_text(data, at, stop)
        return stop


@dataclass(frozen=True, slots=True)
class Text:
    """A length byte (0..limit) and that many ASCII characters."""

    name: str
    limit: int
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        text = _text(values, self.name, self.limit)
        return bytes([len(text)]) + text

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        start = _need(data, at, 1, end)
        if data[at] > self.limit:
            raise DecodeError(Reason.BAD_LENGTH, at, data)
        stop = _need(data, start, data[at], end)
        into[self.name] = _decode_text(data, start, stop)
        return stop


@dataclass(frozen=True, slots=True)
class RestText:
    """ASCII text up to the end of the body, at most ``limit`` characters."""

    name: str
    limit: int
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        return _text(values, self.name, self.limit)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        if end - at > self.limit:
            raise DecodeError(Reason.BAD_TEXT, at + self.limit, data)
        into[self.name] = _decode_text(data, at, end)
        return end


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are: exactly ``size``, or up to the end of the body if ``size`` is None."""

    name: str
    size: int | None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        value = values.get(self.name)
        if not isinstance(value, bytes) or self.size not in (None, len(value)):
            raise EncodeError(f"{self.name} must be {self.size or 'any number of'} bytes, not {value!r}")
        return value

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = end if self.size is None else _need(data, at, self.size, end)
        into[self.name] = data[at:stop]
        return stop


@dataclass(frozen=True, slots=True)
class Reserved:
    """``size`` bytes sent as 00 and not looked at when received."""

    size: int

    def encode(self, values: Mapping[str, Any]) -> bytes:  # noqa: ARG002 - there is nothing to take
        """See Field."""
        return bytes(self.size)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:  # noqa: ARG002
        """See Field."""
        return _need(data, at, self.size, end)


@dataclass(frozen=True, slots=True)
class Date:
    """4 BCD ``MMDDYYYY``. Value: ``datetime.date``."""

    name: str
    size: int = 4

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        value = values.get(self.name)
        if not isinstance(value, datetime.date):
            raise EncodeError(f"{self.name} must be a date, not {value!r}")
        return encode_bcd(value.month * 1_000_000 + value.day * 10_000 + value.year, 4)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = _need(data, at, 4, end)
        month, day, year = (decode_bcd(data, at, 1), decode_bcd(data, at + 1, 1), decode_bcd(data, at + 2, 2))
        try:
            into[self.name] = datetime.date(year, month, day)
        except ValueError as error:
            raise DecodeError(Reason.BAD_VALUE, at, data) from error
        return stop


@dataclass(frozen=True, slots=True)
class Time:
    """3 BCD ``HHMMSS``, 24 hours. Value: ``datetime.time``."""

    name: str
    size: int = 3

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        value = values.get(self.name)
        if not isinstance(value, datetime.time):
            raise EncodeError(f"{self.name} must be a time, not {value!r}")
        return encode_bcd(value.hour * 10_000 + value.minute * 100 + value.second, 3)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        stop = _need(data, at, 3, end)
        hour, minute, second = (decode_bcd(data, at + i, 1) for i in range(3))
        try:
            into[self.name] = datetime.time(hour, minute, second)
        except ValueError as error:
            raise DecodeError(Reason.BAD_VALUE, at, data) from error
        return stop


@dataclass(frozen=True, slots=True)
class Optional:
    """Fields at the end of a body that are either all there or all absent (also absent from the values)."""

    fields: tuple[Field, ...]
    first: str
    """Name of a value whose presence means that all are to be sent."""
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        return encode_fields(self.fields, values) if self.first in values else b""

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        if at == end:
            return at
        for each in self.fields:
            at = each.decode(data, at, end, into)
        return at


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same item again and again: ``least`` .. ``most`` times.

    Value: a tuple; of plain values if the item is one field of a name, else of mappings.
    ``counted``: a count byte goes before; otherwise the items fill the body to its end.
    """

    name: str
    item: tuple[Field, ...]
    least: int = 0
    most: int = 255
    counted: bool = False
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        items = values.get(self.name)
        if not isinstance(items, tuple | list) or not self.least <= len(items) <= self.most:
            raise EncodeError(f"{self.name} must be {self.least}..{self.most} items, not {items!r}")
        plain = self._plain_name()
        parts = [encode_fields(self.item, each if plain is None else {plain: each}) for each in items]
        return (bytes([len(items)]) if self.counted else b"") + b"".join(parts)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        start, left = at, self.most
        if self.counted:
            at = _need(data, at, 1, end)
            left = data[start]
        plain = self._plain_name()
        found: list[Any] = []
        while left > 0 and (self.counted or at < end):
            values: Values = {}
            for each in self.item:
                at = each.decode(data, at, end, values)
            found.append(values if plain is None else values[plain])
            left -= 1
        if not self.least <= len(found) <= self.most:
            raise DecodeError(Reason.BAD_LENGTH, start, data)
        into[self.name] = tuple(found)
        return at

    def _plain_name(self) -> str | None:
        """Name of the only field of the item, or None if the item is a group."""
        if len(self.item) == 1 and hasattr(self.item[0], "name"):
            name: str = self.item[0].name
            return name
        return None


@dataclass(frozen=True, slots=True)
class KnownSizeMeters:
    """LP 2F answer: each meter's code (1 byte) and its value in the meter table's size (12.3).

    Value: a tuple of ``(code, value)``. ``sizes``: code -> size in bytes; a code that is missing there
    cannot be skipped and is BAD_VALUE.
    """

    name: str
    sizes: Mapping[int, int] = field(hash=False)
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        parts = []
        for code, value in values.get(self.name, ()):
            if code not in self.sizes:
                raise EncodeError(f"there is no meter {code!r}")
            size = self.sizes[code]
            parts.append(bytes([code]) + encode_bcd(_integer({"value": value}, "value", 100**size), size))
        return b"".join(parts)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        found = []
        while at < end:
            size = self.sizes.get(data[at])
            if size is None:
                raise DecodeError(Reason.BAD_VALUE, at, data)
            stop = _need(data, at + 1, size, end)
            found.append((data[at], decode_bcd(data, at + 1, size)))
            at = stop
        into[self.name] = tuple(found)
        return at


@dataclass(frozen=True, slots=True)
class SizedMeters:
    """LP 6F/AF answer: for each meter its code (2 bytes, LSB first), a size 0..9 and a value of that size.

    Value: a tuple of ``(code, size, value)``; size 0 means that the machine lacks the meter (value None).
    """

    name: str
    size: None = None

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """See Field."""
        parts = []
        for code, size, value in values.get(self.name, ()):
            head = _integer({"code": code}, "code", 1 << 16).to_bytes(2, "little")
            if not 0 <= size <= 9:
                raise EncodeError(f"the size of meter {code:04X} must be 0..9, not {size}")
            body = b"" if size == 0 else encode_bcd(_integer({"value": value}, "value", 100**size), size)
            parts.append(head + bytes([size]) + body)
        return b"".join(parts)

    def decode(self, data: bytes, at: int, end: int, into: Values) -> int:
        """See Field."""
        found: list[tuple[int, int, int | None]] = []
        while at < end:
            start = _need(data, at, 3, end)
            code, size = data[at] | data[at + 1] << 8, data[at + 2]
            if size > 9:
                raise DecodeError(Reason.BAD_LENGTH, at + 2, data)
            stop = _need(data, start, size, end)
            found.append((code, size, decode_bcd(data, start, size) if size else None))
            at = stop
        into[self.name] = tuple(found)
        return at
