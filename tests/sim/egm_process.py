"""A real ``egm run`` on a folder of its own: started, reached over HTTP and its SAS line, killed, started again."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

READY_S = 20.0


class EgmProcess:
    """One machine process after another on the same data folder."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.options = options
        self.start()

    def start(self) -> None:
        """Start it and wait for its ready line."""
        words = ["run", "--data", str(self.data), "--panel", "127.0.0.1:0", *self.options]
        began = time.monotonic()
        with (self.data.parent / "stderr.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "simulator.cli", *words], stdout=subprocess.PIPE, stderr=log
            )
        self.ready = json.loads(self._ready_line())
        self.started_s = time.monotonic() - began
        self.http = httpx.Client(base_url=str(self.ready["panel"]), timeout=70, trust_env=False)

    def _ready_line(self) -> bytes:
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], READY_S)
        assert readable, "not ready in time"
        line = self.process.stdout.readline()
        assert line, (self.data.parent / "stderr.txt").read_text()
        return line

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.http.close()
        self.process.send_signal(number)
        code = self.process.wait(timeout=10)
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        self.process.stdout.close()
        assert rest == b"", "only the ready line may stand on standard output"
        return code

    # --- over HTTP ----------------------------------------------------------------------------------------

    def get(self, path: str, **query: object) -> dict[str, Any]:
        answer = self.http.get(f"/api/{path}", params={key: str(value) for key, value in query.items()})
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def hand(self, name: str, **body: object) -> dict[str, Any]:
        answer = self.http.post(f"/api/cabinet/{name}", json=body)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def wait(self, event: str, after: int, timeout: float = 15.0) -> dict[str, Any]:
        return self.get("wait", event=event, after=after, timeout=timeout)

    def wait_playable(self, limit_s: float = 20.0) -> None:
        """Wait until the devices have finished their self-tests."""
        end = time.monotonic() + limit_s
        while not self.get("state")["playable"]:
            assert time.monotonic() < end, self.get("state")["playable_blocked_by"]
            time.sleep(0.05)

    def play(self) -> dict[str, Any]:
        """Play one game to its end; return the event."""
        sequence = self.hand("press", button="spin")["sequence"]
        return self.wait("game_ended", sequence)

    def meter(self, name: str) -> int:
        value = self.get("meters")[name]["value"]
        assert isinstance(value, int)
        return value

    # --- over the line ------------------------------------------------------------------------------------

    def sas(self) -> SasPort:
        return SasPort(str(self.data / "sas"))


class SasPort:
    """A bare host without a ninth bit: bytes out, bytes in."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
        import tty

        tty.setraw(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)

    def ask(self, message: bytes, size: int, limit_s: float = 2.0) -> bytes:
        """Send ``message`` after a sync poll; return ``size`` bytes of answer, fewer if they do not come.

        The sync poll makes each question a new one: without it the machine would repeat its last answer.
        """
        os.write(self.descriptor, b"\x80")
        time.sleep(0.025)
        os.write(self.descriptor, message)
        answer = b""
        end = time.monotonic() + limit_s
        while len(answer) < size:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                break
            answer += os.read(self.descriptor, size - len(answer))
        time.sleep(0.025)  # a line is idle after 20 ms
        return answer
