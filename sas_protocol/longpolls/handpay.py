"""Handpays. SAS reference 12.7."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 12.7"

SEND_HANDPAY: Final = LongPoll(
    code=0x1B,
    name="send_handpay",
    kind=Kind.READ,
    response=(
        Binary("progressive_group"),
        Binary("level"),
        Bcd("amount", 5),  # cents if level is 01..20, else accounting credits (1 src)
        Bcd("partial_pay", 2),  # credits
        Binary("reset_id"),
        # 6.02 sends ten zero bytes here, which is what 6.03 means by nothing won and nothing paid.
        Bcd("session_win", 5),
        Bcd("session_pay", 5),
    ),
    source=SOURCE,
)
RESET_HANDPAY: Final = LongPoll(
    code=0x94, name="reset_handpay", kind=Kind.SEND, response=(Binary("status"),), source=SOURCE
)
SET_HANDPAY_RESET_METHOD: Final = LongPoll(
    code=0xA8,
    name="set_handpay_reset_method",
    kind=Kind.SEND,
    request=(Binary("method", 1, frozenset({0, 1})),),
    response=(Binary("status"),),
    source=SOURCE,
)

POLLS: Final = (SEND_HANDPAY, RESET_HANDPAY, SET_HANDPAY_RESET_METHOD)
