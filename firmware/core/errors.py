"""What the core raises when it is itself wrong."""

from __future__ import annotations


class InvariantError(Exception):
    """A rule that can only be broken by a fault of the program is broken.

    Caught once, by the loop, which locks play and keeps the evidence.
    """
