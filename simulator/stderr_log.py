"""Log lines to standard error from a thread of its own: the loop never waits for whoever reads them."""

from __future__ import annotations

import logging
import os
import queue
import threading

LINES_MAX = 1000
"""Lines kept for a reader that is slow; further ones are dropped."""

PATIENCE_S = 1.0
"""How long the end of the program waits for the last lines to be read."""


class StderrLog(logging.Handler):
    """A log handler that never blocks. Call ``start`` once and ``stop`` at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
        self._before: tuple[list[logging.Handler], int] = ([], logging.WARNING)
        self._lines: queue.Queue[bytes | None] = queue.Queue(LINES_MAX)
        self._thread = threading.Thread(target=self._write_out, name="log", daemon=True)

    def start(self) -> None:
        """Become the only handler of the root logger, from level INFO."""
        root = logging.getLogger()
        self._before = (root.handlers[:], root.level)
        root.handlers[:] = [self]
        root.setLevel(logging.INFO)
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, if somebody reads it; leave the root logger as it was."""
        root = logging.getLogger()
        root.handlers[:], root.level = self._before
        try:
            self._lines.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(PATIENCE_S)

    def emit(self, record: logging.LogRecord) -> None:
        """Queue one line, or drop it when the queue is full."""
        try:
            self._lines.put_nowait(self.format(record).encode(errors="replace") + b"\n")
        except queue.Full:
            return

    def _write_out(self) -> None:
        # Below Python's own buffers: a thread that waits for a reader with their lock would stop the exit.
        while (line := self._lines.get()) is not None:
            try:
                os.write(2, line)
            except OSError:
                continue  # nobody has standard error open
