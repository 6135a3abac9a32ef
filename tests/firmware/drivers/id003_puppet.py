"""An acceptor on strings: it shows the status it is told to show. For what a decent twin would never do."""

from __future__ import annotations

from firmware.core.facts import Fact
from firmware.core.orders import AcceptNotes
from firmware.drivers.id003_acceptor import Id003Acceptor
from hal.backends.memory_links import byte_link_pair
from hal.wire import id003
from hal.wire.id003 import Command, Status

SETTABLE = {*id003.Setting}


class Puppet:
    """The driver, and a unit whose every answer the test decides."""

    def __init__(self, status: int = Status.POWER_UP, data: bytes = b"", **driver: object) -> None:
        self.now_us = 0
        self.link, self.unit = byte_link_pair("puppet")
        self.driver = Id003Acceptor(self.link, **driver)
        self.driver.order(AcceptNotes(frozenset(id003.US_CENTS.values())), 0)
        self.status, self.data = status, data
        self.refused: set[int] = set()
        self.silent: set[int] = set()
        self.is_silent = False
        self.currency = id003.encode_currency_assign(id003.US_TABLE)
        self.heard: list[id003.Frame] = []
        self._framer = id003.Framer()

    def answer(self, frame: id003.Frame) -> bytes:
        self.heard.append(frame)
        code = frame.code
        if code == id003.ACK or code in self.silent:
            return b""
        if code in self.refused:
            return id003.encode(id003.INVALID_COMMAND)
        if code == Command.STATUS_REQUEST:
            return id003.encode(self.status, self.data)
        if code in id003.OPERATIONS:
            if code == Command.RESET:
                self.status, self.data = Status.INITIALIZE, b""
            return id003.encode(id003.ACK)
        if code == Command.CURRENCY_ASSIGN:
            return id003.encode(code, self.currency)
        if code == Command.VERSION:
            return id003.encode(code, b"U(USA)-24-SS ID003-03V201-11 10SEP08 1A2B")
        if code == Command.BOOT_VERSION:
            return id003.encode(code, b"B05 ")
        return id003.encode(code, frame.data)

    def run(self, seconds: float) -> list[Fact]:
        """Let time pass; return the facts of that time."""
        facts: list[Fact] = []
        end = self.now_us + int(seconds * 1_000_000)
        while self.now_us <= end:
            facts += self.driver.step(self.now_us)
            if not self.is_silent:
                answers = [self.answer(f) for f in self._framer.receive(self.now_us, self.unit.read(4096))]
                self.unit.write(b"".join(answers))
            facts += self.driver.step(self.now_us)
            self.now_us += 10_000
        return facts

    def show(self, status: int, data: bytes = b"", seconds: float = 0.5) -> list[Fact]:
        """Show a status for a while; return the facts of that time."""
        self.status, self.data = status, data
        return self.run(seconds)

    def ready(self) -> Puppet:
        """Start up and forget how."""
        self.run(1)
        self.show(Status.IDLING)
        self.heard.clear()
        return self

    def codes(self) -> list[int]:
        return [frame.code for frame in self.heard if frame.code != Command.STATUS_REQUEST]
