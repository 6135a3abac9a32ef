"""From the bytes of an image to the content they mean: pure, and it writes nothing.

``recover`` checks every byte of both halves, replays the journal on each copy of each page and compares the
results. It returns the content, the state that the next records build on, what was found wrong, and the
writes that would put it right. Rules it keeps:

- A record counts if either copy of it is good; the newest may be the one that was in flight.
- All records from *needed from* (in the newest record) to the newest, and up to the seal, must be there. One
  that is not is damage: a power cut can only take the newest, and only before it was sealed.
- Each page says up to which record it holds the changes; older records are not applied to it again.
- Whatever is wrong is repaired from a good twin, or zeroed if it is dead; else it is named as damaged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.memory.changes import Change, Places, apply, decode, encode, places_of, split_by_page
from firmware.memory.journal import (
    RECORD_CONTINUES,
    RECORD_START,
    Record,
    Ring,
    encode_record,
    scan,
)
from firmware.memory.layout import (
    SECTOR_SIZE,
    Header,
    Layout,
    Page,
    decode_page,
    decode_seal,
    encode_seal,
    parse_header,
)
from firmware.memory.report import Finding, Place

_EMPTY_SECTOR = bytes(SECTOR_SIZE)


@dataclass(slots=True)
class Recovered:
    """What an image means. ``repairs`` are (absolute offset, bytes), sound in any order, only over bad or
    dead bytes.

    ``page_sequences[copy][page]`` is the record up to which that copy holds the changes (None: bad);
    ``dirty[copy]`` maps page -> first later record that changed it, in order of that record.
    """

    sequence: int = 0
    needed_from: int = 0
    sealed: list[int | None] = field(default_factory=lambda: [None, None])
    content: bytearray = field(default_factory=bytearray)
    page_sequences: list[list[int | None]] = field(default_factory=list)
    dirty: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))
    live: list[tuple[int, int, int]] = field(default_factory=list)
    journal: bytearray = field(default_factory=bytearray)  # of one half, as it is after the repairs
    lost_pages: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    repairs: list[tuple[int, bytes]] = field(default_factory=list)


def choose_header(image: bytes, half_size: int) -> Header | None:
    """Return the header that counts: the one of the latest format, and in it the one written last."""
    headers = [header for offset in (0, half_size) if (header := parse_header(image, offset)) is not None]
    return max(headers, key=lambda header: (header.base_sequence, header.state), default=None)


def is_blank(image: bytes, layout: Layout) -> bool:
    """Tell whether the memory was never formatted: all 00 or FF, but for headers that a cut may have torn."""
    size, half = layout.header_size, layout.half_size
    rest = image[size:half] + image[half + size :]
    return not rest.strip(b"\x00") or not rest.strip(b"\xff")


def recover(image: bytes, layout: Layout, header: Header | None) -> Recovered:
    """Read a whole image. ``header`` None: both headers are bad, which is damage; the rest is still read.

    Returns:
        What the image means. If any finding is damaged, content is the best that is left and no repair must
        be made.
    """
    return _Recovery(image, layout, header).run()


class _Recovery:
    """One run of ``recover``; the steps share the image and add to the result."""

    def __init__(self, image: bytes, layout: Layout, header: Header | None) -> None:
        self.image = image
        self.layout = layout
        self.header = header
        self.base_sequence = header.base_sequence if header else 0
        self.places: Places = places_of(layout)
        self.records: dict[int, tuple[int, Record]] = {}  # sequence -> (sector, record)
        self.changes: dict[int, list[Change]] = {}  # of the needed records that are there
        self.out = Recovered()

    def run(self) -> Recovered:
        if self.header is None:
            self._damaged(Place.HEADER, "both headers are damaged", 0)
        else:
            self._check_header(self.header)
        self._read_journal()
        self._read_seals()
        self._read_needed_records()
        self._check_journal()
        self._read_pages()
        self._check_unused()
        return self.out

    def _damaged(self, place: Place, detail: str, offset: int, block: str | None = None) -> None:
        self.out.findings.append(Finding(place, detail, damaged=True, block=block, offset=offset))

    def _repair(
        self, place: Place, detail: str, copy: int, offset: int, data: bytes, *, block: str | None = None,
        cut_explains: bool = False,
    ) -> None:  # fmt: skip
        """Note one wrong item at ``offset`` of half ``copy`` and the bytes that put it right."""
        absolute = copy * self.layout.half_size + offset
        self.out.findings.append(
            Finding(place, detail, block=block, copy=copy, offset=absolute, cut_explains=cut_explains)
        )
        self.out.repairs.append((absolute, data))

    def _half(self, copy: int, offset: int, size: int) -> bytes:
        start = copy * self.layout.half_size + offset
        return self.image[start : start + size]

    def _check_header(self, header: Header) -> None:
        expected = self.layout.header(header.state, header.base_sequence, header.keep)
        for copy in (0, 1):
            if self._half(copy, 0, len(expected)) != expected:
                old = parse_header(
                    self.image, copy * self.layout.half_size
                )  # a clear was cut between the two
                detail = f"header copy {copy} rebuilt"
                self._repair(Place.HEADER, detail, copy, 0, expected, cut_explains=old is not None)

    # -- journal -----------------------------------------------------------------------------------------

    def _read_journal(self) -> None:
        """Collect the good records of both halves and settle which is the newest."""
        layout, out = self.layout, self.out
        self.areas = [self._half(copy, layout.journal_offset, layout.journal_size) for copy in (0, 1)]
        first = scan(self.areas[0])
        self.scans = (first, first if self.areas[0] == self.areas[1] else scan(self.areas[1]))
        for found in self.scans:
            for sector, record in found.items():
                if record.sequence <= self.base_sequence:
                    continue
                known = self.records.setdefault(record.sequence, (sector, record))
                if known != (sector, record):
                    offset = layout.journal_offset + sector * SECTOR_SIZE
                    self._damaged(Place.JOURNAL, f"two different records {record.sequence}", offset)
        out.sequence = max(self.records, default=self.base_sequence)
        out.needed_from = out.sequence + 1
        if self.records:
            out.needed_from = self.records[out.sequence][1].needed_from

    def _read_seals(self) -> None:
        layout, out = self.layout, self.out
        out.sealed = [decode_seal(self._half(copy, layout.seal_offset, SECTOR_SIZE)) for copy in (0, 1)]
        good = [sequence for sequence in out.sealed if sequence is not None]
        if not good:
            self._damaged(Place.SEAL, "both seals are damaged", layout.seal_offset)
            return
        if max(good) > out.sequence:
            missing = f"records {out.sequence + 1} to {max(good)} were durable and are gone"
            self._damaged(Place.JOURNAL, missing, layout.journal_offset)
        for copy, sequence in enumerate(out.sealed):
            if sequence is None:
                data = encode_seal(good[0]).ljust(SECTOR_SIZE, b"\0")
                detail = f"seal copy {copy} rebuilt"
                self._repair(Place.SEAL, detail, copy, layout.seal_offset, data, cut_explains=True)
                out.sealed[copy] = good[0]

    def _read_needed_records(self) -> None:
        """Decode the records from *needed from* on; a hole is damage, and nothing after it is used."""
        out, layout = self.out, self.layout
        first, last = out.needed_from, out.sequence
        if not self.base_sequence < first <= last + 1 or last - first >= layout.journal_sectors:
            self._damaged(
                Place.JOURNAL, f"record {last} needs records from {first} on", layout.journal_offset
            )
            out.needed_from = first = last + 1
        for sequence in range(first, last + 1):
            if sequence not in self.records:
                self._damaged(Place.JOURNAL, f"record {sequence} is missing", layout.journal_offset)
                return
            sector, record = self.records[sequence]
            try:
                changes = decode(record.payload)
                encode(changes, self.places)  # also checks every range
            except ValueError as error:
                offset = layout.journal_offset + sector * SECTOR_SIZE
                self._damaged(Place.JOURNAL, f"record {sequence} is not understood: {error}", offset)
                return
            self.changes[sequence] = changes
            out.live.append((sequence, sector, record.sectors))

    def _check_journal(self) -> None:
        """Compare every journal sector with what it must be; inconsistent dead ones are zeroed."""
        out = self.out
        expected = bytearray(self.layout.journal_size)
        is_live = bytearray(self.layout.journal_sectors)
        for sequence, sector, sectors in out.live:
            record = self.records[sequence][1]
            data = encode_record(sequence, record.needed_from, record.payload)
            start, size = sector * SECTOR_SIZE, sectors * SECTOR_SIZE
            data = data.ljust(size, b"\0")
            expected[start : start + size] = data
            is_live[sector : sector + sectors] = b"\1" * sectors
            for copy in (0, 1):
                if self.areas[copy][start : start + size] != data:
                    self._repair(
                        Place.JOURNAL, f"copy {copy} of record {sequence} rebuilt", copy,
                        self.layout.journal_offset + start, data, cut_explains=sequence == out.sequence,
                    )  # fmt: skip
        window = self._sectors_in_flight()
        for sector, live in enumerate(is_live):
            if not live:
                start = sector * SECTOR_SIZE
                expected[start : start + SECTOR_SIZE] = self._check_dead_sector(sector, sector in window)
        out.journal = expected

    def _sectors_in_flight(self) -> set[int]:
        """Where a record that the power cut took may have left traces."""
        ring = Ring(self.layout.journal_sectors)
        ring.restore(self.out.live)
        window = set(range(ring.head, min(ring.head + ring.record_max, ring.size)))
        if ring.head + ring.record_max > ring.size:
            window.update(range(ring.record_max))
        return window

    def _check_dead_sector(self, sector: int, cut_explains: bool) -> bytes:
        """Return what a sector without a needed record holds from now on: its dead bytes, or zeros."""
        start = sector * SECTOR_SIZE
        sectors = [area[start : start + SECTOR_SIZE] for area in self.areas]
        kind = sectors[0][0]
        if sectors[0] == sectors[1] and (
            (kind == 0 and sectors[0] == _EMPTY_SECTOR)
            or (kind == RECORD_START and self._is_whole_dead_record(sector))
            or kind == RECORD_CONTINUES  # the rest of a dead record whose start may be overwritten
        ):
            return sectors[0]
        what = "an unfinished record" if cut_explains else "a dead journal sector"
        for copy in (0, 1):
            if sectors[copy] != _EMPTY_SECTOR:
                self._repair(
                    Place.JOURNAL, f"{what} in copy {copy} erased", copy, self.layout.journal_offset + start,
                    _EMPTY_SECTOR, cut_explains=cut_explains,
                )  # fmt: skip
        return _EMPTY_SECTOR

    def _is_whole_dead_record(self, sector: int) -> bool:
        record = self.scans[0].get(sector)
        if record is None or self.scans[1].get(sector) != record:
            return False
        data = encode_record(record.sequence, record.needed_from, record.payload)
        last = (sector + record.sectors) * SECTOR_SIZE
        used = sector * SECTOR_SIZE + len(data)
        return not any(area[used:last].strip(b"\0") for area in self.areas)

    # -- pages -------------------------------------------------------------------------------------------

    def _read_pages(self) -> None:
        """Read both copies of every page, replay the journal on each, compare, and take what is good."""
        out, layout = self.out, self.layout
        contents = (bytearray(layout.content_size), bytearray(layout.content_size))
        out.page_sequences = [[None] * len(layout.pages), [None] * len(layout.pages)]
        for page in layout.pages:
            for copy in (0, 1):
                found = decode_page(page, self._half(copy, page.offset, page.size))
                if found is None or found[0] < self.base_sequence:
                    continue
                sequence, payload = found
                out.page_sequences[copy][page.number] = sequence
                contents[copy][page.content_offset : page.content_offset + page.payload_size] = payload
                if sequence > out.sequence:
                    detail = f"block {page.block.name!r} includes record {sequence}, which is gone"
                    self._damaged(Place.JOURNAL, detail, page.offset)
        self._repair_pages()
        self._replay(contents)
        out.content = contents[0]
        damaged = any(finding.damaged for finding in out.findings)
        for page in layout.pages:
            self._choose_page(page, contents[0], contents[1], damaged)
        in_order = [dict(sorted(dirty.items(), key=lambda item: item[1])) for dirty in out.dirty]
        out.dirty = (in_order[0], in_order[1])

    def _is_checkpoint_in_flight(self) -> bool:
        """Tell whether pages may have been written with the newest record or with one that the cut took."""
        ring, newest = Ring(self.layout.journal_sectors), self.out.sequence
        ring.restore(self.out.live)
        spans = [ring.used + 2 * ring.record_max]  # as the record after the newest would have found it
        before = self.records.get(newest - 1)
        if before is not None and before[1].needed_from in self.records:  # as the newest itself found it
            spans.append((ring.head - self.records[before[1].needed_from][0] - 1) % ring.size + 1)
        return max(spans) > ring.half_full

    def _repair_pages(self) -> None:
        """Give a bad copy the bytes of its good twin."""
        cut_explains = self._is_checkpoint_in_flight()
        for page in self.layout.pages:
            good = [sequences[page.number] is not None for sequences in self.out.page_sequences]
            if all(good):
                continue
            name, index = page.block.name, page.index
            if not any(good):
                self.out.lost_pages.add(page.number)
                detail = f"block {name!r}: both copies of page {index} are damaged"
                self._damaged(Place.BLOCK, detail, page.offset, name)
                continue
            bad = good.index(False)
            data = self._half(1 - bad, page.offset, page.size)
            detail = f"block {name!r}: copy {bad} of page {index} rebuilt"
            self._repair(
                Place.BLOCK, detail, bad, page.offset, data, block=name, cut_explains=cut_explains
            )  # fmt: skip

    def _replay(self, contents: tuple[bytearray, bytearray]) -> None:
        """Apply each needed record to each copy of a page that does not include it yet."""
        out = self.out
        for sequence, changes in self.changes.items():
            for change in changes:
                for page, part in split_by_page(change, self.places):
                    for copy in (0, 1):
                        included = out.page_sequences[copy][page]
                        if included is not None and sequence > included:
                            apply((part,), self.places, contents[copy])
                            out.dirty[copy].setdefault(page, sequence)

    def _choose_page(self, page: Page, ours: bytearray, other: bytearray, damaged: bool) -> None:
        """Settle the content of one page in ``ours``, the content of copy 0."""
        out = self.out
        first, second = out.page_sequences[0][page.number], out.page_sequences[1][page.number]
        span = slice(page.content_offset, page.content_offset + page.payload_size)
        if first is None and second is None:
            return
        if first is not None and second is not None and not damaged and ours[span] != other[span]:
            name = page.block.name
            detail = f"block {name!r}: the copies of page {page.index} disagree after replay"
            self._damaged(Place.BLOCK, detail, page.offset, name)
            out.lost_pages.add(page.number)
            return
        if first is None or (second is not None and second > first):
            ours[span] = other[span]
        if first is None or second is None:  # after the repair the twins are the same
            good = 0 if second is None else 1
            if not damaged:
                out.page_sequences[1 - good][page.number] = out.page_sequences[good][page.number]
            if page.number in out.dirty[good]:
                out.dirty[1 - good][page.number] = out.dirty[good][page.number]

    def _check_unused(self) -> None:
        for offset, size in self.layout.unused():
            data = self.image[offset : offset + size]
            if data.count(0) != size:
                at = offset + len(data) - len(data.lstrip(b"\0"))
                copy = min(offset // self.layout.half_size, 1)
                inner = offset - copy * self.layout.half_size
                detail = f"unused bytes from {at:#x} on are 00 again"
                self._repair(Place.UNUSED, detail, copy, inner, bytes(size))
