"""Notes: the intent first, the money once the acceptor has swallowed it; once, never twice, never not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.core import facts as f
from firmware.core.cash_in import Idle, Stacking
from firmware.core.commands import HostSetAcceptor, HostSetPlay, PowerUp
from firmware.core.effects import Publish
from firmware.core.meters import BILL_VALUES
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, ReturnNote, StackNote
from firmware.core.tilts import CONDITIONS, kept
from tests.firmware.core.bench import REELS_STAND, SPIN, Bench

NOTE = 2000
IN_STACKER = f.AcceptorPoweredUp(f.NotePosition.IN_STACKER)
IN_ACCEPTOR = f.AcceptorPoweredUp(f.NotePosition.IN_ACCEPTOR)
EMPTY = f.AcceptorPoweredUp(f.NotePosition.NONE)
ACCEPTOR_ORDERS = (StackNote, ReturnNote, AcknowledgeStacked)

EVENTS: tuple[f.Fact, ...] = (
    IN_STACKER, IN_ACCEPTOR, EMPTY, f.AcceptorReady(), f.AcceptorNotReady(), f.NoteInEscrow(500),
    f.TicketInEscrow("0123456789"), f.NoteStacked(), f.NoteReturned(), f.NoteRejected("inhibited"),
)  # fmt: skip

# fact -> orders to the acceptor, state after it, cents credited
WHILE_IDLE = {
    IN_STACKER: ([AcknowledgeStacked()], Idle(), 0),
    IN_ACCEPTOR: ([], Idle(), 0),
    EMPTY: ([], Idle(), 0),
    f.AcceptorReady(): ([], Idle(), 0),
    f.AcceptorNotReady(): ([], Idle(), 0),
    f.NoteInEscrow(500): ([StackNote()], Stacking(500), 0),
    f.TicketInEscrow("0123456789"): ([ReturnNote()], Idle(), 0),
    f.NoteStacked(): ([AcknowledgeStacked()], Idle(), 0),
    f.NoteReturned(): ([], Idle(), 0),
    f.NoteRejected("inhibited"): ([], Idle(), 0),
}
WHILE_STACKING = {
    IN_STACKER: ([AcknowledgeStacked()], Idle(NOTE), NOTE),
    IN_ACCEPTOR: ([], Idle(), 0),
    EMPTY: ([], Idle(), 0),
    f.AcceptorReady(): ([], Idle(), 0),
    f.AcceptorNotReady(): ([], Stacking(NOTE), 0),
    f.NoteInEscrow(500): ([StackNote()], Stacking(500), 0),
    f.TicketInEscrow("0123456789"): ([ReturnNote()], Idle(), 0),
    f.NoteStacked(): ([AcknowledgeStacked()], Idle(NOTE), NOTE),
    f.NoteReturned(): ([], Idle(), 0),
    f.NoteRejected("inhibited"): ([], Idle(), 0),
}


def orders(bench: Bench) -> list[object]:
    return [effect for effect in bench.effects if isinstance(effect, ACCEPTOR_ORDERS)]


@pytest.mark.parametrize("fact", EVENTS, ids=repr)
@pytest.mark.parametrize("stacking", [False, True])
def test_every_fact_in_every_state(fact: f.Fact, stacking: bool) -> None:
    bench = Bench()
    if stacking:
        bench.do(f.NoteInEscrow(NOTE))
    bench.do(fact)
    ordered, state, credited = (WHILE_STACKING if stacking else WHILE_IDLE)[fact]
    assert orders(bench) == ordered
    assert bench.machine.cash_in == state
    assert bench.machine.credits.cashable == bench.meter("bill_in") == credited
    assert ("bill_stacked" in bench.events()) is bool(credited)
    is_lost = stacking and not credited and bench.machine.cash_in != Stacking(NOTE)
    assert ("bill_not_stacked" in bench.events()) is is_lost


@pytest.mark.parametrize(
    ("note", "credited"),
    [(IN_STACKER, NOTE), (IN_ACCEPTOR, 0), (EMPTY, 0)],
    ids=["stacker", "acceptor", "none"],
)
def test_at_power_up_the_acceptor_settles_an_open_intent(note: f.Fact, credited: int) -> None:
    bench = Bench()
    bench.do(f.NoteInEscrow(NOTE))
    bench.machine = replace(bench.machine, tilts=kept(bench.machine.tilts), accepting=None)
    bench.do(PowerUp(memory_fresh=False))
    assert bench.machine.cash_in == Stacking(NOTE)  # nobody has said anything yet
    bench.do(f.AcceptorNotReady(), note)
    assert bench.machine.credits.total == credited
    bench.do(f.AcceptorReady(), note, f.AcceptorReady())  # a second cut tells the same story again
    assert bench.machine.credits.total == credited
    assert bench.machine.is_playable


def test_the_order_to_stack_and_its_intent_are_of_one_turn() -> None:
    bench = Bench()
    bench.do(f.NoteInEscrow(NOTE))
    assert bench.machine.cash_in == Stacking(NOTE)
    assert orders(bench) == [StackNote()]
    assert bench.machine.credits.total == 0


def test_the_word_that_lets_the_acceptor_forget_comes_with_the_money() -> None:
    bench = Bench()
    bench.do(f.NoteInEscrow(NOTE), f.NoteStacked())
    assert orders(bench)[-1] == AcknowledgeStacked()
    bench.do(f.NoteStacked(), f.NoteStacked())  # it missed the word, twice
    assert orders(bench) == [AcknowledgeStacked()] * 2
    assert bench.machine.credits.total == NOTE


def test_with_a_failed_memory_an_unexplained_note_is_left_to_the_technician() -> None:
    bench = Bench()
    bench.machine = replace(bench.machine, tilts=frozenset({"memory_failure"}))
    for fact in (f.NoteStacked(), IN_STACKER):
        bench.do(fact)
        assert orders(bench) == []


@pytest.mark.law("NJ-28C-a8", "PA-7-g-5")
def test_one_of_each_adds_186_dollars_and_a_returned_note_nothing() -> None:
    bench = Bench()
    for dollars in (1, 5, 10, 20, 50, 100):
        bench.insert(dollars * 100)
    assert bench.meter("bill_in") == 18_600
    bench.do(f.NoteInEscrow(2000), f.NoteReturned())
    assert bench.meter("bill_in") == 18_600
    other = Bench()
    for dollars in (1, 20, 100):
        other.insert(dollars * 100)
    assert other.meter("bill_in") == 12_100


@pytest.mark.law("NJ-28C-a8-den", "PA-7-g-5-den")
def test_each_denomination_has_its_own_count() -> None:
    bench = Bench()
    for dollars in (20, 20, 100, 20):
        bench.insert(dollars * 100)
    counts = {value: bench.meter(f"bill_in_count_{value}") for value in BILL_VALUES}
    assert {value: count for value, count in counts.items() if count} == {20: 3, 100: 1}
    assert sum(value * count * 100 for value, count in counts.items()) == bench.meter("bill_in")


def test_the_host_hears_the_note_and_its_lifetime_count() -> None:
    bench = Bench()
    bench.insert(2000)
    bench.insert(2000)
    notices = [notice for notice in bench.machine.host_queues[0].pending if notice.code == 0x4F]
    assert [notice.facts for notice in notices] == [(2000, 1), (2000, 2)]


def test_the_credit_limit_is_kept_to_the_cent() -> None:
    for cents, ordered in ((8_001, ReturnNote()), (8_000, StackNote())):
        bench = Bench(credit_limit=10_000)
        bench.give(cashable=cents)
        bench.do(f.NoteInEscrow(2000))
        assert orders(bench) == [ordered]


@pytest.mark.parametrize("condition", sorted(CONDITIONS))
def test_no_condition_lets_a_note_in(condition: str) -> None:
    bench = Bench()
    bench.machine = replace(bench.machine, tilts=frozenset({condition}))
    bench.do(f.NoteInEscrow(NOTE))
    assert orders(bench) == [ReturnNote()]
    assert AcceptNotes(frozenset()) in bench.effects


def test_what_the_acceptor_may_take_follows_host_setting_and_denomination() -> None:
    bench = Bench()
    assert bench.machine.accepting == frozenset({100, 200, 500, 1000, 2000, 5000, 10_000})
    bench.do(HostSetAcceptor(0, False))
    assert AcceptNotes(frozenset()) in bench.effects
    bench.do(f.NoteInEscrow(NOTE))
    assert orders(bench) == [ReturnNote()]
    bench.do(HostSetAcceptor(0, True), HostSetPlay(0, False))
    assert bench.machine.accepting == frozenset()
    bench.do(HostSetPlay(0, True))
    assert bench.machine.accepting == frozenset({100, 200, 500, 1000, 2000, 5000, 10_000})
    assert Bench(acceptor_enabled=0).machine.accepting == frozenset()
    assert Bench(notes_accepted=0b1_0000).machine.accepting == frozenset({2000})
    # A five-dollar machine takes nothing that it could not turn into credits without a rest.
    assert Bench(accounting_denomination=500).machine.accepting == frozenset({500, 1000, 2000, 5000, 10_000})


def test_the_acceptor_is_told_only_of_changes() -> None:
    bench = Bench()
    bench.insert(NOTE)
    bench.game()
    bench.do(f.NoteInEscrow(NOTE), f.NoteReturned())
    assert not [effect for effect in bench.effects if isinstance(effect, AcceptNotes)]


@given(st.lists(st.sampled_from((*EVENTS, PowerUp(memory_fresh=False), SPIN, REELS_STAND)), max_size=25))
def test_whatever_the_acceptor_says_each_intent_is_credited_at_most_once(events: list[f.Fact]) -> None:
    """An oracle of three lines: an order to stack opens an intent, one of two facts turns it into money."""
    bench = Bench()
    is_open, expected = 0, 0
    for event in events:
        if isinstance(bench.machine.cash_in, Stacking):
            is_open = bench.machine.cash_in.cents
        if event in (f.NoteStacked(), IN_STACKER):
            expected += is_open
        if not isinstance(event, f.AcceptorNotReady | PowerUp) and event not in (SPIN, REELS_STAND):
            is_open = 0
        bench.do(event)
        assert bench.meter("bill_in") == expected
        stacked = [e for e in bench.effects if isinstance(e, Publish) and e.event == "bill_stacked"]
        assert len(stacked) <= 1
