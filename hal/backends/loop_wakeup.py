"""How the real-time loop sleeps: until a descriptor is readable, a deadline comes, or a thread calls."""

from __future__ import annotations

import contextlib
import os
import select
import time

# select.epoll counts in milliseconds and 32 bits; a longer sleep is cut in pieces by the caller's own loop.
_SECONDS_MAX = 86_400.0


class LoopWaiter:
    """Wait for many things. ``wake`` may be called by any thread or signal handler, the rest by one."""

    def __init__(self) -> None:
        self._poller = select.epoll()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poller.register(self._wake, select.EPOLLIN)

    def register(self, descriptor: int | None) -> None:
        """Wait for ``descriptor`` too; ``None``, the answer of back ends in memory, is fine and means
        nothing.

        Raises:
            OSError: it cannot be waited for, or is registered already.
        """
        if descriptor is not None:
            self._poller.register(descriptor, select.EPOLLIN)

    def unregister(self, descriptor: int | None) -> None:
        """Wait for ``descriptor`` no more; call it before the descriptor is closed."""
        if descriptor is not None:
            self._poller.unregister(descriptor)

    def wait(self, deadline_us: int | None) -> list[int]:
        """Sleep until something is readable, ``wake`` was called, or the clock shows ``deadline_us``.

        Args:
            deadline_us: on the scale of ``SystemClock.now_us``; ``None`` for no deadline. Woken at most
                about 1 ms late, never early, except that a sleep of more than a day ends after a day.

        Returns:
            The registered descriptors that are readable; empty after a deadline or a ``wake``.
        """
        timeout = _SECONDS_MAX
        if deadline_us is not None:
            left_us = deadline_us - time.monotonic_ns() // 1000
            timeout = min(max(left_us / 1e6, 0.0), _SECONDS_MAX)
        ready = [descriptor for descriptor, _ in self._poller.poll(timeout)]
        if self._wake in ready:
            ready.remove(self._wake)
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self._wake)
        return ready

    def wake(self) -> None:
        """End the present ``wait``, or the next one if nobody waits."""
        os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """Let go of the descriptors."""
        self._poller.close()
        os.close(self._wake)
