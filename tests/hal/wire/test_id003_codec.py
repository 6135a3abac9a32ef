"""The ID-003 codec against bytes from outside, and against any bytes at all."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.wire import id003
from hal.wire.errors import DecodeError

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "id003.toml").read_text(encoding="utf-8")
)
FRAMES = [pytest.param(entry, id=f"{entry['sender']}: {entry['meaning']}") for entry in VECTORS["frame"]]

frames = st.builds(id003.Frame, st.integers(0, 255), st.binary(max_size=250))


def test_crc_has_the_published_check_value() -> None:
    assert id003.crc(VECTORS["crc_check"]["text"].encode()) == VECTORS["crc_check"]["crc"]


@pytest.mark.parametrize("entry", FRAMES)
def test_golden_frame_both_ways(entry: dict[str, Any]) -> None:
    wire, code, data = bytes.fromhex(entry["bytes"]), entry["code"], bytes.fromhex(entry["data"])
    assert id003.encode(code, data) == wire
    assert id003.decode(wire) == id003.Frame(code, data)


@pytest.mark.parametrize("entry", FRAMES)
def test_golden_frame_has_a_name_in_our_tables(entry: dict[str, Any]) -> None:
    acceptor = {*id003.Status, *id003.Setting, *id003.QUERIES, id003.ACK, id003.INVALID_COMMAND}
    host = {*id003.Command, *id003.Setting, id003.ACK}
    known = {"host": host, "acceptor": acceptor, "both": host & acceptor}[entry["sender"]]
    assert entry["code"] in known


def test_golden_frames_one_byte_at_a_time() -> None:
    wires = [bytes.fromhex(entry["bytes"]) for entry in VECTORS["frame"]]
    framer = id003.Framer()
    got = [frame for i, byte in enumerate(b"".join(wires)) for frame in framer.receive(i, bytes([byte]))]
    assert got == [id003.decode(wire) for wire in wires]
    assert not framer.errors


@given(frames)
def test_round_trip(frame: id003.Frame) -> None:
    assert id003.decode(id003.encode(frame.code, frame.data)) == frame


def test_a_frame_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="251 data bytes"):
        id003.encode(0x88, bytes(251))


@pytest.mark.parametrize(
    ("wire", "reason", "offset"),
    [
        ("", "bad_start", 0),
        ("00", "bad_start", 0),
        ("FC", "bad_length", 1),
        ("FC 04 11 27", "bad_length", 1),
        ("FC 06 11 27 56", "bad_length", 1),
        ("FC 05 11 27 57", "bad_crc", 3),
        ("FC 05 12 27 56", "bad_crc", 3),
    ],
)
def test_decode_says_what_is_wrong(wire: str, reason: str, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        id003.decode(bytes.fromhex(wire))
    assert (caught.value.reason, caught.value.offset) == (reason, offset)


@given(st.binary(max_size=300))
def test_any_bytes_give_a_frame_or_a_decode_error(data: bytes) -> None:
    try:
        frame = id003.decode(data)
    except DecodeError:
        return
    assert id003.encode(frame.code, frame.data) == data


@given(frames, st.integers(0, 254), st.integers(0, 7))
def test_no_single_bit_error_passes(frame: id003.Frame, place: int, bit: int) -> None:
    wire = bytearray(id003.encode(frame.code, frame.data))
    wire[place % len(wire)] ^= 1 << bit
    with pytest.raises(DecodeError):
        id003.decode(bytes(wire))


# --- Framer ---------------------------------------------------------------------------------------

GOOD = id003.encode(id003.Status.IDLING)


@given(st.binary(max_size=600), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_the_framer_recovers_at_the_next_good_frame_after_a_gap(noise: bytes, cuts: list[int]) -> None:
    framer, now = id003.Framer(), 0
    at = 0
    while at < len(noise):
        size = cuts[at % len(cuts)]
        framer.receive(now, noise[at : at + size])
        at, now = at + size, now + 1_000
    now += framer.gap_us
    assert framer.receive(now, GOOD)[-1:] == [id003.Frame(0x11)]


@pytest.mark.parametrize(
    "noise", ["00", "05 11", "FC", "FC 05", "FC 01", "FC FC", "FC 07 FC", "FC 05 11 27 57"]
)
def test_noise_in_front_costs_no_good_frame(noise: str) -> None:
    framer = id003.Framer()
    got = framer.receive(0, bytes.fromhex(noise) + GOOD + GOOD)
    got += framer.receive(framer.gap_us, b"")
    assert got[-1] == id003.Frame(0x11)
    assert len(got) == 2
    assert framer.errors


def test_a_gap_inside_a_frame_gives_it_up() -> None:
    framer = id003.Framer(gap_us=20_000)
    assert framer.receive(100, GOOD[:3]) == []
    assert framer.gap_due_us == 20_100
    assert framer.receive(20_099, b"") == []
    assert framer.receive(20_100, GOOD[3:]) == []
    assert framer.errors["gap"] == 1
    assert framer.receive(20_200, GOOD) == [id003.Frame(0x11)]
    assert framer.gap_due_us is None


def test_a_pause_shorter_than_the_gap_does_no_harm() -> None:
    framer, got = id003.Framer(), []
    for i, byte in enumerate(GOOD):
        got += framer.receive(i * (id003.GAP_US - 1), bytes([byte]))
    assert got == [id003.Frame(0x11)]


def test_clear_forgets_half_a_frame() -> None:
    framer = id003.Framer()
    framer.receive(0, GOOD[:4])
    framer.clear()
    assert framer.receive(1, GOOD[4:] + GOOD) == [id003.Frame(0x11)]


# --- Identification -------------------------------------------------------------------------------


def test_version_of_the_worked_example() -> None:
    version = id003.parse_version(b"i(USA)100-SS ID003-05V280-42 01AUG17 964D")
    assert version == id003.Version(
        text="i(USA)100-SS ID003-05V280-42 01AUG17 964D",
        model="i",
        country="USA",
        bill_table="100-SS",
        protocol="05",
        firmware="V280",
        revision="42",
        date="01AUG17",
        checksum="964D",
    )


@pytest.mark.parametrize(
    ("text", "model", "table", "checksum"),
    [
        ("U(USA)-24-SS ID003-03V201-11 10SEP08 1a2b", "U", "24-SS", "1A2B"),
        ("U(USA)24 ID003-03V201-11 10SEP08 XYZW", "U", "24", ""),
        ("", "", "", ""),
        ("plain", "plain", "", ""),
    ],
)
def test_versions_with_missing_or_other_words(text: str, model: str, table: str, checksum: str) -> None:
    version = id003.parse_version(text.encode())
    assert (version.model, version.bill_table, version.checksum) == (model, table, checksum)
    assert version.text == text


@given(st.binary(max_size=80))
def test_any_bytes_give_a_version_or_a_decode_error(data: bytes) -> None:
    try:
        assert id003.parse_version(data).text == data.decode("ascii").strip()
    except DecodeError as error:
        assert error.reason == "bad_data"


def test_boot_version_is_stripped() -> None:
    assert id003.parse_boot_version(b"B05 ") == "B05"


def test_currency_assign_of_the_worked_frame_is_the_us_table() -> None:
    entry = next(e for e in VECTORS["frame"] if e["meaning"].startswith("currency assign, US"))
    data = bytes.fromhex(entry["data"])
    assert id003.parse_currency_assign(data) == id003.US_TABLE
    assert id003.encode_currency_assign(id003.US_TABLE) == data
    assert id003.US_CENTS == {0x61: 100, 0x63: 500, 0x64: 1000, 0x65: 2000, 0x66: 5000, 0x67: 10000}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "bad_length"),
        ("61 01 01", "bad_length"),
        ("61 01 01 08", "bad_data"),
        ("61 01 01 00 61 01 05 00", "bad_data"),
    ],
)
def test_a_broken_currency_table_is_refused(data: str, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        id003.parse_currency_assign(bytes.fromhex(data))
    assert caught.value.reason == reason


def test_denomination_mask_of_the_us_notes_is_the_us_default() -> None:
    assert (
        id003.denomination_mask(frozenset(id003.US_CENTS))
        == id003.SETTING_DEFAULTS[id003.Setting.DENOMINATION]
    )
    assert id003.denomination_mask(frozenset()) == bytes.fromhex("FF00")
    assert id003.denomination_mask(frozenset({0x69}), positions=16) == bytes.fromhex("FFFE")


@given(st.frozensets(st.integers(0x61, 0x68)))
def test_a_mask_enables_what_it_was_made_for(codes: frozenset[int]) -> None:
    mask = id003.denomination_mask(codes)
    assert {code for code in range(0x61, 0x69) if id003.is_enabled(mask, code)} == codes
    assert not id003.is_enabled(mask, 0x60)
    assert not id003.is_enabled(mask, id003.TICKET + 2)


def test_reject_and_failure_words() -> None:
    assert id003.reject_reason(b"\x79") == "inhibited"
    assert id003.reject_reason(b"\x55") == "reason_55"
    assert id003.reject_reason(b"") == "unnamed"
    assert id003.failed_part(b"\xa2") == "stacker motor"
    assert id003.failed_part(b"\x01") == "part 01"
    assert id003.failed_part(b"") == "unnamed part"


def test_tables_are_whole() -> None:
    assert set(id003.SETTING_SIZES) == set(id003.SETTING_DEFAULTS) == set(id003.Setting)
    assert all(len(id003.SETTING_DEFAULTS[s]) == size for s, size in id003.SETTING_SIZES.items())
    assert len(set(id003.REJECT_REASONS.values())) == len(id003.REJECT_REASONS) == 24
    assert len(set(id003.FAILURES.values())) == len(id003.FAILURES) == 14
    assert id003.INVALID_COMMAND not in set(id003.Status)
