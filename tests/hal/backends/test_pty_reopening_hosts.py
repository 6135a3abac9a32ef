"""Hosts that close and open the port inside an exchange: their requests succeed, their answers are there once.

The machine's turns are put at every place between a host's system calls where a busy computer could put them.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest
import serial

from hal.backends import pty_link
from hal.backends.kept_answer import KEPT_US
from hal.backends.pty_link import PtyLink

CMSPAR = 0o10000000000
POLL, ANSWER = b"\x81", b"\x01\xff\x00\x1c\xa5"


class Time:
    """The back end's clock, set by hand."""

    now_us = 1_000_000


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(pty_link, "_now_us", lambda: time.now_us)
    return time


@pytest.fixture
def link(tmp_path: Path, time: Time) -> Iterator[PtyLink]:
    link = PtyLink(tmp_path / "sas")
    yield link
    link.close()


@pytest.fixture
def port(link: PtyLink, tmp_path: Path) -> str:
    return str(tmp_path / "sas")


def turn(link: PtyLink) -> None:
    """One turn of the machine: hear, and answer each poll."""
    if POLL in [data for data, _ in link.read()]:
        link.write(ANSWER)


class Host:
    """pyserial's system calls one by one."""

    def __init__(self, port: str) -> None:
        self.descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def flags(self) -> tuple[int, ...]:
        return struct.unpack("4I", fcntl.ioctl(self.descriptor, termios.TCGETS, bytes(60))[:16])

    def set_parity(self, parity: int) -> None:
        raw = fcntl.ioctl(self.descriptor, termios.TCGETS, bytes(60))
        flags = list(struct.unpack("4I", raw[:16]))
        flags[2] = (flags[2] & ~(CMSPAR | termios.PARODD)) | termios.PARENB | termios.CLOCAL | parity
        fcntl.ioctl(self.descriptor, termios.TCSETS, struct.pack("4I", *flags) + raw[16:])

    def flush(self) -> None:
        termios.tcflush(self.descriptor, termios.TCIFLUSH)

    def write(self, data: bytes) -> None:
        os.write(self.descriptor, data)

    def read(self) -> bytes:
        try:
            return os.read(self.descriptor, 256)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        os.close(self.descriptor)


MARK, SPACE = CMSPAR | termios.PARODD, CMSPAR


@pytest.mark.parametrize("parity", [MARK, SPACE])
def test_the_machine_may_run_while_a_host_is_still_in_its_request(
    link: PtyLink, port: str, parity: int
) -> None:
    # glibc compares the flags before and after a request that asks for PARENB, and fails if they are equal.
    for _ in range(4):
        host = Host(port)
        before = host.flags()
        host.set_parity(parity)
        turn(link)
        turn(link)
        assert host.flags() != before
        host.flush()
        turn(link)
        turn(link)
        host.write(POLL)
        turn(link)
        host.close()
        turn(link)


@pytest.mark.parametrize("sign", ["flush", "write", "close"])
def test_each_sign_of_a_host_that_is_past_its_request_prepares_the_next(
    link: PtyLink, port: str, sign: str
) -> None:
    for _ in range(3):
        with serial.Serial(port, 19200, parity="M") as host:
            turn(link)
            if sign == "write":
                host.write(POLL)
            elif sign == "flush":
                host.reset_input_buffer()
            if sign != "close":
                turn(link)
                host._reconfigure_port(force_update=True)
                if sign == "write":
                    host.write(POLL)
        turn(link)


STEPS = ("write", "close", "open", "set", "flush")
TURNS = [
    turns
    for count in range(len(STEPS) + 1)
    for turns in combinations(STEPS, count)
    # A machine that answers before the port is closed, or between opening and flush, must have seen it closed:
    # otherwise nothing tells this host from one that flushes in mid-session, which wants nothing repeated.
    if "close" in turns or not {"write", "open", "set"} & set(turns)
]


@pytest.mark.parametrize("turns", TURNS, ids="-".join)
def test_an_answer_survives_a_reopening_wherever_the_machine_gets_its_turn(
    link: PtyLink, port: str, turns: tuple[str, ...]
) -> None:
    for _ in range(3):
        host = Host(port)
        host.set_parity(MARK)
        host.flush()
        turn(link)
        for step in STEPS:
            if step == "write":
                host.write(POLL)
            elif step == "close":
                host.close()
            elif step == "open":
                host = Host(port)
            elif step == "set":
                host.set_parity(SPACE)
            else:
                host.flush()
            if step in turns:
                turn(link)
        turn(link)
        assert host.read() == ANSWER
        turn(link)
        assert host.read() == b""
        host.close()
        turn(link)


def test_a_host_known_to_reopen_is_let_come_to_its_flush(
    link: PtyLink, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pty_link, "_REOPENING_MS", 5_000)  # it ends with the flush, however busy we are
    with serial.Serial(port, 19200, parity="M") as line:
        line.write(POLL)
    turn(link)
    for _ in range(5):
        host = Host(port)
        host.set_parity(MARK)
        host.flush()
        host.write(POLL)
        assert link.read()[-1] == (POLL, True)
        host.close()
        host = Host(port)  # before we could notice; the rest comes while we are about to answer
        rest = Thread(target=lambda host=host: (host.set_parity(SPACE), host.flush()))
        rest.start()
        link.write(ANSWER)
        rest.join()
        link.read()
        assert host.read() == ANSWER
        host.write(POLL)  # this time it goes away without its answer: still in haste
        host.close()
        turn(link)


def test_a_host_that_stays_after_all_is_waited_for_once(
    link: PtyLink, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serial.Serial(port, 19200) as line:
        line.write(POLL)
    turn(link)
    monkeypatch.setattr(pty_link, "_REOPENING_MS", 200)
    host = Host(port)
    host.flush()
    started = monotonic()
    for _ in range(50):
        host.write(POLL)
        turn(link)
        assert host.read() == ANSWER
    assert monotonic() - started < 5
    host.close()


def test_a_host_that_neither_sets_nor_flushes_finds_its_answer(link: PtyLink, port: str) -> None:
    host = Host(port)
    host.write(POLL)
    host.close()
    turn(link)
    host = Host(port)
    assert host.read() == ANSWER
    host.close()


@pytest.mark.parametrize("turns", [0, 1])
def test_what_a_host_flushes_in_mid_session_does_not_come_back(link: PtyLink, port: str, turns: int) -> None:
    host = Host(port)
    host.set_parity(MARK)
    host.flush()
    for size in (0, 1, 3):
        host.write(POLL)
        turn(link)
        assert len(os.read(host.descriptor, size)) == size
        host.flush()
        for _ in range(turns):
            turn(link)
        host.set_parity(SPACE)
        turn(link)
        assert host.read() == b""
    host.close()


def test_an_answer_that_was_read_in_part_does_not_come_back(link: PtyLink, port: str) -> None:
    host = Host(port)
    host.write(POLL)
    turn(link)
    os.read(host.descriptor, 2)
    host.close()
    turn(link)
    host = Host(port)
    host.set_parity(SPACE)
    host.flush()
    turn(link)
    assert host.read() == b""
    host.close()


def test_a_host_that_says_something_else_wants_only_that_answer(link: PtyLink, port: str) -> None:
    host = Host(port)
    host.write(POLL)
    host.close()
    turn(link)
    host = Host(port)
    host.set_parity(MARK)
    host.flush()
    host.write(b"\x82")
    turn(link)
    host.write(POLL)
    turn(link)
    assert host.read() == ANSWER
    host.close()


@pytest.mark.parametrize("late_us", [KEPT_US - 1, KEPT_US + 1])
def test_a_host_that_comes_too_late_finds_nothing(link: PtyLink, port: str, time: Time, late_us: int) -> None:
    host = Host(port)
    host.write(POLL)
    host.close()
    turn(link)
    time.now_us += late_us
    turn(link)
    host = Host(port)
    host.set_parity(SPACE)
    host.flush()
    turn(link)
    assert host.read() == (ANSWER if late_us < KEPT_US else b"")
    host.close()


def test_a_chirp_is_not_kept(link: PtyLink, port: str) -> None:
    host = Host(port)
    host.write(POLL)
    host.close()
    link.read()
    link.write(b"\x01", wakeup=True)
    host = Host(port)
    host.set_parity(SPACE)
    host.flush()
    link.read()
    assert host.read() == b""
    host.close()
