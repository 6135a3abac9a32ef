"""A host at work: the pure host (``simulator.floor.sas_host``) on an open line, in real time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from sas_protocol.host_end import LongPollRequest, Write
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS
from simulator.floor.sas_host import SasHost, SasHostEvent
from simulator.host_line import HostLine

LEAVE_US = 2_000_000
"""A machine that goes on telling news is left as it is after so long."""
IDLE_US = 50_000
"""Longest wait when nothing is due, so that the session's end is noticed in time."""


def monotonic_us() -> int:
    """Microseconds of a clock that never steps."""
    return time.monotonic_ns() // 1_000


class HostSession:
    """Run a host on a line until its caller has heard enough. Ends with a sync poll, on every way out.

    Args:
        line: an open line; closed with the session.
        make_host: makes the host, given the present time.
    """

    def __init__(self, line: HostLine, make_host: Callable[[int], SasHost]) -> None:
        self._line = line
        self.host = make_host(monotonic_us())

    def __enter__(self) -> HostSession:
        return self

    def __exit__(self, error_type: object, error: object, traceback: object) -> None:
        try:
            if error is None or isinstance(error, KeyboardInterrupt | GeneratorExit | SystemExit):
                self._write(*self.host.farewell())
        finally:
            self._line.close()

    def events(self, for_us: int | None = None) -> Iterator[SasHostEvent]:
        """Yield what the host hears, as it happens, for ``for_us`` or without end. Raises HostLineError."""
        end_us = None if for_us is None else monotonic_us() + for_us
        while end_us is None or monotonic_us() < end_us:
            yield from self._heard(self.host.tick(monotonic_us()))
            due_us = self.host.next_deadline_us()
            now_us = monotonic_us()
            wait_us = IDLE_US if due_us is None else min(max(0, due_us - now_us), IDLE_US)
            data = self._line.receive(wait_us / 1_000_000)
            if data:
                yield from self._heard(self.host.receive(monotonic_us(), data))

    def leave(self) -> Iterator[SasHostEvent]:
        """Leave the line as it was found: real-time reporting off. Yields what the machine still tells."""
        if self._has_left():
            return
        self.host.ask(LongPollRequest(ENABLE_REAL_TIME_EVENTS, {"enable": 0}))
        for event in self.events(LEAVE_US):
            yield event
            if self._has_left():
                return

    def _has_left(self) -> bool:
        return not self.host.is_real_time

    def _heard(self, events: list[SasHostEvent]) -> Iterator[SasHostEvent]:
        """Write at once what is to be written; hand on the rest."""
        self._write(*(event for event in events if isinstance(event, Write)))
        yield from (event for event in events if not isinstance(event, Write))

    def _write(self, *writes: Write) -> None:
        for data, wakeup in writes:
            self._line.write(data, wakeup=wakeup)
