"""The steady check of the whole memory while the machine runs, an item a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firmware.memory.layout import SEAL_SIZE, SECTOR_SIZE, Layout, Page, decode_page, encode_seal
from firmware.memory.report import Finding, Place
from hal.ports.nvram import Nvram

_PIECE_SIZE = 4096


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to check: the same bytes of both halves, or (``both`` False) an absolute range of unused
    bytes.
    """

    place: Place
    offset: int
    size: int
    page: int | None = None
    both: bool = True


class Scrubber:
    """Goes round the items of a layout and compares them with what the running memory knows."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._position = 0
        self.items = [
            Item(Place.HEADER, 0, layout.header_size),
            Item(Place.SEAL, layout.seal_offset, SECTOR_SIZE),
        ]
        self.items += [Item(Place.BLOCK, page.offset, page.size, page.number) for page in layout.pages]
        self.items += _pieces(Place.JOURNAL, layout.journal_offset, layout.journal_size, both=True)
        for offset, size in layout.unused():
            self.items += _pieces(Place.UNUSED, offset, size, both=False)

    def next(self) -> Item:
        """Return the item whose turn it is."""
        item = self.items[self._position]
        self._position = (self._position + 1) % len(self.items)
        return item

    def is_page_good(
        self, nvram: Nvram, page: Page, copy: int, sequence: int | None, payload: bytes | None
    ) -> bool:
        """Check one copy of a page: every byte, its sequence, and its content where ``payload`` is known."""
        found = decode_page(page, nvram.read(copy * self._layout.half_size + page.offset, page.size))
        return found is not None and found[0] == sequence and (payload is None or found[1] == payload)

    def check(
        self,
        item: Item,
        nvram: Nvram,
        header: bytes,
        seals: Sequence[int],
        journal: bytes | bytearray,
        live: Sequence[tuple[int, int, int]],
    ) -> list[Finding]:
        """Compare an item other than a page; rewrite bytes that are bad in one copy or dead, unflushed.

        ``header``, ``journal``: the bytes each half must hold. ``seals``: the sequence in each half's seal.
        ``live``: the needed records as (sequence, sector, sectors).
        """
        if item.place is Place.UNUSED:
            return self._check_unused(item, nvram)
        if item.place is Place.SEAL:
            return self._check_seals(item, nvram, seals)
        if item.place is Place.HEADER:
            return self._check_twins(item, nvram, header, dead=False)
        needed = {sector for _, first, sectors in live for sector in range(first, first + sectors)}
        findings: list[Finding] = []
        first = (item.offset - self._layout.journal_offset) // SECTOR_SIZE
        for sector in range(first, first + item.size // SECTOR_SIZE):
            start = sector * SECTOR_SIZE
            part = Item(Place.JOURNAL, self._layout.journal_offset + start, SECTOR_SIZE)
            expected = bytes(journal[start : start + SECTOR_SIZE])
            findings += self._check_twins(part, nvram, expected, dead=sector not in needed)
        return findings

    def _check_twins(self, item: Item, nvram: Nvram, expected: bytes, *, dead: bool) -> list[Finding]:
        offsets = [copy * self._layout.half_size + item.offset for copy in (0, 1)]
        bad = [copy for copy in (0, 1) if nvram.read(offsets[copy], item.size) != expected]
        what = f"{item.place.value} at {item.offset:#x}"
        if len(bad) == 2 and not dead:
            detail = f"{what}: both copies are damaged"
            return [Finding(item.place, detail, damaged=True, offset=item.offset)]
        for copy in bad:
            nvram.write(offsets[copy], expected)
        return [
            Finding(item.place, f"{what}: copy {copy} rewritten", copy=copy, offset=offsets[copy])
            for copy in bad
        ]

    def _check_seals(self, item: Item, nvram: Nvram, seals: Sequence[int]) -> list[Finding]:
        """A bad seal is reported and left to the next record, since its twin must be durable before it is
        written.
        """
        bad = []
        for copy in (0, 1):
            data = nvram.read(copy * self._layout.half_size + item.offset, SECTOR_SIZE)
            if data != encode_seal(seals[copy]).ljust(SECTOR_SIZE, b"\0"):
                bad.append(copy)
        if len(bad) == 2:
            return [Finding(Place.SEAL, "both seals are damaged", damaged=True, offset=item.offset)]
        for copy in bad:  # a seal is written without the rest of its sector
            rest = bytes(SECTOR_SIZE - SEAL_SIZE)
            nvram.write(copy * self._layout.half_size + item.offset + SEAL_SIZE, rest)
        return [
            Finding(
                Place.SEAL, f"seal copy {copy} is bad and will be rewritten", copy=copy,
                offset=copy * self._layout.half_size + item.offset,
            )
            for copy in bad
        ]  # fmt: skip

    def _check_unused(self, item: Item, nvram: Nvram) -> list[Finding]:
        if nvram.read(item.offset, item.size).count(0) == item.size:
            return []
        nvram.write(item.offset, bytes(item.size))
        detail = f"unused bytes from {item.offset:#x} on are 00 again"
        return [Finding(Place.UNUSED, detail, offset=item.offset)]


def _pieces(place: Place, offset: int, size: int, *, both: bool) -> list[Item]:
    ends = range(offset, offset + size, _PIECE_SIZE)
    return [Item(place, start, min(_PIECE_SIZE, offset + size - start), both=both) for start in ends]
