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
        self._sizes: Final = {
            code: max(meter.size, 5) if code in wide else meter.size for code, meter in table.items()
        }
        # (game, code) -> value and its encoded item; one entry per meter that was ever asked for.
        self._extended: Final[dict[tuple[int, int], tuple[int, bytes]]] = {}

    def extended(self, game: int, codes: Sequence[int]) -> bytes:
        """Body of a 6F/AF answer, values in request order; an unsupported meter gets size 00.

        Stops at the last meter that fits the length byte.
        """
        lookup, cache = self._lookup, self._extended
        parts = [encode_bcd(game, 2)]
        for code in codes:
            value = lookup(code, game) if code in self._sizes else None
            if value is None:
                parts.append(code.to_bytes(2, "little") + b"\x00")
                continue
            known = cache.get((game, code))
            if known is not None and known[0] == value:
                parts.append(known[1])
            else:
                parts.append(self._item(game, code, value))
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

    def _item(self, game: int, code: int, value: int) -> bytes:
        """Encode one meter of 6F/AF and remember it."""
        if value < 0:
            raise EncodeError(f"meter {code:02X} cannot be {value}")
        size = self._sizes[code]
        item = code.to_bytes(2, "little") + bytes((size,)) + encode_bcd(value % 100**size, size)
        self._extended[game, code] = (value, item)
        return item
