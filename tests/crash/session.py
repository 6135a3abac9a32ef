"""The session whose power is cut: a note, games that win and lose, hands and a host that interfere, a cash-out.

Scripted, so that every run of it does the same until its power is cut, and each step waits for what it caused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.control_program.options import MachineOptions
from firmware.core import game_cycle
from hal.ports.nvram import Nvram
from sas_protocol.host_end import LongPollRequest
from sas_protocol.longpolls import control
from simulator.whole_machine import SECOND_US, HostPlan, WholeMachine

METER_CODES = (0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0B, 0x0C, 0x1C, 0x1F, 0x22, 0x23, 0x24, 0x42)
HOST = HostPlan(is_real_time=True, meter_codes=METER_CODES, meters_period_us=1 * SECOND_US)
QUICK_HOST = HostPlan(
    period_us=40_000, is_real_time=True, meter_codes=METER_CODES, meters_period_us=1 * SECOND_US
)


def machine(
    nvram: Nvram, *, seed: int | str = 7, host: HostPlan = HOST, denomination: int = 100, **more: object
) -> WholeMachine:
    """Return the machine of the session, at one dollar a credit unless said otherwise."""
    options = MachineOptions(denomination=denomination)
    return WholeMachine(nvram, options=options, seed=seed, hosts=(host,), **more)  # type: ignore[arg-type]


@dataclass
class Session:
    """Runs the steps; ``plays`` are the games that ended, in order."""

    machine: WholeMachine
    plays: list[game_cycle.Play] = field(default_factory=list)

    def run(self) -> None:
        self.start()
        self.note(2000)
        self.games(5)
        self.door()
        self.disabled_by_host()
        self.note(500)
        self.games(2)
        self.cash_out()

    def start(self) -> None:
        self.machine.power_on()
        assert self.machine.run_until_playable()
        self.machine.run_for(1 * SECOND_US)  # the acceptor is told what it may take

    def note(self, cents: int) -> None:
        fates: list[object] = []
        self.machine.world.hands.bill(cents, fates.append)
        assert self.machine.driver.run_while(lambda: not fates, 20 * SECOND_US)
        self.machine.run_for(600_000)

    def games(self, count: int) -> None:
        for number in range(count):
            self.spin(is_stopped_early=number % 2 == 1)

    def spin(self, *, is_stopped_early: bool = False) -> None:
        machine = self.machine
        machine.world.hands.press("spin")
        assert machine.driver.run_while(lambda: not machine.program.executor.durable.game_in_play, SECOND_US)
        if is_stopped_early:
            machine.run_for(250_000)
            machine.world.hands.press("spin")
        assert machine.driver.run_while(lambda: machine.program.executor.durable.game_in_play, 2 * SECOND_US)
        play = machine.program.executor.durable.game.last
        assert play is not None
        self.plays.append(play)
        machine.run_for(450_000)

    def door(self) -> None:
        hands = self.machine.world.hands
        hands.door("main", True)
        self.machine.run_for(700_000)
        hands.door("main", False)
        self.machine.run_for(900_000)

    def disabled_by_host(self) -> None:
        host, executor = self.machine.host, self.machine.program.executor
        for poll, disabled in ((control.SHUTDOWN, True), (control.STARTUP, False)):
            host.ask(LongPollRequest(poll))
            is_so = lambda want=disabled: ("host_disabled" in executor.durable.tilts) == want  # noqa: E731
            assert self.machine.driver.run_while(lambda: not is_so(), 2 * SECOND_US)  # noqa: B023
            self.machine.run_for(500_000)

    def cash_out(self) -> None:
        machine = self.machine
        machine.world.hands.press("cash_out")
        machine.run_for(1 * SECOND_US)
        self.attendant()

    def attendant(self) -> None:
        machine = self.machine
        assert machine.program.executor.durable.handpay
        machine.world.hands.key("reset", True)
        machine.run_for(500_000)
        machine.world.hands.key("reset", False)
        machine.run_for(1 * SECOND_US)
