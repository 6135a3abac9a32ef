"""Hosts that are absent, come and go, stop reading or write strange settings; the symlink to the line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from hal.backends.errors import BackendError
from hal.backends.loop_wakeup import LoopWaiter
from hal.backends.pty_link import PtyLink
from hal.ports.links import LinkError

PATIENCE_SECONDS = 5.0


@pytest.fixture
def link(tmp_path: Path) -> Iterator[PtyLink]:
    link = PtyLink(tmp_path / "sas")
    yield link
    link.close()


@pytest.fixture
def port(link: PtyLink, tmp_path: Path) -> str:
    return str(tmp_path / "sas")


def open_plainly(port: str) -> int:
    """Open as a host that sets nothing: no settings, no flush."""
    return os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def read_now(descriptor: int, patience: float = 0.05) -> bytes:
    """Return what comes within ``patience`` seconds."""
    data = b""
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        try:
            data += os.read(descriptor, 4096)
        except BlockingIOError:
            time.sleep(0.001)
    return data


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class TestAbsentHost:
    def test_a_year_of_answers_to_nobody_neither_blocks_nor_grows(self, link: PtyLink, port: str) -> None:
        for _ in range(2000):
            link.write(bytes(100))
        host = open_plainly(port)
        assert read_now(host) == b""
        os.close(host)

    def test_nothing_unread_is_left_for_the_next_host(self, link: PtyLink, port: str) -> None:
        with serial.Serial(port, 19200) as first:
            link.read()
            link.write(b"for the first host only")
            first.write(b"\x81")
        link.read()
        second = open_plainly(port)
        assert read_now(second) == b""
        link.read()
        link.write(b"news")
        assert read_now(second) == b"news"
        os.close(second)

    def test_what_is_sent_after_a_host_left_unnoticed_is_lost_too(self, link: PtyLink, port: str) -> None:
        with serial.Serial(port, 19200):
            link.read()
        link.write(b"to nobody")  # the machine has not read since
        link.read()
        second = open_plainly(port)
        assert read_now(second) == b""
        os.close(second)

    def test_a_host_that_only_listens_hears_a_chirp(self, link: PtyLink, port: str) -> None:
        host = open_plainly(port)
        link.write(b"\x01", wakeup=True)
        assert read_now(host) == b"\x01"
        os.close(host)

    def test_a_listener_that_left_leaves_nothing_behind(self, link: PtyLink, port: str) -> None:
        host = open_plainly(port)
        link.write(b"\x01", wakeup=True)
        os.close(host)
        link.read()
        link.write(b"\x01", wakeup=True)
        second = open_plainly(port)
        assert read_now(second) == b""
        os.close(second)

    def test_the_last_words_of_a_host_are_read(self, link: PtyLink, port: str) -> None:
        with serial.Serial(port, 19200) as host:
            link.read()
            host.write(b"\x01\x54")
        assert b"".join(data for data, _ in link.read()) == b"\x01\x54"

    def test_an_absent_host_does_not_keep_the_loop_awake(self, link: PtyLink, port: str) -> None:
        waiter = LoopWaiter()
        waiter.register(link.fileno())
        with serial.Serial(port, 19200, parity="M") as host:
            host.write(b"\x81")
            time.sleep(0.01)
            link.read()
        wakes = 0
        give_up = time.monotonic() + 0.1
        while time.monotonic() < give_up:
            wakes += bool(waiter.wait(time.monotonic_ns() // 1000 + 20_000))
            link.read()
        waiter.close()
        assert wakes <= 4  # the leaving itself; a line that hangs up would count thousands

    def test_a_host_may_come_and_go_a_thousand_times(self, link: PtyLink, port: str) -> None:
        before = open_descriptors()
        for _ in range(1000):
            os.close(open_plainly(port))
            link.read()
            link.write(b"x")
        assert open_descriptors() == before


class TestSlowHost:
    def test_a_stopped_reader_gets_the_newest_message_whole(self, link: PtyLink, port: str) -> None:
        host = open_plainly(port)
        tty.setraw(host)
        link.read()
        for number in range(5000):
            link.write(number.to_bytes(4, "big") * 10)
        data = read_now(host)
        os.close(host)
        assert data.endswith((4999).to_bytes(4, "big") * 10)
        assert len(data) < 100_000
        assert data[:40] == data[:4] * 10  # not the torn end of a message that made room

    def test_the_machine_goes_on_while_its_host_is_stopped(self, link: PtyLink, port: str) -> None:
        program = "import serial, sys; h = serial.Serial(sys.argv[1], timeout=5); h.write(b'!')\n"
        program += "while (data := h.read(1)) != b'#': pass\n"
        with subprocess.Popen([sys.executable, "-c", program, port]) as host:
            give_up = time.monotonic() + PATIENCE_SECONDS
            while not link.read() and time.monotonic() < give_up:
                time.sleep(0.001)
            host.send_signal(signal.SIGSTOP)
            started = time.monotonic()
            for _ in range(3000):
                link.write(bytes(40))
                link.read()
            assert time.monotonic() - started < 2.0
            host.send_signal(signal.SIGCONT)
            link.write(b"#")
            assert host.wait(PATIENCE_SECONDS) == 0

    def test_a_flood_is_taken_in_small_turns(self, link: PtyLink, port: str) -> None:
        host = open_plainly(port)
        tty.setraw(host)
        link.read()
        sent = 0
        while sent < 3000:
            sent += os.write(host, bytes(3000 - sent))
        time.sleep(0.01)
        sizes: list[int] = []
        while sum(sizes) < sent:
            sizes.append(sum(len(data) for data, _ in link.read()))
        os.close(host)
        assert max(sizes) <= 512  # a message's worth of work for each byte, and the loop has others to serve


class TestStrangeSettings:
    def test_flags_filled_from_nothing_do_not_deafen_the_line(self, link: PtyLink, port: str) -> None:
        cmspar = 0o10000000000
        mark = cmspar | termios.PARODD
        control = [b"\0"] * 32
        host = open_plainly(port)
        for parity, wakeup in ((mark, True), (cmspar, False), (mark, True), (0, None)):
            flags = [0, 0, termios.CS8 | termios.CREAD | parity, 0, termios.B19200, termios.B19200, control]
            termios.tcsetattr(host, termios.TCSANOW, flags)
            link.read()
            os.write(host, b"\x81")
            time.sleep(0.005)
            assert link.read() == [(b"\x81", wakeup)]
        os.close(host)

    def test_a_host_that_flushes_both_ways_loses_only_its_own(self, link: PtyLink, port: str) -> None:
        with serial.Serial(port, 19200, parity="M", timeout=5) as host:
            link.read()
            for _ in range(20):
                host.reset_input_buffer()
                host.reset_output_buffer()
                link.read()
                host.write(b"\x81")
                time.sleep(0.002)
                assert link.read() == [(b"\x81", True)]
                link.write(b"\x00")
                assert host.read(1) == b"\x00"


class TestSymlink:
    def test_it_leads_to_the_terminal_while_the_line_lives(self, tmp_path: Path) -> None:
        link = PtyLink(tmp_path / "sas")
        assert str((tmp_path / "sas").readlink()) == link.terminal_path
        assert link.url == f"pty:{tmp_path / 'sas'}"
        link.close()
        assert not (tmp_path / "sas").is_symlink()
        assert list(tmp_path.iterdir()) == []

    def test_a_relative_path_is_shown_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        link = PtyLink(Path("sas"))
        assert link.url == f"pty:{tmp_path / 'sas'}"
        link.close()

    @pytest.mark.parametrize("target", ["/dev/pts/999999", "/dev/pts/ptmx", "/nowhere/at/all"])
    def test_what_a_killed_machine_left_is_replaced(self, tmp_path: Path, target: str) -> None:
        # /dev/pts/ptmx exists: as a number that is in use again by something else would.
        (tmp_path / "sas").symlink_to(target)
        link = PtyLink(tmp_path / "sas")
        assert str((tmp_path / "sas").readlink()) == link.terminal_path
        link.close()

    def test_a_file_in_the_way_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "sas").write_text("mine")
        with pytest.raises(BackendError, match="exists and is not a line of ours; remove it"):
            PtyLink(tmp_path / "sas")
        assert (tmp_path / "sas").read_text() == "mine"

    def test_a_symlink_to_something_else_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "precious").write_text("mine")
        (tmp_path / "sas").symlink_to(tmp_path / "precious")
        with pytest.raises(BackendError, match="not a line of ours"):
            PtyLink(tmp_path / "sas")
        assert (tmp_path / "sas").readlink() == tmp_path / "precious"

    def test_the_line_of_a_running_machine_is_refused_by_any_name(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "also").symlink_to(tmp_path / "data")
        link = PtyLink(tmp_path / "data" / "sas")
        for name in ("data/sas", "also/sas", "data/../data/sas"):
            with pytest.raises(BackendError, match="a machine that is running; stop it"):
                PtyLink(tmp_path / name)
        assert str((tmp_path / "data" / "sas").readlink()) == link.terminal_path
        link.close()
        PtyLink(tmp_path / "also" / "sas").close()

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BackendError, match=r"nowhere/sas: no such file or directory; choose a folder"):
            PtyLink(tmp_path / "nowhere" / "sas")

    def test_a_refusal_leaves_no_descriptor_open(self, tmp_path: Path) -> None:
        (tmp_path / "sas").write_text("mine")
        before = open_descriptors()
        for _ in range(3):
            with pytest.raises(BackendError):
                PtyLink(tmp_path / "sas")
        assert open_descriptors() == before

    def test_what_somebody_put_in_its_place_stays(self, tmp_path: Path) -> None:
        link = PtyLink(tmp_path / "sas")
        (tmp_path / "sas").unlink()
        (tmp_path / "sas").write_text("mine")
        link.close()
        assert (tmp_path / "sas").read_text() == "mine"

    def test_a_host_sees_the_line_hang_up(self, tmp_path: Path) -> None:
        link = PtyLink(tmp_path / "sas")
        host = open_plainly(str(tmp_path / "sas"))
        link.close()
        assert os.read(host, 1) == b""
        with pytest.raises(OSError, match="Input/output error"):
            os.write(host, b"x")
        os.close(host)
        with pytest.raises(LinkError, match="is closed"):
            link.read()
