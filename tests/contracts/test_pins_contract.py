"""What every bank of pins promises, run on each back end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from hal.backends.memory_pins import MemoryInputPins, MemoryOutputPins
from hal.ports.pins import InputPins, OutputPins

NAMES = ("button_spin", "door_main", "key_reset")


@dataclass
class Switches:
    """A bank under test, and the hand that turns its switches."""

    pins: InputPins
    turn: Callable[[str, bool], None]


@dataclass
class Lamps:
    """A bank under test, and the eye that sees its lamps."""

    pins: OutputPins
    see: Callable[[str], bool]


@pytest.fixture(params=["memory"])
def switches() -> Switches:
    pins = MemoryInputPins(NAMES)
    return Switches(pins, pins.set)


@pytest.fixture(params=["memory"])
def lamps() -> Lamps:
    pins = MemoryOutputPins(NAMES)
    return Lamps(pins, pins.level)


class TestInputPins:
    def test_names_keep_their_order(self, switches: Switches) -> None:
        assert switches.pins.names == NAMES

    def test_all_is_off_at_first(self, switches: Switches) -> None:
        assert switches.pins.read() == 0

    @pytest.mark.parametrize(("index", "name"), list(enumerate(NAMES)))
    def test_each_bit_is_its_name(self, switches: Switches, index: int, name: str) -> None:
        switches.turn(name, True)
        assert switches.pins.read() == 1 << index
        assert switches.pins.read() == 1 << index
        switches.turn(name, False)
        assert switches.pins.read() == 0

    def test_switches_do_not_disturb_each_other(self, switches: Switches) -> None:
        for name in NAMES:
            switches.turn(name, True)
        switches.turn("door_main", False)
        assert switches.pins.read() == 0b101


class TestOutputPins:
    def test_names_keep_their_order(self, lamps: Lamps) -> None:
        assert lamps.pins.names == NAMES

    def test_all_is_off_at_first(self, lamps: Lamps) -> None:
        assert not any(lamps.see(name) for name in NAMES)

    @pytest.mark.parametrize("levels", range(8))
    def test_each_bit_is_its_name(self, lamps: Lamps, levels: int) -> None:
        lamps.pins.write(levels)
        assert [lamps.see(name) for name in NAMES] == [bool(levels >> bit & 1) for bit in range(3)]

    def test_a_bit_without_a_pin_is_refused(self, lamps: Lamps) -> None:
        with pytest.raises(ValueError, match="bits beyond 3 pins"):
            lamps.pins.write(0b1000)
        with pytest.raises(ValueError, match="bits beyond 3 pins"):
            lamps.pins.write(-1)
