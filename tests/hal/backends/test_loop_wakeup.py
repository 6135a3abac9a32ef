"""How the loop sleeps and wakes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from hal.backends.clocks import SystemClock
from hal.backends.loop_wakeup import LoopWaiter

CLOCK = SystemClock()
LONG_US = 5_000_000


@pytest.fixture
def waiter() -> Iterator[LoopWaiter]:
    waiter = LoopWaiter()
    yield waiter
    waiter.close()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_deadline_is_never_met_early(waiter: LoopWaiter) -> None:
    for ahead_us in (1, 300, 999, 1000, 1001, 5500):
        deadline = CLOCK.now_us() + ahead_us
        assert waiter.wait(deadline) == []
        assert CLOCK.now_us() >= deadline


def test_a_deadline_that_is_past_does_not_sleep_and_still_sees_what_is_ready(
    waiter: LoopWaiter, pipe: tuple[int, int]
) -> None:
    waiter.register(pipe[0])
    assert waiter.wait(CLOCK.now_us() - LONG_US) == []
    os.write(pipe[1], b"x")
    assert waiter.wait(0) == [pipe[0]]


def test_readable_descriptors_end_the_sleep_until_they_are_read(
    waiter: LoopWaiter, pipe: tuple[int, int]
) -> None:
    waiter.register(pipe[0])
    waiter.register(None)
    os.write(pipe[1], b"x")
    assert waiter.wait(None) == [pipe[0]]
    assert waiter.wait(None) == [pipe[0]]
    os.read(pipe[0], 10)
    assert waiter.wait(CLOCK.now_us() + 1000) == []
    waiter.unregister(pipe[0])
    waiter.unregister(None)
    os.write(pipe[1], b"x")
    assert waiter.wait(CLOCK.now_us() + 1000) == []


def test_another_thread_ends_the_sleep(waiter: LoopWaiter) -> None:
    threading.Timer(0.02, waiter.wake).start()
    before = CLOCK.now_us()
    assert waiter.wait(before + LONG_US) == []
    assert CLOCK.now_us() - before < LONG_US


def test_a_wake_before_the_sleep_is_not_lost_and_counts_once(waiter: LoopWaiter) -> None:
    for _ in range(3):
        waiter.wake()
    before = CLOCK.now_us()
    assert waiter.wait(before + LONG_US) == []
    assert CLOCK.now_us() - before < LONG_US
    deadline = CLOCK.now_us() + 2000
    assert waiter.wait(deadline) == []
    assert CLOCK.now_us() >= deadline


def test_a_signal_handler_may_wake(waiter: LoopWaiter) -> None:
    before_handler = signal.signal(signal.SIGUSR1, lambda *_: waiter.wake())
    try:
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        before = CLOCK.now_us()
        assert waiter.wait(before + LONG_US) == []
        assert CLOCK.now_us() - before < LONG_US
    finally:
        signal.signal(signal.SIGUSR1, before_handler)
