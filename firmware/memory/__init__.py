"""Critical memory: bytes, blocks and counters that survive a power cut anywhere.

Nothing here knows what a meter or a credit is. Start reading at ``CriticalMemory``; the why is in
docs/adr/0002-critical-memory.md.
"""

from firmware.memory.changes import Add, Change, Put
from firmware.memory.critical import CriticalMemory, read_layout
from firmware.memory.errors import LayoutError, MemoryInvariantError, UnusableMemoryError
from firmware.memory.layout import BlockSpec
from firmware.memory.report import Finding, Place, PowerUpReport, Status

__all__ = [
    "Add",
    "BlockSpec",
    "Change",
    "CriticalMemory",
    "Finding",
    "LayoutError",
    "MemoryInvariantError",
    "Place",
    "PowerUpReport",
    "Put",
    "Status",
    "UnusableMemoryError",
    "read_layout",
]
