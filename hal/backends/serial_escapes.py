"""How a byte stream carries the ninth bit: ``FF 00 xx`` is a marked byte, ``FF FF`` a literal ``FF``.

A Linux serial port with ``INPCK|PARMRK`` set and space parity hands out exactly this (serial_ninth_bit.md 1;
SAS reference 2.1); the ``?marked`` lines on a pseudo-terminal or TCP use the same code in both directions.
"""

from __future__ import annotations

from enum import Enum

from hal.ports.links import Run

_ESCAPE = 0xFF


class _After(Enum):
    """What the decoder has just seen."""

    PLAIN = "plain"
    ESCAPE = "escape"
    MARK = "mark"


class EscapeDecoder:
    """Turn escaped bytes into runs, whatever the pieces they arrive in."""

    def __init__(self) -> None:
        self._after = _After.PLAIN

    def feed(self, data: bytes) -> list[Run]:
        """Return the runs that ``data`` completes; an unfinished escape waits for the next piece.

        ``FF`` before anything but ``00`` or ``FF`` is no escape that a serial driver makes: both bytes are
        taken as they are, unmarked. A break reads as ``FF 00 00``, the same as a marked ``00``.
        """
        if self._after is _After.PLAIN and _ESCAPE not in data:
            return [(data, False)] if data else []
        runs: list[Run] = []
        plain = bytearray()
        for byte in data:
            if self._after is _After.PLAIN:
                if byte == _ESCAPE:
                    self._after = _After.ESCAPE
                else:
                    plain.append(byte)
            elif self._after is _After.MARK:
                if plain:
                    runs.append((bytes(plain), False))
                    plain.clear()
                runs.append((bytes((byte,)), True))
                self._after = _After.PLAIN
            elif byte == 0x00:
                self._after = _After.MARK
            else:
                plain += b"\xff" if byte == _ESCAPE else bytes((_ESCAPE, byte))
                self._after = _After.PLAIN
        if plain:
            runs.append((bytes(plain), False))
        return runs

    def reset(self) -> None:
        """Forget an unfinished escape: another host is at the other end now."""
        self._after = _After.PLAIN


def escape(data: bytes, *, wakeup: bool) -> bytes:
    """Return ``data`` with its ninth bit written out: every byte marked, or none with ``FF`` doubled."""
    if wakeup:
        return b"".join(bytes((_ESCAPE, 0x00, byte)) for byte in data)
    return data.replace(b"\xff", b"\xff\xff")
