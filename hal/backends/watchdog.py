"""The watchdog: a thread that ends the process when the loop has been silent for too long.

Nothing is stacked, dispensed or paid without an order, so a process that ends leaves every device
standing still (decisions, "Machine"). The thread needs the interpreter lock: a loop stuck inside foreign
code that keeps the lock is out of its reach.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)

EXIT_CODE = 86
SILENCE_S = 3.0
_DUMP_S = 0.1


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
                _log.critical("watchdog: the loop has been silent for %g s", self._silence_s)
                # In a thread of its own: nobody may be reading standard error, and this thread must not wait.
                faulthandler.dump_traceback_later(0.01, file=sys.stderr)
                time.sleep(_DUMP_S)
                self._bite()
                return
            was_silent = is_silent


def leave() -> None:
    """End this process at once with the watchdog's exit code."""
    os._exit(EXIT_CODE)
