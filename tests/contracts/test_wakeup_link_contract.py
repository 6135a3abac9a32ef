"""What every WakeupLink promises, run on each back end and each way it carries the ninth bit."""

from __future__ import annotations

import os
import socket
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hal.backends.link_urls import OpenWakeupLink, open_wakeup_link
from hal.backends.memory_links import MemoryLines
from hal.backends.serial_escapes import EscapeDecoder, escape
from hal.ports.links import LinkError, Run

EVERY_BYTE = bytes(range(256))
PATIENCE_SECONDS = 5.0


@dataclass
class Line:
    """A link under test, and the host's end as a test drives it.

    ``carries`` says whether the line carries the ninth bit at all when the host only writes bytes.
    """

    link: OpenWakeupLink
    send: Callable[[bytes, bool], object]
    receive: Callable[[], bytes]
    carries: bool


def memory_line(_: Path, carries: bool) -> Iterator[Line]:
    lines = MemoryLines()
    link = open_wakeup_link("memory:sas", lines)
    host = lines.wakeup_pair("sas")[1]

    def send(data: bytes, wakeup: bool) -> None:
        host.write(data, wakeup=wakeup if carries else None)

    yield Line(link, send, lambda: b"".join(data for data, _ in host.read()), carries)


def pty_line(folder: Path, carries: bool) -> Iterator[Line]:
    link = open_wakeup_link(f"pty:{folder}/line{'?marked' if carries else ''}")
    other = os.open(folder / "line", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(other)

    def receive() -> bytes:
        try:
            return os.read(other, 4096)
        except BlockingIOError:
            return b""

    yield Line(
        link, escaped(lambda data: os.write(other, data), carries), unescaped(receive, carries), carries
    )
    os.close(other)
    link.close()


def tcp_line(_: Path, carries: bool) -> Iterator[Line]:
    link = open_wakeup_link(f"tcp:127.0.0.1:0{'?marked' if carries else ''}")
    port = int(link.url.removesuffix("?marked").rpartition(":")[2])
    other = socket.create_connection(("127.0.0.1", port))
    other.setblocking(False)
    link.read()  # takes the client in

    def receive() -> bytes:
        try:
            return other.recv(4096)
        except BlockingIOError:
            return b""

    yield Line(link, escaped(other.sendall, carries), unescaped(receive, carries), carries)
    other.close()
    link.close()


def escaped(send: Callable[[bytes], object], carries: bool) -> Callable[[bytes, bool], object]:
    if not carries:
        return lambda data, wakeup: send(data)
    return lambda data, wakeup: send(escape(data, wakeup=wakeup))


def unescaped(receive: Callable[[], bytes], carries: bool) -> Callable[[], bytes]:
    if not carries:
        return receive
    decoder = EscapeDecoder()
    return lambda: b"".join(data for data, _ in decoder.feed(receive()))


@pytest.fixture(params=[memory_line, pty_line, tcp_line])
def line(request: pytest.FixtureRequest, tmp_path: Path, carries: bool) -> Iterator[Line]:
    yield from request.param(tmp_path, carries)


@pytest.fixture(params=[True, False], ids=["carries", "bare"])
def carries(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def bits(runs: list[Run]) -> list[tuple[int, bool | None]]:
    return [(byte, wakeup) for data, wakeup in runs for byte in data]


def collect(line: Line, size: int) -> list[tuple[int, bool | None]]:
    """Read until ``size`` bytes are there; real lines take their time."""
    found: list[tuple[int, bool | None]] = []
    give_up = time.monotonic() + PATIENCE_SECONDS
    while len(found) < size and time.monotonic() < give_up:
        found += bits(line.link.read())
        time.sleep(0.0005)
    return found


def collect_sent(line: Line, size: int) -> bytes:
    data = b""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while len(data) < size and time.monotonic() < give_up:
        data += line.receive()
        time.sleep(0.0005)
    return data


class TestWakeupLink:
    def test_silence_reads_as_no_runs_at_once(self, line: Line) -> None:
        assert line.link.read() == []

    def test_a_message_arrives_with_its_ninth_bits_or_with_none_at_all(self, line: Line) -> None:
        line.send(b"\x01", True)
        line.send(b"\x54\xff\x00\x01", False)
        marked, plain = (True, False) if line.carries else (None, None)
        expected = [(0x01, marked), (0x54, plain), (0xFF, plain), (0x00, plain), (0x01, plain)]
        assert collect(line, 5) == expected

    @pytest.mark.parametrize("wakeup", [True, False])
    def test_every_byte_value_arrives_in_order(self, line: Line, wakeup: bool) -> None:
        line.send(EVERY_BYTE, wakeup)
        expected = wakeup if line.carries else None
        assert collect(line, 256) == [(byte, expected) for byte in range(256)]

    @pytest.mark.parametrize("wakeup", [True, False])
    def test_every_byte_value_leaves_in_order(self, line: Line, wakeup: bool) -> None:
        line.link.write(EVERY_BYTE, wakeup=wakeup)
        assert collect_sent(line, 256) == EVERY_BYTE

    def test_no_run_is_empty(self, line: Line) -> None:
        line.send(b"\x81", True)
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not (runs := line.link.read()) and time.monotonic() < give_up:
            pass
        assert [len(data) for data, _ in runs] == [1]
        assert line.link.read() == []

    def test_its_url_opens_a_line_of_the_same_kind(self, line: Line) -> None:
        scheme = line.link.url.partition(":")[0]
        assert scheme in ("memory", "pty", "tcp")
        assert line.link.url.endswith("?marked") == (line.carries and scheme != "memory")

    def test_a_closed_link_says_so_at_every_use(self, line: Line) -> None:
        line.link.close()
        line.link.close()
        for _ in range(2):
            with pytest.raises(LinkError):
                line.link.read()
            with pytest.raises(LinkError):
                line.link.write(b"x")
