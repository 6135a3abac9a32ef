"""A whole machine in one process and in virtual time: control program, world, twins, and a host on each line.

For tests, benchmarks and simulated sessions. Everything is in memory and starts from seeds, so equal seeds and
equal hands give equal bytes. A memory part that cuts its own power (it raises) ends ``run_for`` and friends with
that error; ``cut`` then takes the power from everything that is not physical.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from firmware.control_program.cabinet import Cabinet, SasLine
from firmware.control_program.machine import ControlProgram
from firmware.control_program.options import MachineOptions
from hal.backends.clocks import ManualClock
from hal.backends.memory_links import MemoryWakeupLink, wakeup_link_pair
from hal.backends.seeded_entropy import SeededEntropy
from hal.ports.links import ByteLink
from hal.ports.media import Media
from hal.ports.nvram import Nvram
from sas_protocol.host_end import (
    Acked,
    Answered,
    LongPollRequest,
    NoticeReceived,
    Request,
    Write,
)
from sas_protocol.longpolls import LongPoll
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS
from sas_protocol.longpolls.meters import SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN
from simulator.driver import Driver
from simulator.floor.sas_host import SasHost, SasHostEvent
from simulator.run_machine import media
from simulator.twins import Twins
from simulator.world import Announce, Body, Machine, World
from simulator.world_store import MemoryWorldStore, WorldStore

SECOND_US = 1_000_000

POWER_APPLIED = 0x17

METERS_EACH_MAX = 12
"""Meters in one poll 6F."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One notice as the host got it. ``facts``: its data in real-time mode."""

    at_us: int
    code: int
    facts: tuple[int, ...]


class LineHost:
    """A host at the outer end of an in-memory line. It outlives the machine's power. A Neighbour of the world.

    Args:
        link: the host's end.
        now_us: present time.
        period_us: from general poll to general poll.
        is_real_time: ask for real-time event reporting, again after each power-up of the machine.
        meter_codes: SAS meter codes (of poll 6F) to read, all of them every ``meters_period_us``.
    """

    def __init__(
        self,
        link: MemoryWakeupLink,
        now_us: int,
        *,
        address: int = 1,
        period_us: int = 200_000,
        is_real_time: bool = False,
        meter_codes: Sequence[int] = (),
        meters_period_us: int = 2 * SECOND_US,
    ) -> None:
        self.link = link
        real_time = LongPollRequest(ENABLE_REAL_TIME_EVENTS, {"enable": 1})
        reads_after = {POWER_APPLIED: (real_time,)} if is_real_time else None
        self.host = SasHost(address, now_us, period_us=period_us, reads_after=reads_after)
        if is_real_time:
            self.host.ask(real_time)
        self.heard: list[Heard] = []
        self.asked: list[LongPoll] = []
        self.acked: list[tuple[int, Request]] = []
        self.meters: dict[int, int] = {}
        self.meter_readings: list[tuple[int, dict[int, int]]] = []
        self.answers: list[Answered] = []
        self.other_events: list[SasHostEvent] = []
        self.byte_trace: list[tuple[int, bytes]] | None = None
        self._chunks = [
            tuple(meter_codes[start : start + METERS_EACH_MAX])
            for start in range(0, len(meter_codes), METERS_EACH_MAX)
        ]
        self._meters_period_us = meters_period_us
        self._meters_due_us = now_us + meters_period_us

    def ask(self, poll: LongPollRequest) -> None:
        """Send a poll when the line is free. Its fate ends in ``acked``, ``answers`` or ``other_events``."""
        self.asked.append(poll.poll)
        self.host.ask(poll)

    def read_meters(self) -> None:
        """Ask for every meter of ``meter_codes`` now."""
        polls = (SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN)
        self.host.ask(
            *(
                LongPollRequest(polls[index % 2], {"game": 0, "meters": codes})
                for index, codes in enumerate(self._chunks)
            )
        )

    def step(self, now_us: int) -> None:
        """Take what has arrived, poll when it is time."""
        if self._chunks and now_us >= self._meters_due_us:
            self._meters_due_us = now_us + self._meters_period_us
            self.read_meters()
        for data, _ in self.link.read():
            if self.byte_trace is not None:
                self.byte_trace.append((now_us, data))
            self._take(now_us, self.host.receive(now_us, data))
        due_us = self.host.next_deadline_us()
        if due_us is not None and due_us <= now_us:
            self._take(now_us, self.host.tick(now_us))

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called even if nothing arrives."""
        due_us = self.host.next_deadline_us()
        if not self._chunks:
            return due_us
        return self._meters_due_us if due_us is None else min(due_us, self._meters_due_us)

    def _take(self, now_us: int, events: Sequence[SasHostEvent]) -> None:
        for event in events:
            match event:
                case Write(data, wakeup):
                    self.link.write(data, wakeup=wakeup)
                case NoticeReceived(code, _, facts):
                    if code:
                        self.heard.append(Heard(now_us, code, facts))
                case Answered(values=values):
                    self.answers.append(event)
                    self._keep_meters(now_us, values)
                case Acked(request):
                    self.acked.append((now_us, request))
                case _:
                    self.other_events.append(event)

    def _keep_meters(self, now_us: int, values: Mapping[str, Any]) -> None:
        reading = {code: value for code, _, value in values.get("meters", ()) if value is not None}
        if reading:
            self.meters.update(reading)
            self.meter_readings.append((now_us, reading))


@dataclass(frozen=True, slots=True)
class HostPlan:
    """How the host of one line behaves; fields as in ``LineHost``."""

    period_us: int = 200_000
    is_real_time: bool = False
    meter_codes: tuple[int, ...] = ()
    meters_period_us: int = 2 * SECOND_US


def _unchanged(link: ByteLink) -> ByteLink:
    """Plug the acceptor in as it is."""
    return link


class WholeMachine:
    """One machine with everything around it. Without power until ``power_on``.

    Args:
        nvram: critical memory; it outlives this object.
        options: of the machine.
        seed: of its chance: the entropy port is a stream that goes on through power cuts.
        hosts: one for each SAS line.
        store: what is physical, as an earlier world left it.
        now_us: present time of the world's clock.
        program_media: games and profiles.
        wire: wraps the machine's end of the acceptor's line, for tests that watch or cut it.
    """

    def __init__(
        self,
        nvram: Nvram,
        *,
        options: MachineOptions | None = None,
        seed: int | str = 1,
        hosts: Sequence[HostPlan] = (HostPlan(),),
        store: WorldStore | None = None,
        now_us: int = 0,
        program_media: Media | None = None,
        wire: Callable[[ByteLink], ByteLink] = _unchanged,
    ) -> None:
        self.nvram: Final = nvram
        self.options: Final = options or MachineOptions()
        self.clock: Final = ManualClock(now_us)
        self.store: Final = store or MemoryWorldStore()
        kept: Mapping[str, Any] = self.store.load() or {}
        self.twins: Final = Twins.restored(kept.get("twins"))
        self.announced: list[Body] = []
        self.power_ups = 0
        pairs = [wakeup_link_pair(f"sas{number}") for number in range(len(hosts))]
        self.cabinet: Final = Cabinet(
            nvram=nvram,
            media=program_media or media(),
            clock=self.clock,
            entropy=SeededEntropy(seed),
            devices={"bill_acceptor": wire(self.twins.acceptor_line)},
            inputs=self.twins.inputs,
            outputs=self.twins.outputs,
            sas_lines=tuple(SasLine(machine_end, machine_end.url) for machine_end, _ in pairs),
        )
        self.world: Final = World(
            clock=self.clock,
            twins=self.twins,
            store=self.store,
            power_up=self._power_up,
            lines=[machine_end for machine_end, _ in pairs],
        )
        self.world.listeners.append(self.announced.append)
        self.driver: Final = Driver(self.world, self.clock)
        self.hosts: Final = [
            _host(host_end, now_us, plan) for (_, host_end), plan in zip(pairs, hosts, strict=True)
        ]
        for (machine_end, host_end), host in zip(pairs, self.hosts, strict=True):
            machine_end.on_arrival = self.world.stir
            host_end.on_arrival = self.world.stir_outside
            self.world.attach(host)

    def _power_up(self, announce: Announce) -> Machine:
        self.power_ups += 1
        return ControlProgram(self.cabinet, self.options, announce)

    @property
    def program(self) -> ControlProgram:
        """The running control program. Raises RuntimeError without power."""
        program = self.world.machine
        if not isinstance(program, ControlProgram):
            raise RuntimeError("the machine has no power")
        return program

    @property
    def host(self) -> LineHost:
        """The host of the first line."""
        return self.hosts[0]

    def power_on(self) -> None:
        """Plug it in. Raises what building the control program raises."""
        self.world.power(True)

    def cut(self) -> None:
        """Pull the plug: firmware and twins lose everything that is not physical or in critical memory."""
        self.world.power(False)

    def run_for(self, time_us: int) -> None:
        """Let time pass."""
        self.driver.run_for(time_us)

    def run_until_playable(self, limit_us: int = 30 * SECOND_US) -> bool:
        """Let time pass until play is possible. False: it was not in ``limit_us``."""
        return self.driver.run_while(lambda: not self._is_playable(), limit_us)

    def _is_playable(self) -> bool:
        executor = self.program.executor
        return executor.durable.is_playable and not executor.is_busy

    def events(self, name: str) -> list[Body]:
        """Return the announcements of that name, oldest first."""
        return [event for event in self.announced if event["event"] == name]


def _host(link: MemoryWakeupLink, now_us: int, plan: HostPlan) -> LineHost:
    return LineHost(
        link,
        now_us,
        period_us=plan.period_us,
        is_real_time=plan.is_real_time,
        meter_codes=plan.meter_codes,
        meters_period_us=plan.meters_period_us,
    )
