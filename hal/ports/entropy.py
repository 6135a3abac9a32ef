"""Unpredictable bytes: seed material for the generator, never an outcome itself."""

from __future__ import annotations

from typing import Protocol


class EntropyError(Exception):
    """The source cannot give bytes."""


class Entropy(Protocol):
    """A noise source. NJ 13:69E-1.28G(b)5: start values come from an uncontrolled event."""

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes. May block at the very first call of a computer's life. Raises EntropyError."""
