"""What is owed to each host: notices that it has not acknowledged yet, kept through a power loss.

An ordinary notice is an entry of a FIFO of 25 (decisions.md "SAS"); a priority notice is a flag that is set or
not (SAS 7.1). Which of them is sent next, and how, is the line's business.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.core.events import OVERFLOW_HOST_CODE

FIFO_MAX = 25
SLOT_COUNT = 48
"""Places in critical memory: 25 ordinary entries, two power notices and every priority flag of SAS 7.1."""

FACT_COUNT_MAX = 4


@dataclass(frozen=True, slots=True)
class Notice:
    """One entry. ``facts``: up to four integers (cents, counts) that the code carries in real-time mode.

    ``slot``: its place in critical memory, free again once it is acknowledged.
    """

    sequence: int
    code: int
    slot: int
    facts: tuple[int, ...] = ()
    is_priority: bool = False
    is_front: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One host's queue. ``pending``: what is owed, front notices first, each of both in order of arrival."""

    next_sequence: int = 1
    pending: tuple[Notice, ...] = ()


EMPTY = Line()


def post(
    line: Line, code: int, facts: tuple[int, ...] = (), *, priority: bool = False, front: bool = False
) -> Line:
    """Owe the host one more notice.

    A pending priority code is not doubled, and a power notice replaces its older twin. When the FIFO is full its
    oldest entry is lost and the overflow code becomes pending (SAS 7.1).
    """
    pending = line.pending
    if priority and any(notice.code == code for notice in pending):
        return line
    if front:
        pending = tuple(notice for notice in pending if not (notice.is_front and notice.code == code))
    elif not priority and len(pending) >= FIFO_MAX:
        ordinary = [notice for notice in pending if not (notice.is_priority or notice.is_front)]
        if len(ordinary) >= FIFO_MAX:
            line = post(drop(line, ordinary[0].sequence), OVERFLOW_HOST_CODE, priority=True)
            pending = line.pending
    notice = Notice(line.next_sequence, code, _free_slot(pending), facts, priority, front)
    place = sum(other.is_front for other in pending) if front else len(pending)
    return Line(line.next_sequence + 1, (*pending[:place], notice, *pending[place:]))


def drop(line: Line, sequence: int) -> Line:
    """Forget a notice that was acknowledged (or lost); unknown numbers change nothing."""
    pending = line.pending
    for place, notice in enumerate(pending):
        if notice.sequence == sequence:
            return Line(line.next_sequence, pending[:place] + pending[place + 1 :])
    return line


def _free_slot(pending: tuple[Notice, ...]) -> int:
    used = 0
    for notice in pending:
        used |= 1 << notice.slot
    return (~used & (used + 1)).bit_length() - 1
