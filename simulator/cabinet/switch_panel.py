"""Switches of a simulated cabinet: buttons, doors and keys, with contacts that bounce and wires that break.

It drives the levels of pins; who reads them it does not know. Level ``True``: pressed, open, on
(hal.ports.pins). Not modelled: contact resistance, the latches that remember a door opened without power, and a
second (optical) sensor that is out of step with the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

BOUNCES_US: Final = (400, 700, 1_500, 900)
"""Times from edge to edge after a contact first moves, 3.5 ms in all. An even number: it ends where it went."""

HOLD_US: Final = 150_000
"""How long a finger stays on a button."""

REST_US: Final = 60_000
"""How long a finger is away before it presses again: more than any debounce."""

PRESSES_WAITING_MAX: Final = 100
"""Presses of one button that a quick hand may owe; more are not made."""


def _usual_bounces() -> tuple[int, ...]:
    return BOUNCES_US


def _ignore() -> None:
    """Stand in for a world that keeps nothing."""


class SwitchPanel:
    """One bank of switches and the hands on it.

    Args:
        names: pin names: ``button_*``, ``door_*``, ``key_*``.
        drive: sets the level of a pin.
        asserted: pins of doors and keys that were open or on when the world was last saved.
        on_physical_change: called after a door or key moved and before its pin follows.
        bounces: returns the times from edge to edge of one contact; a world may draw them.
    """

    def __init__(
        self,
        names: Iterable[str],
        drive: Callable[[str, bool], None],
        *,
        asserted: Iterable[str] = (),
        on_physical_change: Callable[[], None] = _ignore,
        bounces: Callable[[], tuple[int, ...]] = _usual_bounces,
    ) -> None:
        self._drive = drive
        self._on_physical_change = on_physical_change
        self._bounces = bounces
        self._positions = dict.fromkeys(names, False)
        self._edges: dict[str, list[tuple[int, bool]]] = {}
        self._releases_us: dict[str, int] = {}
        self._waiting: dict[str, int] = {}  # presses asked for while the finger was still down
        self._presses_us: dict[str, int] = {}
        self._broken: set[str] = set()
        self._stuck: set[str] = set()
        for name in asserted:
            self._positions[self._known(name)] = True
            drive(name, True)

    # --- Hands ----------------------------------------------------------------------------------------

    def press(self, button: str, now_us: int, hold_us: int = HOLD_US) -> None:
        """Press a button and let go after ``hold_us``. Raises KeyError if there is none of that name.

        While the finger is still on it, the next press waits for its turn: a hand cannot press what it holds down.
        """
        name = self._known(f"button_{button}")
        if name in self._releases_us or name in self._presses_us:
            self._waiting[name] = min(self._waiting.get(name, 0) + 1, PRESSES_WAITING_MAX)
            return
        self._move(name, True, now_us)
        self._releases_us[name] = now_us + hold_us

    def move_door(self, door: str, is_open: bool, now_us: int) -> None:
        """Open or close a door. Raises KeyError if there is none of that name."""
        self._move(self._known(f"door_{door}"), is_open, now_us)

    def turn_key(self, key: str, on: bool, now_us: int) -> None:
        """Turn a key; it stays. Raises KeyError if there is none of that name."""
        self._move(self._known(f"key_{key}"), on, now_us)

    # --- Faults ---------------------------------------------------------------------------------------

    def break_wire(self, door: str) -> None:
        """Interrupt a door's loop: it reads as open (cabinet_io.md 1). Raises KeyError."""
        name = self._known(f"door_{door}")
        self._broken.add(name)
        self._drive(name, True)

    def mend_wire(self, door: str) -> None:
        """Join a broken loop. Raises KeyError."""
        name = self._known(f"door_{door}")
        self._broken.discard(name)
        self._drive(name, self._positions[name])

    def stick(self, button: str) -> None:
        """Let a button stay down once it is pressed. Raises KeyError."""
        self._stuck.add(self._known(f"button_{button}"))

    def unstick(self, button: str, now_us: int) -> None:
        """Let a stuck button come up. Raises KeyError."""
        name = self._known(f"button_{button}")
        self._stuck.discard(name)
        self._move(name, False, now_us)

    # --- Time and what is true ------------------------------------------------------------------------

    def step(self, now_us: int) -> None:
        """Let fingers go and contacts bounce up to ``now_us``."""
        for name in [name for name, due_us in self._releases_us.items() if due_us <= now_us]:
            due_us = self._releases_us.pop(name)
            if name not in self._stuck:
                self._move(name, False, due_us)
            if self._waiting.get(name):
                self._waiting[name] -= 1
                self._presses_us[name] = due_us + REST_US
        for name in [name for name, due_us in self._presses_us.items() if due_us <= now_us]:
            self.press(name.removeprefix("button_"), self._presses_us.pop(name))
        for name in list(self._edges):
            self._run_edges(name, now_us)

    def next_deadline_us(self) -> int | None:
        """When ``step`` has something to do; None if nothing moves."""
        dues = [edges[0][0] for edges in self._edges.values()]
        return min([*dues, *self._releases_us.values(), *self._presses_us.values()], default=None)

    def physical(self) -> tuple[str, ...]:
        """Return the pins of doors that are open and keys that are on. A finger is not kept."""
        return tuple(name for name, on in self._positions.items() if on and not name.startswith("button_"))

    def position(self, name: str) -> bool:
        """Where a switch stands, whatever its wire says. Raises KeyError."""
        return self._positions[self._known(name)]

    def _known(self, name: str) -> str:
        if name not in self._positions:
            raise KeyError(f"no switch {name}; there are {', '.join(self._positions)}")
        return name

    def _move(self, name: str, on: bool, now_us: int) -> None:
        if self._positions[name] == on:
            return
        self._positions[name] = on
        if not name.startswith("button_"):
            self._on_physical_change()
        edges, due_us, level = [(now_us, on)], now_us, on
        bounces = self._bounces()
        for gap_us in bounces[: len(bounces) // 2 * 2]:
            due_us, level = due_us + gap_us, not level
            edges.append((due_us, level))
        self._edges[name] = edges
        self._run_edges(name, now_us)

    def _run_edges(self, name: str, now_us: int) -> None:
        edges = self._edges[name]
        while edges and edges[0][0] <= now_us:
            _, level = edges.pop(0)
            self._drive(name, level or name in self._broken)
        if not edges:
            del self._edges[name]
