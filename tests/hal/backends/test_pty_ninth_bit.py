"""The ninth bit on a pseudo-terminal, with unmodified pyserial hosts in processes of their own."""

from __future__ import annotations

import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import serial

from hal.backends.loop_wakeup import LoopWaiter
from hal.backends.pty_link import NinthBit, PtyLink

HOST_PROGRAM = Path(__file__).with_name("pty_host.py")
_HOST = runpy.run_path(str(HOST_PROGRAM))
frame, REST_SIZE = _HOST["frame"], _HOST["REST_SIZE"]

FRAMES = 200
PAUSE_MS = 5
STALL_US = 3_000  # well within the host's pause, so that one setting's bytes are read before the next
BYTES_PER_STALL = 16  # two messages

Bits = list[tuple[int, bool | None]]


@pytest.fixture
def link(tmp_path: Path) -> Iterator[PtyLink]:
    link = PtyLink(tmp_path / "sas")
    yield link
    link.close()


def listen(link: PtyLink, style: str, tmp_path: Path, frames: int) -> tuple[Bits, int]:
    """Run the host; return every byte with its ninth bit, and how often we were kept from listening."""
    command = [sys.executable, str(HOST_PROGRAM), style]
    command += [str(tmp_path / "sas"), str(frames), str(PAUSE_MS)]
    waiter = LoopWaiter()
    waiter.register(link.fileno())
    bits: Bits = []
    stalls = 0
    with subprocess.Popen(command) as host:
        is_running = True
        while is_running:
            is_running = host.poll() is None
            started_us = time.monotonic_ns() // 1000
            waiter.wait(started_us + 1000)
            bits += [(byte, wakeup) for data, wakeup in link.read() for byte in data]
            stalls += time.monotonic_ns() // 1000 - started_us > STALL_US
        assert host.returncode == 0, "a request of the host failed"
    waiter.close()
    return bits, stalls


def assert_recovered(bits: Bits, stalls: int, expected: list[tuple[int, bool]]) -> None:
    """All bytes there, and every ninth bit right but those that a stalled reader saw in one heap."""
    assert [byte for byte, _ in bits] == [byte for byte, _ in expected]
    amiss = [index for index, pair in enumerate(zip(bits, expected, strict=True)) if pair[0] != pair[1]]
    assert len(amiss) <= stalls * BYTES_PER_STALL, f"bytes {amiss} of {len(bits)} after {stalls} stalls"


@pytest.mark.parametrize("style", ["toggle", "reopen", "polls"])
def test_mark_and_space_parity_become_the_ninth_bit(link: PtyLink, tmp_path: Path, style: str) -> None:
    frames = FRAMES if style != "polls" else FRAMES // 2
    expected: list[tuple[int, bool]] = []
    for number in range(frames):
        first, rest = frame(number)
        expected += [(0x82, True)] * (style == "polls")
        expected += [(first[0], True), *((byte, False) for byte in rest)]
    assert_recovered(*listen(link, style, tmp_path, frames), expected)


def test_a_host_without_parity_leaves_the_bit_to_be_inferred(link: PtyLink, tmp_path: Path) -> None:
    bits, _ = listen(link, "bare", tmp_path, 20)
    assert len(bits) == 20 * (1 + REST_SIZE)
    assert {wakeup for _, wakeup in bits} == {None}


@pytest.fixture
def waiter(link: PtyLink) -> Iterator[LoopWaiter]:
    waiter = LoopWaiter()
    waiter.register(link.fileno())
    yield waiter
    waiter.close()


def exchange(link: PtyLink, host: serial.Serial, data: bytes) -> list[tuple[bytes, bool | None]]:
    """Let the machine see the host's settings, then send ``data`` and return what it reads."""
    link.read()
    host.write(data)
    runs: list[tuple[bytes, bool | None]] = []
    give_up = time.monotonic() + 5
    while sum(len(part) for part, _ in runs) < len(data) and time.monotonic() < give_up:
        runs += link.read()
    return runs


@pytest.mark.parametrize("first", ["M", "S", "N"])
@pytest.mark.parametrize("second", ["M", "S", "N"])
def test_reopening_with_any_parity_never_fails_and_counts(
    link: PtyLink, tmp_path: Path, first: str, second: str
) -> None:
    meaning = {"M": True, "S": False, "N": None}
    for parity in (first, second, second, first):
        with serial.Serial(str(tmp_path / "sas"), 19200, parity=parity) as host:
            assert exchange(link, host, b"\x81") == [(b"\x81", meaning[parity])]
        link.read()


@pytest.mark.parametrize("pair", list(pairwise("MMSSNNM")))
def test_asking_in_place_for_what_is_set_never_fails(
    link: PtyLink, tmp_path: Path, pair: tuple[str, str]
) -> None:
    meaning = {"M": True, "S": False, "N": None}
    with serial.Serial(str(tmp_path / "sas"), 19200, parity=pair[0]) as host:
        link.read()
        for parity in pair * 3:
            host.parity = parity
            assert exchange(link, host, b"\x81") == [(b"\x81", meaning[parity])]


@pytest.mark.parametrize("baud", [300, 1200, 9600, 19200, 38400, 115200, 921600])
def test_any_speed_will_do(link: PtyLink, tmp_path: Path, baud: int) -> None:
    with serial.Serial(str(tmp_path / "sas"), baud, parity="M", timeout=5) as host:
        assert exchange(link, host, b"\x81") == [(b"\x81", True)]
        link.write(b"\x00")
        assert host.read(1) == b"\x00"


def test_two_stop_bits_without_parity_are_no_mark(link: PtyLink, tmp_path: Path) -> None:
    with serial.Serial(str(tmp_path / "sas"), 19200, stopbits=2) as host:
        assert exchange(link, host, b"\x81") == [(b"\x81", None)]


def test_the_settings_of_a_host_that_left_say_nothing_about_the_next(link: PtyLink, tmp_path: Path) -> None:
    with serial.Serial(str(tmp_path / "sas"), 19200, parity="M") as host:
        assert exchange(link, host, b"\x81") == [(b"\x81", True)]
    link.read()
    # A host that sets nothing at all: the kernel still remembers the mark parity.
    with (tmp_path / "sas").open("wb", buffering=0) as quiet_host:
        quiet_host.write(b"\x81")
        give_up = time.monotonic() + 5
        while not (runs := link.read()) and time.monotonic() < give_up:
            pass
    assert runs == [(b"\x81", None)]


def test_plain_ignores_parity(tmp_path: Path) -> None:
    link = PtyLink(tmp_path / "sas", NinthBit.PLAIN)
    with serial.Serial(str(tmp_path / "sas"), 19200, parity="M") as host:
        assert exchange(link, host, b"\x81") == [(b"\x81", None)]
    link.close()


def test_marked_takes_escapes_and_ignores_parity(tmp_path: Path) -> None:
    link = PtyLink(tmp_path / "sas", NinthBit.MARKED)
    with serial.Serial(str(tmp_path / "sas"), 19200, parity="M", timeout=5) as host:
        runs = exchange(link, host, b"")
        host.write(b"\xff\x00\x01\x72\xff\xff")
        give_up = time.monotonic() + 5
        while sum(len(data) for data, _ in runs) < 3 and time.monotonic() < give_up:
            runs += link.read()
        assert runs == [(b"\x01", True), (b"\x72\xff", False)]
        link.write(b"\x01\xff")
        link.write(b"\x01", wakeup=True)
        assert host.read(6) == b"\x01\xff\xff\xff\x00\x01"
    link.close()


def test_a_hosts_half_escape_is_not_finished_by_the_next_host(tmp_path: Path) -> None:
    link = PtyLink(tmp_path / "sas", NinthBit.MARKED)
    with serial.Serial(str(tmp_path / "sas"), 19200) as host:
        host.write(b"\xff\x00")
        time.sleep(0.01)
        link.read()
    link.read()
    with serial.Serial(str(tmp_path / "sas"), 19200) as host:
        assert exchange(link, host, b"\x01") == [(b"\x01", False)]
    link.close()
