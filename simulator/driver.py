"""Virtual time: moves a world's clock from one deadline to the next, without threads and without sleeping.

For tests, benchmarks and ``egm run --time free``. Equal seeds and equal hands give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from hal.backends.clocks import ManualClock
from simulator.world import Body, World

TURNS_MAX = 2_000
"""Turns at one instant before the driver gives up: more than a disk's flush takes, less than for ever."""


class RestlessError(Exception):
    """Something asked to be called again at the same instant, for ever: a fault of the program."""


class Driver:
    """Drives a world whose clock is a ``ManualClock``."""

    def __init__(self, world: World, clock: ManualClock) -> None:
        self.world = world
        self.clock = clock

    def run_until(self, until_us: int) -> None:
        """Let time pass until ``until_us``, doing all that is due on the way. Raises RestlessError."""
        world, clock = self.world, self.clock
        turns = 0
        while True:
            due_us = world.next_deadline_us()
            if due_us > until_us:
                break
            turns += 1
            if due_us > clock.now_us():
                clock.advance_to(due_us)
                turns = 0
            elif turns > TURNS_MAX:
                raise RestlessError(f"no rest at {due_us} us")
            world.turn()
        if until_us > clock.now_us():
            clock.advance_to(until_us)

    def run_for(self, time_us: int) -> None:
        """Let ``time_us`` pass."""
        self.run_until(self.clock.now_us() + time_us)

    def run_while(self, is_so: Callable[[], bool], limit_us: int) -> bool:
        """Let time pass, deadline by deadline, while ``is_so()``. Returns False if it still is in the end."""
        end_us = self.clock.now_us() + limit_us
        while is_so():
            due_us = self.world.next_deadline_us()
            if due_us > end_us:
                self.run_until(end_us)
                return not is_so()
            self.run_until(max(due_us, self.clock.now_us()))
        return True

    def wait_for(self, name: str, limit_us: int) -> Body:
        """Let time pass until the event ``name`` is announced; return it. Raises TimeoutError."""
        found: list[Body] = []

        def listen(event: Body) -> None:
            if event["event"] == name and not found:
                found.append(event)

        self.world.listeners.append(listen)
        try:
            if not self.run_while(lambda: not found, limit_us):
                raise TimeoutError(f"no {name} within {limit_us} us")
        finally:
            self.world.listeners.remove(listen)
        return found[0]
