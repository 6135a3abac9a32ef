"""Speed of random numbers beside named baselines, taken in turns in the same run.

``make bench ARGS=rng``. A floor is the baseline's figure; a ratio above 1 means faster than the baseline.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.generator import Generator, Personalization
from firmware.rng.hmac_drbg import HmacDrbg
from hal.backends.system_entropy import SystemEntropy
from simulator.maths.bulk_draws import BulkDraws
from simulator.maths.simulation import draws
from tests.bench.rows import Row

STOPS = (32, 32, 32, 32, 32)
ROUNDS = 25
KIBIBYTES_64 = 1 << 16


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways to ``calls`` times the same work. ``limit``: the least ratio wanted; None: reported only."""

    name: str
    ours: Callable[[int], object]
    theirs: Callable[[int], object]
    calls: int
    limit: float | None = None


def repeated(call: Callable[[], object]) -> Callable[[int], None]:
    """Return a function that makes the call so many times."""

    def repeat(calls: int) -> None:
        for _ in range(calls):
            call()

    return repeat


def comparisons() -> list[Comparison]:
    """Return what is compared, ready to run."""
    generator = Generator(SystemEntropy(), Personalization("bench", 0), now_us=0)
    drbg, second = CtrDrbg(), HmacDrbg()
    for mechanism in (drbg, second):
        mechanism.instantiate(os.urandom(48), os.urandom(16))
    bulk = BulkDraws(drbg)
    pcg64 = np.random.Generator(np.random.PCG64())
    simulated = draws(1, STOPS)
    randbelow = secrets.randbelow

    def five_randbelow() -> None:
        for size in STOPS:
            randbelow(size)

    kernel = repeated(lambda: os.urandom(KIBIBYTES_64))
    return [
        Comparison(
            "five stops in one request, beside five secrets.randbelow",
            repeated(lambda: generator.draw(STOPS)),
            repeated(five_randbelow),
            2_000,
            0.6,
        ),
        Comparison(
            "five stops of a simulation, buffered, beside five secrets.randbelow",
            lambda calls: [sum(row) for row in islice(simulated, calls)],
            repeated(five_randbelow),
            2_000,
            5.0,
        ),
        Comparison(
            "64 KiB of CTR_DRBG, beside os.urandom",
            repeated(lambda: drbg.generate(KIBIBYTES_64)),
            kernel,
            20,
        ),
        Comparison(
            "64 KiB of HMAC_DRBG, beside os.urandom",
            repeated(lambda: second.generate(KIBIBYTES_64)),
            kernel,
            1,
        ),
        Comparison(
            "100,000 draws below 38 in NumPy, beside its PCG64",
            repeated(lambda: bulk.below(38, 100_000)),
            repeated(lambda: pcg64.integers(0, 38, 100_000, dtype=np.uint32)),
            2,
        ),
    ]


def seconds(work: Callable[[int], object], calls: int) -> float:
    """Return how long one call takes, on average of ``calls``."""
    start = time.perf_counter()
    work(calls)
    return (time.perf_counter() - start) / calls


def main() -> Iterator[Row]:
    """Measure each comparison: the best of rounds taken in turns, as rates."""
    for comparison in comparisons():
        ours = theirs = float("inf")
        for _ in range(ROUNDS):
            ours = min(ours, seconds(comparison.ours, comparison.calls))
            theirs = min(theirs, seconds(comparison.theirs, comparison.calls))
        yield Row(comparison.name, 1 / ours, "/s", 1 / theirs, comparison.limit, "at_least")


if __name__ == "__main__":
    for row in main():
        print("  ".join(row.cells()))
