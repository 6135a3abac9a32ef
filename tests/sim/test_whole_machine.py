"""A whole machine in virtual time: what it shows while it starts, and how fast its time passes."""

from __future__ import annotations

import pytest

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
