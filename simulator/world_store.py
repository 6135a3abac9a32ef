"""Where the simulated cabinet keeps what is physical: a file that is whole at any moment, or a buffer."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import zlib
from pathlib import Path
from typing import Protocol

Physical = dict[str, object]
"""JSON-ready content: part → what of it outlives the power."""

FORMAT = 1


class WorldFileError(Exception):
    """The file cannot be read or written, or is not a world. One sentence, which names it."""


class WorldStore(Protocol):
    """Keeps one ``Physical``."""

    def load(self) -> Physical | None:
        """Return what was saved last, ``None`` if nothing ever was. Raises WorldFileError."""

    def save(self, physical: Physical) -> None:
        """Keep ``physical``: it outlives this process as soon as this returns. Raises WorldFileError."""


class MemoryWorldStore:
    """A store for tests: outlives the machine's power, not the process."""

    def __init__(self) -> None:
        self.text = ""

    def load(self) -> Physical | None:
        """Return what was saved last."""
        return unpack(self.text.encode(), "the world in memory") if self.text else None

    def save(self, physical: Physical) -> None:
        """Keep ``physical``."""
        self.text = pack(physical).decode()


class FileWorldStore:
    """A store in one file. Each save writes a new file and renames it over the old one, so none is ever torn.

    It is written and not flushed: it must outlive the process, not this computer's own power.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fresh = path.with_name(path.name + ".new")

    def load(self) -> Physical | None:
        """Return what was saved last, ``None`` for a new cabinet. Raises WorldFileError."""
        with contextlib.suppress(OSError):  # what cannot be removed is told by the first save
            self._fresh.unlink()  # left by a process that was killed while it wrote
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WorldFileError(f"cannot read {self._path}: {error.strerror}") from error
        return unpack(data, str(self._path))

    def save(self, physical: Physical) -> None:
        """Keep ``physical``. Raises WorldFileError."""
        try:
            descriptor = os.open(self._fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                data = pack(physical)
                if os.write(descriptor, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(descriptor)
            self._fresh.replace(self._path)
        except OSError as error:
            raise WorldFileError(f"cannot write {self._path}: {error.strerror}") from error


def pack(physical: Physical) -> bytes:
    """Return the file's content: one line of JSON with a CRC-32 of what it guards."""
    body = json.dumps(physical, separators=(",", ":"), sort_keys=True)
    return json.dumps({"format": FORMAT, "crc32": zlib.crc32(body.encode()), "world": body}).encode() + b"\n"


def unpack(data: bytes, name: str) -> Physical:
    """Return the content that ``pack`` wrote. Raises WorldFileError, which says what to do."""
    try:
        outer = json.loads(data)
        body = outer["world"]
        if outer["format"] != FORMAT or outer["crc32"] != zlib.crc32(body.encode()):
            raise ValueError("wrong format or checksum")
        physical = json.loads(body)
        if not isinstance(physical, dict):
            raise ValueError("not a world")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WorldFileError(
            f"{name} is damaged ({error}); remove it to go on with an empty note path and closed doors"
        ) from None
    return physical
