"""The machine's end of a SAS line with a handful of canned answers: something for a host to talk to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from hal.ports.links import Run
from sas_protocol.host_end import Write
from sas_protocol.line_events import (
    ACK,
    IGNORE,
    Answer,
    Data,
    Delivered,
    LineEvent,
    PollReceived,
    RawData,
    Transmit,
)
from sas_protocol.machine_end import MachineEnd
from sas_protocol.meter_answers import MeterAnswers
from sas_protocol.notices import Notice
from simulator.floor.sas_host import SasHost, SasHostEvent

IDENTITY = {
    "game_id": "EM",
    "additional_id": "000",
    "denomination": 0x02,  # 5 cents
    "max_bet": 5,
    "progressive_group": 0,
    "game_options": b"\0\0",
    "paytable_id": "PT0001",
    "base_percent": "9512",
}


@dataclass
class LineMachine:
    """Answers 1F, 54, 6F/AF and 2F (each may be switched off), acknowledges everything else it is told.

    ``refuses``: command -> the answer it gets instead.
    """

    meters: Mapping[int, int] = field(default_factory=lambda: {0x00: 1234, 0x05: 7, 0xA0: 15_000})
    refuses: Mapping[int, Answer] = field(default_factory=dict)
    address: int = 1
    notices: list[Notice] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)
    """Commands of the long polls that arrived, in order."""

    def __post_init__(self) -> None:
        self.end = MachineEnd(self.address)
        self._meters = MeterAnswers(lambda code, game: None if game else self.meters.get(code))

    def tell(self, code: int, *facts: int) -> None:
        """Queue a notice."""
        self.notices.append(Notice(len(self.heard) * 1000 + len(self.notices) + 1, code, facts))
        self.end.set_pending(tuple(self.notices))

    def receive(self, now_us: int, runs: list[Run]) -> bytes:
        """Take a host's bytes; return what the machine sends."""
        return self._obey(now_us, self.end.receive(now_us, runs))

    def tick(self, now_us: int) -> bytes:
        """Return what the machine sends because time has passed."""
        return self._obey(now_us, self.end.tick(now_us))

    def _obey(self, now_us: int, events: list[LineEvent]) -> bytes:
        sent = b""
        for event in events:
            match event:
                case Transmit(data):
                    sent += data
                case PollReceived(number=number) if not event.is_broadcast:
                    self.heard.append(event.poll.code)
                    sent += self.end.send(now_us, self._answer(event), number)
                case Delivered(notice):
                    self.notices.remove(notice)
                    self.end.set_pending(tuple(self.notices))
        return sent

    def _answer(self, event: PollReceived) -> Answer:
        code = event.poll.code
        if code in self.refuses:
            return self.refuses[code]
        match code:
            case 0x1F:
                return Data(IDENTITY)
            case 0x54:
                return Data({"version": "602", "serial": "SIM00001"})
            case 0x6F | 0xAF:
                return RawData(self._meters.extended(event.fields["game"], event.fields["meters"]))
            case 0x2F:
                return RawData(self._meters.selected(event.fields["game"], event.fields["meters"]))
        return ACK if not event.poll.is_read else IGNORE


BYTE_US = 573


def converse(
    host: SasHost,
    machine: LineMachine | None,
    for_us: int,
    on_event: Callable[[int, SasHostEvent], None] = lambda now_us, event: None,
    at: Mapping[int, Callable[[], None]] | None = None,
) -> list[SasHostEvent]:
    """Let them talk in virtual time, byte times included; return what the host heard.

    ``at``: time -> what somebody does at the machine then. ``machine`` None: a dead line.
    """
    now_us, heard = 0, []
    waiting = sorted((at or {}).items())
    while now_us < for_us:
        while waiting and waiting[0][0] <= now_us:
            waiting.pop(0)[1]()
        pending = host.tick(now_us)
        while pending:
            heard += [event for event in pending if not isinstance(event, Write)]
            for event in pending:
                on_event(now_us, event)
            writes = [event for event in pending if isinstance(event, Write)]
            pending = []
            for data, wakeup in writes:
                now_us += BYTE_US * len(data)
                answer = machine.receive(now_us, [(data, wakeup)]) if machine else b""
                if answer:
                    now_us += BYTE_US * len(answer)
                    pending += host.receive(now_us, answer)
        due_us = host.next_deadline_us()
        step_us = now_us + 1_000
        now_us = min(max(step_us, due_us if due_us is not None else for_us), for_us)
        if waiting:
            now_us = min(now_us, max(step_us, waiting[0][0]))
    return heard


def named(events: list[SasHostEvent], kind: type) -> Iterator[SasHostEvent]:
    """The events of one kind."""
    return (event for event in events if isinstance(event, kind))
