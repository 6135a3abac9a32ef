"""Speed of random numbers as ratios to named baselines, taken in turns in the same run.

Run it with ``python -m tests.bench.bench_rng``. Ratios above 1 mean faster than the baseline; floors are
those set for ``make bench``.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.generator import Generator, Personalization
from firmware.rng.hmac_drbg import HmacDrbg
from hal.backends.system_entropy import SystemEntropy
from simulator.maths.buffered_draws import BufferedDraws
from simulator.maths.bulk_draws import BulkDraws

STOPS = (32, 32, 32, 32, 32)
ROUNDS = 25
KIBIBYTES_64 = 1 << 16


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways to the same amount of work. ``floor``: the least ratio wanted, or None where none was set."""

    what: str
    baseline: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    calls: int
    floor: float | None


def comparisons() -> list[Comparison]:
    """Return what is compared, ready to run."""
    generator = Generator(SystemEntropy(), Personalization("bench", 0), now_us=0)
    drbg, second = CtrDrbg(), HmacDrbg()
    for mechanism in (drbg, second):
        mechanism.instantiate(os.urandom(48), os.urandom(16))
    buffered, bulk = BufferedDraws(drbg), BulkDraws(drbg)
    pcg64 = np.random.Generator(np.random.PCG64())
    below, randbelow = buffered.below, secrets.randbelow

    def five_randbelow() -> None:
        for size in STOPS:
            randbelow(size)

    def thousand_randbelow() -> None:
        for _ in range(1_000):
            randbelow(38)

    def thousand_buffered() -> None:
        for _ in range(1_000):
            below(38)

    return [
        Comparison(
            "a game's five stops, one request",
            "five secrets.randbelow",
            lambda: generator.draw(STOPS),
            five_randbelow,
            2_000,
            0.6,
        ),
        Comparison(
            "1,000 buffered draws", "1,000 secrets.randbelow", thousand_buffered, thousand_randbelow, 5, 5.0
        ),
        Comparison(
            "64 KiB, CTR_DRBG",
            "os.urandom",
            lambda: drbg.generate(KIBIBYTES_64),
            lambda: os.urandom(KIBIBYTES_64),
            20,
            None,
        ),
        Comparison(
            "64 KiB, HMAC_DRBG",
            "os.urandom",
            lambda: second.generate(KIBIBYTES_64),
            lambda: os.urandom(KIBIBYTES_64),
            1,
            None,
        ),
        Comparison(
            "100,000 NumPy draws below 38",
            "NumPy PCG64 integers",
            lambda: bulk.below(38, 100_000),
            lambda: pcg64.integers(0, 38, 100_000, dtype=np.uint32),
            2,
            None,
        ),
    ]


def seconds(call: Callable[[], object], calls: int) -> float:
    """Return how long ``calls`` calls take, each."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def measure(comparison: Comparison) -> tuple[float, float]:
    """Return the best time of each side, seconds a call, from rounds taken in turns."""
    ours = theirs = float("inf")
    for _ in range(ROUNDS):
        ours = min(ours, seconds(comparison.ours, comparison.calls))
        theirs = min(theirs, seconds(comparison.theirs, comparison.calls))
    return ours, theirs


def main() -> bool:
    """Print one line a comparison; return whether every floor was reached."""
    reached = True
    print(f"{'what':34}{'baseline':26}{'ours us':>10}{'theirs us':>11}{'ratio':>8}{'floor':>7}")
    for comparison in comparisons():
        ours, theirs = measure(comparison)
        ratio = theirs / ours
        floor = "" if comparison.floor is None else f"{comparison.floor:.1f}"
        missed = comparison.floor is not None and ratio < comparison.floor
        reached = reached and not missed
        line = f"{comparison.what:34}{comparison.baseline:26}{ours * 1e6:10.2f}{theirs * 1e6:11.2f}"
        print(f"{line}{ratio:8.2f}{floor:>7}{'  MISSED' if missed else ''}")
    return reached


if __name__ == "__main__":
    raise SystemExit(0 if main() else 1)
