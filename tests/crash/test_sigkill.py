"""A real machine process, killed at random moments of a robot's session and started again on the same data.

A robot plays over HTTP, a host polls the pseudo-terminal and reads events and meters. ``EGM_KILLS`` says how many
kills (20; 200 with ``EGM_SWEEP=full``); they are shared out to machines that run side by side.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from firmware.core.meters import BY_SAS_CODE, DERIVED
from sas_protocol.host_end import Answered, HostRules, LongPollRequest, NoticeReceived
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS
from sas_protocol.longpolls.meters import SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN
from simulator.audit import Ledger, told
from simulator.floor.sas_host import SasHost
from simulator.host_line import HostLineError, open_host_line
from simulator.host_session import HostSession
from simulator.robot import Robot
from simulator.whole_machine import POWER_APPLIED, Heard
from tests.sim.egm_process import EgmProcess

KILLS = int(os.environ.get("EGM_KILLS", "200" if os.environ.get("EGM_SWEEP") == "full" else "20"))
MACHINES = 4
KILL_AFTER_S = (0.05, 9.0)
DENOMINATION = 25
METERS = (0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x0B, 0x0C, 0x1C, 0x1F, 0x23)
PATIENT = HostRules(answer_us=1_500_000)
"""Many machines on two cores may be late; a host that gave up on real-time reporting would get news without data."""


class PtyHost:
    """A host in a thread: it opens the line whenever the machine is there, polls, and remembers everything.

    A line that was lost is opened again only after ``machine_is_back``: the link in the folder of a dead machine
    may name a pseudo-terminal that another machine has got meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_ending = threading.Event()
        self._starts = 1
        self.heard: list[Heard] = []
        self.meters: dict[int, int] = {}
        self.falls: list[str] = []
        self.errors: list[BaseException] = []
        self._wants_meters = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._is_ending.set()
        self._thread.join(timeout=20)

    def machine_is_back(self) -> None:
        self._starts += 1

    def read_meters(self) -> None:
        """Read them all anew; wait for the answer."""
        self._wants_meters.set()
        end = time.monotonic() + 10
        while self._wants_meters.is_set():
            assert time.monotonic() < end, "the host cannot read the meters"
            time.sleep(0.02)

    def _run(self) -> None:
        try:
            used = 0
            while not self._is_ending.is_set():
                if used == self._starts:
                    time.sleep(0.01)
                    continue
                used = self._starts
                try:
                    self._poll_until_lost()
                except (HostLineError, OSError):
                    continue
        except BaseException as error:
            self.errors.append(error)

    def _poll_until_lost(self) -> None:
        real_time = LongPollRequest(ENABLE_REAL_TIME_EVENTS, {"enable": 1})

        def make(now_us: int) -> SasHost:
            reads_after = {POWER_APPLIED: (real_time,)}
            host = SasHost(1, now_us, period_us=100_000, reads_after=reads_after, rules=PATIENT)
            host.ask(real_time)
            return host

        with HostSession(open_host_line(f"pty:{self._path}"), make) as session:
            polls = (SEND_EXTENDED_METERS, SEND_EXTENDED_METERS_TWIN)
            asked = 0
            while not self._is_ending.is_set():
                if session.host.is_idle:
                    asked += 1
                    session.host.ask(LongPollRequest(polls[asked % 2], {"game": 0, "meters": METERS}))
                wanted = self._wants_meters.is_set()
                for event in session.events(for_us=400_000):
                    self._take(event, wanted)

    def _take(self, event: object, wanted: bool) -> None:
        match event:
            case NoticeReceived(code, _, facts) if code:
                self.heard.append(Heard(time.monotonic_ns() // 1000, code, facts))
            case Answered(values=values) if "meters" in values:
                for code, _, value in values["meters"]:
                    was = self.meters.get(code, 0)
                    if value < was and BY_SAS_CODE[code].key not in DERIVED:
                        self.falls.append(f"meter {code:02X} fell from {was} to {value}")
                    self.meters[code] = value
                if wanted:
                    self._wants_meters.clear()


class RobotThread:
    """A robot that plays over HTTP until the machine is gone. Keeps what it saw last."""

    def __init__(self, machine: EgmProcess, robot: Robot) -> None:
        self._machine = machine
        self._robot = robot
        self._is_ending = threading.Event()
        self.meters: dict[str, int] = {}
        self.acts = 0
        self.errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._is_ending.set()
        self._thread.join(timeout=90)

    def _run(self) -> None:
        try:
            while not self._is_ending.is_set():
                state = self._machine.get("state")
                self.meters = values(self._machine.get("meters"))
                act = self._robot.next_act(state)
                self._do(act.hand, act.arguments)
                self.acts += 1
                time.sleep(min(act.pause_us, 400_000) / 1e6)
        except (httpx.HTTPError, RuntimeError):
            return  # killed: the next process gets a new robot thread
        except BaseException as error:
            self.errors.append(error)

    def _do(self, hand: str, arguments: tuple[Any, ...]) -> None:
        names = {"bill": ("cents",), "press": ("button",), "door": ("door", "open"), "key": ("key", "on")}
        self._machine.hand(hand, **dict(zip(names[hand], arguments, strict=True)))


def values(meters: dict[str, Any]) -> dict[str, int]:
    return {name: int(meter["value"]) for name, meter in meters.items()}


def falls(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Meters that were shown and have gone back."""
    return [
        f"{name} was shown as {value} and is {after[name]}"
        for name, value in before.items()
        if name not in DERIVED and after[name] < value
    ]


def close(machine: EgmProcess) -> None:
    """Doors closed, keys back, nothing to be paid, nothing on its way."""
    for door, is_open in machine.get("state")["doors"].items():
        if is_open:
            machine.hand("door", door=door, open=False)
    for _ in range(3):
        for on in (False, True, False):
            machine.hand("key", key="reset", on=on)
            time.sleep(0.25)
    machine.wait_playable()
    end = time.monotonic() + 10
    while (state := machine.get("state"))["game"]["in_play"] or state["cabinet"]["note_path"] != "nowhere":
        assert time.monotonic() < end, state
        time.sleep(0.1)


def killed_again_and_again(folder: Path, seed: int, kills: int) -> list[str]:
    """One machine's life; returns what was wrong."""
    chance = random.Random(f"kills {seed}")
    data = folder / f"machine{seed}" / "data"
    data.parent.mkdir()
    machine = EgmProcess(data, "--denomination", str(DENOMINATION))
    host = PtyHost(data / "sas")
    robot = Robot(f"over HTTP {seed}")
    problems: list[str] = []
    acts = 0
    try:
        for number in range(kills):
            playing = RobotThread(machine, robot)
            time.sleep(chance.uniform(*KILL_AFTER_S))
            machine.process.send_signal(signal.SIGKILL)
            machine.process.wait(timeout=10)
            playing.end()
            acts += playing.acts
            machine.http.close()
            machine.process.stdout.close()  # type: ignore[union-attr]
            machine.start()
            host.machine_is_back()
            state, meters = machine.get("state"), machine.get("meters")
            problems += [f"kill {number}: {one}" for one in falls(playing.meters, values(meters))]
            problems += [f"kill {number}: {one}" for one in Ledger.of_public(state, meters).of_movements()]
            problems += [f"kill {number}: robot: {error!r}" for error in playing.errors]
        machine.wait_playable(40)
        close(machine)
        sequence = machine.hand("bill", cents=500)["sequence"]
        machine.wait("bill_stacked", sequence - 1)
        machine.play()
        problems += audit(machine, host)
        if acts == 0:
            problems.append("the robot never got to act")
    finally:
        host.end()
        machine.stop()
    return problems + [repr(error) for error in host.errors]


def audit(machine: EgmProcess, host: PtyHost) -> list[str]:
    """Line, HTTP, box and events agree."""
    end = time.monotonic() + 15
    count = -1
    while count != len(host.heard) and time.monotonic() < end:  # let the host take in all news
        count = len(host.heard)
        time.sleep(1.5)
    host.read_meters()
    state, meters = machine.get("state"), machine.get("meters")
    ledger = Ledger.of_public(state, meters)
    problems = [*ledger.of_movements(), *ledger.of_line(host.meters), *host.falls]
    stacked = state["cabinet"]["notes"]["stacked"]
    if stacked["cents"] != ledger.meters["bill_in"]:
        problems.append(
            f"{stacked['cents']} cents went into the box, {ledger.meters['bill_in']} were counted"
        )
    if state["cabinet"]["note_box"]["items"] != stacked["count"]:
        problems.append("the box holds another number of notes than went in")
    if state["credits"]["total"] != ledger.meters["current_credits"]:
        problems.append("state and meters differ on credits")
    problems += ledger.of_notices(told(host.heard))
    if state["tilts"]:
        problems.append(f"tilts: {state['tilts']}")
    return problems


@pytest.mark.law("NJ-28B-r", partly="in real time, with the whole process killed")
@pytest.mark.timeout(60 + 30 * KILLS)
def test_a_process_killed_at_random_moments_loses_nothing_and_invents_nothing(tmp_path: Path) -> None:
    each = -(-KILLS // MACHINES)
    with ThreadPoolExecutor(MACHINES) as pool:
        lives = [pool.submit(killed_again_and_again, tmp_path, seed, each) for seed in range(MACHINES)]
        problems = [f"machine {seed}: {one}" for seed, life in enumerate(lives) for one in life.result()]
    assert not problems, "\n".join(problems)
