"""Pins in memory: what only they can do."""

from __future__ import annotations

import pytest

from hal.backends.memory_pins import MemoryInputPins, MemoryOutputPins


def test_a_turned_switch_wakes_whoever_listens_once() -> None:
    calls: list[int] = []
    pins = MemoryInputPins(("button_spin", "door_main"))
    pins.on_change = lambda: calls.append(pins.read())
    pins.set("door_main", True)
    pins.set("door_main", True)
    pins.set("door_main", False)
    assert calls == [0b10, 0]
    assert pins.level("door_main") is False


def test_a_changed_lamp_is_seen_once() -> None:
    calls: list[int] = []
    pins = MemoryOutputPins(("lamp_spin", "tower_top"), calls.append)
    for levels in (0, 1, 1, 3):
        pins.write(levels)
    assert calls == [1, 3]
    assert pins.levels == 3


def test_an_unknown_pin_and_a_double_name_are_refused() -> None:
    with pytest.raises(KeyError):
        MemoryInputPins(("button_spin",)).set("button_sping", True)
    for bank in (MemoryInputPins, MemoryOutputPins):
        with pytest.raises(ValueError, match="two pins have one name"):
            bank(("a", "a"))
