"""The steady check while the machine runs finds what goes bad under it."""

from __future__ import annotations

import contextlib
import itertools
import random

import pytest

from firmware.memory import CriticalMemory, Finding, Place, Put, Status
from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError
from tests.firmware.memory.common import (
    CREDITS,
    IMAGE_SIZE,
    METERS,
    changed,
    content_of,
    memory_on,
    open_memory,
    played_memory,
    put_to_sleep,
    random_changes,
    wait,
)


def scrub_all(memory: CriticalMemory) -> list[Finding]:
    return [finding for _ in range(memory.scrub_steps) for finding in memory.scrub_step()]


def test_a_healthy_memory_has_no_findings_at_any_moment() -> None:
    nvram, chance = CuttableNvram(IMAGE_SIZE, lag=1), random.Random(4)
    memory, _ = open_memory(nvram)
    for _ in range(40):
        ticket = memory.append(random_changes(chance))
        assert scrub_all(memory) == []  # while the record is open, too
        assert memory.check_block(METERS) == []
        wait(memory, ticket)
        memory.append([Put(CREDITS, 40, b"lazy")], lazy=True)
        assert scrub_all(memory) == []


def test_every_byte_that_goes_bad_under_a_running_machine_is_found_and_put_right() -> None:
    part, content = played_memory(21)
    for offset in range(0, IMAGE_SIZE, 37):
        nvram = part.clone()
        memory, _ = open_memory(nvram)
        nvram.flip(offset, 0x40)
        findings = scrub_all(memory)
        assert len(findings) == 1, f"{offset:#x}"
        assert not findings[0].damaged
        expected = content
        for _ in range(2):  # what must ride on a record rides on these
            changes = [Put(CREDITS, 0, b"next")]
            wait(memory, memory.append(changes))
            expected = changed(expected, list(changes))
        assert scrub_all(memory) == [], f"{offset:#x}: {findings}"
        assert memory_on(nvram.clone()).examine().status is Status.INTACT
        assert content_of(memory) == expected


def test_a_page_bad_in_both_copies_is_damage_and_named() -> None:
    nvram, _ = played_memory(21)
    memory, _ = open_memory(nvram)
    (page,) = memory.layout.pages_of(METERS)
    for copy in (0, 1):
        nvram.flip(page.offset + 30 + copy * memory.layout.half_size)
    (finding,) = memory.check_block(METERS)
    assert finding.damaged
    assert finding.block == "meters"
    assert memory.check_block(CREDITS) == []
    assert [found for found in scrub_all(memory) if found.damaged] == [finding]


@pytest.mark.parametrize("place", [Place.HEADER, Place.SEAL])
def test_a_header_or_seal_bad_in_both_copies_is_damage(place: Place) -> None:
    nvram, _ = played_memory(3)
    memory, _ = open_memory(nvram)
    offset = {Place.HEADER: 20, Place.SEAL: memory.layout.seal_offset + 6}[place]
    for copy in (0, 1):
        nvram.flip(offset + copy * memory.layout.half_size)
    (finding,) = scrub_all(memory)
    assert (finding.place, finding.damaged, finding.copy) == (place, True, None)


def test_a_cut_while_a_repair_rides_on_a_record_loses_nothing() -> None:
    """A page or a seal goes bad, the next record rewrites it, and the power goes at each operation of that."""
    layout = memory_on(played_memory(1)[0]).layout
    items = [page.offset for page in layout.pages]
    items += [layout.seal_offset, layout.seal_offset + layout.half_size]
    for records, offset in itertools.product((20, 21), items):
        part, content = played_memory(records)
        for cut_after in range(8):
            for seed in range(8):
                nvram = CuttableNvram(IMAGE_SIZE, seed=100 * seed + cut_after)
                nvram.load(part.image())
                memory, _ = open_memory(nvram)
                nvram.flip(offset + 10)
                assert len(scrub_all(memory)) == 1
                nvram.cut_after = nvram.operations + cut_after
                changes = [Put(CREDITS, 0, b"next")]
                with contextlib.suppress(PowerCutError):
                    wait(memory, memory.append(changes))
                    put_to_sleep(memory)
                nvram.reboot()
                memory, report = open_memory(nvram)
                assert report.status in (Status.INTACT, Status.REPAIRED), report
                assert content_of(memory) in (content, changed(content, list(changes)))
