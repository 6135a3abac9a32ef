"""The two ways in which bytes and values can be wrong."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why received bytes are not a message. A closed set: counters and tests enumerate it."""

    TOO_SHORT = "too_short"  # the data ends inside a field
    TRAILING = "trailing"  # bytes are left over after the last field
    BAD_BCD = "bad_bcd"  # a nibble A..F in a BCD field
    BAD_TEXT = "bad_text"  # a byte above 7F in an ASCII field, or a text longer than allowed
    BAD_VALUE = "bad_value"  # well formed, but no such date, time, flag or code
    BAD_LENGTH = "bad_length"  # a length or count byte that disagrees with what follows
    BAD_CRC = "bad_crc"
    WRONG_ADDRESS = "wrong_address"  # an answer that starts with another machine's address
    WRONG_COMMAND = "wrong_command"  # an answer that does not echo the command
    UNKNOWN_COMMAND = "unknown_command"  # not in the table of this version
    NO_LAYOUT = "no_layout"  # in the table, but its fields are not declared


class DecodeError(Exception):
    """The peer sent bytes that are not what the table says.

    Caught and counted inside the protocol ends; only the pure codec functions let it out.

    Attributes:
        reason: one of the closed set.
        offset: index of the first offending byte in ``data``; ``len(data)`` if bytes are missing.
        data: the bytes that were being decoded.
    """

    def __init__(self, reason: Reason, offset: int, data: bytes) -> None:
        super().__init__(f"{reason.value} at {offset} of {data.hex(' ')}")
        self.reason = reason
        self.offset = offset
        self.data = data


class EncodeError(ValueError):
    """Our own side asked for a message that cannot exist (value out of range, field missing)."""
