"""Critical memory that goes bad while the machine runs: one copy is mended, both are the end of play."""

from __future__ import annotations

import pytest

from firmware.control_program import state_blocks
from hal.backends.memory_nvram import MemoryNvram
from simulator.whole_machine import SECOND_US, WholeMachine

SIZE = 512 * 1024
RAM_ERROR_RECOVERED, RAM_ERROR_LOST = 0x31, 0x32


def running() -> tuple[WholeMachine, MemoryNvram]:
    nvram = MemoryNvram(SIZE)
    whole = WholeMachine(nvram)
    whole.power_on()
    assert whole.run_until_playable()
    whole.world.hands.bill(2000, lambda fate: None)
    whole.run_for(5 * SECOND_US)
    assert whole.program.executor.durable.credits.total == 2000
    return whole, nvram


def damage(whole: WholeMachine, nvram: MemoryNvram, *copies: int) -> None:
    layout = whole.program.memory.layout
    page = layout.pages_of(state_blocks.SETTINGS.id)[0]
    for copy in copies:
        at = copy * layout.half_size + page.offset + 30
        nvram.write(at, bytes((nvram.read(at, 1)[0] ^ 0x40,)))


def a_whole_scrub(whole: WholeMachine) -> int:
    return (whole.program.memory.scrub_steps + 2) * 5 * SECOND_US


@pytest.mark.parametrize("copy", [0, 1])
def test_one_bad_copy_is_found_told_and_mended_and_play_goes_on(copy: int) -> None:
    whole, nvram = running()
    damage(whole, nvram, copy)
    whole.run_for(a_whole_scrub(whole))
    assert RAM_ERROR_RECOVERED in [heard.code for heard in whole.host.heard]
    assert whole.program.executor.durable.is_playable
    whole.run_for(a_whole_scrub(whole))
    assert [heard.code for heard in whole.host.heard].count(RAM_ERROR_RECOVERED) == 1, "it was mended"


@pytest.mark.law("NJ-28B-b-hard", "NJ-28B-p1", partly="the RAM clear that ends it comes with the ritual")
def test_two_bad_copies_end_play_until_a_clear_and_the_evidence_stays() -> None:
    whole, nvram = running()
    damage(whole, nvram, 0, 1)
    whole.run_for(a_whole_scrub(whole))
    assert "memory_failure" in whole.program.executor.durable.tilts
    assert RAM_ERROR_LOST in [heard.code for heard in whole.host.heard]
    evidence = nvram.image()
    whole.world.hands.press("spin")
    whole.world.hands.key("reset", True)
    whole.run_for(10 * SECOND_US)
    assert nvram.image() == evidence, "nothing is written over what was found"
    assert whole.program.executor.durable.credits.total == 2000
    whole.cut()
    whole.power_on()
    whole.run_for(10 * SECOND_US)
    assert "memory_failure" in whole.program.executor.durable.tilts, "only a RAM clear ends it"
