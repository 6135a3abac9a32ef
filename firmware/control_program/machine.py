"""The machine: what is plugged in, the core, and the loop that joins them.

``turn`` is one pass of the loop: facts are gathered in a fixed order, become events, are recorded and executed. It
never waits and never sleeps; whoever runs the machine calls it when a port has something, or when
``next_deadline_us`` has come.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from firmware.control_program import public_state, state_blocks
from firmware.control_program.build import Plan, check_identity, plan
from firmware.control_program.cabinet import Cabinet
from firmware.control_program.devices import DEVICES, Driver
from firmware.control_program.errors import ConfigError
from firmware.control_program.executor import Executor, Outlets
from firmware.control_program.options import MachineOptions
from firmware.core import books, commands, orders
from firmware.core.effects import Publish, TellHost
from firmware.core.facts import ButtonPressed, DoorMoved
from firmware.core.state import Machine, Now, new_machine
from firmware.drivers.lamps import Lamps
from firmware.drivers.switches import Switches
from firmware.links.sas.line import SasLink
from firmware.links.sas.view import SasIdentity
from firmware.memory import CriticalMemory, Finding, PowerUpReport, Put, Status, UnusableMemoryError
from firmware.rng.generator import Generator, Personalization
from hal.ports.nvram import NvramError

_log = logging.getLogger(__name__)

SEAL_AFTER_US = 50_000
"""Idle time after which memory is told that nothing is on its way (docs/adr/0002-critical-memory.md)."""

SEAL_AGAIN_US = 5_000
"""A seal that is not durable yet is looked at again after this."""

SCRUB_PERIOD_US = 5_000_000
"""One piece of memory is checked this often (design.md 4)."""

NEVER_US = 1 << 62

Announcement = dict[str, object]


class ControlProgram:
    """One machine, from power-up to power-down.

    Args:
        cabinet: the ports.
        options: what the machine is; the first start seeds memory with it.
        announce: takes each public event as a JSON-ready dict, in order, after its cause is durable.

    Raises:
        ConfigError: the options are impossible, or differ from those that the memory was made with.
        NvramError: the memory part cannot be read.
    """

    def __init__(
        self, cabinet: Cabinet, options: MachineOptions, announce: Callable[[Announcement], None]
    ) -> None:
        self.cabinet = cabinet
        self.options = options
        self._announce = announce
        self.plan: Plan = plan(cabinet, options)
        self.memory = CriticalMemory(cabinet.nvram, state_blocks.BLOCKS)
        report = self.memory.power_up(cabinet.pause)
        if report.status is Status.FOREIGN:
            raise ConfigError(
                f"the critical memory is not this program's ({report.reason}); give --data another folder"
            )
        machine = self._kept_machine(report)
        now = self._now(machine)
        self.generator = self._start_generator(machine, now)
        self.drivers: dict[str, Driver] = {
            name: row.driver(cabinet.devices[name])
            for name, row in DEVICES.items()
            if name in cabinet.devices
        }
        self._takers: dict[type[orders.Order], Driver] = {
            kind: driver for name, driver in self.drivers.items() for kind in DEVICES[name].orders
        }
        self.switches = Switches(cabinet.inputs)
        self.lamps = Lamps(cabinet.outputs)
        self.sas = tuple(
            SasLink(
                number,
                line.link,
                line.address,
                line.behaviour,
                line.duties,
                self._sas_identity(),
                self._wall_us,
                now.us,
            )
            for number, line in enumerate(cabinet.sas_lines)
        )
        self.executor = Executor(
            machine,
            self.memory,
            self.generator,
            report.status is not Status.DAMAGED,
            Outlets(self._order, self._tell, self._publish, self._durable),
        )
        # Until its power-up is on record, a person sees a machine that is starting, not one that can be played.
        self.executor.durable = replace(machine, tilts=machine.tilts | {"acceptor_starting"})
        self._seal_due_us: int | None = None
        self._scrub_due_us = now.us + SCRUB_PERIOD_US
        self._generator_failed = False
        self._power_up(report, now)

    # --- power-up ---

    def _kept_machine(self, report: PowerUpReport) -> Machine:
        """The state that memory holds; a new machine where it is new or no copy of a block is left."""
        machine = new_machine(self.plan.rules, self.plan.settings)
        if report.status is Status.DAMAGED:
            return state_blocks.restore(machine, self._content_or_zeros)
        identity = self.memory.content(state_blocks.IDENTITY.id)
        if not any(identity):  # new, or the power went between the memory's formatting and its first record
            return self._record_new_machine(machine)
        check_identity(state_blocks.unpack_identity(identity), self.plan.identity)
        return state_blocks.restore(machine, self.memory.content)

    def _record_new_machine(self, machine: Machine) -> Machine:
        """Put settings and identity on record before anything else happens."""
        _log.warning("critical memory is empty: this is a new machine, with nothing on its meters")
        blank = state_blocks.restore(machine, lambda block: bytes(state_blocks.SIZES[block]))
        # A memory without settings is read as one with the defaults: here they must be written.
        blank = replace(blank, settings=(0,) * len(machine.settings))
        identity = Put(state_blocks.IDENTITY.id, 0, state_blocks.pack_identity(self.plan.identity))
        ticket = self.memory.append([*state_blocks.changes(blank, machine), identity])
        while not self.memory.is_durable(ticket):
            self.cabinet.pause()
        return machine

    def _content_or_zeros(self, block: int) -> bytes:
        """Of a damaged memory: what is still good, as evidence for whoever reads the meters."""
        try:
            return self.memory.content(block)
        except UnusableMemoryError:
            return bytes(state_blocks.SIZES[block])

    def _start_generator(self, machine: Machine, now: Now) -> Generator:
        content = self._content_or_zeros(state_blocks.GENERATOR.id)
        personalization = Personalization(self.options.serial, machine.marks.power_ups, "machine")
        carry_over = content if any(content) else b""
        return Generator(self.cabinet.entropy, personalization, now_us=now.us, carry_over=carry_over)

    def _power_up(self, report: PowerUpReport, now: Now) -> None:
        repairs = tuple(
            finding.detail for finding in report.findings if not (finding.damaged or finding.cut_explains)
        )
        for finding in report.findings:
            _log.warning("critical memory: %s", finding.detail)
        self.executor.submit(commands.PowerUp(report.status is Status.FRESH, repairs))
        if report.status is Status.DAMAGED:
            detail = "; ".join(finding.detail for finding in report.damaged)
            self.executor.submit(commands.SelfFault("memory_failure", detail))
        else:
            imbalance = books.imbalance(self.executor.machine)
            if any(imbalance):
                detail = f"the credit meter differs from the meters by {imbalance} cents"
                self.executor.submit(commands.SelfFault("program_error", detail))
        self._watch_generator()
        self.executor.run(now)
        self._keep_carry_over()

    def _keep_carry_over(self) -> None:
        """Give the next power-up's generator something of this one's (rng_and_stats.md 2, decisions.md)."""
        if self.executor.is_writable and self.generator.failure is None:
            self.memory.append([Put(state_blocks.GENERATOR.id, 0, self.generator.carry_over())], lazy=True)

    def _sas_identity(self) -> SasIdentity:
        options = self.options
        return SasIdentity(options.sas_version, options.serial, options.game_id, options.additional_id)

    # --- the loop ---

    def turn(self) -> None:
        """One pass: facts in a fixed order, then whatever became due. Raises InvariantError if all is lost.

        Hosts come first: a read poll is answered from what is durable and need not wait for anything else.
        """
        now_us = self.cabinet.clock.now_us()
        submit = self.executor.submit
        for link in self.sas:
            for event in link.step(now_us):
                submit(event)
        for fact in self.switches.step(now_us):
            submit(fact)
            if isinstance(fact, ButtonPressed):
                self.generator.stir(now_us)
            elif isinstance(fact, DoorMoved) and not fact.is_open:
                self.generator.reseed(now_us)
        for driver in self.drivers.values():
            for fact in driver.step(now_us):
                submit(fact)
        if self.executor.is_busy or self.executor.is_timer_due(now_us):
            self.executor.run(self._now(self.executor.machine))
        self._background(now_us)

    def _background(self, now_us: int) -> None:
        """What waits until nothing else is to be done: the generator's cycling, memory's seal and scrub."""
        due_us = self.generator.next_deadline_us()
        if due_us is not None and now_us >= due_us:
            self.generator.background(now_us)
        self._watch_generator()
        if self.executor.is_busy or not self.executor.is_writable:
            return
        try:
            if self._seal_due_us is not None and now_us >= self._seal_due_us:
                self._seal_due_us = None if self.memory.seal() else now_us + SEAL_AGAIN_US
            if now_us >= self._scrub_due_us:
                self._scrub_due_us = now_us + SCRUB_PERIOD_US
                self._report_findings(self.memory.scrub_step())
        except NvramError as error:
            self.executor.lose_memory(str(error))
            self.executor.run(self._now(self.executor.machine))

    def _report_findings(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            _log.warning("critical memory: %s", finding.detail)
            if finding.damaged:
                self.executor.lose_memory(finding.detail)
            else:
                self.executor.submit(commands.MemoryRepaired(finding.detail))
        if findings:
            self.executor.run(self._now(self.executor.machine))

    def _watch_generator(self) -> None:
        failure = self.generator.failure
        if failure is not None and not self._generator_failed:
            self._generator_failed = True
            self.executor.submit(commands.SelfFault("generator_failure", failure.detail))

    def next_deadline_us(self) -> int:
        """When ``turn`` must be called again even if nothing arrives, on the cabinet's monotonic clock."""
        due = (
            self.switches.next_deadline_us(),
            *(driver.next_deadline_us() for driver in self.drivers.values()),
            *(link.next_deadline_us() for link in self.sas),
            self.executor.next_timer_us(),
            self.generator.next_deadline_us(),
            self._memory_due_us(),
        )
        return min((deadline for deadline in due if deadline is not None), default=NEVER_US)

    def _memory_due_us(self) -> int | None:
        """When the seal or the scrub is due: not while a record is open, whose end wakes the loop, nor ever in a memory
        that takes no records."""
        if self.executor.is_busy or not self.executor.is_writable:
            return None
        return self._scrub_due_us if self._seal_due_us is None else min(self._seal_due_us, self._scrub_due_us)

    def power_down(self) -> None:
        """Stop in good order: the event is recorded, memory sealed, the generator wiped."""
        now = self._now(self.executor.machine)
        self.executor.submit(commands.PowerDown())
        self.executor.run(now)
        try:
            while self.executor.is_busy:
                self.cabinet.pause()
                self.executor.run(now)
            while self.executor.is_writable and not self.memory.seal():
                self.cabinet.pause()
        except NvramError as error:
            _log.critical("critical memory failed at power-down: %s", error)
        self.generator.shut_down()

    def _now(self, machine: Machine) -> Now:
        clock = self.cabinet.clock
        return Now(clock.now_us(), clock.wall_us() + machine.marks.clock_offset_us)

    def _wall_us(self) -> int:
        """Civil time as the hosts have set it."""
        return self.cabinet.clock.wall_us() + self.executor.durable.marks.clock_offset_us

    # --- where effects go ---

    def _durable(self, machine: Machine) -> None:
        self._seal_due_us = self.cabinet.clock.now_us() + SEAL_AFTER_US
        for link in self.sas:
            link.refresh(machine)

    def _order(self, order: orders.Order) -> None:
        """Hand an order to the device that takes its kind; a cabinet without that device drops it."""
        if isinstance(order, orders.SetLamp):
            self.lamps.order(order)
            return
        taker = self._takers.get(type(order))
        if taker is not None:
            taker.order(order, self.cabinet.clock.now_us())

    def _tell(self, effect: TellHost) -> None:
        self.sas[effect.line].tell(self.cabinet.clock.now_us(), effect.answer)

    def _publish(self, effect: Publish) -> None:
        now = self._now(self.executor.machine)
        announcement: Announcement = {
            "sequence": effect.sequence,
            "time_us": now.wall_us,
            "event": effect.event,
        }
        announcement.update(effect.facts)
        self._announce(announcement)

    # --- what the public may see ---

    def public_state(self) -> dict[str, object]:
        """The body of ``GET /api/state``."""
        return public_state.state(self)

    def public_meters(self) -> dict[str, object]:
        """The body of ``GET /api/meters``."""
        return public_state.meters_body(self.executor.durable, self.plan.profile)

    def vocabulary(self) -> dict[str, object]:
        """The machine's half of ``GET /api/vocabulary``: events, tilts, buttons, doors, keys, settings."""
        return public_state.vocabulary()
