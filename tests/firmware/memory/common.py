"""A small layout and a plain model of what the memory must contain, for these tests and the crash sweep."""

from __future__ import annotations

import random

from firmware.memory import Add, BlockSpec, Change, CriticalMemory, PowerUpReport, Put
from tests.crash.cuttable_nvram import CuttableNvram

METERS, CREDITS, HISTORY = 1, 2, 7
BLOCKS = (
    BlockSpec(METERS, "meters", 16 * 8, 1, counters=True),
    BlockSpec(CREDITS, "credits", 48, 3),
    BlockSpec(HISTORY, "history", 1500, 1),  # two pages
)
JOURNAL_SIZE = 8 * 512  # the smallest: wraps every few records
IMAGE_SIZE = 35 * 512  # 2 x 17 sectors, one more than needed, and one that belongs to no half

Content = dict[int, bytes]


def memory_on(nvram: CuttableNvram) -> CriticalMemory:
    return CriticalMemory(nvram, BLOCKS, journal_size=JOURNAL_SIZE)


def open_memory(nvram: CuttableNvram) -> tuple[CriticalMemory, PowerUpReport]:
    memory = memory_on(nvram)
    return memory, memory.power_up()


def content_of(memory: CriticalMemory) -> Content:
    return {spec.id: memory.content(spec.id) for spec in memory.layout.blocks}


def blank(blocks: tuple[BlockSpec, ...] = BLOCKS) -> Content:
    return {spec.id: bytes(spec.size) for spec in blocks}


def changed(content: Content, changes: list[Change]) -> Content:
    """Apply changes the plain way: the oracle."""
    result = {block: bytearray(data) for block, data in content.items()}
    for change in changes:
        data = result[change.block]
        if isinstance(change, Add):
            span = slice(8 * change.index, 8 * change.index + 8)
            value = (int.from_bytes(data[span], "little") + change.amount) % 2**64
            data[span] = value.to_bytes(8, "little")
        else:
            data[change.offset : change.offset + len(change.data)] = change.data
    return {block: bytes(data) for block, data in result.items()}


def random_changes(chance: random.Random) -> list[Change]:
    """A record as a game makes them; every third touches the page boundary of the history."""
    changes: list[Change] = [
        Add(METERS, chance.randrange(16), chance.choice((1, 100, -1, 2**63)))
        for _ in range(chance.randrange(1, 5))
    ]
    changes.append(Put(CREDITS, chance.randrange(40), chance.randbytes(8)))
    offset = chance.choice((chance.randrange(1400), 980, 1000))
    changes.append(Put(HISTORY, offset, chance.randbytes(chance.randrange(1, 60))))
    return changes


def wait(memory: CriticalMemory, ticket: int) -> None:
    while not memory.is_durable(ticket):
        pass


def put_to_sleep(memory: CriticalMemory) -> None:
    """An orderly power-down."""
    while not memory.seal():
        pass


def played_memory(records: int, seed: int = 1) -> tuple[CuttableNvram, Content]:
    """A part with some history behind it, at rest, and what it must contain."""
    nvram = CuttableNvram(IMAGE_SIZE)
    memory, _ = open_memory(nvram)
    chance, content = random.Random(seed), blank()
    for _ in range(records):
        changes = random_changes(chance)
        wait(memory, memory.append(changes))
        content = changed(content, changes)
    put_to_sleep(memory)
    return nvram.clone(), content
