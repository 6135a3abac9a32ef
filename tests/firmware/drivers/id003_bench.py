"""Driver and twin on one wire in virtual time, with the smallest core that keeps the money rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from firmware.core.facts import (
    AcceptorPoweredUp,
    AcceptorReady,
    Fact,
    NoteInEscrow,
    NotePosition,
    NoteRejected,
    NoteReturned,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, Order, ReturnNote, StackNote
from firmware.drivers.id003_acceptor import Id003Acceptor
from hal.backends.memory_links import byte_link_pair
from hal.wire import id003
from simulator.cabinet.id003_acceptor import Id003AcceptorTwin
from simulator.cabinet.id003_tables import FAULTS, Unit
from simulator.cabinet.note_path import AcceptorBody, Item, Place

SECOND = 1_000_000
COMMIT_US = 5_000  # from a fact to its durable record
EVERYTHING = AcceptNotes(frozenset(id003.US_CENTS.values()))
NOTE = 0x65
CENTS = id003.US_CENTS


@dataclass
class Record:
    """What is durable: survives every cut."""

    intent: int | None = None
    credited: int = 0


@dataclass
class Core:
    """Facts become records after ``COMMIT_US``, then orders are given. A cut loses what is not yet a record."""

    record: Record
    decide: Callable[[Fact], Order | None]
    _queue: list[tuple[int, Fact]] = field(default_factory=list)

    def take(self, facts: Iterable[Fact], now_us: int) -> None:
        self._queue += [(now_us + COMMIT_US, fact) for fact in facts]

    def due_us(self) -> int | None:
        return self._queue[0][0] if self._queue else None

    def run(self, now_us: int) -> list[Order]:
        orders: list[Order] = []
        while self._queue and self._queue[0][0] <= now_us:
            orders += self._step(self._queue.pop(0)[1])
        return orders

    def _step(self, fact: Fact) -> list[Order]:
        record = self.record
        match fact:
            case NoteInEscrow() | TicketInEscrow():
                order = self.decide(fact)
                if isinstance(order, StackNote):
                    assert record.intent is None, "a second item while the first is open"
                    record.intent = fact.cents if isinstance(fact, NoteInEscrow) else 0
                return [] if order is None else [order]
            case NoteStacked() | AcceptorPoweredUp(NotePosition.IN_STACKER):
                if record.intent is not None:
                    record.credited += record.intent
                    record.intent = None
                return [AcknowledgeStacked()]
            case AcceptorPoweredUp() | AcceptorReady() | NoteReturned() | NoteRejected():
                record.intent = None
        return []


def stack_all(fact: Fact) -> Order:
    return StackNote() if isinstance(fact, NoteInEscrow) else ReturnNote()


class Bench:
    """One machine's acceptor and its twin. Time moves only in ``run``."""

    def __init__(
        self,
        decide: Callable[[Fact], Order | None] = stack_all,
        *,
        unit: Unit | None = None,
        body: AcceptorBody | None = None,
        accept: AcceptNotes = EVERYTHING,
        denominations: dict[int, int] | None = None,
        stacks_fully: bool = False,
        power: bool = True,
    ) -> None:
        self.now_us = 0
        self.instants = 0
        self.facts: list[Fact] = []
        self.times: list[int] = []
        self.sent: list[tuple[str, id003.Frame]] = []
        self.record = Record()
        self.taken_out: list[Item] = []
        self._decide, self._accept, self._unit = decide, accept, unit
        self._denominations = CENTS if denominations is None else denominations
        self._stacks_fully = stacks_fully
        self.host_link, self.device_link = byte_link_pair("acceptor")
        self._tap(self.host_link, "host")
        self._tap(self.device_link, "acceptor")
        self.saved = body
        self.twin = Id003AcceptorTwin(self.device_link, unit=unit, body=body, on_physical_change=self._save)
        if power:
            self.twin.power_on(0)
        self.boot_host()

    def _tap(self, link, name: str) -> None:
        framer, write = id003.Framer(), link.write

        def tapped(data: bytes) -> None:
            self.sent += [(name, frame) for frame in framer.receive(self.now_us, data)]
            write(data)
            self._moved = True

        link.write = tapped

    def _save(self) -> None:
        self.saved = AcceptorBody.from_json(self.twin.physical().to_json())

    def boot_host(self) -> None:
        """Start the host side anew: only the record is left."""
        self.driver = Id003Acceptor(self.host_link, self._denominations, stacks_fully=self._stacks_fully)
        self.core = Core(self.record, self._decide)
        self.driver.order(self._accept, self.now_us)

    def kill_world(self) -> None:
        """End the twin's process too: a new one is made of what was saved."""
        self.twin.power_off()
        self.twin = Id003AcceptorTwin(
            self.device_link, unit=self._unit, body=self.saved, on_physical_change=self._save
        )
        self.twin.power_on(self.now_us)

    def instant(self) -> None:
        """Do everything that happens now."""
        self.instants += 1
        for _ in range(20):
            self._moved = False
            facts = self.driver.step(self.now_us)
            self.facts += facts
            self.times += [self.now_us] * len(facts)
            self.core.take(facts, self.now_us)
            for order in self.core.run(self.now_us):
                self.driver.order(order, self.now_us)
                self._moved = True
            self.twin.step(self.now_us)
            if not self._moved and self._next_us() > self.now_us:
                return
        raise AssertionError("the wire never rests")

    def _next_us(self) -> int:
        dues = (self.driver.next_deadline_us(), self.twin.next_deadline_us(), self.core.due_us())
        return min(due for due in dues if due is not None)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now_us + int(seconds * SECOND)
        while True:
            self.instant()
            if self._next_us() > end:
                break
            self.now_us = self._next_us()
        self.now_us = end

    def run_until(self, is_over: Callable[[], bool], seconds: float = 60) -> None:
        """Let time pass until something is so, instant by instant."""
        end = self.now_us + int(seconds * SECOND)
        while not is_over():
            assert self.now_us < end, "it never came to pass"
            self.instant()
            if is_over():
                return
            self.now_us = self._next_us()

    def run_until_fact(self, fact: Fact, seconds: float = 60) -> None:
        start = len(self.facts)
        self.run_until(lambda: fact in self.facts[start:], seconds)

    def ready(self) -> Bench:
        """Start up and forget how."""
        self.run_until_fact(AcceptorReady())
        self.run(0.5)
        self.facts.clear()
        self.times.clear()
        self.sent.clear()
        return self

    def money_facts(self) -> list[Fact]:
        """The facts without what only concerns readiness and faults."""
        kinds = (NoteInEscrow, TicketInEscrow, NoteStacked, NoteReturned, NoteRejected, AcceptorPoweredUp)
        return [fact for fact in self.facts if isinstance(fact, kinds)]

    def heal(self) -> None:
        """Mend everything a person can mend."""
        for kind in FAULTS:
            self.twin.clear_fault(kind, self.now_us)
        if not self.twin.physical().box_present:
            self.twin.return_box(self.now_us)
        self.twin.clear_jam(self.now_us)
        self.twin.power_on(self.now_us)
        self.host_link.reopen()

    def swallowed_cents(self) -> int:
        """Value of everything the unit holds for good: in the box, behind the lever, taken out of the box."""
        body = self.twin.physical()
        items = [*self.taken_out, *body.box]
        if body.place is Place.BEHIND and body.item is not None:
            items.append(body.item)
        return sum(CENTS.get(item.code, 0) for item in items)

    def host_codes(self) -> list[int]:
        return [frame.code for name, frame in self.sent if name == "host"]
