"""Meter polls: single, grouped, per game, selected and extended. SAS reference 12.2, 12.3.

Units are the meter's own: credits of the accounting denomination for amounts, plain counts for games and
bills; LP 20 is in whole currency units, LP 2C in coins (?).
"""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, KnownSizeMeters, Repeated, SizedMeters
from sas_protocol.longpolls.poll import Kind, LongPoll
from sas_protocol.meters import METER_SIZES

SOURCE: Final = "SAS reference 12.2"
GAME: Final = Bcd("game", 2)


def _single(code: int, name: str, *, aware: bool = False, note: str = "") -> LongPoll:
    """A read poll whose answer is one 4-byte BCD value, named ``value``."""
    return LongPoll(
        code,
        name,
        Kind.READ,
        response=(Bcd("value", 4),),
        is_denomination_aware=aware,
        note=note,
        source=SOURCE,
    )


def _group(code: int, name: str, *names: str) -> LongPoll:
    """A read poll whose answer is several 4-byte BCD values."""
    return LongPoll(code, name, Kind.READ, response=tuple(Bcd(each, 4) for each in names), source=SOURCE)


SEND_METERS_10_TO_15: Final = _group(
    0x0F,
    "send_meters_10_to_15",
    "total_cancelled_credits",
    "total_coin_in",
    "total_coin_out",
    "total_drop",
    "total_jackpot",
    "games_played",
)
SEND_TOTAL_CANCELLED_CREDITS: Final = _single(0x10, "send_total_cancelled_credits")
SEND_TOTAL_COIN_IN: Final = _single(0x11, "send_total_coin_in", aware=True)
SEND_TOTAL_COIN_OUT: Final = _single(0x12, "send_total_coin_out", aware=True)
SEND_TOTAL_DROP: Final = _single(0x13, "send_total_drop")
SEND_TOTAL_JACKPOT: Final = _single(0x14, "send_total_jackpot", aware=True)
SEND_GAMES_PLAYED: Final = _single(0x15, "send_games_played", aware=True)
SEND_GAMES_WON: Final = _single(0x16, "send_games_won", aware=True)
SEND_GAMES_LOST: Final = _single(0x17, "send_games_lost", aware=True)
SEND_GAMES_SINCE: Final = LongPoll(
    code=0x18,
    name="send_games_since_power_up_and_door_close",
    kind=Kind.READ,
    response=(Bcd("games_since_power_reset", 2), Bcd("games_since_door_closed", 2)),
    source=SOURCE,
)
SEND_METERS_11_TO_15: Final = _group(
    0x19,
    "send_meters_11_to_15",
    "total_coin_in",
    "total_coin_out",
    "total_drop",
    "total_jackpot",
    "games_played",
)
SEND_CURRENT_CREDITS: Final = _single(0x1A, "send_current_credits")
SEND_EIGHT_METERS: Final = _group(
    0x1C,
    "send_eight_meters",
    "total_coin_in",
    "total_coin_out",
    "total_drop",
    "total_jackpot",
    "games_played",
    "games_won",
    "slot_door_openings",
    "power_resets",
)
SEND_BILLS_TOTAL_VALUE: Final = _single(0x20, "send_bills_total_value")  # whole currency units
SEND_TRUE_COIN_IN: Final = _single(0x2A, "send_true_coin_in")
SEND_TRUE_COIN_OUT: Final = _single(0x2B, "send_true_coin_out")
SEND_HOPPER_LEVEL: Final = _single(0x2C, "send_hopper_level", note="unit coins (?)")
SEND_GAME_HAND_PAID_CANCELLED: Final = LongPoll(
    code=0x2D,
    name="send_game_hand_paid_cancelled_credits",
    kind=Kind.GAME,
    request=(GAME,),
    response=(GAME, Bcd("hand_paid_cancelled_credits", 4)),
    source=SOURCE,
)
SEND_SELECTED_METERS: Final = LongPoll(
    code=0x2F,
    name="send_selected_meters",
    kind=Kind.GAME,
    request=(GAME, Repeated("meters", (Binary("meter"),), least=1, most=10)),
    response=(GAME, KnownSizeMeters("meters", METER_SIZES)),
    request_prefixed=True,
    response_prefixed=True,
    is_denomination_aware=True,
    source="SAS reference 12.3",
)
SEND_ALL_BILLS_CREDITS: Final = _single(0x46, "send_all_bills_credits")
SEND_EXTERNAL_COIN_CREDITS: Final = _single(0x47, "send_external_coin_credits")
SEND_GAME_METERS: Final = LongPoll(
    code=0x52,
    name="send_game_meters",
    kind=Kind.GAME,
    request=(GAME,),
    response=(
        GAME,
        Bcd("total_coin_in", 4),
        Bcd("total_coin_out", 4),
        Bcd("total_jackpot", 4),
        Bcd("games_played", 4),
    ),
    source=SOURCE,
)


def _extended(code: int, name: str) -> LongPoll:
    """LP 6F and its twin AF. One source accepts lengths beyond the twelve codes of the rule; so do we."""
    return LongPoll(
        code,
        name,
        Kind.GAME,
        request=(GAME, Repeated("meters", (Binary("meter", 2),), least=1, most=126)),
        response=(GAME, SizedMeters("meters")),
        request_prefixed=True,
        response_prefixed=True,
        is_denomination_aware=True,
        source="SAS reference 12.3",
    )


SEND_EXTENDED_METERS: Final = _extended(0x6F, "send_extended_meters")
SEND_EXTENDED_METERS_TWIN: Final = _extended(0xAF, "send_extended_meters_twin")

POLLS: Final = (
    SEND_METERS_10_TO_15,
    SEND_TOTAL_CANCELLED_CREDITS,
    SEND_TOTAL_COIN_IN,
    SEND_TOTAL_COIN_OUT,
    SEND_TOTAL_DROP,
    SEND_TOTAL_JACKPOT,
    SEND_GAMES_PLAYED,
    SEND_GAMES_WON,
    SEND_GAMES_LOST,
    SEND_GAMES_SINCE,
    SEND_METERS_11_TO_15,
    SEND_CURRENT_CREDITS,
    SEND_EIGHT_METERS,
    SEND_BILLS_TOTAL_VALUE,
    SEND_TRUE_COIN_IN,
    SEND_TRUE_COIN_OUT,
    SEND_HOPPER_LEVEL,
    SEND_GAME_HAND_PAID_CANCELLED,
    SEND_SELECTED_METERS,
    SEND_ALL_BILLS_CREDITS,
    SEND_EXTERNAL_COIN_CREDITS,
    SEND_GAME_METERS,
    SEND_EXTENDED_METERS,
    SEND_EXTENDED_METERS_TWIN,
)
