"""The program's data in memory: for tests, and for what was read and verified before it is used."""

from __future__ import annotations

from collections.abc import Mapping

from hal.ports.media import MediaError


class MemoryMedia:
    """Files as a mapping of name to content. A Media."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names that begin with ``prefix``, sorted."""
        return tuple(sorted(name for name in self._files if name.startswith(prefix)))

    def read(self, name: str) -> bytes:
        """Return the whole content of the file. Raises MediaError."""
        try:
            return self._files[name]
        except KeyError as error:
            raise MediaError(f"{name} is not on the medium.") from error
