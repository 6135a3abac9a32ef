"""Code tables of SAS reference 9: denominations, countries, bills, validation types, features.

Numbers and their meaning only. Denomination values are exact: they are kept in hundredths of a cent, because
codes 1B..1F are below a cent.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

# --- 9.1 Denominations -------------------------------------------------------------------------------------

DENOMINATIONS: Final = MappingProxyType(
    {
        0x01: 100,
        0x02: 500,
        0x03: 1_000,
        0x04: 2_500,
        0x05: 5_000,
        0x06: 10_000,
        0x07: 50_000,
        0x08: 100_000,
        0x09: 200_000,
        0x0A: 1_000_000,
        0x0B: 2_000,
        0x0C: 20_000,
        0x0D: 25_000,
        0x0E: 250_000,
        0x0F: 500_000,
        0x10: 2_000_000,
        0x11: 2_500_000,
        0x12: 5_000_000,
        0x13: 10_000_000,
        0x14: 20_000_000,
        0x15: 25_000_000,
        0x16: 50_000_000,
        0x17: 200,
        0x18: 300,
        0x19: 1_500,
        0x1A: 4_000,
        0x1B: 50,  # 1B..1F: (1 src)
        0x1C: 25,
        0x1D: 20,
        0x1E: 10,
        0x1F: 5,
    }
)
"""Denomination code -> value in hundredths of a cent. Code 00 (none, not set) is absent. Source: 9.1."""

_CODE_OF_CENTS: Final = {value // 100: code for code, value in DENOMINATIONS.items() if value % 100 == 0}


def denomination_code(cents: int) -> int:
    """Return the code of a denomination in whole cents. Raises KeyError if SAS has none."""
    return _CODE_OF_CENTS[cents]


def denomination_cents(code: int) -> int | None:
    """Return the value in cents of a denomination code, None if unknown or not a whole number of cents."""
    value = DENOMINATIONS.get(code)
    return None if value is None or value % 100 else value // 100


# --- 9.2 Countries -----------------------------------------------------------------------------------------

COUNTRIES: Final = (
    "unknown",
    "Argentina",
    "Australia",
    "Austria",
    "Belgium",
    "Brazil",
    "Bulgaria",
    "Canada",
    "Colombia",
    "Cyprus",
    "Czechoslovakia",
    "Denmark",
    "Finland",
    "France",
    "Germany",
    "Great Britain",
    "Gibraltar",
    "Greece",
    "Guernsey",
    "Hungary",
    "Ireland",
    "Italy",
    "Jersey",
    "Luxembourg",
    "Malta",
    "Mexico",
    "Morocco",
    "Norway",
    "Poland",
    "Portugal",
    "Romania",
    "Russia",
    "Spain",
    "South Africa",
    "Sweden",
    "Switzerland",
    "Turkey",
    "United States",
    "Netherlands",
    "Euro",
)
"""Country by its decimal code (the index); sent as one BCD byte. Source: 9.2."""

UNITED_STATES: Final = 37

# --- 9.3 Bills ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bill:
    """One bill denomination and all numbers that SAS has for it.

    Attributes:
        value: whole currency units.
        code: decimal denomination code, sent as BCD in LP 48 and notice 4F.
        count_poll: long poll that returns its count, None if there is none.
        meter: meter of accepted bills.
        notice: notice outside real-time mode.
    """

    value: int
    code: int
    count_poll: int | None
    meter: int
    notice: int

    @property
    def mask(self) -> int:
        """Its bit in the 4-byte mask of LP 08: eight bills a byte, the first byte least significant."""
        return 1 << self.code


BILLS: Final = (
    Bill(1, 0, 0x31, 0x40, 0x47),
    Bill(2, 1, 0x32, 0x41, 0x4D),
    Bill(5, 2, 0x33, 0x42, 0x48),
    Bill(10, 3, 0x34, 0x43, 0x49),
    Bill(20, 4, 0x35, 0x44, 0x4A),
    Bill(25, 5, 0x3B, 0x45, 0x4F),
    Bill(50, 6, 0x36, 0x46, 0x4B),
    Bill(100, 7, 0x37, 0x47, 0x4C),
    Bill(200, 8, 0x3A, 0x48, 0x50),
    Bill(250, 9, 0x45, 0x49, 0x4F),
    Bill(500, 10, 0x38, 0x4A, 0x4E),
    Bill(1_000, 11, 0x39, 0x4B, 0x4F),
    Bill(2_000, 12, 0x3C, 0x4C, 0x4F),
    Bill(2_500, 13, 0x3E, 0x4D, 0x4F),
    Bill(5_000, 14, 0x3F, 0x4E, 0x4F),
    Bill(10_000, 15, 0x40, 0x4F, 0x4F),
    Bill(20_000, 16, 0x41, 0x50, 0x4F),
    Bill(25_000, 17, 0x42, 0x51, 0x4F),
    Bill(50_000, 18, 0x43, 0x52, 0x4F),
    Bill(100_000, 19, 0x44, 0x53, 0x4F),
    Bill(200_000, 20, None, 0x54, 0x4F),  # one source ends LP 48 at code 19; the enumeration goes on to 23
    Bill(250_000, 21, None, 0x55, 0x4F),
    Bill(500_000, 22, None, 0x56, 0x4F),
    Bill(1_000_000, 23, None, 0x57, 0x4F),
)
"""Every bill denomination, in order of its code. Source: 9.3."""

BILL_BY_VALUE: Final = MappingProxyType({bill.value: bill for bill in BILLS})
BILL_BY_NOTICE: Final = MappingProxyType({bill.notice: bill for bill in BILLS if bill.notice != 0x4F})
"""The bills that have a notice of their own outside real-time mode."""

# --- 9.6 Features of LP A0: name -> (feature byte 1..4, bit) -----------------------------------------------

FEATURES: Final = MappingProxyType(
    {
        "jackpot_multiplier": (1, 0),
        "aft_bonus_awards": (1, 1),
        "legacy_bonus_awards": (1, 2),
        "tournament": (1, 3),
        "validation_extensions": (1, 4),
        "validation_style_low": (1, 5),
        "validation_style_high": (1, 6),
        "ticket_redemption": (1, 7),
        "meter_model_low": (2, 0),
        "meter_model_high": (2, 1),
        "tickets_in_drop_and_cancelled": (2, 2),
        "extended_meters": (2, 3),
        "component_authentication": (2, 4),
        "jackpot_keyoff_notice": (2, 5),  # 6.03
        "aft": (2, 6),
        "multi_denomination": (2, 7),
        "polling_40_ms": (3, 0),
        "multiple_progressive_wins": (3, 1),
        "meter_change_notification": (3, 2),  # 6.03
        "session_play": (3, 4),  # 6.03
        "foreign_currency_redemption": (3, 5),  # 6.03
        "foreign_progressive_reporting": (3, 6),  # 6.03
        "enhanced_progressive_data": (3, 7),  # 6.03
        "maximum_progressive_payback": (4, 0),  # 6.03 (1 src)
    }
)
"""Feature name -> (byte of the answer, counted from 1; bit). Source: 9.6."""

METER_MODEL_WHEN_WON: Final = 0b01
METER_MODEL_WHEN_PAID: Final = 0b10
VALIDATION_STANDARD: Final = 0b00
VALIDATION_SYSTEM: Final = 0b01
VALIDATION_ENHANCED: Final = 0b10


def feature_bytes(*names: str) -> bytes:
    """Return the four feature bytes with these features set. Raises KeyError for an unknown name."""
    found = bytearray(4)
    for name in names:
        byte, bit = FEATURES[name]
        found[byte - 1] |= 1 << bit
    return bytes(found)


# --- 9.7 Validation types ----------------------------------------------------------------------------------

VALIDATION_TYPES: Final = MappingProxyType(
    {
        0x00: "cashable_ticket",
        0x01: "restricted_ticket",
        0x02: "cashable_ticket_from_transfer",
        0x03: "restricted_ticket_from_transfer",
        0x04: "debit_ticket_from_transfer",
        0x10: "cancelled_credit_handpay_with_receipt",
        0x20: "jackpot_handpay_with_receipt",
        0x40: "cancelled_credit_handpay",
        0x60: "jackpot_handpay",
        0x80: "cashable_ticket_redeemed",
        0x81: "restricted_ticket_redeemed",
        0x82: "non_restricted_ticket_redeemed",
    }
)
"""Validation type (LP 4D, LP 50) -> name. 80..82 are counted by LP 50 only. Source: 9.7."""
