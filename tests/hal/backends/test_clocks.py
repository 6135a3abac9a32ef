"""Clocks: the computer's time in the cabinet's zone, and time by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from hal.backends.clocks import ManualClock, SystemClock


@pytest.fixture(params=["UTC0", "EST5EDT,M3.2.0,M11.1.0", "IST-5:30"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_civil_time_is_what_a_clock_on_the_wall_shows(zone: str) -> None:
    # A naive datetime is local time; reading it as if it were UTC gives the number a wall clock shows.
    shown = datetime.now() - datetime(1970, 1, 1)
    shown_us = (shown.days * 86_400 + shown.seconds) * 1_000_000 + shown.microseconds
    assert abs(SystemClock().wall_us() - shown_us) < 1_000_000


def test_monotonic_time_runs_at_the_computers_pace() -> None:
    clock = SystemClock()
    before_us, before_ns = clock.now_us(), time.monotonic_ns()
    time.sleep(0.01)
    assert 10_000 <= clock.now_us() - before_us <= (time.monotonic_ns() - before_ns) // 1000 + 1


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(now_us=5, wall_us=1000)
    assert (clock.now_us(), clock.wall_us()) == (5, 1000)
    clock.advance(10)
    assert (clock.now_us(), clock.wall_us()) == (15, 1010)
    clock.advance_to(100)
    assert (clock.now_us(), clock.wall_us()) == (100, 1095)
    clock.advance(0)
    assert clock.now_us() == 100


def test_a_manual_clock_is_set_without_monotonic_time_noticing() -> None:
    clock = ManualClock()
    clock.advance(7)
    clock.set_wall(50)
    assert (clock.now_us(), clock.wall_us()) == (7, 50)
    clock.advance(1)
    assert clock.wall_us() == 51


def test_time_does_not_go_back() -> None:
    clock = ManualClock(now_us=10)
    with pytest.raises(ValueError, match="cannot go back by 1 us"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="cannot go back by 3 us"):
        clock.advance_to(7)
    assert clock.now_us() == 10


def test_a_manual_clock_starts_at_a_date_a_ticket_can_bear() -> None:
    assert ManualClock().wall_us() == (datetime(2026, 1, 1) - datetime(1970, 1, 1)).days * 86_400_000_000
