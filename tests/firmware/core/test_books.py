"""Money is conserved: whatever is inserted, played and paid, the books agree; a wrong count is caught at once."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.core import books, game_cycle, router
from firmware.core.commands import ChangeSetting, HostSetPlay, PowerUp
from firmware.core.effects import AddMeter, Asked, Deposit
from firmware.core.errors import InvariantError
from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorPoweredUp,
    AcceptorReady,
    ButtonPressed,
    DeviceFault,
    DoorMoved,
    KeyTurned,
    NoteInEscrow,
    NotePosition,
    NoteReturned,
    NoteStacked,
)
from firmware.core.meters import ATOMS, BOOKS
from firmware.core.money import Amounts, Money
from tests.firmware.core.bench import CASH_OUT, REELS_STAND, SPIN, Bench

EVENTS = (
    SPIN, SPIN, REELS_STAND, CASH_OUT, ButtonPressed("bet_one"), ButtonPressed("bet_max"),
    NoteInEscrow(100), NoteInEscrow(2000), NoteInEscrow(10_000), NoteStacked(), NoteStacked(), NoteReturned(),
    AcceptorReady(), AcceptorReady(), AcceptorNotReady(), AcceptorPoweredUp(NotePosition.IN_STACKER),
    AcceptorPoweredUp(NotePosition.NONE), KeyTurned("reset", True), KeyTurned("reset", False),
    DoorMoved("main", True), DoorMoved("main", False), DeviceFault("acceptor_jam", True),
    DeviceFault("acceptor_jam", False), HostSetPlay(0, False), HostSetPlay(0, True), PowerUp(False),
    ChangeSetting("handpay_limit", 50_000),
)  # fmt: skip


@pytest.mark.parametrize("denomination", [1, 5, 25, 100])
@given(data=st.data())
@settings(max_examples=20)
def test_whatever_happens_no_cent_appears_or_goes_missing(denomination: int, data: st.DataObject) -> None:
    """After each event the bench checks the books by kind; here the totals are told once more in plain words."""
    bench = Bench(accounting_denomination=denomination)
    kinds = data.draw(st.tuples(*[st.integers(0, 500)] * 3))
    given_cents = [amount * denomination for amount in kinds]
    bench.give(*given_cents)
    steps = st.tuples(st.sampled_from(EVENTS), st.sampled_from((0, 0, 1, 7, 1_000, 130_000)))
    for event, won in data.draw(st.lists(steps, min_size=10, max_size=60)):
        bench.do(event, draw=won)
    came_in = sum(given_cents) + bench.meter("bill_in") + bench.meter("coin_out")
    went = bench.meter("coin_in") + bench.meter("attendant_paid_cancelled_credits")
    assert bench.machine.credits.total == came_in - went
    assert bench.machine.credits.total % denomination == 0
    assert bench.meter("games_played") == bench.meter("games_won") + bench.meter("games_lost")


@pytest.mark.parametrize("key", sorted(key for key, atom in ATOMS.items() if atom.books))
def test_counting_money_that_did_not_move_is_caught(key: str) -> None:
    meter = Amounts(1_000, 1_000, 1_000)
    with pytest.raises(InvariantError):
        books.check_event(meter, meter, [(ATOMS[key].slot, 1)])


def test_money_that_moved_uncounted_is_caught() -> None:
    for after in (Amounts(1), Amounts(0, 1), Amounts(0, 0, 1)):
        with pytest.raises(InvariantError):
            books.check_event(Amounts(), after, [])


def test_money_counted_as_another_kind_is_caught() -> None:
    with pytest.raises(InvariantError):
        books.check_event(Amounts(), Amounts(restricted=500), [(ATOMS["wat_in"].slot, 500)])
    books.check_event(
        Amounts(), Amounts(restricted=500), [(ATOMS["noncashable_electronic_promotion_in"].slot, 500)]
    )


def test_a_subject_that_counts_wrongly_stops_the_turn_and_leaves_the_old_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One cent more on the meter than in the count, as a slip in the code of a game would do it."""

    def generous(play: game_cycle.Play, machine: object) -> list[Asked]:
        return [Deposit(Money.CASHABLE, play.win_cents + 1), AddMeter("coin_out", play.win_cents, play.game)]

    bench = Bench()
    bench.give(cashable=100)
    bench.do(SPIN, draw=10)
    monkeypatch.setattr(game_cycle, "_settle", generous)
    before = bench.machine
    with pytest.raises(InvariantError):
        router.step(bench.machine, REELS_STAND, bench.now)
    assert bench.machine is before
    assert before.credits.total == 99


def test_a_count_below_zero_is_a_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_cycle, "_settle", lambda play, machine: [AddMeter("games_played", -1, 1)])
    bench = Bench()
    bench.give(cashable=100)
    bench.do(SPIN)
    with pytest.raises(InvariantError):
        router.step(bench.machine, REELS_STAND, bench.now)


def test_every_atom_that_moves_credits_is_in_the_books_once() -> None:
    assert {slot for slot, signs in enumerate(BOOKS) if signs} == {
        atom.slot for atom in ATOMS.values() if atom.books
    }
    for atom in ATOMS.values():
        if atom.books:
            assert atom.unit == "cents"
            assert set(atom.books.values()) <= {1, -1}


def test_the_whole_books_of_a_damaged_memory_do_not_agree() -> None:
    bench = Bench()
    bench.insert(2000)
    chance = random.Random(1)
    for _ in range(20):
        slot = ATOMS[chance.choice(["bill_in", "coin_in", "coin_out", "wat_in"])].slot
        meters = list(bench.machine.meters)
        meters[slot] ^= 1 << chance.randrange(40)
        assert any(books.imbalance(replace(bench.machine, meters=tuple(meters))))
