"""What can go wrong with critical memory, apart from the part failing (``hal.ports.nvram.NvramError``)."""

from __future__ import annotations


class LayoutError(ValueError):
    """The table of blocks is impossible or does not fit the part. Raised before any access."""


class MemoryInvariantError(Exception):
    """The caller broke a rule of critical memory, such as one record open at a time: a bug of ours."""


class UnusableMemoryError(Exception):
    """What was asked needs memory that is damaged, foreign or not powered up. The message says why."""
