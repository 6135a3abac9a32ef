"""What a look at the memory found, in words for the log and in fields for the program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How the memory was found at power-up."""

    FRESH = "fresh"  # formatted now: it was blank, or a clear was cut; the machine starts from nothing
    INTACT = "intact"
    REPAIRED = "repaired"  # usable; every finding has been put right, proven and is to be logged
    DAMAGED = "damaged"  # hard tilt: nothing was written, only ``format`` ends it
    FOREIGN = "foreign"  # another table of blocks, format or machine: refused, ``reason`` says which


class Place(Enum):
    """Which kind of item a finding is about."""

    HEADER = "header"
    SEAL = "seal"
    BLOCK = "block"
    JOURNAL = "journal"
    UNUSED = "unused"
    MEMORY = "memory"  # the part itself does not hold what is written


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was not as it must be.

    Args:
        place: what kind of item.
        detail: one sentence for the log.
        damaged: nothing good is left to repair it from; else it was repaired (at power-up) or will be with
            the next record (while running).
        block: the name of the block, for ``Place.BLOCK``.
        copy: which half is wrong, 0 or 1; None: both.
        offset: absolute byte offset of the item (of its first copy, for both).
        cut_explains: a power cut alone can leave this behind: a record or checkpoint that was being written. False:
            the memory failed. (A clear that was cut may leave a header for which this is False.)
    """

    place: Place
    detail: str
    damaged: bool = False
    block: str | None = None
    copy: int | None = None
    offset: int = 0
    cut_explains: bool = False


@dataclass(frozen=True, slots=True)
class PowerUpReport:
    """The result of ``CriticalMemory.power_up``.

    Args:
        status: see ``Status``.
        findings: everything that was wrong, whatever the status.
        sequence: the newest record the content includes.
        replayed: how many records were still in the journal.
        reason: why the memory was refused, for ``FOREIGN``.
    """

    status: Status
    findings: tuple[Finding, ...] = ()
    sequence: int = 0
    replayed: int = 0
    reason: str = ""

    @property
    def damaged(self) -> tuple[Finding, ...]:
        """The findings that nothing could repair."""
        return tuple(finding for finding in self.findings if finding.damaged)

    @property
    def damaged_blocks(self) -> tuple[str, ...]:
        """The names of blocks of which no copy is good, in order, once each."""
        return tuple(dict.fromkeys(finding.block for finding in self.damaged if finding.block is not None))
