"""Where everything lies: a table of blocks in, byte offsets out; and the header, which stores that table.

The image is two halves with the same inner layout, so that the twin of a byte at offset *x* is always at *x*
+ ``half_size`` and no fault of one sector, row or chip area can hit both::

    half:  header | seal | pages of block 1, 2, ... | journal | unused (00)

A block is cut into *pages* of at most 1,000 bytes, the unit that is checked, checkpointed and repaired; so
neither the size of a block nor that of the memory sets what one record costs. Every item begins on a sector
of its own. See docs/adr/0002-critical-memory.md.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from firmware.memory.errors import LayoutError

SECTOR_SIZE = 512  # what a write may tear: nothing shares one with an item written at another time
MEMORY_SIZE_MAX = 512 * 1024  # the largest common FRAM (design: critical memory)
PAGE_SIZE_MAX = 1024
PAGE_PAYLOAD_MAX = 1000  # a multiple of 8, so that a counter never straddles two pages
COUNTER_SIZE = 8
BLOCK_SIZE_MAX = 65_535  # offsets inside a block are 16 bits in the journal
BLOCK_ID_MAX = 255
NAME_SIZE_MAX = 20
JOURNAL_SECTORS_MIN = 8

FORMAT_VERSION = 1
HEADER_MAGIC = b"EGMCRMEM"
SEAL_MAGIC = b"SEAL"
PAGE_MAGIC = b"PAGE"

# magic, crc, format, header size | image size, journal sectors, blocks, state, zero, base sequence, binding,
# keep bits
_HEADER = struct.Struct("<8sIHHIHHHHQ32s32s")
_ENTRY = struct.Struct("<HIHHH20s")  # id, size, version, counters, zero, name
_CRC = struct.Struct("<I")
_HEADER_CRC_AT = 8
_PAGE_HEADER = struct.Struct("<4sHHHHQ")  # magic, block, page, version, payload size, sequence; then the CRC
_PAGE_PREFIX_SIZE = _PAGE_HEADER.size + _CRC.size
_SEAL = struct.Struct("<4sQ")  # magic, sequence; then the CRC
SEAL_SIZE = _SEAL.size + _CRC.size


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """One named block of the table.

    Args:
        id: 1..255, never reused for something else.
        name: 1..20 printable ASCII characters, for reports.
        size: bytes, 1..65,535; a multiple of 8 if ``counters``.
        version: 0..65,535, of what the bytes mean; another version in memory is refused by name.
        counters: the block is an array of unsigned 64-bit little-endian counters, the target of ``Add``.
    """

    id: int
    name: str
    size: int
    version: int
    counters: bool = False


class HeaderState(IntEnum):
    """What a header says of the rest. Of two with one base sequence, READY (the greater) is the later."""

    CLEARING = 1  # a RAM clear has begun and must be finished
    READY = 2


@dataclass(frozen=True, slots=True)
class Header:
    """A header as found in memory, its own or a foreign one.

    ``base_sequence`` is the sequence number at the last format: records and pages begin there. ``keep`` are
    the ids of the blocks that a clear under way must keep.
    """

    format: int
    image_size: int
    journal_sectors: int
    state: HeaderState
    base_sequence: int
    binding: bytes
    keep: frozenset[int]
    blocks: tuple[BlockSpec, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page: where it lies in a half, and which bytes of the content it holds."""

    number: int
    block: BlockSpec
    index: int  # within its block
    offset: int  # within a half
    size: int  # bytes in memory, whole sectors
    payload_size: int  # bytes of content
    content_offset: int  # within the content of all blocks


def _whole_sectors(size: int) -> int:
    return -(-size // SECTOR_SIZE) * SECTOR_SIZE


class Layout:
    """The byte map of a table of blocks on a memory part. Offsets are within a half unless said otherwise."""

    def __init__(
        self, image_size: int, blocks: Sequence[BlockSpec], journal_size: int, binding: bytes
    ) -> None:
        _check_table(blocks)
        if len(binding) > 32:
            raise LayoutError(f"the binding is {len(binding)} bytes, at most 32 fit")
        if image_size > MEMORY_SIZE_MAX or image_size % SECTOR_SIZE:
            raise LayoutError(
                f"a memory of {image_size} bytes: must be whole 512-byte sectors, at most 512 KiB"
            )
        if journal_size % SECTOR_SIZE or journal_size < JOURNAL_SECTORS_MIN * SECTOR_SIZE:
            raise LayoutError(
                f"a journal of {journal_size} bytes: must be whole sectors, at least 4,096 bytes"
            )
        self.image_size = image_size
        self.blocks = tuple(blocks)
        self.binding = binding.ljust(32, b"\0")
        self.journal_sectors = journal_size // SECTOR_SIZE
        self.half_size = image_size // SECTOR_SIZE // 2 * SECTOR_SIZE
        self.header_size = _whole_sectors(_HEADER.size + _ENTRY.size * len(blocks))
        self.seal_offset = self.header_size
        self.pages: tuple[Page, ...] = tuple(_cut_into_pages(blocks, self.seal_offset + SECTOR_SIZE))
        last = self.pages[-1]
        self.content_size = last.content_offset + last.payload_size
        self.journal_offset = last.offset + last.size
        self.journal_size = journal_size
        self.used_size = self.journal_offset + journal_size
        if self.used_size > self.half_size:
            raise LayoutError(
                f"blocks and journal need 2 x {self.used_size} bytes, the memory has 2 x {self.half_size}"
            )
        self.first_page = {page.block.id: page.number for page in reversed(self.pages)}
        self.content_base = {page.block.id: page.content_offset for page in reversed(self.pages)}
        self.by_id = {spec.id: spec for spec in blocks}

    def unused(self) -> list[tuple[int, int]]:
        """Return the (absolute offset, size) of all bytes that belong to nothing and must be 00."""
        half, gap = self.half_size, self.half_size - self.used_size
        areas = [(self.used_size, gap), (half + self.used_size, gap), (2 * half, self.image_size - 2 * half)]
        return [area for area in areas if area[1]]

    def pages_of(self, block: int) -> tuple[Page, ...]:
        """Return the pages of ``block``, in order."""
        first = self.first_page[block]
        return self.pages[first : first + -(-self.by_id[block].size // PAGE_PAYLOAD_MAX)]

    def header(self, state: HeaderState, base_sequence: int, keep: Iterable[int] = ()) -> bytes:
        """Return the ``header_size`` bytes of a header for this layout."""
        kept = sum(1 << block for block in set(keep)).to_bytes(32, "little")
        data = _HEADER.pack(
            HEADER_MAGIC, 0, FORMAT_VERSION, self.header_size, self.image_size, self.journal_sectors,
            len(self.blocks), state, 0, base_sequence, self.binding, kept,
        )  # fmt: skip
        for spec in self.blocks:
            data += _ENTRY.pack(spec.id, spec.size, spec.version, spec.counters, 0, spec.name.encode("ascii"))
        data = data.ljust(self.header_size, b"\0")
        return data[:_HEADER_CRC_AT] + _CRC.pack(zlib.crc32(data)) + data[_HEADER_CRC_AT + _CRC.size :]

    def difference(self, header: Header) -> str | None:
        """Say in one sentence why the memory behind ``header`` is not this layout's, or None if it is."""
        if header.format != FORMAT_VERSION:
            return f"the memory has format {header.format}, this program reads format {FORMAT_VERSION}"
        stored = {spec.id: spec for spec in header.blocks}
        for spec in self.blocks:
            was = stored.pop(spec.id, None)
            if was is None:
                return f"block {spec.name!r} (id {spec.id}) is not in the memory"
            if was != spec:
                ours = _describe(spec)
                return f"block {spec.name!r} is {_describe(was)} in the memory, {ours} in this program"
        if stored:
            names = ", ".join(repr(spec.name) for spec in stored.values())
            return f"the memory holds blocks this program does not know: {names}"
        if header.blocks != self.blocks:
            return "the memory holds the same blocks in another order"
        if (header.image_size, header.journal_sectors) != (self.image_size, self.journal_sectors):
            return (
                f"the memory was laid out for {header.image_size} bytes with a journal of "
                f"{header.journal_sectors} sectors, not {self.image_size} bytes and {self.journal_sectors}"
            )
        if header.binding != self.binding:
            return "the memory belongs to another machine"
        return None


def _describe(spec: BlockSpec) -> str:
    kind = "counters" if spec.counters else "bytes"
    return f"{spec.name!r} version {spec.version}, {spec.size} bytes as {kind}"


def _check_table(blocks: Sequence[BlockSpec]) -> None:
    if not blocks:
        raise LayoutError("the table of blocks is empty")
    for spec in blocks:
        if not 1 <= spec.id <= BLOCK_ID_MAX:
            raise LayoutError(f"block {spec.name!r}: id {spec.id} is not in 1..{BLOCK_ID_MAX}")
        name_ok = 1 <= len(spec.name) <= NAME_SIZE_MAX and spec.name.isascii() and spec.name.isprintable()
        if not name_ok:
            raise LayoutError(
                f"block {spec.id}: name {spec.name!r} is not 1..{NAME_SIZE_MAX} ASCII characters"
            )
        if not 1 <= spec.size <= BLOCK_SIZE_MAX:
            raise LayoutError(f"block {spec.name!r}: size {spec.size} is not in 1..{BLOCK_SIZE_MAX}")
        if spec.counters and spec.size % COUNTER_SIZE:
            raise LayoutError(f"block {spec.name!r}: {spec.size} bytes are not whole 64-bit counters")
        if not 0 <= spec.version <= 0xFFFF:
            raise LayoutError(f"block {spec.name!r}: version {spec.version} is not in 0..65535")
    for what, different in (("id", {spec.id for spec in blocks}), ("name", {spec.name for spec in blocks})):
        if len(different) != len(blocks):
            raise LayoutError(f"two blocks have the same {what}")


def _cut_into_pages(blocks: Sequence[BlockSpec], offset: int) -> list[Page]:
    pages: list[Page] = []
    content_offset = 0
    for spec in blocks:
        for index, start in enumerate(range(0, spec.size, PAGE_PAYLOAD_MAX)):
            payload_size = min(PAGE_PAYLOAD_MAX, spec.size - start)
            size = _whole_sectors(_PAGE_PREFIX_SIZE + payload_size)
            pages.append(Page(len(pages), spec, index, offset, size, payload_size, content_offset))
            offset += size
            content_offset += payload_size
    return pages


def parse_header(image: bytes, offset: int) -> Header | None:
    """Read the header at absolute ``offset``, of this or any other layout. None: damaged or none there."""
    if len(image) < offset + _HEADER.size or not image.startswith(HEADER_MAGIC, offset):
        return None
    (_, crc, version, header_size, image_size, journal_sectors, count, state, _, base, binding, keep) = (
        _HEADER.unpack_from(image, offset)
    )
    if header_size < _HEADER.size:
        return None
    data = bytearray(image[offset : offset + header_size])
    data[_HEADER_CRC_AT : _HEADER_CRC_AT + _CRC.size] = bytes(_CRC.size)
    if zlib.crc32(data) != crc:
        return None
    if version != FORMAT_VERSION:  # only the prefix is promised to stay the same
        return Header(version, 0, 0, HeaderState.READY, 0, b"", frozenset(), ())
    if state not in list(HeaderState) or _HEADER.size + count * _ENTRY.size > header_size:
        return None
    bits = int.from_bytes(keep, "little")
    return Header(
        version, image_size, journal_sectors, HeaderState(state), base, binding,
        frozenset(block for block in range(bits.bit_length()) if bits >> block & 1),
        tuple(_parse_entry(data, _HEADER.size + index * _ENTRY.size) for index in range(count)),
    )  # fmt: skip


def _parse_entry(data: bytes | bytearray, offset: int) -> BlockSpec:
    number, size, version, counters, _, name = _ENTRY.unpack_from(data, offset)
    return BlockSpec(number, name.rstrip(b"\0").decode("ascii", "replace"), size, version, bool(counters))


def encode_page(page: Page, sequence: int, payload: bytes | bytearray) -> bytes:
    """Return the ``page.size`` bytes of a page that holds all changes up to record ``sequence``."""
    spec = page.block
    prefix = _PAGE_HEADER.pack(PAGE_MAGIC, spec.id, page.index, spec.version, page.payload_size, sequence)
    body = bytes(payload).ljust(page.size - _PAGE_PREFIX_SIZE, b"\0")
    return prefix + _CRC.pack(zlib.crc32(body, zlib.crc32(prefix))) + body


def decode_page(page: Page, data: bytes) -> tuple[int, bytes] | None:
    """Return (sequence, payload) of the ``page.size`` bytes ``data``, or None if any of them is wrong."""
    magic, block, index, version, size, sequence = _PAGE_HEADER.unpack_from(data)
    spec = page.block
    if (magic, block, index, version, size) != (
        PAGE_MAGIC,
        spec.id,
        page.index,
        spec.version,
        page.payload_size,
    ):
        return None
    (crc,) = _CRC.unpack_from(data, _PAGE_HEADER.size)
    body = data[_PAGE_PREFIX_SIZE:]
    if zlib.crc32(body, zlib.crc32(data[: _PAGE_HEADER.size])) != crc:
        return None
    return sequence, body[: page.payload_size]


def encode_seal(sequence: int) -> bytes:
    """Return the 16 bytes that say "records up to ``sequence`` are durable"; the rest of the sector is 00."""
    data = _SEAL.pack(SEAL_MAGIC, sequence)
    return data + _CRC.pack(zlib.crc32(data))


def decode_seal(sector: bytes) -> int | None:
    """Return the sequence of a seal from its whole sector, or None if any byte of it is wrong."""
    magic, sequence = _SEAL.unpack_from(sector)
    if magic != SEAL_MAGIC or sector != encode_seal(sequence).ljust(SECTOR_SIZE, b"\0"):
        return None
    return int(sequence)
