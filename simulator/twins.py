"""The twin devices of the simulated cabinet, and the wires between them and the machine.

Built from what was physical when the world was last saved; knows nothing of the firmware. Not in this cabinet
yet: printer, hopper, coin acceptor, reels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hal.backends.memory_links import byte_link_pair
from hal.backends.memory_pins import MemoryInputPins, MemoryOutputPins
from hal.ports.links import LinkError
from hal.wire import id003
from simulator.cabinet.id003_acceptor import Id003AcceptorTwin
from simulator.cabinet.id003_tables import FAULTS
from simulator.cabinet.note_path import AcceptorBody
from simulator.cabinet.switch_panel import SwitchPanel
from simulator.faults import Target
from simulator.world_store import WorldFileError

NEVER_US = 2**62

DOORS = ("main", "belly", "drop", "cash_box", "acceptor", "logic", "top_box", "hard_meter")
BUTTONS = ("spin", "bet_one", "bet_max", "cash_out", "service", "help")
KEYS = ("reset", "audit")
LAMPS = (*(f"lamp_{button}" for button in BUTTONS), "tower_bottom", "tower_top")

ALIASES: Mapping[str, str] = {"jam_in_stack": "jam_after_lever"}
"""Names of acceptor faults that people use, and what the twin calls them."""


def _ignore() -> None:
    """Stand in for a world that is not there yet."""


class Twins:
    """All devices of one cabinet. ``is_changed``: something physical differs from what was saved.

    Args:
        body: of the acceptor; ``None`` for a new one.
        switches: pins of doors and keys that were left open or on.
    """

    def __init__(self, body: AcceptorBody | None = None, switches: tuple[str, ...] = ()) -> None:
        self.acceptor_line, device_end = byte_link_pair("acceptor")
        self.acceptor = Id003AcceptorTwin(device_end, body=body, on_physical_change=self._changed)
        names = (
            *(f"door_{n}" for n in DOORS),
            *(f"button_{n}" for n in BUTTONS),
            *(f"key_{n}" for n in KEYS),
        )
        self.inputs = MemoryInputPins(names)
        self.outputs = MemoryOutputPins(LAMPS)
        self.switches = SwitchPanel(
            names, self.inputs.set, asserted=switches, on_physical_change=self._changed
        )
        self.inputs.on_change = lambda: self.stir_machine()
        self._broken: dict[str, None] = {}
        self._stuck: dict[str, None] = {}
        self.stir_machine: Callable[[], None] = _ignore
        self.stir_devices: Callable[[], None] = _ignore
        self.is_changed = True
        self.acceptor_line.on_arrival = lambda: self.stir_machine()
        device_end.on_arrival = lambda: self.stir_devices()
        self.note_codes = {entry.cents: entry.code for entry in id003.US_TABLE if entry.country}
        self._cents = {code: cents for cents, code in self.note_codes.items()}
        self.door_names, self.buttons, self.keys = DOORS, BUTTONS, KEYS

    @classmethod
    def restored(cls, kept: Any) -> Twins:
        """Return the twins as ``to_json`` described them; new ones for ``None``. Raises WorldFileError."""
        if kept is None:
            return cls()
        try:
            return cls(AcceptorBody.from_json(kept["acceptor"]), tuple(kept["switches"]))
        except (KeyError, TypeError, ValueError) as error:
            raise WorldFileError(
                f"the world file is of another kind of cabinet ({error!r}); remove it"
            ) from None

    def to_json(self) -> dict[str, object]:
        """Return what is physical, as JSON values. A finger on a button is not kept."""
        return {
            "acceptor": self.acceptor.physical().to_json(),
            "switches": list(self.switches.physical()),
        }

    # --- power and time -------------------------------------------------------------------------------------

    def power_on(self, now_us: int) -> None:
        """Give every device power."""
        self.acceptor.power_on(now_us)

    def power_off(self) -> None:
        """Take the power of every device: only what is physical stays, and lamps go out."""
        self.acceptor.power_off()
        self.outputs.write(0)

    def step(self, now_us: int) -> None:
        """Let every device do what is due."""
        self.acceptor.step(now_us)
        self.acceptor.outcomes.clear()  # told as they came; a machine that runs for years needs no list
        self.switches.step(now_us)

    def next_deadline_us(self) -> int:
        """When ``step`` must be called even if nothing arrives."""
        dues = (self.acceptor.next_deadline_us(), self.switches.next_deadline_us())
        return min((due for due in dues if due is not None), default=NEVER_US)

    def drain(self) -> None:
        """Nobody is at the machine's end: what the devices said to it is lost."""
        try:
            self.acceptor_line.read(65_536)
        except LinkError:
            return

    def _changed(self) -> None:
        self.is_changed = True

    # --- what can be seen -----------------------------------------------------------------------------------

    def cents_of(self, code: int) -> int:
        """Return the value of an acceptor's note code, 0 for a ticket or an unknown one."""
        return self._cents.get(code, 0)

    def doors(self) -> dict[str, bool]:
        """Return which doors stand open."""
        return {door: self.switches.position(f"door_{door}") for door in DOORS}

    def visible(self) -> dict[str, object]:
        """Return what a person sees of the devices without asking the machine."""
        body = self.acceptor.physical()
        return {
            "doors": self.doors(),
            "keys": {key: self.switches.position(f"key_{key}") for key in KEYS},
            "lamps": {name: self.outputs.level(name) for name in LAMPS},
            "note_path": body.place.value,
            "note_box": {"in_place": body.box_present, "items": len(body.box), "capacity": body.box_capacity},
        }

    def shown(self) -> dict[str, object]:
        """Return what the devices show for the machine; this cabinet has no printer yet."""
        lit = {
            name.removeprefix("tower_"): self.outputs.level(name)
            for name in LAMPS
            if name.startswith("tower_")
        }
        return {"tower_light": lit, "printer": None, "tickets": []}

    def vocabulary(self) -> dict[str, object]:
        """Return the names that hands may use."""
        return {
            "buttons": list(BUTTONS),
            "doors": list(DOORS),
            "keys": list(KEYS),
            "notes": list(self.note_codes),
        }

    # --- faults -----------------------------------------------------------------------------------------------

    def targets(self) -> dict[str, Target]:
        """Return what can have faults, by name."""
        acceptor = {**FAULTS, **{name: FAULTS[meant] for name, meant in ALIASES.items()}}
        wires = dict.fromkeys(DOORS, "its wire is broken: the door reads as open, until cleared")
        buttons = dict.fromkeys(BUTTONS, "it stays down once it is pressed, until cleared")
        return {
            "bill_acceptor": Target(acceptor, self._inject, self._clear, self.acceptor.faults.active),
            "door_wire": Target(wires, self._break, self._mend, lambda: self._broken),
            "stuck_button": Target(buttons, self._stick, self._unstick, lambda: self._stuck),
        }

    def _inject(self, kind: str, now_us: int, count: int | None, detail: int) -> None:
        self.acceptor.inject(ALIASES.get(kind, kind), now_us, count, detail)

    def _clear(self, kind: str, now_us: int) -> None:
        self.acceptor.clear_fault(ALIASES.get(kind, kind), now_us)

    def _break(self, door: str, _now_us: int, _count: int | None, _detail: int) -> None:
        self._broken[door] = None
        self.switches.break_wire(door)

    def _mend(self, door: str, _now_us: int) -> None:
        self._broken.pop(door, None)
        self.switches.mend_wire(door)

    def _stick(self, button: str, _now_us: int, _count: int | None, _detail: int) -> None:
        self._stuck[button] = None
        self.switches.stick(button)

    def _unstick(self, button: str, now_us: int) -> None:
        self._stuck.pop(button, None)
        self.switches.unstick(button, now_us)
