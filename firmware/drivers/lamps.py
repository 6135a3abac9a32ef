"""Driver of lamps: orders in, levels of output pins out.

Pin names: ``lamp_spin`` is lamp ``spin``; ``tower_top`` is lamp ``tower_top`` (firmware.core.orders.SetLamp).
Blinking is the core's: it orders each change.
"""

from __future__ import annotations

from firmware.core.orders import SetLamp
from hal.ports.pins import OutputPins

_PREFIX = "lamp_"


class Lamps:
    """All lamps of one bank, dark at first.

    Args:
        pins: the bank. Pins that are neither ``lamp_`` nor ``tower_`` stay low.
    """

    def __init__(self, pins: OutputPins) -> None:
        self._pins = pins
        self._bits = {
            name.removeprefix(_PREFIX): 1 << index
            for index, name in enumerate(pins.names)
            if name.startswith((_PREFIX, "tower_"))
        }
        self._levels = 0
        pins.write(0)

    @property
    def names(self) -> tuple[str, ...]:
        """The lamps of this cabinet, in order of pins."""
        return tuple(self._bits)

    def order(self, order: SetLamp) -> None:
        """Light or darken a lamp. One that this cabinet does not have is no error: there is nothing to see."""
        bit = self._bits.get(order.lamp, 0)
        levels = self._levels | bit if order.on else self._levels & ~bit
        if levels != self._levels:
            self._levels = levels
            self._pins.write(levels)

    def is_lit(self, lamp: str) -> bool:
        """Whether a lamp is lit. Raises KeyError if there is none of that name."""
        return bool(self._levels & self._bits[lamp])
