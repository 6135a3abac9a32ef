"""Complete games a second through the whole control program, and durable records a second with memory in a file.

A game is: button, draw, record, orders, reels' timer, record, host notices. The floor of the file figure is a bare loop
that writes the same bytes to the same places of the same kind of file and flushes once for each record.
"""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from firmware.control_program.state_blocks import BLOCKS
from firmware.core.commands import TimerExpired
from firmware.core.facts import AcceptorReady, ButtonPressed, NoteInEscrow, NoteStacked
from firmware.core.state import Now
from firmware.memory import Change, CriticalMemory
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
    records = _kept_records(machine)
    counting.flushes.clear()
    _games(machine, FILE_GAMES)
    written = sum(size for writes in counting.flushes for _, size in writes) / FILE_GAMES
    yield Row("bytes written a game", written, "B", limit=4_096)

    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        bare = _bare_records(Path(folder) / "bare.bin", counting.flushes)
        durable = _durable_records(Path(folder) / "records.bin", records)
        yield Row("durable records, memory in a file", durable, "/s", floor=bare, limit=0.5, sense="at_least")
        nvram = FileNvram(Path(folder) / "memory.bin")
        machine = _funded(nvram)
        whole = len(records) / FILE_GAMES * _games(machine, FILE_GAMES)
        nvram.close()
        # Where the disk is quick this is bound by the games, not by the disk: reported, without a limit.
        yield Row("  through the whole control program", whole, "/s", floor=bare)


def _kept_records(whole: WholeMachine) -> list[list[Change]]:
    """The list that every record of the machine will be added to, as it is made."""
    records: list[list[Change]] = []
    memory = whole.program.memory
    append = memory.append

    def keep(changes: Sequence[Change], *, lazy: bool = False) -> int:
        records.append(list(changes))
        return append(changes, lazy=lazy)

    memory.append = keep  # type: ignore[method-assign]
    return records


def _durable_records(path: Path, records: list[list[Change]]) -> float:
    """The same records through critical memory in a file, each durable before the next."""
    nvram = FileNvram(path)
    memory = CriticalMemory(nvram, BLOCKS)
    memory.power_up(lambda: time.sleep(0.0003))
    start = time.perf_counter()
    for changes in records:
        ticket = memory.append(changes)
        while not memory.is_durable(ticket):
            select.select([nvram.fileno()], [], [])
    rate = len(records) / (time.perf_counter() - start)
    nvram.close()
    return rate


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
