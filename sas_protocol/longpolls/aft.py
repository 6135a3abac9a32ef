"""Advanced funds transfer. SAS reference 14.

Field layouts of 72 and 75 come with the transfer itself; until then their frames are known by length only.
"""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, Optional, Raw
from sas_protocol.longpolls.poll import Kind, LongPoll

TRANSFER_FUNDS: Final = LongPoll(
    code=0x72,
    name="transfer_funds",
    kind=Kind.SEND,
    request=None,
    response=None,
    request_prefixed=True,
    response_prefixed=True,
    source="SAS reference 14.4",
)
REGISTER_MACHINE: Final = LongPoll(
    code=0x73,
    name="register_machine",
    kind=Kind.SEND,
    request=(
        Binary("registration_code"),
        Optional((Binary("asset", 4), Raw("registration_key", 20), Binary("pos_id", 4)), first="asset"),
    ),
    response=(Binary("status"), Binary("asset", 4), Raw("registration_key", 20), Binary("pos_id", 4)),
    request_prefixed=True,
    response_prefixed=True,
    source="SAS reference 14.2",
)
LOCK_AND_STATUS: Final = LongPoll(
    code=0x74,
    name="lock_and_status",
    kind=Kind.SEND,
    request=(Binary("lock_code"), Binary("condition"), Bcd("timeout_hundredths", 2)),
    response=(
        Binary("asset", 4),
        Binary("lock_status"),
        Binary("available_transfers"),
        Binary("host_cash_out_status"),
        Binary("aft_status"),
        Binary("max_history_index"),
        Bcd("cashable_cents", 5),
        Bcd("restricted_cents", 5),
        Bcd("non_restricted_cents", 5),
        Bcd("limit_cents", 5),
        Bcd("restricted_expiration", 4),
        Binary("restricted_pool_id", 2),
    ),
    response_prefixed=True,
    source="SAS reference 14.3",
)
SET_RECEIPT_DATA: Final = LongPoll(
    code=0x75,
    name="set_receipt_data",
    kind=Kind.SEND,
    request=None,
    request_prefixed=True,
    is_global=True,
    source="SAS reference 14.9",
)
SET_CUSTOM_TICKET_DATA: Final = LongPoll(
    code=0x76,
    name="set_custom_ticket_data",
    kind=Kind.SEND,
    request=None,
    response=None,
    request_prefixed=True,
    response_prefixed=True,
    source="SAS reference 14.9",
)

POLLS: Final = (TRANSFER_FUNDS, REGISTER_MACHINE, LOCK_AND_STATUS, SET_RECEIPT_DATA, SET_CUSTOM_TICKET_DATA)
