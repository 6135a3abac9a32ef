"""A real ``egm run`` polled by hosts that others wrote: every way to a ninth bit, every bad habit of SAS 18.4.

What each must see: meters as they are over HTTP, every event once and in order, a lost answer again. What no host may
bring about: anything done on a damaged frame or one for another machine, anything done twice, a line that stays out of
step. Answers that a busy test computer lost are counted and asked for again, as hosts do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
import serial

from tests.sim.egm_process import EgmProcess
from tests.sim.foreign_hosts import (
    STYLES,
    SYNC,
    Bare,
    ForeignHost,
    OverTcp,
    Reopening,
    ReopeningToRead,
    ShortReader,
    Toggling,
    crc,
    sealed,
)

DOOR_OPEN, DOOR_CLOSED, GAME_START, GAME_END, NOTE_20 = 0x11, 0x12, 0x7E, 0x7F, 0x4A
GAMES = [GAME_START, GAME_END]

FULL = bool(os.environ.get("FOREIGN_HOSTS_FULL"))
"""Every style at both pauses; without it the ones that differ most."""

MACHINES = {
    "main": (),
    "last_address": ("--sas-address", "127"),
    "on_tcp": ("--sas-address", "2", "--sas", "tcp:127.0.0.1:0"),
    "unheard": ("--sas-address", "9"),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, EgmProcess]]:
    """All at once, so that one's self-tests and silence pass while another is polled."""
    running: dict[str, EgmProcess] = {}
    try:
        for name, options in MACHINES.items():
            data = tmp_path_factory.mktemp(name) / "data"
            running[name] = EgmProcess(data, "--seed", "7", "--headless", *options)
        yield running
    finally:
        codes = {name: machine.process.poll() for name, machine in running.items()}
        stopped = [machine.stop() for machine in running.values() if machine.process.poll() is None]
        logs = "".join((machine.data.parent / "stderr.txt").read_text() for machine in running.values())
    failures = logs.partition("Traceback")[2]
    assert not failures
    assert set(codes.values()) == {None}, "a machine ended"
    assert set(stopped) == {0}


@pytest.fixture(scope="module")
def egm(machines: dict[str, EgmProcess]) -> EgmProcess:
    machine = machines["main"]
    machine.wait_playable()
    assert machine.hand("bill", cents=2000)["result"] == "stacked"
    host = Toggling(line(machine))
    assert host.news()[-1] == NOTE_20
    host.end()
    return machine


def line(egm: EgmProcess) -> str:
    return str(egm.data / "sas")


def bcd(answer: bytes) -> int:
    return int(answer.hex())


def checked(answer: bytes, address: int, command: int) -> bytes:
    """The data of an answer whose frame is right."""
    assert answer[:2] == bytes((address, command)), answer.hex(" ")
    assert crc(answer[:-2]) == answer[-2:], answer.hex(" ")
    return answer[2:-2]


def assert_meters_agree(egm: EgmProcess, host: ForeignHost) -> None:
    """Single polls, a group poll and two extended polls, against the panel. One credit is one cent here."""
    meters, state = egm.get("meters"), egm.get("state")
    coin_in, coin_out = meters["coin_in"]["value"], meters["sas_total_coin_out"]["value"]
    assert bcd(checked(host.ask(0x11, 8), host.address, 0x11)) == coin_in
    assert bcd(checked(host.ask(0x12, 8), host.address, 0x12)) == coin_out
    assert bcd(checked(host.ask(0x1A, 8), host.address, 0x1A)) == state["credits"]["credits"]
    group = checked(host.ask(0x1C, 36), host.address, 0x1C)
    assert [bcd(group[at : at + 4]) for at in (0, 4)] == [coin_in, coin_out]
    for command in (0x6F, 0xAF):
        wanted = bytes.fromhex("06 0000 0000 0100")
        body = checked(host.ask(command, 21, wanted), host.address, command)
        assert body[:3] == bytes.fromhex("10 0000"), body.hex(" ")
        assert (body[3:6], body[10:13]) == (bytes.fromhex("0000 04"), bytes.fromhex("0100 04"))
        assert (bcd(body[6:10]), bcd(body[13:17])) == (coin_in, coin_out)
    version = checked(host.ask(0x54, 16), host.address, 0x54)
    assert version == b"\x0b602SIM00001"


def assert_never(egm: EgmProcess, event: str, after: int) -> None:
    """No such event came after that sequence number."""
    answer = egm.http.get("/api/wait", params={"event": event, "after": str(after), "timeout": "0.05"})
    assert answer.status_code == 408, answer.text


def sequence(egm: EgmProcess) -> int:
    """The latest sequence number: that of a hand that moves nothing."""
    number = egm.hand("key", key="reset", on=False)["sequence"]
    assert isinstance(number, int)
    return number


def assert_once(egm: EgmProcess, event: str, after: int) -> int:
    """Exactly one such event came; return its sequence number."""
    number = egm.wait(event, after, timeout=2)["sequence"]
    assert_never(egm, event, number)
    assert isinstance(number, int)
    return number


def assert_few_lost(host: ForeignHost) -> None:
    """A host that is lost more than this is not unlucky but misunderstood."""
    assert host.misses <= 3 + host.polls // 8, f"{host.misses} answers missed in {host.polls} polls"


def in_parallel(work: Callable[[], None], meanwhile: Callable[[], None]) -> None:
    """Do ``work`` in a thread and ``meanwhile`` again and again here; failures of both count."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=guarded)
    thread.start()
    while thread.is_alive():
        meanwhile()
    thread.join()
    if failures:
        raise failures[0]


# --- silence -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def last_address(machines: dict[str, EgmProcess]) -> EgmProcess:
    return machines["last_address"]


@pytest.fixture(scope="module")
def on_tcp(machines: dict[str, EgmProcess]) -> EgmProcess:
    return machines["on_tcp"]


def tcp_line(egm: EgmProcess) -> str:
    (url,) = egm.ready["sas"]
    return str(url).removeprefix("tcp:")


def test_silence_shorter_than_five_seconds_is_none_and_longer_brings_a_chirp_that_names_the_address(
    last_address: EgmProcess, on_tcp: EgmProcess
) -> None:
    """One machine is left alone for a little less than five seconds, the other for a little more.

    First of all tests: meanwhile the self-tests of the machines end.
    """
    short = Bare(line(last_address), address=127)
    long = OverTcp(tcp_line(on_tcp), address=2)
    for host in (short, long):
        host.news()
        host.sync()
    quiet_since = time.monotonic()
    time.sleep(4.8)
    assert short.poll() == b"\0"  # still in step; nothing was chirped before it
    long.line.settimeout(2.0)
    assert long._read(1) == b"\x02"
    assert 4.9 < time.monotonic() - quiet_since < 6
    chirp_started = time.monotonic()
    assert long._read(2) == b"\x02\x02"
    assert 0.3 < time.monotonic() - chirp_started < 1.0
    long.line.settimeout(0.25)
    assert long.poll() == b""  # out of step until it hears another address
    assert long.news() == [0x20]
    assert_meters_agree(on_tcp, long)
    long.end()
    short.end()


# --- every style ----------------------------------------------------------------------------------------------


SESSIONS = [(style, 1) for style in STYLES]
SESSIONS += [(style, 5) for style in STYLES if FULL or style == "reopens"]


@pytest.mark.parametrize(("style", "pause_ms"), SESSIONS)
def test_a_session_is_seen_whole(egm: EgmProcess, style: str, pause_ms: int) -> None:
    host = STYLES[style](line(egm), pause_s=pause_ms / 1000)
    try:
        host.news()
        assert_meters_agree(egm, host)
        codes: list[int] = []

        def hands() -> None:
            egm.hand("door", door="main", open=True)
            time.sleep(0.15)
            egm.hand("door", door="main", open=False)
            egm.wait_playable()
            egm.play()

        in_parallel(hands, lambda: codes.extend(code for code in host.general()[:1] if code))
        codes += host.news()
        assert codes == [DOOR_OPEN, DOOR_CLOSED, *GAMES]
        assert_meters_agree(egm, host)

        before = sequence(egm)
        for command, event in ((0x01, "play_disabled"), (0x02, "play_enabled")):
            assert host.order(command) == b"\x01"
            assert_once(egm, event, before)
            assert egm.get("state")["playable"] is (command == 0x02)
        assert host.news() == []
        assert_few_lost(host)
    finally:
        host.end()
        print(f"{host.polls} polls, {host.misses} answers missed, {host.refusals} times no port")


@pytest.mark.parametrize("style", STYLES if FULL else ("toggles", "foreign_first"))
def test_nothing_is_done_on_what_is_damaged_or_for_others(egm: EgmProcess, style: str) -> None:
    host = STYLES[style](line(egm), pause_s=0.001)
    host.news()
    before = sequence(egm)
    shutdown, acceptor_off = sealed(b"\x01\x01"), sealed(b"\x01\x07")
    for frame in (shutdown, acceptor_off):
        for number in range(1, len(frame)):
            for bit in (0, 5):
                damaged = bytearray(frame)
                damaged[number] ^= 1 << bit
                if number > 1:  # a damaged command may be another command; a damaged check never is
                    answer = host.long(bytes(damaged[1:]), 1)
                    assert answer in (b"\x81", b"")
        host.sync()
        host.long(frame[1:-2] + frame[:-3:-1], 1)  # check bytes in the wrong order
    time.sleep(0.03)
    host.address = 2
    for command in (0x01, 0x06, 0x07):
        assert host.long(sealed(bytes((2, command)))[1:], 1) == b""
    assert host.poll() == b""
    host.address = 1
    time.sleep(0.03)
    assert_meters_agree(egm, host)
    assert egm.get("state")["playable"]
    for event in ("play_disabled", "acceptor_disabled", "acceptor_enabled", "clock_set"):
        assert_never(egm, event, before)
    host.end()


@pytest.mark.parametrize("style", ["reopens", "toggles", "bare", "foreign_first"])
def test_a_command_repeated_is_answered_again_and_done_once(egm: EgmProcess, style: str) -> None:
    host = STYLES[style](line(egm), pause_s=0.002)
    host.news()
    for command, event in ((0x07, "acceptor_disabled"), (0x06, "acceptor_enabled")):
        before = sequence(egm)
        rest = sealed(bytes((1, command)))[1:]
        # On a busy computer the first may come too late to be sent; then the repeat gets it (design.md law 2).
        answers = [host.long(rest, 1) for _ in range(2)]
        if not all(answers):
            answers = [*filter(None, answers), host.long(rest, 1)]
        assert answers == [b"\x01", b"\x01"]
        assert_once(egm, event, before)
    host.end()


# --- habits ---------------------------------------------------------------------------------------------------


def test_a_host_that_only_repeats_its_general_poll_takes_no_event_away(egm: EgmProcess) -> None:
    host = Bare(line(egm))
    host.news()
    egm.hand("door", door="main", open=True)
    time.sleep(0.2)
    host.sync()
    answers = [host.poll() for _ in range(4)]
    # Answered, the same bytes once more, then silence: the host has given up. Then anew (SAS 6.3).
    assert answers == [b"\x11", b"\x11", b"", b"\x11"]
    egm.hand("door", door="main", open=False)
    time.sleep(0.2)
    assert host.general() == b"\x12"  # 80 went before it
    assert host.news() == []
    host.end()
    egm.wait_playable()


def test_a_host_with_a_glance_and_a_flush_stays_in_step(egm: EgmProcess) -> None:
    host = ShortReader(line(egm), pause_s=0.001)
    host.news()
    for _ in range(20):
        assert Toggling.long(host, b"\x1c", 3) == b"\x01\x1c\x00"
        host.line.reset_input_buffer()
        assert host.general() == b"\0"
    assert_meters_agree(egm, host)
    host.end()


@pytest.mark.parametrize("style", [Bare, Toggling])
def test_a_stray_byte_behind_a_version_poll_costs_no_poll(
    egm: EgmProcess, style: type[Bare | Toggling]
) -> None:
    host = style(line(egm), pause_s=0.001)
    host.news()
    for _ in range(15):
        version = host.long(b"\x54\x00", 16)
        assert checked(version, 1, 0x54) == b"\x0b602SIM00001"
        assert host.general() == b"\0"
    host.end()


def test_a_flood_of_polls_is_answered_one_by_one(egm: EgmProcess) -> None:
    host = Bare(line(egm), pause_s=0.002)
    host.news()
    host.line.timeout = 1.0
    late: list[float] = []
    games = Thread(target=egm.play)
    games.start()
    for number in range(100):
        due = time.monotonic() + (0.040 if number < 25 else 0.003)
        host.sync()
        asked = time.perf_counter()
        answer = host.poll()
        late.append((time.perf_counter() - asked) * 1000)
        assert len(answer) == 1
        time.sleep(max(0.0, due - time.monotonic()))
    games.join()
    late.sort()
    print(f"answers: p50 {late[50]:.2f} ms, p99 {late[98]:.2f} ms, slowest {late[-1]:.2f} ms")
    host.news()
    assert_meters_agree(egm, host)
    host.end()


HALVES = {
    "address": b"\x01",
    "half a command": b"\x01\x01\x51",
    "half a meter poll": b"\x01\x6f\x06\x00",
    "a broadcast": b"\x00\x7f\x01",
    "a foreign message": b"\x02\x72",
    "the longest": b"\x01\x72\xff",
}


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES.keys())
def test_after_a_host_that_died_in_mid_message_the_next_is_understood_at_once(
    egm: EgmProcess, half: bytes
) -> None:
    before = sequence(egm)
    for next_style in (Toggling, Bare, Reopening):
        with serial.Serial(line(egm), parity="M") as dying:  # what a killed host leaves: its port is closed
            dying.write(half)
        time.sleep(0.025)
        host = next_style(line(egm), pause_s=0.002)
        assert host.general() == b"\0"
        for command, event in ((0x07, "acceptor_disabled"), (0x06, "acceptor_enabled")):
            after = sequence(egm)
            assert host.order(command) == b"\x01"
            assert_once(egm, event, after)
        host.end()
    assert_never(egm, "play_disabled", before)


FLOODS = {
    "polls": b"\x80\x81\x01\x1c" * 250,
    "commands": sealed(b"\x01\x07") + SYNC + sealed(b"\x01\x06") + SYNC,
    "noise": bytes(range(256)),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
def test_a_host_that_writes_without_end_and_is_killed_costs_nothing(egm: EgmProcess, flood: bytes) -> None:
    program = f"import serial; h = serial.Serial({line(egm)!r}, parity='M')\nwhile True: h.write({flood!r})"
    with serial.Serial(line(egm)) as hasty:
        hasty.write(b"\x81")  # and away: from now on the machine expects such a host
    with subprocess.Popen([sys.executable, "-c", program]) as host:
        until = time.monotonic() + 1.0
        slowest = 0.0
        while time.monotonic() < until:
            asked = time.monotonic()
            egm.get("state")
            slowest = max(slowest, time.monotonic() - asked)
        host.kill()
    assert host.returncode == -signal.SIGKILL
    assert slowest < 1.0, "the line kept the machine from everything else"
    time.sleep(0.6)  # what the kernel still holds of it is heard and answered
    after = Bare(line(egm))
    for command in (0x02, 0x06):
        assert after.order(command) == b"\x01"  # whatever the noise may have said
    assert after.order(0x0E, b"\0") == b"\x01"
    after.news()
    assert_meters_agree(egm, after)
    after.end()
    egm.wait_playable()


def test_a_message_cut_by_a_new_host_never_completes(egm: EgmProcess) -> None:
    before = sequence(egm)
    for first, rest in ((b"\x01\x01\x51", b"\x08"), (b"\x01", b"\x01\x51\x08")):
        with serial.Serial(line(egm), parity="N") as host:
            host.write(first)
        time.sleep(0.25)  # longer than any pause inside a message
        with serial.Serial(line(egm), parity="N") as host:
            host.write(rest)
        time.sleep(0.03)
    assert_never(egm, "play_disabled", before)


def test_a_host_restarts_again_and_again(egm: EgmProcess) -> None:
    for pause_s in (0.0, 0.02, 2.0 if FULL else 0.3):
        host = Toggling(line(egm))
        assert host.news() == []
        assert bcd(checked(host.ask(0x11, 8), 1, 0x11)) == egm.meter("coin_in")
        host.end()
        time.sleep(pause_s)


def test_another_process_may_open_the_port_at_the_same_time(egm: EgmProcess) -> None:
    program = "import serial, sys, time\n"
    program += "for _ in range(20):\n"
    program += f"    with serial.Serial({line(egm)!r}) as other:\n"
    program += "        time.sleep(0.02)\n"
    host = Bare(line(egm))
    host.news()
    with subprocess.Popen([sys.executable, "-c", program]) as other:
        while other.poll() is None:
            # It flushes what it did not ask for, so some answers are lost; none may be wrong.
            assert host.general() in (b"\0", b"")
            answer = host.ask(0x11, 8)
            if len(answer) == 8:
                assert bcd(checked(answer, 1, 0x11)) == egm.meter("coin_in")
            host.line.reset_input_buffer()
    assert other.returncode == 0
    time.sleep(0.03)
    assert_meters_agree(egm, host)
    host.end()


# --- real-time reporting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", [Toggling, Bare, Reopening] if FULL else [Reopening])
def test_real_time_events_go_before_long_polls_which_then_must_be_asked_again(
    egm: EgmProcess, style: type[ForeignHost]
) -> None:
    host = style(line(egm))
    host.news()
    assert host.order(0x0E, b"\x01") == b"\x01"
    idle = bytes.fromhex("01 FF 00 1C A5")
    assert host.general(5) == idle
    before = sequence(egm)
    egm.hand("door", door="main", open=True)
    time.sleep(0.2)
    door = bytes.fromhex("01 FF 11 14 A4")
    # The event instead of the command, and again for the same command; then acknowledged by a sync poll.
    shutdown = sealed(b"\x01\x01")[1:]
    assert [host.long(shutdown, 5) for _ in range(2)] == [door, door]
    assert_never(egm, "play_disabled", before)
    host.sync()
    assert host.long(shutdown, 1) == b"\x01"
    assert_once(egm, "play_disabled", before)
    host.sync()
    assert host.order(0x02) == b"\x01"
    egm.hand("door", door="main", open=False)
    egm.wait_playable()
    assert host.general(5) == bytes([1, 0xFF, 0x12]) + crc(b"\x01\xff\x12")
    coin_in = egm.meter("coin_in")
    egm.play()
    started = host.ask(0x11, 15)  # its place is taken by the start of a game
    assert started[:3] == b"\x01\xff\x7e"
    assert crc(started[:-2]) == started[-2:]
    wager = bcd(started[3:5])
    assert bcd(started[5:9]) == coin_in + wager == egm.meter("coin_in")
    ended = host.general(9)
    assert ended[:3] == b"\x01\xff\x7f"
    assert crc(ended[:-2]) == ended[-2:]
    assert host.general(5) == idle
    assert bcd(checked(host.ask(0x11, 8), 1, 0x11)) == coin_in + wager
    assert host.order(0x0E, b"\x00") == b"\x01"
    assert host.news() == []
    host.end()


# --- other addresses, other lines -------------------------------------------------------------------------------


@pytest.mark.parametrize("style", [Toggling, Bare, Reopening, ReopeningToRead])
def test_the_highest_address_is_an_address(last_address: EgmProcess, style: type[ForeignHost]) -> None:
    host = style(line(last_address), address=127)
    host.news()
    assert_meters_agree(last_address, host)
    host.address = 1
    time.sleep(0.03)
    assert host.long(b"\x1a", 8) == b""
    host.address = 127
    time.sleep(0.03)
    assert host.general() == b"\0"
    host.end()


def test_a_socket_is_a_line(on_tcp: EgmProcess) -> None:
    on_tcp.wait_playable()
    host = OverTcp(tcp_line(on_tcp), address=2)
    host.news()
    assert on_tcp.hand("bill", cents=2000)["result"] == "stacked"
    on_tcp.play()
    assert host.news() == [NOTE_20, *GAMES]
    assert_meters_agree(on_tcp, host)
    before = sequence(on_tcp)
    for piece in sealed(b"\x02\x01"):  # one segment a byte
        host.line.sendall(bytes((piece,)))
        time.sleep(0.004)
    assert host._read(1) == b"\x02"
    assert_once(on_tcp, "play_disabled", before)
    assert host.order(0x02) == b"\x02"
    host.line.sendall(b"\x02\x01")  # half a command; then the connection breaks
    host.end()
    time.sleep(0.25)
    host = OverTcp(tcp_line(on_tcp), address=2)
    host.line.sendall(sealed(b"\x02\x01")[2:])
    assert host._read(1) == b""
    assert host.news() == []
    assert on_tcp.get("state")["playable"]
    host.end()


def test_a_host_that_waits_for_the_chirp_learns_the_address_from_it(machines: dict[str, EgmProcess]) -> None:
    egm = machines["unheard"]
    with serial.Serial(line(egm), 19200, timeout=8) as listener:
        first = listener.read(1)
    assert first == b"\x09"
    host = Toggling(line(egm), address=first[0])
    assert host.general()[:1] == b"\x17"
    assert_meters_agree(egm, host)
    host.end()
