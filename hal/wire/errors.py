"""The one error of the codecs in this package: the other end broke its protocol."""

from __future__ import annotations

from typing import Literal

Reason = Literal["bad_start", "bad_length", "bad_crc", "gap", "bad_data"]
"""Why bytes were refused. A closed set, so that ends can count by it."""


class DecodeError(ValueError):
    """Bytes that are not what their protocol allows.

    Args:
        reason: which rule was broken.
        offset: index in ``data`` of the first byte at fault.
        data: the bytes that were looked at.
    """

    def __init__(self, reason: Reason, offset: int, data: bytes) -> None:
        super().__init__(f"{reason} at byte {offset} of {data.hex(' ')}")
        self.reason = reason
        self.offset = offset
        self.data = data
