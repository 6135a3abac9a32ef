"""``egm run``: one machine with a simulated cabinet, put together from options and run until told to stop.

The loop sleeps until a line, the memory, the panel or a deadline wants it. Everything that can be refused is
refused before the control program is built, in one sentence.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firmware.control_program.cabinet import Cabinet, SasLine
from firmware.control_program.errors import ConfigError
from firmware.control_program.machine import ControlProgram
from firmware.control_program.options import LOOPBACK, PanelOptions, RunOptions, SasLineOptions, TimeMode
from firmware.links.sas.behaviours import BEHAVIOURS
from firmware.memory import LayoutError, UnusableMemoryError
from hal.backends.clocks import ManualClock, SystemClock
from hal.backends.errors import BackendError
from hal.backends.file_nvram import FileNvram, Flushing
from hal.backends.link_urls import OpenWakeupLink, open_wakeup_link
from hal.backends.loop_wakeup import LoopWaiter
from hal.backends.media_folder import MediaFolder, package_folder
from hal.backends.memory_links import MemoryLines
from hal.backends.seeded_entropy import SeededEntropy
from hal.backends.system_entropy import SystemEntropy
from hal.backends.watchdog import Watchdog
from hal.ports.clock import Clock
from hal.ports.media import Media
from hal.ports.nvram import NvramError
from simulator.driver import Driver
from simulator.faults import Faults, FaultyLine
from simulator.panel.answers import answer
from simulator.panel.process import PanelProcess
from simulator.twins import Twins
from simulator.world import Announce, Machine, World
from simulator.world_store import FileWorldStore, WorldFileError, WorldStore

_log = logging.getLogger(__name__)

BEAT_US = 1_000_000
"""The loop looks round at least this often, so that the watchdog hears it."""

OVERDUE_US = 1_000
"""What is overdue even after a turn waits for something else, a disk most likely: no core is burnt meanwhile."""

PAUSE_S = 0.0003
"""Between two looks at whether memory is durable, so that its thread gets the interpreter."""

SLICE_US = 100_000
"""Simulated time between two looks at the panel when time is not real."""

LOGGED = frozenset(
    {
        *("power_up", "playable", "unplayable", "tilt_raised", "tilt_cleared", "door_opened", "door_closed"),
        *("handpay_pending", "handpay_reset", "host_link_up", "host_link_down", "memory_cleared"),
    }
)
"""Events worth a line of the log; all of them are at ``/api/events``."""


def media() -> Media:
    """Return the program's data: games, profiles, dialects."""
    folders = {
        "games/library": package_folder("firmware.games", "library"),
        "profiles": package_folder("firmware.profiles"),
    }
    return MediaFolder(folders)


def open_line(line: SasLineOptions, folder: Path, memory: MemoryLines) -> OpenWakeupLink:
    """Open one SAS line. Raises ConfigError: busy, unwritable, not ours."""
    if line.behaviour not in BEHAVIOURS:
        known = ", ".join(BEHAVIOURS)
        raise ConfigError("no such dialect", key="--behaviour", value=line.behaviour, allowed=known)
    url = line.url or f"pty:{folder / 'sas'}"
    try:
        return open_wakeup_link(url, memory)
    except BackendError as error:
        raise ConfigError(str(error).rstrip("."), key="--sas", value=url) from None


@dataclass(slots=True)
class Assembly:
    """A machine put together, without power yet, and what the loop waits for."""

    world: World
    clock: Clock
    links: list[OpenWakeupLink]
    nvram: FileNvram

    def close(self) -> None:
        """Let go of lines and memory."""
        for link in self.links:
            link.close()
        self.nvram.close()


def assemble(options: RunOptions, folder: Path) -> Assembly:
    """Put a machine together in its data folder. Raises ConfigError: one sentence for the operator."""
    lines = MemoryLines()
    with contextlib.ExitStack() as opened:
        links = []
        for line in options.sas:
            link = open_line(line, folder, lines)
            opened.callback(link.close)
            links.append(link)
        try:
            is_real = options.time.name == "real"
            # Where time is not real it stands still while the disk works: else a note's escrow could run out meanwhile.
            flushing = Flushing.THREAD if is_real else Flushing.INLINE
            nvram = FileNvram(folder / "memory.bin", flushing=flushing)
            opened.callback(nvram.close)
            clock = SystemClock() if is_real else ManualClock()
            world = _world(options, clock, links, nvram, FileWorldStore(folder / "world.bin"))
        except (NvramError, WorldFileError) as error:
            raise ConfigError(str(error).rstrip(".")) from None
        opened.pop_all()  # all is well: whoever has the assembly closes it
    return Assembly(world, clock, links, nvram)


def _world(
    options: RunOptions, clock: Clock, links: list[OpenWakeupLink], nvram: FileNvram, store: WorldStore
) -> World:
    wires = [FaultyLine(link) for link in links]
    kept = store.load()
    twins = Twins.restored(None if kept is None else kept.get("twins"))
    names = ["sas.wire" if index == 0 else f"sas{index + 1}.wire" for index in range(len(wires))]
    targets = {name: wire.target for name, wire in zip(names, wires, strict=True)}
    seed = options.machine.seed
    cabinet = Cabinet(
        nvram=nvram,
        media=media(),
        clock=clock,
        entropy=SystemEntropy() if seed is None else SeededEntropy(seed),
        devices={"bill_acceptor": twins.acceptor_line},
        inputs=twins.inputs,
        outputs=twins.outputs,
        sas_lines=tuple(
            SasLine(wire, link.url, line.address, line.behaviour, line.duties or ())
            for wire, link, line in zip(wires, links, options.sas, strict=True)
        ),
        pause=lambda: time.sleep(PAUSE_S),
    )

    def power_up(announce: Announce) -> Machine:
        try:
            return ControlProgram(cabinet, options.machine, announce)
        except (NvramError, LayoutError, UnusableMemoryError) as error:
            raise ConfigError(str(error).rstrip(".")) from None

    return World(
        clock=clock,
        twins=twins,
        store=store,
        power_up=power_up,
        lines=wires,
        faults=Faults({**twins.targets(), **targets}),
    )


def power_on(assembly: Assembly) -> None:
    """Give the cabinet power. Raises ConfigError: options or memory do not make a machine."""
    assembly.world.power(True)


class Runner:
    """Runs an assembled machine until ``stop``. ``bite`` ends the process when the loop hangs."""

    def __init__(
        self,
        assembly: Assembly,
        panel: PanelProcess | None,
        time: TimeMode,
        bite: Callable[[], None] | None = None,
    ) -> None:
        self._world = assembly.world
        self._clock = assembly.clock
        self._nvram = assembly.nvram
        self._panel = panel
        self._time = time
        self._real = SystemClock()
        self._watchdog = Watchdog(bite)
        self._waiter = LoopWaiter()
        self._machine_descriptors = {self._nvram.fileno()}
        self._machine_descriptors |= {
            found for link in assembly.links if (found := link.fileno()) is not None
        }
        for descriptor in self._machine_descriptors:
            self._waiter.register(descriptor)
        self._channel_descriptor = -1
        self._is_stopping = False
        self._world.listeners.append(self._heard)

    def stop(self) -> None:
        """End the loop after its present turn. For signal handlers too."""
        self._is_stopping = True
        self._waiter.wake()

    def run(self) -> None:
        """Run until ``stop``; then power down in order."""
        gc.collect()
        gc.freeze()
        self._watchdog.start()
        if isinstance(self._clock, ManualClock):
            self._run_simulated(self._clock)
        else:
            while not self._is_stopping:
                self._turn(self._next_deadline_us())
        self._watchdog.stop()
        self._world.shut_down()
        self._serve_panel(is_readable=False)

    def close(self) -> None:
        """Let go of what the loop waited with."""
        self._waiter.close()

    def _next_deadline_us(self) -> int:
        due_us, now_us = self._world.next_deadline_us(), self._real.now_us()
        return due_us if due_us > now_us else now_us + OVERDUE_US

    # --- one turn --------------------------------------------------------------------------------------

    def _turn(self, deadline_us: int) -> None:
        ready = self._wait(deadline_us)
        if not self._machine_descriptors.isdisjoint(ready):
            self._world.stir()
            if not self._world.has_power:
                self._nvram.durable()  # makes its descriptor quiet while no machine asks
        self._world.turn()
        self._serve_panel(self._channel_descriptor in ready)

    def _wait(self, deadline_us: int) -> list[int]:
        now_us = self._real.now_us()
        self._watchdog.beat()
        deadline_us = min(deadline_us, now_us + BEAT_US)
        if self._panel is not None:
            due_us = self._panel.next_deadline_us(now_us)
            deadline_us = deadline_us if due_us is None else min(deadline_us, due_us)
        return self._waiter.wait(deadline_us)

    def _run_simulated(self, clock: ManualClock) -> None:
        """Free or paced time: a slice of it, then a look at the panel."""
        driver = Driver(self._world, clock)
        began_us, began_here_us = self._real.now_us(), clock.now_us()
        while not self._is_stopping:
            if self._time.name == "free":
                until_us, wake_us = clock.now_us() + SLICE_US, 0
            else:
                passed_us = (self._real.now_us() - began_us) * self._time.factor
                until_us = min(began_here_us + passed_us, clock.now_us() + SLICE_US)
                is_behind = until_us < began_here_us + passed_us
                wake_us = (
                    0 if is_behind else self._real.now_us() + SLICE_US // (10 * self._time.factor) + 1_000
                )
            driver.run_until(max(until_us, clock.now_us()))
            ready = self._wait(wake_us)
            self._serve_panel(self._channel_descriptor in ready)

    def _serve_panel(self, is_readable: bool) -> None:
        panel = self._panel
        if panel is None:
            return
        now_us = self._real.now_us()
        panel.serve(now_us, is_readable)
        panel.collect(now_us)
        descriptor = -1 if panel.channel is None else panel.channel.fileno()
        if descriptor != self._channel_descriptor:
            self._channel_descriptor = descriptor  # a closed descriptor has left the waiter by itself
            if descriptor >= 0:
                self._waiter.register(descriptor)

    def _heard(self, event: dict[str, object]) -> None:
        if self._panel is not None:
            self._panel.publish(event)
        if event["event"] in LOGGED:
            facts = {key: value for key, value in event.items() if key not in ("event", "time_us")}
            _log.info("%s %s", event["event"], facts)


def panel_for(world: World, options: PanelOptions, listener: socket.socket, version: str) -> PanelProcess:
    """Return the panel of a world, not started yet. It tells each process how to behave."""
    is_guarded_by_name = not options.token and options.host in LOOPBACK
    hello: dict[str, object] = {
        "version": version,
        "token": options.token,
        "tester": options.tester,
        "hosts": list(LOOPBACK) if is_guarded_by_name else [],
    }
    return PanelProcess(listener, hello, lambda request, reply: answer(world, request, reply))
