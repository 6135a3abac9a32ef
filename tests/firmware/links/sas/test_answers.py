"""Read polls: what each says of a machine whose meters stand anywhere, in the units and widths of the wire."""

from __future__ import annotations

import datetime
import itertools
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.core.cash_in import Idle
from firmware.core.meters import BY_SAS_CODE, game_value, value
from firmware.core.money import Amounts
from firmware.core.state import Machine, new_machine
from firmware.links.sas.answers import ANSWERS, METER_POLLS
from firmware.links.sas.view import SasIdentity
from sas_protocol.codes import BILLS
from sas_protocol.crc import crc16
from sas_protocol.longpolls import V603, LongPoll, bills, identity, meters
from sas_protocol.meters import METERS_602, Unit
from tests.firmware.core.bench import Bench, DialGame, dial_rules, with_meters
from tests.firmware.links.sas.host import Host

GAMES = (
    DialGame(bets=(1, 2, 5), base_percent="9512", paytable_id="PT0001"),
    DialGame(number=2, bets=(1, 300), base_percent="8800", paytable_id="PT0002"),
)
NACK = b"\x81"

# LP -> the machine's own meter, and whether SAS counts it in credits (12.2).
SINGLES = {
    meters.SEND_TOTAL_CANCELLED_CREDITS: ("sas_total_cancelled_credits", True),
    meters.SEND_TOTAL_COIN_IN: ("coin_in", True),
    meters.SEND_TOTAL_COIN_OUT: ("sas_total_coin_out", True),
    meters.SEND_TOTAL_DROP: ("sas_total_drop", True),
    meters.SEND_TOTAL_JACKPOT: ("sas_total_jackpot", True),
    meters.SEND_GAMES_PLAYED: ("games_played", False),
    meters.SEND_GAMES_WON: ("games_won", False),
    meters.SEND_GAMES_LOST: ("games_lost", False),
    meters.SEND_CURRENT_CREDITS: ("current_credits", True),
}
FIVE = {
    "total_coin_in": ("coin_in", True),
    "total_coin_out": ("sas_total_coin_out", True),
    "total_drop": ("sas_total_drop", True),
    "total_jackpot": ("sas_total_jackpot", True),
    "games_played": ("games_played", False),
}
GROUPS = {
    meters.SEND_METERS_11_TO_15: FIVE,
    meters.SEND_METERS_10_TO_15: {"total_cancelled_credits": ("sas_total_cancelled_credits", True), **FIVE},
    meters.SEND_EIGHT_METERS: {
        **FIVE,
        "games_won": ("games_won", False),
        "slot_door_openings": ("main_door_openings", False),
        "power_resets": ("power_resets", False),
    },
}


def any_machine(seed: int, denomination: int) -> Machine:
    """Meters of up to 13 digits, so that those of 8 digits have rolled over."""
    chance = random.Random(seed)
    machine = new_machine(dial_rules(GAMES), {"accounting_denomination": denomination})
    return replace(
        machine,
        meters=tuple(chance.randrange(10 ** chance.randrange(1, 13)) for _ in machine.meters),
        game_meters=tuple(chance.randrange(10**9) for _ in machine.game_meters),
        credits=Amounts(chance.randrange(10**6), chance.randrange(10**6), chance.randrange(10**6)),
    )


def expected(machine: Machine, key: str, in_credits: bool, width: int = 10**8) -> int:
    amount = value(machine, key)
    return (amount // machine.denomination if in_credits else amount) % width


DENOMINATIONS = pytest.mark.parametrize("denomination", [1, 5, 25, 100])


@pytest.mark.law("NJ-28B-k", partly="over HTTP and in the menu is shown elsewhere")
@DENOMINATIONS
def test_single_and_grouped_meters_say_what_the_machine_counted(denomination: int) -> None:
    for seed in range(5):
        machine = any_machine(seed, denomination)
        host = Host(machine)
        for poll, (key, in_credits) in SINGLES.items():
            assert host.ask(poll) == {"value": expected(machine, key, in_credits)}, poll.name
        for poll, fields in GROUPS.items():
            wanted = {name: expected(machine, *meter) for name, meter in fields.items()}
            assert host.ask(poll) == wanted, poll.name


@DENOMINATIONS
def test_each_total_is_floored_on_its_own(denomination: int) -> None:
    """Two parts of less than a credit each are nothing, and their sum may be a credit (decisions.md)."""
    parts = {"coin_out": 60 * denomination // 100, "machine_paid_external_bonus": 60 * denomination // 100}
    machine = with_meters(
        new_machine(dial_rules(parts=("bonus",)), {"accounting_denomination": denomination}), **parts
    )
    host = Host(machine)
    said = extended(host, (0x01, 0x1C, 0x1E))
    assert said[0x1C] == parts["coin_out"] // denomination
    assert said[0x01] == sum(parts.values()) // denomination


def extended(
    host: Host, codes: tuple[int, ...], game: int = 0, poll: LongPoll = meters.SEND_EXTENDED_METERS
) -> dict[int, int | None]:
    """Meter code -> value; ``None`` for size 00: the machine lacks it."""
    answer = host.ask(poll, {"game": game, "meters": codes})
    assert isinstance(answer, dict)
    assert answer["game"] == game
    return {code: value if size else None for code, size, value in answer["meters"]}


@pytest.mark.law("NJ-28B-k", partly="over HTTP and in the menu is shown elsewhere")
@given(seed=st.integers(0, 2**32), denomination=st.sampled_from((1, 5, 25, 100)))
@settings(max_examples=6)
def test_every_meter_of_the_table_is_sent_with_its_unit_or_said_to_be_lacking(
    seed: int, denomination: int
) -> None:
    machine = any_machine(seed, denomination)
    host = Host(machine)
    codes = tuple(METERS_602)
    for start in range(0, len(codes), 12):
        asked = codes[start : start + 12]
        for poll in (meters.SEND_EXTENDED_METERS, meters.SEND_EXTENDED_METERS_TWIN):
            found = extended(host, asked, poll=poll)
            assert tuple(found) == asked
            for code, said in found.items():
                row, meter = BY_SAS_CODE[code], METERS_602[code]
                if row.needs and row.needs not in machine.rules.parts:
                    assert said is None, f"{code:02X}"
                    continue
                wanted = expected(machine, row.key, meter.unit is Unit.CREDITS, 100**meter.size)
                assert said == wanted, f"{code:02X}"


def test_the_selected_meters_leave_out_what_the_cabinet_lacks() -> None:
    host = Host(any_machine(3, 25))
    answer = host.ask(meters.SEND_SELECTED_METERS, {"game": 0, "meters": (0x00, 0xA0, 0x0B, 0x08)})
    coin_in, bill_in = expected(host.machine, "coin_in", True), expected(host.machine, "bill_in", True)
    assert answer == {"game": 0, "meters": ((0x00, coin_in), (0x0B, bill_in))}
    assert host.hex("01 2F 03 00 00 08 " + crc("01 2F 03 00 00 08")) == "01 2F 02 00 00 " + crc(
        "01 2F 02 00 00"
    )


def crc(frame: str) -> str:
    return crc16(bytes.fromhex(frame)).to_bytes(2, "little").hex(" ").upper()


def test_the_meters_of_one_game_are_its_own_and_an_unknown_game_has_none() -> None:
    host = Host(any_machine(4, 5))
    for game in (1, 2):
        found = extended(host, (0x00, 0x05, 0x22, 0x7F, 0x0C, 0x24), game)
        for code in (0x00, 0x05, 0x22, 0x7F):
            row = BY_SAS_CODE[code]
            own = game_value(host.machine, row.key, game)
            assert own is not None
            assert found[code] == (own // 5 if row.unit == "cents" else own) % 10**8
        assert found[0x0C] is found[0x24] is None
        single = host.ask(meters.SEND_GAME_METERS, {"game": game})
        assert isinstance(single, dict)
        assert single["total_coin_in"] == (game_value(host.machine, "coin_in", game) or 0) // 5 % 10**8
    assert extended(host, (0x00, 0x05), 3) == {0x00: None, 0x05: None}
    assert host.ask(meters.SEND_SELECTED_METERS, {"game": 3, "meters": (0x00,)}) == {"game": 3, "meters": ()}


@pytest.mark.parametrize(
    "poll", [meters.SEND_GAME_METERS, identity.SEND_GAME_CONFIGURATION, identity.SEND_ENABLED_FEATURES]
)
def test_a_game_that_does_not_exist_is_nacked(poll: LongPoll) -> None:
    host = Host(any_machine(4, 5))
    assert host.ask(poll, {"game": 3}) == NACK
    for game in (0, 1, 2):
        assert isinstance(host.ask(poll, {"game": game}), dict)


@pytest.mark.law("NJ-28B-l2", partly="the display belongs to the panel")
def test_a_meter_of_eight_digits_rolls_over_to_zero_and_goes_on() -> None:
    bench = Bench()
    bench.give(cashable=1_000)
    bench.machine = with_meters(bench.machine, games_played=99_999_999)
    said = []
    for _ in range(3):
        host = Host(bench.machine)
        single, many = host.ask(meters.SEND_GAMES_PLAYED), extended(host, (0x05,))
        assert isinstance(single, dict)
        assert single["value"] == many[0x05]
        said.append(single["value"])
        bench.game()
    assert said == [99_999_999, 0, 1]
    assert [(new - old) % 10**8 for old, new in itertools.pairwise(said)] == [1, 1]


@pytest.mark.law("NJ-28B-l3", "PA-7-i", partly="multi-denomination play comes with its subject")
def test_twenty_nickels_are_twenty_credits_on_the_line_and_a_dollar_inside() -> None:
    bench = Bench(dial_rules([DialGame(bets=(20,))]), accounting_denomination=5)
    bench.give(cashable=1_000)
    bench.game()
    assert Host(bench.machine).ask(meters.SEND_TOTAL_COIN_IN) == {"value": 20}
    assert bench.meter("coin_in") == 100


def test_games_since_have_four_digits() -> None:
    machine = with_meters(any_machine(1, 1), games_played=123_456)
    machine = replace(
        machine, marks=replace(machine.marks, games_at_power_up=3_456, games_at_door_closed=123_450)
    )
    said = Host(machine).ask(meters.SEND_GAMES_SINCE)
    assert said == {"games_since_power_reset": 0, "games_since_door_closed": 6}


# --- bills ---


def test_bills_are_counted_by_value_and_valued_in_whole_dollars_whatever_the_denomination() -> None:
    bench = Bench(accounting_denomination=25)
    for dollars in (1, 5, 10, 20, 20, 2, 100):
        bench.insert(dollars * 100)
    host = Host(bench.machine)
    counts = {1: 1, 5: 1, 10: 1, 20: 2, 50: 0, 100: 1}
    assert host.ask(bills.SEND_BILL_COUNTS) == {f"bills_{value}": count for value, count in counts.items()}
    assert host.ask(meters.SEND_BILLS_TOTAL_VALUE) == {"value": 158}
    assert extended(host, (0x0B,))[0x0B] == 158 * 4
    assert host.ask(bills.SEND_LAST_BILL) == {"country": 37, "denomination": 7, "count": 1}


@pytest.mark.parametrize("bill", BILLS, ids=lambda bill: str(bill.value))
def test_the_last_bill_of_any_value_is_named_by_its_code(bill: Any) -> None:
    machine = replace(any_machine(1, 1), cash_in=Idle(bill.value * 100))
    machine = with_meters(machine, **{f"bill_in_count_{bill.value}": 12})
    assert Host(machine).ask(bills.SEND_LAST_BILL) == {"country": 37, "denomination": bill.code, "count": 12}


def test_the_last_bill_as_the_reference_writes_it() -> None:
    machine = with_meters(replace(any_machine(1, 1), cash_in=Idle(2000)), bill_in_count_20=12)
    assert Host(machine).hex("01 48") == "01 48 37 04 00 00 00 12 D7 5D"
    assert Host().ask(bills.SEND_LAST_BILL) == {"country": 0, "denomination": 0, "count": 0}


@pytest.mark.parametrize(
    "poll", [bills.SEND_BILL_COUNTS, bills.SEND_LAST_BILL, meters.SEND_BILLS_TOTAL_VALUE]
)
def test_a_cabinet_without_an_acceptor_ignores_polls_about_bills(poll: LongPoll) -> None:
    host = Host(new_machine(dial_rules(parts=()), {}))
    assert host.ask(poll) == b""
    assert host.poll() == b"\x00"


# --- who the machine is ---


def test_identity_as_the_reference_writes_it() -> None:
    host = Host(new_machine(dial_rules(GAMES[:1]), {}), identity=SasIdentity("603", "SN0001", "EM", "000"))
    block = "45 4D 30 30 30 01 05 00 00 00 50 54 30 30 30 31 39 35 31 32"
    assert host.hex("01 1F") == f"01 1F {block} C0 B4"
    assert host.hex("01 54") == "01 54 09 36 30 33 53 4E 30 30 30 31 22 AD"
    for game in ("00 00", "00 01"):
        answer = f"01 53 {game} {block}"
        assert host.hex(f"01 53 {game} " + crc(f"01 53 {game}")) == f"{answer} {crc(answer)}"


def test_a_machine_of_several_games_says_what_holds_for_all_and_for_each() -> None:
    host = Host(new_machine(dial_rules(GAMES), {"accounting_denomination": 25}))
    whole, zero = host.ask(identity.SEND_MACHINE_ID), host.ask(identity.SEND_GAME_CONFIGURATION, {"game": 0})
    assert isinstance(whole, dict)
    assert isinstance(zero, dict)
    assert zero == {"game": 0, **whole}
    assert (whole["denomination"], whole["max_bet"], whole["paytable_id"]) == (4, 100, "PT0001")
    second = host.ask(identity.SEND_GAME_CONFIGURATION, {"game": 2})
    assert isinstance(second, dict)
    assert (second["max_bet"], second["base_percent"], second["paytable_id"]) == (100, "8800", "PT0002")
    first = host.ask(identity.SEND_GAME_CONFIGURATION, {"game": 1})
    assert isinstance(first, dict)
    assert first["max_bet"] == 5
    assert host.ask(identity.SEND_GAME_COUNT) == {"count": 2}
    assert host.ask(identity.SEND_SELECTED_GAME) == {"game": 1}
    assert host.ask(identity.SEND_ENABLED_GAMES) == {"games": (1, 2)}


def test_the_features_say_only_what_is_true() -> None:
    """Meter model 01, tickets in the totals, 6F/AF, 40 ms (decisions.md); nothing whose polls are refused."""
    assert Host().hex("01 A0 00 00 6C 13") == "01 A0 00 00 00 0D 01 00 00 00 " + crc(
        "01 A0 00 00 00 0D 01 00 00 00"
    )
    said = Host(identity=SasIdentity("603", "S", "EM", "000")).ask(
        identity.SEND_ENABLED_FEATURES, {"game": 0}
    )
    assert isinstance(said, dict)
    assert said["feature_4"] == 0
    served = {poll.code for poll in (*ANSWERS, *METER_POLLS)}
    needed = {
        0x7B: (1, 4),
        0x70: (1, 7),
        0x72: (2, 6),
        0x6E: (2, 4),
        0xB0: (2, 7),
        0x87: (3, 1),
        0x8A: (1, 2),
        0x8C: (1, 3),
    }
    for code, (byte, bit) in needed.items():
        assert bool(said[f"feature_{byte}"] >> bit & 1) is (code in served), f"{code:02X}"


def test_the_clock_is_read_at_the_poll() -> None:
    host = Host()
    assert host.ask(identity.SEND_DATE_AND_TIME) == {
        "date": datetime.date(2026, 3, 15), "time": datetime.time(10, 11, 12)
    }  # fmt: skip
    host.wall_us += 86_400_000_000
    again = host.ask(identity.SEND_DATE_AND_TIME)
    assert isinstance(again, dict)
    assert again["date"] == datetime.date(2026, 3, 16)


def test_the_clock_is_right_on_a_line_without_a_ninth_bit_after_the_state_has_changed() -> None:
    host = Host(marked=False)
    host.set(host.machine)
    host.now_us += 100_000
    host.port.write(b"\x01\x7e", wakeup=None)
    answer = host.step() or host.step(10_000)
    assert answer[2:9].hex() == "03152026101112"


# --- all of them ---


@pytest.mark.parametrize(
    "poll", sorted({*ANSWERS, *METER_POLLS}, key=lambda poll: poll.code), ids=lambda poll: f"{poll.code:02X}"
)
def test_every_served_read_poll_is_answered_on_a_new_machine(poll: LongPoll) -> None:
    values = {"game": 0, "meters": (0,)} if poll in METER_POLLS else {"game": 0}
    answer = Host().ask(poll, None if poll.is_read else values)
    assert isinstance(answer, dict)


UNSERVED = [poll for poll in V603.values() if poll.is_read and poll not in ANSWERS]


@pytest.mark.parametrize("poll", UNSERVED, ids=lambda poll: f"{poll.code:02X}")
def test_no_other_read_poll_is_answered(poll: LongPoll) -> None:
    host = Host()
    assert host.ask(poll) == b""
    assert host.poll() == b"\x00"  # and the line goes on
