"""Fast draws for simulations: the machine's mechanism and scaling, with a stock of words.

A machine never keeps outcomes in stock (rng_and_stats.md 2.2), so this may not be used to play on one. It
needs no NumPy; ``bulk_draws`` does, and gives whole arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from firmware.rng.drbg import REQUEST_BYTES_MAX, Drbg
from firmware.rng.scaling import WORD_BITS, RangeError

_SIZE_MAX = 1 << WORD_BITS
_MASK = _SIZE_MAX - 1
_UNPACK = struct.Struct(f"<{REQUEST_BYTES_MAX // 4}I").unpack


class BufferedDraws:
    """Draws one number at a time out of requests of 64 KiB.

    Args:
        drbg: an instantiated mechanism.
    """

    def __init__(self, drbg: Drbg) -> None:
        self._drbg = drbg
        self._words: Iterator[int] = iter(())

    def below(self, size: int) -> int:
        """Return a number uniform in 0..size-1; ``size`` 1..2^32. Raises RangeError, DrbgError."""
        while True:
            for word in self._words:
                product = word * size
                low = product & _MASK
                if 0 < size <= low:  # nearly always; then no remainder has to be worked out
                    return product >> WORD_BITS
                if not 1 <= size <= _SIZE_MAX:
                    raise RangeError(f"a range of {size} is not in 1..2^32")
                if low >= _SIZE_MAX % size:
                    return product >> WORD_BITS
            self._words = iter(_UNPACK(self._drbg.generate(REQUEST_BYTES_MAX)))
