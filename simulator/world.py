"""The world of one simulated machine: its time, its devices, its power, its faults, and the hands at it.

The world outlives the firmware. Cutting the power drops the control program and leaves what is physical: the
note in the path, the box, the doors. What is physical is saved before any byte that tells of it can be read,
so a killed process loses nothing that somebody has heard of. No threads, no sleeping, no clock of its own:
whoever drives the world moves its clock (``simulator.driver``) or lets the computer's clock run
(``simulator.run_machine``).
Not modelled: the time a byte takes on a wire.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hal.ports.clock import Clock
from hal.ports.links import LinkError, WakeupLink
from simulator.faults import Faults
from simulator.hands import HandError, Hands
from simulator.twins import Twins
from simulator.world_store import WorldStore

Body = dict[str, object]
"""A JSON-ready object."""

Announce = Callable[[Body], None]

NEVER_US = 2**62

ROUNDS_MAX = 16
"""Rounds of one turn, so that a turn ends even while the machine waits for a slow disk."""


class Machine(Protocol):
    """The control program, as far as the world sees it."""

    def turn(self) -> None:
        """Do all that is due now."""

    def next_deadline_us(self) -> int:
        """When ``turn`` must be called again even if nothing arrives."""

    def power_down(self) -> None:
        """End in order."""

    def public_state(self) -> Body:
        """What a person standing there could see."""

    def public_meters(self) -> Body:
        """All meters by name."""

    def vocabulary(self) -> Body:
        """Every public name."""


class Neighbour(Protocol):
    """Something at the outer end of a line: a host in a test, a scenario."""

    def step(self, now_us: int) -> None:
        """Do all that is due now, take what has arrived."""

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called even if nothing arrives; None if never."""


@dataclass(frozen=True, slots=True, order=True)
class _Planned:
    at_us: int
    order: int
    action: Callable[[], None]


class World:
    """One cabinet with its machine, at the time its clock shows.

    Args:
        clock: the world's time.
        twins: the devices, made from what the store holds.
        store: where what is physical is kept.
        power_up: builds a control program; called at each power-up.
        lines: the machine's ends of the SAS lines: without power nobody hears what arrives there.
        faults: the faults there are.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        twins: Twins,
        store: WorldStore,
        power_up: Callable[[Announce], Machine],
        lines: Sequence[WakeupLink] = (),
        faults: Faults | None = None,
    ) -> None:
        self.clock = clock
        self.twins = twins
        self.faults = faults or Faults(twins.targets())
        self.machine: Machine | None = None
        self.sequence = 0
        self._names: Body = {}
        self.listeners: list[Announce] = []
        kept = store.load()
        self.hands = Hands(self, None if kept is None else kept.get("hands"))
        self._store = store
        self._power_up = power_up
        self._lines = tuple(lines)
        self._neighbours: list[Neighbour] = []
        self._planned: list[_Planned] = []
        self._orders = itertools.count()
        self._is_stirred = True
        self._is_stirred_outside = True
        self._outside_due_us = 0
        # Of the control program, asked once a turn: nothing but a turn changes it.
        self._machine_due_us = NEVER_US
        twins.stir_machine = self.stir
        twins.stir_devices = self.stir_outside

    # --- power ------------------------------------------------------------------------------------------

    @property
    def has_power(self) -> bool:
        """Whether the cabinet has power."""
        return self.machine is not None

    def power(self, on: bool) -> None:
        """Cut the power, as a pulled plug does, or restore it. Raises what ``power_up`` raises."""
        if on == self.has_power:
            return
        if on:
            self._drain()
            self.twins.power_on(self.clock.now_us())
            try:
                self.machine = self._power_up(self._announced)
            except BaseException:
                self.twins.power_off()
                raise
        elif self.machine is not None:
            self._names = self.machine.vocabulary()
            self.machine = None
            self.twins.power_off()
        self._machine_due_us = NEVER_US  # until its first turn, which the stir below brings about
        self._save()
        self.stir()
        self.stir_outside()

    def shut_down(self) -> None:
        """Switch off in order: the control program ends first, then its devices lose power."""
        if self.machine is not None:
            self.machine.power_down()
        self.power(False)

    # --- time -------------------------------------------------------------------------------------------

    def stir(self) -> None:
        """Something has arrived at the machine, or a hand has moved: it must look."""
        self._is_stirred = True

    def stir_outside(self) -> None:
        """Something has arrived at a device or a neighbour: they must look."""
        self._is_stirred_outside = True

    def attach(self, neighbour: Neighbour) -> None:
        """Let ``neighbour`` take part in the world's time."""
        self._neighbours.append(neighbour)
        self.stir_outside()

    def plan(self, at_us: int, action: Callable[[], None]) -> None:
        """Do ``action`` at ``at_us``; equal times in the order of planning."""
        heapq.heappush(self._planned, _Planned(at_us, next(self._orders), action))

    def next_deadline_us(self) -> int:
        """When ``turn`` has something to do even if nothing arrives from outside."""
        if self._is_stirred or self._is_stirred_outside:
            return self.clock.now_us()
        self._outside_due_us = self._find_outside_due_us()
        due = min(self._machine_due_us, self._outside_due_us)
        return min(due, self._planned[0].at_us) if self._planned else due

    def turn(self) -> None:
        """Do what is due now, until machine and devices are at rest; if they are not soon, call it again."""
        now_us = self.clock.now_us()
        for _ in range(ROUNDS_MAX):
            self._do_planned(now_us)
            # What is due outside was found after the last round: a poll is not kept waiting for that.
            if self._is_stirred_outside or self._outside_due_us <= now_us:
                self._is_stirred_outside = False
                self._step_outside(now_us)
            self._save()
            if self._is_stirred or self._machine_due_us <= now_us:
                self._is_stirred = False
                self._step_machine()
            if self.next_deadline_us() > now_us:
                return
            now_us = self.clock.now_us()

    def _do_planned(self, now_us: int) -> None:
        while self._planned and self._planned[0].at_us <= now_us:
            heapq.heappop(self._planned).action()

    def _step_outside(self, now_us: int) -> None:
        for neighbour in self._neighbours:
            neighbour.step(now_us)
        self.faults.expire(now_us)
        self.twins.step(now_us)
        self.hands.step(now_us)

    def _step_machine(self) -> None:
        if self.machine is None:
            self._drain()
        else:
            self.machine.turn()
            self._machine_due_us = self.machine.next_deadline_us()

    def _find_outside_due_us(self) -> int:
        due = self.twins.next_deadline_us()
        for found in (self.faults.next_deadline_us(), self.hands.next_deadline_us()):
            if found is not None and found < due:
                due = found
        for neighbour in self._neighbours:
            found = neighbour.next_deadline_us()
            if found is not None and found < due:
                due = found
        return due

    def _drain(self) -> None:
        """Without power nobody hears: what arrives meanwhile is lost, not kept for the next power-up."""
        self.twins.drain()
        for line in self._lines:
            try:
                line.read()
            except LinkError:
                continue

    # --- what is physical ---------------------------------------------------------------------------------

    def _save(self) -> None:
        if self.twins.is_changed or self.hands.is_changed:
            self.twins.is_changed = self.hands.is_changed = False
            self._store.save({"twins": self.twins.to_json(), "hands": self.hands.to_json()})

    # --- what others see ------------------------------------------------------------------------------------

    def _announced(self, event: Body) -> None:
        sequence = event["sequence"]
        if isinstance(sequence, int):
            self.sequence = sequence
        for listener in self.listeners:
            listener(event)

    def state(self) -> Body:
        """Return what a person standing there could see; the display is dark without power."""
        if self.machine is None:
            dark: Body = {
                "playable": False,
                "playable_blocked_by": ["power_off"],
                "doors": self.twins.doors(),
            }
            return {"power": False, **dark, "cabinet": self.twins.visible() | {"notes": self.hands.to_json()}}
        return {
            "power": True,
            **self.twins.shown(),
            "meters": self.machine.public_meters(),
            **self.machine.public_state(),
            "cabinet": self.twins.visible() | {"notes": self.hands.to_json()},
        }

    def meters(self) -> Body:
        """Return all meters. Raises HandError without power."""
        return self._powered().public_meters()

    def vocabulary(self) -> Body:
        """Return every name that the routes use; a machine without power has the same as before."""
        names = self._names if self.machine is None else self.machine.vocabulary()
        return names | self.twins.vocabulary() | {"faults": self.faults.known}

    def _powered(self) -> Machine:
        if self.machine is None:
            raise HandError(
                409, "No power", 'the machine is switched off; POST /api/cabinet/power {"on": true}'
            )
        return self.machine
