"""Switches and lamps: buttons, door switches, keys, lamps, the tower light.

Pins are named by the cabinet file. Level ``True`` means *asserted*: button pressed, door **open** (a broken
wire reads as open, cabinet_io.md 1), key on, lamp lit. Polarity belongs to the back end.
"""

from __future__ import annotations

from typing import Protocol


class InputPins(Protocol):
    """A bank of input pins, read in one call."""

    @property
    def names(self) -> tuple[str, ...]:
        """Pin names in bit order, such as ``button_spin``, ``door_main``, ``key_reset``."""

    def read(self) -> int:
        """Return the levels: bit i is the level of ``names[i]``. Never blocks."""


class OutputPins(Protocol):
    """A bank of output pins. What is driven here cannot be read as an input."""

    @property
    def names(self) -> tuple[str, ...]:
        """Pin names in bit order, such as ``lamp_spin``, ``tower_top``."""

    def write(self, levels: int) -> None:
        """Drive all pins: bit i drives ``names[i]``."""
