"""The watchdog: a thread that ends the process when the loop has been silent for too long.

Nothing is stacked, dispensed or paid without an order, so a process that ends leaves every device
standing still (decisions, "Machine"). The thread needs the interpreter lock: a loop stuck inside foreign
code that keeps the lock is out of its reach.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable

EXIT_CODE = 86
SILENCE_S = 3.0


class Watchdog:
    """Ends the process unless ``beat`` is called at least every ``silence_s`` seconds.

    Args:
        bite: what ends the process; by default it leaves with exit code 86 at once.
        silence_s: how long the loop may be silent.
    """

    def __init__(self, bite: Callable[[], None] | None = None, silence_s: float = SILENCE_S) -> None:
        self._bite = bite or leave
        self._silence_s = silence_s
        self._last = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self.beat()
        self._thread.start()

    def beat(self) -> None:
        """The loop is alive."""
        self._last = time.monotonic()

    def stop(self) -> None:
        """Stop watching: an orderly end may take as long as it takes."""
        self._stop.set()

    def _watch(self) -> None:
        # A computer that slept wakes with an old heartbeat: only silence seen twice in a row counts.
        was_silent = False
        while not self._stop.wait(self._silence_s / 6):
            is_silent = time.monotonic() - self._last > self._silence_s
            if is_silent and was_silent and not self._stop.is_set():
                print(f"watchdog: the loop has been silent for {self._silence_s:g} s", file=sys.stderr)
                faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
                self._bite()
                return
            was_silent = is_silent


def leave() -> None:
    """End this process at once with the watchdog's exit code."""
    os._exit(EXIT_CODE)
