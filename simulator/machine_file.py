"""``DATA/machine.json``, the ready line where the tools find it; and the lock on the data folder."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path

from firmware.control_program.errors import ConfigError

NAME = "machine.json"
LOCK_NAME = "machine.lock"
PATIENCE_S = 0.5


class DataFolder:
    """A machine's data folder, made if there is none, and locked against a second machine.

    The lock belongs to this process and goes with it, however it ends.

    Raises ConfigError: it cannot be made or written, or another machine runs on it.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a symlinked folder's name
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ConfigError(
                f"cannot use this data folder: {error.strerror}; choose one that is yours to write",
                key="--data",
                value=str(self.path),
            ) from None
        self._take()

    def _take(self) -> None:
        if not self._locked_in_time():
            owner = os.pread(self._lock, 20, 0).decode("ascii", "replace").strip()
            os.close(self._lock)
            raise ConfigError(
                f"a machine (process {owner or '?'}) runs on this data folder; stop it or choose another",
                key="--data",
                value=str(self.path),
            ) from None
        try:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(self._lock)
            raise ConfigError(
                f"cannot write to this data folder: {error.strerror}; free some space or choose another",
                key="--data",
                value=str(self.path),
            ) from None

    def _locked_in_time(self) -> bool:
        """Lock, with patience for a machine that was killed a moment ago."""
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > give_up:
                    return False
                time.sleep(0.02)
            else:
                return True

    def write_ready(self, ready: dict[str, object]) -> None:
        """Put the ready line where tools look for it, in one step."""
        fresh = self.path / (NAME + ".new")
        fresh.write_text(json.dumps(ready) + "\n")
        fresh.replace(self.path / NAME)

    def read_ready(self) -> dict[str, object]:
        """Return the ready line that is there, ``{}`` if none."""
        with contextlib.suppress(OSError, ValueError):
            found = json.loads((self.path / NAME).read_text())
            if isinstance(found, dict):
                return found
        return {}

    def close(self) -> None:
        """The machine has stopped: nobody shall look for it here, and another may start."""
        with contextlib.suppress(OSError):
            (self.path / NAME).unlink()
        os.close(self._lock)


def is_left_behind(folder: Path) -> bool:
    """Whether nobody holds the lock of a data folder, so that its ready line is of a machine that was killed.

    By now its port may be another machine's.
    """
    try:
        lock = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # no lock to ask
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
