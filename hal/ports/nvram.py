"""Critical memory as bytes: FRAM on a cabinet, a file by default, a buffer in tests."""

from __future__ import annotations

from typing import Protocol


class NvramError(Exception):
    """The memory part failed: I/O error, disk full, wrong size. The message says what and where."""


class Nvram(Protocol):
    """``size`` addressed bytes. A write is certain to survive a power cut only once a flush after it is durable.

    Between two flushes writes may reach the part torn at any byte, in any order, or not at all.
    """

    @property
    def size(self) -> int:
        """Number of bytes, a multiple of 512."""

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes, own unflushed writes included. Raises NvramError."""

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data`` at ``offset``. Raises NvramError."""

    def flush(self) -> int:
        """Begin to make every write so far durable; return the flush's ticket (1, 2, 3 …). Never blocks."""

    def durable(self) -> int:
        """Return the highest ticket that is durable (0: none yet). Raises NvramError if a flush failed."""
