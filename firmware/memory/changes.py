"""The changes one record makes, and their bytes in the journal.

Wire form, little-endian, one after the other:

====  =====================================================
Put   02, block (1), offset (2), size (2), the bytes
Add   01, block (1), index (2), amount modulo 2**64 (8)
====  =====================================================

An ``Add`` is not idempotent; that each is applied exactly once is the business of the sequence number that
every page carries (``firmware.memory.recovery``).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from firmware.memory.layout import COUNTER_SIZE, PAGE_PAYLOAD_MAX, Layout

COUNTER_MASK = 0xFFFF_FFFF_FFFF_FFFF
_COUNTERS_PER_PAGE = PAGE_PAYLOAD_MAX // COUNTER_SIZE
_ADD_CODE, _PUT_CODE = 1, 2
_ADD = struct.Struct("<BBHQ")
_PUT = struct.Struct("<BBHH")
_COUNTER = struct.Struct("<Q")
_pack_add, _pack_put = _ADD.pack, _PUT.pack
_read_counter, _write_counter = _COUNTER.unpack_from, _COUNTER.pack_into


@dataclass(frozen=True, slots=True)
class Put:
    """Replace ``data`` bytes at ``offset`` inside block ``block``."""

    block: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Add:
    """Add ``amount`` (may be negative) to 64-bit counter ``index`` of a counters block, modulo 2**64."""

    block: int
    index: int
    amount: int


Change = Put | Add


# Block id -> (content base, size, counter count or 0 if bytes, first page). A plain tuple: unpacking it is
# the hot path.
Places = dict[int, tuple[int, int, int, int]]


def places_of(layout: Layout) -> Places:
    """Return what ``encode`` and ``apply`` need to know of each block."""
    return {
        spec.id: (
            layout.content_base[spec.id],
            spec.size,
            spec.size // COUNTER_SIZE if spec.counters else 0,
            layout.first_page[spec.id],
        )
        for spec in layout.blocks
    }


def encode(changes: Sequence[Change], places: Places) -> tuple[bytes, set[int]]:
    """Check every change and return the record's payload and the pages touched.

    Raises:
        ValueError: an unknown block, a range outside its block, an Add to a block of bytes. Nothing has been
        done.
    """
    parts: list[bytes] = []
    pages: set[int] = set()
    size = counter_count = first_page = seen = 0
    for change in changes:
        block = change.block
        if block != seen:  # changes of one block often follow one another; 0 is no block
            place = places.get(block)
            if place is None:
                raise ValueError(f"{change}: no such block")
            _, size, counter_count, first_page = place
            seen = block
        if type(change) is Add:
            index = change.index
            if not 0 <= index < counter_count:
                raise ValueError(f"{change}: the block has {counter_count} counters")
            parts.append(_pack_add(_ADD_CODE, block, index, change.amount & COUNTER_MASK))
            pages.add(first_page + index // _COUNTERS_PER_PAGE)
        elif type(change) is Put:
            offset, data = change.offset, change.data
            length = len(data)
            if not (offset >= 0 and offset + length <= size):
                raise ValueError(f"put of {length} bytes at {offset} of block {block}: it has {size} bytes")
            if not length:
                continue
            parts.append(_pack_put(_PUT_CODE, block, offset, length))
            parts.append(data)
            first, last = offset // PAGE_PAYLOAD_MAX, (offset + length - 1) // PAGE_PAYLOAD_MAX
            pages.add(first_page + first)
            if last != first:
                pages.update(range(first_page + first + 1, first_page + last + 1))
    return b"".join(parts), pages


def decode(payload: bytes) -> list[Change]:
    """Return the changes of a payload. Raises ValueError if this program cannot read it."""
    changes: list[Change] = []
    position, end = 0, len(payload)
    try:
        while position < end:
            if payload[position] == _ADD_CODE:
                _, block, index, amount = _ADD.unpack_from(payload, position)
                changes.append(Add(block, index, amount))
                position += _ADD.size
            elif payload[position] == _PUT_CODE:
                _, block, offset, size = _PUT.unpack_from(payload, position)
                position += _PUT.size + size
                if position > end:
                    raise ValueError("a put runs past the end of its record")
                changes.append(Put(block, offset, payload[position - size : position]))
            else:
                raise ValueError(f"change code {payload[position]:02X}")
    except struct.error as error:
        raise ValueError("a change runs past the end of its record") from error
    return changes


def apply(changes: Sequence[Change], places: Places, content: bytearray) -> None:
    """Make changes that ``encode`` has checked, in order, in the content of all blocks."""
    for change in changes:
        position = places[change.block][0]
        if type(change) is Add:
            position += change.index * COUNTER_SIZE
            (count,) = _read_counter(content, position)
            _write_counter(content, position, (count + change.amount) & COUNTER_MASK)
        elif type(change) is Put:
            position += change.offset
            data = change.data
            content[position : position + len(data)] = data


def split_by_page(change: Change, places: Places) -> list[tuple[int, Change]]:
    """Return (page number, part of the change inside that page): replay decides for each page on its own."""
    first_page = places[change.block][3]
    if isinstance(change, Add):
        return [(first_page + change.index // _COUNTERS_PER_PAGE, change)]
    parts: list[tuple[int, Change]] = []
    done = 0
    while done < len(change.data):
        offset = change.offset + done
        room = PAGE_PAYLOAD_MAX - offset % PAGE_PAYLOAD_MAX
        piece = change.data[done : done + room]
        parts.append((first_page + offset // PAGE_PAYLOAD_MAX, Put(change.block, offset, piece)))
        done += len(piece)
    return parts
