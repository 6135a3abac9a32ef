"""``python -m simulator.sim_session SEED``: one simulated session by its seed, audited, in virtual time.

A robot plays at a machine that a host polls; then everything comes to rest and must agree: the robot's own
books, the machine's meters, the meters on the line, what lies in the box. The same seed gives the same trace,
whose digest is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from dataclasses import dataclass

from firmware.control_program.options import MachineOptions
from firmware.core.meters import BY_SAS_CODE
from hal.backends.memory_nvram import MemoryNvram
from simulator.audit import Audit, settle
from simulator.robot import NOTES, Accounts, RobotPlayer
from simulator.whole_machine import SECOND_US, HostPlan, WholeMachine

DENOMINATIONS = (1, 5, 25, 100)

METER_CODES = tuple(code for code, row in sorted(BY_SAS_CODE.items()) if row.needs in ("", "bill_acceptor"))
"""Every meter that this cabinet counts."""


@dataclass(frozen=True, slots=True)
class Report:
    """Of one session. ``trace``: digest of every event, byte of the line and act, with their times."""

    seed: int
    denomination: int
    accounts: Accounts
    problems: tuple[str, ...]
    trace: str
    virtual_us: int
    real_seconds: float


def run(
    seed: int,
    *,
    denomination: int | None = None,
    time_us: int = 60 * SECOND_US,
    period_us: int = 200_000,
    cuts: int = 0,
    lines: int = 1,
) -> Report:
    """Run one session and audit it. The denomination follows from the seed if it is not given.

    ``cuts``: how often the plug is pulled at a random moment; ``lines``: hosts, each with its own news.
    """
    cents = DENOMINATIONS[seed % len(DENOMINATIONS)] if denomination is None else denomination
    plan = HostPlan(period_us=period_us, is_real_time=seed % 8 < 4, meter_codes=METER_CODES)
    options = MachineOptions(denomination=cents)
    began = time.perf_counter()
    machine = WholeMachine(MemoryNvram(), options=options, seed=seed, hosts=(plan,) * lines)
    machine.host.byte_trace = []
    machine.power_on()
    machine.run_until_playable()
    robot = RobotPlayer(machine.world, seed, machine.clock.now_us(), NOTES)
    machine.world.attach(robot)
    _plan_cuts(machine, random.Random(f"cuts {seed}"), cuts, time_us)
    machine.run_for(time_us)
    robot.go_away()
    close(machine)
    problems = [*Audit(machine).problems(), *disagreements(machine, robot.accounts)]
    if not settle(machine):
        problems.append("the machine does not come to rest")
    real_seconds = time.perf_counter() - began
    return Report(
        seed,
        cents,
        robot.accounts,
        tuple(problems),
        trace(machine, robot),
        machine.clock.now_us(),
        real_seconds,
    )


def _plan_cuts(machine: WholeMachine, chance: random.Random, cuts: int, time_us: int) -> None:
    """Pull the plug at random moments, each followed by a pause without power. The last one leaves time to play."""
    for number in range(cuts):
        at_us = machine.clock.now_us() + (number * time_us + chance.randrange(time_us)) // cuts
        machine.world.plan(at_us, machine.cut)
        machine.world.plan(at_us + chance.choice((1, 80_000, 1_700_000)), machine.power_on)


def close(machine: WholeMachine) -> None:
    """Put right what the robot left: doors closed, keys back, nothing to be paid; then wait for rest."""
    machine.run_for(2 * SECOND_US)  # a pause without power is over by then
    hands = machine.world.hands
    for door in machine.twins.door_names:
        hands.door(door, False)
    for _ in range(4):
        for on in (False, True, False):
            hands.key("reset", on)
            machine.run_for(500_000)
    settle(machine)


def disagreements(machine: WholeMachine, own: Accounts) -> list[str]:
    """Where the machine's meters differ from what the robot saw with its own eyes."""
    meters = Audit(machine).meters
    due = {
        "bill_in": own.paid_in,
        "coin_in": own.wagered,
        "games_played": own.games,
        "games_won": own.games_won,
        "sas_total_won": own.won,
        "attendant_paid_jackpots": own.jackpots_paid,
        "attendant_paid_cancelled_credits": own.hand_paid,
        "current_credits": own.paid_in - own.wagered + own.won - own.jackpots_paid - own.hand_paid,
        "main_door_openings": own.doors_opened,
    }
    due |= {f"bill_in_count_{note // 100}": own.stacked.get(note, 0) for note in NOTES}
    return [
        f"{meter} is {meters[meter]}, the robot counted {value}"
        for meter, value in due.items()
        if meters[meter] != value
    ]


def trace(machine: WholeMachine, robot: RobotPlayer) -> str:
    """Return a digest of everything that happened, with its time."""
    digest = hashlib.sha256()
    for event in machine.announced:
        digest.update(json.dumps(event, sort_keys=True).encode())
    for at_us, data in machine.host.byte_trace or ():
        digest.update(b"%d %b" % (at_us, data))
    for at_us, act in robot.acts:
        digest.update(f"{at_us} {act}".encode())
    return digest.hexdigest()


def speed(
    *, virtual_us: int = 600 * SECOND_US, period_us: int = 200_000, has_acceptor: bool = True
) -> tuple[float, int]:
    """Measure virtual time on an idle, polled machine; return (virtual / real, polls answered).

    Without an acceptor nothing but the host wakes the machine.
    """
    machine = WholeMachine(MemoryNvram(), seed=1, hosts=(HostPlan(period_us=period_us),))
    if not has_acceptor:
        machine.cabinet.devices = {}
    machine.power_on()
    machine.run_for(10 * SECOND_US)
    began = time.perf_counter()
    machine.run_for(virtual_us)
    return virtual_us / 1e6 / (time.perf_counter() - began), virtual_us // period_us


def main(arguments: list[str] | None = None) -> int:
    """Run the sessions that the command line names; return 1 if one of them does not agree."""
    parser = argparse.ArgumentParser(prog="python -m simulator.sim_session", description=__doc__)
    parser.add_argument("seed", type=int, help="of the first session")
    parser.add_argument("--count", type=int, default=1, help="sessions, with rising seeds (default 1)")
    parser.add_argument("--seconds", type=int, default=60, help="simulated time of play (default 60)")
    parser.add_argument("--cuts", type=int, default=0, help="pull the plug so often in each session")
    parser.add_argument("--lines", type=int, default=1, help="hosts (default 1)")
    options = parser.parse_args(arguments)
    is_good = True
    for seed in range(options.seed, options.seed + options.count):
        report = run(seed, time_us=options.seconds * SECOND_US, cuts=options.cuts, lines=options.lines)
        own = report.accounts
        sys.stdout.write(
            f"seed {seed}: {report.virtual_us / 1e6:.0f} s in {report.real_seconds:.2f} s, "
            f"{report.denomination} cents a credit, {own.games} games, in {own.paid_in / 100:.2f}, "
            f"wagered {own.wagered / 100:.2f}, won {own.won / 100:.2f}, hand paid {own.hand_paid / 100:.2f}, "
            f"trace {report.trace[:16]}: {'; '.join(report.problems) or 'all agrees'}\n"
        )
        is_good &= not report.problems
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
