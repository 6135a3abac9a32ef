"""Polls that this machine does not speak, each with the reason. They are ignored, never NACKed (SAS 4).

What is neither answered nor obeyed is refused; the reason is that its subject is not in the machine yet, unless a row
here knows a better one. A poll that gets its row in ``ANSWERS`` or ``COMMANDS`` leaves this table by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from firmware.links.sas.answers import ANSWERS, METER_POLLS
from firmware.links.sas.commands import COMMANDS, LINE_COMMANDS
from sas_protocol.longpolls import V603, LongPoll, bills, bonus, eft, meters, progressive

NOT_YET = "its subject is not in this machine yet"
NO_SUCH_PART = "this cabinet has no such part"
NO_LAYOUT = "no public source gives its layout (SAS 18.5)"
OBSOLETE = "EFT of SAS 5, which a 6.02 machine leaves out (SAS 14.10)"

_NO_SUCH_PART: tuple[LongPoll, ...] = (
    meters.SEND_TRUE_COIN_IN,
    meters.SEND_TRUE_COIN_OUT,
    meters.SEND_HOPPER_LEVEL,
    meters.SEND_EXTERNAL_COIN_CREDITS,
    bills.SEND_HOPPER_STATUS,
)

_NO_LAYOUT: tuple[LongPoll, ...] = (
    *bills.ADDED_IN_603,
    bonus.MULTIPLIED_JACKPOT_MODE,
    progressive.SEND_PROGRESSIVE_CONTROLLERS,
    progressive.PROGRESSIVE_BROADCAST_VALUES,
    progressive.SEND_PROGRESSIVE_ACCOUNTING,
)

_REASONS: Mapping[LongPoll, str] = {
    **dict.fromkeys(_NO_SUCH_PART, NO_SUCH_PART),
    **dict.fromkeys(_NO_LAYOUT, NO_LAYOUT),
    **dict.fromkeys(eft.POLLS, OBSOLETE),
}

_SERVED = {*ANSWERS, *METER_POLLS, *COMMANDS, *LINE_COMMANDS}

REFUSED: Mapping[LongPoll, str] = {
    **{poll: NOT_YET for poll in V603.values() if poll not in _SERVED and poll not in _REASONS},
    **_REASONS,
}
