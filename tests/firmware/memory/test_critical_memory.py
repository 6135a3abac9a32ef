"""What critical memory promises to those who call it."""

from __future__ import annotations

import pytest

from firmware.memory import (
    Add,
    BlockSpec,
    CriticalMemory,
    LayoutError,
    MemoryInvariantError,
    Put,
    Status,
    UnusableMemoryError,
    read_layout,
)
from firmware.memory.journal import encode_record, scan
from hal.ports.nvram import NvramError
from tests.crash.cuttable_nvram import CuttableNvram
from tests.firmware.memory.common import (
    BLOCKS,
    CREDITS,
    HISTORY,
    IMAGE_SIZE,
    JOURNAL_SIZE,
    METERS,
    blank,
    content_of,
    memory_on,
    open_memory,
    played_memory,
    put_to_sleep,
    wait,
)

FULL_SIZE = 512 * 1024


@pytest.fixture
def nvram() -> CuttableNvram:
    return CuttableNvram(IMAGE_SIZE)


@pytest.fixture
def memory(nvram: CuttableNvram) -> CriticalMemory:
    return open_memory(nvram)[0]


@pytest.mark.parametrize("fill", [0x00, 0xFF])
def test_a_blank_part_is_formatted_and_every_block_is_zeros(fill: int) -> None:
    nvram = CuttableNvram(IMAGE_SIZE)
    nvram.load(bytes((fill,)) * IMAGE_SIZE)
    memory, report = open_memory(nvram)
    assert report.status is Status.FRESH
    assert content_of(memory) == blank()
    assert open_memory(nvram)[1].status is Status.INTACT


def test_changes_are_read_back_at_once_and_after_power_up(
    nvram: CuttableNvram, memory: CriticalMemory
) -> None:
    memory.append([Add(METERS, 3, 2000), Put(CREDITS, 4, b"abc"), Add(METERS, 3, -1), Put(CREDITS, 5, b"X")])
    assert memory.counter(METERS, 3) == 1999
    assert memory.content(CREDITS)[:8] == b"\0\0\0\0aXc\0"
    again, report = open_memory(nvram)
    assert (report.status, report.replayed) == (Status.INTACT, 1)
    assert content_of(again) == content_of(memory)


def test_a_counter_wraps_at_64_bits(memory: CriticalMemory) -> None:
    memory.append([Add(METERS, 0, 2**64 - 1)])
    memory.append([Add(METERS, 0, 2)])
    assert memory.counter(METERS, 0) == 1


@pytest.mark.parametrize(
    "change",
    [
        Add(METERS, 16, 1),
        Add(METERS, -1, 1),
        Add(CREDITS, 0, 1),
        Add(99, 0, 1),
        Put(CREDITS, 47, b"ab"),
        Put(CREDITS, -1, b"a"),
        Put(0, 0, b"a"),
    ],
)
def test_a_change_outside_its_block_is_refused_and_nothing_is_written(
    nvram: CuttableNvram, memory: CriticalMemory, change: Add | Put
) -> None:
    before, image = content_of(memory), nvram.image()
    with pytest.raises(ValueError, match="block"):
        memory.append([Put(CREDITS, 0, b"good"), change])
    assert (content_of(memory), nvram.image()) == (before, image)


def test_the_largest_record_fits_and_one_byte_more_is_refused() -> None:
    """In the typical layout: several sectors, and again and again, so that the ring must make room for it."""
    blocks = [BlockSpec(1, "big", 16_000, 1), BlockSpec(2, "small", 64, 1)]
    nvram = CuttableNvram(FULL_SIZE)
    memory = CriticalMemory(nvram, blocks)
    memory.power_up()
    size = memory.record_size_max - 6  # a put's own bytes
    with pytest.raises(ValueError, match="at most"):
        memory.append([Put(1, 0, bytes(size + 1))])
    for number in range(300):
        offset = number * 997 % (16_000 - size)
        wait(memory, memory.append([Put(1, offset, bytes((number % 256,)) * size)]))
        memory.append([Put(2, 0, bytes(memory._lazy_size_max - 1000))] if number == 7 else [], lazy=True)
    again = CriticalMemory(nvram, blocks)
    assert again.power_up().status is Status.INTACT
    assert again.content(1) == memory.content(1)


def test_a_payload_that_looks_like_a_record_is_not_taken_for_one() -> None:
    """A put across sectors carries the bytes of a forged later record at a sector's start."""
    forged = encode_record(9_999, 9_999, b"")
    for shift in range(512):
        area = encode_record(5, 5, (bytes(shift) + forged).ljust(1500, b"\0")).ljust(8 * 512, b"\0")
        assert [record.sequence for record in scan(area).values()] == [5]


def test_one_record_is_open_at_a_time() -> None:
    nvram = CuttableNvram(IMAGE_SIZE, lag=3)
    memory, _ = open_memory(nvram)
    first = memory.append([Add(METERS, 0, 1)])
    with pytest.raises(MemoryInvariantError):
        memory.append([Add(METERS, 0, 1)])
    assert memory.counter(METERS, 0) == 1
    wait(memory, first)
    assert memory.append([Add(METERS, 0, 1)]) > first


def test_nothing_is_durable_before_the_part_says_so() -> None:
    nvram = CuttableNvram(IMAGE_SIZE, lag=3)
    memory, _ = open_memory(nvram)
    ticket = memory.append([Add(METERS, 0, 1)])
    assert [memory.is_durable(ticket) for _ in range(4)] == [False, False, True, True]
    assert not memory.is_durable(ticket + 1)


def test_a_lazy_change_is_seen_at_once_and_rides_on_the_next_record(nvram: CuttableNvram) -> None:
    memory, _ = open_memory(nvram)
    wait(memory, memory.append([Put(CREDITS, 0, b"first")]))
    operations = nvram.operations
    ticket = memory.append([Put(CREDITS, 0, b"F"), Add(METERS, 1, 5)], lazy=True)
    assert nvram.operations == operations, "a lazy change writes nothing"
    assert memory.content(CREDITS)[:5] == b"First"
    assert memory.counter(METERS, 1) == 5
    assert not memory.is_durable(ticket)
    assert memory_on(nvram.clone()).examine().sequence == ticket - 1
    assert memory.append([Put(CREDITS, 1, b"I")]) == ticket
    wait(memory, ticket)
    again, _ = open_memory(nvram.clone())
    assert again.content(CREDITS)[:5] == b"FIrst"
    assert again.counter(METERS, 1) == 5


def test_lazy_changes_wait_for_an_empty_record_or_for_many_more_of_them(memory: CriticalMemory) -> None:
    assert memory.append(()) == memory.sequence, "nothing to write"
    before = memory.sequence
    ticket = memory.append([Add(METERS, 1, 5)], lazy=True)
    assert memory.append(()) == ticket == before + 1
    for _ in range(100):
        wait(memory, memory.sequence)
        memory.append([Add(METERS, 1, 1)], lazy=True)
    assert before + 5 < memory.sequence < before + 50
    assert memory.counter(METERS, 1) == 105


def test_a_failing_part_is_one_error_and_nothing_is_acknowledged_after_it() -> None:
    nvram = CuttableNvram(IMAGE_SIZE, lag=1)
    memory, _ = open_memory(nvram)
    wait(memory, memory.append([Put(CREDITS, 0, b"safe")]))
    nvram.is_broken = True
    with pytest.raises(NvramError):
        memory.append([Put(CREDITS, 0, b"gone")])
    nvram.is_broken = False
    with pytest.raises(UnusableMemoryError, match="broken"):
        memory.is_durable(memory.sequence)
    with pytest.raises(UnusableMemoryError, match="broken"):
        memory.append([Put(CREDITS, 0, b"gone")])
    assert memory.content(CREDITS)[:4] == b"safe"
    assert memory.power_up().status in (Status.INTACT, Status.REPAIRED)
    assert memory.content(CREDITS)[:4] in (b"safe", b"gone")


def test_a_flush_that_fails_acknowledges_nothing() -> None:
    nvram = CuttableNvram(IMAGE_SIZE, lag=2)
    memory, _ = open_memory(nvram)
    ticket = memory.append([Put(CREDITS, 0, b"gone")])
    nvram.is_broken = True
    for call in (lambda: memory.is_durable(ticket), lambda: memory.seal()):
        with pytest.raises((NvramError, UnusableMemoryError)):
            call()
    with pytest.raises(UnusableMemoryError):
        memory.scrub_step()


def test_nothing_works_before_power_up(nvram: CuttableNvram) -> None:
    memory = memory_on(nvram)
    for call in (
        lambda: memory.append([Add(METERS, 0, 1)]),
        lambda: memory.content(METERS),
        lambda: memory.is_durable(0),
        lambda: memory.format(keep={METERS}),
    ):
        with pytest.raises(UnusableMemoryError):
            call()


def test_a_memory_at_rest_is_read_and_not_written() -> None:
    nvram, content = played_memory(13)
    memory, report = open_memory(nvram)
    assert report.status is Status.INTACT
    assert content_of(memory) == content
    assert nvram.operations == 0


def test_seal_is_done_once(nvram: CuttableNvram, memory: CriticalMemory) -> None:
    wait(memory, memory.append([Add(METERS, 0, 1)]))
    put_to_sleep(memory)
    operations = nvram.operations
    assert memory.seal()
    assert nvram.operations == operations


@pytest.mark.law(
    "NJ-28B-l1", partly="the memory's own clear: only format zeroes, and only what it is told to"
)
def test_format_keeps_what_it_is_told_and_zeroes_the_rest() -> None:
    nvram, content = played_memory(13)
    memory, _ = open_memory(nvram)
    with pytest.raises(ValueError, match="99"):
        memory.format(keep={99})
    assert memory.format(keep={HISTORY}) == []
    expected = {**blank(), HISTORY: content[HISTORY]}
    assert content_of(memory) == expected
    wait(memory, memory.append([Add(METERS, 0, 1)]))
    again, report = open_memory(nvram)
    assert report.status is Status.INTACT
    assert again.counter(METERS, 0) == 1
    assert again.content(HISTORY) == content[HISTORY]


def test_format_waits_for_open_and_lazy_changes(memory: CriticalMemory) -> None:
    memory.append([Add(METERS, 0, 1)], lazy=True)
    with pytest.raises(MemoryInvariantError):
        memory.format()


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        (
            (BlockSpec(METERS, "meters", 17 * 8, 1, counters=True), *BLOCKS[1:]),
            "'meters'.*128 bytes.*136 bytes",
        ),
        (
            (BLOCKS[0], BlockSpec(CREDITS, "credits", 48, 4), BLOCKS[2]),
            "'credits' version 3.*'credits' version 4",
        ),
        ((BLOCKS[0], BlockSpec(CREDITS, "money", 48, 3), BLOCKS[2]), "'money' is 'credits'"),
        (BLOCKS[:2], "'history'"),
        ((*BLOCKS, BlockSpec(9, "vouchers", 20, 1)), "'vouchers'.*not in the memory"),
        (BLOCKS[::-1], "another order"),
    ],
)
def test_another_table_of_blocks_is_refused_by_name(blocks: tuple[BlockSpec, ...], says: str) -> None:
    nvram, _ = played_memory(7)
    image = nvram.image()
    other = CriticalMemory(nvram, blocks, journal_size=JOURNAL_SIZE)
    report = other.power_up()
    assert report.status is Status.FOREIGN
    assert nvram.image() == image
    with pytest.raises(UnusableMemoryError, match=says):
        other.content(blocks[0].id)
    with pytest.raises(UnusableMemoryError, match=says):
        other.append([])
    other.format()
    assert CriticalMemory(nvram, blocks, journal_size=JOURNAL_SIZE).power_up().status is Status.INTACT


@pytest.mark.law("NJ-28B-f", partly="the memory refuses; the tilt is the core's")
def test_a_memory_of_another_machine_is_refused() -> None:
    nvram = CuttableNvram(IMAGE_SIZE)
    ours = CriticalMemory(nvram, BLOCKS, journal_size=JOURNAL_SIZE, binding=b"machine 1")
    ours.power_up()
    ours.append([Put(CREDITS, 0, b"500")])
    theirs = CriticalMemory(nvram, BLOCKS, journal_size=JOURNAL_SIZE, binding=b"machine 2")
    assert theirs.power_up().reason == "the memory belongs to another machine"
    with pytest.raises(UnusableMemoryError, match="another machine"):
        theirs.content(CREDITS)


def test_an_old_memory_can_be_opened_with_the_table_it_holds() -> None:
    nvram, content = played_memory(7)
    blocks, journal_size, binding = read_layout(nvram)
    assert (blocks, journal_size) == (BLOCKS, JOURNAL_SIZE)
    memory = CriticalMemory(nvram, blocks, journal_size=journal_size, binding=binding)
    assert memory.power_up().status is Status.INTACT
    assert content_of(memory) == content
    with pytest.raises(LayoutError):
        read_layout(CuttableNvram(IMAGE_SIZE))


@pytest.mark.parametrize(
    ("blocks", "size"),
    [
        ((), IMAGE_SIZE),
        ((BlockSpec(0, "zero", 8, 1),), IMAGE_SIZE),
        ((BlockSpec(256, "large", 8, 1),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 8, 1), BlockSpec(1, "b", 8, 1)), IMAGE_SIZE),
        ((BlockSpec(1, "a", 8, 1), BlockSpec(2, "a", 8, 1)), IMAGE_SIZE),
        ((BlockSpec(1, "", 8, 1),), IMAGE_SIZE),
        ((BlockSpec(1, "a name of 21 letters.", 8, 1),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 0, 1),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 65_536, 1),), FULL_SIZE),
        ((BlockSpec(1, "a", 12, 1, counters=True),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 8, 65_536),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 16_000, 1),), IMAGE_SIZE),
        ((BlockSpec(1, "a", 8, 1),), FULL_SIZE + 512),
    ],
)
def test_an_impossible_table_is_refused_before_anything_is_touched(
    blocks: tuple[BlockSpec, ...], size: int
) -> None:
    nvram = CuttableNvram(size, cut_after=0)
    with pytest.raises(LayoutError):
        CriticalMemory(nvram, blocks, journal_size=JOURNAL_SIZE)


def test_a_typical_table_fits_the_largest_part_with_room_to_spare() -> None:
    sizes = (64, 2400, 64, 512, 8192, 4096, 1024, 1024, 4096, 16_384, 64, 512, 8192, 2048, 64, 64)
    blocks = [BlockSpec(number, f"block {number}", size, 1) for number, size in enumerate(sizes, 1)]
    memory = CriticalMemory(CuttableNvram(FULL_SIZE), blocks)
    assert 2 * memory.layout.used_size < 0.6 * FULL_SIZE
