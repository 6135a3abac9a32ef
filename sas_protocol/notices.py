"""Notices: the one-byte news of a machine ("exceptions" in SAS), as a table. SAS reference 7 and 8.

A ``Notice`` is one item of the machine's queue; a ``NoticeKind`` is its row here: how urgent it is, in which
mode it may be sent, what data it carries in real-time mode and how often it is repeated until answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from sas_protocol.errors import EncodeError
from sas_protocol.fields import Bcd, Binary, Field, encode_fields


class Mode(Enum):
    """In which reporting mode a notice is sent: column R of the reference's table."""

    ANY = ""
    REAL_TIME_ONLY = "R"
    NOT_REAL_TIME = "N"


class Notice(NamedTuple):
    """One pending item of news.

    Attributes:
        sequence: unique number within the machine's persisted queue, rising.
        code: notice code, 01..FF.
        facts: the real-time data as integers, in the order of ``NoticeKind.fields``; empty if it has none.
    """

    sequence: int
    code: int
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NoticeKind:
    """One row of the table.

    Attributes:
        rank: 1..17 for priority notices (1 goes first), None for those that queue first in, first out.
        reissue_us: a priority notice that is still pending is sent again this long after its implied
            acknowledgement; None: once.
        reissue_for_us: no repeats later than this after the first acknowledgement; None: without end.
        fields: data after the code in real-time mode.
        since: first SAS version that has it.
        note: a doubt or a thinness of sources, empty if none.
    """

    code: int
    name: str
    mode: Mode = Mode.ANY
    rank: int | None = None
    reissue_us: int | None = None
    reissue_for_us: int | None = None
    fields: tuple[Field, ...] = ()
    since: int = 602
    note: str = ""
    source: str = "SAS reference 7.2"


_SECOND: Final = 1_000_000

NOTHING: Final = 0x00
"""Answer to a general poll when nothing is pending."""
BILL_ACCEPTED: Final = 0x4F
"""In real-time mode: every bill, with data. Otherwise: every bill without a code of its own."""


def _priority(
    code: int, name: str, rank: int, reissue_us: int | None = None, reissue_for_us: int | None = None
) -> NoticeKind:
    """A priority notice: source 7.1."""
    return NoticeKind(code, name, Mode.ANY, rank, reissue_us, reissue_for_us, source="SAS reference 7.1")


def _with_data(code: int, name: str, *fields: Field, mode: Mode = Mode.ANY, note: str = "") -> NoticeKind:
    """A notice that carries data in real-time mode: source 8."""
    return NoticeKind(code, name, mode, fields=fields, note=note, source="SAS reference 8")


def _only_outside_real_time(code: int, name: str) -> NoticeKind:
    return NoticeKind(code, name, Mode.NOT_REAL_TIME)


def _added_in_603(code: int, name: str) -> NoticeKind:
    return NoticeKind(code, name, since=603, note="(1 src)")


NOTICE_KINDS: Final[tuple[NoticeKind, ...]] = (
    NoticeKind(NOTHING, "no_activity"),
    NoticeKind(0x11, "slot_door_opened"),
    NoticeKind(0x12, "slot_door_closed"),
    NoticeKind(0x13, "drop_door_opened"),
    NoticeKind(0x14, "drop_door_closed"),
    NoticeKind(0x15, "card_cage_opened"),
    NoticeKind(0x16, "card_cage_closed"),
    NoticeKind(0x17, "power_applied"),
    NoticeKind(0x18, "power_lost"),
    NoticeKind(0x19, "cash_box_door_opened"),
    NoticeKind(0x1A, "cash_box_door_closed"),
    NoticeKind(0x1B, "cash_box_removed"),
    NoticeKind(0x1C, "cash_box_installed"),
    NoticeKind(0x1D, "belly_door_opened"),
    NoticeKind(0x1E, "belly_door_closed"),
    _only_outside_real_time(0x1F, "waiting_for_player"),  # obsolete
    NoticeKind(0x20, "general_tilt"),
    NoticeKind(0x21, "coin_in_tilt"),
    NoticeKind(0x22, "coin_out_tilt"),
    NoticeKind(0x23, "hopper_empty"),
    NoticeKind(0x24, "extra_coin_paid"),
    NoticeKind(0x25, "diverter_malfunction"),
    NoticeKind(0x26, "eft_cash_out_request", note="obsolete (1 src)"),
    NoticeKind(0x27, "cash_box_full"),
    NoticeKind(0x28, "bill_jam"),
    NoticeKind(0x29, "bill_acceptor_failure"),
    NoticeKind(0x2A, "reverse_bill"),
    NoticeKind(0x2B, "bill_rejected"),
    NoticeKind(0x2C, "counterfeit_bill"),
    NoticeKind(0x2D, "reverse_coin_in"),
    NoticeKind(0x2E, "cash_box_near_full"),
    _added_in_603(0x2F, "bill_acceptor_version_changed"),
    NoticeKind(0x31, "cmos_ram_error_recovered"),
    NoticeKind(0x32, "cmos_ram_error_not_recovered"),
    NoticeKind(0x33, "cmos_ram_bad_device"),
    NoticeKind(0x34, "eeprom_data_error"),
    NoticeKind(0x35, "eeprom_bad_device"),
    NoticeKind(0x36, "eprom_version_changed"),
    NoticeKind(0x37, "eprom_bad_checksum"),
    NoticeKind(0x38, "partitioned_eprom_version_changed"),
    NoticeKind(0x39, "partitioned_eprom_bad_checksum"),
    NoticeKind(0x3A, "memory_error_reset"),
    NoticeKind(0x3B, "backup_battery_low"),
    NoticeKind(0x3C, "operator_changed_options"),
    _priority(0x3D, "cash_out_ticket_printed", 9, 15 * _SECOND),
    _priority(0x3E, "handpay_validated", 10, 15 * _SECOND),
    _priority(0x3F, "validation_id_not_configured", 4, 15 * _SECOND),
    NoticeKind(0x40, "reel_tilt"),
    NoticeKind(0x41, "reel_1_tilt"),
    NoticeKind(0x42, "reel_2_tilt"),
    NoticeKind(0x43, "reel_3_tilt"),
    NoticeKind(0x44, "reel_4_tilt"),
    NoticeKind(0x45, "reel_5_tilt"),
    NoticeKind(0x46, "reel_mechanism_disconnected"),
    _only_outside_real_time(0x47, "bill_accepted_1"),
    _only_outside_real_time(0x48, "bill_accepted_5"),
    _only_outside_real_time(0x49, "bill_accepted_10"),
    _only_outside_real_time(0x4A, "bill_accepted_20"),
    _only_outside_real_time(0x4B, "bill_accepted_50"),
    _only_outside_real_time(0x4C, "bill_accepted_100"),
    _only_outside_real_time(0x4D, "bill_accepted_2"),
    _only_outside_real_time(0x4E, "bill_accepted_500"),
    _with_data(BILL_ACCEPTED, "bill_accepted", Bcd("country", 1), Bcd("denomination", 1), Bcd("count", 4)),
    _only_outside_real_time(0x50, "bill_accepted_200"),
    _priority(0x51, "handpay_pending", 15, 15 * _SECOND),
    _priority(0x52, "handpay_reset", 14),
    NoticeKind(0x53, "no_progressive_information"),
    NoticeKind(0x54, "progressive_win"),
    NoticeKind(0x55, "handpay_cancelled_by_player", note="possibly priority (?)"),
    _priority(0x56, "progressive_level_hit", 8, 15 * _SECOND),
    _priority(0x57, "validation_request", 1, 800_000, 10 * _SECOND),
    _added_in_603(0x59, "foreign_progressive_hit"),
    _added_in_603(0x5A, "jackpot_keyed_off_to_machine_pay"),
    _added_in_603(0x5F, "tip_awarded"),
    NoticeKind(0x60, "printer_communication_error"),
    NoticeKind(0x61, "printer_paper_out"),
    NoticeKind(0x66, "cash_out_button_pressed"),
    _priority(0x67, "ticket_inserted", 2),
    _priority(0x68, "ticket_transfer_complete", 3, 15 * _SECOND),
    _priority(0x69, "aft_transfer_complete", 11, 15 * _SECOND),
    _priority(0x6A, "aft_host_cash_out_request", 5, 800_000, 8 * _SECOND),
    _priority(0x6B, "aft_win_cash_out_request", 6, 800_000, 8 * _SECOND),
    _priority(0x6C, "aft_register_request", 12),
    _priority(0x6D, "aft_registration_acknowledged", 13),
    NoticeKind(0x6E, "aft_registration_cancelled"),
    _priority(0x6F, "game_locked", 7, 5 * _SECOND),
    _priority(0x70, "notice_buffer_overflow", 17),
    NoticeKind(0x71, "change_lamp_on"),
    NoticeKind(0x72, "change_lamp_off"),
    NoticeKind(0x74, "printer_paper_low"),
    NoticeKind(0x75, "printer_power_off"),
    NoticeKind(0x76, "printer_power_on"),
    NoticeKind(0x77, "replace_printer_ribbon"),
    NoticeKind(0x78, "printer_carriage_jammed"),
    NoticeKind(0x79, "coin_lockout_malfunction"),
    NoticeKind(0x7A, "soft_meters_reset"),
    NoticeKind(0x7B, "bill_totals_reset"),
    _with_data(
        0x7C,
        "legacy_bonus_paid",
        Binary("multiplier"),
        Bcd("multiplied_win", 4),
        Binary("tax_status"),
        Bcd("bonus", 4),
    ),
    _with_data(
        0x7E,
        "game_started",
        Bcd("credits_wagered", 2),
        Bcd("total_coin_in", 4),
        Binary("wager_type"),
        Binary("progressive_group"),
        note="(1 src)",
    ),
    _with_data(0x7F, "game_ended", Bcd("win", 4)),
    NoticeKind(0x80, "hopper_full"),
    NoticeKind(0x81, "hopper_low"),
    NoticeKind(0x82, "attendant_menu_entered"),
    NoticeKind(0x83, "attendant_menu_left"),
    NoticeKind(0x84, "operator_menu_entered"),
    NoticeKind(0x85, "operator_menu_left"),
    NoticeKind(0x86, "out_of_service"),
    NoticeKind(0x87, "draw_cards_asked", Mode.REAL_TIME_ONLY),
    _with_data(0x88, "reel_stopped", Binary("reel"), Binary("stop"), mode=Mode.REAL_TIME_ONLY),
    NoticeKind(0x89, "credit_wagered", Mode.REAL_TIME_ONLY, note="data, if any, unknown (?)"),
    _with_data(0x8A, "game_recalled", Bcd("game", 2), Bcd("index", 2), note="(1 src)"),
    _with_data(0x8B, "card_held", Binary("card"), mode=Mode.REAL_TIME_ONLY),
    _with_data(0x8C, "game_selected", Bcd("game", 2)),
    NoticeKind(0x8E, "component_list_changed"),
    _priority(0x8F, "authentication_complete", 16, 15 * _SECOND),
    NoticeKind(0x98, "power_off_card_cage_access"),
    NoticeKind(0x99, "power_off_slot_door_access"),
    NoticeKind(0x9A, "power_off_cash_box_access"),
    NoticeKind(0x9B, "power_off_drop_door_access"),
    _added_in_603(0x9E, "session_started"),
    _added_in_603(0x9F, "session_ended"),
    _added_in_603(0xA0, "meter_change_pending"),
    _added_in_603(0xA1, "meter_change_cancelled"),
    _added_in_603(0xA2, "enabled_games_changed"),
)
"""Every notice, by rising code."""

NOTICES_602: Final = MappingProxyType({kind.code: kind for kind in NOTICE_KINDS if kind.since == 602})
NOTICES_603: Final = MappingProxyType({kind.code: kind for kind in NOTICE_KINDS})
NOTICE_BY_NAME: Final = MappingProxyType({kind.name: kind for kind in NOTICE_KINDS})


def encode_facts(kind: NoticeKind, facts: tuple[int, ...]) -> bytes:
    """Encode a notice's real-time data. Raises EncodeError if the facts do not fit the table row."""
    if len(facts) != len(kind.fields):
        raise EncodeError(f"notice {kind.code:02X} carries {len(kind.fields)} facts, not {facts!r}")
    names = [getattr(each, "name", "") for each in kind.fields]
    return encode_fields(kind.fields, dict(zip(names, facts, strict=True)))
