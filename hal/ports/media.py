"""The read-only medium that holds the program's data: games, profiles, cabinet files, behaviours."""

from __future__ import annotations

from typing import Protocol


class MediaError(Exception):
    """A file is missing or cannot be read. The message names it."""


class Media(Protocol):
    """Named files, ``/`` between folders, no leading slash, such as ``games/library/NAME/par.toml``."""

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of all files that begin with ``prefix``, sorted."""

    def read(self, name: str) -> bytes:
        """Return the whole content of one file. Raises MediaError."""
