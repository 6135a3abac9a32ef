"""A whole machine in virtual time: what it shows while it starts, and how fast its time passes."""

from __future__ import annotations

import pytest

from firmware.control_program import state_blocks
from firmware.control_program.options import MachineOptions
from firmware.core.state import new_machine
from firmware.memory import CriticalMemory
from hal.backends.memory_nvram import MemoryNvram
from sas_protocol.host_end import LongPollRequest
from sas_protocol.longpolls.meters import SEND_EXTENDED_METERS
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


def test_what_went_wrong_on_a_line_can_be_read_from_outside() -> None:
    whole = WholeMachine(MemoryNvram())
    whole.power_on()
    whole.run_for(2 * SECOND_US)
    (link,) = whole.program.public_state()["links"]
    assert link["up"]
    assert link["trouble"] == ""
    assert link["counters"]["crc_errors"] == 0
    whole.host.link.write(b"\x01", wakeup=True)
    whole.host.link.write(b"\x02\xca\x3b", wakeup=False)
    whole.run_for(SECOND_US)
    (link,) = whole.program.public_state()["links"]
    assert link["counters"]["crc_errors"] == 1


def test_a_machine_that_reports_603_has_its_meters_too() -> None:
    whole = WholeMachine(MemoryNvram(), options=MachineOptions(sas_version="603"))
    whole.power_on()
    whole.run_for(2 * SECOND_US)
    whole.host.ask(LongPollRequest(SEND_EXTENDED_METERS, {"game": 0, "meters": (0x00, 0x79)}))
    whole.run_for(SECOND_US)
    (answer,) = whole.host.answers
    assert [(code, value) for code, _, value in answer.values["meters"]] == [(0x00, 0), (0x79, None)]
