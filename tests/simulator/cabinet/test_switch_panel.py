"""The switches of the simulated cabinet, and what the firmware's driver makes of their bouncing contacts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.core.facts import ButtonPressed, DoorMoved, Fact, KeyTurned
from firmware.drivers.switches import Switches
from hal.backends.memory_pins import MemoryInputPins
from simulator.cabinet.switch_panel import BOUNCES_US, SwitchPanel

NAMES = ("button_spin", "button_cash_out", "door_main", "door_belly", "door_drop", "key_reset")


class Cabinet:
    """Panel, pins and driver in virtual time, each called only when it asks or pins change."""

    def __init__(self, **panel) -> None:
        self.now_us = 0
        self.pins = MemoryInputPins(NAMES)
        self.edges: list[tuple[int, str, bool]] = []
        self.panel = SwitchPanel(NAMES, self._drive, **panel)
        self.driver = Switches(self.pins)
        self.facts: list[tuple[int, Fact]] = []
        self._step()

    def _drive(self, name: str, level: bool) -> None:
        self.edges.append((self.now_us, name, level))
        self.pins.set(name, level)
        if hasattr(self, "facts"):
            self._step()

    def _step(self) -> None:
        self.facts += [(self.now_us, fact) for fact in self.driver.step(self.now_us)]

    def run(self, seconds: float) -> list[Fact]:
        start, end = len(self.facts), self.now_us + int(seconds * 1_000_000)
        while True:
            dues = [self.panel.next_deadline_us(), self.driver.next_deadline_us()]
            due = min((due for due in dues if due is not None), default=None)
            if due is None or due > end:
                break
            self.now_us = due
            self.panel.step(due)
            self._step()
        self.now_us = end
        return [fact for _, fact in self.facts[start:]]


def ready(**panel) -> Cabinet:
    cabinet = Cabinet(**panel)
    cabinet.run(1)
    cabinet.facts.clear()
    return cabinet


def test_a_press_is_one_press_however_much_it_bounces() -> None:
    cabinet = ready()
    cabinet.panel.press("spin", cabinet.now_us)
    assert cabinet.run(1) == [ButtonPressed("spin")]
    assert len([edge for edge in cabinet.edges if edge[1] == "button_spin"]) == 2 * (len(BOUNCES_US) + 1)
    assert cabinet.driver.next_deadline_us() is None
    assert cabinet.panel.next_deadline_us() is None


def test_a_hand_quicker_than_its_finger_gets_every_press_one_after_the_other() -> None:
    cabinet = ready()
    for button in ("spin", "cash_out", "spin", "spin"):
        cabinet.panel.press(button, cabinet.now_us)
    facts = cabinet.run(2.0)
    assert facts.count(ButtonPressed("spin")) == 3
    assert facts.count(ButtonPressed("cash_out")) == 1
    assert cabinet.panel.next_deadline_us() is None


@pytest.mark.law("NJ-28B-p6", partly="the driver's fact; the machine's tilt is the core's")
@pytest.mark.parametrize("door", ["main", "belly", "drop"])
def test_a_door_is_open_at_its_first_edge_and_closed_once(door: str) -> None:
    cabinet = ready()
    start = cabinet.now_us
    cabinet.panel.move_door(door, True, start)
    assert cabinet.facts == [(start, DoorMoved(door, True))]
    cabinet.run(1)
    assert [fact for _, fact in cabinet.facts] == [DoorMoved(door, True)]
    cabinet.facts.clear()
    closed = cabinet.now_us
    cabinet.panel.move_door(door, False, closed)
    cabinet.run(1)
    ((when, fact),) = cabinet.facts
    assert fact == DoorMoved(door, False)
    assert when == closed + sum(BOUNCES_US) + 30_000, "30 ms after the last bounce"


def test_a_key_turns_and_stays() -> None:
    cabinet = ready()
    cabinet.panel.turn_key("reset", True, cabinet.now_us)
    assert cabinet.run(5) == [KeyTurned("reset", True)]
    cabinet.panel.turn_key("reset", False, cabinet.now_us)
    assert cabinet.run(5) == [KeyTurned("reset", False)]


@given(st.lists(st.integers(50, 15_000), max_size=12))
def test_any_bounce_shorter_than_the_debounce_gives_one_fact(bounces: list[int]) -> None:
    cabinet = ready(bounces=lambda: tuple(bounces))
    cabinet.panel.press("spin", cabinet.now_us, hold_us=400_000)
    cabinet.panel.move_door("main", True, cabinet.now_us)
    cabinet.run(1)
    cabinet.panel.move_door("main", False, cabinet.now_us)
    cabinet.run(1)
    told = [fact for _, fact in cabinet.facts]
    assert sorted(told, key=repr) == sorted(
        [DoorMoved("main", True), ButtonPressed("spin"), DoorMoved("main", False)], key=repr
    )


def test_a_door_opened_without_power_is_told_at_power_up() -> None:
    cabinet = Cabinet(asserted=("door_belly", "key_reset"))
    assert cabinet.facts == [(0, DoorMoved("belly", True))]
    assert cabinet.run(1) == [DoorMoved("main", False), DoorMoved("drop", False), KeyTurned("reset", True)]
    assert cabinet.panel.physical() == ("door_belly", "key_reset")


def test_the_world_hears_of_a_door_before_its_pin_moves() -> None:
    seen: list[object] = []
    panel = SwitchPanel(
        NAMES,
        lambda name, level: seen.append((name, level)),
        on_physical_change=lambda: seen.append("saved"),
        bounces=lambda: (),
    )
    panel.move_door("main", True, 0)
    panel.press("spin", 0)
    assert seen == ["saved", ("door_main", True), ("button_spin", True)], "a finger is not kept"
    assert panel.physical() == ("door_main",)
    assert panel.position("button_spin")


def test_moving_what_has_moved_is_nothing() -> None:
    cabinet = ready()
    cabinet.panel.move_door("main", False, cabinet.now_us)
    assert cabinet.panel.next_deadline_us() is None


def test_a_broken_wire_reads_as_open_until_mended() -> None:
    cabinet = ready()
    cabinet.panel.break_wire("main")
    cabinet.panel.move_door("main", True, cabinet.now_us)
    cabinet.panel.move_door("main", False, cabinet.now_us)
    cabinet.run(1)
    assert [fact for _, fact in cabinet.facts] == [DoorMoved("main", True)]
    cabinet.panel.mend_wire("main")
    assert cabinet.run(1) == [DoorMoved("main", False)]


def test_a_stuck_button_is_one_press_and_none_at_the_next_power_up() -> None:
    cabinet = ready()
    cabinet.panel.stick("spin")
    cabinet.panel.press("spin", cabinet.now_us)
    assert cabinet.run(5) == [ButtonPressed("spin")]
    cabinet.driver = Switches(cabinet.pins)
    cabinet._step()
    assert ButtonPressed("spin") not in cabinet.run(5)
    cabinet.panel.unstick("spin", cabinet.now_us)
    cabinet.run(1)
    cabinet.panel.press("spin", cabinet.now_us)
    assert cabinet.run(1) == [ButtonPressed("spin")]


def test_wrong_names_are_told_with_the_right_ones() -> None:
    panel = SwitchPanel(NAMES, lambda name, level: None)
    for wrong in (lambda: panel.press("spni", 0), lambda: panel.move_door("attic", True, 0)):
        with pytest.raises(KeyError, match="door_main"):
            wrong()
