"""SAS hosts as strangers wrote them: each its own way to a ninth bit, its own reads and its own bad habits.

All use pyserial as its users do, on the machine's pseudo-terminal (or a socket), and none knows how the machine works.
They share two verbs: ``general`` (one general poll, returns what was read) and ``long`` (one long poll). SAS 2.1, 18.4.
"""

from __future__ import annotations

import socket
import termios
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

import serial

T = TypeVar("T")

MARK, SPACE, NONE = serial.PARITY_MARK, serial.PARITY_SPACE, serial.PARITY_NONE
SYNC = b"\x80"
TIMEOUT_S = 0.25
"""How long a host waits for an answer. The law of the line is 20 ms; public hosts wait 50 to 3000 ms (SAS 3)."""

_TABLE = [0] * 256
for _index in range(256):
    _value = _index
    for _ in range(8):
        _value = (_value >> 1) ^ 0x8408 if _value & 1 else _value >> 1
    _TABLE[_index] = _value


def crc(data: bytes) -> bytes:
    """The two check bytes, low byte first. Written here again: a shared mistake would show nothing."""
    value = 0
    for byte in data:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value.to_bytes(2, "little")


def sealed(data: bytes) -> bytes:
    """The message with its check bytes."""
    return data + crc(data)


class ForeignHost(ABC):
    """One host program on one line.

    Args:
        port: path of the line.
        address: of the machine.
        pause_s: between the writes of one message, and before each message.

    Attributes:
        polls, misses, refusals: how many general polls; how many messages got no answer at first; how often the
            system refused to open or set up the port.
    """

    def __init__(self, port: str, address: int = 1, pause_s: float = 0.005) -> None:
        self.port = port
        self.address = address
        self.pause_s = pause_s
        self.polls = self.misses = self.refusals = 0
        self.begin()

    def begin(self) -> None:  # noqa: B027  a host that opens the port for each message has nothing to do here
        """Open what stays open."""

    def end(self) -> None:  # noqa: B027  nor here
        """Close what is open."""

    @abstractmethod
    def sync(self) -> None:
        """Let the machine see a poll that is not its own."""

    @abstractmethod
    def poll(self, size: int = 1) -> bytes:
        """One general poll; return up to ``size`` bytes of answer, ``b""`` if none came."""

    @abstractmethod
    def long(self, rest: bytes, size: int) -> bytes:
        """Send address and ``rest``; return up to ``size`` bytes of answer."""

    # --- what any careful host does with those ---

    def general(self, size: int = 1) -> bytes:
        """Ask for news. A lost answer is asked for again, with nothing between (SAS 6.3)."""
        self.sync()
        self.polls += 1
        answer = self.poll(size)
        if not answer:
            self.misses += 1
            answer = self.poll(size)
        return answer

    def news(self, limit: int = 40) -> list[int]:
        """Poll until the machine has nothing more to tell."""
        codes = []
        for _ in range(limit):
            answer = self.general()
            if answer[:1] == b"\0":
                break
            codes += answer[:1]
        return codes

    def ask(self, command: int, size: int, data: bytes | None = None) -> bytes:
        """A long poll, asked again if its answer was lost. ``data`` is what a check follows."""
        message = bytes((self.address, command))
        rest = (message if data is None else sealed(message + data))[1:]
        answer = self.long(rest, size)
        if not answer:
            self.misses += 1
            answer = self.long(rest, size)
        return answer

    def order(self, command: int, data: bytes = b"") -> bytes:
        """A command; its answer is one byte."""
        return self.ask(command, 1, data)

    def pause(self) -> None:
        time.sleep(self.pause_s)

    def insisting(self, open_port: Callable[[], T]) -> T:
        """Open or set up a port; a host that starved the machine of its turn tries again."""
        for _ in range(20):
            try:
                return open_port()
            except termios.error:
                self.refusals += 1
                time.sleep(0.02)
        return open_port()


class _OnePort(ForeignHost):
    """Hosts that keep the port open."""

    parity = NONE

    def begin(self) -> None:
        self.line = serial.Serial(self.port, 19200, parity=self.parity, timeout=TIMEOUT_S)

    def end(self) -> None:
        self.line.close()


class Toggling(_OnePort):
    """(b) Sets mark, writes the first byte, sets space, writes the rest, all on one open port."""

    parity = SPACE

    def set_parity(self, parity: str) -> None:
        def set_it() -> None:
            self.line.parity = parity

        self.insisting(set_it)

    def first(self, byte: int) -> None:
        self.set_parity(MARK)
        self.line.write(bytes((byte,)))
        self.pause()
        self.set_parity(SPACE)

    def sync(self) -> None:
        self.first(SYNC[0])
        self.pause()

    def poll(self, size: int = 1) -> bytes:
        self.first(0x80 | self.address)
        return self.line.read(size)

    def long(self, rest: bytes, size: int) -> bytes:
        self.first(self.address)
        self.line.write(rest)
        answer = self.line.read(size)
        self.pause()
        return answer


class Bare(_OnePort):
    """(c) 8N1, each message in one write; ``80`` in a write of its own.

    Without a ninth bit a line must have been idle (20 ms) for a byte to be the first of a message after strays.
    """

    def sync(self) -> None:
        self.line.write(SYNC)
        self.pause()

    def poll(self, size: int = 1) -> bytes:
        self.line.write(bytes((0x80 | self.address,)))
        return self.line.read(size)

    def long(self, rest: bytes, size: int) -> bytes:
        self.pause()
        self.line.write(bytes((self.address,)) + rest)
        answer = self.line.read(size)
        self.pause()
        return answer


class BareWithTail(Bare):
    """(h) Sends a stray 00 behind LP 54, in the same write."""

    def long(self, rest: bytes, size: int) -> bytes:
        return super().long(rest + b"\x00" if rest == b"\x54" else rest, size)


class Reopening(ForeignHost):
    """(a) Opens with mark for the first byte, closes, opens with space for the rest, reads, closes."""

    def open(self, parity: str) -> serial.Serial:
        return self.insisting(lambda: serial.Serial(self.port, 19200, parity=parity, timeout=TIMEOUT_S))

    def part(self, parity: str, data: bytes, size: int = 0) -> bytes:
        with self.open(parity) as line:
            line.write(data)
            return line.read(size) if size else b""

    def sync(self) -> None:
        self.part(MARK, SYNC)
        self.pause()

    def poll(self, size: int = 1) -> bytes:
        answer = self.part(MARK, bytes((0x80 | self.address,)), size)
        self.pause()
        return answer

    def long(self, rest: bytes, size: int) -> bytes:
        self.part(MARK, bytes((self.address,)))
        self.pause()
        answer = self.part(SPACE, rest, size)
        self.pause()
        return answer


class ReopeningToRead(Reopening):
    """(a) Closes the port behind everything that it writes, a general poll too, and opens it again to read."""

    def part(self, parity: str, data: bytes, size: int = 0) -> bytes:
        with self.open(parity) as line:
            line.write(data)
        if not size:
            return b""
        with self.open(MARK if parity == SPACE else SPACE) as line:
            return line.read(size)


class ForeignFirst(ForeignHost):
    """(d), (e) Writes a poll to another machine and the address in one go under mark, reopens with space for the rest.

    Its general polls go out without parity and with two stop bits, the foreign poll straight before them.
    """

    before = b"\x82"

    def begin(self) -> None:
        self.line = serial.Serial(timeout=TIMEOUT_S)
        self.line.port = self.port
        self.line.baudrate = 19200
        self.has_synced = False

    def reopen(self, parity: str, stop_bits: float = serial.STOPBITS_ONE) -> None:
        self.line.close()
        self.line.parity = parity
        self.line.stopbits = stop_bits
        self.insisting(self.line.open)

    def end(self) -> None:
        self.line.close()

    def sync(self) -> None:
        self.has_synced = True  # it goes with the poll

    def poll(self, size: int = 1) -> bytes:
        self.reopen(NONE, serial.STOPBITS_TWO)
        if self.has_synced:
            self.line.write(self.before)
            self.has_synced = False
        self.line.write(bytes((0x80 | self.address,)))
        answer = self.line.read(size)
        self.pause()
        return answer

    def long(self, rest: bytes, size: int) -> bytes:
        self.reopen(MARK)
        self.line.write(self.before + bytes((self.address,)))
        self.pause()
        self.reopen(SPACE)
        self.line.write(rest)
        answer = self.line.read(size)
        self.pause()
        return answer


class SyncFirst(ForeignFirst):
    """(d) The same with ``80`` before every message."""

    before = SYNC


class ShortReader(Toggling):
    """(f) Reads a part of an answer, throws the rest away, and asks again with another message between."""

    def long(self, rest: bytes, size: int) -> bytes:
        if size > 2:
            super().long(rest, size // 2)
            self.line.reset_input_buffer()
            self.sync()
        return super().long(rest, size)


class LongReader(Bare):
    """(f) Always asks for more than comes, and lets the time-out end it."""

    def begin(self) -> None:
        super().begin()
        self.line.timeout = 0.04

    def poll(self, size: int = 1) -> bytes:
        return super().poll(size + 40)

    def long(self, rest: bytes, size: int) -> bytes:
        return super().long(rest, size + 40)


class OtherSpeeds(Toggling):
    """(l) Changes the speed with each message; a pseudo-terminal has none."""

    speeds = (19200, 9600, 115200, 300, 1200)

    def sync(self) -> None:
        speed = self.speeds[self.polls % len(self.speeds)]
        self.insisting(lambda: setattr(self.line, "baudrate", speed))
        super().sync()


class OverTcp(ForeignHost):
    """A host whose line is a socket: no ninth bit, whole messages; ``port`` is ``host:port``."""

    def begin(self) -> None:
        host, _, port = self.port.partition(":")
        self.line = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def end(self) -> None:
        self.line.close()

    def _read(self, size: int) -> bytes:
        answer = b""
        try:
            while len(answer) < size:
                answer += self.line.recv(size - len(answer))
        except TimeoutError:
            pass
        return answer

    def sync(self) -> None:
        self.line.sendall(SYNC)
        self.pause()

    def poll(self, size: int = 1) -> bytes:
        self.line.sendall(bytes((0x80 | self.address,)))
        return self._read(size)

    def long(self, rest: bytes, size: int) -> bytes:
        self.pause()
        self.line.sendall(bytes((self.address,)) + rest)
        answer = self._read(size)
        self.pause()
        return answer


STYLES: dict[str, type[ForeignHost]] = {
    "reopens": Reopening,
    "reopens_to_read": ReopeningToRead,
    "toggles": Toggling,
    "bare": Bare,
    "foreign_first": ForeignFirst,
    "sync_first": SyncFirst,
    "reads_short": ShortReader,
    "reads_long": LongReader,
    "bare_with_tail": BareWithTail,
    "other_speeds": OtherSpeeds,
}
