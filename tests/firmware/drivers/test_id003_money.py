"""The money rule under every cut and every fault: what is credited is what the acceptor swallowed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from firmware.core.facts import (
    AcceptorPoweredUp,
    AcceptorReady,
    Fact,
    NoteInEscrow,
    NotePosition,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import HoldNote, Order, ReturnNote, StackNote
from simulator.cabinet.id003_tables import FAULTS
from tests.firmware.drivers.id003_bench import NOTE, SECOND, Bench, stack_all

Cut = Callable[[Bench], None]


def host_dies(bench: Bench) -> None:
    bench.boot_host()


def acceptor_loses_power(bench: Bench) -> None:
    bench.twin.power_off()
    bench.run(0.2)
    bench.twin.power_on(bench.now_us)


def both_lose_power(bench: Bench) -> None:
    bench.kill_world()
    bench.host_link.read(4096)
    bench.boot_host()


def line_is_cut_for_two_seconds(bench: Bench) -> None:
    bench.host_link.close()
    bench.run(2)
    bench.host_link.reopen()


CUTS: list[Cut] = [host_dies, acceptor_loses_power, both_lose_power, line_is_cut_for_two_seconds]


def assert_books_agree(bench: Bench) -> None:
    assert bench.record.intent is None
    assert bench.record.credited == bench.swallowed_cents()


def settle(bench: Bench, seconds: float = 12) -> None:
    start = len(bench.facts)
    bench.run(seconds)
    assert bench.facts[start:].count(AcceptorReady()) >= 1
    assert_books_agree(bench)


def with_a_note(stacks_fully: bool) -> Bench:
    bench = Bench(stacks_fully=stacks_fully).ready()
    bench.twin.insert(NOTE, bench.now_us)
    return bench


def instants_of_a_note(stacks_fully: bool) -> int:
    """How many instants from the insertion to idling again."""
    bench = with_a_note(stacks_fully)
    start = bench.instants
    bench.run_until_fact(AcceptorReady())
    return bench.instants - start + 2


def cut_at(instant: int, cut: Cut, stacks_fully: bool) -> Bench:
    bench = with_a_note(stacks_fully)
    for _ in range(instant):
        bench.instant()
        bench.now_us = bench._next_us()
    cut(bench)
    return bench


@pytest.mark.law("NJ-28N-f", partly="notes only: vouchers come with ticket redemption")
@pytest.mark.parametrize("stacks_fully", [False, True], ids=["stack_1", "stack_2"])
@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_at_any_instant_of_a_note_credits_it_exactly_if_it_is_swallowed(
    cut: Cut, stacks_fully: bool
) -> None:
    fates = set()
    for instant in range(0, instants_of_a_note(stacks_fully), 1 + stacks_fully):
        bench = cut_at(instant, cut, stacks_fully)
        settle(bench)
        fates.add(bench.record.credited)
    assert fates == {0, 2000}, "the sweep must meet cuts on both sides of the lever"


@pytest.mark.parametrize("second", CUTS)
def test_a_second_cut_while_the_first_is_being_settled(second: Cut) -> None:
    for instant in range(0, instants_of_a_note(stacks_fully=False), 5):
        for later in (0.004, 1.512, 2.0, 5.5):
            bench = cut_at(instant, both_lose_power, stacks_fully=False)
            bench.run(later)
            second(bench)
            settle(bench)


def test_a_note_behind_the_lever_is_not_forgotten_before_its_record_is_durable() -> None:
    bench = with_a_note(stacks_fully=False)
    bench.run_until(lambda: bench.twin.physical().vend_unacknowledged)
    both_lose_power(bench)
    bench.run_until_fact(AcceptorPoweredUp(NotePosition.IN_STACKER))
    assert bench.record.credited == 0, "the fact is out, its record is not"
    both_lose_power(bench)  # and so it is asked again
    settle(bench)
    assert bench.record.credited == 2000


class Chaos:
    """A person who inserts, pulls, breaks and mends at random, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.bench = Bench(self.decide, stacks_fully=self.random.random() < 0.3)

    def decide(self, fact: Fact) -> Order | None:
        if isinstance(fact, TicketInEscrow):
            return ReturnNote()
        return self.random.choice([StackNote(), StackNote(), StackNote(), ReturnNote(), HoldNote(), None])

    def act(self) -> None:
        bench, pick = self.bench, self.random
        match pick.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                bench.twin.insert(pick.choice([0x61, 0x63, 0x64, 0x65, 0x66, 0x67, 0x99]), bench.now_us)
            case 5 | 6 | 7:
                bench.twin.inject(pick.choice(sorted(FAULTS)), bench.now_us, count=pick.randint(1, 4))
            case 8:
                pick.choice(CUTS)(bench)
            case 9:
                if bench.twin.physical().box_present:
                    bench.twin.remove_box()
                else:
                    emptied = bench.twin.return_box(bench.now_us, is_emptied=pick.random() < 0.5)
                    bench.taken_out += emptied
            case 10:
                bench.twin.clear_jam(bench.now_us, take_item=pick.random() < 0.5)
            case _:
                bench.heal()

    def play(self, actions: int) -> None:
        for _ in range(actions):
            self.act()
            self.bench.run(self.random.choice([0.01, 0.3, 0.7, 1.3, 3, 8]))
        self.bench.heal()
        self.bench.core.decide = stack_all
        self.bench.driver.order(ReturnNote(), self.bench.now_us)  # what is on HOLD
        self.bench.run(60)


@pytest.mark.law("NJ-28N-f", partly="notes only: vouchers come with ticket redemption")
@pytest.mark.law("NJ-28N-c")
@pytest.mark.parametrize("seed", range(int(os.environ.get("EGM_CHAOS_SEEDS", "24"))))
def test_whatever_happens_the_credits_are_what_was_swallowed(seed: int) -> None:
    chaos = Chaos(seed)
    chaos.play(40)
    assert_books_agree(chaos.bench)
    bench = chaos.bench
    if bench.twin.physical().is_box_full:
        return
    before = bench.record.credited
    bench.twin.insert(NOTE, bench.now_us)
    bench.run(10)
    assert bench.record.credited == before + 2000, "and it works again"


@pytest.mark.parametrize("seed", range(6))
def test_every_stacked_fact_has_its_own_escrow_before_it(seed: int) -> None:
    chaos = Chaos(1000 + seed)
    chaos.play(40)
    open_items = 0
    for fact in chaos.bench.money_facts():
        match fact:
            case NoteInEscrow() | TicketInEscrow():
                assert open_items == 0
                open_items = 1
            case NoteStacked():
                assert open_items == 1
                open_items = 0
            case _:
                open_items = 0


def test_time_in_the_bench_is_virtual() -> None:
    bench = Bench()
    bench.run(3)
    assert bench.now_us == 3 * SECOND
