"""Cuts the power of one running session everywhere: at each point the process forks, and the copy loses its power.

The session itself runs once, to its end. A copy restarts the machine on what survived, runs it on to rest and
looks at it from all sides; its verdict comes back through a pipe. A point and a seed name a run: ``run_alone``
repeats it in one process.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError

Body = Callable[["PowerSwitch"], None]
"""Runs a session; calls ``PowerSwitch.point`` wherever the power may go. Ends with PowerCutError in a copy."""

Verdict = Callable[[BaseException | None, int], list[str]]
"""Judges what a cut left: the error that the session ended with (None: it ran to its end), and the seed."""


class PowerSwitch:
    """Decides at each point of a session whether the power goes.

    Args:
        seeds_at: point number -> the seeds of the copies whose power goes there.
        jobs: copies that live at once; 0: no copies, the power goes in this very process.
    """

    def __init__(self, seeds_at: Callable[[int], Sequence[int]], jobs: int) -> None:
        self._seeds_at = seeds_at
        self._jobs = jobs
        self._copies: dict[int, tuple[int, int, int]] = {}  # pipe -> process, point, seed
        self.points = 0
        self.is_over = False  # what comes now is not the session any more
        self.cut: tuple[int, int] | None = None
        self.answer = -1
        self.runs = 0
        self.failures: list[Failure] = []

    def point(self, reseed: Callable[[int], None] | None = None) -> None:
        """The power may go here. ``reseed``: takes the seed of what the cut does to unflushed writes."""
        if self.is_over:
            return
        number = self.points
        self.points += 1
        for seed in self._seeds_at(number):
            if self._jobs == 0 or self._is_copy(number, seed):
                self.cut, self.is_over = (number, seed), True
                if reseed is not None:
                    reseed(seed)
                raise PowerCutError(f"point {number}, seed {seed}")

    def _is_copy(self, number: int, seed: int) -> bool:
        while len(self._copies) >= self._jobs:
            self._collect()
        inlet, outlet = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(inlet)
            for other in self._copies:
                os.close(other)
            self._copies.clear()
            self.answer = outlet
            return True
        os.close(outlet)
        self._copies[inlet] = (process, number, seed)
        self.runs += 1
        return False

    def _collect(self) -> None:
        ready, _, _ = select.select(list(self._copies), [], [])
        for inlet in ready:
            process, number, seed = self._copies.pop(inlet)
            with os.fdopen(inlet, "rb") as pipe:
                said = pipe.read()
            os.waitpid(process, 0)
            problems = json.loads(said) if said else ["the copy died without a word"]
            self.failures += [Failure(number, seed, problem) for problem in problems]

    def finish(self) -> None:
        """Wait for every copy."""
        while self._copies:
            self._collect()


@dataclass(frozen=True, slots=True)
class Failure:
    """What was wrong after a cut at ``point`` with ``seed``."""

    point: int
    seed: int
    problem: str


@dataclass
class Result:
    """Of a sweep along one path."""

    path: str
    points: int = 0
    runs: int = 0
    failures: list[Failure] = field(default_factory=list)


def sweep(
    path: str, body: Body, verdict: Verdict, seeds_at: Callable[[int], Sequence[int]], jobs: int
) -> Result:
    """Run ``body`` once, cutting the power of copies at its points; return what their verdicts said."""
    switch = PowerSwitch(seeds_at, jobs)
    gc.collect()
    gc.freeze()  # copies share the memory of what exists; the collector would touch it all
    try:
        try:
            body(switch)
        except PowerCutError as error:
            _answer(switch, error, verdict)
            raise
        switch.is_over = True
        problems = verdict(None, 0)
    except BaseException:
        if switch.answer >= 0:
            os._exit(1)
        raise
    finally:
        gc.unfreeze()
    switch.finish()
    failures = [Failure(-1, 0, problem) for problem in problems] + switch.failures
    return Result(path, switch.points, switch.runs, failures)


def _answer(switch: PowerSwitch, error: PowerCutError, verdict: Verdict) -> None:
    """In a copy: judge, say it, and end without running anything else of this process."""
    if switch.cut is None or switch.answer < 0:
        raise error
    try:
        problems = verdict(error, switch.cut[1])
    except BaseException:
        problems = [traceback.format_exc(limit=-4)]
    os.write(switch.answer, json.dumps(problems).encode()[:60_000])
    os._exit(0)


def run_alone(body: Body, verdict: Verdict, point: int, seed: int) -> list[str]:
    """Repeat one run of a sweep in this process."""
    switch = PowerSwitch(lambda number: (seed,) if number == point else (), jobs=0)
    try:
        body(switch)
    except PowerCutError as error:
        return verdict(error, seed)
    raise ValueError(f"the session has {switch.points} points, so none with number {point}")


class SwitchedNvram(CuttableNvram):
    """A memory part of which each write and flush is a point of a switch."""

    def __init__(self, size: int = 512 * 1024, lag: int = 0) -> None:
        super().__init__(size, lag=lag)
        self.switch: PowerSwitch | None = None

    def _operation(self) -> None:
        if self.switch is not None:
            self.switch.point(self.reseed)
        super()._operation()

    def reseed(self, seed: int) -> None:
        """Choose what a cut does to writes that are not durable."""
        self._random = random.Random(seed)


class SwitchedLine:
    """The machine's end of the acceptor's line: each byte that leaves or arrives is a point of a switch.

    What left before the cut is on the wire: ``arrived`` lets the device take it, which then loses its power too.
    """

    def __init__(self, link: object, arrived: Callable[[], None]) -> None:
        self._link = link
        self._arrived = arrived
        self.switch: PowerSwitch | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._link, name)

    def read(self, limit: int) -> bytes:
        data: bytes = self._link.read(limit)  # type: ignore[attr-defined]
        if self.switch is not None:
            for _ in data:
                self.switch.point()
        return data

    def write(self, data: bytes) -> None:
        switch = self.switch
        if switch is not None:
            for sent in range(1, len(data) + 1):
                try:
                    switch.point()
                except PowerCutError:
                    self._link.write(data[:sent])  # type: ignore[attr-defined]
                    self._arrived()
                    raise
        self._link.write(data)  # type: ignore[attr-defined]
