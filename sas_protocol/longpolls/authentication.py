"""Program signature, component authentication, multi-denomination, meter collection. SAS reference 17."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Binary, Raw
from sas_protocol.longpolls.poll import Kind, LongPoll

VERIFY_SIGNATURE: Final = LongPoll(
    # Acknowledged at once; the signature comes later in place of a general poll's answer.
    code=0x21,
    name="verify_signature",
    kind=Kind.SEND,
    request=(Binary("seed", 2),),
    response=(Binary("signature", 2),),
    source="SAS reference 17.1",
)
AUTHENTICATE_COMPONENT: Final = LongPoll(
    code=0x6E,
    name="authenticate_component",
    kind=Kind.SEND,
    request=None,
    response=None,
    request_prefixed=True,
    response_prefixed=True,
    note="method size 4 bytes (?)",
    source="SAS reference 17.2",
)
MULTI_DENOMINATION: Final = LongPoll(
    code=0xB0,
    name="multi_denomination_preamble",
    kind=Kind.SEND,
    request=(Binary("denomination"), Binary("base_command"), Raw("base_data")),
    response=(Binary("denomination"), Binary("base_command"), Raw("base_data")),
    request_prefixed=True,
    response_prefixed=True,
    source="SAS reference 17.3",
)
METER_COLLECT_STATUS: Final = LongPoll(
    code=0xB6,
    name="meter_collect_status",
    kind=Kind.SEND,
    request=(Binary("status", 1, frozenset({0x00, 0x01, 0x80})),),
    response=(Binary("status"),),
    request_prefixed=True,
    response_prefixed=True,
    since=603,
    note="(1 src)",
    source="SAS reference 17.4",
)

POLLS: Final = (VERIFY_SIGNATURE, AUTHENTICATE_COMPONENT, MULTI_DENOMINATION)
ADDED_IN_603: Final = (METER_COLLECT_STATUS,)
