"""Driver of buttons, doors and keys: pin levels in, debounced facts out.

Pin names say what a pin is: ``button_spin``, ``door_main``, ``key_reset``; ``door_main_optic`` is a second
sensor of the same door. Other pins are other drivers'. Source: cabinet_io.md 1 and 2; times are a choice there.

A door counts as open as soon as one of its sensors says so, at the first edge; as closed when all have agreed
for the debounce time. Buttons and keys must be stable before they count, so that interference on a wire is
neither a wager nor a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firmware.core.facts import ButtonPressed, DoorMoved, Fact, KeyTurned
from hal.ports.pins import InputPins

_OPTIC: Final = "_optic"


@dataclass(frozen=True, slots=True)
class Debounce:
    """How long a level must be stable to count, in microseconds (cabinet_io.md 1: 20-50 ms)."""

    door_closed_us: int = 30_000
    button_us: int = 20_000
    key_us: int = 30_000


@dataclass(slots=True)
class _Switch:
    """One button, door or key.

    Args:
        mask: its pins; asserted if any of them is.
        on_us: stable time until ``True`` counts; 0: at once.
        off_us: stable time until ``False`` counts.
        fact: level -> the fact of its change, None if that is no news.
        level: what was last told, None before the first time.
        since_us: since when the pins have differed from ``level``, None if they do not.
    """

    mask: int
    on_us: int
    off_us: int
    fact: Callable[[bool], Fact | None]
    level: bool | None = None
    since_us: int | None = None

    def see(self, is_on: bool, now_us: int) -> Fact | None:
        """Take the present level; return a fact once a new one counts."""
        if is_on == self.level:
            self.since_us = None  # It bounced back: the next edge begins anew.
            return None
        if self.since_us is None:
            self.since_us = now_us
        if now_us < self.since_us + (self.on_us if is_on else self.off_us):
            return None
        self.level, self.since_us = is_on, None
        return self.fact(is_on)

    def due_us(self, is_on: bool) -> int | None:
        """When the level seen last will count; None if nothing is pending."""
        return None if self.since_us is None else self.since_us + (self.on_us if is_on else self.off_us)


class Switches:
    """All switches of one bank of pins.

    The first steps report every door and key as it is found at power-up; a button that is held then is no press.

    Args:
        pins: the bank. Only pins named ``button_``, ``door_`` and ``key_`` are looked at.
        debounce: stable times.
    """

    def __init__(self, pins: InputPins, debounce: Debounce | None = None) -> None:
        self._pins = pins
        self._switches = _switches(pins.names, debounce or Debounce())
        self._levels: int | None = None
        self._due_us: int | None = None

    def step(self, now_us: int) -> list[Fact]:
        """Read the pins; return facts in order of pins. Call when pins change and at the deadline."""
        levels = self._pins.read()
        if levels == self._levels and (self._due_us is None or now_us < self._due_us):
            return []  # nothing moved and nothing has been still for long enough
        self._levels = levels
        facts = [switch.see(levels & switch.mask != 0, now_us) for switch in self._switches]
        dues = (switch.due_us(levels & switch.mask != 0) for switch in self._switches)
        self._due_us = min((due for due in dues if due is not None), default=None)
        return [fact for fact in facts if fact is not None]

    def next_deadline_us(self) -> int | None:
        """When a pending change will count; None while nothing bounces."""
        return self._due_us


def _switches(names: tuple[str, ...], debounce: Debounce) -> list[_Switch]:
    """Make one switch for each name, the sensors of a door together."""
    made: dict[str, _Switch] = {}
    for index, name in enumerate(names):
        kind, _, word = name.partition("_")
        if kind not in ("button", "door", "key") or not word:
            continue
        known = made.get(name.removesuffix(_OPTIC)) if kind == "door" else None
        if known is not None:
            known.mask |= 1 << index
            continue
        made[name.removesuffix(_OPTIC) if kind == "door" else name] = _switch(
            kind, word, 1 << index, debounce
        )
    return list(made.values())


def _switch(kind: str, word: str, mask: int, debounce: Debounce) -> _Switch:
    match kind:
        case "door":
            door = word.removesuffix(_OPTIC)
            return _Switch(mask, 0, debounce.door_closed_us, lambda is_open: DoorMoved(door, is_open))
        case "key":
            return _Switch(mask, debounce.key_us, debounce.key_us, lambda on: KeyTurned(word, on))
        case _:
            return _button(word, mask, debounce)


def _button(word: str, mask: int, debounce: Debounce) -> _Switch:
    """A button counts when it goes down. ``level`` begins as held, so that one held at power-up must rise first."""
    return _Switch(
        mask,
        debounce.button_us,
        debounce.button_us,
        lambda is_down: ButtonPressed(word) if is_down else None,
        level=True,
    )
