"""Byte pipes: to a device (``ByteLink``) and to a SAS host (``WakeupLink``).

A link is open for as long as it exists. Opening, speed, parity and names belong to the back end.
"""

from __future__ import annotations

from typing import Protocol

Run = tuple[bytes, bool | None]
"""A run of bytes that share one ninth bit: ``(data, wakeup)``.

``wakeup`` is ``True`` (marked: each byte is the first of a message), ``False`` (not marked) or ``None``
(the line cannot carry the bit, or did not this time: infer it from the structure of the messages,
SAS reference 2.1 "bare"). A ``True`` run on a pseudo-terminal is strong evidence and not proof
(serial_ninth_bit.md 2).
"""


class LinkError(Exception):
    """The link cannot carry bytes at present: unplugged, closed by the other end, out of resources."""


class ByteLink(Protocol):
    """A full-duplex byte pipe, already open."""

    def read(self, limit: int) -> bytes:
        """Return 0..limit bytes already received. Never blocks. Raises LinkError if the link is gone."""

    def write(self, data: bytes) -> None:
        """Queue ``data``. Never blocks. Raises LinkError if the link is gone."""


class WakeupLink(Protocol):
    """The machine's end of a SAS line: a byte pipe with a ninth (wakeup) bit."""

    def read(self) -> list[Run]:
        """Return what has arrived, as runs in order of arrival. Never blocks. Raises LinkError."""

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Queue ``data``, every byte with the ninth bit as ``wakeup`` says. Never blocks. Raises LinkError."""
