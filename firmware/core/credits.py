"""The credit meter: money by kind that is available to play.

Restricted money is wagered first, then non-restricted, then cashable (NJ 13:69E-1.28B(n), PA 461a.7(x)).
"""

from __future__ import annotations

from typing import assert_never

from firmware.core.effects import AddMeter, Asked, CancelCredits, Deposit, Wager
from firmware.core.errors import InvariantError
from firmware.core.money import Amounts, Money

State = Amounts
EMPTY = Amounts()


def step(state: State, event: Deposit | Wager | CancelCredits) -> tuple[State, list[Asked]]:
    """Move money on or off the meter. Raises InvariantError if more is taken than there is."""
    match event:
        case Deposit(kind, cents):
            return _deposit(state, kind, cents), []
        case Wager(cents, game):
            return _wager(state, cents, game)
        case CancelCredits(amounts):
            return _cancel(state, amounts)
    assert_never(event)


def _deposit(state: State, kind: Money, cents: int) -> State:
    if cents < 0:
        raise InvariantError(f"a deposit of {cents} cents")
    match kind:
        case Money.CASHABLE:
            return Amounts(state.cashable + cents, state.non_restricted, state.restricted)
        case Money.NON_RESTRICTED:
            return Amounts(state.cashable, state.non_restricted + cents, state.restricted)
        case Money.RESTRICTED:
            return Amounts(state.cashable, state.non_restricted, state.restricted + cents)
    assert_never(kind)


def _wager(state: State, cents: int, game: int) -> tuple[State, list[Asked]]:
    restricted = min(cents, state.restricted)
    non_restricted = min(cents - restricted, state.non_restricted)
    cashable = cents - restricted - non_restricted
    if cents <= 0 or cashable > state.cashable:
        raise InvariantError(f"a wager of {cents} cents with {state} on the meter")
    left = Amounts(
        state.cashable - cashable, state.non_restricted - non_restricted, state.restricted - restricted
    )
    counted: list[Asked] = [AddMeter("coin_in", cents, game)]
    if restricted:
        counted.append(AddMeter("restricted_played", restricted))
    if non_restricted:
        counted.append(AddMeter("non_restricted_played", non_restricted))
    return left, counted


def _cancel(state: State, paid: Amounts) -> tuple[State, list[Asked]]:
    left = Amounts(
        state.cashable - paid.cashable,
        state.non_restricted - paid.non_restricted,
        state.restricted - paid.restricted,
    )
    if min(left.by_kind()) < 0 or min(paid.by_kind()) < 0:
        raise InvariantError(f"cancelling {paid} with {state} on the meter")
    counted: list[Asked] = [AddMeter("attendant_paid_cancelled_credits", paid.total)]
    if paid.non_restricted:
        counted.append(AddMeter("cancelled_credits_non_restricted", paid.non_restricted))
    if paid.restricted:
        counted.append(AddMeter("cancelled_credits_restricted", paid.restricted))
    return left, counted
