"""Repeatable bytes in place of noise, for seeded machines and tests. Never for play with money."""

from __future__ import annotations

import hashlib


class SeededEntropy:
    """A stream of SHA-256(seed, counter). An Entropy: equal seeds give equal bytes, however they are cut
    into reads.

    Args:
        seed: any text or number; its decimal or literal text is what counts.
    """

    def __init__(self, seed: int | str) -> None:
        self._key = hashlib.sha256(f"seeded entropy {seed}".encode()).digest()
        self._blocks = 0
        self._ready = b""

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes of the stream. Raises ValueError if ``size`` is negative."""
        if size < 0:
            raise ValueError(f"cannot read {size} bytes")
        pieces = [self._ready]
        missing = size - len(self._ready)
        while missing > 0:
            pieces.append(hashlib.sha256(self._key + self._blocks.to_bytes(8, "big")).digest())
            self._blocks += 1
            missing -= len(pieces[-1])
        stream = b"".join(pieces)
        self._ready = stream[size:]
        return stream[:size]
