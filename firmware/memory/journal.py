"""The journal: the bytes of a record, and the ring of sectors it is written to.

A record begins on a sector of its own and lies at the same sector of both halves. Logical bytes,
little-endian::

    A5 | 01 | payload size (2) | sequence (8) | needed from (8) | payload | CRC-32 of all before (4)

If it is longer than one sector, each further sector begins with 5A, so that no payload can pose as a record.
*Needed from* is the oldest record that some copy of some page still lacks: it and all up to this one must be
found at power-up, anything older is dead and may be overwritten.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from firmware.memory.errors import MemoryInvariantError
from firmware.memory.layout import SECTOR_SIZE

RECORD_START = 0xA5
RECORD_CONTINUES = 0x5A
_RECORD_VERSION = 1
_HEAD = struct.Struct("<BBHQQ")
_CRC = struct.Struct("<I")
_OVERHEAD = _HEAD.size + _CRC.size
_CHUNK_SIZE = SECTOR_SIZE - 1  # of each sector after the first
_pack_head, _pack_crc, _crc32 = _HEAD.pack, _CRC.pack, zlib.crc32


@dataclass(frozen=True, slots=True)
class Record:
    """One record as found; ``sectors`` is how many it occupies."""

    sequence: int
    needed_from: int
    payload: bytes
    sectors: int


def record_sectors(payload_size: int) -> int:
    """Return how many sectors a record with ``payload_size`` bytes of changes occupies."""
    size = payload_size + _OVERHEAD
    return 1 if size <= SECTOR_SIZE else 1 - (SECTOR_SIZE - size) // _CHUNK_SIZE


def payload_size_max(sectors: int) -> int:
    """Return the largest payload that fits ``sectors`` sectors."""
    return SECTOR_SIZE + (sectors - 1) * _CHUNK_SIZE - _OVERHEAD


def encode_record(sequence: int, needed_from: int, payload: bytes) -> bytes:
    """Return the bytes of a record as they lie in memory, not padded."""
    body = _pack_head(RECORD_START, _RECORD_VERSION, len(payload), sequence, needed_from) + payload
    data = body + _pack_crc(_crc32(body))
    if len(data) <= SECTOR_SIZE:
        return data
    pieces = [data[:SECTOR_SIZE]]
    for position in range(SECTOR_SIZE, len(data), _CHUNK_SIZE):
        pieces.append(bytes((RECORD_CONTINUES,)))
        pieces.append(data[position : position + _CHUNK_SIZE])
    return b"".join(pieces)


def decode_record(area: bytes, sector: int) -> Record | None:
    """Return the record that begins at ``sector`` of a journal area, or None if there is no good one."""
    start = sector * SECTOR_SIZE
    kind, version, size, sequence, needed_from = _HEAD.unpack_from(area, start)
    if kind != RECORD_START or version != _RECORD_VERSION:
        return None
    sectors = record_sectors(size)
    if start + sectors * SECTOR_SIZE > len(area):
        return None
    data = area[start : start + SECTOR_SIZE]
    for position in range(start + SECTOR_SIZE, start + sectors * SECTOR_SIZE, SECTOR_SIZE):
        if area[position] != RECORD_CONTINUES:
            return None
        data += area[position + 1 : position + SECTOR_SIZE]
    end = _HEAD.size + size
    if _crc32(data[:end]) != _CRC.unpack_from(data, end)[0]:
        return None
    return Record(sequence, needed_from, data[_HEAD.size : end], sectors)


def scan(area: bytes) -> dict[int, Record]:
    """Return sector -> record for every good record of one journal area, dead ones included."""
    found: dict[int, Record] = {}
    for sector in range(len(area) // SECTOR_SIZE):
        if area[sector * SECTOR_SIZE] == RECORD_START:
            record = decode_record(area, sector)
            if record is not None:
                found[sector] = record
    return found


class Ring:
    """Which sectors hold records that are still needed, and where the next one goes. Unit: sectors."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.record_max = max(1, size // 16)
        # Sound for any mix of record sizes: see the ADR, "Room in the ring". One sixteenth leaves ample
        # margin.
        self.crowded_above = size - 4 * self.record_max
        self.half_full = size // 2
        self.head = 0
        self._live: deque[tuple[int, int, int]] = deque()  # sequence, sector, sectors

    def restore(self, live: Iterable[tuple[int, int, int]]) -> None:
        """Take the needed records found at power-up, (sequence, sector, sectors) in order of sequence."""
        self._live = deque(live)
        self.head = self._live[-1][1] + self._live[-1][2] if self._live else 0

    @property
    def live(self) -> tuple[tuple[int, int, int], ...]:
        """The needed records as (sequence, sector, sectors), oldest first."""
        return tuple(self._live)

    @property
    def used(self) -> int:
        """Sectors from the oldest needed record to the head, sectors skipped at the end included."""
        if not self._live:
            return 0
        return (self.head - self._live[0][1] - 1) % self.size + 1

    def release(self, needed_from: int) -> None:
        """Forget records older than ``needed_from``, which must come from a record that is durable."""
        live = self._live
        while live and live[0][0] < needed_from:
            live.popleft()

    def place(self, sequence: int, sectors: int) -> int:
        """Take ``sectors`` sectors in one piece for the record ``sequence`` and return the first.

        Raises:
            MemoryInvariantError: no room, which checkpoints must have prevented.
        """
        start, skipped = self.head, 0
        if start + sectors > self.size:
            skipped, start = self.size - start, 0
        if self.used + skipped + sectors > self.size:
            raise MemoryInvariantError(f"the journal has no room for record {sequence} of {sectors} sectors")
        self._live.append((sequence, start, sectors))
        self.head = start + sectors
        return start
