"""Formatting: the RAM clear, and the first format of a blank part. A power cut in it is finished at the next
power-up.

Steps, each durable before the next: header copy 0 then 1 say *clearing* and which blocks are kept; half 0 is
rewritten whole, then half 1; header copy 0 then 1 say *ready*. So the kept blocks are good in one half at
every moment, and from the first header on the clear is a fact that power-up completes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from firmware.memory.layout import (
    SECTOR_SIZE,
    Header,
    HeaderState,
    Layout,
    decode_page,
    encode_page,
    encode_seal,
)
from firmware.memory.report import Finding, Place
from hal.ports.nvram import Nvram


def clear(
    nvram: Nvram,
    layout: Layout,
    base_sequence: int,
    kept: Mapping[int, bytes],
    keep: Iterable[int],
    flush: Callable[[], None],
) -> None:
    """Write a fresh image. ``kept``: page number -> payload; every other page becomes zeros.

    Args:
        base_sequence: above every sequence number in the memory; the first record is the one after it.
        keep: ids of the blocks that ``kept`` belongs to, for the header.
        flush: makes everything written durable before it returns.

    The kept pages must be good in both halves, with nothing left in the journal for them. Raises NvramError.
    """
    keep = frozenset(keep)
    half = layout.half_size
    clearing = layout.header(HeaderState.CLEARING, base_sequence, keep)
    for copy in (0, 1):
        nvram.write(copy * half, clearing)
        flush()
    body = bytearray(half)
    seal = encode_seal(base_sequence)
    body[layout.seal_offset : layout.seal_offset + len(seal)] = seal
    for page in layout.pages:
        payload = kept.get(page.number, bytes(page.payload_size))
        body[page.offset : page.offset + page.size] = encode_page(page, base_sequence, payload)
    for copy in (0, 1):
        nvram.write(copy * half + layout.header_size, bytes(body[layout.header_size :]))
        if copy and layout.image_size > 2 * half:
            nvram.write(2 * half, bytes(SECTOR_SIZE))
        flush()
    ready = layout.header(HeaderState.READY, base_sequence)
    for copy in (0, 1):
        nvram.write(copy * half, ready)
        flush()


def kept_pages(image: bytes, layout: Layout, header: Header) -> tuple[dict[int, bytes], list[Finding]]:
    """Read what an interrupted clear must keep: page number -> payload, and what is lost."""
    kept: dict[int, bytes] = {}
    findings: list[Finding] = []
    for page in layout.pages:
        if page.block.id not in header.keep:
            continue
        copies = []
        for copy in (0, 1):
            start = copy * layout.half_size + page.offset
            found = decode_page(page, image[start : start + page.size])
            if found is not None:
                copies.append(found)
        if copies:
            kept[page.number] = max(copies)[1]
        else:
            detail = f"block {page.block.name!r}: page {page.index} is lost in the clear that was to keep it"
            finding = Finding(Place.BLOCK, detail, damaged=True, block=page.block.name, offset=page.offset)
            findings.append(finding)
    return kept, findings
