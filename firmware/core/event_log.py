"""The event log: the last significant events with their civil time, in critical memory (NJ 13:69E-1.28B(s))."""

from __future__ import annotations

from dataclasses import dataclass

LOG_SIZE = 128


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event. ``index`` counts from 1 since the memory was made; ``number``: of its row in ``events.EVENTS``."""

    index: int
    number: int
    wall_us: int
    value: int = 0


@dataclass(frozen=True, slots=True)
class Log:
    """``sequence``: number of the last public event; ``entries``: the newest ``LOG_SIZE`` log entries, oldest first."""

    sequence: int = 0
    entries: tuple[LogEntry, ...] = ()

    def appended(self, number: int, wall_us: int, value: int) -> Log:
        """The log with one more entry, its oldest lost when full."""
        index = self.entries[-1].index + 1 if self.entries else 1
        return Log(self.sequence, (*self.entries[-(LOG_SIZE - 1) :], LogEntry(index, number, wall_us, value)))
