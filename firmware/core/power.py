"""Power-up and power-down: what is reported, and which devices must speak before play is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.core.commands import MemoryRepaired, PowerDown, PowerUp, SelfFault
from firmware.core.effects import AddMeter, Asked, ClearCondition, RaiseCondition, Report
from firmware.core.facts import DeviceFault
from firmware.core.tilts import CONDITIONS

if TYPE_CHECKING:
    from firmware.core.state import Machine


def step(
    event: PowerUp | PowerDown | SelfFault | MemoryRepaired | DeviceFault, machine: Machine
) -> list[Asked]:
    """What follows from the power's coming and going and from faults; a fault's end clears its condition."""
    match event:
        case PowerUp(_, repairs):
            asked: list[Asked] = [AddMeter("power_resets", 1), Report("power_up")]
            asked += [
                RaiseCondition(row.key)
                for row in CONDITIONS.values()
                if row.starts_with in machine.rules.parts
            ]
            if repairs:  # one report however many there are: a record and a host's queue have an end
                asked.append(Report("memory_repaired", (("detail", "; ".join(repairs)),)))
            return asked
        case PowerDown():
            return [Report("power_down")]
        case MemoryRepaired(detail):
            return [Report("memory_repaired", (("detail", detail),))]
        case SelfFault(condition, detail):
            return [RaiseCondition(condition, detail)]
        case DeviceFault(kind, on, detail):
            return [RaiseCondition(kind, detail) if on else ClearCondition(kind)]
