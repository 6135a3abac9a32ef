"""What a record costs, counted in bytes written: it depends on the record, not on the memory."""

from __future__ import annotations

import pytest

from firmware.memory import Add, BlockSpec, Change, CriticalMemory, Put
from firmware.memory.layout import PAGE_SIZE_MAX, SECTOR_SIZE
from tests.crash.cuttable_nvram import CuttableNvram
from tests.firmware.memory.common import wait

SIZE = 512 * 1024
METERS, CREDITS, GAME, HISTORY = 1, 2, 3, 4
PLAYED = (
    BlockSpec(METERS, "meters", 300 * 8, 1, counters=True),
    BlockSpec(CREDITS, "credits", 64, 1),
    BlockSpec(GAME, "game in play", 512, 1),
    BlockSpec(HISTORY, "history", 8192, 1),
)
OTHERS = tuple(BlockSpec(number, f"other {number}", 14_000, 1) for number in range(10, 18))


def record_of_a_game(number: int) -> list[Change]:
    """Ten meters and three pieces of state, as half a game makes them; the history moves on."""
    adds: list[Change] = [Add(METERS, (number * 7 + step * 13) % 300, step) for step in range(10)]
    history = number // 2 * 120 % 8000
    return [
        *adds,
        Put(CREDITS, 0, bytes(32)),
        Put(GAME, number % 400, bytes(40)),
        Put(HISTORY, history, bytes(20)),
    ]


def costs(blocks: tuple[BlockSpec, ...], records: int = 2000) -> list[int]:
    nvram = CuttableNvram(SIZE)
    memory = CriticalMemory(nvram, blocks)
    memory.power_up()
    result = []
    for number in range(records):
        before = nvram.bytes_written
        wait(memory, memory.append(record_of_a_game(number)))
        result.append(nvram.bytes_written - before)
    return result


def test_the_cost_of_a_record_does_not_grow_with_the_memory() -> None:
    assert costs(PLAYED) == costs(PLAYED + OTHERS)


def test_a_game_of_two_records_writes_far_less_than_4_kib() -> None:
    assert 2 * sum(costs(PLAYED)) / 2000 < 2048


def test_no_single_record_carries_more_than_two_pages() -> None:
    journal = 2 * SECTOR_SIZE
    assert max(costs(PLAYED)) <= journal + 2 * PAGE_SIZE_MAX


@pytest.mark.parametrize("block_size", [1_000, 16_000, 64_000])
def test_the_cost_of_a_small_change_is_bounded_by_pages_not_by_its_block(block_size: int) -> None:
    nvram = CuttableNvram(SIZE)
    memory = CriticalMemory(nvram, [BlockSpec(1, "large", block_size, 1)])
    memory.power_up()
    before, worst = nvram.bytes_written, 0
    for number in range(500):
        at = nvram.bytes_written
        wait(memory, memory.append([Put(1, number * 7919 % (block_size - 9), b"123456789")]))
        worst = max(worst, nvram.bytes_written - at)
    # Each record touches another page: the queue is emptied evenly, not all at once when the ring is crowded.
    assert worst <= (2 if block_size <= 16_000 else 8) * PAGE_SIZE_MAX + 2 * SECTOR_SIZE
    assert nvram.bytes_written - before < 500 * 4096


def test_every_page_dirty_at_once_never_fills_the_journal() -> None:
    """The worst table: each record touches another page of a full memory, small and large ones mixed."""
    blocks = [BlockSpec(number, f"block {number}", 16_000, 1) for number in range(1, 11)]
    nvram = CuttableNvram(SIZE)
    memory = CriticalMemory(nvram, blocks)
    memory.power_up()
    expected = {spec.id: bytearray(spec.size) for spec in blocks}
    for number in range(1500):
        size = 2900 if number % 3 == 0 else 5
        block, offset, data = 1 + number % 10, number * 1003 % (16_000 - size), bytes((number % 256,)) * size
        expected[block][offset : offset + size] = data
        wait(memory, memory.append([Put(block, offset, data)]))
    again = CriticalMemory(nvram, blocks)
    again.power_up()
    assert {block: bytes(data) for block, data in expected.items()} == {
        spec.id: again.content(spec.id) for spec in blocks
    }
