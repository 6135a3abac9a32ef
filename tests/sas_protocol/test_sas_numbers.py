"""Meters, notices and code tables against the reference's own lists (7, 9, 10), and answers made of meters."""

from __future__ import annotations

import pytest

from sas_protocol import codes
from sas_protocol.crc import append_crc
from sas_protocol.errors import EncodeError
from sas_protocol.frames import LENGTH_MAX, decode_answer
from sas_protocol.longpolls import BY_NAME, V603
from sas_protocol.meter_answers import MeterAnswers
from sas_protocol.meters import METER_BY_NAME, METER_SIZES, METERS, METERS_602, METERS_603, Unit
from sas_protocol.notices import NOTICE_BY_NAME, NOTICE_KINDS, NOTICES_602, NOTICES_603, Mode, encode_facts

RESERVED = {*range(0x3A, 0x3E), 0x7D, 0x7E, *range(0x94, 0xA0), *range(0xB2, 0xB8), *range(0xBE, 0xFA)}
# Reference 10, the Unit column: cents; every other code of the table is credits or count.
IN_CENTS = {
    *range(0x0D, 0x11),
    0x7B,
    *range(0x80, 0x94, 2),
    *range(0xA0, 0xB2, 2),
    *range(0xB8, 0xBE, 2),
}
COUNTS = {
    *range(0x05, 0x08),
    *range(0x11, 0x15),
    0x25,
    0x26,
    *range(0x35, 0x3A),
    0x3E,
    *range(0x40, 0x58),
    *range(0x59, 0x63),
    *range(0x64, 0x6E),
    *range(0x6F, 0x79),
    0x79,
    0x7C,
    *range(0x81, 0x94, 2),
    *range(0xA1, 0xB2, 2),
    *range(0xB9, 0xBE, 2),
}
PER_GAME = {*range(0x04), *range(0x05, 0x08), *range(0x1C, 0x23), 0x7F}
PRIORITY = "57 67 68 3F 6A 6B 6F 56 3D 3E 69 6C 6D 52 51 8F 70"
REISSUE_SECONDS = {
    0x57: 0.8, 0x68: 15, 0x3F: 15, 0x6A: 0.8, 0x6B: 0.8, 0x6F: 5, 0x56: 15, 0x3D: 15, 0x3E: 15, 0x69: 15,
    0x51: 15, 0x8F: 15,
}  # fmt: skip
NOTICE_CODES = """00 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F 20 21 22 23 24 25 26 27 28 29 2A 2B 2C 2D 2E 2F
31 32 33 34 35 36 37 38 39 3A 3B 3C 3D 3E 3F 40 41 42 43 44 45 46 47 48 49 4A 4B 4C 4D 4E 4F 50 51 52 53 54 55 56
57 59 5A 5F 60 61 66 67 68 69 6A 6B 6C 6D 6E 6F 70 71 72 74 75 76 77 78 79 7A 7B 7C 7E 7F 80 81 82 83 84 85 86 87
88 89 8A 8B 8C 8E 8F 98 99 9A 9B 9E 9F A0 A1 A2"""
DATA_SIZES = {0x4F: 6, 0x7C: 10, 0x7E: 8, 0x7F: 4, 0x88: 2, 0x8A: 4, 0x8B: 1, 0x8C: 2}


def codes_of(text: str) -> list[int]:
    return [int(each, 16) for each in text.split()]


def test_every_meter_code_is_there_but_the_reserved_ones() -> None:
    assert [meter.code for meter in METERS] == sorted(set(range(256)) - RESERVED)
    assert len(METER_BY_NAME) == len(METERS)


def test_meter_units_and_sizes_are_those_of_the_reference() -> None:
    assert {meter.code for meter in METERS if meter.unit is Unit.CENTS} == IN_CENTS
    assert {meter.code for meter in METERS if meter.unit is Unit.COUNT} == COUNTS
    assert {meter.code for meter in METERS if meter.unit is Unit.HUNDREDTHS_OF_PERCENT} == {0x7F}
    assert {meter.code for meter in METERS if meter.size == 5} == IN_CENTS
    assert {meter.size for meter in METERS} == {4, 5}
    assert {meter.code for meter in METERS if meter.per_game} == PER_GAME


def test_603_adds_meters_and_takes_none_away() -> None:
    added = set(METERS_603) - set(METERS_602)
    assert added == {*range(0x79, 0x7D), *range(0xFA, 0x100)}
    assert dict(METERS_602) == {code: METERS_603[code] for code in METERS_602}


def test_every_notice_is_there_once() -> None:
    assert [kind.code for kind in NOTICE_KINDS] == codes_of(NOTICE_CODES)
    assert len(NOTICE_BY_NAME) == len(NOTICE_KINDS)
    assert set(NOTICES_603) - set(NOTICES_602) == codes_set("2F 59 5A 5F 9E 9F A0 A1 A2")


def codes_set(text: str) -> set[int]:
    return set(codes_of(text))


def test_priority_notices_have_the_reference_order_and_timing() -> None:
    ranked = sorted((kind for kind in NOTICE_KINDS if kind.rank), key=lambda kind: kind.rank or 0)
    assert [kind.code for kind in ranked] == codes_of(PRIORITY)
    assert [kind.rank for kind in ranked] == list(range(1, 18))
    timing = {kind.code: kind.reissue_us / 1e6 for kind in NOTICE_KINDS if kind.reissue_us}
    assert timing == REISSUE_SECONDS
    ends = {kind.code: kind.reissue_for_us for kind in NOTICE_KINDS if kind.reissue_for_us}
    assert ends == {0x57: 10_000_000, 0x6A: 8_000_000, 0x6B: 8_000_000}


def test_notice_modes_are_those_of_column_r() -> None:
    real_time_only = {kind.code for kind in NOTICE_KINDS if kind.mode is Mode.REAL_TIME_ONLY}
    assert real_time_only == codes_set("87 88 89 8B")
    otherwise_only = {kind.code for kind in NOTICE_KINDS if kind.mode is Mode.NOT_REAL_TIME}
    assert otherwise_only == codes_set("1F 47 48 49 4A 4B 4C 4D 4E 50")


def test_real_time_data_have_the_sizes_of_the_reference() -> None:
    sizes = {}
    for kind in NOTICE_KINDS:
        data = encode_facts(kind, (0,) * len(kind.fields))
        if data:
            sizes[kind.code] = len(data)
    assert sizes == DATA_SIZES


def test_facts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(EncodeError):
        encode_facts(NOTICES_603[0x4F], (37, 4))
    with pytest.raises(EncodeError):
        encode_facts(NOTICES_603[0x8C], (10_000,))


def test_denominations_are_exact_both_ways() -> None:
    assert codes.denomination_cents(0x01) == 1
    assert codes.denomination_cents(0x16) == 500_000
    assert codes.denomination_cents(0x1A) == 40
    assert [codes.denomination_cents(code) for code in range(0x1B, 0x20)] == [None] * 5  # below a cent
    for code in range(0x01, 0x1B):
        cents = codes.denomination_cents(code)
        assert cents is not None
        assert codes.denomination_code(cents) == code
    with pytest.raises(KeyError):
        codes.denomination_code(7)


def test_bills_agree_with_polls_meters_and_notices() -> None:
    values = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500]
    assert [bill.value for bill in codes.BILLS[:11]] == values
    assert [bill.code for bill in codes.BILLS] == list(range(24))
    assert [bill.meter for bill in codes.BILLS] == list(range(0x40, 0x58))
    polls = {bill.count_poll for bill in codes.BILLS if bill.count_poll is not None}
    assert polls == {*range(0x31, 0x3D), *range(0x3E, 0x46)}
    assert codes.BILL_BY_VALUE[20].count_poll == 0x35
    assert {bill.value: bill.notice for bill in codes.BILLS if bill.notice != 0x4F} == {
        1: 0x47, 2: 0x4D, 5: 0x48, 10: 0x49, 20: 0x4A, 50: 0x4B, 100: 0x4C, 200: 0x50, 500: 0x4E,
    }  # fmt: skip
    assert sum(bill.mask for bill in codes.BILLS) == 0x00FFFFFF
    assert codes.COUNTRIES[codes.UNITED_STATES] == "United States"
    assert len(codes.COUNTRIES) == 40


def test_features_name_each_bit_once() -> None:
    assert len(set(codes.FEATURES.values())) == len(codes.FEATURES)
    assert codes.feature_bytes(
        "meter_model_low", "tickets_in_drop_and_cancelled", "extended_meters", "polling_40_ms"
    ) == (bytes([0x00, 0x0D, 0x01, 0x00]))


# --- Answers made of meters --------------------------------------------------------------------------------


def test_an_extended_answer_is_the_worked_frame() -> None:
    values = {0x00: 1234, 0xA0: 15_000}
    answers = MeterAnswers(lambda code, game: values.get(code))
    frame = append_crc(bytes((1, 0x6F)) + answers.extended(0, (0x00, 0xA0)))
    assert frame.hex(" ").upper() == "01 6F 11 00 00 00 00 04 00 00 12 34 A0 00 05 00 00 01 50 00 87 C0"


def test_a_moving_meter_is_sent_as_it_is_now_and_per_game() -> None:
    values = {(0x05, 0): 7, (0x05, 1): 3}
    answers = MeterAnswers(lambda code, game: values.get((code, game)))
    poll = BY_NAME["send_extended_meters"]

    def read(game: int) -> object:
        frame = append_crc(bytes((1, 0x6F)) + answers.extended(game, (0x05, 0x06)))
        return decode_answer(poll, 1, frame)["meters"]

    assert read(0) == ((0x05, 4, 7), (0x06, 0, None))
    values[0x05, 0] = 8
    assert read(0) == ((0x05, 4, 8), (0x06, 0, None))
    assert read(1) == ((0x05, 4, 3), (0x06, 0, None))


def test_codes_outside_the_version_are_unsupported_even_if_a_value_exists() -> None:
    answers = MeterAnswers(lambda code, game: 5)
    assert answers.extended(0, (0x79, 0x3A, 0x1234)) == bytes.fromhex("0B 0000 7900 00 3A00 00 3412 00")
    assert MeterAnswers(lambda code, game: 5, METERS_603).extended(0, (0x79,))[5] == 4


def test_meters_roll_over_at_the_size_they_are_sent_in() -> None:
    narrow = MeterAnswers(lambda code, game: 12_345_678_901)
    wide = MeterAnswers(lambda code, game: 12_345_678_901, wide=frozenset({0x00}))
    assert narrow.extended(0, (0x00,)) == bytes.fromhex("09 0000 0000 04 45678901")
    assert wide.extended(0, (0x00,)) == bytes.fromhex("0A 0000 0000 05 2345678901")
    assert narrow.selected(0, (0x00,)) == bytes.fromhex("07 0000 00 45678901")


def test_an_answer_stops_at_the_last_meter_that_fits() -> None:
    answers = MeterAnswers(lambda code, game: 1)
    body = answers.extended(0, (0x00,) * 126)
    assert body[0] == len(body) - 1 <= LENGTH_MAX
    assert (body[0] - 2) // 7 == 36
    assert decode_answer(V603[0x6F], 1, append_crc(b"\x01\x6f" + body))["meters"] == ((0, 4, 1),) * 36


def test_a_selected_answer_leaves_out_what_is_not_kept() -> None:
    answers = MeterAnswers(lambda code, game: None if code == 0x08 else 9)
    every = (0x00, 0x08, 0x0C, 0x3A, 0x05)
    poll = BY_NAME["send_selected_meters"]

    def read(game: int) -> object:
        return decode_answer(poll, 1, append_crc(b"\x01\x2f" + answers.selected(game, every)))["meters"]

    assert read(0) == ((0x00, 9), (0x0C, 9), (0x05, 9))
    assert read(1) == ((0x00, 9), (0x05, 9))
    assert answers.selected(0, (0x3A,)) == bytes.fromhex("02 0000")
    assert set(METER_SIZES) == {meter.code for meter in METERS}


def test_a_negative_meter_is_a_bug_and_not_a_frame() -> None:
    with pytest.raises(EncodeError):
        MeterAnswers(lambda code, game: -1).extended(0, (0x00,))
