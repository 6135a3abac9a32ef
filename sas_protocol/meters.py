"""The meter codes of LP 2F, 6F and AF: SAS reference 10, whole. Numbers only; no values live here.

LP 2F names a meter by one byte; 6F and AF by two, least significant first, the high byte 00.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from sas_protocol.codes import BILLS


class Unit(Enum):
    """What a meter counts."""

    CREDITS = "credits"  # of the accounting denomination
    CENTS = "cents"  # hundredths of the base currency unit
    COUNT = "count"
    HUNDREDTHS_OF_PERCENT = "hundredths_of_percent"


@dataclass(frozen=True, slots=True)
class Meter:
    """One meter code.

    Attributes:
        size: bytes of BCD in LP 2F, and the least size in 6F/AF.
        per_game, per_denomination: kept so where the machine supports it ("GD" in the reference).
        since: first SAS version that has it.
        note: a doubt or a thinness of sources, empty if none.
    """

    code: int
    name: str
    unit: Unit
    size: int
    per_game: bool = False
    per_denomination: bool = False
    since: int = 602
    note: str = ""
    source: str = "SAS reference 10"


def _credits(code: int, name: str, *, per_game: bool = False, note: str = "", since: int = 602) -> Meter:
    """A meter in credits; those kept per game are kept per denomination too."""
    return Meter(code, name, Unit.CREDITS, 4, per_game, per_game, since, note)


def _count(code: int, name: str, *, per_game: bool = False, note: str = "", since: int = 602) -> Meter:
    """A meter that counts events or things."""
    return Meter(code, name, Unit.COUNT, 4, per_game, per_game, since, note)


def _amount_and_count(code: int, name: str) -> tuple[Meter, Meter]:
    """The pairs from 80 on: cents at the even code, their count at the next."""
    return (
        Meter(code, f"{name}_cents", Unit.CENTS, 5),
        Meter(code + 1, f"{name}_count", Unit.COUNT, 4),
    )


def _cents(code: int, name: str, *, note: str = "", since: int = 602) -> Meter:
    """A single meter in cents."""
    return Meter(code, name, Unit.CENTS, 5, since=since, note=note)


_SMALL_BILLS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The ten bills that have to-drop, to-hopper and from-hopper meters, in order of their codes."""


def _ten_bills(first: int, name: str) -> tuple[Meter, ...]:
    return tuple(_count(first + i, f"{name}_{value}") for i, value in enumerate(_SMALL_BILLS))


METERS: Final[tuple[Meter, ...]] = (
    _credits(0x00, "total_coin_in", per_game=True),
    _credits(0x01, "total_coin_out", per_game=True),
    _credits(0x02, "total_jackpot", per_game=True),
    _credits(0x03, "hand_paid_cancelled_credits", per_game=True, note="per game and denomination (?)"),
    _credits(0x04, "total_cancelled_credits"),
    _count(0x05, "games_played", per_game=True),
    _count(0x06, "games_won", per_game=True),
    _count(0x07, "games_lost", per_game=True),
    _credits(0x08, "coin_acceptor_credits"),
    _credits(0x09, "hopper_paid_credits"),
    _credits(0x0A, "coins_to_drop_credits"),
    _credits(0x0B, "bills_accepted_credits"),
    _credits(0x0C, "current_credits"),
    _cents(0x0D, "sas_cashable_ticket_in_cents"),
    _cents(0x0E, "sas_cashable_ticket_out_cents"),
    _cents(0x0F, "sas_restricted_ticket_in_cents"),
    _cents(0x10, "sas_restricted_ticket_out_cents"),
    _count(0x11, "sas_cashable_ticket_in_count"),
    _count(0x12, "sas_cashable_ticket_out_count"),
    _count(0x13, "sas_restricted_ticket_in_count"),
    _count(0x14, "sas_restricted_ticket_out_count"),
    _credits(0x15, "total_ticket_in"),
    _credits(0x16, "total_ticket_out"),
    _credits(0x17, "total_electronic_to_machine"),
    _credits(0x18, "total_electronic_to_host"),
    _credits(0x19, "restricted_played"),
    _credits(0x1A, "non_restricted_played"),
    _credits(0x1B, "current_restricted_credits"),
    _credits(0x1C, "machine_paid_paytable_win", per_game=True),
    _credits(0x1D, "machine_paid_progressive_win", per_game=True),
    _credits(0x1E, "machine_paid_external_bonus", per_game=True),
    _credits(0x1F, "attendant_paid_paytable_win", per_game=True),
    _credits(0x20, "attendant_paid_progressive_win", per_game=True),
    _credits(0x21, "attendant_paid_external_bonus", per_game=True),
    _credits(0x22, "total_won", per_game=True),
    _credits(0x23, "total_hand_paid"),
    _credits(0x24, "total_drop"),
    _count(0x25, "games_since_power_reset"),
    _count(0x26, "games_since_door_closed"),
    _credits(0x27, "external_coin_acceptor_credits"),
    _credits(0x28, "cashable_ticket_in_with_non_restricted"),
    _credits(0x29, "regular_cashable_ticket_in"),
    _credits(0x2A, "restricted_ticket_in"),
    _credits(0x2B, "non_restricted_ticket_in"),
    _credits(0x2C, "cashable_ticket_out_with_debit"),
    _credits(0x2D, "restricted_ticket_out"),
    _credits(0x2E, "electronic_cashable_to_machine"),
    _credits(0x2F, "electronic_restricted_to_machine"),
    _credits(0x30, "electronic_non_restricted_to_machine"),
    _credits(0x31, "electronic_debit_to_machine"),
    _credits(0x32, "electronic_cashable_to_host"),
    _credits(0x33, "electronic_restricted_to_host"),
    _credits(0x34, "electronic_non_restricted_to_host"),
    _count(0x35, "regular_cashable_tickets_in"),
    _count(0x36, "restricted_tickets_in"),
    _count(0x37, "non_restricted_tickets_in"),
    _count(0x38, "cashable_tickets_out_with_debit"),
    _count(0x39, "restricted_tickets_out"),
    _count(0x3E, "bills_in_stacker"),
    _credits(0x3F, "bills_in_stacker_credits"),
    *(_count(bill.meter, f"bills_accepted_{bill.value}") for bill in BILLS),
    _credits(0x58, "bills_to_drop_credits"),
    *_ten_bills(0x59, "bills_to_drop"),
    _credits(0x63, "bills_to_hopper_credits"),
    *_ten_bills(0x64, "bills_to_hopper"),
    _credits(0x6E, "bills_from_hopper_credits"),
    *_ten_bills(0x6F, "bills_from_hopper"),
    _count(0x79, "sessions_played", since=603),
    _credits(0x7A, "tip_money", since=603, note="(1 src), unit (?)"),
    _cents(0x7B, "foreign_bills_accepted_cents", since=603, note="(1 src)"),
    _count(0x7C, "foreign_bills_accepted", since=603, note="(1 src)"),
    Meter(0x7F, "weighted_average_payback", Unit.HUNDREDTHS_OF_PERCENT, 4, True, True),
    *_amount_and_count(0x80, "validated_cashable_ticket_in"),
    *_amount_and_count(0x82, "validated_restricted_ticket_in"),
    *_amount_and_count(0x84, "validated_non_restricted_ticket_in"),
    *_amount_and_count(0x86, "validated_cashable_ticket_out"),
    *_amount_and_count(0x88, "validated_restricted_ticket_out"),
    *_amount_and_count(0x8A, "validated_debit_ticket_out"),
    *_amount_and_count(0x8C, "validated_cancelled_credit_handpay_with_receipt"),
    *_amount_and_count(0x8E, "validated_jackpot_handpay_with_receipt"),
    *_amount_and_count(0x90, "validated_cancelled_credit_handpay"),
    *_amount_and_count(0x92, "validated_jackpot_handpay"),
    *_amount_and_count(0xA0, "aft_cashable_to_machine"),
    *_amount_and_count(0xA2, "aft_restricted_to_machine"),
    *_amount_and_count(0xA4, "aft_non_restricted_to_machine"),
    *_amount_and_count(0xA6, "aft_debit_to_machine"),
    *_amount_and_count(0xA8, "aft_cashable_to_ticket"),
    *_amount_and_count(0xAA, "aft_restricted_to_ticket"),
    *_amount_and_count(0xAC, "aft_debit_to_ticket"),
    *_amount_and_count(0xAE, "aft_bonus_cashable_to_machine"),
    *_amount_and_count(0xB0, "aft_bonus_non_restricted_to_machine"),
    *_amount_and_count(0xB8, "aft_cashable_to_host"),
    *_amount_and_count(0xBA, "aft_restricted_to_host"),
    *_amount_and_count(0xBC, "aft_non_restricted_to_host"),
    _credits(0xFA, "keyed_on_cashable", since=603),
    _credits(0xFB, "keyed_on_restricted", since=603),
    _credits(0xFC, "keyed_on_non_restricted", since=603),
    _credits(0xFD, "keyed_off_cashable", since=603),
    _credits(0xFE, "keyed_off_restricted", since=603),
    _credits(0xFF, "keyed_off_non_restricted", since=603),
)
"""Every meter, by rising code. Reserved codes (3A-3D, 7D-7E, 94-9F, B2-B7, BE-F9) are absent."""

ADDED_IN_603: Final = MappingProxyType({meter.code: meter for meter in METERS if meter.since == 603})
METERS_602: Final = MappingProxyType({meter.code: meter for meter in METERS if meter.since == 602})
METERS_603: Final = MappingProxyType({**METERS_602, **ADDED_IN_603})
METER_BY_NAME: Final = MappingProxyType({meter.name: meter for meter in METERS})
METER_SIZES: Final = MappingProxyType({meter.code: meter.size for meter in METERS})
"""Code -> size in bytes, for all versions: what a host needs to step through an LP 2F answer."""
