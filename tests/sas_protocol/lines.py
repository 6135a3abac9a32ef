"""What the tests of the two ends share: a machine's end with a clock, and lines of several qualities between ends."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from sas_protocol.framing import Run
from sas_protocol.host_end import HostEnd, HostEvent, Request, Write
from sas_protocol.line_events import ACK, Answer, Data, LineEvent, PollReceived, Transmit
from sas_protocol.line_rules import REFERENCE, LineRules
from sas_protocol.longpolls import V603
from sas_protocol.machine_end import MachineEnd

SYNC = 0x80


def hexed(text: str) -> bytes:
    return bytes.fromhex(text)


class Bench:
    """A machine's end at address 1 on a table, polled by hand; time is its own and only moves when told."""

    def __init__(self, *, marked: bool = True, rules: LineRules = REFERENCE, **options: Any) -> None:
        self.now_us = 0
        self.marked = marked
        self.end = MachineEnd(options.pop("address", 1), 0, rules=rules, **options)
        self.events: list[LineEvent] = []

    def runs(self, frame: bytes) -> list[Run]:
        """A message with its first byte marked, or without any marks."""
        if not self.marked:
            return [(frame, None)]
        return [(frame[:1], True), (frame[1:], False)] if len(frame) > 1 else [(frame, True)]

    def feed(self, *runs: Run) -> bytes:
        """Let runs arrive; return what is transmitted at once. Other events are kept in ``events``."""
        return self._take(self.end.receive(self.now_us, list(runs)))

    def poll(self, frame: bytes | str, answer: Answer | None = None) -> bytes:
        """Send one message, answer what is reported, return all bytes transmitted."""
        frame = hexed(frame) if isinstance(frame, str) else frame
        self.events.clear()
        sent = self.feed(*self.runs(frame))
        if answer is not None and self.reported():
            sent += self.end.send(self.now_us, answer)
        return sent

    def tick(self) -> bytes:
        return self._take(self.end.tick(self.now_us))

    def pass_time(self, us: int) -> bytes:
        """Let time pass, calling ``tick`` when it is due; return what was transmitted."""
        sent, until_us = b"", self.now_us + us
        while (due_us := self.end.next_deadline_us()) is not None and due_us <= until_us:
            self.now_us = max(self.now_us, due_us)
            sent += self.tick()
        self.now_us = until_us
        return sent

    def sync(self) -> None:
        """Another address is polled, then ours: the line is up and nothing is owed."""
        self.poll(bytes((SYNC,)))
        self.poll(bytes((0x80 | self.end.address,)))
        self.poll(bytes((SYNC,)))
        self.events.clear()

    def reported(self) -> list[PollReceived]:
        return [event for event in self.events if isinstance(event, PollReceived)]

    def _take(self, events: Iterable[LineEvent]) -> bytes:
        sent = b""
        for event in events:
            if isinstance(event, Transmit):
                sent += event.data
            self.events.append(event)
        return sent


class Wire:
    """A line between the two ends: whole, byte-wise, late or lossy.

    Args:
        byte_us: pause before each byte; 0 carries messages whole.
        late_us: (least, most) delay of a message or byte.
        loss: chance, in thousandths, that a byte is lost; a like chance that one is damaged.
        marked: whether the ninth bit gets through.
    """

    def __init__(self, seed: int, *, byte_us: int = 0, late_us: tuple[int, int] = (0, 0), loss: int = 0,
                 marked: bool = True) -> None:  # fmt: skip
        self._random = Random(seed)
        self._byte_us = byte_us
        self._late_us = late_us
        self._loss = loss
        self._marked = marked
        self.to_machine: list[tuple[int, Run]] = []
        self.to_host: list[tuple[int, bytes]] = []

    def write_to_machine(self, now_us: int, writes: Iterable[Write]) -> None:
        for data, wakeup in writes:
            for at_us, part in self._parts(now_us, data, [at for at, _ in self.to_machine]):
                self.to_machine.append((at_us, (part, wakeup if self._marked else None)))

    def write_to_host(self, now_us: int, data: bytes) -> None:
        self.to_host += self._parts(now_us, data, [at for at, _ in self.to_host])

    def _parts(self, now_us: int, data: bytes, before: list[int]) -> list[tuple[int, bytes]]:
        """Cut data into what arrives together, each with its time; order is kept."""
        at_us = max([now_us, *before[-1:]]) + self._random.randint(*self._late_us)
        parts = [data] if self._byte_us == 0 else [bytes((byte,)) for byte in data]
        found = []
        for part in parts:
            at_us += self._byte_us
            spoilt = self._spoil(part)
            if spoilt:
                found.append((at_us, spoilt))
        return found

    def _spoil(self, part: bytes) -> bytes:
        if self._loss == 0:
            return part
        kept = bytearray()
        for byte in part:
            fate = self._random.randrange(1000)
            if fate >= self._loss:
                kept.append(byte ^ (1 << self._random.randrange(8)) if fate < 2 * self._loss else byte)
        return bytes(kept)


class Session:
    """A host's end and a machine's end on a wire, in virtual time; the machine answers what it is told to."""

    def __init__(self, wire: Wire, host: HostEnd, machine: MachineEnd) -> None:
        self.wire = wire
        self.host = host
        self.machine = machine
        self.now_us = 0
        self.executed: list[PollReceived] = []
        self.machine_events: list[LineEvent] = []
        self.answers: dict[int, Answer] = {}

    def ask(self, request: Request, limit_us: int = 60_000_000) -> list[HostEvent]:
        """Send a request and run until it is over; return what the host heard, without the writes."""
        heard: list[HostEvent] = []
        self.wire.write_to_machine(self.now_us, self.host.send(self.now_us, request))
        stop_us = self.now_us + limit_us
        while self.host.is_waiting or self.wire.to_machine:
            assert self.now_us < stop_us, "the request never ended"
            self._advance()
            heard += self._step()
        # Hosts poll 40 ms apart at the least.
        self.now_us += 40_000
        heard += self._step()
        return heard

    def _advance(self) -> None:
        """Go to the next moment at which anything happens."""
        due = [self.wire.to_machine[0][0]] if self.wire.to_machine else []
        due += [self.wire.to_host[0][0]] if self.wire.to_host else []
        due += [
            each
            for each in (self.host.next_deadline_us(), self.machine.next_deadline_us())
            if each is not None
        ]
        self.now_us = max(self.now_us, min(due))

    def _step(self) -> list[HostEvent]:
        heard: list[HostEvent] = []
        while self.wire.to_machine and self.wire.to_machine[0][0] <= self.now_us:
            _, run = self.wire.to_machine.pop(0)
            self._machine(self.machine.receive(self.now_us, [run]))
        due_us = self.machine.next_deadline_us()
        if due_us is not None and due_us <= self.now_us:
            self._machine(self.machine.tick(self.now_us))
        while self.wire.to_host and self.wire.to_host[0][0] <= self.now_us:
            _, data = self.wire.to_host.pop(0)
            heard += self._host(self.host.receive(self.now_us, data))
        return heard + self._host(self.host.tick(self.now_us))

    def _machine(self, events: list[LineEvent]) -> None:
        for event in events:
            self.machine_events.append(event)
            if isinstance(event, Transmit):
                self.wire.write_to_host(self.now_us, event.data)
            elif isinstance(event, PollReceived):
                self.executed.append(event)
                if not event.is_broadcast:
                    answer = self.answers.get(event.poll.code, ACK)
                    self.wire.write_to_host(self.now_us, self.machine.send(self.now_us, answer))

    def _host(self, events: list[HostEvent]) -> list[HostEvent]:
        self.wire.write_to_machine(self.now_us, [event for event in events if isinstance(event, Write)])
        return [event for event in events if not isinstance(event, Write)]


def data_for(code: int, **values: Any) -> Data:
    """A data answer, checked to be one that the table can carry."""
    assert V603[code].response
    return Data(values)
