"""The ear: which bytes are messages, with right, wrong and missing ninth bits. SAS reference 2, 18.4."""

from __future__ import annotations

from random import Random

import pytest

from sas_protocol.crc import append_crc
from sas_protocol.frames import encode_request
from sas_protocol.framing import Run
from sas_protocol.line_events import ACK, RawData
from sas_protocol.line_rules import STRICT
from sas_protocol.longpolls import BY_NAME
from tests.sas_protocol.lines import Bench, hexed

SHUTDOWN = hexed("01 01 51 08")
METERS = hexed("01 6F 06 00 00 00 00 A0 00 7C D8")
CLOCK = append_crc(hexed("00 7F 03 15 20 26 10 11 12"))
IDLE = hexed("00")


def up() -> Bench:
    bench = Bench()
    bench.sync()
    bench.now_us += 40_000
    return bench


def heard(bench: Bench) -> list[bytes]:
    return [event.frame for event in bench.reported()]


def say(bench: Bench, *parts: tuple[int, str, bool | None]) -> bytes:
    """Let parts arrive, each after a pause in ms, with a ninth bit; return what is transmitted at once."""
    bench.events.clear()
    sent = b""
    for pause_ms, text, wakeup in parts:
        sent += bench.pass_time(pause_ms * 1000)
        sent += bench.feed((hexed(text), wakeup))
    return sent


@pytest.mark.parametrize("frame", [SHUTDOWN, METERS, CLOCK, hexed("01 1A")], ids=["S", "M", "G", "R"])
@pytest.mark.parametrize("marks", ["right", "none", "all", "never"])
def test_a_frame_is_the_same_whole_or_byte_by_byte_whatever_its_marks(frame: bytes, marks: str) -> None:
    for pieces in (1, 2, len(frame)):
        bench = up()
        for index, byte in enumerate(frame):
            wakeup = {"right": index == 0, "none": None, "all": True, "never": False}[marks]
            if pieces == 1:
                continue
            bench.now_us += 573 if pieces == len(frame) else 0
            bench.feed((bytes((byte,)), wakeup))
        if pieces == 1:
            runs: dict[str, list[Run]] = {
                "right": [(frame[:1], True), (frame[1:], False)],
                "none": [(frame, None)],
                "all": [(frame, True)],
                "never": [(frame, False)],
            }
            bench.feed(*runs[marks])
        assert heard(bench) == [frame], (marks, pieces)


@pytest.mark.parametrize("wakeup", [True, None, False])
def test_sync_and_general_poll_may_arrive_together(wakeup: bool | None) -> None:
    assert say(up(), (0, "80 81", wakeup)) == IDLE
    assert say(up(), (0, "82 81", wakeup)) == IDLE


@pytest.mark.parametrize("wakeup", [True, None, False])
def test_a_foreign_poll_may_go_before_each_message(wakeup: bool | None) -> None:
    bench = up()
    rest = False if wakeup else wakeup
    say(bench, (0, "82", wakeup), (0, "01", wakeup), (0, "01 51 08", rest))
    assert heard(bench) == [SHUTDOWN]


@pytest.mark.parametrize("pause_ms", [1, 6, 19, 21, 60, 199])
def test_a_host_may_reopen_the_port_inside_a_message(pause_ms: int) -> None:
    bench = up()
    say(bench, (0, "82", True), (0, "01", True), (pause_ms, "01 51 08", False))
    assert heard(bench) == [SHUTDOWN]


@pytest.mark.parametrize("pause_ms", [1, 6, 19, 21, 60, 199])
def test_and_so_it_may_without_any_mark(pause_ms: int) -> None:
    # After the pause the rest alone could be a read poll (51) to us; what follows at once decides.
    bench = up()
    say(bench, (0, "01", None), (pause_ms, "01 51 08", None))
    assert heard(bench) == [SHUTDOWN]


def test_a_slow_host_pauses_between_all_bytes() -> None:
    for wakeup in (False, None):
        bench = up()
        say(bench, (0, "01", True if wakeup is False else None))
        for byte in METERS[1:]:
            bench.pass_time(50_000)
            bench.feed((bytes((byte,)), wakeup))
        assert heard(bench) == [METERS]


def test_a_reopened_port_in_a_foreign_message_does_not_make_it_ours() -> None:
    bench = up()
    # LP 01 to machine 2: behind the pause come 01 and 51, which would be a read poll to us.
    assert say(bench, (0, "02", True), (30, "01", False), (30, "51 08", False)) == b""
    assert heard(bench) == []
    assert say(bench, (40, "81", True)) == IDLE
    # Even if the line then falls quiet for good.
    assert say(bench, (40, "02", True), (30, "01 51", False)) + bench.pass_time(100_000) == b""
    assert heard(bench) == []


def test_a_stray_zero_does_not_swallow_a_general_poll() -> None:
    assert say(up(), (0, "00 81", None)) == IDLE
    assert say(up(), (0, "00", None), (1, "81", None)) == IDLE


def test_a_message_with_too_long_a_pause_is_dropped() -> None:
    bench = up()
    assert say(bench, (0, "01", True), (201, "01 51 08", False)) == b""
    assert heard(bench) == []
    assert bench.end.counters.gaps == 1
    assert say(bench, (40, "81", True)) == IDLE


@pytest.mark.parametrize(("pause_ms", "is_heard"), [(4, True), (6, False)])
@pytest.mark.parametrize("wakeup", [False, None])
def test_the_strict_rule_allows_five_milliseconds(pause_ms: int, is_heard: bool, wakeup: bool | None) -> None:
    bench = Bench(rules=STRICT)
    bench.sync()
    bench.now_us += 40_000
    say(bench, (0, "01", None if wakeup is None else True), (pause_ms, "01 51 08", wakeup))
    assert heard(bench) == ([SHUTDOWN] if is_heard else [])
    assert say(bench, (40, "80 81", True)) == IDLE


@pytest.mark.parametrize("wakeup", [True, False, None])
@pytest.mark.parametrize("pause_ms", [0, 1, 3])
def test_stray_bytes_behind_a_poll_are_ignored(wakeup: bool | None, pause_ms: int) -> None:
    poll = BY_NAME["send_version_and_serial"]
    answer = RawData(hexed("06 36 30 32 30 30 31"))
    bench = up()
    for _ in range(20):
        say(bench, (0, "01 54", wakeup))
        if pause_ms:
            bench.end.send(bench.now_us, answer)
        say(bench, (pause_ms, "00", False if wakeup else wakeup))
        if not pause_ms:
            bench.end.send(bench.now_us, answer)
        # A quick host is back before the line was ever idle.
        sent = say(bench, (2, "80", wakeup), (0, "81", wakeup))
        assert (sent or bench.pass_time(6_000)) == IDLE
        assert heard(bench) == []
        bench.now_us += 1_000
    assert poll.is_read


def test_stray_bytes_behind_an_unanswered_poll_are_ignored_until_idle() -> None:
    bench = up()
    say(bench, (0, "01 1A 01 01 51 08 81", None))
    assert heard(bench) == [hexed("01 1A")]
    assert bench.end.counters.stray_bytes == 5
    assert say(bench, (20, "81", None)) == IDLE


def test_a_marked_byte_cuts_a_message_short_after_a_pause() -> None:
    bench = up()
    assert say(bench, (0, "01", True), (0, "6F 06 00", False), (40, "81", True)) == IDLE
    assert bench.end.counters.cut_frames == 1


def test_a_marked_byte_close_behind_cuts_a_message_short_when_the_line_stays_quiet() -> None:
    bench = up()
    assert say(bench, (0, "01", True), (0, "6F 06 00", False), (0, "81", True)) == b""
    assert bench.pass_time(4_999) == b""
    assert bench.pass_time(1) == IDLE
    assert bench.pass_time(1_000_000) == b""


def test_a_marked_byte_behind_an_unmarked_beginning_starts_a_message_at_once() -> None:
    assert say(up(), (0, "01", False), (0, "81", True)) == IDLE
    assert say(up(), (0, "00 80 01", None), (0, "81", True)) == IDLE


def test_a_marked_frame_inside_another_is_believed_for_its_crc() -> None:
    bench = up()
    say(bench, (0, "01", True), (0, "6F 06 00", False), (0, "01", True), (0, "01 51 08", False))
    assert heard(bench) == [SHUTDOWN]


@pytest.mark.parametrize("pause_ms", [0, 30])
def test_what_was_damaged_inside_another_message_is_not_refused_when_a_good_one_follows(
    pause_ms: int,
) -> None:
    bench = up()
    sent = say(bench, (0, "01", True), (0, "72 FF 00", False))
    sent += say(bench, (0, "01", True), (0, "01 51 09", False))
    sent += say(bench, (pause_ms, "01", True), (0, "01 51 08", False))
    assert (sent + bench.pass_time(10_000), heard(bench)) == (b"", [SHUTDOWN])


def test_a_data_byte_that_looks_like_our_poll_is_data() -> None:
    frame = append_crc(hexed("01 08 81 80 01 00 81"))
    for marks in (True, None, False):
        bench = up()
        sent = bench.feed((frame[:1], marks)) + bench.feed((frame[1:], marks))
        assert (sent + bench.pass_time(10_000), heard(bench)) == (b"", [frame])


@pytest.mark.parametrize("wakeup", [True, None, False])
@pytest.mark.parametrize(
    "garbage",
    ["01 72 FF 00 81", "01", "00", "00 86 40", "02", "7F 72 60", "01 6F", "01 0C 55", "FF FF FF", "81 01 5A"],
)
def test_the_next_good_message_after_any_garbage_is_understood(garbage: str, wakeup: bool | None) -> None:
    for pause_ms in (21, 50, 250):
        bench = up()
        bench.feed((hexed(garbage), wakeup))
        bench.pass_time(pause_ms * 1000)
        bench.poll(b"\x80")
        bench.marked = wakeup is True
        bench.events.clear()
        sent = bench.poll(SHUTDOWN, ACK)
        assert sent == b"\x01", (garbage, pause_ms, wakeup)


@pytest.mark.parametrize("wakeup", [True, None, False])
def test_a_general_poll_after_an_unfinished_message_is_answered(wakeup: bool | None) -> None:
    for garbage in ("01 72 FF 00", "01", "00 86 40", "02", "7F 72 60"):
        bench = up()
        bench.feed((hexed(garbage), wakeup))
        bench.pass_time(40_000)
        sent = bench.feed((b"\x80", wakeup), (b"\x81", wakeup))
        assert sent + bench.pass_time(6_000) == IDLE, (garbage, wakeup)


def test_a_damaged_frame_found_twice_is_refused_once() -> None:
    bench = up()
    assert say(bench, (0, "01 01 51 09", None)) == b"\x81"
    assert bench.pass_time(100_000) == b""


def test_changing_hosts_are_understood_at_once() -> None:
    """One line, one host after the other with other habits."""
    random = Random(5)
    bench = up()
    frames = [SHUTDOWN, METERS, encode_request(BY_NAME["startup"], 1)]
    for _ in range(300):
        frame = random.choice(frames)
        habit = random.choice(["right", "none", "all", "never", "reopen"])
        bench.pass_time(random.choice((25_000, 40_000, 200_000)))
        bench.events.clear()
        if habit in ("right", "reopen"):
            bench.feed((b"\x80", True))
            bench.feed((frame[:1], True))
            bench.pass_time(30_000 if habit == "reopen" else 0)
            bench.feed((frame[1:], False))
        else:
            wakeup = {"none": None, "all": True, "never": False}[habit]
            bench.feed((b"\x80", wakeup))
            bench.feed((frame, wakeup))
        assert heard(bench) == [frame], habit
        assert bench.end.send(bench.now_us, ACK) == b"\x01"
