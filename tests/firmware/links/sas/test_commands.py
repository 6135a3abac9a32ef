"""Commands: what each does, who may give it, and when its answer goes out."""

from __future__ import annotations

import pytest

from firmware.control_program.options import DUTIES
from firmware.core.commands import HostSetAcceptor, HostSetClock, HostSetPlay
from firmware.core.effects import Answer
from firmware.core.orders import AcceptNotes
from firmware.links.sas.answers import ANSWERS, METER_POLLS
from firmware.links.sas.commands import COMMANDS, LINE_COMMANDS
from firmware.links.sas.line import ANSWER_WINDOW_US, SERVED
from firmware.links.sas.refused import REFUSED
from sas_protocol.crc import append_crc
from sas_protocol.longpolls import V602, V603, LongPoll, control, identity
from sas_protocol.longpolls.poll import Kind
from tests.firmware.links.sas.host import WALL_US, Host

ACK, NACK = b"\x01", b"\x81"
SHUTDOWN, STARTUP = bytes.fromhex("01 01 51 08"), bytes.fromhex("01 02 CA 3A")
ACCEPTOR_ON, ACCEPTOR_OFF = bytes.fromhex("01 06 EE 7C"), bytes.fromhex("01 07 67 6D")
CLOCK = bytes.fromhex("01 7F 03 15 20 26 10 11 12 78 14")
REAL_TIME = bytes.fromhex("01 0E 01 45 D1")
SYNC = b"\x80"


@pytest.mark.parametrize("version", [V602, V603])
def test_every_poll_has_one_owner_in_both_versions(version: dict[int, LongPoll]) -> None:
    owners = [set(ANSWERS), set(METER_POLLS), set(COMMANDS), set(LINE_COMMANDS), set(REFUSED)]
    for poll in version.values():
        assert sum(poll in owner for owner in owners) == 1, poll.name


def test_what_is_served_is_what_is_not_refused() -> None:
    assert {poll.code for poll in V603.values()} - SERVED == {poll.code for poll in REFUSED}


# --- what they do ---


@pytest.mark.law("PA-7-p-act", partly="the central system's own protocol is not built")
def test_play_is_disabled_and_enabled() -> None:
    host = Host()
    assert host.send(SHUTDOWN) == ACK
    assert host.machine.tilts == {"host_disabled"}
    assert host.send(STARTUP) == ACK
    assert host.machine.is_playable


def test_the_bill_acceptor_is_disabled_and_enabled() -> None:
    host = Host()
    host.effects.clear()
    assert host.send(ACCEPTOR_OFF) == ACK
    assert AcceptNotes(frozenset()) in host.effects
    assert host.machine.is_playable
    assert host.send(ACCEPTOR_ON) == ACK
    assert host.machine.accepting


def test_the_clock_is_set_by_one_host_or_for_all() -> None:
    host = Host()
    host.wall_us = 0
    assert host.send(CLOCK) == ACK
    assert host.machine.marks.clock_offset_us == WALL_US
    for_all = bytes.fromhex("00 7F 03 15 20 26 10 11 12")
    host.wall_us = WALL_US + 5_000_000  # by now, as the machine's own clock counts it with its offset
    assert host.send(for_all + crc_of(for_all)) == b""
    assert host.machine.marks.clock_offset_us == WALL_US - 5_000_000


def crc_of(frame: bytes) -> bytes:
    return append_crc(frame)[-2:]


@pytest.mark.parametrize(
    "data", ["13 15 20 26 10 11 12", "02 30 20 26 10 11 12", "03 15 20 26 24 00 00", "0A 15 20 26 10 11 12"]
)
def test_a_date_that_does_not_exist_is_nacked_and_sets_nothing(data: str) -> None:
    host = Host()
    frame = bytes.fromhex(f"01 7F {data}")
    assert host.send(frame + crc_of(frame)) == NACK
    assert host.machine.marks.clock_offset_us == 0


@pytest.mark.parametrize("frame", [SHUTDOWN, ACCEPTOR_OFF, CLOCK])
def test_a_damaged_command_is_nacked_and_not_done(frame: bytes) -> None:
    host = Host()
    before = host.machine
    assert host.send(frame[:-1] + bytes((frame[-1] ^ 1,))) == NACK
    assert host.machine == before


@pytest.mark.parametrize("frame", [SHUTDOWN, ACCEPTOR_OFF])
def test_only_what_may_be_global_is_obeyed_when_sent_to_all(frame: bytes) -> None:
    host = Host()
    before = host.machine
    to_all = b"\x00" + frame[1:-2]
    assert host.send(to_all + crc_of(to_all)) == b""
    assert host.machine == before


# --- who may ---


@pytest.mark.parametrize(
    "frame", [SHUTDOWN, STARTUP, ACCEPTOR_OFF, ACCEPTOR_ON, CLOCK], ids=lambda f: f.hex()
)
def test_a_line_without_the_duty_is_ignored_and_may_still_read(frame: bytes) -> None:
    host = Host(duties=("validation", "aft", "game_events"))
    before = host.machine
    assert host.send(frame) == b""
    assert host.machine == before
    assert (
        host.hex("01 1A")
        == "01 1A 00 00 00 00 " + crc_of(bytes.fromhex("01 1A 00 00 00 00")).hex(" ").upper()
    )
    to_all = b"\x00" + CLOCK[1:-2]
    assert host.send(to_all + crc_of(to_all)) == b""
    assert host.machine.marks.clock_offset_us == 0


def test_central_control_enables_and_disables_play_and_nothing_else() -> None:
    host = Host(duties=("central_control",))
    assert host.send(SHUTDOWN) == ACK
    assert host.machine.tilts == {"host_disabled"}
    assert host.send(STARTUP) == ACK
    assert host.send(ACCEPTOR_OFF) == b""
    assert host.send(CLOCK) == b""
    assert host.machine.host_control.acceptor_off_by == frozenset()


def test_real_time_reporting_is_the_lines_own_business_whatever_its_duties() -> None:
    host = Host(duties=("game_events",))
    before = host.machine
    assert host.send(REAL_TIME) == ACK
    assert host.machine == before
    assert host.poll() == bytes.fromhex("01 FF 00 1C A5")


@pytest.mark.parametrize(
    "poll",
    [poll for poll in REFUSED if poll.kind is Kind.SEND and poll.request == ()],
    ids=lambda poll: f"{poll.code:02X}",
)
def test_a_refused_command_is_ignored_never_nacked(poll: LongPoll) -> None:
    host = Host()
    before = host.machine
    frame = bytes((1, poll.code))
    assert host.send(frame + crc_of(frame)) == b""
    assert host.machine == before
    assert host.poll() == b"\x00"


# --- when the answer goes out ---


def test_nothing_is_answered_before_the_core_says_so() -> None:
    host = Host(is_quick=False)
    assert host.send(SHUTDOWN) == b""
    assert host.waiting == [HostSetPlay(0, False)]
    assert host.step(5_000) == b""
    host.work()
    assert host.step() == ACK


def test_a_record_that_takes_too_long_is_answered_at_the_repeat_and_done_once() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    host.now_us += ANSWER_WINDOW_US + 1
    host.work()
    assert host.step() == b""  # late: the host has stopped listening
    assert host.link.end.counters.late_answers == 1
    assert host.send(SHUTDOWN) == ACK
    assert host.waiting == []  # the repeat did nothing
    assert host.send(SHUTDOWN) == ACK  # first NACK of that answer: the same bytes
    assert host.waiting == []


def test_at_the_end_of_the_window_it_is_still_answered() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    host.now_us += ANSWER_WINDOW_US
    host.work()
    assert host.step() == ACK


def test_a_repeat_while_the_record_is_open_does_not_do_it_twice_and_gets_the_answer() -> None:
    host = Host(is_quick=False)
    for _ in range(3):
        assert host.send(SHUTDOWN) == b""
    assert host.waiting == [HostSetPlay(0, False)]
    host.now_us += 2_000
    host.work()
    assert host.step() == ACK


def test_read_polls_are_answered_meanwhile_and_the_late_answer_keeps_its_poll() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    assert host.hex("01 55")[:5] == "01 55"
    assert host.poll() == b"\x00"
    host.work()
    assert host.step() == b""
    host.send(SYNC)
    assert host.send(SHUTDOWN) == ACK
    assert host.waiting == []


def test_answers_find_their_polls_though_two_commands_wait() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    host.send(ACCEPTOR_OFF)
    assert host.waiting == [HostSetPlay(0, False), HostSetAcceptor(0, False)]
    host.now_us += 1_000
    host.link.tell(host.now_us, Answer.NACK)  # the first
    host.link.tell(host.now_us, Answer.ACK)  # the second, which is the latest poll
    assert host.step() == ACK
    host.send(SYNC)
    assert host.send(SHUTDOWN) == NACK
    assert host.waiting == [HostSetPlay(0, False), HostSetAcceptor(0, False)]


def test_a_command_that_did_not_happen_is_not_answered_and_its_repeat_is_tried_anew() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    host.waiting.clear()
    host.link.tell(host.now_us, Answer.IGNORE)
    assert host.step() == b""
    assert host.send(SHUTDOWN) == b""
    assert host.waiting == [HostSetPlay(0, False)]
    host.work()
    assert host.step() == ACK


def test_after_the_link_was_down_an_old_answer_reaches_nobody() -> None:
    host = Host(is_quick=False)
    host.send(SHUTDOWN)
    host.step(6_000_000)  # loop break
    host.work()
    assert ACK not in (host.step(), host.step(1_000))
    host.send(SYNC)
    assert host.send(STARTUP) == b""
    host.now_us += 1_000
    host.work()
    assert host.step() == ACK
    assert host.machine.host_control.play_off_by == frozenset()


def test_a_broadcast_waits_for_no_answer() -> None:
    host = Host(is_quick=False)
    to_all = b"\x00" + CLOCK[1:-2]
    host.send(to_all + crc_of(to_all))
    assert host.waiting == [HostSetClock(None, WALL_US)]
    host.work()
    assert host.send(STARTUP) == b""
    host.work()
    assert host.step() == ACK


def test_another_lines_word_is_not_this_lines_answer() -> None:
    host = Host(is_quick=False)
    host.link.tell(host.now_us, Answer.ACK)
    assert host.step() == b""
    assert host.send(STARTUP) == b""
    host.work()
    assert host.step() == ACK


def test_every_command_asks_for_a_duty_that_exists() -> None:
    for command in COMMANDS.values():
        assert command.duties
        assert command.duties <= set(DUTIES)
    assert COMMANDS[identity.SET_DATE_AND_TIME].duties == {"general"}
    assert control.ENABLE_REAL_TIME_EVENTS not in COMMANDS
