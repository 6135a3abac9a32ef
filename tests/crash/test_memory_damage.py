"""Change bytes of a memory at rest: each is repaired and reported, or reported as damage; never believed."""

from __future__ import annotations

import contextlib
import itertools
import random

import pytest

from firmware.memory import CriticalMemory, Place, Put, Status
from firmware.memory.layout import SECTOR_SIZE, decode_seal
from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError
from tests.firmware.memory.common import (
    BLOCKS,
    CREDITS,
    HISTORY,
    IMAGE_SIZE,
    METERS,
    content_of,
    memory_on,
    open_memory,
    played_memory,
    put_to_sleep,
    random_changes,
    wait,
)

MASKS = (0x01, 0x80, 0xFF)
# Records so that: the journal has live and dead records; and has wrapped, with checkpoints half done.
AGES = (3, 21)


@pytest.mark.law("NJ-28B-b1", partly="the memory test and its finding, not the machine's log")
@pytest.mark.parametrize("mask", MASKS)
def test_any_single_byte_changed_is_repaired_and_reported(mask: int) -> None:
    """Every offset of the image, unused bytes included: no content is lost and the part is whole again."""
    part, content = played_memory(21)
    image, nvram = part.image(), CuttableNvram(IMAGE_SIZE)
    memory = memory_on(nvram)
    step = 1 if mask == 0xFF else 5  # every byte once, every fifth with each other mask
    for offset in range(0, IMAGE_SIZE, step):
        nvram.load(image)
        nvram.flip(offset, mask)
        report = memory.power_up()
        assert report.status is Status.REPAIRED, f"{offset:#x}: {report}"
        assert report.findings, f"{offset:#x}"
        assert not report.damaged
        assert content_of(memory) == content, f"{offset:#x}"
        if offset % 60 == 0:
            assert memory_on(nvram.clone()).examine().status is Status.INTACT


@pytest.mark.law("NJ-28B-b-hard", partly="the memory refuses until format; the tilt is the core's")
@pytest.mark.parametrize("records", AGES)
@pytest.mark.parametrize("mask", [0x10, 0xFF])
def test_the_same_byte_changed_in_both_copies_of_data_is_damage(mask: int, records: int) -> None:
    part, content = played_memory(records)
    layout = memory_on(part).layout
    live = _live_journal_bytes(part)
    outcomes: dict[Status, int] = {}
    for offset in range(0, layout.half_size, 7):
        nvram = part.clone()
        nvram.flip(offset, mask)
        nvram.flip(offset + layout.half_size, mask)
        before = nvram.image()
        memory, report = open_memory(nvram)
        outcomes[report.status] = outcomes.get(report.status, 0) + 1
        if offset < layout.journal_offset or offset in live:
            assert report.status is Status.DAMAGED, f"{offset:#x}: {report}"
            assert nvram.image() == before, "damaged memory is evidence: nothing is written"
            with pytest.raises(Exception, match="damaged"):
                memory.append([Put(CREDITS, 0, b"no")])
        else:  # dead records and unused bytes hold nothing
            assert not report.damaged
            assert content_of(memory) == content
    assert outcomes[Status.DAMAGED] > 300


def _live_journal_bytes(part: CuttableNvram) -> set[int]:
    """Offsets within a half of the bytes of records that are still needed (their padding holds nothing)."""
    memory, _ = open_memory(part.clone())
    offsets: set[int] = set()
    for _, sector, sectors in memory._ring.live:
        start = sector * SECTOR_SIZE
        size = len(bytes(memory._journal[start : start + sectors * SECTOR_SIZE]).rstrip(b"\0"))
        offsets.update(
            range(memory.layout.journal_offset + start, memory.layout.journal_offset + start + size)
        )
    return offsets


@pytest.mark.parametrize("records", AGES)
def test_a_record_of_the_sealed_past_never_vanishes(records: int) -> None:
    """Wipe whole records in both copies, as a lost sector does: the newest, too, is missed."""
    part, _ = played_memory(records)
    memory, _ = open_memory(part.clone())
    layout = memory.layout
    for sequence, sector, sectors in memory._ring.live:
        nvram = part.clone()
        image = bytearray(nvram.image())
        for copy in (0, 1):
            start = copy * layout.half_size + layout.journal_offset + sector * SECTOR_SIZE
            image[start : start + sectors * SECTOR_SIZE] = bytes(sectors * SECTOR_SIZE)
        nvram.load(image)
        _, report = open_memory(nvram)
        assert report.status is Status.DAMAGED, f"record {sequence}"
        assert report.damaged[0].place is Place.JOURNAL
        assert str(sequence) in report.damaged[0].detail


def test_the_newest_record_is_missed_even_before_the_idle_seal_reached_the_part() -> None:
    """The marker is written when the record is first seen durable, so a killed process leaves it behind."""
    part, _ = played_memory(5)
    memory, _ = open_memory(part)
    wait(memory, memory.append([Put(CREDITS, 0, b"money")]))
    _, sector, _ = memory._ring.live[-1]
    killed = part.clone()  # every write so far, as the page cache keeps them
    for copy in (0, 1):
        killed.flip(copy * memory.layout.half_size + memory.layout.journal_offset + sector * SECTOR_SIZE + 9)
    assert open_memory(killed)[1].status is Status.DAMAGED


def test_good_blocks_of_a_damaged_memory_stay_readable_and_the_bad_one_is_named() -> None:
    part, content = played_memory(21)
    layout = memory_on(part).layout
    (page,) = layout.pages_of(METERS)
    for copy in (0, 1):
        part.flip(copy * layout.half_size + page.offset + 40)
    memory, report = open_memory(part)
    assert report.damaged_blocks == ("meters",)
    assert memory.content(CREDITS) == content[CREDITS]
    assert memory.content(HISTORY) == content[HISTORY]
    with pytest.raises(Exception, match="meters"):
        memory.content(METERS)
    # Turning it off and on again does not help; a clear does, and keeps what is good.
    assert open_memory(part)[1].status is Status.DAMAGED
    lost = memory.format(keep={METERS, HISTORY})
    assert [finding.block for finding in lost] == ["meters"]
    memory, report = open_memory(part)
    assert report.status is Status.INTACT
    assert memory.content(HISTORY) == content[HISTORY]
    assert memory.content(METERS) == bytes(128)


def test_a_bad_page_while_no_checkpoint_was_due_is_not_blamed_on_a_power_cut() -> None:
    part, _ = played_memory(1)
    page = memory_on(part).layout.pages_of(METERS)[0]
    part.flip(page.offset + 30)
    _, report = open_memory(part)
    assert [(finding.block, finding.copy, finding.cut_explains) for finding in report.findings] == [
        ("meters", 0, False)
    ]


@pytest.mark.parametrize("right_by_chance", [False, True])
def test_a_bad_copy_is_proven_to_hold_bits_before_it_is_trusted_again(right_by_chance: bool) -> None:
    """A stuck bit under a repaired page makes the memory damaged, even one stuck at what it should be now."""

    class StuckBit(CuttableNvram):
        stuck_at = -1

        def write(self, offset: int, data: bytes) -> None:
            if offset <= self.stuck_at < offset + len(data):
                at = self.stuck_at - offset
                data = data[:at] + bytes((data[at] | 0x10,)) + data[at + 1 :]
            super().write(offset, data)

    part, _ = played_memory(21)
    page = memory_on(part).layout.pages_of(HISTORY)[0]
    nvram = StuckBit(IMAGE_SIZE)
    nvram.load(part.image())
    nvram.flip(page.offset + 100, 0x10)
    # The first byte of a page is "P", 50, in which this bit is set; the last one is 00, in which it is not.
    nvram.stuck_at = page.offset if right_by_chance else page.offset + page.size - 1
    memory, report = open_memory(nvram)
    assert report.status is Status.DAMAGED
    assert report.damaged[0].place is Place.MEMORY
    with pytest.raises(Exception, match="does not hold"):
        memory.append([Put(CREDITS, 0, b"no")])


@pytest.mark.parametrize("seed", range(4))
def test_bytes_of_the_largest_image_changed_at_random_are_found(seed: int) -> None:
    size = 512 * 1024
    nvram = CuttableNvram(size)
    memory = CriticalMemory(nvram, BLOCKS)
    memory.power_up()
    chance = random.Random(seed)
    for _ in range(200):
        wait(memory, memory.append([Put(HISTORY, chance.randrange(1400), chance.randbytes(90))]))
    put_to_sleep(memory)
    content = content_of(memory)
    for _ in range(25):
        bad = nvram.clone()
        offset = chance.randrange(memory.layout.used_size) + chance.choice((0, memory.layout.half_size))
        bad.flip(chance.choice((offset, chance.randrange(size))), chance.randrange(1, 256))
        again = CriticalMemory(bad, BLOCKS)
        report = again.power_up()
        assert report.status is Status.REPAIRED
        assert content_of(again) == content


def test_two_bytes_changed_anywhere_are_never_believed() -> None:
    """Two faults may end in damage; what is called usable must still be right."""
    part, content = played_memory(18)
    chance = random.Random(5)
    damaged = 0
    for _ in range(1500):
        nvram = part.clone()
        first = chance.randrange(IMAGE_SIZE)
        near = (first + IMAGE_SIZE // 2 + chance.randrange(-40, 40)) % IMAGE_SIZE
        second = chance.choice((near, chance.randrange(IMAGE_SIZE)))
        nvram.flip(first, chance.randrange(1, 256))
        nvram.flip(second, chance.randrange(1, 256))
        memory, report = open_memory(nvram)
        if report.status is Status.DAMAGED:
            damaged += 1
        else:
            assert content_of(memory) == content, report
    assert damaged > 100


def test_a_stale_copy_put_back_from_before_is_not_believed() -> None:
    """Half 0's page is replaced by an older good one whose later records are long overwritten."""
    old, _ = played_memory(2)
    new, _ = played_memory(40)
    page = memory_on(new).layout.pages_of(METERS)[0]
    image = bytearray(new.image())
    image[page.offset : page.offset + page.size] = old.image()[page.offset : page.offset + page.size]
    new.load(image)
    report = open_memory(new)[1]
    assert report.status is Status.DAMAGED
    assert report.damaged_blocks == ("meters",)


def test_pages_that_include_a_record_which_is_gone_are_missed_without_the_seal() -> None:
    """Both seals and the whole journal go back to the day of the format; only the pages know better."""
    new, _ = played_memory(40)
    old, _ = played_memory(0)
    layout = memory_on(new).layout
    image = bytearray(new.image())
    for copy in (0, 1):
        for offset, size in ((layout.seal_offset, SECTOR_SIZE), (layout.journal_offset, layout.journal_size)):
            start = copy * layout.half_size + offset
            image[start : start + size] = old.image()[start : start + size]
    new.load(image)
    report = open_memory(new)[1]
    assert report.status is Status.DAMAGED
    assert "is gone" in report.damaged[0].detail


def test_the_seals_take_turns_so_that_one_bad_seal_costs_one_record_of_knowledge() -> None:
    for records in (5, 6):
        part, _ = played_memory(records)
        layout = memory_on(part).layout
        seals = [
            decode_seal(part.read(copy * layout.half_size + layout.seal_offset, SECTOR_SIZE))
            for copy in (0, 1)
        ]
        newest = open_memory(part)[0].sequence
        assert {newest - 1, newest} == set(seals)


def _records_until_history_is_dirty() -> int:
    """How many records leave the first page of the history behind the journal in both copies."""
    for records in range(15, 60):
        memory, _ = open_memory(played_memory(records)[0])
        number = memory.layout.pages_of(HISTORY)[0].number
        if all(number in queue for queue in memory._dirty):
            return records
    raise AssertionError("the history was never dirty in both copies")


@pytest.mark.parametrize("bad_copy", [0, 1])
def test_a_clear_of_a_damaged_memory_keeps_a_block_with_one_good_copy_through_any_cut(bad_copy: int) -> None:
    part, content = played_memory(_records_until_history_is_dirty())
    layout = memory_on(part).layout
    meters, history = layout.pages_of(METERS)[0], layout.pages_of(HISTORY)[0]
    for copy in (0, 1):
        part.flip(copy * layout.half_size + meters.offset + 40)
    part.flip(bad_copy * layout.half_size + history.offset + 40)
    seen = set()
    for cut_after, seed in itertools.product(range(20), range(8)):
        nvram = CuttableNvram(IMAGE_SIZE, cut_after, seed=100 * seed + cut_after)
        nvram.load(part.image())
        memory, report = open_memory(nvram)
        assert report.damaged_blocks == ("meters",)
        with contextlib.suppress(PowerCutError):
            memory.format(keep={HISTORY})
        nvram.reboot()
        memory, report = open_memory(nvram)
        seen.add(report.status)
        assert memory.content(HISTORY) == content[HISTORY], f"cut after {cut_after}: {report}"
    assert seen >= {Status.DAMAGED, Status.FRESH, Status.INTACT}


def test_a_repaired_page_keeps_its_place_in_the_queue_of_checkpoints() -> None:
    """After a repair play goes on, and at each record each copy of each page alone can still tell the content."""
    chance = random.Random(8)
    for records in range(8, 22):
        part, content = played_memory(records)
        layout = memory_on(part).layout
        for page, copy in itertools.product(layout.pages, (0, 1)):
            nvram = part.clone()
            nvram.flip(copy * layout.half_size + page.offset + 30)
            memory, report = open_memory(nvram)
            assert report.status is Status.REPAIRED
            for number in range(7):
                wait(
                    memory,
                    memory.append([Put(CREDITS, number, b"x")] if number % 2 else random_changes(chance)),
                )
                found = memory_on(nvram.clone()).examine()
                assert found.status is Status.INTACT, f"{page} {copy} after {number} more: {found}"
            again, _ = open_memory(nvram)
            assert content_of(again) == content_of(memory) != content


def test_garbage_is_refused_until_a_clear() -> None:
    nvram = CuttableNvram(IMAGE_SIZE)
    nvram.load(random.Random(3).randbytes(IMAGE_SIZE))
    memory, report = open_memory(nvram)
    assert report.status is Status.DAMAGED
    memory.format()
    assert open_memory(nvram)[1].status is Status.INTACT
