"""How much faster than real a machine's time passes in one process, polled every 200 ms.

Asleep: the cabinet has no acceptor, so that nothing but the host wakes the machine. Awake: the acceptor is polled by
its driver every 200 ms as well, over its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from simulator.sim_session import speed
from tests.bench.rows import Row


def main() -> Iterable[Row]:
    """Simulated seconds a second."""
    asleep, _ = speed(has_acceptor=False)
    awake, _ = speed(has_acceptor=True)
    yield Row("virtual time, acceptor asleep", asleep, "x real", limit=800, sense="at_least")
    yield Row("virtual time, every device polled", awake, "x real")
