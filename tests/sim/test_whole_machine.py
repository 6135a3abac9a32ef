"""A whole machine in virtual time: what it shows while it starts, and how fast its time passes."""

from __future__ import annotations

import pytest

from firmware.control_program import state_blocks
from firmware.control_program.options import MachineOptions
from firmware.core.state import new_machine
from firmware.memory import CriticalMemory
from hal.backends.memory_nvram import MemoryNvram
from simulator.sim_session import speed
from simulator.whole_machine import SECOND_US, WholeMachine


@pytest.mark.parametrize("is_first_start", [True, False])
def test_a_machine_whose_power_up_is_not_on_record_yet_is_not_playable(is_first_start: bool) -> None:
    nvram = MemoryNvram()
    machine = WholeMachine(nvram)
    machine.power_on()
    if not is_first_start:
        machine.run_until_playable()
    machine.cut()
    nvram._holds_flushes = True
    machine.power_on()
    machine.run_for(SECOND_US)
    assert machine.world.state()["playable_blocked_by"] == ["acceptor_starting"]
    assert machine.world.state()["playable"] is False
    machine.world.hands.press("spin")
    nvram._holds_flushes = False
    nvram.release()
    assert machine.run_until_playable()
    assert not machine.events("game_started")


def test_virtual_time_runs_ahead_of_real_time() -> None:
    ratio, polls = speed(virtual_us=60 * SECOND_US)
    assert polls == 300
    assert ratio > 1  # hundreds; make bench says how many


def test_the_settings_of_a_new_machine_are_on_record_from_its_first_start() -> None:
    nvram = MemoryNvram()
    machine = WholeMachine(nvram, options=MachineOptions(denomination=25))
    machine.power_on()
    machine.run_for(SECOND_US)
    memory = CriticalMemory(MemoryNvram(image=nvram.image()), state_blocks.BLOCKS)
    memory.power_up()
    other = new_machine(machine.program.plan.rules, {"handpay_limit": 7})
    assert state_blocks.restore(other, memory.content).settings == machine.program.executor.durable.settings
