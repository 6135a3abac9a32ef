"""Switches and lamps in memory: a test, a panel or a simulated cabinet turns and watches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class MemoryInputPins:
    """A bank of switches set from outside. InputPins.

    Args:
        names: pin names in bit order, no two alike.
        on_change: called after a level changed, so that a sleeping loop can wake.
    """

    def __init__(self, names: Iterable[str], on_change: Callable[[], None] | None = None) -> None:
        self._names = _checked(names)
        self._bits = {name: 1 << index for index, name in enumerate(self._names)}
        self._levels = 0
        self.on_change = on_change

    @property
    def names(self) -> tuple[str, ...]:
        """Pin names in bit order."""
        return self._names

    def read(self) -> int:
        """Return the levels, bit i for ``names[i]``."""
        return self._levels

    def set(self, name: str, level: bool) -> None:
        """Turn one switch. Raises KeyError if there is none of that name."""
        bit = self._bits[name]
        levels = self._levels | bit if level else self._levels & ~bit
        if levels != self._levels:
            self._levels = levels
            if self.on_change is not None:
                self.on_change()

    def level(self, name: str) -> bool:
        """Return the level of one switch. Raises KeyError if there is none of that name."""
        return bool(self._levels & self._bits[name])


class MemoryOutputPins:
    """A bank of lamps that remembers what it shows. OutputPins.

    Args:
        names: pin names in bit order, no two alike.
        on_change: called after a level changed, with all levels.
    """

    def __init__(self, names: Iterable[str], on_change: Callable[[int], None] | None = None) -> None:
        self._names = _checked(names)
        self._bits = {name: 1 << index for index, name in enumerate(self._names)}
        self._levels = 0
        self.on_change = on_change

    @property
    def names(self) -> tuple[str, ...]:
        """Pin names in bit order."""
        return self._names

    @property
    def levels(self) -> int:
        """What is driven now, bit i for ``names[i]``."""
        return self._levels

    def write(self, levels: int) -> None:
        """Drive all pins. Raises ValueError for a bit that is no pin."""
        if levels < 0 or levels >> len(self._names):
            raise ValueError(f"levels {levels:#x} have bits beyond {len(self._names)} pins")
        if levels != self._levels:
            self._levels = levels
            if self.on_change is not None:
                self.on_change(levels)

    def level(self, name: str) -> bool:
        """Return whether one pin is driven. Raises KeyError if there is none of that name."""
        return bool(self._levels & self._bits[name])


def _checked(names: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(names)
    if len(set(checked)) != len(checked):
        raise ValueError(f"two pins have one name: {checked}")
    return checked
