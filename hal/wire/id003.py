"""ID-003, the wire of JCM note acceptors: frames, tables of codes, identification texts.

Pure: bytes in, values out. When to poll, what a status means for money and how to recover are the driver's
part; how a device behaves is the twin's. Source: id003.md (sections named below). Values marked (1 src) there
were seen in one independent source only, (?) are inferred; both marks are repeated at the entry they concern.

Line: 9600 8E1, one host, one acceptor. Frame (id003.md 2)::

    SYNC  LEN  CODE  DATA...  CRC low  CRC high
    FC    n    1     n-5      2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import crcmod

from hal.wire.errors import DecodeError, Reason

SYNC: Final = 0xFC
FRAME_SIZE_MIN: Final = 5
FRAME_SIZE_MAX: Final = 255
GAP_US: Final = 50_000
"""Silence inside a frame after which it is given up (id003.md 1: 20 ms in one source, 50 ms is safe)."""

_kermit = crcmod.mkCrcFun(0x11021, initCrc=0, rev=True, xorOut=0)


def crc(data: bytes) -> int:
    """CRC-16/KERMIT of ``data``: CRC of ``123456789`` is 0x2189 (id003.md 2)."""
    return _kermit(data)


# --- Codes ----------------------------------------------------------------------------------------


class Status(IntEnum):
    """What the acceptor says when it is polled (id003.md 4.1-4.3, 7)."""

    IDLING = 0x11
    ACCEPTING = 0x12
    ESCROW = 0x13  # + denomination code, or 6F and the text of a bar code
    STACKING = 0x14
    VEND_VALID = 0x15  # repeats until the host acknowledges
    STACKED = 0x16
    REJECTING = 0x17  # + reason
    RETURNING = 0x18
    HOLDING = 0x19
    INHIBITED = 0x1A
    INITIALIZE = 0x1B
    POWER_UP = 0x40
    POWER_UP_BILL_IN_ACCEPTOR = 0x41
    POWER_UP_BILL_IN_STACKER = 0x42
    STACKER_FULL = 0x43
    STACKER_OPEN = 0x44
    JAM_IN_ACCEPTOR = 0x45
    JAM_IN_STACKER = 0x46
    PAUSE = 0x47
    CHEATED = 0x48
    FAILURE = 0x49  # + failure code
    COMMUNICATION_ERROR = 0x4A
    SIGNATURE_BUSY = 0xDE  # (1 src)
    SIGNATURE_END = 0xDF  # (1 src) + signature bytes


ACK: Final = 0x50
"""The acceptor's answer to an operation command; from the host, its receipt for VEND VALID (no answer)."""
INVALID_COMMAND: Final = 0x4B
"""The acceptor's answer to a command that is unknown or impossible in its present state. Not a status."""


class Command(IntEnum):
    """Status request, operation, identification (id003.md 3.1, 3.2). The host's ACK is ``ACK``."""

    STATUS_REQUEST = 0x11
    RESET = 0x40
    STACK_1 = 0x41  # VEND VALID at the point of no return
    STACK_2 = 0x42  # VEND VALID when fully stacked
    RETURN = 0x43
    HOLD = 0x44
    WAIT = 0x45  # (?)
    VERSION = 0x88
    BOOT_VERSION = 0x89
    CURRENCY_ASSIGN = 0x8A
    PROGRAM_SIGNATURE = 0xDC  # (1 src)


OPERATIONS: Final = frozenset(range(Command.RESET, Command.WAIT + 1))
QUERIES: Final = frozenset({Command.VERSION, Command.BOOT_VERSION, Command.CURRENCY_ASSIGN})


class Setting(IntEnum):
    """Settings: the acceptor echoes code and data (id003.md 3.2)."""

    DENOMINATION = 0xC0  # bit n of byte 1: denomination n+1 disabled; byte 2: denominations 9-16
    SECURITY = 0xC1  # same bit order, 1: high-security check
    COMMUNICATION_MODE = 0xC2  # 00: polled
    INHIBIT = 0xC3  # bit 0: inhibited
    DIRECTION = 0xC4  # bits 0-3: refuse that way up
    OPTIONAL_FUNCTION = 0xC5
    BARCODE_FUNCTION = 0xC6  # (?) 01 = Interleaved 2 of 5, number of characters
    BARCODE_INHIBIT = 0xC7  # bit 0: currency refused, bit 1: tickets refused


GET_OFFSET: Final = 0x40
"""Difference between a setting's code and the code that asks for its value."""

SETTING_SIZES: Final[Mapping[int, int]] = {
    Setting.DENOMINATION: 2,
    Setting.SECURITY: 2,
    Setting.COMMUNICATION_MODE: 1,
    Setting.INHIBIT: 1,
    Setting.DIRECTION: 1,
    Setting.OPTIONAL_FUNCTION: 2,
    Setting.BARCODE_FUNCTION: 2,
    Setting.BARCODE_INHIBIT: 1,
}
"""Data bytes of each setting."""

SETTING_DEFAULTS: Final[Mapping[Setting, bytes]] = {
    Setting.DENOMINATION: bytes.fromhex("8200"),  # the US default: positions 2 and 8 do not exist
    Setting.SECURITY: bytes(2),
    Setting.COMMUNICATION_MODE: bytes(1),
    Setting.INHIBIT: bytes(1),
    Setting.DIRECTION: bytes(1),
    Setting.OPTIONAL_FUNCTION: bytes(2),
    Setting.BARCODE_FUNCTION: bytes.fromhex("0112"),  # Interleaved 2 of 5, 18 characters
    Setting.BARCODE_INHIBIT: bytes(1),
}
"""Usual values, in a prudent order of sending except that INHIBIT belongs last (id003.md 6.1)."""

TICKET: Final = 0x6F
"""First data byte of ESCROW for a bar-coded ticket."""

REJECT_REASONS: Final[Mapping[int, str]] = {
    0x71: "inserted_askew",
    0x72: "magnetic_pattern",
    0x73: "remains_at_head_sensors",
    0x74: "compensation",
    0x75: "transport",
    0x76: "denomination_undecided",
    0x77: "photo_pattern_1",
    0x78: "photo_level",
    0x79: "inhibited",  # or: no command came in answer to ESCROW
    0x7A: "reserved",
    0x7B: "operation",
    0x7C: "remains_in_transport",
    0x7D: "length",
    0x7E: "photo_pattern_2",
    0x7F: "true_bill_feature",  # (1 src)
    0x91: "barcode_function_not_set",  # (?) 91-96
    0x92: "barcode_unknown_format",
    0x93: "barcode_wrong_length",
    0x94: "barcode_start_pattern",
    0x95: "barcode_stop_pattern",
    0x96: "barcode_not_configured",
    0x98: "several_items",
    0x9B: "ticket_upside_down",
    0x9D: "ticket_length",  # (1 src)
}
"""Data of REJECTING -> a word (id003.md 4.4)."""

FAILURES: Final[Mapping[int, str]] = {
    0xA2: "stacker motor",
    0xA5: "transport speed",
    0xA6: "transport motor",
    0xA7: "aligning motor",
    0xA8: "solenoid",  # (1 src)
    0xA9: "pusher unit",  # (1 src)
    0xAB: "cash box not ready",
    0xAC: "optical sensor",
    0xAD: "magnetic sensor",
    0xAF: "validator head removed",
    0xB0: "boot ROM",
    0xB1: "external ROM",
    0xB2: "internal ROM",
    0xB3: "external ROM write",
}
"""Data of FAILURE -> the part (id003.md 4.5)."""


def reject_reason(data: bytes) -> str:
    """Return the word for the data of REJECTING: ``reason_XX`` if without one, ``unnamed`` if empty."""
    if not data:
        return "unnamed"
    return REJECT_REASONS.get(data[0], f"reason_{data[0]:02x}")


def failed_part(data: bytes) -> str:
    """Return words for the data of FAILURE."""
    if not data:
        return "unnamed part"
    return FAILURES.get(data[0], f"part {data[0]:02X}")


# --- Frames ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of either direction. ``code`` 0..255, ``data`` 0..250 bytes."""

    code: int
    data: bytes = b""


def encode(code: int, data: bytes = b"") -> bytes:
    """Return the whole frame. Raises ValueError if ``data`` is longer than 250 bytes."""
    size = FRAME_SIZE_MIN + len(data)
    if size > FRAME_SIZE_MAX:
        raise ValueError(f"{len(data)} data bytes do not fit into a frame")
    body = bytes((SYNC, size, code)) + data
    return body + crc(body).to_bytes(2, "little")


def decode(frame: bytes) -> Frame:
    """Read exactly one whole frame. Raises DecodeError: bad_start, bad_length, bad_crc."""
    if not frame or frame[0] != SYNC:
        raise DecodeError("bad_start", 0, frame)
    if len(frame) < FRAME_SIZE_MIN or frame[1] != len(frame):
        raise DecodeError("bad_length", 1, frame)
    if crc(frame[:-2]) != int.from_bytes(frame[-2:], "little"):
        raise DecodeError("bad_crc", len(frame) - 2, frame)
    return Frame(frame[2], frame[3:-2])


@dataclass(slots=True)
class Framer:
    """Cut a byte stream into frames; after anything wrong, look for the next SYNC inside what is there.

    A wrong start costs one byte, never the good frame behind it. A frame that stays incomplete for ``gap_us``
    is given up. ``errors`` counts what was refused, by reason.
    """

    gap_us: int = GAP_US
    errors: Counter[Reason] = field(default_factory=Counter)
    _buffer: bytearray = field(default_factory=bytearray)
    _heard_us: int = 0

    def receive(self, now_us: int, data: bytes) -> list[Frame]:
        """Take bytes that arrived by ``now_us`` (may be none) and return the frames they complete."""
        frames: list[Frame] = []
        if self._buffer and now_us - self._heard_us >= self.gap_us:
            self._give_up(frames)
        if data:
            self._heard_us = now_us
            self._buffer += data
            self._cut(frames)
        return frames

    @property
    def gap_due_us(self) -> int | None:
        """When the frame in progress will be given up; None if there is none."""
        return self._heard_us + self.gap_us if self._buffer else None

    def clear(self) -> None:
        """Forget the frame in progress."""
        self._buffer.clear()

    def _cut(self, frames: list[Frame]) -> None:
        """Move every complete frame out of the buffer; leave the beginning of one, or nothing."""
        buffer = self._buffer
        while buffer:
            start = buffer.find(SYNC)
            if start != 0:
                self.errors["bad_start"] += 1
                del buffer[: start if start > 0 else len(buffer)]
                continue
            if len(buffer) < 2:
                return
            size = buffer[1]
            if size < FRAME_SIZE_MIN:
                self.errors["bad_length"] += 1
                del buffer[0]
                continue
            if len(buffer) < size:
                return
            try:
                frames.append(decode(bytes(buffer[:size])))
                del buffer[:size]
            except DecodeError as error:
                self.errors[error.reason] += 1
                del buffer[0]

    def _give_up(self, frames: list[Frame]) -> None:
        """The frame in progress will not be completed: drop its SYNC, search what it held, until empty."""
        while self._buffer:
            self.errors["gap"] += 1
            del self._buffer[0]
            self._cut(frames)


# --- Identification (id003.md 5) ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Version:
    """The answer to VERSION: ``model ID003-PPVvvv-rr DDMMMYY CRC4``; parts that cannot be told are empty.

    Args:
        text: the whole answer, stripped.
        model: letter before the bracket: ``U`` UBA, ``i`` iVIZION.
        country: what stands in the brackets.
        bill_table: what follows the brackets, without the hyphen.
        protocol: two digits after ``ID003-``.
        firmware: ``V`` and digits.
        revision: what follows the last hyphen.
        date: ``DDMMMYY``.
        checksum: 4 hex digits, the 16-bit checksum of the firmware: shown and reported as its signature.
    """

    text: str
    model: str = ""
    country: str = ""
    bill_table: str = ""
    protocol: str = ""
    firmware: str = ""
    revision: str = ""
    date: str = ""
    checksum: str = ""


def _printable(data: bytes) -> str:
    """Decode ASCII text, stripped. Raises DecodeError bad_data at the first byte that is not printable."""
    for offset, byte in enumerate(data):
        if not 0x20 <= byte <= 0x7E:
            raise DecodeError("bad_data", offset, data)
    return data.decode("ascii").strip()


def parse_version(data: bytes) -> Version:
    """Read the data of a VERSION answer. Makers vary in the words: only the checksum word is always sought.

    Raises DecodeError (bad_data) if it is not printable ASCII.
    """
    text = _printable(data)
    words = text.split()
    head, _, rest = (words[0] if words else "").partition("(")
    country, _, table = rest.partition(")")
    program = next((word for word in words if word.startswith("ID003-")), "")[6:]
    protocol, _, version = program.partition("V")
    number, _, revision = version.partition("-")
    last = words[-1].upper() if words else ""
    is_checksum = len(last) == 4 and all(digit in "0123456789ABCDEF" for digit in last)
    return Version(
        text=text,
        model=head,
        country=country,
        bill_table=table.lstrip("-"),
        protocol=protocol,
        firmware=f"V{number}" if number else "",
        revision=revision,
        date=words[2] if len(words) > 3 else "",
        checksum=last if is_checksum else "",
    )


def parse_boot_version(data: bytes) -> str:
    """Read the data of a BOOT VERSION answer: 4 ASCII characters, stripped. Raises DecodeError."""
    return _printable(data)


COUNTRIES: Final[Mapping[str, frozenset[int]]] = {
    "USD": frozenset({1, 27, 46}),  # 27 and 46 on newer tables
    "AUD": frozenset({2}),
    "CAD": frozenset({8}),
    "MXN": frozenset({9}),
    "JPY": frozenset({10}),
    "GBP": frozenset({23}),
    "RUB": frozenset({39}),
    "EUR": frozenset({224}),
}
"""Currency -> country numbers of CURRENCY ASSIGN (1 src)."""

_EXPONENT_MAX = 7  # A larger one is no bank note of this world: refuse the table rather than believe it.


@dataclass(frozen=True, slots=True)
class Denomination:
    """One position of the acceptor's table. ``country`` 0: the position is not used."""

    code: int
    country: int
    base: int
    exponent: int

    @property
    def cents(self) -> int:
        """Value: base x 10^exponent whole units of currency, in hundredths."""
        return int(self.base * 10**self.exponent * 100)


def parse_currency_assign(data: bytes) -> tuple[Denomination, ...]:
    """Read the data of a CURRENCY ASSIGN answer: groups of code, country, base, exponent.

    Raises DecodeError: bad_length for a broken group, bad_data for an impossible exponent or a code twice.
    """
    if not data or len(data) % 4:
        raise DecodeError("bad_length", len(data) - len(data) % 4, data)
    table: dict[int, Denomination] = {}
    for offset in range(0, len(data), 4):
        entry = Denomination(*data[offset : offset + 4])
        if entry.exponent > _EXPONENT_MAX:
            raise DecodeError("bad_data", offset + 3, data)
        if entry.code in table:
            raise DecodeError("bad_data", offset, data)
        table[entry.code] = entry
    return tuple(table.values())


def encode_currency_assign(table: tuple[Denomination, ...]) -> bytes:
    """Return the data of a CURRENCY ASSIGN answer."""
    return b"".join(bytes((entry.code, entry.country, entry.base, entry.exponent)) for entry in table)


FIRST_DENOMINATION: Final = 0x61
"""Escrow code of denomination 1. Codes 69-70 for 9-16 are (?)."""
DENOMINATION_COUNT: Final = 16

US_TABLE: Final = (
    Denomination(0x61, 1, 1, 0),
    Denomination(0x62, 0, 0, 0),  # $2 is not used
    Denomination(0x63, 1, 5, 0),
    Denomination(0x64, 1, 1, 1),
    Denomination(0x65, 1, 2, 1),
    Denomination(0x66, 1, 5, 1),
    Denomination(0x67, 1, 1, 2),
    Denomination(0x68, 0, 0, 0),
)
"""The US table, as CURRENCY ASSIGN gives it (id003.md 5, 8)."""

US_CENTS: Final[Mapping[int, int]] = {entry.code: entry.cents for entry in US_TABLE if entry.country}
"""Escrow code -> cents where the acceptor does not answer CURRENCY ASSIGN."""


def denomination_mask(enabled: frozenset[int], positions: int = 8) -> bytes:
    """Return the data of the DENOMINATION setting that enables just these escrow codes (1 = disabled).

    ``positions``: how many the acceptor's table has, 8 or 16. Bits beyond it are 0, as hosts send them.
    """
    bits = 0
    for position in range(positions):
        if FIRST_DENOMINATION + position not in enabled:
            bits |= 1 << position
    return bits.to_bytes(2, "little")


def is_enabled(mask: bytes, code: int) -> bool:
    """Whether the DENOMINATION setting ``mask`` (2 bytes) lets the note ``code`` in."""
    position = code - FIRST_DENOMINATION
    if not 0 <= position < DENOMINATION_COUNT:
        return False
    return not int.from_bytes(mask, "little") >> position & 1
