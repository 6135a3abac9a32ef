"""Answers to LP 2F, 6F and AF from a function that knows the meters, without encoding a value twice.

Most meters stand still between two polls, so the BCD bytes of each are kept beside the value they came from.
Source: SAS reference 10, 12.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sas_protocol.errors import EncodeError
from sas_protocol.fields import encode_bcd
from sas_protocol.frames import LENGTH_MAX
from sas_protocol.meters import METERS_602, Meter

MeterLookup = Callable[[int, int], int | None]
"""``(code, game) -> value`` in the meter's own unit, not yet rolled over; None: the machine lacks it."""


class MeterAnswers:
    """Encode answer bodies (length byte to last value) of the selected-meter polls.

    Args:
        lookup: where the values come from.
        table: the meters of the reported SAS version; other codes count as unsupported.
        wide: codes of meters that roll over at ten digits, sent as 5 bytes in 6F/AF; all others are sent in
            their least size. Values roll over at the size they are sent in.
    """

    def __init__(
        self,
        lookup: MeterLookup,
        table: Mapping[int, Meter] = METERS_602,
        wide: frozenset[int] = frozenset(),
    ) -> None:
        self._lookup: Final = lookup
        self._table: Final = table
        # code -> its constant bytes in 6F/AF (code and size), decimal format, modulus: made once.
        self._shapes: Final[dict[int, tuple[bytes, str, int]]] = {}
        for code, meter in table.items():
            size = max(meter.size, 5) if code in wide else meter.size
            head = code.to_bytes(2, "little") + bytes((size,))
            self._shapes[code] = (head, f"%0{2 * size}d", 100**size)
        # game -> code -> value and its encoded item: one entry per meter that was ever asked for.
        self._items: Final[dict[int, dict[int, tuple[int, bytes]]]] = {}

    def extended(self, game: int, codes: Sequence[int]) -> bytes:
        """Body of a 6F/AF answer, values in request order; an unsupported meter gets size 00.

        Stops at the last meter that fits the length byte.
        """
        lookup, shapes = self._lookup, self._shapes
        items = self._items.get(game)
        if items is None:
            items = self._items[game] = {}
        parts = [encode_bcd(game, 2)]
        for code in codes:
            value = lookup(code, game) if code in shapes else None
            if value is None:
                parts.append(code.to_bytes(2, "little") + b"\x00")
                continue
            known = items.get(code)
            if known is None or known[0] != value:
                if value < 0:
                    raise EncodeError(f"meter {code:02X} cannot be {value}")
                head, form, modulus = shapes[code]
                known = items[code] = (value, head + bytes.fromhex(form % (value % modulus)))
            parts.append(known[1])
        body = b"".join(parts)
        size = len(body)
        while size > LENGTH_MAX:
            size -= len(parts.pop())
        return bytes((size,)) + body[:size]

    def selected(self, game: int, codes: Sequence[int]) -> bytes:
        """Body of a 2F answer: unsupported meters are left out; for a game, so are machine-wide ones."""
        parts = [encode_bcd(game, 2)]
        for code in codes:
            meter = self._table.get(code)
            if meter is None or (game and not meter.per_game):
                continue
            value = self._lookup(code, game)
            if value is not None:
                parts.append(bytes((code,)) + encode_bcd(value % 100**meter.size, meter.size))
        body = b"".join(parts)
        return bytes((len(body),)) + body
