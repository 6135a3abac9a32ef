"""Polls that this machine does not speak, each with the reason. They are ignored, never NACKed (SAS 4)."""

from __future__ import annotations

from collections.abc import Mapping

from sas_protocol.longpolls import (
    LongPoll,
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

NOT_YET = "its subject is not in this machine yet"
NO_SUCH_PART = "this cabinet has no such part"
NO_LAYOUT = "no public source gives its layout (SAS 18.5)"
OBSOLETE = "EFT of SAS 5, which a 6.02 machine leaves out (SAS 14.10)"

_NOT_YET: tuple[LongPoll, ...] = (
    control.SOUNDS_OFF,
    control.SOUNDS_ON,
    control.GAME_SOUNDS_OFF,
    control.CONFIGURE_BILLS,
    control.ENABLE_GAME,
    control.ENTER_MAINTENANCE,
    control.EXIT_MAINTENANCE,
    control.DELAY_GAME,
    control.ENABLE_AUTO_REBET,
    meters.SEND_GAME_HAND_PAID_CANCELLED,
    meters.SEND_ALL_BILLS_CREDITS,
    *bills.BILL_COUNT_POLLS,
    bills.SEND_STACKER_COUNT,
    bills.SEND_STACKER_CREDITS,
    identity.SEND_CASH_OUT_LIMIT,
    identity.SEND_PLAYER_DENOMINATION,
    identity.SEND_PLAYER_DENOMINATIONS,
    identity.SEND_TOKEN_DENOMINATION,
    identity.SEND_WAGER_CATEGORY,
    identity.SEND_GAME_INFORMATION,
    identity.SET_MACHINE_NUMBERS,
    *tickets.POLLS,
    *handpay.POLLS,
    *aft.POLLS,
    bonus.INITIATE_BONUS,
    bonus.TOURNAMENT_MODE,
    bonus.SEND_CARDS,
    bonus.SEND_REEL_STOPS,
    bonus.SEND_BONUS_WIN,
    bonus.SEND_TOURNAMENT_PLAYED,
    bonus.SEND_TOURNAMENT_WON,
    bonus.SEND_TOURNAMENT_WAGERED,
    bonus.SEND_TOURNAMENT_CREDITS_WON,
    bonus.SEND_TOURNAMENT_METERS,
    bonus.SEND_BONUS_METERS,
    *progressive.POLLS,
    progressive.SEND_FOREIGN_PROGRESSIVE_WINS,
    progressive.EXTENDED_PROGRESSIVE_BROADCAST,
    *authentication.POLLS,
    *authentication.ADDED_IN_603,
)

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

REFUSED: Mapping[LongPoll, str] = {
    **dict.fromkeys(_NOT_YET, NOT_YET),
    **dict.fromkeys(_NO_SUCH_PART, NO_SUCH_PART),
    **dict.fromkeys(_NO_LAYOUT, NO_LAYOUT),
    **dict.fromkeys(eft.POLLS, OBSOLETE),
}
