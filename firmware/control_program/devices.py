"""The table of devices on byte links: what drives each, which orders it takes, what it lets the machine count.

A device is a codec in ``hal.wire``, a driver, a twin, and a row here; a cabinet plugs its link in under the row's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from firmware.core import meters
from firmware.core.facts import Fact
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, HoldNote, Order, ReturnNote, StackNote
from firmware.core.state import Machine
from firmware.drivers.id003_acceptor import Id003Acceptor
from hal.ports.links import ByteLink


class Driver(Protocol):
    """What every driver of a device does (style: drivers take ports)."""

    def step(self, now_us: int) -> list[Fact]:
        """Take what has arrived, send what is due; return facts in order of arrival."""

    def order(self, order: Any, now_us: int) -> None:
        """Take an order of one of the row's kinds; its result is a later fact."""

    def next_deadline_us(self) -> int:
        """When ``step`` must be called again even if nothing arrives."""


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of device.

    Args:
        name: where a cabinet plugs its link in, and its key in the public state.
        part: the word of ``needs`` in the meter table and of ``starts_with`` in the tilt table.
        driver: makes the driver of a link.
        orders: kinds of order that go to it.
        show: its part of the public state.
    """

    name: str
    part: str
    driver: Callable[[ByteLink], Driver]
    orders: tuple[type[Order], ...]
    show: Callable[[Any, Machine], dict[str, object]]


def _show_acceptor(driver: Id003Acceptor, machine: Machine) -> dict[str, object]:
    stacker = {"count": "bills_in_stacker", "cents": "bills_in_stacker_value"}
    return {
        "takes": sorted(machine.accepting or ()),
        "version": driver.version_text,
        "stacker": {name: meters.value(machine, key) for name, key in stacker.items()},
    }


DEVICES: Mapping[str, Device] = {
    row.name: row
    for row in (
        Device(
            name="bill_acceptor",
            part="bill_acceptor",
            driver=Id003Acceptor,
            orders=(AcceptNotes, StackNote, ReturnNote, HoldNote, AcknowledgeStacked),
            show=_show_acceptor,
        ),
    )
}
"""In the order in which the loop asks them for facts."""
