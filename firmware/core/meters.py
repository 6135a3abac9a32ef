"""The meter table: every meter that a law or SAS asks for, in one place.

*Atoms* are stored: 64-bit counts, each of one kind of movement as the law words it, never reset but by a RAM
clear (decisions.md "Money and meters"). *Composites* are sums of atoms: law meters that add several movements,
and the SAS totals. *Derived* meters read other state, such as the credit meter.

Amounts are cents, everything else counts. Credits exist only at the SAS edge. A row's ``slot`` is its place in
critical memory for ever: a slot is never used again for another meter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from firmware.core.money import Money

if TYPE_CHECKING:
    from firmware.core.state import Machine

Unit = Literal["cents", "count", "hundredths_of_percent"]

SLOT_COUNT = 256
"""Slots of the machine's meters in critical memory."""

GAME_COUNT_MAX = 32
GAME_SLOT_COUNT = 16
"""Slots for each game's own meters; game i (1..32) has ``(i - 1) * 16 .. + 15``."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One stored count.

    Args:
        key: the law's or SAS's term in snake case.
        slot: place in the machine's meters, never reused.
        unit: ``cents`` or ``count``.
        sas: meter code of SAS 10 that is this very count, if any.
        law: clause ids of docs/law/requirements.tsv that define it.
        books: how the count moves the credit meter: kind -> +1 or -1.
        game_slot: place in each game's own meters, if kept per game.
        needs: the part of a cabinet without which nothing can count here ("" = always there).
    """

    key: str
    slot: int
    unit: Unit
    sas: int | None = None
    law: tuple[str, ...] = ()
    books: Mapping[Money, int] = field(default_factory=dict)
    game_slot: int | None = None
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Composite:
    """A sum of atoms."""

    key: str
    unit: Unit
    terms: tuple[str, ...]
    sas: int | None = None
    law: tuple[str, ...] = ()
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """A value read from other state."""

    key: str
    unit: Unit
    value: Callable[[Machine], int]
    sas: int | None = None
    law: tuple[str, ...] = ()
    needs: str = ""


_IN = {Money.CASHABLE: +1}
_OUT = {Money.CASHABLE: -1}
_IN_NON_RESTRICTED = {Money.NON_RESTRICTED: +1}
_OUT_NON_RESTRICTED = {Money.NON_RESTRICTED: -1}
_IN_RESTRICTED = {Money.RESTRICTED: +1}
_OUT_RESTRICTED = {Money.RESTRICTED: -1}
# For an atom that tells how much of a cashable total was in truth another kind of money.
_WAS_NON_RESTRICTED = {Money.CASHABLE: +1, Money.NON_RESTRICTED: -1}
_WAS_RESTRICTED = {Money.CASHABLE: +1, Money.RESTRICTED: -1}
_BECAME_NON_RESTRICTED = {Money.CASHABLE: -1, Money.NON_RESTRICTED: +1}

BILL_VALUES = (
    1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000, 2_000, 2_500, 5_000, 10_000, 20_000, 25_000,
    50_000, 100_000, 200_000, 250_000, 500_000, 1_000_000,
)  # fmt: skip
"""Notes in whole currency units, in the order of SAS 9.3 (bill denomination codes 0..23)."""

_PLAY = (
    Atom("coin_in", 0, "cents", 0x00, ("NJ-28C-a1", "NJ-28C-a1ii", "PA-7-g-1", "PA-7-g-1-ii"), _OUT, game_slot=0),
    Atom("coin_out", 1, "cents", 0x1C, ("NJ-28C-a2", "PA-7-g-2"), _IN, game_slot=1),
    Atom("attendant_paid_jackpots", 2, "cents", 0x1F, ("NJ-28C-a4", "PA-7-g-3"), game_slot=2),
    Atom("machine_paid_progressive", 3, "cents", 0x1D, ("NJ-28C-a26", "PA-7-g-20"), _IN, 3, "progressive"),
    Atom("attendant_paid_progressive", 4, "cents", 0x20, ("NJ-28C-a25", "PA-7-g-21"), {}, 4, "progressive"),
    Atom("machine_paid_external_bonus", 5, "cents", 0x1E, ("NJ-28C-a23", "PA-7-g-18"), _IN, 5, "bonus"),
    Atom("attendant_paid_external_bonus", 6, "cents", 0x21, ("NJ-28C-a24", "PA-7-g-19"), {}, 6, "bonus"),
    Atom("games_played", 7, "count", 0x05, ("PA-7-k-3",), game_slot=7),
    Atom("games_won", 8, "count", 0x06, game_slot=8),
    Atom("games_lost", 9, "count", 0x07, game_slot=9),
    Atom("restricted_played", 10, "cents", 0x19, (), _WAS_RESTRICTED),
    Atom("non_restricted_played", 11, "cents", 0x1A, (), _WAS_NON_RESTRICTED),
    Atom("attendant_paid_cancelled_credits", 12, "cents", 0x03, ("NJ-28C-a5", "PA-7-g-4"), _OUT),
    Atom("cancelled_credits_non_restricted", 13, "cents", None, (), _WAS_NON_RESTRICTED),
    Atom("cancelled_credits_restricted", 14, "cents", None, (), _WAS_RESTRICTED),
)  # fmt: skip

_COINS = (
    Atom("physical_coin_in", 20, "cents", 0x08, ("NJ-28C-a6",), _IN, needs="coin_acceptor"),
    Atom("physical_coin_out", 21, "cents", 0x09, ("NJ-28C-a7",), _OUT, needs="hopper"),
    Atom("coin_drop", 22, "cents", 0x0A, ("NJ-28C-a3",), needs="coin_acceptor"),
    Atom("external_coin_in", 23, "cents", 0x27, (), _IN, needs="external_coin_acceptor"),
)

_BILLS = (
    Atom("bill_in", 24, "cents", 0x0B, ("NJ-28C-a8", "PA-7-g-5"), _IN, needs="bill_acceptor"),
    *(
        Atom(f"bill_in_count_{value}", 26 + i, "count", 0x40 + i, ("NJ-28C-a8-den", "PA-7-g-5-den"), needs="bill_acceptor")
        for i, value in enumerate(BILL_VALUES)
    ),
)  # fmt: skip

_TICKETS = (
    Atom("voucher_in_cashable_value", 60, "cents", 0x80, ("PA-7-g-6",), _IN, needs="ticket_in"),
    Atom("voucher_in_cashable_count", 61, "count", 0x81, ("PA-7-g-7",), needs="ticket_in"),
    Atom("coupon_in_noncashable_value", 62, "cents", 0x82, ("PA-7-g-16",), _IN_RESTRICTED, needs="ticket_in"),
    Atom("coupon_in_noncashable_count", 63, "count", 0x83, ("PA-7-g-17",), needs="ticket_in"),
    Atom(
        "coupon_in_cashable_value", 64, "cents", 0x84, ("PA-7-g-14",), _IN_NON_RESTRICTED, needs="ticket_in"
    ),
    Atom("coupon_in_cashable_count", 65, "count", 0x85, ("PA-7-g-15",), needs="ticket_in"),
    Atom("voucher_out_cashable_value", 66, "cents", 0x86, ("PA-7-g-8",), _OUT, needs="printer"),
    Atom("voucher_out_cashable_count", 67, "count", 0x87, ("PA-7-g-9",), needs="printer"),
    Atom(
        "voucher_out_noncashable_value", 68, "cents", 0x88, ("PA-7-g-10",), _OUT_RESTRICTED, needs="printer"
    ),
    Atom("voucher_out_noncashable_count", 69, "count", 0x89, ("PA-7-g-11",), needs="printer"),
    Atom("voucher_out_non_restricted", 70, "cents", None, (), _WAS_NON_RESTRICTED, needs="printer"),
    Atom("debit_ticket_out_value", 71, "cents", 0x8A, needs="debit_ticket"),
    Atom("debit_ticket_out_count", 72, "count", 0x8B, needs="debit_ticket"),
    Atom("coupon_promotion_out", 73, "cents", None, ("NJ-28C-a22",)),
    Atom("validated_cancelled_credit_receipt_value", 74, "cents", 0x8C, needs="handpay_validation"),
    Atom("validated_cancelled_credit_receipt_count", 75, "count", 0x8D, needs="handpay_validation"),
    Atom("validated_jackpot_receipt_value", 76, "cents", 0x8E, needs="handpay_validation"),
    Atom("validated_jackpot_receipt_count", 77, "count", 0x8F, needs="handpay_validation"),
    Atom("validated_cancelled_credit_no_receipt_value", 78, "cents", 0x90, needs="handpay_validation"),
    Atom("validated_cancelled_credit_no_receipt_count", 79, "count", 0x91, needs="handpay_validation"),
    Atom("validated_jackpot_no_receipt_value", 80, "cents", 0x92, needs="handpay_validation"),
    Atom("validated_jackpot_no_receipt_count", 81, "count", 0x93, needs="handpay_validation"),
)

_CASHLESS = (
    Atom("wat_in", 90, "cents", 0xA0, ("NJ-28C-a15",), _IN, needs="aft"),
    Atom("wat_in_count", 91, "count", 0xA1, needs="aft"),
    Atom(
        "noncashable_electronic_promotion_in", 92, "cents", 0xA2, ("NJ-28C-a17",), _IN_RESTRICTED, needs="aft"
    ),
    Atom("noncashable_electronic_promotion_in_count", 93, "count", 0xA3, needs="aft"),
    Atom(
        "cashable_electronic_promotion_in",
        94,
        "cents",
        0xA4,
        ("NJ-28C-a18",),
        _IN_NON_RESTRICTED,
        needs="aft",
    ),
    Atom("cashable_electronic_promotion_in_count", 95, "count", 0xA5, needs="aft"),
    Atom("aft_debit_in", 96, "cents", 0xA6, (), _IN, needs="aft_debit"),
    Atom("aft_debit_in_count", 97, "count", 0xA7, needs="aft_debit"),
    Atom("aft_cashable_to_ticket", 98, "cents", 0xA8, needs="aft_to_ticket"),
    Atom("aft_cashable_to_ticket_count", 99, "count", 0xA9, needs="aft_to_ticket"),
    Atom("aft_restricted_to_ticket", 100, "cents", 0xAA, needs="aft_to_ticket"),
    Atom("aft_restricted_to_ticket_count", 101, "count", 0xAB, needs="aft_to_ticket"),
    Atom("aft_debit_to_ticket", 102, "cents", 0xAC, needs="debit_ticket"),
    Atom("aft_debit_to_ticket_count", 103, "count", 0xAD, needs="debit_ticket"),
    # The money of these two is counted by machine_paid_external_bonus; here only its origin is.
    Atom("aft_bonus_cashable_in", 104, "cents", 0xAE, needs="aft_bonus"),
    Atom("aft_bonus_cashable_in_count", 105, "count", 0xAF, needs="aft_bonus"),
    Atom("aft_bonus_non_restricted_in", 106, "cents", 0xB0, (), _BECAME_NON_RESTRICTED, needs="aft_bonus"),
    Atom("aft_bonus_non_restricted_in_count", 107, "count", 0xB1, needs="aft_bonus"),
    Atom("wat_out", 108, "cents", 0xB8, ("NJ-28C-a16",), _OUT, needs="aft"),
    Atom("wat_out_count", 109, "count", 0xB9, needs="aft"),
    Atom(
        "noncashable_electronic_promotion_out",
        110,
        "cents",
        0xBA,
        ("NJ-28C-a19",),
        _OUT_RESTRICTED,
        needs="aft",
    ),
    Atom("noncashable_electronic_promotion_out_count", 111, "count", 0xBB, needs="aft"),
    Atom(
        "cashable_electronic_promotion_out",
        112,
        "cents",
        0xBC,
        ("NJ-28C-a20",),
        _OUT_NON_RESTRICTED,
        needs="aft",
    ),
    Atom("cashable_electronic_promotion_out_count", 113, "count", 0xBD, needs="aft"),
    Atom("eft_cashable_in", 114, "cents", None, (), _IN, needs="eft"),
    Atom("eft_promotional_in", 115, "cents", None, (), _IN_RESTRICTED, needs="eft"),
    Atom("eft_cashable_out", 116, "cents", None, (), _OUT, needs="eft"),
    Atom("eft_promotional_out", 117, "cents", None, (), _OUT_RESTRICTED, needs="eft"),
    Atom("keyed_on_cashable", 118, "cents", 0xFA, (), _IN, needs="keyed_funds"),
    Atom("keyed_on_restricted", 119, "cents", 0xFB, (), _IN_RESTRICTED, needs="keyed_funds"),
    Atom("keyed_on_non_restricted", 120, "cents", 0xFC, (), _IN_NON_RESTRICTED, needs="keyed_funds"),
    Atom("keyed_off_cashable", 121, "cents", 0xFD, (), _OUT, needs="keyed_funds"),
    Atom("keyed_off_restricted", 122, "cents", 0xFE, (), _OUT_RESTRICTED, needs="keyed_funds"),
    Atom("keyed_off_non_restricted", 123, "cents", 0xFF, (), _OUT_NON_RESTRICTED, needs="keyed_funds"),
)

_HAPPENINGS = (
    Atom("power_resets", 130, "count"),
    Atom("main_door_openings", 131, "count"),
    Atom("belly_door_openings", 132, "count"),
    Atom("drop_door_openings", 133, "count"),
    Atom("cash_box_door_openings", 134, "count"),
    Atom("logic_door_openings", 135, "count"),
    Atom("top_box_door_openings", 136, "count"),
    Atom("acceptor_door_openings", 137, "count"),
    Atom("hard_meter_door_openings", 138, "count"),
)

ATOMS: Mapping[str, Atom] = {
    atom.key: atom for atom in (*_PLAY, *_COINS, *_BILLS, *_TICKETS, *_CASHLESS, *_HAPPENINGS)
}

_LAW_COMPOSITES = (
    Composite("voucher_in", "cents", ("voucher_in_cashable_value",), None, ("NJ-28C-a10",), "ticket_in"),
    Composite("voucher_in_count", "count", ("voucher_in_cashable_count",), None, ("NJ-28C-a12",), "ticket_in"),
    Composite(
        "voucher_out", "cents", ("voucher_out_cashable_value", "voucher_out_noncashable_value"),
        None, ("NJ-28C-a11",), "printer",
    ),
    Composite(
        "voucher_out_count", "count", ("voucher_out_cashable_count", "voucher_out_noncashable_count"),
        None, ("NJ-28C-a13",), "printer",
    ),
    Composite(
        "coupon_promotion_in", "cents", ("coupon_in_cashable_value", "coupon_in_noncashable_value"),
        None, ("NJ-28C-a21",), "ticket_in",
    ),
    Composite(
        "coupon_in_count", "count", ("coupon_in_cashable_count", "coupon_in_noncashable_count"),
        None, ("NJ-28C-a9",), "ticket_in",
    ),
    Composite(
        "electronic_funds_transfer_in", "cents", ("aft_debit_in", "eft_cashable_in"), None, ("NJ-28C-a14",), "aft",
    ),
    Composite(
        "cashable_electronic_in", "cents",
        ("wat_in", "cashable_electronic_promotion_in", "aft_debit_in", "eft_cashable_in"),
        None, ("PA-7-g-12",), "aft",
    ),
    Composite(
        "noncashable_electronic_in", "cents", ("noncashable_electronic_promotion_in", "eft_promotional_in"),
        None, ("PA-7-g-13",), "aft",
    ),
    Composite("games_since_ram_clear", "count", ("games_played",), None, ("PA-7-k-3",)),
)  # fmt: skip

_PAID_BY_MACHINE = ("coin_out", "machine_paid_progressive", "machine_paid_external_bonus")
_PAID_BY_ATTENDANT = (
    "attendant_paid_jackpots",
    "attendant_paid_progressive",
    "attendant_paid_external_bonus",
)
_TICKETS_IN = ("voucher_in_cashable_value", "coupon_in_cashable_value", "coupon_in_noncashable_value")
_TICKETS_OUT = ("voucher_out_cashable_value", "debit_ticket_out_value", "voucher_out_noncashable_value")
_TO_TICKET = ("aft_cashable_to_ticket", "aft_restricted_to_ticket", "aft_debit_to_ticket")
_ELECTRONIC_IN = (
    "wat_in", "noncashable_electronic_promotion_in", "cashable_electronic_promotion_in", "aft_debit_in",
    "eft_cashable_in", "eft_promotional_in", *_TO_TICKET,
)  # fmt: skip
_ELECTRONIC_OUT = (
    "wat_out", "noncashable_electronic_promotion_out", "cashable_electronic_promotion_out",
    "eft_cashable_out", "eft_promotional_out",
)  # fmt: skip
# Decision "A0 feature 2 bit 2 set": tickets and electronic transfers are part of meters 04 and 24.
_DROP = ("coin_drop", "bill_in", *_TICKETS_IN, *_ELECTRONIC_IN)
_CANCELLED = ("attendant_paid_cancelled_credits", *_TICKETS_OUT, *_ELECTRONIC_OUT)

_SAS_COMPOSITES = (
    Composite("sas_total_coin_out", "cents", _PAID_BY_MACHINE, 0x01),
    Composite("sas_total_jackpot", "cents", _PAID_BY_ATTENDANT, 0x02),
    Composite("sas_total_cancelled_credits", "cents", _CANCELLED, 0x04),
    Composite("sas_cashable_ticket_in_value", "cents", ("voucher_in_cashable_value", "coupon_in_cashable_value"), 0x0D, (), "ticket_in"),
    Composite("sas_cashable_ticket_out_value", "cents", ("voucher_out_cashable_value", "debit_ticket_out_value"), 0x0E, (), "printer"),
    Composite("sas_restricted_ticket_in_value", "cents", ("coupon_in_noncashable_value",), 0x0F, (), "ticket_in"),
    Composite("sas_restricted_ticket_out_value", "cents", ("voucher_out_noncashable_value",), 0x10, (), "printer"),
    Composite("sas_cashable_ticket_in_count", "count", ("voucher_in_cashable_count", "coupon_in_cashable_count"), 0x11, (), "ticket_in"),
    Composite("sas_cashable_ticket_out_count", "count", ("voucher_out_cashable_count", "debit_ticket_out_count"), 0x12, (), "printer"),
    Composite("sas_restricted_ticket_in_count", "count", ("coupon_in_noncashable_count",), 0x13, (), "ticket_in"),
    Composite("sas_restricted_ticket_out_count", "count", ("voucher_out_noncashable_count",), 0x14, (), "printer"),
    Composite("sas_total_ticket_in", "cents", _TICKETS_IN, 0x15, (), "ticket_in"),
    Composite("sas_total_ticket_out", "cents", _TICKETS_OUT, 0x16, (), "printer"),
    Composite("sas_total_electronic_in", "cents", _ELECTRONIC_IN, 0x17, (), "aft"),
    Composite("sas_total_electronic_out", "cents", _ELECTRONIC_OUT, 0x18, (), "aft"),
    Composite("sas_total_won", "cents", (*_PAID_BY_MACHINE, *_PAID_BY_ATTENDANT), 0x22),
    Composite("sas_total_hand_paid", "cents", ("attendant_paid_cancelled_credits", *_PAID_BY_ATTENDANT), 0x23),
    Composite("sas_total_drop", "cents", _DROP, 0x24),
    Composite("sas_cashable_ticket_in_credits", "cents", ("voucher_in_cashable_value", "coupon_in_cashable_value"), 0x28, (), "ticket_in"),
    Composite("sas_regular_cashable_ticket_in_credits", "cents", ("voucher_in_cashable_value",), 0x29, (), "ticket_in"),
    Composite("sas_restricted_ticket_in_credits", "cents", ("coupon_in_noncashable_value",), 0x2A, (), "ticket_in"),
    Composite("sas_non_restricted_ticket_in_credits", "cents", ("coupon_in_cashable_value",), 0x2B, (), "ticket_in"),
    Composite("sas_cashable_ticket_out_credits", "cents", ("voucher_out_cashable_value", "debit_ticket_out_value"), 0x2C, (), "printer"),
    Composite("sas_restricted_ticket_out_credits", "cents", ("voucher_out_noncashable_value",), 0x2D, (), "printer"),
    Composite("sas_electronic_cashable_in", "cents", ("wat_in", "eft_cashable_in"), 0x2E, (), "aft"),
    Composite("sas_electronic_restricted_in", "cents", ("noncashable_electronic_promotion_in", "eft_promotional_in"), 0x2F, (), "aft"),
    Composite("sas_electronic_non_restricted_in", "cents", ("cashable_electronic_promotion_in",), 0x30, (), "aft"),
    Composite("sas_electronic_debit_in", "cents", ("aft_debit_in",), 0x31, (), "aft_debit"),
    Composite("sas_electronic_cashable_out", "cents", ("wat_out", "eft_cashable_out"), 0x32, (), "aft"),
    Composite("sas_electronic_restricted_out", "cents", ("noncashable_electronic_promotion_out", "eft_promotional_out"), 0x33, (), "aft"),
    Composite("sas_electronic_non_restricted_out", "cents", ("cashable_electronic_promotion_out",), 0x34, (), "aft"),
    Composite("sas_regular_cashable_tickets_in", "count", ("voucher_in_cashable_count",), 0x35, (), "ticket_in"),
    Composite("sas_restricted_tickets_in", "count", ("coupon_in_noncashable_count",), 0x36, (), "ticket_in"),
    Composite("sas_non_restricted_tickets_in", "count", ("coupon_in_cashable_count",), 0x37, (), "ticket_in"),
    Composite("sas_cashable_tickets_out", "count", ("voucher_out_cashable_count", "debit_ticket_out_count"), 0x38, (), "printer"),
    Composite("sas_restricted_tickets_out", "count", ("voucher_out_noncashable_count",), 0x39, (), "printer"),
    # A note that is stacked is in the drop: this cabinet's acceptor has no recycler.
    Composite("sas_bills_to_drop", "cents", ("bill_in",), 0x58, (), "bill_acceptor"),
    *(
        Composite(f"sas_bills_to_drop_count_{value}", "count", (f"bill_in_count_{value}",), 0x59 + i, (), "bill_acceptor")
        for i, value in enumerate((1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000))
    ),
    Composite("sas_bills_to_hopper", "cents", (), 0x63, (), "bill_recycler"),
    *(
        Composite(f"sas_bills_to_hopper_count_{value}", "count", (), 0x64 + i, (), "bill_recycler")
        for i, value in enumerate((1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000))
    ),
    Composite("sas_bills_dispensed", "cents", (), 0x6E, (), "bill_recycler"),
    *(
        Composite(f"sas_bills_dispensed_count_{value}", "count", (), 0x6F + i, (), "bill_recycler")
        for i, value in enumerate((1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000))
    ),
    Composite("sas_sessions_played", "count", (), 0x79, (), "session_play"),
    Composite("sas_tip_money", "cents", (), 0x7A, (), "tips"),
    Composite("sas_foreign_bills_value", "cents", (), 0x7B, (), "foreign_bills"),
    Composite("sas_foreign_bills_count", "count", (), 0x7C, (), "foreign_bills"),
    # LP 83; no code of its own in SAS 10.
    Composite("sas_cumulative_progressive_wins", "cents", ("machine_paid_progressive", "attendant_paid_progressive"), None, (), "progressive"),
)  # fmt: skip

COMPOSITES: Mapping[str, Composite] = {row.key: row for row in (*_LAW_COMPOSITES, *_SAS_COMPOSITES)}


def _games_since(mark: str) -> Callable[[Machine], int]:
    return lambda machine: machine.meters[ATOMS["games_played"].slot] - getattr(machine.marks, mark)


def _wagered(machine: Machine) -> int:
    play = machine.shown_play
    return play.wager_cents if play else 0


def _won(machine: Machine) -> int:
    """Of the game just ended; while the reels turn nobody is told what they will show."""
    play = machine.shown_play
    return 0 if play is None or machine.game_in_play else play.win_cents


def _bills_stacked(machine: Machine) -> int:
    first = ATOMS["bill_in_count_1"].slot
    return sum(machine.meters[first : first + len(BILL_VALUES)])


DERIVED: Mapping[str, Derived] = {
    row.key: row
    for row in (
        Derived("current_credits", "cents", lambda machine: machine.credits.total, 0x0C, ("PA-7-j-4",)),
        Derived("credits_wagered", "cents", _wagered, None, ("PA-7-j-1",)),
        Derived("win", "cents", _won, None, ("PA-7-j-2",)),
        Derived(
            "credits_paid", "cents", lambda machine: machine.marks.last_paid_cents,
            None, ("PA-7-j-3-i", "PA-7-j-3-ii", "PA-7-j-3-iii"),
        ),
        Derived("current_restricted_credits", "cents", lambda machine: machine.credits.restricted, 0x1B),
        Derived("games_since_power_up", "count", _games_since("games_at_power_up"), 0x25, ("PA-7-k-1",)),
        Derived("games_since_door_closed", "count", _games_since("games_at_door_closed"), 0x26, ("PA-7-k-2",)),
        Derived(
            "bills_in_stacker", "count", lambda machine: _bills_stacked(machine) - machine.marks.bills_at_stacker,
            0x3E, (), "bill_acceptor",
        ),
        Derived(
            "bills_in_stacker_value", "cents",
            lambda machine: machine.meters[ATOMS["bill_in"].slot] - machine.marks.bill_in_at_stacker,
            0x3F, (), "bill_acceptor",
        ),
        Derived(
            "weighted_average_payback", "hundredths_of_percent", lambda machine: machine.rules.weighted_payback(machine), 0x7F,
        ),
    )
}  # fmt: skip

Row = Atom | Composite | Derived

METERS: Mapping[str, Row] = {**ATOMS, **COMPOSITES, **DERIVED}
"""Every meter by key."""

BY_SAS_CODE: Mapping[int, Row] = {row.sas: row for row in METERS.values() if row.sas is not None}

GAME_ATOMS: Mapping[str, Atom] = {key: atom for key, atom in ATOMS.items() if atom.game_slot is not None}

_COMPOSITE_SLOTS = {key: tuple(ATOMS[term].slot for term in row.terms) for key, row in COMPOSITES.items()}
_COMPOSITE_GAME_SLOTS = {
    key: tuple(GAME_ATOMS[term].game_slot for term in row.terms)
    for key, row in COMPOSITES.items()
    if row.terms and all(term in GAME_ATOMS for term in row.terms)
}


def _books() -> tuple[tuple[int, int, int] | None, ...]:
    table: list[tuple[int, int, int] | None] = [None] * SLOT_COUNT
    for atom in ATOMS.values():
        if atom.books:
            signs = [atom.books.get(kind, 0) for kind in Money]
            table[atom.slot] = (signs[0], signs[1], signs[2])
    return tuple(table)


BOOKS = _books()
"""Slot -> what one unit there moves on the credit meter, in the order of ``Money``; ``None``: nothing."""


def value(machine: Machine, key: str) -> int:
    """The machine-wide value of a meter, in its row's unit. Raises KeyError for an unknown key."""
    row = METERS[key]
    if isinstance(row, Atom):
        return machine.meters[row.slot]
    if isinstance(row, Composite):
        meters = machine.meters
        return sum(meters[slot] for slot in _COMPOSITE_SLOTS[key])
    return row.value(machine)


def game_value(machine: Machine, key: str, game: int) -> int | None:
    """The value of a meter for one game (1..32), or ``None`` where it is not kept per game."""
    base = (game - 1) * GAME_SLOT_COUNT
    row = METERS[key]
    if isinstance(row, Atom):
        return None if row.game_slot is None else machine.game_meters[base + row.game_slot]
    if key == "weighted_average_payback":
        return machine.rules.game(game).base_hundredths
    slots = _COMPOSITE_GAME_SLOTS.get(key)
    return None if slots is None else sum(machine.game_meters[base + (slot or 0)] for slot in slots)
