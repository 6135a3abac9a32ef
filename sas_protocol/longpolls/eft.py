"""Electronic funds transfer of SAS 5, obsolete; declared so that it is framed. Reference 14.10 (1 src)."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, Raw, Reserved
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 14.10"
ONE_SOURCE: Final = "(1 src)"


def _to_machine(code: int, name: str, note: str = ONE_SOURCE) -> LongPoll:
    """Host to machine: number, acknowledgement flag, amount in credits."""
    return LongPoll(
        code,
        name,
        Kind.SEND,
        request=(Binary("transaction"), Binary("acknowledge"), Bcd("credits", 4)),
        response=(Binary("transaction"), Binary("acknowledge"), Binary("status"), Bcd("credits", 4)),
        is_obsolete=True,
        note=note,
        source=SOURCE,
    )


def _to_host(code: int, name: str, note: str = ONE_SOURCE) -> LongPoll:
    """Machine to host: number and acknowledgement flag; the machine names the amount."""
    return LongPoll(
        code,
        name,
        Kind.SEND,
        request=(Binary("transaction"), Binary("acknowledge")),
        response=(Binary("transaction"), Binary("acknowledge"), Binary("status"), Bcd("credits", 5)),
        is_obsolete=True,
        note=note,
        source=SOURCE,
    )


SEND_EFT_METERS: Final = LongPoll(
    code=0x1D,
    name="send_eft_meters",
    kind=Kind.READ,
    response=(
        Bcd("promotional_to_machine", 4),
        Bcd("non_cashable_to_machine", 4),
        Bcd("to_host", 4),
        Bcd("cashable_to_machine", 4),
    ),
    is_obsolete=True,
    note=ONE_SOURCE,
    source=SOURCE,
)
SEND_PROMOTIONAL_CREDITS: Final = LongPoll(
    code=0x27,
    name="send_promotional_credits",
    kind=Kind.READ,
    response=(Bcd("value", 4),),
    is_obsolete=True,
    note=ONE_SOURCE,
    source=SOURCE,
)
SEND_EFT_LOG: Final = LongPoll(
    code=0x28,
    name="send_eft_log",
    kind=Kind.READ,
    response=(Raw("entries", 45),),  # five entries of nine bytes, latest first
    is_obsolete=True,
    note=ONE_SOURCE,
    source=SOURCE,
)
EFT_UNKNOWN_TO_MACHINE: Final = _to_machine(0x62, "eft_unknown_to_machine", "kind of credits unknown (?)")
EFT_PROMOTIONAL_TO_MACHINE: Final = _to_machine(0x63, "eft_promotional_to_machine")
EFT_TO_HOST: Final = _to_host(0x64, "eft_to_host")
EFT_UNKNOWN_TO_HOST: Final = _to_host(0x65, "eft_unknown_to_host", "kind of credits unknown (?)")
EFT_LAST_CASH_OUT: Final = LongPoll(
    code=0x66,
    name="eft_last_cash_out",
    kind=Kind.SEND,
    request=(Binary("acknowledge"),),
    response=(Binary("acknowledge"), Binary("status"), Bcd("credits", 5)),
    is_obsolete=True,
    note=ONE_SOURCE,
    source=SOURCE,
)
EFT_CASHABLE_TO_MACHINE: Final = _to_machine(0x69, "eft_cashable_to_machine")
SEND_EFT_AVAILABLE: Final = LongPoll(
    code=0x6A,
    name="send_eft_available",
    kind=Kind.READ,
    response=(Reserved(3), Binary("flags")),
    is_obsolete=True,
    note=ONE_SOURCE,
    source=SOURCE,
)
EFT_PROMOTIONAL_TO_HOST: Final = _to_host(0x6B, "eft_promotional_to_host")

POLLS: Final = (
    SEND_EFT_METERS,
    SEND_PROMOTIONAL_CREDITS,
    SEND_EFT_LOG,
    EFT_UNKNOWN_TO_MACHINE,
    EFT_PROMOTIONAL_TO_MACHINE,
    EFT_TO_HOST,
    EFT_UNKNOWN_TO_HOST,
    EFT_LAST_CASH_OUT,
    EFT_CASHABLE_TO_MACHINE,
    SEND_EFT_AVAILABLE,
    EFT_PROMOTIONAL_TO_HOST,
)
