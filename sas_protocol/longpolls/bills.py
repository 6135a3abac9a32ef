"""Bills, coins and hopper. SAS reference 9.3, 12.2, 12.5."""

from __future__ import annotations

from typing import Final

from sas_protocol.codes import BILLS
from sas_protocol.fields import Bcd, Binary, Optional
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 12.5"

SEND_BILL_COUNTS: Final = LongPoll(
    code=0x1E,
    name="send_bill_counts",
    kind=Kind.READ,
    response=tuple(Bcd(f"bills_{value}", 4) for value in (1, 5, 10, 20, 50, 100)),  # not 2
    source="SAS reference 12.2",
)
BILL_COUNT_POLLS: Final = tuple(
    LongPoll(
        code=bill.count_poll,
        name=f"send_bill_count_{bill.value}",
        kind=Kind.READ,
        response=(Bcd("value", 4),),
        source="SAS reference 9.3",
    )
    for bill in BILLS
    if bill.count_poll is not None
)
SEND_LAST_BILL: Final = LongPoll(
    code=0x48,
    name="send_last_bill",
    kind=Kind.READ,
    response=(Bcd("country", 1), Bcd("denomination", 1), Bcd("count", 4)),  # zeros if none
    source=SOURCE,
)
SEND_STACKER_COUNT: Final = LongPoll(
    code=0x49,
    name="send_stacker_count",
    kind=Kind.READ,
    response=(Bcd("value", 4),),
    source="SAS reference 12.2",
)
SEND_STACKER_CREDITS: Final = LongPoll(
    code=0x4A,
    name="send_stacker_credits",
    kind=Kind.READ,
    response=(Bcd("value", 4),),
    source="SAS reference 12.2",
)
SEND_HOPPER_STATUS: Final = LongPoll(
    code=0x4F,
    name="send_hopper_status",
    kind=Kind.READ,
    response=(Binary("status"), Binary("percent_full"), Optional((Bcd("level", 4),), first="level")),
    response_prefixed=True,
    source=SOURCE,
)

NO_LAYOUT: Final = "(?) no public layout"

SEND_ENABLED_CURRENCIES: Final = LongPoll(
    0x59, "send_enabled_currencies", Kind.READ, response=None, since=603, note=NO_LAYOUT
)
SEND_SUPPORTED_BILLS: Final = LongPoll(
    0x5A, "send_supported_bills", Kind.SEND, request=None, response=None, since=603, note=NO_LAYOUT
)
SEND_BILL_METERS: Final = LongPoll(
    0x5B, "send_bill_meters", Kind.SEND, request=None, response=None, since=603, note=NO_LAYOUT
)
SET_FOREIGN_BILL_MODE: Final = LongPoll(
    0x5C, "set_foreign_bill_mode", Kind.SEND, request=None, response=None, since=603, note=NO_LAYOUT
)

POLLS: Final = (
    SEND_BILL_COUNTS,
    *BILL_COUNT_POLLS,
    SEND_LAST_BILL,
    SEND_STACKER_COUNT,
    SEND_STACKER_CREDITS,
    SEND_HOPPER_STATUS,
)
ADDED_IN_603: Final = (
    SEND_ENABLED_CURRENCIES,
    SEND_SUPPORTED_BILLS,
    SEND_BILL_METERS,
    SET_FOREIGN_BILL_MODE,
)
