"""The meter table: what each adds up to, whatever the meters stand at; and what each game keeps of its own."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.core import meters
from firmware.core.facts import KeyTurned
from firmware.core.meters import ATOMS, BY_SAS_CODE, COMPOSITES, GAME_ATOMS, METERS, game_value, value
from firmware.core.state import Machine
from tests.firmware.core.bench import Bench, DialGame, dial_rules

# SAS reference 10: total -> what it is the sum of.
IDENTITIES = {
    0x22: (0x01, 0x02), 0x01: (0x1C, 0x1D, 0x1E), 0x02: (0x1F, 0x20, 0x21), 0x23: (0x02, 0x03),
    0x0D: (0x80, 0x84), 0x0E: (0x86, 0x8A), 0x0F: (0x82,), 0x10: (0x88,), 0x11: (0x81, 0x85), 0x12: (0x87, 0x8B),
    0x13: (0x83,), 0x14: (0x89,), 0x15: (0x28, 0x2A), 0x28: (0x29, 0x2B), 0x16: (0x2C, 0x2D),
    0x18: (0x32, 0x33, 0x34), 0x17: (0x2E, 0x2F, 0x30, 0x31, 0xA8, 0xAA, 0xAC),
    0x04: (0x03, 0x16, 0x18), 0x24: (0x0A, 0x58, 0x15, 0x17), 0x58: (0x0B,),
    0x35: (0x81,), 0x36: (0x83,), 0x37: (0x85,), 0x38: (0x87, 0x8B), 0x39: (0x89,),
    0x29: (0x80,), 0x2A: (0x82,), 0x2B: (0x84,), 0x2C: (0x86, 0x8A), 0x2D: (0x88,), 0x31: (0xA6,),
}  # fmt: skip


def any_machine(seed: int, games: int = 3) -> Machine:
    """A machine whose meters stand anywhere, its games' own ones too."""
    chance = random.Random(seed)
    machine = Bench(dial_rules([DialGame(number=n + 1) for n in range(games)])).machine
    return replace(
        machine,
        meters=tuple(chance.randrange(10**12) for _ in machine.meters),
        game_meters=tuple(chance.randrange(10**12) for _ in machine.game_meters),
    )


def by_code(machine: Machine, code: int) -> int:
    return value(machine, BY_SAS_CODE[code].key)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_the_identities_of_the_reference_hold_wherever_the_meters_stand(seed: int) -> None:
    machine = any_machine(seed)
    for total, parts in IDENTITIES.items():
        assert by_code(machine, total) == sum(by_code(machine, part) for part in parts), f"{total:02X}"


def test_every_composite_with_a_sas_code_is_in_an_identity_or_is_a_plain_sum_of_its_kind() -> None:
    alone = {row.sas for row in COMPOSITES.values() if row.sas is not None} - IDENTITIES.keys()
    # electronic in and out by kind, notes by denomination, and what this cabinet can never have
    assert alone == {
        0x2E, 0x2F, 0x30, 0x32, 0x33, 0x34, *range(0x59, 0x63), *range(0x63, 0x79), *range(0x79, 0x7D)
    }  # fmt: skip
    for code in (*range(0x63, 0x79), *range(0x79, 0x7D)):
        row = BY_SAS_CODE[code]
        assert isinstance(row, meters.Composite)
        assert row.terms == ()
        assert row.needs, f"{code:02X} would be reported as 0 though nothing can count it"


def test_the_bills_to_the_drop_are_the_bills_accepted_of_ten_denominations() -> None:
    machine = any_machine(7)
    of_value = dict(zip(meters.BILL_VALUES, range(0x40, 0x58), strict=True))
    for code, bill in zip(range(0x59, 0x63), (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), strict=True):
        assert by_code(machine, code) == by_code(machine, of_value[bill])


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_the_identities_of_play_hold_for_each_game_too(seed: int) -> None:
    machine = any_machine(seed)
    for game in (1, 2, 3):
        for total in (0x22, 0x01, 0x02):
            parts = [game_value(machine, BY_SAS_CODE[code].key, game) for code in IDENTITIES[total]]
            assert None not in parts
            assert game_value(machine, BY_SAS_CODE[total].key, game) == sum(part or 0 for part in parts)


# The movement of decisions.md "Money and meters" -> the meters of the law that it raises.
MOVEMENTS = {
    "voucher_in_cashable_value": {"voucher_in"},
    "voucher_in_cashable_count": {"voucher_in_count"},
    "coupon_in_noncashable_value": {"coupon_promotion_in"},
    "coupon_in_noncashable_count": {"coupon_in_count"},
    "coupon_in_cashable_value": {"coupon_promotion_in"},
    "coupon_in_cashable_count": {"coupon_in_count"},
    "voucher_out_cashable_value": {"voucher_out"},
    "voucher_out_cashable_count": {"voucher_out_count"},
    "voucher_out_noncashable_value": {"voucher_out"},
    "voucher_out_noncashable_count": {"voucher_out_count"},
    "wat_in": {"cashable_electronic_in"},
    "cashable_electronic_promotion_in": {"cashable_electronic_in"},
    "noncashable_electronic_promotion_in": {"noncashable_electronic_in"},
    "aft_debit_in": {"electronic_funds_transfer_in", "cashable_electronic_in"},
    "eft_cashable_in": {"electronic_funds_transfer_in", "cashable_electronic_in"},
    "wat_out": set(), "cashable_electronic_promotion_out": set(), "noncashable_electronic_promotion_out": set(),
    "coin_out": set(), "attendant_paid_jackpots": set(), "machine_paid_external_bonus": set(),
    "attendant_paid_external_bonus": set(), "machine_paid_progressive": set(), "attendant_paid_progressive": set(),
    "attendant_paid_cancelled_credits": set(), "bill_in": set(), "coupon_promotion_out": set(),
}  # fmt: skip


@pytest.mark.parametrize("moved", sorted(MOVEMENTS))
def test_a_movement_raises_its_own_meter_of_the_law_and_those_that_include_it_and_no_other(
    moved: str,
) -> None:
    before = any_machine(3)
    raised = list(before.meters)
    raised[ATOMS[moved].slot] += 1_234
    after = replace(before, meters=tuple(raised))
    changed = {
        key
        for key, row in METERS.items()
        if any(clause.startswith(("NJ-28C-a", "PA-7-g-")) for clause in row.law)
        and value(after, key) - value(before, key) == 1_234
    }
    has_law = bool(ATOMS[moved].law)
    assert changed == MOVEMENTS[moved] | ({moved} if has_law else set())


@pytest.mark.law(
    "NJ-28C-a1ii", "PA-7-g-1-ii", partly="choosing among several games comes with the second game"
)
def test_the_games_own_meters_add_up_to_the_machines() -> None:
    bench = Bench()
    bench.give(cashable=10_000)
    for won in (0, 5, 0, 150_000):
        bench.game(won_credits=won)
    bench.do(KeyTurned("reset", True))
    for key, atom in GAME_ATOMS.items():
        kept = sum(game_value(bench.machine, key, game) or 0 for game in range(1, meters.GAME_COUNT_MAX + 1))
        assert kept == bench.machine.meters[atom.slot], key
    assert game_value(bench.machine, "coin_in", 1) == 4
    assert game_value(bench.machine, "attendant_paid_jackpots", 1) == 150_000


@pytest.mark.law("PA-7-g-1-ii", partly="choosing among several games comes with the second game")
def test_the_payback_is_weighted_by_coin_in() -> None:
    games = [DialGame(base_percent="9000"), DialGame(base_percent="9600"), DialGame(base_percent="8500")]
    machine = Bench(dial_rules(games)).machine
    assert value(machine, "weighted_average_payback") == 9000  # before the first wager: the first game's
    wagered = list(machine.game_meters)
    slot = ATOMS["coin_in"].game_slot or 0
    for game, cents in ((1, 100), (2, 300)):
        wagered[(game - 1) * meters.GAME_SLOT_COUNT + slot] = cents
    machine = replace(machine, game_meters=tuple(wagered))
    assert value(machine, "weighted_average_payback") == (100 * 9000 + 300 * 9600) // 400
    assert [game_value(machine, "weighted_average_payback", game) for game in (1, 2, 3)] == [9000, 9600, 8500]


def test_what_is_not_kept_per_game_says_so() -> None:
    machine = any_machine(1)
    for key in ("bill_in", "current_credits", "sas_total_drop", "attendant_paid_cancelled_credits"):
        assert game_value(machine, key, 1) is None


@pytest.mark.law("PA-7-j-4", partly="the label belongs to the panel")
def test_the_credit_meter_is_the_sum_of_all_kinds() -> None:
    bench = Bench()
    bench.give(cashable=100, non_restricted=20, restricted=3)
    assert (bench.meter("current_credits"), bench.meter("current_restricted_credits")) == (123, 3)


@pytest.mark.law("NJ-28C-a22", partly="the machine issues no coupons: always 0")
def test_coupons_out_stay_zero_and_move_no_credits() -> None:
    bench = Bench()
    bench.insert(2000)
    bench.game(won_credits=9)
    assert bench.meter("coupon_promotion_out") == 0
    assert not ATOMS["coupon_promotion_out"].books
