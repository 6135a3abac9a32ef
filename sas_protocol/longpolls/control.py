"""Machine control: play, sounds, acceptor, games, real-time events, delays. SAS reference 12.1."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 12.1"
OFF_OR_ON: Final = frozenset({0, 1})


def _order(code: int, name: str) -> LongPoll:
    """A command without data that is acknowledged."""
    return LongPoll(code, name, Kind.SEND, source=SOURCE)


SHUTDOWN: Final = _order(0x01, "shutdown")
STARTUP: Final = _order(0x02, "startup")
SOUNDS_OFF: Final = _order(0x03, "sounds_off")
SOUNDS_ON: Final = _order(0x04, "sounds_on")
GAME_SOUNDS_OFF: Final = _order(0x05, "game_sounds_off")
ENABLE_BILL_ACCEPTOR: Final = _order(0x06, "enable_bill_acceptor")
DISABLE_BILL_ACCEPTOR: Final = _order(0x07, "disable_bill_acceptor")
CONFIGURE_BILLS: Final = LongPoll(
    code=0x08,
    name="configure_bills",
    kind=Kind.SEND,
    request=(Binary("mask", 4), Binary("flags")),  # mask: codes.Bill.mask; flags bit 0: stay on after a bill
    source=SOURCE,
)
ENABLE_GAME: Final = LongPoll(
    code=0x09,
    name="enable_game",
    kind=Kind.GAME,
    request=(Bcd("game", 2), Binary("enable", 1, OFF_OR_ON)),
    is_denomination_aware=True,
    source=SOURCE,
)
ENTER_MAINTENANCE: Final = _order(0x0A, "enter_maintenance")
EXIT_MAINTENANCE: Final = _order(0x0B, "exit_maintenance")
ENABLE_REAL_TIME_EVENTS: Final = LongPoll(
    code=0x0E,
    name="enable_real_time_events",
    kind=Kind.SEND,
    request=(Binary("enable", 1, OFF_OR_ON),),
    source=SOURCE,
)
DELAY_GAME: Final = LongPoll(
    code=0x2E,
    name="delay_game",
    kind=Kind.SEND,
    request=(Binary("delay_tenths", 2),),  # units of 100 ms
    source=SOURCE,
)
ENABLE_AUTO_REBET: Final = LongPoll(
    code=0xAA,
    name="enable_auto_rebet",
    kind=Kind.SEND,
    request=(Binary("enable", 1, OFF_OR_ON),),
    source=SOURCE,
)

POLLS: Final = (
    SHUTDOWN,
    STARTUP,
    SOUNDS_OFF,
    SOUNDS_ON,
    GAME_SOUNDS_OFF,
    ENABLE_BILL_ACCEPTOR,
    DISABLE_BILL_ACCEPTOR,
    CONFIGURE_BILLS,
    ENABLE_GAME,
    ENTER_MAINTENANCE,
    EXIT_MAINTENANCE,
    ENABLE_REAL_TIME_EVENTS,
    DELAY_GAME,
    ENABLE_AUTO_REBET,
)
