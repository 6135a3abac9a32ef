"""The host's end of a line marks the first byte of each message, and says in a sentence what is wrong."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hal.backends.pty_link import PtyLink
from simulator.host_line import HostLine, HostLineError, open_host_line

GENERAL_POLL = bytes.fromhex("81")
LONG_POLL = bytes.fromhex("01 54")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[PtyLink]:
    link = PtyLink(tmp_path / "sas")
    yield link
    link.close()


def send(line: HostLine, message: bytes) -> None:
    line.write(message[:1], wakeup=True)
    if len(message) > 1:
        line.write(message[1:], wakeup=False)


def heard(machine: PtyLink, count: int) -> list[tuple[int, bool | None]]:
    """Read until ``count`` bytes came: each byte with its ninth bit."""
    bytes_: list[tuple[int, bool | None]] = []
    deadline = time.monotonic() + 5
    while len(bytes_) < count and time.monotonic() < deadline:
        bytes_ += [(byte, mark) for run, mark in machine.read() for byte in run]
        time.sleep(0.0002)
    return bytes_


def test_on_a_pseudo_terminal_the_first_byte_of_each_message_is_marked(
    machine: PtyLink, tmp_path: Path
) -> None:
    line = open_host_line(f"pty:{tmp_path / 'sas'}")
    found: list[tuple[int, bool | None]] = []
    listener = threading.Thread(target=lambda: found.extend(heard(machine, 8)))
    listener.start()
    for message in (GENERAL_POLL, LONG_POLL, GENERAL_POLL, LONG_POLL, LONG_POLL):
        send(line, message)  # the pauses between are the line's own
    listener.join()
    line.close()
    sent = [
        (0x81, True), (0x01, True), (0x54, False), (0x81, True),
        (0x01, True), (0x54, False), (0x01, True), (0x54, False),
    ]  # fmt: skip
    assert [byte for byte, _ in found] == [byte for byte, _ in sent]
    # A listener that comes late, on a busy computer, may find a bit unsaid; it never finds a wrong one.
    assert all(mark in (wanted, None) for (_, mark), (_, wanted) in zip(found, sent, strict=True))
    assert sum(mark is wanted for (_, mark), (_, wanted) in zip(found, sent, strict=True)) >= len(sent) // 2


def test_an_answer_is_received_and_silence_is_no_answer(machine: PtyLink, tmp_path: Path) -> None:
    line = open_host_line(str(tmp_path / "sas"))
    assert line.receive(0.01) == b""
    machine.write(b"\x00\xff")
    assert line.receive(1.0) == b"\x00\xff"
    line.close()


@pytest.mark.parametrize(("query", "is_marked"), [("", False), ("?plain", False), ("?marked", True)])
def test_tcp_carries_the_ninth_bit_only_where_asked(query: str, is_marked: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = open_host_line(f"tcp:127.0.0.1:{server.getsockname()[1]}{query}")
        machine, _ = server.accept()
        with machine:
            send(line, b"\x01\xff")
            assert received(machine, 5 if is_marked else 2) == (
                b"\xff\x00\x01\xff\xff" if is_marked else b"\x01\xff"
            )
            machine.sendall(b"\xff\xff\x01" if is_marked else b"\xff\x01")
            assert line.receive(1.0) == b"\xff\x01"
        with pytest.raises(HostLineError, match="the machine's end closed it"):
            line.receive(1.0)
        line.close()


def received(machine: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += machine.recv(16)
    return data


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("pty:nowhere/sas", "cannot open pty:nowhere/sas: no such file or directory"),
        ("/etc/hostname", "cannot open /etc/hostname: it is no serial port"),
        ("ftp:x", "'ftp:x' is not a line a host can open; write pty:PATH"),
        ("pty:", "'pty:' is not a line a host can open"),
        ("tcp:somewhere", "needs a host and a port"),
        ("tcp:127.0.0.1:99999", "needs a host and a port"),
        ("tcp:127.0.0.1:1?loud", r"\?loud is unknown"),
        ("tcp:127.0.0.1:FREE", "nothing listens at tcp:.*: connection refused"),
    ],
)
def test_a_line_that_cannot_be_opened_is_refused_in_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(HostLineError, match=sentence) as caught:
        open_host_line(url.replace("FREE", str(free_port())))
    assert "\n" not in str(caught.value)


def test_a_port_has_one_host_at_a_time(machine: PtyLink, tmp_path: Path) -> None:
    line = open_host_line(str(tmp_path / "sas"))
    with pytest.raises(HostLineError, match="cannot open"):
        open_host_line(str(tmp_path / "sas"))
    line.close()
    open_host_line(str(tmp_path / "sas")).close()
