"""Critical memory: named blocks that survive a power cut at any byte. Knows bytes and counters, not what they
mean.

One event of the machine is one record: ``append`` writes it twice, starts one flush, and the machine acts and
tells only once ``is_durable`` says so. Checkpoints of changed pages ride on later records, so nothing ever
waits for them. How and why: docs/adr/0002-critical-memory.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum

from firmware.memory import changes as change_codec
from firmware.memory.changes import Change
from firmware.memory.clear import clear, kept_pages
from firmware.memory.errors import LayoutError, MemoryInvariantError, UnusableMemoryError
from firmware.memory.journal import Ring, encode_record, payload_size_max, record_sectors
from firmware.memory.layout import (
    COUNTER_SIZE,
    SECTOR_SIZE,
    BlockSpec,
    Header,
    HeaderState,
    Layout,
    encode_page,
    encode_seal,
)
from firmware.memory.recovery import Recovered, choose_header, is_blank, recover
from firmware.memory.report import Finding, Place, PowerUpReport, Status
from firmware.memory.scrub import Scrubber
from hal.ports.nvram import Nvram, NvramError

JOURNAL_SIZE = 64 * 1024  # bytes in each half
_TEST_PATTERNS = (0x55, 0xAA)  # each bit of a repaired area is proven to hold both values


class _Mode(Enum):
    OFF = "not powered up"
    OPEN = "open"
    DAMAGED = "damaged"
    FOREIGN = "foreign"
    FAILED = "failed"


def _do_nothing() -> None:
    """Between two looks at whether a flush is durable; a caller may sleep instead."""


class CriticalMemory:
    """The blocks of one machine on one memory part.

    Args:
        nvram: the part. This object must be the only one that writes to it or flushes it.
        blocks: the table of blocks; its order is the order in memory.
        journal_size: bytes of journal in each half, whole sectors.
        binding: at most 32 bytes that say whose memory this is, such as a MAC of the machine's identity under
            a key the cabinet holds; a memory with another binding is foreign.

    Raises:
        LayoutError: the table is impossible or does not fit the part.
    """

    def __init__(
        self,
        nvram: Nvram,
        blocks: Sequence[BlockSpec],
        *,
        journal_size: int = JOURNAL_SIZE,
        binding: bytes = b"",
    ) -> None:
        self.layout = Layout(nvram.size, blocks, journal_size, binding)
        self._nvram = nvram
        self._places = change_codec.places_of(self.layout)
        first_journal = self.layout.journal_offset
        self._journal_offsets = (first_journal, first_journal + self.layout.half_size)
        self._mode = _Mode.OFF
        self._why = "power_up has not been called"
        sectors_max = max(1, self.layout.journal_sectors // 16)
        self._lazy_size_max = payload_size_max(sectors_max) // 4
        self.record_size_max = payload_size_max(sectors_max) - self._lazy_size_max
        self._scrubber = Scrubber(self.layout)
        self._install(Recovered(), 0)

    def _install(self, found: Recovered, base_sequence: int) -> None:
        """Take what recovery found as the state to go on from."""
        layout = self.layout
        self._content = found.content
        self._sequence = self._durable_sequence = found.sequence
        self._needed_from = found.needed_from
        self._page_sequences = found.page_sequences
        self._dirty = found.dirty
        self._lost_pages = found.lost_pages
        self._ring = Ring(layout.journal_sectors)
        self._ring.restore(found.live)
        self._journal = found.journal
        self._extents = [
            len(self._journal[start : start + SECTOR_SIZE].rstrip(b"\0"))
            for start in range(0, len(self._journal), SECTOR_SIZE)
        ]
        sealed = [-1 if sequence is None else sequence for sequence in found.sealed]
        self._seals = sealed
        self._next_seal = 0 if sealed[0] < sealed[1] else 1
        self._seal_flushed = True
        self._ticket = 0  # of the last flush this object began
        self._pending: list[Change] = []
        self._pending_payload = b""
        self._pending_pages: set[int] = set()
        self._forced: list[tuple[int, int]] = []  # (copy, page) that the scrub found bad
        self._header = layout.header(HeaderState.READY, base_sequence)

    # -- power-up and clear ------------------------------------------------------------------------------

    def power_up(self, pause: Callable[[], None] = _do_nothing) -> PowerUpReport:
        """Read, check, replay and repair the memory. Returns once repairs are proven and durable.

        Args:
            pause: called between two looks at whether a flush is durable, to sleep or to kick a watchdog.

        Returns:
            What was found. DAMAGED and FOREIGN memory is left untouched and refuses records until ``format``.

        Raises:
            NvramError: the part failed.
        """
        self._mode, self._why = _Mode.FAILED, "power-up was not finished"
        layout, nvram = self.layout, self._nvram
        image = nvram.read(0, layout.image_size)
        report, found, header = self._judge(image)
        if report.status is Status.FRESH:
            kept, _ = kept_pages(image, layout, header) if header else ({}, [])
            base = header.base_sequence if header else 1
            self._clear(base, kept, header.keep if header else (), pause)
            return report
        if found is None or header is None or report.status in (Status.DAMAGED, Status.FOREIGN):
            self._install(found or Recovered(), header.base_sequence if header else 0)
            self._mode = _Mode.FOREIGN if found is None else _Mode.DAMAGED
            self._why = report.reason or "; ".join(finding.detail for finding in report.damaged)
            return report
        not_held = [data for data in map(self._repair, found.repairs, found.findings) if data is not None]
        if found.repairs:
            self._settle(pause)
        self._install(found, header.base_sequence)
        if not_held:
            self._mode, self._why = _Mode.DAMAGED, not_held[0].detail
            return PowerUpReport(
                Status.DAMAGED, (*report.findings, *not_held), report.sequence, report.replayed
            )
        self._mode = _Mode.OPEN
        if max(self._seals) < self._sequence:
            self._write_seal()
        return report

    def examine(self) -> PowerUpReport:
        """Say what ``power_up`` would find, without writing a byte: for tools, on a stopped machine."""
        return self._judge(self._nvram.read(0, self.layout.image_size))[0]

    def _judge(self, image: bytes) -> tuple[PowerUpReport, Recovered | None, Header | None]:
        layout = self.layout
        header = choose_header(image, layout.half_size)
        if header is None and is_blank(image, layout):
            return PowerUpReport(Status.FRESH), None, None
        if header is not None:
            reason = layout.difference(header)
            if reason is not None:
                return PowerUpReport(Status.FOREIGN, reason=reason), None, header
            if header.state is HeaderState.CLEARING:
                findings = kept_pages(image, layout, header)[1]
                return PowerUpReport(Status.FRESH, tuple(findings), header.base_sequence), None, header
        found = recover(image, layout, header)
        if any(finding.damaged for finding in found.findings):
            status = Status.DAMAGED
        else:
            status = Status.REPAIRED if found.findings else Status.INTACT
        report = PowerUpReport(status, tuple(found.findings), found.sequence, len(found.live))
        return report, found, header

    def _repair(self, repair: tuple[int, bytes], finding: Finding) -> Finding | None:
        """Prove that an area holds both values of every bit, write ``repair`` there, read it back.

        Returns None, or a finding that the part does not hold what is written (NJ 13:69E-1.28B(b)1).
        """
        offset, data = repair
        for attempt in (*(bytes((pattern,)) * len(data) for pattern in _TEST_PATTERNS), data):
            self._nvram.write(offset, attempt)
            if self._nvram.read(offset, len(data)) != attempt:
                detail = f"the memory does not hold what is written at {offset:#x}"
                return Finding(Place.MEMORY, detail, damaged=True, block=finding.block, offset=offset)
        return None

    def _settle(self, pause: Callable[[], None]) -> None:
        """Flush, and wait until it is durable."""
        ticket = self._nvram.flush()
        while self._nvram.durable() < ticket:
            pause()

    def format(self, keep: Collection[int] = (), pause: Callable[[], None] = _do_nothing) -> list[Finding]:
        """RAM clear: every block becomes zeros, but for those in ``keep``. Returns once it is durable.

        A power cut in it leaves the memory as it was, or a clear that ``power_up`` finishes (status FRESH).
        What the clear is to leave behind (its own log entry) must be appended to a kept block before.

        Args:
            keep: ids of blocks to keep.
            pause: as for ``power_up``.

        Returns:
            Findings that name each kept block of which a page was damaged; that page is zeros now.

        Raises:
            ValueError: ``keep`` names an unknown block.
            MemoryInvariantError: a record is open or lazy changes wait.
            UnusableMemoryError: there is nothing to keep from: not powered up, or foreign.
            NvramError: the part failed.
        """
        unknown = [block for block in keep if block not in self._places]
        if unknown:
            raise ValueError(f"no such blocks: {unknown}")
        if keep and self._mode not in (_Mode.OPEN, _Mode.DAMAGED):
            raise UnusableMemoryError(
                f"nothing can be kept of a memory that is {self._mode.value}: {self._why}"
            )
        if self._mode is _Mode.OPEN and (self._pending or not self.is_durable(self._sequence)):
            raise MemoryInvariantError("format while a record is open or lazy changes wait")
        pages = [page for block in keep for page in self.layout.pages_of(block)]
        findings = [
            Finding(
                Place.BLOCK, f"block {page.block.name!r}: page {page.index} was damaged and is zeros now",
                damaged=True, block=page.block.name, offset=page.offset,
            )
            for page in pages
            if page.number in self._lost_pages
        ]  # fmt: skip
        kept = {
            page.number: self._payload(page.number) for page in pages if page.number not in self._lost_pages
        }
        base = max(self._sequence, *self._seals, *self._all_page_sequences()) + 1
        mode, self._mode = self._mode, _Mode.FAILED
        self._why = "a clear was not finished"
        if mode is not _Mode.OFF:
            self._settle_kept_pages(list(kept), base - 1, pause)
        self._clear(base, kept, keep, pause)
        return findings

    def _all_page_sequences(self) -> list[int]:
        return [sequence for copy in self._page_sequences for sequence in copy if sequence is not None] + [0]

    def _settle_kept_pages(self, pages: list[int], sequence: int, pause: Callable[[], None]) -> None:
        """Bring both copies of the kept pages up to date, a bad copy first, never both under one flush."""
        for turn in (0, 1):
            written = False
            for page in pages:
                copy = turn ^ (self._page_sequences[1][page] is None)
                if self._page_sequences[copy][page] is None or page in self._dirty[copy]:
                    self._write_page(copy, page, sequence)
                    written = True
            if written:
                self._settle(pause)

    def _clear(
        self, base: int, kept: dict[int, bytes], keep: Collection[int], pause: Callable[[], None]
    ) -> None:
        clear(self._nvram, self.layout, base, kept, keep, lambda: self._settle(pause))
        layout = self.layout
        content = bytearray(layout.content_size)
        for number, payload in kept.items():
            start = layout.pages[number].content_offset
            content[start : start + len(payload)] = payload
        fresh = Recovered(
            sequence=base, needed_from=base + 1, sealed=[base, base], content=content,
            page_sequences=[[base] * len(layout.pages), [base] * len(layout.pages)],
            journal=bytearray(layout.journal_size),
        )  # fmt: skip
        self._install(fresh, base)
        self._mode = _Mode.OPEN

    # -- reading -----------------------------------------------------------------------------------------

    @property
    def sequence(self) -> int:
        """The sequence number of the newest record appended."""
        return self._sequence

    def content(self, block: int) -> bytes:
        """Return the bytes of ``block`` with every appended change in it, durable or not.

        Of a damaged memory: the newest content of a block that is still good, as evidence.

        Raises:
            ValueError: no such block.
            UnusableMemoryError: the block is damaged, the memory is foreign or not powered up.
        """
        if block not in self._places:
            raise ValueError(f"no such block: {block}")
        readable = self._mode in (_Mode.OPEN, _Mode.DAMAGED) or (self._mode is _Mode.FAILED and self._content)
        lost = any(page.number in self._lost_pages for page in self.layout.pages_of(block))
        if not readable or lost:
            raise UnusableMemoryError(f"block {block} of a memory that is {self._mode.value}: {self._why}")
        base, size, _, _ = self._places[block]
        if not self._pending:
            return bytes(self._content[base : base + size])
        content = bytearray(self._content)
        change_codec.apply(self._pending, self._places, content)
        return bytes(content[base : base + size])

    def counter(self, block: int, index: int) -> int:
        """Return counter ``index`` of a counters block, as ``content`` has it."""
        data = self.content(block)
        if not 0 <= index < self._places[block][2]:
            raise ValueError(f"block {block} has no counter {index}")
        return int.from_bytes(data[index * COUNTER_SIZE : (index + 1) * COUNTER_SIZE], "little")

    def _payload(self, page_number: int) -> bytes:
        page = self.layout.pages[page_number]
        return bytes(self._content[page.content_offset : page.content_offset + page.payload_size])

    # -- records -----------------------------------------------------------------------------------------

    def append(self, changes: Sequence[Change], *, lazy: bool = False) -> int:
        """Write one record of ``changes`` and begin to make it durable; return its ticket. Never blocks.

        The record is all or nothing: after a power cut all of its changes are there, or none. With no
        changes, a record is written only if lazy changes or repairs wait for one.

        Args:
            changes: made in order. Together at most ``record_size_max`` bytes in the journal's form.
            lazy: do not write yet but join the next record, whose ticket is returned; allowed while a record
                is open. Lost in a power cut before that record is durable. Many lazy changes become a record
                of their own.

        Raises:
            ValueError: a change outside its block, or too many of them. Nothing has changed.
            MemoryInvariantError: the record before is not durable yet.
            UnusableMemoryError: the memory is damaged, foreign, not powered up, or has failed.
            NvramError: the part failed; nothing more is acknowledged until ``power_up``.
        """
        if self._mode is not _Mode.OPEN:
            raise UnusableMemoryError(f"no records in a memory that is {self._mode.value}: {self._why}")
        payload, pages = change_codec.encode(changes, self._places)
        if len(payload) > self.record_size_max:
            raise ValueError(f"a record of {len(payload)} bytes, at most {self.record_size_max} fit")
        if lazy and len(self._pending_payload) + len(payload) <= self._lazy_size_max:
            self._pending.extend(changes)
            self._pending_payload += payload
            self._pending_pages |= pages
            return self._sequence + 1
        try:
            if self._durable_sequence != self._sequence and not self.is_durable(self._sequence):
                raise MemoryInvariantError(f"record {self._sequence} is not durable, the next must wait")
            if self._pending:
                changes = (*self._pending, *changes)
                payload, pages = self._pending_payload + payload, self._pending_pages | pages
                self._pending, self._pending_payload, self._pending_pages = [], b"", set()
            elif not changes and not self._forced:
                return self._sequence
            return self._write_record(changes, payload, pages)
        except NvramError as error:
            self._fail(error)
            raise

    def _write_record(self, changes: Sequence[Change], payload: bytes, pages: set[int]) -> int:
        nvram, ring, sequence = self._nvram, self._ring, self._sequence + 1
        # Taken before this record's own checkpoints: those are not durable until it is.
        first_dirty, second_dirty = self._dirty
        needed_from = next(iter(first_dirty.values()), sequence)
        also_needed_from = next(iter(second_dirty.values()), sequence)
        if also_needed_from < needed_from:
            needed_from = also_needed_from
        ring.release(self._needed_from)
        sectors = record_sectors(len(payload))
        sector = ring.place(sequence, sectors)
        used = ring.used
        if used > ring.half_full or self._forced:
            self._checkpoint(used, sectors)
        data = self._wipe_what_was_there(encode_record(sequence, needed_from, payload), sector, sectors)
        start = sector * SECTOR_SIZE
        self._journal[start : start + len(data)] = data
        nvram.write(self._journal_offsets[0] + start, data)
        nvram.write(self._journal_offsets[1] + start, data)
        self._ticket = nvram.flush()
        self._seal_flushed = True
        for page in pages:
            first_dirty.setdefault(page, sequence)
            second_dirty.setdefault(page, sequence)
        change_codec.apply(changes, self._places, self._content)
        self._needed_from = needed_from
        self._sequence = sequence
        return sequence

    def _wipe_what_was_there(self, data: bytes, sector: int, sectors: int) -> bytes:
        """Pad a record with zeros over what an older one left behind its end in its last sector."""
        extents, size = self._extents, len(data)
        full = sectors - 1
        last = sector + full
        extent = full * SECTOR_SIZE + extents[last]
        extents[last] = size - full * SECTOR_SIZE
        if full:
            extents[sector:last] = [SECTOR_SIZE] * full
        return data.ljust(extent, b"\0") if extent > size else data

    def _checkpoint(self, used: int, sectors: int) -> None:
        """Write some pages, as of the last durable record, so that the oldest records become dead.

        All writes under one flush go to one half: a cut leaves the twin of each. The oldest go first, at a
        rate that empties the queue before the ring is crowded; a crowded ring writes all of that half.
        """
        ring, queues = self._ring, self._dirty
        oldest = [next(iter(queue.values()), self._sequence + 1) for queue in queues]
        copy = self._forced[0][0] if self._forced else int(oldest[1] < oldest[0])
        chosen = {page: None for forced_copy, page in self._forced if forced_copy == copy}
        self._forced = [entry for entry in self._forced if entry[0] != copy]
        if used > ring.half_full:
            queue, room = queues[copy], ring.crowded_above - used
            quota = len(queue)
            if room > 0:
                records_left = -(-room // sectors)
                quota = min(quota, -(-(len(queues[0]) + len(queues[1])) // records_left))
            for page, _ in zip(queue, range(quota), strict=False):
                chosen[page] = None
        for page in chosen:
            self._write_page(copy, page, self._sequence)

    def _write_page(self, copy: int, page_number: int, sequence: int) -> None:
        page = self.layout.pages[page_number]
        data = encode_page(page, sequence, self._payload(page_number))
        self._nvram.write(copy * self.layout.half_size + page.offset, data)
        self._page_sequences[copy][page_number] = sequence
        self._dirty[copy].pop(page_number, None)

    def is_durable(self, ticket: int) -> bool:
        """Tell whether the record of ``ticket``, and all before it, survive any power cut from now on.

        The first time it is so, a marker is written that says it (not flushed: it rides on the next flush):
        should both copies of that record be damaged later, the marker shows that it is missing.

        Raises:
            UnusableMemoryError: the memory has failed: it is not known.
            NvramError: the part failed.
        """
        if self._mode is not _Mode.OPEN:
            raise UnusableMemoryError(
                f"nothing is acknowledged by a memory that is {self._mode.value}: {self._why}"
            )
        if ticket <= self._durable_sequence:
            return True
        if ticket > self._sequence:
            return False
        try:
            if self._nvram.durable() < self._ticket:
                return False
            self._durable_sequence = self._sequence
            self._write_seal()
        except NvramError as error:
            self._fail(error)
            raise
        return True

    def seal(self) -> bool:
        """Make the marker of the newest record durable. Call when idle and again, until True, before
        power-down.

        Never blocks; does nothing if nothing happened since. Lazy changes are not written: ``append(())`` is.

        Returns:
            True once everything that was appended is durable and marked so. Raises as ``is_durable``.
        """
        if not self.is_durable(self._sequence):
            return False
        try:
            if not self._seal_flushed:
                self._ticket = self._nvram.flush()
                self._seal_flushed = True
            return self._nvram.durable() >= self._ticket
        except NvramError as error:
            self._fail(error)
            raise

    def _write_seal(self) -> None:
        """Mark the newest record, which is durable. The two markers take turns: one is always whole.

        The turn is safe without a flush of its own: between two markers there is always the flush of a
        record.
        """
        copy = self._next_seal
        self._nvram.write(copy * self.layout.half_size + self.layout.seal_offset, encode_seal(self._sequence))
        self._seals[copy] = self._sequence
        self._next_seal = 1 - copy
        self._seal_flushed = False

    def _fail(self, error: NvramError) -> None:
        self._mode, self._why = _Mode.FAILED, f"the part failed: {error}"

    # -- checks while running ----------------------------------------------------------------------------

    def check_block(self, block: int) -> list[Finding]:
        """Check both copies of ``block`` in memory against what they must be; before and after a game, say.

        A bad copy with a good twin is rewritten with the next record (``append(())`` makes one). With none
        good the finding is damaged: the content here is still right, but the machine must stop.

        Raises:
            ValueError, UnusableMemoryError, NvramError: as for ``content``.
        """
        self.content(block)
        findings: list[Finding] = []
        for page in self.layout.pages_of(block):
            findings += self._check_page(page.number)
        return findings

    def scrub_step(self) -> list[Finding]:
        """Check the next item of the memory, in turn: a header, a page, a piece of the journal or of the
        unused bytes.

        Reads at most 2 x 4 KiB. Findings as for ``check_block``. Raises UnusableMemoryError, NvramError.
        """
        if self._mode is not _Mode.OPEN:
            raise UnusableMemoryError(f"no check of a memory that is {self._mode.value}: {self._why}")
        item = self._scrubber.next()
        try:
            if item.page is not None:
                return self._check_page(item.page)
            findings = self._scrubber.check(
                item, self._nvram, self._header, self._seals, self._journal, self._ring.live
            )
        except NvramError as error:
            self._fail(error)
            raise
        if item.place is Place.SEAL and len(findings) == 1 and findings[0].copy is not None:
            self._next_seal = findings[0].copy
        return findings

    @property
    def scrub_steps(self) -> int:
        """How many steps check the whole memory once."""
        return len(self._scrubber.items)

    def _check_page(self, number: int) -> list[Finding]:
        page = self.layout.pages[number]
        bad = []
        for copy in (0, 1):
            sequence = self._page_sequences[copy][number]
            clean = None if number in self._dirty[copy] else self._payload(number)
            if not self._scrubber.is_page_good(self._nvram, page, copy, sequence, clean):
                bad.append(copy)
        if not bad:
            return []
        name, index = page.block.name, page.index
        if len(bad) == 2:
            detail = f"block {name!r}: both copies of page {index} are damaged"
            return [Finding(Place.BLOCK, detail, damaged=True, block=name, offset=page.offset)]
        copy = bad[0]
        if (copy, number) not in self._forced:
            self._forced.append((copy, number))
        detail = f"block {name!r}: copy {copy} of page {index} is bad and will be rewritten"
        offset = copy * self.layout.half_size + page.offset
        return [Finding(Place.BLOCK, detail, block=name, copy=copy, offset=offset)]


def read_layout(nvram: Nvram) -> tuple[tuple[BlockSpec, ...], int, bytes]:
    """Return (blocks, journal size, binding) that a memory itself says it has, to open an older one with its
    own table.

    Raises:
        LayoutError: no header of a format this program knows.
        NvramError: the part failed.
    """
    image = nvram.read(0, nvram.size)
    header = choose_header(image, nvram.size // SECTOR_SIZE // 2 * SECTOR_SIZE)
    if header is None or not header.blocks:
        raise LayoutError("the memory has no table of blocks that this program can read")
    return header.blocks, header.journal_sectors * SECTOR_SIZE, header.binding
