"""The tables of the core and of the SAS language are complete, unique, and agree with one another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable

from firmware.core import events, meters, settings, tilts
from sas_protocol import meters as sas_meters
from sas_protocol import notices
from simulator.law.clauses import load

CLAUSES = load()
SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def repeated(values: Iterable[Hashable]) -> list[Hashable]:
    return [value for value, count in Counter(values).items() if count > 1]


# --- meters ---------------------------------------------------------------------------------------------


def test_every_meter_has_one_name_in_one_of_the_three_tables() -> None:
    total = len(meters.ATOMS) + len(meters.COMPOSITES) + len(meters.DERIVED)
    assert len(meters.METERS) == total
    for key, row in meters.METERS.items():
        assert row.key == key
        assert SNAKE_CASE.fullmatch(key)


def test_every_stored_meter_has_a_slot_of_its_own() -> None:
    assert repeated(row.slot for row in meters.ATOMS.values()) == []
    assert all(0 <= row.slot < meters.SLOT_COUNT for row in meters.ATOMS.values())
    game_slots = [row.game_slot for row in meters.ATOMS.values() if row.game_slot is not None]
    assert repeated(game_slots) == []
    assert all(0 <= slot < meters.GAME_SLOT_COUNT for slot in game_slots)


def test_every_composite_is_a_sum_of_stored_meters_of_its_unit_and_counts_none_twice() -> None:
    for row in meters.COMPOSITES.values():
        assert repeated(row.terms) == [], row.key
        for term in row.terms:
            assert meters.ATOMS[term].unit == row.unit, row.key


def test_every_sas_meter_code_has_exactly_one_row_and_every_row_a_code_that_exists() -> None:
    codes = [row.sas for row in meters.METERS.values() if row.sas is not None]
    assert repeated(codes) == []
    assert set(codes) == {meter.code for meter in sas_meters.METERS}


def test_sas_and_the_core_agree_on_what_each_meter_counts() -> None:
    alike = {
        sas_meters.Unit.CREDITS: "cents",  # credits exist only on the line
        sas_meters.Unit.CENTS: "cents",
        sas_meters.Unit.COUNT: "count",
        sas_meters.Unit.HUNDREDTHS_OF_PERCENT: "hundredths_of_percent",
    }
    for meter in sas_meters.METERS:
        assert meters.BY_SAS_CODE[meter.code].unit == alike[meter.unit], meter.name


def test_the_sas_meter_table_is_sorted_and_unique() -> None:
    codes = [meter.code for meter in sas_meters.METERS]
    assert codes == sorted(set(codes))
    assert repeated(meter.name for meter in sas_meters.METERS) == []


def test_every_meter_of_the_law_is_a_row() -> None:
    """NJ 1.28C(a)1..26 and PA 461a.7(g)1..21 and (k) each name a meter; (g)22 and 1.28C(a)27 name none."""
    named = re.compile(r"NJ-28C-a(?!1i$|27)\d+(-den|ii)?|PA-7-g-(?!22|1-i$)\d+(-den|-ii)?|PA-7-k-\d+")
    asked = {identifier for identifier in CLAUSES if named.fullmatch(identifier)}
    cited = {clause for row in meters.METERS.values() for clause in row.law}
    assert len(asked) > 45
    assert asked - cited == set()
    assert cited - CLAUSES.keys() == set()


# --- tilts, events, settings ----------------------------------------------------------------------------


def test_every_condition_has_a_key_a_bit_and_words_of_its_own() -> None:
    rows = list(tilts.CONDITIONS.values())
    assert repeated(row.bit for row in rows) == []
    assert all(0 <= row.bit < 64 for row in rows)
    assert repeated(row.text for row in rows) == []
    for key, row in tilts.CONDITIONS.items():
        assert row.key == key
        assert SNAKE_CASE.fullmatch(key)
        assert row.text == row.text.upper()


def test_every_condition_reports_events_that_exist() -> None:
    for row in tilts.CONDITIONS.values():
        assert {row.raised, row.cleared} - {""} <= events.EVENTS.keys(), row.key


def test_only_a_technician_ends_a_hard_tilt_that_lasts() -> None:
    for row in tilts.CONDITIONS.values():
        if row.kind == "hard":
            assert row.cleared_by in {"ram_clear", "self"}, row.key


def test_every_event_has_a_key_and_a_number_of_its_own() -> None:
    rows = list(events.EVENTS.values())
    assert len(events.BY_NUMBER) == len(rows)
    assert all(0 < row.number < 256 for row in rows)
    for key, row in events.EVENTS.items():
        assert row.key == key
        assert SNAKE_CASE.fullmatch(key)
        assert row.public == "" or SNAKE_CASE.fullmatch(row.public)
        assert row.text


def test_every_event_that_hosts_hear_is_a_sas_notice() -> None:
    codes = {kind.code for kind in notices.NOTICE_KINDS}
    for row in events.EVENTS.values():
        assert row.host is None or row.host in codes, row.key
        assert row.host_facts == () or row.host is not None, row.key
    assert events.OVERFLOW_HOST_CODE in codes


def test_the_sas_notices_are_unique() -> None:
    assert repeated(kind.code for kind in notices.NOTICE_KINDS) == []
    assert repeated(kind.name for kind in notices.NOTICE_KINDS) == []


def test_every_setting_has_a_key_and_a_slot_of_its_own_and_a_default_in_range() -> None:
    rows = list(settings.SETTINGS.values())
    assert repeated(row.slot for row in rows) == []
    for key, row in settings.SETTINGS.items():
        assert row.key == key
        assert SNAKE_CASE.fullmatch(key)
        assert 0 <= row.slot < settings.SLOT_COUNT
        assert row.low <= row.default <= row.high
        assert row.unit in {"cents", "count", "flag", "us", "bits"}
        assert row.text
