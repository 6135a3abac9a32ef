"""The CRC of SAS frames: CRC-16/KERMIT, start value 0, low byte first on the wire (SAS reference 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import crcmod

SIZE: Final = 2
"""Bytes a CRC takes on the wire."""

crc16: Final[Callable[..., int]] = crcmod.mkCrcFun(0x11021, initCrc=0, rev=True, xorOut=0)
"""``crc16(data, start=0) -> int``. ``start`` other than 0 is only used by the program signature (LP 21)."""


def append_crc(frame: bytes) -> bytes:
    """Return ``frame`` (address to last data byte) followed by its CRC, low byte first."""
    return frame + crc16(frame).to_bytes(2, "little")


def has_good_crc(frame: bytes) -> bool:
    """Tell whether the last two bytes are the CRC of those before. Shorter than 3 bytes: False.

    A reflected CRC followed by itself, low byte first, leaves the register at zero.
    """
    return len(frame) > SIZE and crc16(frame) == 0
