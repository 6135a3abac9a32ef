"""Money is conserved: what the meters say moved is what the credit meter moved by, for each kind of money.

In + won = out + wagered + on the meter (design.md law 4). Notes on their way and pending wins are on no meter until
they are settled, so nothing is in flight between two events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from firmware.core.errors import InvariantError
from firmware.core.meters import BOOKS
from firmware.core.money import Amounts, Money

if TYPE_CHECKING:
    from firmware.core.state import Machine


def check_event(before: Amounts, after: Amounts, added: Iterable[tuple[int, int]]) -> None:
    """Check one event by its differences alone; ``added``: (slot, amount) of each atom it counted.

    Raises:
        InvariantError: the credit meter and the meters disagree.
    """
    cashable = before.cashable
    non_restricted = before.non_restricted
    restricted = before.restricted
    for slot, amount in added:
        signs = BOOKS[slot]
        if signs is not None:
            cashable += signs[0] * amount
            non_restricted += signs[1] * amount
            restricted += signs[2] * amount
    if (cashable, non_restricted, restricted) != (after.cashable, after.non_restricted, after.restricted):
        raise InvariantError(
            f"the meters move the credit meter from {before} to {(cashable, non_restricted, restricted)}, "
            f"but it stands at {after}"
        )


def imbalance(machine: Machine) -> tuple[int, ...]:
    """The whole machine's books: what is on the meter less what its meters account for, by ``Money``; all 0 is good."""
    totals = [0] * len(Money)
    for slot, signs in enumerate(BOOKS):
        if signs is not None:
            for kind in Money:
                totals[kind] += signs[kind] * machine.meters[slot]
    return tuple(have - due for have, due in zip(machine.credits.by_kind(), totals, strict=True))
