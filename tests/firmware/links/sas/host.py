"""A host on a memory line, and the machine behind it: only as much of the loop as a SAS line needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from firmware.core import router
from firmware.core.commands import Event, PowerUp
from firmware.core.effects import Effect, TellHost
from firmware.core.facts import AcceptorReady
from firmware.core.state import Machine, Now, Rules, new_machine
from firmware.links.sas.line import SasLink
from firmware.links.sas.view import SasIdentity
from hal.backends.memory_links import wakeup_link_pair
from sas_protocol.frames import decode_answer, encode_request
from sas_protocol.longpolls import LongPoll
from tests.firmware.core.bench import dial_rules

IDENTITY = SasIdentity("602", "SN0001", "EM", "000")
ALL_DUTIES = ("general", "validation", "aft", "legacy_bonus", "progressive", "game_events")
WALL_US = 1_773_569_472_000_000  # 2026-03-15 10:11:12


class Host:
    """One line at address 1.

    Args:
        machine: the state to begin with; a new powered-up one if left out.
        identity, duties: as of ``SasLink``.
        marked: the host's bytes carry the ninth bit.
        is_quick: the core answers at once; else events gather in ``waiting`` until ``work``.
    """

    def __init__(
        self,
        machine: Machine | None = None,
        *,
        rules: Rules | None = None,
        identity: SasIdentity = IDENTITY,
        duties: tuple[str, ...] = ALL_DUTIES,
        marked: bool = True,
        is_quick: bool = True,
        **settings: int,
    ) -> None:
        self.now_us = 0
        self.wall_us = WALL_US
        self.marked = marked
        self.is_quick = True
        self.waiting: list[Event] = []
        self.effects: list[Effect] = []
        port, self.port = wakeup_link_pair("test")
        self.link = SasLink(0, port, 1, "reference", duties, identity, lambda: self.wall_us, 0)
        self.machine = machine or new_machine(rules or dial_rules(), settings)
        self.link.refresh(self.machine)
        if machine is None:
            for event in (PowerUp(True), AcceptorReady()):
                self.happen(event)
            self.clear_queue()
        for frame in (b"\x80", b"\x81", b"\x80"):  # synchronise (SAS 6.1), bring the link up, acknowledge
            self.send(frame)
        self.is_quick = is_quick
        self.effects.clear()

    def happen(self, *events: Event) -> None:
        """Let the core take events; its new state is durable at once."""
        for event in events:
            turn = router.step(self.machine, event, Now(self.now_us, self.wall_us))
            self.effects += turn.effects
            self.set(turn.machine)
            for effect in turn.effects:
                if isinstance(effect, TellHost):
                    self.link.tell(self.now_us, effect.answer)

    def set(self, machine: Machine) -> None:
        self.machine = machine
        self.link.refresh(machine)

    def clear_queue(self) -> None:
        self.set(
            replace(self.machine, host_queues=tuple(replace(q, pending=()) for q in self.machine.host_queues))
        )

    def work(self) -> None:
        """Let the core take what is waiting."""
        events, self.waiting = self.waiting, []
        self.happen(*events)

    def step(self, after_us: int = 0) -> bytes:
        """Let time pass and the line work; return what came back."""
        self.now_us += after_us
        self.waiting += self.link.step(self.now_us)
        if self.is_quick:
            self.work()
        return b"".join(data for data, _ in self.port.read())

    def send(self, frame: bytes, after_us: int = 40_000) -> bytes:
        self.now_us += after_us
        self.port.write(frame[:1], wakeup=True if self.marked else None)
        if len(frame) > 1:
            self.port.write(frame[1:], wakeup=False if self.marked else None)
        return self.step()

    def hex(self, frame: str) -> str:
        """Send a frame written in hexadecimal, after a foreign poll, and return the answer written so."""
        self.send(b"\x80")
        return self.send(bytes.fromhex(frame)).hex(" ").upper()

    def ask(self, poll: LongPoll, values: Mapping[str, Any] | None = None) -> dict[str, Any] | bytes:
        """Send a long poll after a foreign poll; a data answer decoded, anything shorter as it is."""
        self.send(b"\x80")
        answer = self.send(encode_request(poll, 1, values))
        return dict(decode_answer(poll, 1, answer)) if len(answer) > 2 else answer

    def poll(self) -> bytes:
        """One general poll; a foreign one before it acknowledges what came last."""
        self.send(b"\x80")
        return self.send(b"\x81")
