"""The credit meter: three kinds of money, in the order in which they are wagered, never below zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.core import credits as credit_meter
from firmware.core.effects import AddMeter, CancelCredits, Deposit, Wager
from firmware.core.errors import InvariantError
from firmware.core.facts import ButtonPressed
from firmware.core.money import Amounts, Money
from tests.firmware.core.bench import REELS_STAND, SPIN, Bench, DialGame, dial_rules

CENTS = st.integers(0, 10**9)
AMOUNTS = st.builds(Amounts, CENTS, CENTS, CENTS)


@pytest.mark.law("NJ-28B-n", "PA-7-x")
def test_thirty_noncashable_and_seventy_cashable_less_a_bet_of_forty_leave_none_and_sixty() -> None:
    bench = Bench(dial_rules([DialGame(bets=(40,))]))
    bench.give(cashable=70, restricted=30)
    bench.do(SPIN)
    assert bench.machine.credits == Amounts(cashable=60, restricted=0)


@pytest.mark.law("NJ-28B-n", "PA-7-x")
def test_restricted_goes_first_then_non_restricted_then_cashable() -> None:
    bench = Bench(dial_rules([DialGame(bets=(10,))]), accounting_denomination=5)
    bench.give(cashable=100, non_restricted=60, restricted=30)
    left = []
    for _ in range(3):
        bench.do(SPIN, REELS_STAND)
        left.append(bench.machine.credits.by_kind())
    assert left == [(100, 40, 0), (90, 0, 0), (40, 0, 0)]
    assert (bench.meter("restricted_played"), bench.meter("non_restricted_played")) == (30, 60)
    assert bench.meter("coin_in") == 150


@given(state=AMOUNTS, cents=st.integers(1, 4 * 10**9))
def test_a_wager_takes_exactly_its_amount_and_spares_the_later_kind_while_the_earlier_lasts(
    state: Amounts, cents: int
) -> None:
    if cents > state.total:
        with pytest.raises(InvariantError):
            credit_meter.step(state, Wager(cents, 1))
        return
    left, asked = credit_meter.step(state, Wager(cents, 1))
    assert left.total == state.total - cents
    assert left.restricted == 0 or left.non_restricted == state.non_restricted
    assert left.non_restricted == 0 or left.cashable == state.cashable
    counted = {one.key: one.amount for one in asked if isinstance(one, AddMeter)}
    assert counted.pop("coin_in") == cents
    assert counted.pop("restricted_played", 0) == state.restricted - left.restricted
    assert counted.pop("non_restricted_played", 0) == state.non_restricted - left.non_restricted
    assert counted == {}


@given(state=AMOUNTS, kind=st.sampled_from(Money), cents=CENTS)
def test_a_deposit_raises_its_kind_and_no_other(state: Amounts, kind: Money, cents: int) -> None:
    new, asked = credit_meter.step(state, Deposit(kind, cents))
    before, after = state.by_kind(), new.by_kind()
    assert [b - a for a, b in zip(before, after, strict=True)] == [cents if k is kind else 0 for k in Money]
    assert asked == []


@given(state=AMOUNTS, taken=AMOUNTS)
def test_cancelling_takes_what_it_names_or_nothing(state: Amounts, taken: Amounts) -> None:
    if any(want > have for want, have in zip(taken.by_kind(), state.by_kind(), strict=True)):
        with pytest.raises(InvariantError):
            credit_meter.step(state, CancelCredits(taken))
        return
    left, asked = credit_meter.step(state, CancelCredits(taken))
    assert [a + b for a, b in zip(left.by_kind(), taken.by_kind(), strict=True)] == list(state.by_kind())
    assert AddMeter("attendant_paid_cancelled_credits", taken.total) in asked


@pytest.mark.parametrize("event", [Deposit(Money.CASHABLE, -1), Wager(0, 1), Wager(-5, 1)])
def test_an_amount_that_cannot_be_is_a_fault_of_the_program(event: Deposit | Wager) -> None:
    with pytest.raises(InvariantError):
        credit_meter.step(Amounts(100, 100, 100), event)


@pytest.mark.law("NJ-28B-m1", partly="the display after a power cycle is shown with the whole machine")
def test_twenty_dollars_are_two_thousand_credits_of_a_cent() -> None:
    bench = Bench()
    bench.insert(2000)
    assert bench.machine.credits.total // bench.machine.denomination == 2000


@pytest.mark.law("NJ-28C-a1", partly="coin, voucher and EFT come with their devices")
@pytest.mark.law("PA-7-g-1", partly="coin, voucher and coupon come with their devices")
def test_coin_in_rises_by_the_wager_whatever_pays_for_it() -> None:
    """Five credits of a quarter from a note, each kind of downloaded money, and from winnings."""
    for kind in ("note", "cashable", "non_restricted", "restricted", "winnings"):
        bench = Bench(dial_rules([DialGame(bets=(5,))]), accounting_denomination=25)
        if kind == "note":
            bench.insert(500)
        elif kind == "winnings":
            bench.give(restricted=125)
            bench.game(won_credits=5)
        else:
            bench.give(**{kind: 125})
        before = bench.meter("coin_in")
        bench.do(ButtonPressed("spin"))
        assert bench.meter("coin_in") - before == 125, kind
