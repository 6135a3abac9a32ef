"""Progressives. SAS reference 16.4."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, Repeated
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 16.4"
NO_LAYOUT: Final = "(?) no public layout"
GROUP: Final = Binary("group")
LEVEL: Final = Binary("level")
CENTS: Final = Bcd("cents", 5)

PROGRESSIVE_BROADCAST: Final = LongPoll(
    code=0x80,
    name="progressive_broadcast",
    kind=Kind.SEND,
    request=(GROUP, LEVEL, CENTS),
    is_global=True,
    source=SOURCE,
)
SEND_CUMULATIVE_PROGRESSIVE_WINS: Final = LongPoll(
    code=0x83,
    name="send_cumulative_progressive_wins",
    kind=Kind.GAME,
    request=(Bcd("game", 2),),
    response=(Bcd("game", 2), Bcd("credits", 4)),
    source="SAS reference 12.2",
)
SEND_PROGRESSIVE_WIN: Final = LongPoll(
    code=0x84, name="send_progressive_win", kind=Kind.READ, response=(GROUP, LEVEL, CENTS), source=SOURCE
)
SEND_SAS_PROGRESSIVE_WIN: Final = LongPoll(
    code=0x85, name="send_sas_progressive_win", kind=Kind.READ, response=(GROUP, LEVEL, CENTS), source=SOURCE
)
MULTIPLE_LEVEL_BROADCAST: Final = LongPoll(
    code=0x86,
    name="multiple_level_broadcast",
    kind=Kind.SEND,
    request=(GROUP, Repeated("levels", (LEVEL, CENTS), least=1, most=32)),
    request_prefixed=True,
    is_global=True,
    source=SOURCE,
)
SEND_MULTIPLE_PROGRESSIVE_WINS: Final = LongPoll(
    code=0x87,
    name="send_multiple_progressive_wins",
    kind=Kind.READ,
    response=(GROUP, Repeated("levels", (LEVEL, CENTS), most=32, counted=True)),
    response_prefixed=True,
    source=SOURCE,
)
SEND_FOREIGN_PROGRESSIVE_WINS: Final = LongPoll(
    code=0x5D,
    name="send_foreign_progressive_wins",
    kind=Kind.READ,
    response=(
        Repeated(
            "wins",
            (
                Binary("controller_type"),
                Bcd("controller_id", 2),
                LEVEL,
                CENTS,
                Bcd("base_cents", 5),
                Bcd("escrow_cents", 5),
            ),
            most=8,
            counted=True,
        ),
    ),
    response_prefixed=True,
    since=603,
    note="(?) the length byte counts the count byte too",
    source=SOURCE,
)
SEND_PROGRESSIVE_CONTROLLERS: Final = LongPoll(
    0x5E, "send_progressive_controllers", Kind.READ, response=None, since=603, note=NO_LAYOUT
)
PROGRESSIVE_BROADCAST_VALUES: Final = LongPoll(
    0x5F,
    "progressive_broadcast_values",
    Kind.SEND,
    request=None,
    response=None,
    request_length=8,
    since=603,
    note=NO_LAYOUT,
)
SEND_PROGRESSIVE_ACCOUNTING: Final = LongPoll(
    # One table calls it a read poll of 2 bytes, another gives 9 bytes. Framing cannot serve both.
    0x77,
    "send_progressive_accounting",
    Kind.SEND,
    request=None,
    response=None,
    since=603,
    note="(?) R of 2 bytes or S of 9",
)
EXTENDED_PROGRESSIVE_BROADCAST: Final = LongPoll(
    code=0x7A,
    name="extended_progressive_broadcast",
    kind=Kind.SEND,
    request=(
        GROUP,
        Repeated(
            "levels",
            (LEVEL, CENTS, Bcd("base_cents", 5), Bcd("contribution", 3)),  # four implied decimals
            least=1,
            most=16,
        ),
    ),
    request_prefixed=True,
    is_global=True,
    since=603,
    source=SOURCE,
)

POLLS: Final = (
    PROGRESSIVE_BROADCAST,
    SEND_CUMULATIVE_PROGRESSIVE_WINS,
    SEND_PROGRESSIVE_WIN,
    SEND_SAS_PROGRESSIVE_WIN,
    MULTIPLE_LEVEL_BROADCAST,
    SEND_MULTIPLE_PROGRESSIVE_WINS,
)
ADDED_IN_603: Final = (
    SEND_FOREIGN_PROGRESSIVE_WINS,
    SEND_PROGRESSIVE_CONTROLLERS,
    PROGRESSIVE_BROADCAST_VALUES,
    SEND_PROGRESSIVE_ACCOUNTING,
    EXTENDED_PROGRESSIVE_BROADCAST,
)
