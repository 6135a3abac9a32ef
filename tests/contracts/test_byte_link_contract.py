"""What every ByteLink promises, run on each back end."""

from __future__ import annotations

import os
import socket
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hal.backends.link_urls import open_byte_link
from hal.backends.memory_links import byte_link_pair
from hal.ports.links import ByteLink, LinkError

EVERY_BYTE = bytes(range(256))
PATIENCE_SECONDS = 5.0


@dataclass
class Line:
    """A link under test, and the other end as a test drives it."""

    link: ByteLink
    send: Callable[[bytes], object]
    receive: Callable[[], bytes]
    close: Callable[[], None]


def memory_line(_: Path) -> Iterator[Line]:
    link, other = byte_link_pair("contract")
    yield Line(link, other.write, lambda: other.read(4096), link.close)


def pty_line(folder: Path) -> Iterator[Line]:
    link = open_byte_link(f"pty:{folder}/line")
    other = os.open(folder / "line", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(other)

    def receive() -> bytes:
        try:
            return os.read(other, 4096)
        except BlockingIOError:
            return b""

    yield Line(link, lambda data: os.write(other, data), receive, link.close)
    os.close(other)
    link.close()


def tcp_line(_: Path) -> Iterator[Line]:
    link = open_byte_link("tcp:127.0.0.1:0")
    other = socket.create_connection(("127.0.0.1", int(link.url.rpartition(":")[2])))
    other.setblocking(False)
    link.read(1)  # takes the client in

    def receive() -> bytes:
        try:
            return other.recv(4096)
        except BlockingIOError:
            return b""

    yield Line(link, other.sendall, receive, link.close)
    other.close()
    link.close()


@pytest.fixture(params=[memory_line, pty_line, tcp_line])
def line(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Line]:
    yield from request.param(tmp_path)


def collect(read: Callable[[], bytes], size: int) -> bytes:
    """Read until ``size`` bytes are there; real lines take their time."""
    data = b""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while len(data) < size and time.monotonic() < give_up:
        data += read()
        time.sleep(0.0005)
    return data


class TestByteLink:
    def test_silence_reads_as_nothing_at_once(self, line: Line) -> None:
        assert line.link.read(100) == b""

    def test_every_byte_value_arrives_in_order(self, line: Line) -> None:
        line.send(EVERY_BYTE)
        assert collect(lambda: line.link.read(4096), 256) == EVERY_BYTE

    def test_every_byte_value_leaves_in_order(self, line: Line) -> None:
        line.link.write(EVERY_BYTE)
        assert collect(line.receive, 256) == EVERY_BYTE

    def test_a_read_never_exceeds_its_limit_and_loses_nothing(self, line: Line) -> None:
        line.send(EVERY_BYTE)
        pieces: list[bytes] = []
        give_up = time.monotonic() + PATIENCE_SECONDS
        while sum(map(len, pieces)) < 256 and time.monotonic() < give_up:
            pieces.append(line.link.read(7))
        assert max(map(len, pieces)) <= 7
        assert b"".join(pieces) == EVERY_BYTE

    def test_writes_in_a_row_arrive_in_a_row(self, line: Line) -> None:
        for value in range(50):
            line.link.write(bytes([value]))
        assert collect(line.receive, 50) == bytes(range(50))

    def test_nothing_written_is_nothing_sent(self, line: Line) -> None:
        line.link.write(b"")
        line.link.write(b"x")
        assert collect(line.receive, 1) == b"x"

    def test_the_caller_may_reuse_its_buffer(self, line: Line) -> None:
        buffer = bytearray(b"first")
        line.link.write(buffer)  # type: ignore[arg-type]
        buffer[:] = b"XXXXX"
        assert collect(line.receive, 5) == b"first"

    def test_a_closed_link_says_so_at_every_use(self, line: Line) -> None:
        line.close()
        line.close()
        for _ in range(2):
            with pytest.raises(LinkError):
                line.link.read(1)
            with pytest.raises(LinkError):
                line.link.write(b"x")
