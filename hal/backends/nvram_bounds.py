"""What every critical memory checks before it touches its part."""

from __future__ import annotations

from hal.ports.nvram import NvramError

DEFAULT_SIZE = 512 * 1024
"""The largest common FRAM (design.md 4)."""

SECTOR_SIZE = 512
"""The unit in which parts may lose unflushed writes; a memory is a whole number of them."""


def check_size(size: int) -> None:
    """Raise NvramError if no memory has ``size`` bytes."""
    if size <= 0 or size % SECTOR_SIZE:
        raise NvramError(f"Critical memory cannot be {size} bytes: a multiple of {SECTOR_SIZE} is needed.")


def check_range(memory_size: int, offset: int, size: int) -> None:
    """Raise ValueError if ``size`` bytes at ``offset`` are not inside: the caller's own mistake."""
    if offset < 0 or size < 0 or offset + size > memory_size:
        raise ValueError(f"{size} bytes at {offset} are outside a memory of {memory_size}")
