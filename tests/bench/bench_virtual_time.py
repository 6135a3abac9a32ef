"""How much faster than real a machine's time passes in one process, polled every 200 ms.

Asleep: the acceptor is unplugged from the cabinet's timetable (the cabinet has none), which is what the goal is
stated for. Awake: the acceptor is polled by its driver every 200 ms as well, over its bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from hal.backends.memory_nvram import MemoryNvram
from simulator.whole_machine import HostPlan, WholeMachine
from tests.bench.rows import Row

VIRTUAL_S = 600


def main() -> Iterable[Row]:
    """Simulated seconds a second."""
    yield Row(
        "virtual time, acceptor asleep", _speed(has_acceptor=False), "x real", limit=800, sense="at_least"
    )
    yield Row("virtual time, every device polled", _speed(has_acceptor=True), "x real")


def _speed(*, has_acceptor: bool) -> float:
    whole = WholeMachine(MemoryNvram(512 * 1024), hosts=(HostPlan(period_us=200_000),))
    if not has_acceptor:
        whole.cabinet.devices = {}
    whole.power_on()
    whole.run_for(10_000_000)
    start = time.perf_counter()
    whole.run_for(VIRTUAL_S * 1_000_000)
    return VIRTUAL_S / (time.perf_counter() - start)
