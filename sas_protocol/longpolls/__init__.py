"""The long poll table, whole: one file per family, joined here into a table per SAS version.

``V602`` and ``V603`` map command byte to entry. Commands that were never defined (0C, 0D, 81, 82, 93) and FF,
which only occurs in answers, have none. Adding a poll: an entry in its family, and in the family's tuple.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sas_protocol.longpolls import (
    aft,
    authentication,
    bills,
    bonus,
    control,
    eft,
    handpay,
    identity,
    meters,
    progressive,
    tickets,
)
from sas_protocol.longpolls.poll import Kind, LongPoll, Size, table

V602: Final[Mapping[int, LongPoll]] = MappingProxyType(
    table(
        control.POLLS,
        meters.POLLS,
        bills.POLLS,
        identity.POLLS,
        tickets.POLLS,
        handpay.POLLS,
        aft.POLLS,
        eft.POLLS,
        bonus.POLLS,
        progressive.POLLS,
        authentication.POLLS,
    )
)
ADDED_IN_603: Final[Mapping[int, LongPoll]] = MappingProxyType(
    table(bills.ADDED_IN_603, identity.ADDED_IN_603, progressive.ADDED_IN_603, authentication.ADDED_IN_603)
)
V603: Final[Mapping[int, LongPoll]] = MappingProxyType(dict(sorted({**V602, **ADDED_IN_603}.items())))
BY_NAME: Final[Mapping[str, LongPoll]] = MappingProxyType({poll.name: poll for poll in V603.values()})

__all__ = ["ADDED_IN_603", "BY_NAME", "V602", "V603", "Kind", "LongPoll", "Size"]
