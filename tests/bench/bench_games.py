"""Complete games a second through the whole control program, and durable records a second with memory in a file.

A game is: button, draw, record, orders, reels' timer, record, host notices. The floor of the file figure is a bare loop
that writes the bytes of the same number of records to the same kind of file and flushes once for each.
"""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from firmware.core.commands import TimerExpired
from firmware.core.facts import AcceptorReady, ButtonPressed, NoteInEscrow, NoteStacked
from firmware.core.state import Now
from hal.backends.file_nvram import FileNvram
from hal.backends.memory_nvram import MemoryNvram
from hal.ports.nvram import Nvram
from simulator.whole_machine import HostPlan, WholeMachine
from tests.bench.rows import Row

GAMES = 3_000
FILE_GAMES = 600
MEMORY_SIZE = 512 * 1024


class _CountingNvram:
    """Passes everything on and keeps the sizes of writes between flushes."""

    def __init__(self, inner: Nvram) -> None:
        self._inner = inner
        self.flushes: list[list[tuple[int, int]]] = []
        self._writes: list[tuple[int, int]] = []

    @property
    def size(self) -> int:
        return self._inner.size

    def read(self, offset: int, size: int) -> bytes:
        return self._inner.read(offset, size)

    def write(self, offset: int, data: bytes) -> None:
        self._writes.append((offset, len(data)))
        self._inner.write(offset, data)

    def flush(self) -> int:
        self.flushes.append(self._writes)
        self._writes = []
        return self._inner.flush()

    def durable(self) -> int:
        return self._inner.durable()


def main() -> Iterable[Row]:
    """Games a second in memory; bytes a game; records a second in a file beside the bare loop."""
    machine = _funded(MemoryNvram(MEMORY_SIZE))
    yield Row("complete games, memory in RAM", _games(machine, GAMES), "/s", limit=2_000, sense="at_least")

    counting = _CountingNvram(MemoryNvram(MEMORY_SIZE))
    machine = _funded(counting)
    counting.flushes.clear()
    _games(machine, FILE_GAMES)
    written = sum(size for writes in counting.flushes for _, size in writes) / FILE_GAMES
    yield Row("bytes written a game", written, "B", limit=4_096)

    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        nvram = FileNvram(Path(folder) / "memory.bin")
        machine = _funded(nvram)
        start = time.perf_counter()
        _games(machine, FILE_GAMES)
        records = 2 * FILE_GAMES / (time.perf_counter() - start)
        nvram.close()
        bare = _bare_records(Path(folder) / "bare.bin", counting.flushes[: 2 * FILE_GAMES])
    yield Row("durable records, memory in a file", records, "/s", floor=bare, limit=0.5, sense="at_least")


def _funded(nvram: Nvram) -> WholeMachine:
    """A playable machine with money on it and no host, so that only games are measured."""
    whole = WholeMachine(nvram, hosts=(HostPlan(),))
    whole.power_on()
    executor = whole.program.executor
    for fact in (AcceptorReady(), NoteInEscrow(10_000), NoteStacked()):
        executor.submit(fact)
        _settle(whole)
    return whole


def _games(whole: WholeMachine, games: int) -> float:
    executor = whole.program.executor
    start = time.perf_counter()
    for _ in range(games):
        executor.submit(ButtonPressed("spin"))
        _settle(whole)
        executor.submit(TimerExpired("reels"))
        _settle(whole)
    return games / (time.perf_counter() - start)


def _settle(whole: WholeMachine) -> None:
    """Run until the record is durable, asleep while a file is flushed, as the real loop is."""
    executor, clock = whole.program.executor, whole.clock
    executor.run(Now(clock.now_us(), clock.wall_us()))
    while executor.is_busy:
        if isinstance(whole.nvram, FileNvram):
            select.select([whole.nvram.fileno()], [], [])
        executor.run(Now(clock.now_us(), clock.wall_us()))


def _bare_records(path: Path, flushes: list[list[tuple[int, int]]]) -> float:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        os.pwrite(descriptor, bytes(MEMORY_SIZE), 0)
        os.fsync(descriptor)
        start = time.perf_counter()
        for writes in flushes:
            for offset, size in writes:
                os.pwrite(descriptor, bytes(size), offset)
            os.fdatasync(descriptor)
        return len(flushes) / (time.perf_counter() - start)
    finally:
        os.close(descriptor)
