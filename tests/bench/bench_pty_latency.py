"""How long a host waits for an answer on a pseudo-terminal, beside a bare epoll responder.

A real ``egm run`` process is polled every 40 ms while a robot plays a game a second through the panel. The floor is a
process of its own that answers every byte from an epoll loop and does nothing else, polled by the same host in the same
run, in turns.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.rows import Row

POLLS = 1_500
PERIOD_S = 0.040
RESPONDER = """
import os, select, sys, tty
master, slave = os.openpty()
tty.setraw(slave)
print(os.ttyname(slave), flush=True)
epoll = select.epoll()
epoll.register(master, select.EPOLLIN)
while True:
    for _ in epoll.poll():
        for byte in os.read(master, 256):
            if byte == 0x81:
                os.write(master, b"\\0")
"""


def main() -> Iterable[Row]:
    """p50, p99, p99.9 and the slowest answer, each beside the floor's."""
    with _machine() as (machine_line, panel), _responder() as bare_line, _robot(panel):
        machine, bare = _poll_in_turns(machine_line, bare_line)
    machine.sort()
    bare.sort()
    for share, name in ((0.50, "p50"), (0.99, "p99")):
        yield Row(
            f"SAS answer on a pty, {name}", _at(machine, share), "ms", floor=_at(bare, share), limit=3.0
        )
    yield Row("SAS answer on a pty, p99.9", _at(machine, 0.999), "ms", limit=5.0)
    yield Row("SAS answer on a pty, slowest", machine[-1], "ms", floor=bare[-1])


def _at(sorted_ms: list[float], share: float) -> float:
    return sorted_ms[min(len(sorted_ms) - 1, int(len(sorted_ms) * share))]


def _poll_in_turns(machine_line: int, bare_line: int) -> tuple[list[float], list[float]]:
    machine: list[float] = []
    bare: list[float] = []
    due = time.monotonic()
    for _ in range(POLLS):
        machine.append(_exchange(machine_line))
        bare.append(_exchange(bare_line))
        due += PERIOD_S
        time.sleep(max(0.0, due - time.monotonic()))
    return machine, bare


def _exchange(line: int) -> float:
    """One general poll, ``80`` before it so that it is not taken for a repeat; milliseconds to its answer."""
    os.write(line, b"\x80")
    time.sleep(0.002)
    while select.select([line], [], [], 0)[0]:
        os.read(line, 256)  # chirps from before the host came: not an answer to what is asked now
    start = time.perf_counter()
    os.write(line, b"\x81")
    if not select.select([line], [], [], 1.0)[0]:
        raise RuntimeError("no answer within a second")
    os.read(line, 256)
    return (time.perf_counter() - start) * 1000


@contextmanager
def _machine() -> Iterator[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "simulator.cli", "run", "--data", folder, "--panel", "127.0.0.1:0"]
        process = subprocess.Popen(
            [*command, "--headless"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            line = os.open(Path(folder) / "sas", os.O_RDWR | os.O_NOCTTY)
            _raw(line)
            yield line, ready["panel"]
            os.close(line)
        finally:
            process.terminate()
            process.wait(10)


@contextmanager
def _responder() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", RESPONDER], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = os.open(process.stdout.readline().strip(), os.O_RDWR | os.O_NOCTTY)
        _raw(line)
        yield line
        os.close(line)
    finally:
        process.kill()
        process.wait(10)


def _raw(line: int) -> None:
    tty.setraw(line)
    termios.tcflush(line, termios.TCIOFLUSH)


@contextmanager
def _robot(panel: str) -> Iterator[None]:
    """Put a note in, then press spin once a second."""
    _wait_playable(panel)
    _post(panel, "api/cabinet/bill", {"cents": 10_000})
    stopped = threading.Event()

    def play() -> None:
        while not stopped.wait(1.0):
            _post(panel, "api/cabinet/press", {"button": "spin"})

    robot = threading.Thread(target=play)
    robot.start()
    try:
        yield
    finally:
        stopped.set()
        robot.join()


def _wait_playable(panel: str) -> None:
    for _ in range(200):
        with urllib.request.urlopen(panel + "api/state", timeout=5) as reply:
            if json.load(reply)["playable"]:
                return
        time.sleep(0.1)
    raise RuntimeError("the machine did not become playable")


def _post(panel: str, route: str, body: dict[str, object]) -> None:
    request = urllib.request.Request(
        panel + route, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=15) as reply:
        reply.read()
