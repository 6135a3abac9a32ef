"""Legacy bonusing, multiplied jackpots, tournaments, cards, reels. SAS reference 12.9, 16.1, 16.2, 16.5."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import Bcd, Binary, Raw
from sas_protocol.longpolls.poll import Kind, LongPoll

GAME: Final = Bcd("game", 2)
TAX_STATUS: Final = Binary("tax_status", 1, frozenset({0, 1, 2}))  # deductible, non-deductible, wager match

INITIATE_BONUS: Final = LongPoll(
    code=0x8A,
    name="initiate_bonus",
    kind=Kind.SEND,
    request=(Bcd("credits", 4), TAX_STATUS),
    source="SAS reference 16.1",
)
MULTIPLIED_JACKPOT_MODE: Final = LongPoll(
    code=0x8B,
    name="multiplied_jackpot_mode",
    kind=Kind.SEND,
    request=None,
    request_length=15,
    note="(?) field order not public, obsolete",
    source="SAS reference 16.2",
)
SEND_BONUS_WIN: Final = LongPoll(
    code=0x90,
    name="send_bonus_win",
    kind=Kind.READ,
    response=(Binary("multiplier"), Bcd("multiplied_win", 4), Binary("tax_status"), Bcd("bonus", 4)),
    source="SAS reference 16.1",
)
SEND_BONUS_METERS: Final = LongPoll(
    code=0x9A,
    name="send_bonus_meters",
    kind=Kind.GAME,
    request=(GAME,),
    response=(GAME, Bcd("deductible", 4), Bcd("non_deductible", 4), Bcd("wager_match", 4)),
    source="SAS reference 16.1",
)
TOURNAMENT_MODE: Final = LongPoll(
    code=0x8C,
    name="tournament_mode",
    kind=Kind.GAME,
    request=(GAME, Bcd("minutes_seconds", 2), Bcd("credits", 4), Binary("pulses", 1, frozenset({0, 1}))),
    source="SAS reference 16.5",
)


def _tournament_meter(code: int, name: str, *names: str) -> LongPoll:
    return LongPoll(
        code,
        name,
        Kind.GAME,
        request=(GAME,),
        response=(GAME, *(Bcd(each, 4) for each in names)),
        note="(1 src)",
        source="SAS reference 16.5",
    )


SEND_TOURNAMENT_PLAYED: Final = _tournament_meter(0x95, "send_tournament_games_played", "games_played")
SEND_TOURNAMENT_WON: Final = _tournament_meter(0x96, "send_tournament_games_won", "games_won")
SEND_TOURNAMENT_WAGERED: Final = _tournament_meter(0x97, "send_tournament_wagered", "credits_wagered")
SEND_TOURNAMENT_CREDITS_WON: Final = _tournament_meter(0x98, "send_tournament_credits_won", "credits_won")
SEND_TOURNAMENT_METERS: Final = _tournament_meter(
    0x99, "send_tournament_meters", "games_played", "games_won", "credits_wagered", "credits_won"
)
SEND_CARDS: Final = LongPoll(
    code=0x8E,
    name="send_cards",
    kind=Kind.READ,
    response=(Binary("hand_type"), Raw("cards", 5)),  # left to right, 9.5
    source="SAS reference 12.9",
)
SEND_REEL_STOPS: Final = LongPoll(
    code=0x8F,
    name="send_reel_stops",
    kind=Kind.READ,
    response=(Raw("stops", 9),),  # left to right, FF for reels that do not exist
    source="SAS reference 12.9",
)

POLLS: Final = (
    INITIATE_BONUS,
    MULTIPLIED_JACKPOT_MODE,
    TOURNAMENT_MODE,
    SEND_CARDS,
    SEND_REEL_STOPS,
    SEND_BONUS_WIN,
    SEND_TOURNAMENT_PLAYED,
    SEND_TOURNAMENT_WON,
    SEND_TOURNAMENT_WAGERED,
    SEND_TOURNAMENT_CREDITS_WON,
    SEND_TOURNAMENT_METERS,
    SEND_BONUS_METERS,
)
