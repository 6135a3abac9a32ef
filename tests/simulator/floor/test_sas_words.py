"""SAS messages in words. The frames are the worked ones of SAS reference 5.1, computed elsewhere."""

from __future__ import annotations

import json

import pytest

from simulator.floor.sas_words import Listener, Reading, read_host, read_machine, request_from_hex


def frame(text: str) -> bytes:
    return bytes.fromhex(text)


@pytest.mark.parametrize(
    ("sent", "kind", "name", "fields"),
    [
        ("80", "sync_poll", "", {}),
        ("81", "general_poll", "", {}),
        ("01 01 51 08", "long_poll", "shutdown", {}),
        ("01 09 00 01 01 76 FA", "long_poll", "enable_game", {"game": 1, "enable": 1}),
        (
            "01 2F 04 00 00 00 01 A5 1B",
            "long_poll",
            "send_selected_meters",
            {"game": 0, "meters": ["total_coin_in", "total_coin_out"]},
        ),
        (
            "01 6F 06 00 00 00 00 A0 00 7C D8",
            "long_poll",
            "send_extended_meters",
            {"game": 0, "meters": ["total_coin_in", "aft_cashable_to_machine_cents"]},
        ),
        (
            "01 7F 03 15 20 26 10 11 12 78 14",
            "long_poll",
            "set_date_and_time",
            {"date": "2026-03-15", "time": "10:11:12"},
        ),
    ],
)
def test_what_a_host_says(sent: str, kind: str, name: str, fields: dict[str, object]) -> None:
    reading = read_host(frame(sent))
    assert (reading.kind, reading.name, reading.fields) == (kind, name, fields)
    assert reading.problem == ""
    json.dumps(reading.as_json())


@pytest.mark.parametrize(
    ("asked", "heard", "kind", "name", "fields"),
    [
        ("81", "00", "notice", "no_activity", {}),
        ("81", "11", "notice", "slot_door_opened", {}),
        ("81", "01 FF 11 14 A4", "event", "slot_door_opened", {}),
        ("01 54", "01 FF 11 14 A4", "event", "slot_door_opened", {}),
        ("01 1A", "01 1A 00 00 12 34 45 2D", "answer", "send_current_credits", {"value": 1234}),
        ("01 54", "01 54 09 36 30 33 53 4E 30 30 30 31 22 AD", "answer", "send_version_and_serial",
         {"version": "603", "serial": "SN0001"}),
        ("01 6F 06 00 00 00 00 A0 00 7C D8",
         "01 6F 11 00 00 00 00 04 00 00 12 34 A0 00 05 00 00 01 50 00 87 C0", "answer",
         "send_extended_meters",
         {"game": 0, "meters": {"total_coin_in": 1234, "aft_cashable_to_machine_cents": 15000}}),
        ("01 01 51 08", "01", "ack", "shutdown", {}),
        ("01 01 51 08", "81", "nack", "shutdown", {}),
        ("01 01 51 08", "01 00", "busy", "shutdown", {}),
    ],
)  # fmt: skip
def test_what_a_machine_answers(
    asked: str, heard: str, kind: str, name: str, fields: dict[str, object]
) -> None:
    reading = read_machine(frame(asked), frame(heard))
    assert (reading.kind, reading.name, reading.fields) == (kind, name, fields)
    json.dumps(reading.as_json())


def test_the_facts_of_an_event_have_names() -> None:
    reading = read_machine(b"\x81", frame("01 FF 4F 37 04 00 00 00 12 A4 A4"))
    assert reading.name == "bill_accepted"
    assert list(reading.fields.values()) == [37, 4, 12]


@pytest.mark.parametrize(
    ("asked", "heard", "problem"),
    [
        ("01 1A", "01 1A 00 00 12 34 45 2E", "bad crc"),
        ("01 1A", "02 1A 00 00 12 34 45 2D", "wrong address"),
        ("01 1A", "01 1B 00 00 12 34 45 2D", "wrong command"),
        ("01 1A", "01 1A 00", "too short"),
        ("81", "11 12", "a notice is one byte, an event has a CRC"),
        ("81", "01 FF 11 14 A5", "bad crc"),
        ("01 0C", "01 0C 00 00 00", "the poll is not in the table"),
        ("", "11", "nobody asked"),
        ("81", "", "no bytes"),
    ],
)
def test_why_an_answer_cannot_be_read(asked: str, heard: str, problem: str) -> None:
    reading = read_machine(frame(asked), frame(heard))
    assert (reading.kind, reading.problem) == ("unreadable", problem)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ("", "no bytes"),
        ("01", "an address without a command"),
        ("81 01", "a general poll is one byte"),
        ("01 0C", "unknown command"),
        ("01 01 51 09", "bad crc"),
    ],
)
def test_why_a_poll_cannot_be_read(sent: str, problem: str) -> None:
    assert read_host(frame(sent)).problem == problem


def test_a_byte_that_is_no_notice_is_shown_with_its_doubt() -> None:
    reading = read_machine(b"\x81", b"\xee")
    assert (reading.kind, reading.code, reading.problem) == ("notice", 0xEE, "no such notice")
    assert reading.as_text() == "notice EE (no such notice)"


def test_a_reading_is_one_line_of_text() -> None:
    reading = read_machine(
        frame("01 6F 06 00 00 00 00 A0 00 7C D8"),
        frame("01 6F 11 00 00 00 00 04 00 00 12 34 A0 00 05 00 00 01 50 00 87 C0"),
    )
    assert reading.as_text() == (
        "answer 6F send_extended_meters game=0 "
        "meters={total_coin_in=1234, aft_cashable_to_machine_cents=15000}"
    )
    assert read_host(frame("00 7F 03 15 20 26 10 11 12 00 00")).problem == "bad crc"
    assert read_host(b"\x81").as_text() == "general poll to 1"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["01"], "01 01 51 08"),
        (["54"], "01 54"),
        (["6F", "0000", "0000A000"], "01 6F 06 00 00 00 00 A0 00 7C D8"),
        (["6F", "0000A0"], "01 6F 04 00 00 A0 00 02 A7"),  # the last high byte left out
        (["6F", "00"], "01 6F 01 00 E9 4A"),  # makes no sense, and is sent all the same
        (["09", "0001"], "01 09 00 01 2C 91"),  # never "disable" because a byte is missing
        (["2f00000001"], "01 2F 04 00 00 00 01 A5 1B"),
        (["09", "00 01 01"], "01 09 00 01 01 76 FA"),
    ],
)
def test_a_person_writes_command_and_data(words: list[str], expected: str) -> None:
    assert request_from_hex(1, words) == frame(expected)


def test_a_command_outside_the_table_is_sent_as_it_is_with_a_crc() -> None:
    assert request_from_hex(1, ["0C", "AA"])[:3] == frame("01 0C AA")
    assert len(request_from_hex(1, ["0C", "AA"])) == 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "not a command"),
        (["zz"], "not a command"),
        (["6"], "not a command"),
        (["54", "00"], "54 send_version_and_serial takes no data"),
        (["6F", "00" * 256], "do not fit a length byte"),
    ],
)
def test_what_is_no_request_is_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        request_from_hex(1, words)


def test_a_recorded_conversation_is_read_with_and_without_directions() -> None:
    messages = [
        ("host", "80"), ("host", "81"), ("machine", "4A"), ("host", "80"), ("host", "01 1A"),
        ("machine", "01 1A 00 00 12 34 45 2D"), ("host", "01 01 51 08"), ("machine", "01"), ("host", "81"),
        ("host", "81"), ("machine", "00"),
    ]  # fmt: skip
    told, guessed = Listener(), Listener()
    with_directions = [told.hear(frame(text), sender) for sender, text in messages]  # type: ignore[arg-type]
    without = [guessed.hear(frame(text), "") for _, text in messages]
    assert [reading.name or reading.kind for reading in with_directions] == [
        "sync_poll", "general_poll", "bill_accepted_20", "sync_poll", "send_current_credits",
        "send_current_credits", "shutdown", "shutdown", "general_poll", "general_poll", "no_activity",
    ]  # fmt: skip
    assert without == with_directions


def test_an_empty_reading_has_every_key() -> None:
    assert set(Reading("sync_poll").as_json()) == {"kind", "address", "name", "code", "fields", "problem"}
