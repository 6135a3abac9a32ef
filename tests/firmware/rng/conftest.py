"""Noise sources for tests: one that repeats by seed, and ways to break one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from firmware.rng.generator import Generator, Personalization
from hal.ports.entropy import EntropyError


class SeededSource:
    """An unlimited stream of bytes that depends on the seed alone. Counts what was read."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._block = 0
        self._left = b""
        self.taken = 0
        self.is_gone = False
        self.stuck_at: int | None = None

    def read(self, size: int) -> bytes:
        if self.is_gone:
            raise EntropyError("unplugged")
        if self.stuck_at is not None:
            return bytes([self.stuck_at]) * size
        self.taken += size
        while len(self._left) < size:
            self._left += hashlib.sha512(f"{self._seed} {self._block}".encode()).digest()
            self._block += 1
        data, self._left = self._left[:size], self._left[size:]
        return data


@pytest.fixture
def source() -> SeededSource:
    return SeededSource(1)


@pytest.fixture
def new_source() -> Callable[[int], SeededSource]:
    return SeededSource


@pytest.fixture(scope="session")
def new_generator() -> Callable[..., Generator]:
    """Makes a generator from a seed; the same seed gives the same numbers."""

    def make(seed: int, now_us: int = 0, **options: object) -> Generator:
        name = Personalization("SIM00001", 1)
        return Generator(SeededSource(seed), name, now_us=now_us, **options)  # type: ignore[arg-type]

    return make
