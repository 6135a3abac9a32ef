"""The three kinds of money on the credit meter, and sums of them. Integer cents, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Money(IntEnum):
    """Kinds of credit. The numbers are the order in which they stand in memory."""

    CASHABLE = 0
    NON_RESTRICTED = 1
    RESTRICTED = 2


@dataclass(frozen=True, slots=True)
class Amounts:
    """An amount of each kind, in cents, none below zero."""

    cashable: int = 0
    non_restricted: int = 0
    restricted: int = 0

    @property
    def total(self) -> int:
        """All kinds together, in cents."""
        return self.cashable + self.non_restricted + self.restricted

    def by_kind(self) -> tuple[int, int, int]:
        """Cents in the order of ``Money``."""
        return (self.cashable, self.non_restricted, self.restricted)
