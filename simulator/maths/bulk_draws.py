"""Arrays of draws for simulations: the machine's mechanism and its exact scaling, with NumPy.

Requests of 64 KiB, three times faster than larger ones because they stay in the cache (performance.md 3). The
numbers are those that ``firmware.rng.scaling.scale_word`` gives for the same words, refused words left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from firmware.rng.drbg import REQUEST_BYTES_MAX, Drbg
from firmware.rng.scaling import WORD_BITS, RangeError

_SIZE_MAX = 1 << WORD_BITS
_SHIFT = np.uint64(WORD_BITS)


class BulkDraws:
    """Draws arrays of numbers.

    Args:
        drbg: an instantiated mechanism.
    """

    def __init__(self, drbg: Drbg) -> None:
        self._drbg = drbg

    def below(self, size: int, count: int) -> npt.NDArray[np.uint32]:
        """Return ``count`` numbers, each uniform in 0..size-1; ``size`` 1..2^32.

        What a request holds beyond ``count`` is thrown away. Raises RangeError, DrbgError.
        """
        if not 1 <= size <= _SIZE_MAX:
            raise RangeError(f"a range of {size} is not in 1..2^32")
        result = np.empty(count, dtype=np.uint32)
        filled = 0
        while filled < count:
            numbers = scale_words(np.frombuffer(self._drbg.generate(REQUEST_BYTES_MAX), dtype="<u4"), size)
            taken = numbers[: count - filled]
            result[filled : filled + len(taken)] = taken
            filled += len(taken)
        return result


def scale_words(words: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.uint32]:
    """Return the numbers in 0..size-1 that the words stand for, in order, refused words left out."""
    if size & (size - 1) == 0:  # a power of two refuses nothing: the number is the word's top bits
        bits = size.bit_length() - 1
        return words >> np.uint32(WORD_BITS - bits) if bits else np.zeros_like(words)
    products = words.astype(np.uint64) * np.uint64(size)
    low = products.astype(np.uint32)
    refused_below = np.uint32(_SIZE_MAX % size)
    if len(low) and low.min() < refused_below:
        products = products[low >= refused_below]
    return (products >> _SHIFT).astype(np.uint32)
