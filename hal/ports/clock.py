"""Time, as an argument for those who may not ask for it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Two clocks, both integers of microseconds."""

    def now_us(self) -> int:
        """Monotonic time since an arbitrary start. Never goes back while the program runs."""

    def wall_us(self) -> int:
        """Civil time: microseconds since 1970-01-01T00:00:00 in the cabinet's own zone. May jump either way."""
