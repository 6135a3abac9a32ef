"""Clocks: the computer's own, and one that a test or a world sets by hand."""

from __future__ import annotations

import time

_US_PER_SECOND = 1_000_000


class SystemClock:
    """The computer's monotonic clock and its civil time in the local zone. A Clock."""

    def now_us(self) -> int:
        """Monotonic microseconds since an arbitrary start."""
        return time.monotonic_ns() // 1000

    def wall_us(self) -> int:
        """Civil microseconds since 1970-01-01T00:00:00 local time, summer time included."""
        utc_us = time.time_ns() // 1000
        return utc_us + time.localtime(utc_us // _US_PER_SECOND).tm_gmtoff * _US_PER_SECOND


class ManualClock:
    """A clock that stands still until told. A Clock.

    Args:
        now_us: monotonic time at the start.
        wall_us: civil time at the start; 2026-01-01T00:00:00 if left out.
    """

    def __init__(self, now_us: int = 0, wall_us: int = 1_767_225_600_000_000) -> None:
        self._now_us = now_us
        self._wall_ahead_us = wall_us - now_us

    def now_us(self) -> int:
        """Monotonic microseconds since an arbitrary start."""
        return self._now_us

    def wall_us(self) -> int:
        """Civil microseconds since 1970-01-01T00:00:00 local time."""
        return self._now_us + self._wall_ahead_us

    def advance(self, by_us: int) -> None:
        """Let ``by_us`` pass on both clocks. Raises ValueError if negative."""
        if by_us < 0:
            raise ValueError(f"time cannot go back by {-by_us} us")
        self._now_us += by_us

    def advance_to(self, now_us: int) -> None:
        """Let time pass until ``now_us``. Raises ValueError if that is in the past."""
        self.advance(now_us - self._now_us)

    def set_wall(self, wall_us: int) -> None:
        """Set the civil time, either way; monotonic time does not notice."""
        self._wall_ahead_us = wall_us - self._now_us
