"""The ID-003 twin against bytes from outside, its table and its physics; no driver of ours is here."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hal.backends.memory_links import byte_link_pair
from hal.wire import id003
from hal.wire.id003 import Command, Setting, Status
from simulator.cabinet.faults import UnknownFaultError
from simulator.cabinet.id003_acceptor import Id003AcceptorTwin
from simulator.cabinet.id003_tables import FAULTS, POSSIBLE, UNTIL_CLEARED, Timings, Unit
from simulator.cabinet.note_path import AcceptorBody, Item, Place

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "id003.toml").read_text(encoding="utf-8")
)
NOTE = 0x65
ACK, REFUSED = "ack", "4b"


class Host:
    """A host that sends what it is told and returns what came back."""

    def __init__(self, **twin: Any) -> None:
        self.now_us = 0
        self.link, device = byte_link_pair("twin")
        self.writes: list[tuple[str, AcceptorBody | bytes]] = []
        write = device.write

        def tapped(data: bytes) -> None:
            self.writes.append(("byte", data))
            write(data)

        device.write = tapped
        self.twin = Id003AcceptorTwin(
            device, on_physical_change=lambda: self.writes.append(("body", self.twin.physical())), **twin
        )
        self.twin.power_on(0)

    def run(self, seconds: float) -> None:
        end = self.now_us + int(seconds * 1_000_000)
        while True:
            due = self.twin.next_deadline_us()
            if due is None or due > end:
                break
            self.now_us = max(self.now_us, due)
            self.twin.step(self.now_us)
        self.now_us = end

    def raw(self, data: bytes, seconds: float = 0.02) -> bytes:
        self.link.write(data)
        self.twin.step(self.now_us)
        self.run(seconds)
        return self.link.read(4096)

    def say(self, code: int, data: bytes = b"") -> id003.Frame | None:
        answer = self.raw(id003.encode(code, data))
        return id003.decode(answer) if answer else None

    def poll(self) -> id003.Frame | None:
        return self.say(Command.STATUS_REQUEST)

    def reset(self) -> Host:
        """Boot, reset, let everything in."""
        self.run(1.6)
        self.say(Command.RESET)
        for setting, value in id003.SETTING_DEFAULTS.items():
            self.say(setting, value)
        self.run(3.1)
        assert self.twin.status is Status.IDLING
        return self

    def until(self, status: Status) -> Host:
        for _ in range(2000):
            if self.twin.status is status:
                return self
            self.run(0.01)
        raise AssertionError(f"never {status.name}")

    def fate(self) -> tuple[str, str]:
        outcome = self.twin.outcomes[-1]
        return outcome.result, outcome.reason


# --- A session from outside ---------------------------------------------------------------------------


def test_the_recorded_session_of_a_public_client() -> None:
    host = Host()
    host.run(1.5)
    for line in VECTORS["session"]:
        if "hand" in line:
            host.twin.insert(int(line["hand"].split()[1], 16), host.now_us)
            continue
        sent, wanted = bytes.fromhex(line["host"]), bytes.fromhex(line["acceptor"])
        meanwhile = bytes.fromhex(line["while"])
        answer = host.raw(sent, 0.2)
        for _ in range(50):
            if answer == wanted or not meanwhile:
                break
            assert answer == meanwhile, line["meaning"]
            answer = host.raw(sent, 0.2)
        assert answer == wanted, line["meaning"]
    assert host.twin.physical().box == (Item(NOTE, "", 1),)
    assert host.fate() == ("stacked", "")


@pytest.mark.parametrize(
    "entry", [entry for entry in VECTORS["frame"] if entry["code"] in (0x88, 0x89, 0x8A) and entry["data"]]
)
def test_identification_frames_byte_by_byte(entry: dict[str, Any]) -> None:
    host = Host()
    host.run(1.6)
    assert host.raw(id003.encode(entry["code"])) == bytes.fromhex(entry["bytes"])


# --- The table of states and commands -----------------------------------------------------------------


def at(status: Status) -> Host:
    """Bring a unit into a state by what really leads there."""
    if status in (Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR, Status.POWER_UP_BILL_IN_STACKER):
        place = {0x40: Place.NOWHERE, 0x41: Place.IN_FRONT, 0x42: Place.BEHIND}[status]
        item = None if place is Place.NOWHERE else Item(NOTE, "", 1)
        rom = Id003AcceptorTwin(byte_link_pair()[0]).physical().rom
        host = Host(body=AcceptorBody(place=place, item=item, rom=rom))
        return host.until(status)
    host = Host().reset()
    twin = host.twin
    if status is Status.INITIALIZE:
        host.say(Command.RESET)
    elif status is Status.INHIBITED:
        host.say(Setting.INHIBIT, b"\x01")
    elif status is Status.STACKER_OPEN:
        twin.remove_box()
    elif status is Status.FAILURE:
        twin.inject("failure", host.now_us)
    elif status is Status.STACKER_FULL:
        twin._inside.body = AcceptorBody(box_capacity=1, rom=twin.physical().rom)
    kinds = {
        Status.REJECTING: "misread",
        Status.PAUSE: "second_bill",
        Status.JAM_IN_ACCEPTOR: "jam_before_lever",
        Status.JAM_IN_STACKER: "jam_after_lever",
        Status.CHEATED: "cheat",
    }
    if status in kinds:
        twin.inject(kinds[status], host.now_us)
    if twin.status is not Status.IDLING or status is Status.IDLING:
        return host.until(status)
    twin.insert(NOTE, host.now_us)
    if status in (Status.ACCEPTING, Status.REJECTING, Status.PAUSE, Status.ESCROW):
        return host.until(status)
    host.until(Status.ESCROW)
    if status is Status.HOLDING:
        host.say(Command.HOLD)
    elif status is Status.RETURNING:
        host.say(Command.RETURN)
    else:
        host.say(Command.STACK_1)
    if status in (Status.STACKED, Status.STACKER_FULL):
        host.until(Status.VEND_VALID).say(id003.ACK)
    return host.until(status)


POWER_UP = [Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR, Status.POWER_UP_BILL_IN_STACKER]
IDLE = [Status.IDLING, Status.INHIBITED]
WAITING = [Status.ESCROW, Status.HOLDING]
MOVING = [Status.STACKING, Status.STACKED, Status.REJECTING, Status.RETURNING]
ERRORS = [
    Status.STACKER_FULL,
    Status.STACKER_OPEN,
    Status.JAM_IN_ACCEPTOR,
    Status.JAM_IN_STACKER,
    Status.PAUSE,
    Status.CHEATED,
    Status.FAILURE,
]
ALL = [*POWER_UP, Status.INITIALIZE, *IDLE, Status.ACCEPTING, *WAITING, *MOVING, Status.VEND_VALID, *ERRORS]


def test_every_state_is_in_this_table() -> None:
    assert set(ALL) == POSSIBLE[Command.STATUS_REQUEST]
    told_elsewhere = {Status.COMMUNICATION_ERROR, Status.SIGNATURE_BUSY, Status.SIGNATURE_END}
    assert set(ALL) == set(Status) - told_elsewhere


@pytest.mark.parametrize("status", ALL)
def test_state_and_command_table(status: Status) -> None:
    """id003.md 6.5, row by row; columns 41/42, 43, 44, C0-C7, 88/89/8x, 50."""
    for code in (Command.STACK_1, Command.STACK_2, Command.RETURN, Command.HOLD):
        host = at(status)
        wanted = id003.ACK if status in WAITING else id003.INVALID_COMMAND
        assert host.say(code) == id003.Frame(wanted), Command(code).name
        after = {Command.RETURN: Status.RETURNING, Command.HOLD: Status.HOLDING}.get(code, Status.STACKING)
        assert host.twin.status is (after if status in WAITING else status)
    host = at(status)
    can_set_all = status in (Status.INITIALIZE, *IDLE, *ERRORS)
    for setting, value in id003.SETTING_DEFAULTS.items():
        can_set = can_set_all or (setting is Setting.INHIBIT and status not in POWER_UP)
        wanted_frame = id003.Frame(setting, value) if can_set else id003.Frame(id003.INVALID_COMMAND)
        assert host.say(setting, value) == wanted_frame, setting.name
    host = at(status)
    for code in (*id003.QUERIES, *range(0x80, 0x88)):
        answer = host.say(code)
        assert answer is not None
        assert answer.code == code
        assert answer.data
    host = at(status)
    assert host.say(id003.ACK) is None
    assert host.twin.status is (Status.STACKED if status is Status.VEND_VALID else status)


@pytest.mark.parametrize("status", ALL)
def test_reset_column_of_the_table(status: Status) -> None:
    host = at(status)
    assert host.say(Command.RESET) == id003.Frame(id003.ACK)
    if status in MOVING:
        assert host.twin.status is status, "motion ends first"
        host.until(Status.INITIALIZE)
    elif status is Status.VEND_VALID:
        host.until(Status.INITIALIZE)
        assert not host.twin.physical().vend_unacknowledged
    else:
        assert host.twin.status is Status.INITIALIZE
    is_lasting = status in ERRORS and status is not Status.CHEATED
    host.say(Setting.INHIBIT, b"\x00")
    host.run(8)
    assert host.twin.status is (status if is_lasting else Status.IDLING)
    if not is_lasting:
        assert host.twin.physical().place is Place.NOWHERE


@pytest.mark.parametrize("code", [0x00, 0x10, 0x46, 0x50 + 1, 0x7F, 0x8B, 0xC8, 0xDC, 0xFF])
def test_unknown_commands_are_refused(code: int) -> None:
    host = Host().reset()
    assert host.say(code) == id003.Frame(id003.INVALID_COMMAND)


@pytest.mark.parametrize(
    ("code", "data"), [(0x11, b"\x00"), (0x40, b"\x01"), (0xC0, b"\x00"), (0xC3, b""), (0x80, b"\x00")]
)
def test_commands_with_data_of_a_wrong_length_are_refused(code: int, data: bytes) -> None:
    host = Host().reset()
    assert host.say(code, data) == id003.Frame(id003.INVALID_COMMAND)
    assert host.twin.status is Status.IDLING


def test_wait_is_taken_while_stacking() -> None:
    host = at(Status.STACKING)
    assert host.say(Command.WAIT) == id003.Frame(id003.ACK)
    assert host.twin.status is Status.STACKING
    assert Host().reset().say(Command.WAIT) == id003.Frame(id003.INVALID_COMMAND)


def test_a_bad_crc_gets_silence_and_a_good_frame_after_it_an_answer() -> None:
    host = Host().reset()
    assert host.raw(b"\xfc\x05\x11\x27\x57") == b""
    assert host.raw(b"\x00\xfc\x05") == b""
    host.run(0.1)
    assert host.poll() == id003.Frame(Status.IDLING)


def test_communication_error_is_shown_once_by_a_unit_that_does() -> None:
    host = Host(unit=Unit(shows_communication_error=True)).reset()
    host.raw(b"\xfc\x05\x11\x27\x57")
    assert [host.poll().code, host.poll().code] == [Status.COMMUNICATION_ERROR, Status.IDLING]


def test_booting_is_silence_or_zeros() -> None:
    quiet, zeros = Host(), Host(unit=Unit(is_zero_while_booting=True))
    assert quiet.raw(id003.encode(0x11)) == b""
    assert zeros.raw(id003.encode(0x11)) == b"\x00"
    zeros.run(1.5)
    assert zeros.poll() == id003.Frame(Status.POWER_UP)


def test_settings_are_lost_by_a_reset() -> None:
    host = Host().reset()
    host.say(Setting.DIRECTION, b"\x0f")
    assert host.say(0x84) == id003.Frame(0x84, b"\x0f")
    host.say(Command.RESET)
    assert host.say(0x84) == id003.Frame(0x84, b"\x00")
    host.run(4)
    assert host.twin.status is Status.INHIBITED, "until the host says otherwise"


# --- Physics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "vend_after"), [(Command.STACK_1, 0.5), (Command.STACK_2, 1.2)])
def test_vend_valid_comes_at_the_lever_or_in_the_box(command: Command, vend_after: float) -> None:
    host = at(Status.ESCROW)
    host.say(command)
    start = host.now_us
    host.until(Status.VEND_VALID)
    assert abs(host.now_us - start - vend_after * 1e6) <= 30_000
    assert len(host.twin.physical().box) == (1 if command is Command.STACK_2 else 0)
    host.run(30)
    assert host.poll() == id003.Frame(Status.VEND_VALID), "until it is acknowledged"
    host.say(id003.ACK)
    assert host.poll() == id003.Frame(Status.STACKED)
    host.run(0.4)
    assert host.poll() == id003.Frame(Status.IDLING)


@pytest.mark.parametrize(
    ("setting", "data", "item", "reason"),
    [
        (Setting.DENOMINATION, b"\x10\x00", NOTE, "inhibited"),
        (Setting.BARCODE_INHIBIT, b"\x01", NOTE, "inhibited"),
        (Setting.BARCODE_INHIBIT, b"\x02", "001234567890123456", "inhibited"),
        (Setting.BARCODE_FUNCTION, b"\x01\x10", "001234567890123456", "barcode_wrong_length"),
        (Setting.SECURITY, b"\xff\xff", 0x62, "denomination_undecided"),
    ],
)
def test_what_settings_refuse(setting: Setting, data: bytes, item: int | str, reason: str) -> None:
    host = Host().reset()
    host.say(setting, data)
    host.twin.insert(item, host.now_us)
    host.until(Status.REJECTING).until(Status.IDLING)
    assert host.fate() == ("rejected", reason)


def test_any_length_of_ticket_if_told_so() -> None:
    host = Host().reset()
    host.say(Setting.BARCODE_FUNCTION, b"\x01\xff")
    host.twin.insert("12345", host.now_us)
    host.until(Status.ESCROW)
    assert host.poll() == id003.Frame(Status.ESCROW, b"\x6f12345")


def test_with_everything_disabled_it_is_inhibited() -> None:
    host = Host().reset()
    host.say(Setting.BARCODE_INHIBIT, b"\x02")
    assert host.twin.status is Status.IDLING
    host.say(Setting.DENOMINATION, b"\xff\x00")
    assert host.twin.status is Status.INHIBITED
    host.say(Setting.DENOMINATION, b"\x82\x00")
    assert host.twin.status is Status.IDLING


def test_escrow_and_hold_have_their_patience() -> None:
    host = at(Status.ESCROW)
    host.run(9.9)
    assert host.twin.status is Status.ESCROW
    host.run(0.2)
    assert host.poll() == id003.Frame(Status.REJECTING, b"\x79")
    host = at(Status.HOLDING)
    for _ in range(5):
        host.run(4.8)
        assert host.say(Command.HOLD) == id003.Frame(id003.ACK)
    host.run(5.1)
    assert host.twin.status is Status.REJECTING


@pytest.mark.parametrize("status", ALL)
def test_a_power_cut_in_every_state_says_afterwards_where_the_note_is(status: Status) -> None:
    host = at(status)
    saved = json.loads(json.dumps(host.twin.physical().to_json()))
    body = AcceptorBody.from_json(saved)
    assert body == host.twin.physical()
    host.twin.power_off()
    assert host.twin.next_deadline_us() is None
    assert host.raw(id003.encode(0x11)) == b""
    after = Host(body=body)
    after.run(1.6)
    if status is Status.STACKER_OPEN:
        wanted = Status.STACKER_OPEN
    elif status in (
        Status.STACKED,
        Status.VEND_VALID,
        Status.JAM_IN_STACKER,
        Status.POWER_UP_BILL_IN_STACKER,
    ):
        wanted = Status.POWER_UP_BILL_IN_STACKER
    elif status in (
        Status.POWER_UP_BILL_IN_ACCEPTOR,
        Status.ACCEPTING,
        *WAITING,
        Status.STACKING,
        Status.REJECTING,
        Status.RETURNING,
        Status.PAUSE,
        Status.JAM_IN_ACCEPTOR,
    ):
        wanted = Status.POWER_UP_BILL_IN_ACCEPTOR
    else:
        wanted = Status.POWER_UP
    assert after.poll() == id003.Frame(wanted)


def test_after_41_the_note_comes_back_and_after_42_it_is_stacked() -> None:
    back, swallowed = at(Status.POWER_UP_BILL_IN_ACCEPTOR), at(Status.POWER_UP_BILL_IN_STACKER)
    for host, way in ((back, [0x1B, 0x18, 0x1A]), (swallowed, [0x1B, 0x14, 0x16, 0x1A])):
        host.say(Command.RESET)
        seen: list[int] = []
        for _ in range(60):
            status = host.poll().code
            seen += [status] if seen[-1:] != [status] else []
            host.run(0.1)
        assert seen == way
    assert back.fate() == ("returned", "")
    assert swallowed.fate() == ("stacked", "")
    assert back.twin.outcomes[0].insertion == 1, "the number it was inserted with, before the cut"


def test_a_note_behind_the_lever_is_told_even_if_its_error_ends_while_the_unit_restarts() -> None:
    host = at(Status.JAM_IN_STACKER)
    host.say(Command.RESET)
    assert host.twin.status is Status.INITIALIZE
    host.twin.clear_jam(host.now_us)
    host.run(4)
    assert host.poll() == id003.Frame(Status.POWER_UP_BILL_IN_STACKER)
    host.say(Command.RESET)
    host.run(5)
    assert host.fate() == ("stacked", "")


def test_the_world_hears_of_a_physical_change_before_any_byte_that_tells_of_it() -> None:
    host = at(Status.ESCROW)
    host.say(Command.STACK_1)
    for _ in range(100):
        host.poll()
        host.run(0.01)
    vend, flagged = id003.encode(Status.VEND_VALID), False
    for kind, what in host.writes:
        if kind == "body":
            flagged = flagged or what.vend_unacknowledged
        elif what == vend:
            assert flagged
            break
    else:
        raise AssertionError("no VEND VALID")
    host.writes.clear()
    host.say(id003.ACK)
    host.poll()
    kinds = [kind for kind, _ in host.writes]
    assert kinds[0] == "body"
    assert kinds.index("byte") > 0


def test_a_body_of_another_kind_is_refused() -> None:
    good = AcceptorBody().to_json()
    for broken in ({}, {**good, "place": "elsewhere"}, {**good, "box": [1]}, {**good, "rom": "x"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            AcceptorBody.from_json(broken)


def test_a_hand_at_a_unit_that_takes_nothing() -> None:
    host = Host()
    assert host.twin.insert(NOTE, 0) == 1
    assert host.fate() == ("rejected", "not_running")
    host.run(1.6)
    assert host.twin.insert(NOTE, host.now_us) == 2
    assert host.fate() == ("rejected", "power_up")
    host.twin.power_off()
    assert not host.twin.is_powered
    host.twin.insert(NOTE, host.now_us)
    assert host.fate() == ("rejected", "not_running")
    assert host.twin.physical().insertions == 3


def test_outcomes_reach_the_callback() -> None:
    heard = []
    host = Host(on_outcome=heard.append)
    host.twin.insert(NOTE, 5)
    assert heard == host.twin.outcomes
    assert (heard[0].item, heard[0].now_us) == (Item(NOTE, "", 1), 5)


def test_faults_have_names_counts_and_an_end() -> None:
    twin = Host().twin
    with pytest.raises(UnknownFaultError, match="jam_before_lever"):
        twin.inject("no_such_thing", 0)
    with pytest.raises(UnknownFaultError):
        twin.clear_fault("no_such_thing", 0)
    with pytest.raises(ValueError, match="count"):
        twin.inject("corrupt_crc", 0, count=0)
    twin.inject("corrupt_crc", 0, count=2)
    twin.inject("disconnect", 0)
    assert twin.faults.active() == {"corrupt_crc": 2, "disconnect": None}
    twin.clear_fault("corrupt_crc", 0)
    assert twin.faults.active() == {"disconnect": None}
    assert FAULTS.keys() >= UNTIL_CLEARED


def test_a_counted_fault_is_used_up() -> None:
    host = Host().reset()
    host.twin.inject("noise_00", host.now_us, count=2)
    poll = id003.encode(0x11)
    assert [host.raw(poll) for _ in range(3)] == [b"\x00", b"\x00", id003.encode(0x11)]


def test_times_are_a_table() -> None:
    host = Host(timings=Timings(boot_us=10, answer_us=0))
    host.run(0.00001)
    assert host.raw(id003.encode(0x11), 0) == id003.encode(Status.POWER_UP)


@pytest.mark.parametrize("junk", [b"", b"\xfc" * 600, bytes(range(256)) * 3])
def test_junk_gets_no_answer_and_does_no_harm(junk: bytes) -> None:
    host = Host().reset()
    assert host.raw(junk) == b""
    host.run(0.1)
    assert host.poll() == id003.Frame(Status.IDLING)


def test_nobody_at_the_other_end_is_no_matter() -> None:
    host = Host().reset()
    host.link.write(id003.encode(0x11))
    host.twin.step(host.now_us)
    host.link.close()
    host.run(1)
    host.link.reopen()
    assert host.poll() == id003.Frame(Status.IDLING)
