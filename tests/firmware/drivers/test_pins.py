"""Switches and lamps: levels to facts, orders to levels."""

from __future__ import annotations

import pytest

from firmware.core.facts import ButtonPressed, DoorMoved, KeyTurned
from firmware.core.orders import SetLamp
from firmware.drivers.lamps import Lamps
from firmware.drivers.switches import Debounce, Switches
from hal.backends.memory_pins import MemoryInputPins, MemoryOutputPins

NAMES = ("door_main", "button_spin", "can_present", "key_audit", "door_main_optic", "button_bet_one")
MS = 1000


@pytest.fixture
def pins() -> MemoryInputPins:
    return MemoryInputPins(NAMES)


@pytest.fixture
def switches(pins: MemoryInputPins) -> Switches:
    made = Switches(pins)
    made.step(0)
    made.step(100 * MS)
    return made


def test_power_up_tells_every_door_and_key_once(pins: MemoryInputPins) -> None:
    switches = Switches(pins)
    assert switches.step(0) == []
    assert switches.next_deadline_us() == 20 * MS
    assert switches.step(30 * MS) == [DoorMoved("main", False), KeyTurned("audit", False)]
    assert switches.next_deadline_us() is None
    assert switches.step(10_000 * MS) == []


def test_a_door_open_at_power_up_is_told_in_the_first_step(pins: MemoryInputPins) -> None:
    pins.set("door_main_optic", True)
    assert Switches(pins).step(0) == [DoorMoved("main", True)]


def test_a_button_held_at_power_up_is_no_press(pins: MemoryInputPins) -> None:
    pins.set("button_spin", True)
    switches = Switches(pins)
    for now_ms in range(0, 1000, 10):
        assert ButtonPressed("spin") not in switches.step(now_ms * MS)
    pins.set("button_spin", False)
    switches.step(1000 * MS)
    switches.step(1020 * MS)
    pins.set("button_spin", True)
    assert switches.step(1100 * MS) == []
    assert switches.step(1120 * MS) == [ButtonPressed("spin")]


def test_a_press_counts_after_20_ms_and_once(switches: Switches, pins: MemoryInputPins) -> None:
    pins.set("button_spin", True)
    assert switches.step(1000 * MS) == []
    assert switches.next_deadline_us() == 1020 * MS
    assert switches.step(1020 * MS - 1) == []
    assert switches.step(1020 * MS) == [ButtonPressed("spin")]
    assert switches.next_deadline_us() is None
    assert switches.step(9000 * MS) == []


def test_interference_on_a_button_wire_is_no_press(switches: Switches, pins: MemoryInputPins) -> None:
    now_us = 1000 * MS
    for _ in range(50):
        pins.set("button_spin", True)
        assert switches.step(now_us) == []
        pins.set("button_spin", False)
        assert switches.step(now_us + 19 * MS) == []
        now_us += 40 * MS
    assert switches.next_deadline_us() is None


def test_two_sensors_of_a_door_open_if_either_closed_if_both(
    switches: Switches, pins: MemoryInputPins
) -> None:
    pins.set("door_main", True)
    assert switches.step(1000 * MS) == [DoorMoved("main", True)]
    pins.set("door_main_optic", True)
    pins.set("door_main", False)
    assert switches.step(2000 * MS) == []
    assert switches.next_deadline_us() is None
    pins.set("door_main_optic", False)
    assert switches.step(3000 * MS) == []
    assert switches.step(3030 * MS) == [DoorMoved("main", False)]


def test_times_are_settings(pins: MemoryInputPins) -> None:
    switches = Switches(pins, Debounce(door_closed_us=50 * MS, button_us=0, key_us=0))
    assert switches.step(0) == [KeyTurned("audit", False)]
    assert switches.next_deadline_us() == 50 * MS


def test_other_pins_are_left_alone(switches: Switches, pins: MemoryInputPins) -> None:
    pins.set("can_present", True)
    assert switches.step(5000 * MS) == []
    assert switches.next_deadline_us() is None


def test_lamps_follow_orders() -> None:
    pins = MemoryOutputPins(("lamp_spin", "motor", "tower_top", "lamp_service"))
    pins.write(0b1111)
    lamps = Lamps(pins)
    assert pins.levels == 0, "dark at first"
    assert lamps.names == ("spin", "tower_top", "service")
    lamps.order(SetLamp("spin", on=True))
    lamps.order(SetLamp("tower_top", on=True))
    assert pins.levels == 0b0101
    lamps.order(SetLamp("spin", on=False))
    assert pins.levels == 0b0100
    assert lamps.is_lit("tower_top")
    assert not lamps.is_lit("service")


def test_a_lamp_that_is_not_there_is_no_error_and_a_pin_that_is_no_lamp_stays_low() -> None:
    writes: list[int] = []
    pins = MemoryOutputPins(("lamp_spin", "motor"), on_change=writes.append)
    lamps = Lamps(pins)
    for name in ("gamble", "motor", "lamp_spin"):
        lamps.order(SetLamp(name, on=True))
    assert writes == []
    lamps.order(SetLamp("spin", on=True))
    lamps.order(SetLamp("spin", on=True))
    assert writes == [1]
