"""Payments by an attendant: the limit to the cent, the lock until the key, what each adds to which meter."""

from __future__ import annotations

import pytest

from firmware.core import handpay
from firmware.core.commands import HostSetPlay, PowerUp
from firmware.core.effects import LockWin
from firmware.core.errors import InvariantError
from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorReady,
    ButtonPressed,
    DoorMoved,
    KeyTurned,
    NoteInEscrow,
    NoteStacked,
)
from firmware.core.handpay import QUEUE_MAX, Handpay
from firmware.core.meters import METERS
from tests.firmware.core.bench import CASH_OUT, REELS_STAND, SPIN, Bench

KEY = KeyTurned("reset", True)
KEY_BACK = KeyTurned("reset", False)


def won(credits_: int, **settings: int) -> Bench:
    bench = Bench(**settings)
    bench.give(cashable=10_000)
    bench.game(won_credits=credits_)
    return bench


def unchanged(before: dict[str, int], bench: Bench) -> bool:
    return before == money_meters(bench)


def money_meters(bench: Bench) -> dict[str, int]:
    return {key: bench.meter(key) for key, row in METERS.items() if row.unit == "cents"}


@pytest.mark.law("NJ-28B-j-lock", "PA-7-q-lock")
def test_the_limit_is_kept_to_the_cent_and_play_is_blocked_until_the_reset() -> None:
    paid_by_machine = won(119_999)
    assert paid_by_machine.machine.is_playable
    assert paid_by_machine.meter("coin_out") == 119_999

    bench = won(120_000)
    assert bench.machine.tilts == {"handpay"}
    assert bench.meter("coin_out") == bench.meter("attendant_paid_jackpots") == 0
    assert bench.machine.credits.total == 9_999
    for button in ("spin", "bet_one", "bet_max", "cash_out"):
        before = bench.machine
        assert bench.do(ButtonPressed(button)) == []
        assert bench.machine == before
    bench.do(KEY, KEY_BACK)
    assert bench.machine.is_playable
    bench.do(SPIN)
    assert bench.machine.game_in_play


def test_the_limit_is_in_cents_whatever_the_denomination() -> None:
    assert won(1_199, accounting_denomination=100).machine.is_playable
    bench = won(1_200, accounting_denomination=100)
    assert bench.machine.handpay == (Handpay("jackpot", 120_000, 1),)


@pytest.mark.law("NJ-28C-a4", "PA-7-g-3", partly="progressive and bonus pays come with their subjects")
def test_a_par_sheet_award_of_1500_dollars_is_counted_when_it_is_paid() -> None:
    bench = won(150_000)
    assert bench.meter("attendant_paid_jackpots") == 0
    credits_before = bench.machine.credits
    bench.do(KEY)
    assert bench.meter("attendant_paid_jackpots") == 150_000
    assert bench.meter("coin_out") == 0
    assert bench.machine.credits == credits_before
    assert bench.events() == ["key_on", "handpay_reset", "tilt_cleared", "playable"]


@pytest.mark.law("NJ-28C-a5", "PA-7-g-4", partly="without a printer: every cash-out is beyond the machine")
def test_a_cash_out_stays_on_the_meter_until_an_attendant_has_paid_it() -> None:
    bench = Bench()
    bench.give(cashable=350_000)
    bench.do(CASH_OUT)
    assert bench.machine.credits.total == 350_000
    assert bench.events()[:2] == ["cash_out_started", "handpay_pending"]
    assert bench.do(SPIN) == []
    bench.do(KEY)
    assert bench.meter("attendant_paid_cancelled_credits") == 350_000
    assert bench.machine.credits.total == 0
    assert bench.machine.is_playable


def test_restricted_money_stays_and_the_rest_is_paid_by_kind() -> None:
    bench = Bench()
    bench.give(cashable=700, non_restricted=200, restricted=50)
    bench.do(CASH_OUT)
    assert bench.machine.handpay == (Handpay("cancelled_credits", 900, 0, non_restricted_cents=200),)
    bench.do(KEY)
    assert bench.machine.credits.by_kind() == (0, 0, 50)
    assert bench.meter("attendant_paid_cancelled_credits") == 900
    assert bench.meter("cancelled_credits_non_restricted") == 200
    bench.do(CASH_OUT)
    assert bench.machine.handpay == ()


def test_a_note_that_was_on_its_way_is_not_paid_out_with_the_rest() -> None:
    bench = Bench()
    bench.give(cashable=700)
    bench.do(NoteInEscrow(2000), CASH_OUT, NoteStacked(), KEY)
    assert bench.meter("attendant_paid_cancelled_credits") == 700
    assert bench.machine.credits.cashable == 2000


@pytest.mark.parametrize("why", ["game", "door", "starting", "empty", "restricted"])
def test_there_is_no_cash_out_in_a_game_in_a_tilt_or_of_nothing(why: str) -> None:
    bench = Bench()
    bench.give(
        cashable=0 if why in ("empty", "restricted") else 500, restricted=30 if why == "restricted" else 0
    )
    blocks = {"game": SPIN, "door": DoorMoved("main", True), "starting": AcceptorNotReady()}
    if why in blocks:
        bench.do(blocks[why])
    before = bench.machine
    assert bench.do(CASH_OUT) == []
    assert bench.machine == before


def test_cash_out_works_while_a_host_has_disabled_play() -> None:
    """SAS 12.1: LP 01 stops play; the player may still have the money."""
    bench = Bench()
    bench.give(cashable=500)
    bench.do(HostSetPlay(0, False), CASH_OUT)
    assert bench.machine.handpay == (Handpay("cancelled_credits", 500, 0),)
    bench.do(KEY)
    assert bench.machine.tilts == {"host_disabled"}
    assert bench.machine.credits.total == 0


def test_the_host_hears_of_each_pending_and_each_reset_in_order() -> None:
    bench = won(120_000)
    bench.do(KEY, KEY_BACK, SPIN, draw=130_000)
    bench.do(REELS_STAND)
    codes = [code for code in bench.owed() if code in (0x51, 0x52)]
    assert codes == [0x51, 0x52, 0x51]


def test_turning_the_key_with_nothing_to_reset_or_turning_it_back_does_nothing() -> None:
    bench = Bench()
    before = money_meters(bench)
    bench.do(KEY, KEY_BACK)
    assert bench.machine.is_playable
    bench = won(150_000)
    before = money_meters(bench)
    bench.do(KeyTurned("audit", True), KEY_BACK)
    assert unchanged(before, bench)
    assert bench.machine.tilts == {"handpay"}


def test_several_are_paid_one_a_turn_of_the_key_oldest_first() -> None:
    bench = Bench()
    state: handpay.State = ()
    for cents in (150_000, 160_000, 170_000):
        state, _ = handpay.step(state, LockWin(cents, 1), bench.machine)
    paid = []
    while state:
        state, asked = handpay.step(state, KEY, bench.machine)
        (amount,) = [one.amount for one in asked if hasattr(one, "amount")]
        paid.append(amount)
        # Play stays locked until the last is paid; each that follows is announced.
        cleared = [one for one in asked if type(one).__name__ == "ClearCondition"]
        announced = [one for one in asked if getattr(one, "event", "") == "handpay_pending"]
        assert (len(cleared), len(announced)) == ((0, 1) if state else (1, 0))
    assert paid == [150_000, 160_000, 170_000]


def test_more_than_memory_has_room_for_is_a_fault_of_the_program() -> None:
    bench = Bench()
    full = tuple(Handpay("jackpot", 150_000, 1) for _ in range(QUEUE_MAX))
    with pytest.raises(InvariantError):
        handpay.step(full, LockWin(150_000, 1), bench.machine)


def test_a_pending_hand_pay_outlives_a_power_loss() -> None:
    bench = won(150_000)
    bench.do(PowerUp(False), AcceptorReady())
    assert bench.machine.tilts == {"handpay"}
    bench.do(KEY)
    assert bench.meter("attendant_paid_jackpots") == 150_000


@pytest.mark.law("PA-7-j-3-ii", "PA-7-j-3-iii")
@pytest.mark.law("PA-7-j-3-i", partly="cash-outs by voucher come with the printer")
def test_credits_paid_shows_the_last_payment() -> None:
    bench = won(150_000)
    assert bench.meter("credits_paid") == 0
    bench.do(KEY, KEY_BACK)
    assert bench.meter("credits_paid") == 150_000
    bench.game()
    assert bench.meter("credits_paid") == 150_000
    bench.give(cashable=350_000 - bench.machine.credits.total)
    bench.do(CASH_OUT, KEY)
    assert bench.meter("credits_paid") == 350_000
