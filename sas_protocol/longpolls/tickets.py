"""Validation of tickets and their texts. SAS reference 12.6, 13."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, Optional, Raw, Repeated, Text, Time
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 12.6"

SEND_CASH_OUT_TICKET: Final = LongPoll(
    code=0x3D,
    name="send_cash_out_ticket",
    kind=Kind.READ,
    response=(Bcd("number", 4), Bcd("cents", 5)),
    source=SOURCE,
)
SET_VALIDATION_ID: Final = LongPoll(
    code=0x4C,
    name="set_validation_id",
    kind=Kind.SEND,
    request=(Binary("machine_id", 3), Binary("validation_sequence", 3)),
    response=(Binary("machine_id", 3), Binary("validation_sequence", 3)),
    source=SOURCE,
)
SEND_VALIDATION_RECORD: Final = LongPoll(
    code=0x4D,
    name="send_validation_record",
    kind=Kind.SEND,
    request=(Binary("function", 1, frozenset({*range(0x20), 0xFF})),),
    response=(
        Binary("validation_type"),  # codes.VALIDATION_TYPES
        Binary("index"),
        Bcd("date", 4),  # MMDDYYYY as a number: zeros when there is no record
        Time("time"),
        Bcd("number", 8),
        Bcd("cents", 5),
        Binary("ticket_number", 2),
        Bcd("system_id", 1),
        Bcd("expiration", 4),  # MMDDYYYY, or days; 9999 never
        Binary("pool_id", 2),
    ),
    source="SAS reference 13.4",
)
SEND_VALIDATION_METERS: Final = LongPoll(
    code=0x50,
    name="send_validation_meters",
    kind=Kind.SEND,
    request=(Binary("validation_type"),),
    response=(Binary("validation_type"), Bcd("count", 4), Bcd("cents", 5)),
    source=SOURCE,
)
SEND_PENDING_CASH_OUT: Final = LongPoll(
    code=0x57,
    name="send_pending_cash_out",
    kind=Kind.READ,
    response=(Binary("cash_out_type"), Bcd("cents", 5)),
    source=SOURCE,
)
RECEIVE_VALIDATION_NUMBER: Final = LongPoll(
    code=0x58,
    name="receive_validation_number",
    kind=Kind.SEND,
    request=(Bcd("system_id", 1), Bcd("number", 8)),
    response=(Binary("status"),),
    source=SOURCE,
)
SEND_TICKET_DATA: Final = LongPoll(
    code=0x70,
    name="send_ticket_validation_data",
    kind=Kind.READ,
    response=(
        Binary("status"),
        Optional((Bcd("cents", 5), Binary("parsing_code"), Raw("validation_data")), first="cents"),
    ),
    response_prefixed=True,
    source=SOURCE,
)
REDEEM_TICKET: Final = LongPoll(
    code=0x71,
    name="redeem_ticket",
    kind=Kind.SEND,
    # The tail (expiration, pool, target) follows the 9 bytes of validation data without a mark of its own.
    request=(
        Binary("transfer_code"),
        Optional(
            (
                Bcd("cents", 5),
                Binary("parsing_code"),
                Raw("validation_data", 9),
                Optional((Bcd("expiration", 4), Binary("pool_id", 2), Raw("target")), first="expiration"),
            ),
            first="cents",
        ),
    ),
    response=(
        Binary("status"),
        Optional((Bcd("cents", 5), Binary("parsing_code"), Raw("validation_data", 9)), first="cents"),
    ),
    request_prefixed=True,
    response_prefixed=True,
    source="SAS reference 13.6",
)
EXTENDED_VALIDATION_STATUS: Final = LongPoll(
    code=0x7B,
    name="extended_validation_status",
    kind=Kind.SEND,
    request=(
        Binary("mask", 2),
        Binary("state", 2),
        Bcd("cashable_expiration_days", 2),
        Bcd("restricted_expiration_days", 2),
    ),
    response=(
        Binary("asset", 4),
        Binary("status", 2),
        Bcd("cashable_expiration_days", 2),
        Bcd("restricted_expiration_days", 2),
    ),
    request_prefixed=True,
    response_prefixed=True,
    is_global=True,
    source=SOURCE,
)
SET_EXTENDED_TICKET_DATA: Final = LongPoll(
    code=0x7C,
    name="set_extended_ticket_data",
    kind=Kind.SEND,
    request=(Repeated("elements", (Binary("code"), Text("text", 40))),),
    response=(Binary("status"),),
    request_prefixed=True,
    is_global=True,
    source=SOURCE,
)
SET_TICKET_DATA: Final = LongPoll(
    code=0x7D,
    name="set_ticket_data",
    kind=Kind.SEND,
    request=(
        Optional(
            (
                Binary("host_id", 2),
                Optional(
                    (
                        Binary("expiration_days"),
                        Optional(
                            (
                                Text("location", 40),
                                Optional((Text("address_1", 40), Text("address_2", 40)), first="address_1"),
                            ),
                            first="location",
                        ),
                    ),
                    first="expiration_days",
                ),
            ),
            first="host_id",
        ),
    ),
    response=(Binary("status"),),
    request_prefixed=True,
    is_global=True,
    source=SOURCE,
)

POLLS: Final = (
    SEND_CASH_OUT_TICKET,
    SET_VALIDATION_ID,
    SEND_VALIDATION_RECORD,
    SEND_VALIDATION_METERS,
    SEND_PENDING_CASH_OUT,
    RECEIVE_VALIDATION_NUMBER,
    SEND_TICKET_DATA,
    REDEEM_TICKET,
    EXTENDED_VALIDATION_STATUS,
    SET_EXTENDED_TICKET_DATA,
    SET_TICKET_DATA,
)
