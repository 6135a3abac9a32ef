"""The machine's end as a line: SAS reference 4, 6, 7.1, 8, told as tables of what is sent and what comes back."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sas_protocol.crc import append_crc
from sas_protocol.errors import EncodeError
from sas_protocol.frames import encode_answer, encode_request
from sas_protocol.line_events import (
    ACK,
    BUSY,
    IGNORE,
    NACK,
    Acknowledged,
    Data,
    Delivered,
    LinkDown,
    LinkUp,
    RawData,
    RealTimeEvents,
    Transmit,
    Unsendable,
)
from sas_protocol.line_rules import LineRules
from sas_protocol.longpolls import BY_NAME, V602
from sas_protocol.machine_end import MachineEnd
from sas_protocol.notices import Notice
from tests.sas_protocol.lines import Bench, hexed

GP = "81"
SYNC = "80"
SHUTDOWN = "01 01 51 08"
STARTUP = "01 02 CA 3A"
CREDITS = "01 1A"
CREDITS_ANSWER = hexed("01 1A 00 00 12 34 45 2D")
DOOR = Notice(1, 0x11)
GAME_OVER = Notice(2, 0x7F, (25,))
SECOND = 1_000_000


def balance() -> Data:
    return Data({"value": 1234})


@pytest.fixture(params=[True, False], ids=["marked", "bare"])
def bench(request: pytest.FixtureRequest) -> Bench:
    """A line that is up, with the ninth bit and without."""
    found = Bench(marked=request.param)
    found.sync()
    return found


# --- Section 4: framing and fixed answers ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "sent"),
    [(ACK, "01"), (NACK, "81"), (BUSY, "01 00"), (IGNORE, "")],
)
def test_fixed_answers(bench: Bench, answer: object, sent: str) -> None:
    assert bench.poll(SHUTDOWN, answer) == hexed(sent)  # type: ignore[arg-type]


def test_a_read_poll_is_reported_with_its_frame_and_answered_by_the_table(bench: Bench) -> None:
    assert bench.poll(CREDITS, balance()) == CREDITS_ANSWER
    (heard,) = bench.reported()
    assert (heard.poll.name, heard.frame, heard.is_broadcast) == (
        "send_current_credits",
        hexed(CREDITS),
        False,
    )


def test_a_body_that_is_already_encoded_is_sent_as_it_is(bench: Bench) -> None:
    assert bench.poll(CREDITS, RawData(hexed("00 00 12 34"))) == CREDITS_ANSWER


def test_fields_of_a_command_are_decoded_and_read_only(bench: Bench) -> None:
    bench.poll("01 6F 06 00 00 00 00 A0 00 7C D8")
    (heard,) = bench.reported()
    assert heard.fields == {"game": 0, "meters": (0x0000, 0x00A0)}
    with pytest.raises(TypeError):
        heard.fields["game"] = 1  # type: ignore[index]


def test_a_wrong_crc_is_refused_and_not_remembered(bench: Bench) -> None:
    assert bench.poll("01 01 51 09") == hexed("81")
    assert bench.reported() == []
    assert bench.poll("01 01 51 09") == hexed("81")  # the repeat is judged afresh, as often as it comes
    assert bench.poll("01 01 51 09") == hexed("81")
    assert bench.poll(SHUTDOWN, ACK) == hexed("01")
    assert bench.end.counters.crc_errors == 3


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(append_crc(hexed("01 0E 02")), id="flag out of range"),
        pytest.param(append_crc(hexed("01 09 0A 01 01")), id="nibble above 9"),
        pytest.param(append_crc(hexed("01 7F 02 30 20 26 10 11 12")), id="no such date"),
        pytest.param(append_crc(hexed("01 6F 03 00 00 00")), id="half a meter code"),
        pytest.param(append_crc(hexed("01 6F 02 00 00")), id="no meter at all"),
        pytest.param(
            append_crc(hexed("01 2F 0D 00 00 00 01 02 03 04 05 06 07 08 09 0A")), id="eleven meters"
        ),
    ],
)
def test_wrong_fields_are_refused_and_the_refusal_is_remembered(bench: Bench, frame: bytes) -> None:
    assert bench.poll(frame) == hexed("81")
    assert bench.poll(frame) == hexed("81")
    assert bench.poll(frame) == b""  # second NACK
    assert bench.reported() == []
    assert bench.end.counters.bad_fields == 1


def test_a_poll_that_is_not_served_is_ignored_and_never_refused() -> None:
    bench = Bench(served=frozenset({0x01}))
    bench.sync()
    assert bench.poll(STARTUP) == b""
    assert bench.poll("01 02 CA 3B") == b""  # not even for its CRC
    assert bench.poll(append_crc(hexed("01 09 0A 01 01"))) == b""
    assert bench.reported() == []
    assert bench.end.counters.unserved == 3
    assert bench.poll(SHUTDOWN, ACK) == hexed("01")


@pytest.mark.parametrize("command", [0x00, 0x0C, 0x0D, 0x81, 0x82, 0x93, 0xFF, 0xC5])
def test_an_unknown_command_is_ignored(bench: Bench, command: int) -> None:
    assert bench.poll(append_crc(bytes((1, command, 1, 2)))) == b""
    bench.now_us += 40_000
    assert bench.poll(SYNC) == b""
    assert bench.poll(GP) == hexed("00")


def test_603_polls_exist_only_in_603() -> None:
    frame = encode_request(BY_NAME["set_machine_numbers"], 1, {"asset": 0, "location": ""})
    for version, count in ((602, 0), (603, 1)):
        bench = Bench(version=version)
        bench.sync()
        bench.poll(frame)
        assert len(bench.reported()) == count


def test_another_machines_polls_are_not_ours(bench: Bench) -> None:
    for frame in ("82", "02 1A", "7F 1A", "FF", append_crc(hexed("02 01"))):
        bench.now_us += 40_000
        assert bench.poll(frame) == b""
        assert bench.reported() == []


def test_address_0_switches_the_line_off() -> None:
    bench = Bench(address=0)
    for frame in (SYNC, GP, "00 01 CB 2C", CREDITS, "00"):
        assert bench.poll(frame) == b""
    bench.now_us += 60 * SECOND
    assert bench.tick() == b""
    assert bench.end.next_deadline_us() is None
    assert bench.events == []


@pytest.mark.parametrize("address", [-1, 128])
def test_impossible_addresses_are_refused(address: int) -> None:
    with pytest.raises(ValueError, match=r"0\.\.127"):
        MachineEnd(address)


@pytest.mark.parametrize("address", [1, 2, 64, 127])
def test_every_address_is_answered_as_itself(address: int) -> None:
    bench = Bench(address=address)
    bench.sync()
    frame = encode_request(V602[0x01], address)
    assert bench.poll(frame, ACK) == bytes((address,))
    assert bench.poll(bytes((address, 0x1A)), balance()) == encode_answer(
        V602[0x1A], address, {"value": 1234}
    )


# --- Section 4: broadcasts ---------------------------------------------------------------------------------


def test_a_broadcast_is_executed_and_not_answered(bench: Bench) -> None:
    assert bench.poll(append_crc(hexed("00 7F 03 15 20 26 10 11 12")), ACK) == b""
    (heard,) = bench.reported()
    assert heard.is_broadcast
    assert heard.poll.code == 0x7F
    assert bench.end.send(bench.now_us, ACK, heard.number) == b""


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(append_crc(hexed("00 01")), id="not a global command"),
        pytest.param(hexed("00 7F 03 15 20 26 10 11 12 00 00"), id="wrong CRC"),
        pytest.param(append_crc(hexed("00 7F 13 15 20 26 10 11 12")), id="no such date"),
        pytest.param(hexed("00 1A"), id="read poll"),
    ],
)
def test_other_broadcasts_are_ignored(bench: Bench, frame: bytes) -> None:
    assert bench.poll(frame) == b""
    assert bench.reported() == []


# --- 6.1 Synchronisation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    "other",
    [SYNC, "82", "02 1A", "00 80 01 01 00 00 12 34 56 40 86"],
    ids=["80", "82", "long poll to 2", "broadcast"],
)
def test_polls_to_us_are_ignored_until_another_address_was_heard(other: str, marked: bool) -> None:
    bench = Bench(marked=marked)
    assert bench.poll(GP) == b""
    assert bench.poll(CREDITS) == b""
    assert bench.end.counters.unsynchronised == 2
    assert not bench.end.is_up
    bench.now_us += 40_000
    bench.poll(other)
    bench.now_us += 40_000
    assert bench.poll(GP) == hexed("00")
    assert bench.events[0] == LinkUp()
    assert bench.end.is_up


# --- 6.2, 6.3 Implied acknowledgement and exact repeat -----------------------------------------------------

SYNC_BROADCAST = append_crc(hexed("00 80 01 01 00 00 12 34 56")).hex()


@pytest.mark.parametrize("acknowledges", [SHUTDOWN, SYNC, "82", SYNC_BROADCAST, CREDITS])
def test_a_notice_is_delivered_by(bench: Bench, acknowledges: str) -> None:
    bench.end.set_pending((DOOR,))
    assert bench.poll(GP) == hexed("11")
    bench.poll(acknowledges)
    assert Delivered(DOOR) in bench.events
    bench.now_us += 40_000  # the long polls among them stay without an answer
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("00")  # known as delivered though the queue still has it


def test_a_notice_is_sent_twice_then_withheld_then_afresh_and_never_lost(bench: Bench) -> None:
    bench.end.set_pending((DOOR,))
    assert [bench.poll(GP) for _ in range(6)] == [b"\x11", b"\x11", b"", b"\x11", b"\x11", b""]
    assert Delivered(DOOR) not in bench.events
    assert (bench.end.counters.repeats, bench.end.counters.given_up) == (2, 2)


def test_a_repeat_has_the_exact_bytes_even_if_something_more_urgent_came(bench: Bench) -> None:
    bench.end.set_pending((DOOR,))
    assert bench.poll(GP) == hexed("11")
    bench.end.set_pending((DOOR, Notice(2, 0x57)))
    assert bench.poll(GP) == hexed("11")
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("57")


@pytest.mark.parametrize("acknowledges", [GP, STARTUP, SYNC, "82", SYNC_BROADCAST])
def test_an_answer_is_acknowledged_by(bench: Bench, acknowledges: str) -> None:
    bench.poll(CREDITS, balance())
    (heard,) = bench.reported()
    bench.poll(acknowledges)
    assert Acknowledged(V602[0x1A], heard.number) in bench.events


@pytest.mark.parametrize("answer", [ACK, NACK, BUSY])
def test_a_command_is_executed_once_however_often_it_is_repeated(bench: Bench, answer: object) -> None:
    sent = bench.poll(SHUTDOWN, answer)  # type: ignore[arg-type]
    assert sent
    assert bench.poll(SHUTDOWN) == sent
    assert bench.reported() == []
    assert bench.poll(SHUTDOWN) == b""
    assert bench.reported() == []
    bench.poll(SHUTDOWN, answer)  # type: ignore[arg-type]
    assert len(bench.reported()) == 1  # the fourth starts afresh


def test_the_third_identical_poll_is_answered_where_a_behaviour_says_so() -> None:
    bench = Bench(rules=LineRules(answer_third=True))
    bench.sync()
    bench.poll(SHUTDOWN, ACK)
    assert [bench.poll(SHUTDOWN) for _ in range(2)] == [b"\x01", b"\x01"]


def test_a_poll_in_between_makes_it_a_new_command(bench: Bench) -> None:
    for between in (SYNC, GP, STARTUP):
        bench.poll(SHUTDOWN, ACK)
        bench.poll(between, ACK)
        bench.poll(SHUTDOWN, ACK)
        assert len(bench.reported()) == 1
        bench.poll(SYNC)


def test_same_means_same_command_whatever_the_data(bench: Bench) -> None:
    sent = bench.poll("01 6F 06 00 00 00 00 A0 00 7C D8", RawData(hexed("02 00 00")))
    assert bench.poll(append_crc(hexed("01 6F 04 00 00 05 00"))) == sent
    assert bench.reported() == []
    # Hosts that read many meters alternate with the twin.
    bench.poll(append_crc(hexed("01 AF 04 00 00 05 00")))
    assert len(bench.reported()) == 1


def test_polls_behind_the_preamble_differ_by_denomination_and_base_command(bench: Bench) -> None:
    first = append_crc(hexed("01 B0 02 01 11"))
    for other in (hexed("01 B0 02 02 11"), hexed("01 B0 02 01 12")):
        bench.poll(first, NACK)
        bench.poll(append_crc(other), NACK)
        assert len(bench.reported()) == 1
        bench.poll(SYNC)
    bench.poll(first, NACK)
    assert bench.poll(first) == hexed("81")
    assert bench.reported() == []


def test_an_ignored_poll_leaves_nothing_to_repeat_or_acknowledge(bench: Bench) -> None:
    bench.poll(SHUTDOWN, IGNORE)
    bench.poll(SHUTDOWN, ACK)
    assert len(bench.reported()) == 1


# --- Late answers ------------------------------------------------------------------------------------------


def test_a_late_answer_is_kept_for_the_repeat_and_not_sent(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    bench.now_us += 21_000
    assert bench.end.send(bench.now_us, ACK) == b""
    assert bench.poll(SHUTDOWN) == hexed("01")
    assert bench.reported() == []
    assert bench.end.counters.late_answers == 1
    # From here on it is an answer like any other.
    assert bench.poll(SHUTDOWN) == hexed("01")
    assert bench.poll(SHUTDOWN) == b""


def test_a_repeat_before_the_answer_is_known_is_not_executed_twice(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    bench.now_us += 50_000
    assert bench.poll(SHUTDOWN) == b""
    assert bench.reported() == []
    bench.now_us += 10_000
    assert bench.end.send(bench.now_us, ACK) == hexed("01")  # in time for the repeat


@pytest.mark.parametrize("late", ["time", "other poll"])
def test_a_reading_that_came_too_late_is_read_anew_and_never_stale(bench: Bench, late: str) -> None:
    for number in (1, 2):
        assert bench.poll("01 11") == b""
        assert [event.frame for event in bench.reported()] == [hexed("01 11")], number
        if late == "time":
            bench.now_us += 21_000
        else:
            bench.feed((b"\x80", True))
        answer = RawData(bytes((0, 0, 0, number)))
        assert bench.end.send(bench.now_us, answer, is_reading=True) == b""
        bench.now_us += 40_000
    bench.poll("01 11")
    assert len(bench.reported()) == 1
    assert bench.end.send(bench.now_us, RawData(bytes(4)), is_reading=True) == append_crc(
        hexed("01 11") + bytes(4)
    )


def test_a_stored_answer_does_not_answer_the_same_command_given_anew(bench: Bench) -> None:
    """Off (its answer late), on, off: the second off is obeyed, not answered from what was kept of the first."""
    bench.poll(SHUTDOWN)
    bench.now_us += 21_000
    assert bench.end.send(bench.now_us, ACK) == b""
    bench.poll("80")
    assert bench.poll(STARTUP, ACK) == hexed("01")
    bench.poll("80")
    bench.events.clear()
    assert bench.poll(SHUTDOWN) == b""
    assert [event.frame for event in bench.reported()] == [hexed(SHUTDOWN)]
    assert bench.end.send(bench.now_us, ACK) == hexed("01")


def test_a_host_that_syncs_before_each_message_gets_the_stored_answer_too(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    (heard,) = bench.reported()
    bench.now_us += 50_000
    bench.poll(SYNC)
    assert not [event for event in bench.events if isinstance(event, Acknowledged)]  # nothing was sent
    assert bench.end.send(bench.now_us, ACK, heard.number) == b""
    bench.poll(SYNC)
    assert bench.poll(SHUTDOWN) == hexed("01")
    assert bench.reported() == []
    bench.poll(SYNC)
    bench.poll(SHUTDOWN)
    assert len(bench.reported()) == 1  # the stored answer is used up


def test_a_host_that_syncs_and_repeats_before_the_answer_is_known_executes_once(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    (heard,) = bench.reported()
    bench.poll(SYNC)
    assert bench.poll(SHUTDOWN) == b""
    assert bench.reported() == []
    assert bench.end.send(bench.now_us, ACK, heard.number) == hexed("01")


def test_answers_to_two_open_commands_find_their_own(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    (first,) = bench.reported()
    bench.poll(STARTUP)
    (second,) = bench.reported()
    assert bench.end.send(bench.now_us, NACK, first.number) == b""
    assert bench.end.send(bench.now_us, ACK, second.number) == hexed("01")
    assert bench.poll(SHUTDOWN) == hexed("81")


def test_a_stored_answer_expires(bench: Bench) -> None:
    bench.poll(SHUTDOWN)
    (heard,) = bench.reported()
    bench.poll(SYNC)
    bench.end.send(bench.now_us, ACK, heard.number)
    for _ in range(11):
        bench.now_us += SECOND
        bench.poll(SYNC)
        bench.poll(GP)
    bench.poll(SHUTDOWN)
    assert len(bench.reported()) == 1


def test_an_answer_that_does_not_fit_is_refused_and_the_poll_still_waits(bench: Bench) -> None:
    bench.poll(CREDITS)
    with pytest.raises(EncodeError):
        bench.end.send(bench.now_us, Data({"value": 10**8}))
    assert bench.end.send(bench.now_us, balance()) == CREDITS_ANSWER


def test_an_answer_to_nothing_is_nothing(bench: Bench) -> None:
    assert bench.end.send(bench.now_us, ACK) == b""
    bench.poll(SHUTDOWN, ACK)
    assert bench.end.send(bench.now_us, NACK) == b""  # answered already


# --- 7.1 Notices -------------------------------------------------------------------------------------------


def deliver_all(bench: Bench, count: int) -> list[int]:
    codes = []
    for _ in range(count):
        codes += list(bench.poll(GP))
        bench.poll(SYNC)
    return codes


def test_priority_notices_go_first_by_rank_then_the_others_in_order(bench: Bench) -> None:
    codes = (0x12, 0x70, 0x11, 0x51, 0x52, 0x3D, 0x57, 0x67, 0x11)
    bench.end.set_pending(tuple(Notice(sequence, code) for sequence, code in enumerate(codes)))
    assert deliver_all(bench, 10) == [0x57, 0x67, 0x3D, 0x52, 0x51, 0x70, 0x12, 0x11, 0x11, 0x00]


def test_priority_is_lost_where_a_behaviour_says_so() -> None:
    bench = Bench(rules=LineRules(ordinary_codes=frozenset({0x3D})))
    bench.sync()
    bench.end.set_pending((DOOR, Notice(2, 0x3D)))
    assert deliver_all(bench, 3) == [0x11, 0x3D, 0x00]
    bench.now_us += 16 * SECOND
    bench.sync()
    assert bench.poll(GP) == hexed("00")  # nor is it issued again


def test_equal_codes_are_two_notices(bench: Bench) -> None:
    bench.end.set_pending((Notice(7, 0x11), Notice(8, 0x11)))
    assert deliver_all(bench, 3) == [0x11, 0x11, 0x00]


def keep_up(bench: Bench, us: int) -> list[tuple[int, int]]:
    """Poll every 200 ms; return (milliseconds, code) of every notice."""
    start_us, found = bench.now_us, []
    while bench.now_us < start_us + us:
        bench.now_us += 200_000
        bench.poll(SYNC)
        code = bench.poll(GP)[0]
        if code:
            found.append(((bench.now_us - start_us) // 1000, code))
    return found


def test_a_pending_priority_notice_comes_again_after_its_time(bench: Bench) -> None:
    bench.end.set_pending((Notice(1, 0x3F),))
    # Sent at 0.2 s, acknowledged at 0.4 s; the 15 s run from there.
    assert keep_up(bench, 32 * SECOND) == [(200, 0x3F), (15_400, 0x3F), (30_600, 0x3F)]
    bench.end.set_pending(())
    assert keep_up(bench, 16 * SECOND) == []


def test_re_issue_ends_with_the_overall_time_limit(bench: Bench) -> None:
    bench.end.set_pending((Notice(1, 0x6A),))
    times = [at for at, _ in keep_up(bench, 20 * SECOND)]
    assert times[0] == 200
    assert {b - a for a, b in pairwise(times)} == {1000}  # 0.8 s from the acknowledgement
    assert 7_000 <= times[-1] <= 8_400


def test_a_notice_without_re_issue_is_sent_once(bench: Bench) -> None:
    bench.end.set_pending((Notice(1, 0x67),))
    assert keep_up(bench, 40 * SECOND) == [(200, 0x67)]


@pytest.mark.parametrize(
    ("notice", "otherwise", "real_time"),
    [
        (Notice(1, 0x4F, (37, 4, 12)), "4A", "01 FF 4F 37 04 00 00 00 12 A4 A4"),
        (Notice(1, 0x4A, (37, 4, 12)), "4A", "01 FF 4F 37 04 00 00 00 12 A4 A4"),
        (Notice(1, 0x4A), "4A", append_crc(hexed("01 FF 4F 00 04 00 00 00 00")).hex()),
        (Notice(1, 0x4F, (37, 5, 1)), "4F", append_crc(hexed("01 FF 4F 37 05 00 00 00 01")).hex()),
        (Notice(1, 0x7E, (5, 1234, 1, 0)), "7E", "01 FF 7E 00 05 00 00 12 34 01 00 5F B6"),
        (Notice(1, 0x11), "11", "01 FF 11 14 A4"),
    ],
)
def test_notices_in_both_modes(bench: Bench, notice: Notice, otherwise: str, real_time: str) -> None:
    bench.end.set_pending((notice,))
    assert bench.poll(GP) == hexed(otherwise)
    bench.end.set_pending(())
    assert bench.poll("01 0E 01 45 D1") == hexed("01")
    bench.end.set_pending((notice._replace(sequence=2),))
    assert bench.poll(GP) == hexed(real_time)


def test_a_notice_that_the_mode_forbids_is_reported_and_does_not_block(bench: Bench) -> None:
    reel = Notice(1, 0x88, (1, 22))
    bench.end.set_pending((reel, DOOR._replace(sequence=2)))
    assert bench.poll(GP) == hexed("11")
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("00")
    assert Unsendable(reel) in bench.events
    bench.end.set_pending((reel, DOOR._replace(sequence=2), DOOR._replace(sequence=3)))
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("11")
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("00")
    assert Unsendable(reel) not in bench.events  # said once
    bench.poll("01 0E 01 45 D1")
    assert bench.poll(GP) == hexed("01 FF 88 01 16 D7 68")


def test_a_notice_outside_the_table_is_refused_when_it_is_queued(bench: Bench) -> None:
    for notice in (Notice(1, 0x10), Notice(1, 0x7F, ()), Notice(1, 0x2F), Notice(1, 0x8C, (10_000,))):
        with pytest.raises(EncodeError):
            bench.end.set_pending((notice,))


# --- 4.1, 8 Real-time events -------------------------------------------------------------------------------


def real_time(bench: Bench, *notices: Notice) -> None:
    assert bench.poll("01 0E 01 45 D1") == hexed("01")
    assert RealTimeEvents(True) in bench.events
    assert bench.poll(SYNC) == b""
    bench.end.set_pending(notices)


def test_real_time_mode_is_off_at_power_up_and_switched_by_the_host(bench: Bench) -> None:
    assert not bench.end.is_real_time
    real_time(bench)
    assert bench.end.is_real_time
    assert bench.poll(GP) == hexed("01 FF 00 1C A5")
    assert bench.poll("01 0E 00 CC C0") == hexed("01")
    assert bench.poll("01 0E 00 CC C0") == hexed("01")  # a repeat, not a second switch
    assert RealTimeEvents(False) not in bench.events
    assert not bench.end.is_real_time


def test_an_event_interrupts_a_long_poll_which_is_not_executed(bench: Bench) -> None:
    real_time(bench, GAME_OVER)
    event = hexed("01 FF 7F 00 00 00 25 5F 6B")
    assert bench.poll(SHUTDOWN) == event
    assert bench.reported() == []
    assert bench.poll(SHUTDOWN) == event  # the same poll at once is a NACK of the event
    bench.poll(SYNC)
    assert Delivered(GAME_OVER) in bench.events
    assert bench.poll(SHUTDOWN, ACK) == hexed("01")
    assert len(bench.reported()) == 1


def test_an_event_goes_before_the_crc_is_looked_at(bench: Bench) -> None:
    real_time(bench, GAME_OVER)
    assert bench.poll("01 01 51 09") == hexed("01 FF 7F 00 00 00 25 5F 6B")


def test_a_broadcast_is_executed_though_an_event_waits(bench: Bench) -> None:
    real_time(bench, GAME_OVER)
    assert bench.poll(append_crc(hexed("00 7F 03 15 20 26 10 11 12"))) == b""
    assert len(bench.reported()) == 1


def test_a_general_poll_lets_the_event_pass_and_the_next_one_follows(bench: Bench) -> None:
    real_time(bench, DOOR, GAME_OVER)
    assert bench.poll(CREDITS) == hexed("01 FF 11 14 A4")
    assert bench.poll(GP) == hexed("01 FF 7F 00 00 00 25 5F 6B")
    assert bench.poll(CREDITS, balance()) == CREDITS_ANSWER


def test_outside_real_time_mode_an_event_does_not_interrupt(bench: Bench) -> None:
    bench.end.set_pending((GAME_OVER,))
    assert bench.poll(CREDITS, balance()) == CREDITS_ANSWER


def test_a_posted_result_goes_before_notices_until_it_is_acknowledged(bench: Bench) -> None:
    bench.end.set_pending((DOOR,))
    bench.end.post(V602[0x21], Data({"signature": 0}))
    bench.end.post(V602[0x21], Data({"signature": 0x46D6}))  # a newer one replaces it
    assert bench.poll(CREDITS, balance()) == CREDITS_ANSWER
    assert bench.poll(GP) == hexed("01 21 D6 46 85 69")
    assert bench.poll(GP) == hexed("01 21 D6 46 85 69")
    bench.poll(SYNC)
    assert Acknowledged(V602[0x21], 0) in bench.events
    assert bench.poll(GP) == hexed("11")


# --- 6.5, 6.6 Time -----------------------------------------------------------------------------------------


def test_the_first_chirp_comes_five_seconds_after_power_up_and_then_every_200_ms() -> None:
    bench = Bench()
    assert bench.pass_time(4_999_999) == b""
    assert bench.pass_time(1) == hexed("01")
    assert bench.events == [Transmit(b"\x01", wakeup=True)]
    assert bench.pass_time(SECOND) == hexed("01") * 5


def test_a_late_tick_makes_one_chirp_and_not_many() -> None:
    bench = Bench()
    bench.now_us = 60 * SECOND
    assert bench.tick() == hexed("01")
    assert bench.end.next_deadline_us() == bench.now_us + 200_000
    bench.now_us += 10 * SECOND
    assert bench.tick() == hexed("01")
    assert bench.end.next_deadline_us() == bench.now_us + 200_000


@pytest.mark.parametrize(("silence_us", "is_broken"), [(4_900_000, False), (5_100_000, True)])
@pytest.mark.parametrize("ticks", [True, False])
def test_silence_breaks_the_loop_after_five_seconds(
    bench: Bench, silence_us: int, is_broken: bool, ticks: bool
) -> None:
    if ticks:
        bench.pass_time(silence_us)
    else:
        bench.now_us += silence_us  # a machine that slept notices when the next poll comes
    answer = bench.poll(GP)
    assert (answer == b"") is is_broken
    assert bench.end.is_up is not is_broken


def test_any_address_ends_the_chirp_and_synchronisation_starts_over(bench: Bench) -> None:
    bench.pass_time(5_100_000)
    assert LinkDown("loop_break") in bench.events
    assert bench.poll(GP) == b""
    assert bench.pass_time(4 * SECOND) == b""
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("00")
    assert LinkUp() in bench.events


def test_what_was_not_acknowledged_survives_the_loop_break(bench: Bench) -> None:
    bench.end.set_pending((DOOR,))
    assert bench.poll(GP) == hexed("11")
    bench.pass_time(6 * SECOND)
    assert Delivered(DOOR) not in bench.events
    bench.poll(SYNC)
    assert bench.poll(GP) == hexed("11")


def test_thirty_seconds_without_acknowledgement_bring_the_link_down(bench: Bench) -> None:
    bench.poll(SYNC)
    downs = []
    for _ in range(160):
        bench.now_us += 200_000
        bench.poll(GP)
        downs += [event for event in bench.events if isinstance(event, LinkDown)]
    assert downs == [LinkDown("no_acknowledgement")]
    assert not bench.end.is_up
    assert bench.pass_time(4 * SECOND) == b""  # the loop is whole: no chirp


def test_a_host_that_acknowledges_stays_linked_for_hours(bench: Bench) -> None:
    for _ in range(1_000):
        bench.pass_time(2 * SECOND)
        bench.poll(SYNC)
        assert bench.poll(GP) == hexed("00")
        assert not [event for event in bench.events if isinstance(event, LinkUp | LinkDown)]
    assert bench.end.is_up
