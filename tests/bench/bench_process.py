"""The machine as a process: how soon it is ready, how much memory it holds, what it costs when nobody plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tty
from collections.abc import Iterable
from pathlib import Path

from tests.bench.rows import Row

STARTS = 5
IDLE_S = 20.0
PERIOD_S = 0.2
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def main() -> Iterable[Row]:
    """Ready after start beside a bare interpreter's; resident memory; processor share while polled."""
    starts = sorted(_seconds_to_ready() for _ in range(STARTS))
    bare = sorted(_seconds_of_bare_start() for _ in range(STARTS))
    yield Row("ready after start (median)", starts[STARTS // 2], "s", limit=1.0)
    yield Row("  beside a bare interpreter", starts[STARTS // 2], "s", floor=bare[STARTS // 2])
    resident_mb, share = _idle()
    yield Row("machine process, resident", resident_mb, "MB", limit=60)
    yield Row("idle, polled every 200 ms", share, "% of a core", limit=1.0)


def _start(folder: str) -> tuple[subprocess.Popen[str], float]:
    command = [sys.executable, "-m", "simulator.cli", "run", "--data", folder, "--panel", "127.0.0.1:0"]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--headless"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    json.loads(process.stdout.readline())
    return process, time.perf_counter() - begun


def _seconds_to_ready() -> float:
    with tempfile.TemporaryDirectory() as folder:
        process, seconds = _start(folder)
        process.terminate()
        process.wait(10)
        return seconds


def _seconds_of_bare_start() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "print()"], check=True, capture_output=True)
    return time.perf_counter() - begun


def _idle() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        process, _ = _start(folder)
        line = os.open(Path(folder) / "sas", os.O_RDWR | os.O_NOCTTY)
        tty.setraw(line)
        _poll_for(line, 8.0)
        before = _ticks(process.pid)
        _poll_for(line, IDLE_S)
        used = _ticks(process.pid) - before
        resident = _resident_mb(process.pid)
        os.close(line)
        process.terminate()
        process.wait(10)
        return resident, 100 * used / TICKS_A_SECOND / IDLE_S


def _poll_for(line: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.write(line, b"\x80")
        time.sleep(0.005)
        os.write(line, b"\x81")
        time.sleep(PERIOD_S)
        os.read(line, 64)


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _resident_mb(pid: int) -> float:
    for row in Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS:"):
            return int(row.split()[1]) / 1024
    raise RuntimeError("no VmRSS")
