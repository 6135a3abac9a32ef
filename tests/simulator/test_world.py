"""The world in virtual time, with a small control program: notes, power, faults, what survives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from firmware.core.facts import (
    AcceptorPoweredUp,
    AcceptorReady,
    Fact,
    NoteInEscrow,
    NotePosition,
    NoteStacked,
)
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, StackNote
from firmware.drivers.id003_acceptor import Id003Acceptor
from hal.backends.clocks import ManualClock
from hal.backends.memory_links import wakeup_link_pair
from simulator.driver import Driver, RestlessError
from simulator.faults import Faults, FaultyLine, UnknownTargetError
from simulator.hands import PATIENCE_US, Fate, HandError
from simulator.twins import Twins
from simulator.world import Announce, Body, World
from simulator.world_store import MemoryWorldStore

SECOND = 1_000_000


@dataclass
class LittleMachine:
    """Just enough of a control program: takes notes and counts them, answers one poll, sees its switches."""

    bench: Bench
    announce: Announce
    levels: int = 0
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.driver = Id003Acceptor(self.bench.twins.acceptor_line)
        self.driver.order(
            AcceptNotes(frozenset({100, 500, 1000, 2000, 5000, 10000})), self.bench.clock.now_us()
        )

    def turn(self) -> None:
        now_us = self.bench.clock.now_us()
        for fact in self.driver.step(now_us):
            self.facts.append(fact)
            match fact:
                case NoteInEscrow():
                    self.driver.order(StackNote(), now_us)
                case AcceptorPoweredUp(NotePosition.IN_STACKER):
                    self.driver.order(AcknowledgeStacked(), now_us)
                case NoteStacked():
                    self.bench.credited += 1
                    self.driver.order(AcknowledgeStacked(), now_us)
                    self.tell("bill_stacked")
        levels = self.bench.twins.inputs.read()
        if levels != self.levels:
            self.levels = levels
            self.tell("switches", levels=levels)
        for data, _ in self.bench.wire.read():
            if data == b"\x81":
                self.bench.wire.write(b"\x01\x02\x03")

    def tell(self, name: str, **facts: object) -> None:
        self.bench.sequence += 1
        self.announce({"sequence": self.bench.sequence, "time_us": 0, "event": name, **facts})

    def next_deadline_us(self) -> int:
        return self.driver.next_deadline_us()

    def power_down(self) -> None:
        self.tell("power_down")

    def public_state(self) -> Body:
        return {"playable": True}

    def public_meters(self) -> Body:
        return {"bill_in": self.bench.credited}

    def vocabulary(self) -> Body:
        return {"events": ["bill_stacked"]}


class Bench:
    """A world around the little machine. ``store`` given: the cabinet as an earlier world left it."""

    def __init__(self, store: MemoryWorldStore | None = None) -> None:
        self.store = store or MemoryWorldStore()
        self.clock = ManualClock()
        kept = self.store.load() or {}
        self.twins = Twins.restored(kept.get("twins"))
        machine_end, self.host_end = wakeup_link_pair("sas")
        self.wire = FaultyLine(machine_end)
        machine_end.on_arrival = lambda: self.world.stir()
        self.credited = 0
        self.sequence = 0
        self.events: list[Body] = []
        self.world = World(
            clock=self.clock,
            twins=self.twins,
            store=self.store,
            power_up=lambda announce: LittleMachine(self, announce),
            lines=[self.wire],
            faults=Faults({**self.twins.targets(), "sas.wire": self.wire.target}),
        )
        self.world.listeners.append(self.events.append)
        self.driver = Driver(self.world, self.clock)
        self.fates: list[Fate] = []

    def ready(self) -> Bench:
        """Power on, and wait until the acceptor idles and its driver has seen that."""
        self.world.power(True)
        assert self.driver.run_while(lambda: not self.is_ready(), 30 * SECOND)
        return self

    def is_ready(self) -> bool:
        machine = self.world.machine
        return isinstance(machine, LittleMachine) and any(isinstance(f, AcceptorReady) for f in machine.facts)

    def bill(self, cents: int = 2000) -> None:
        self.world.hands.bill(cents, self.fates.append)

    def settle(self, cents: int = 2000) -> Fate:
        self.bill(cents)
        assert self.driver.run_while(lambda: not self.fates, 30 * SECOND)
        return self.fates.pop()


def test_the_fate_of_a_note_is_told_once_the_machine_has_acknowledged_it() -> None:
    bench = Bench().ready()
    assert bench.settle() == Fate("stacked", "")
    assert bench.credited == 1
    assert bench.events[-1]["event"] == "bill_stacked"
    assert not bench.twins.acceptor.physical().vend_unacknowledged
    assert bench.world.state()["cabinet"]["notes"]["stacked"] == {"count": 1, "cents": 2000}  # type: ignore[index]


def test_a_note_before_the_acceptor_is_ready_comes_back_at_once() -> None:
    bench = Bench()
    bench.world.power(True)
    bench.bill()
    assert bench.fates[0].result == "returned"  # never drawn in: it is still in the hand
    assert bench.world.hands.to_json()["returned"] == {"count": 1, "cents": 2000}


def test_notes_pushed_in_one_behind_the_other_wait_for_their_turn() -> None:
    bench = Bench().ready()
    assert [bench.settle(cents) for cents in (2000, 100, 500)] == [Fate("stacked", "")] * 3
    bench.bill(1000)
    bench.bill(1000)
    assert bench.driver.run_while(lambda: len(bench.fates) < 2, 30 * SECOND)
    inserted, stacked = (bench.world.hands.to_json()[name] for name in ("inserted", "stacked"))
    assert inserted["cents"] == 4600
    assert stacked["cents"] == sum(
        bench.twins.cents_of(item.code) for item in bench.twins.acceptor.physical().box
    )


def test_a_note_at_an_acceptor_that_stays_inhibited_is_refused_when_the_hand_tires() -> None:
    bench = Bench().ready()
    machine = bench.world.machine
    assert isinstance(machine, LittleMachine)
    machine.driver.order(AcceptNotes(frozenset()), bench.clock.now_us())
    bench.driver.run_for(SECOND)
    bench.bill()
    assert not bench.fates
    bench.driver.run_for(PATIENCE_US)
    assert [fate.result for fate in bench.fates] == ["rejected"]


def test_wrong_names_are_told_with_what_exists() -> None:
    bench = Bench().ready()
    hands = bench.world.hands
    attempts: list[tuple[Callable[[], object], object]] = [
        (lambda: hands.bill(300), 2000),
        (lambda: hands.press("fire"), "spin"),
        (lambda: hands.door("side", True), "main"),
        (lambda: hands.key("master", True), "reset"),
    ]
    for attempt, allowed in attempts:
        with pytest.raises(HandError) as refused:
            attempt()
        assert refused.value.status == 422
        assert allowed in refused.value.allowed


def test_a_press_is_released_by_itself_and_a_door_stays() -> None:
    bench = Bench().ready()
    bench.world.hands.press("spin")
    bench.world.hands.door("main", True)
    bench.driver.run_for(1)
    assert bench.twins.inputs.level("button_spin")
    bench.driver.run_for(SECOND)
    assert not bench.twins.inputs.level("button_spin")
    assert bench.twins.inputs.level("door_main")
    assert bench.world.twins.doors()["main"]


def test_power_cut_at_every_millisecond_of_a_note_neither_loses_nor_makes_one() -> None:
    for cut_us in range(0, 3_000_000, 50_000):
        bench = Bench().ready()
        bench.bill()
        bench.driver.run_for(cut_us)
        bench.world.power(False)
        assert bench.world.state()["playable_blocked_by"] == ["power_off"]
        bench.driver.run_for(SECOND)
        bench.world.power(True)
        assert bench.driver.run_while(lambda b=bench: not b.fates, 60 * SECOND), cut_us  # type: ignore[misc]
        counts = bench.world.hands.to_json()
        assert counts["stacked"]["count"] + counts["returned"]["count"] + counts["rejected"]["count"] == 1, (
            cut_us
        )
        assert len(bench.twins.acceptor.physical().box) == counts["stacked"]["count"]


def test_what_is_physical_survives_the_end_of_the_process() -> None:
    first = Bench().ready()
    first.settle()
    first.world.hands.door("belly", True)
    first.world.hands.key("audit", True)
    first.bill(500)
    assert first.driver.run_while(
        lambda: first.twins.acceptor.physical().place.value != "behind", 10 * SECOND
    )

    second = Bench(first.store)  # nothing of the first but its store
    body = second.twins.acceptor.physical()
    assert body == first.twins.acceptor.physical()
    assert (body.place.value, len(body.box)) == ("behind", 1)
    assert second.twins.doors()["belly"]
    assert second.twins.inputs.level("key_audit")
    assert second.world.hands.to_json() == first.world.hands.to_json()
    second.ready()
    assert [second.twins.cents_of(item.code) for item in second.twins.acceptor.physical().box] == [2000, 500]


def test_what_changes_is_kept_before_the_machine_can_hear_of_it() -> None:
    bench = Bench().ready()
    bench.bill()
    while not bench.fates:
        bench.driver.run_until(bench.world.next_deadline_us())
        kept = bench.store.load()
        assert kept is not None
        assert kept["twins"] == bench.twins.to_json()
        if bench.credited:
            stacked = kept["twins"]["acceptor"]  # type: ignore[index]
            assert stacked["place"] == "behind" or len(stacked["box"]) == 1


def test_equal_hands_give_equal_worlds() -> None:
    def session() -> tuple[list[Body], str, int]:
        bench = Bench().ready()
        bench.bill()
        bench.driver.run_for(700_000)
        bench.world.hands.press("spin")
        bench.driver.run_for(5 * SECOND)
        bench.world.power(False)
        bench.driver.run_for(SECOND)
        bench.world.power(True)
        bench.driver.run_for(20 * SECOND)
        return bench.events, bench.store.text, bench.clock.now_us()

    assert session() == session()


def test_plans_happen_at_their_time_in_the_order_of_planning() -> None:
    bench = Bench().ready()
    seen: list[tuple[str, int]] = []
    now_us = bench.clock.now_us()
    for name, after in (("c", 30), ("a", 10), ("b", 10)):
        bench.world.plan(now_us + after, lambda n=name: seen.append((n, bench.clock.now_us() - now_us)))  # type: ignore[misc]
    bench.driver.run_for(25)
    assert seen == [("a", 10), ("b", 10)]
    bench.driver.run_for(25)
    assert seen[-1] == ("c", 30)


def test_without_power_what_a_host_sends_is_lost() -> None:
    bench = Bench().ready()
    bench.world.power(False)
    bench.host_end.write(b"\x81")
    bench.driver.run_for(SECOND)
    bench.world.power(True)
    bench.driver.run_for(SECOND)
    assert bench.host_end.read() == []
    bench.host_end.write(b"\x81")
    bench.driver.run_for(1)
    assert bench.host_end.read() == [(b"\x01\x02\x03", False)]


def answer_of(bench: Bench) -> bytes:
    bench.host_end.write(b"\x81")
    bench.driver.run_for(1)
    return b"".join(data for data, _ in bench.host_end.read())


SAS_FAULTS = [
    ("crc", b"\x01\x02\x02"),
    ("cut_short", b"\x01\x02"),
    ("noise", b"\x55\x01\x02\x03"),
    ("silence", b""),
    ("deaf", b""),
]


@pytest.mark.parametrize(("kind", "answer"), SAS_FAULTS)
def test_a_fault_of_the_wire_strikes_as_often_as_asked(kind: str, answer: bytes) -> None:
    bench = Bench().ready()
    bench.world.faults.inject("sas.wire", kind, bench.clock.now_us(), count=2)
    assert [answer_of(bench) for _ in range(3)] == [answer, answer, b"\x01\x02\x03"]
    assert bench.world.faults.active() == []


def test_a_fault_ends_when_its_time_is_over_or_when_it_is_cleared() -> None:
    bench = Bench().ready()
    faults, now_us = bench.world.faults, bench.clock.now_us()
    faults.inject("sas.wire", "silence", now_us, lasting_us=SECOND)
    assert faults.active() == [
        {"target": "sas.wire", "kind": "silence", "remaining": None, "until_us": now_us + SECOND}
    ]
    assert answer_of(bench) == b""
    bench.driver.run_for(2 * SECOND)
    assert answer_of(bench) == b"\x01\x02\x03"
    faults.inject("sas.wire", "silence", bench.clock.now_us(), count=50)
    faults.clear("sas.wire", "silence", bench.clock.now_us())
    assert answer_of(bench) == b"\x01\x02\x03"


def test_a_jam_holds_the_note_until_it_is_cleared() -> None:
    bench = Bench().ready()
    bench.world.faults.inject("bill_acceptor", "jam_in_stack", bench.clock.now_us())
    bench.bill()
    bench.driver.run_for(10 * SECOND)
    assert not bench.fates
    assert bench.twins.acceptor.physical().jam == "stacker"
    bench.world.faults.clear("bill_acceptor", "jam_in_stack", bench.clock.now_us())
    assert bench.driver.run_while(lambda: not bench.fates, 60 * SECOND)
    assert len(bench.twins.acceptor.physical().box) == (bench.fates[0].result == "stacked")


def test_an_unknown_fault_names_the_known_ones() -> None:
    bench = Bench()
    with pytest.raises(UnknownTargetError) as refused:
        bench.world.faults.inject("printer", "paper_out", 0)
    assert "sas.wire crc" in refused.value.allowed
    assert "bill_acceptor jam_in_stack" in refused.value.allowed


def test_the_note_box_is_taken_out_and_comes_back_empty() -> None:
    bench = Bench().ready()
    bench.settle()
    bench.world.hands.stacker(True)
    bench.world.hands.stacker(True)  # twice is once
    bench.driver.run_for(SECOND)
    assert bench.twins.visible()["note_box"] == {"in_place": False, "items": 1, "capacity": 600}
    bench.world.hands.stacker(False)
    bench.driver.run_for(SECOND)
    assert bench.twins.visible()["note_box"] == {"in_place": True, "items": 0, "capacity": 600}


def test_a_neighbour_that_never_rests_is_a_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless:
        def step(self, now_us: int) -> None:
            pass

        def next_deadline_us(self) -> int:
            return 0

    bench = Bench()
    bench.world.attach(Restless())
    monkeypatch.setattr("simulator.driver.TURNS_MAX", 5)
    bench.world.turn()  # one turn ends in any case
    with pytest.raises(RestlessError):
        bench.driver.run_for(1)


def test_meters_are_refused_in_the_dark_and_names_are_not() -> None:
    bench = Bench()
    with pytest.raises(HandError, match="No power"):
        bench.world.meters()
    bench.ready()
    assert bench.world.meters() == {"bill_in": 0}
    names = bench.world.vocabulary()
    assert {"events", "buttons", "doors", "keys", "notes", "faults"} <= set(names)
    bench.world.power(False)
    assert bench.world.vocabulary() == names


def test_an_orderly_end_lets_the_machine_finish() -> None:
    bench = Bench().ready()
    bench.world.shut_down()
    assert bench.events[-1]["event"] == "power_down"
    assert not bench.world.has_power
    assert not bench.twins.acceptor.is_powered
