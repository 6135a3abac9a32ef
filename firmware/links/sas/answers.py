"""Read polls and what they are answered from. ``ANSWERS`` maps each served poll to a function of a view.

A function returns the values of the answer's fields, or ``NACK`` (the request names something that does not exist)
or ``IGNORE`` (this cabinet has no such meter: SAS 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firmware.core.game_cycle import SELECTED_GAME
from firmware.core.state import OfferedGame
from firmware.links.sas import features
from firmware.links.sas.view import SasView
from sas_protocol.codes import BILLS
from sas_protocol.line_events import IGNORE, NACK, Answer, Data
from sas_protocol.longpolls import LongPoll, bills, identity, meters

Fields = Mapping[str, Any]
Answerer = Callable[[SasView, Fields], Answer]

_FOUR_BYTES = 10**8
_TWO_BYTES = 10**4
COUNTRY_UNITED_STATES = 37


def _single(code: int) -> Answerer:
    """One 4-byte value; a meter that the cabinet lacks is ignored."""

    def answer(view: SasView, _: Fields) -> Answer:
        value = view.meter(code)
        return IGNORE if value is None else Data({"value": value % _FOUR_BYTES})

    return answer


def _group(codes: Mapping[str, int]) -> Answerer:
    """Several 4-byte values: field name -> meter code. Totals are always there."""

    def answer(view: SasView, _: Fields) -> Answer:
        return Data({name: view.tracked(code) % _FOUR_BYTES for name, code in codes.items()})

    return answer


_TOTALS = {
    "total_coin_in": 0x00,
    "total_coin_out": 0x01,
    "total_drop": 0x24,
    "total_jackpot": 0x02,
    "games_played": 0x05,
}


def _eight_meters(view: SasView, _: Fields) -> Answer:
    values = {name: view.tracked(code) % _FOUR_BYTES for name, code in {**_TOTALS, "games_won": 0x06}.items()}
    values["slot_door_openings"] = view.count("main_door_openings") % _FOUR_BYTES
    values["power_resets"] = view.count("power_resets") % _FOUR_BYTES
    return Data(values)


def _games_since(view: SasView, _: Fields) -> Answer:
    return Data(
        {
            "games_since_power_reset": view.tracked(0x25) % _TWO_BYTES,
            "games_since_door_closed": view.tracked(0x26) % _TWO_BYTES,
        }
    )


def _game_meters(view: SasView, fields: Fields) -> Answer:
    game = fields["game"]
    if game and not view.has_game(game):
        return NACK
    names = {"total_coin_in": 0x00, "total_coin_out": 0x01, "total_jackpot": 0x02, "games_played": 0x05}
    return Data(
        {"game": game, **{name: view.tracked(code, game) % _FOUR_BYTES for name, code in names.items()}}
    )


def _bill_counts(view: SasView, _: Fields) -> Answer:
    if view.meter(0x0B) is None:
        return IGNORE
    wanted = (1, 5, 10, 20, 50, 100)
    return Data(
        {
            f"bills_{bill.value}": view.tracked(bill.meter) % _FOUR_BYTES
            for bill in BILLS
            if bill.value in wanted
        }
    )


def _bills_value(view: SasView, _: Fields) -> Answer:
    """LP 20 counts whole currency units, whatever the denomination (SAS 12.2)."""
    if view.meter(0x0B) is None:
        return IGNORE
    return Data({"value": view.count("bill_in") // 100 % _FOUR_BYTES})


def _last_bill(view: SasView, _: Fields) -> Answer:
    if view.meter(0x0B) is None:
        return IGNORE
    cents = view.machine.cash_in.last_cents
    bill = next((bill for bill in BILLS if bill.value * 100 == cents), None)
    if bill is None:
        return Data({"country": 0, "denomination": 0, "count": 0})
    count = view.tracked(bill.meter) % _FOUR_BYTES
    return Data({"country": COUNTRY_UNITED_STATES, "denomination": bill.code, "count": count})


def _machine_id(view: SasView, _: Fields) -> Answer:
    return Data(_configuration(view, view.machine.rules.game(SELECTED_GAME), _largest_bet(view)))


def _game_configuration(view: SasView, fields: Fields) -> Answer:
    game = fields["game"]
    if game == 0:
        offered, bet = view.machine.rules.game(SELECTED_GAME), _largest_bet(view)
    elif view.has_game(game):
        offered = view.machine.rules.game(game)
        bet = _bet_limited(view, offered)
    else:
        return NACK
    return Data({"game": game, **_configuration(view, offered, bet)})


def _configuration(view: SasView, offered: OfferedGame, max_bet: int) -> dict[str, object]:
    return {
        "game_id": view.identity.game_id,
        "additional_id": view.identity.additional_id,
        "denomination": view.denomination_code,
        "max_bet": min(max_bet, 0xFF),
        "progressive_group": 0,
        "game_options": bytes(2),
        "paytable_id": offered.rules.paytable_id,
        "base_percent": offered.rules.base_percent,
    }


def _bet_limited(view: SasView, offered: OfferedGame) -> int:
    return min(offered.rules.max_bet_credits, view.machine.setting("bet_credits_max"))


def _largest_bet(view: SasView) -> int:
    return max(_bet_limited(view, offered) for offered in view.machine.rules.games)


def _game_count(view: SasView, _: Fields) -> Answer:
    return Data({"count": len(view.machine.rules.games)})


def _version(view: SasView, _: Fields) -> Answer:
    return Data({"version": view.identity.version, "serial": view.identity.serial})


def _selected_game(_: SasView, __: Fields) -> Answer:
    return Data({"game": SELECTED_GAME})


def _enabled_games(view: SasView, _: Fields) -> Answer:
    return Data({"games": tuple(offered.number for offered in view.machine.rules.games)})


def _date_and_time(view: SasView, _: Fields) -> Answer:
    now = view.date_and_time
    return Data({"date": now.date(), "time": now.time()})


def _enabled_features(view: SasView, fields: Fields) -> Answer:
    game = fields["game"]
    if game and not view.has_game(game):
        return NACK
    return Data(
        {
            "game": game,
            "feature_1": features.FEATURE_1,
            "feature_2": features.FEATURE_2,
            "feature_3": features.FEATURE_3,
            "feature_4": features.FEATURE_4 if view.identity.version == "603" else 0,
        }
    )


ANSWERS: Mapping[LongPoll, Answerer] = {
    meters.SEND_METERS_10_TO_15: _group({"total_cancelled_credits": 0x04, **_TOTALS}),
    meters.SEND_TOTAL_CANCELLED_CREDITS: _single(0x04),
    meters.SEND_TOTAL_COIN_IN: _single(0x00),
    meters.SEND_TOTAL_COIN_OUT: _single(0x01),
    meters.SEND_TOTAL_DROP: _single(0x24),
    meters.SEND_TOTAL_JACKPOT: _single(0x02),
    meters.SEND_GAMES_PLAYED: _single(0x05),
    meters.SEND_GAMES_WON: _single(0x06),
    meters.SEND_GAMES_LOST: _single(0x07),
    meters.SEND_GAMES_SINCE: _games_since,
    meters.SEND_METERS_11_TO_15: _group(_TOTALS),
    meters.SEND_CURRENT_CREDITS: _single(0x0C),
    meters.SEND_EIGHT_METERS: _eight_meters,
    meters.SEND_BILLS_TOTAL_VALUE: _bills_value,
    meters.SEND_GAME_METERS: _game_meters,
    bills.SEND_BILL_COUNTS: _bill_counts,
    bills.SEND_LAST_BILL: _last_bill,
    identity.SEND_MACHINE_ID: _machine_id,
    identity.SEND_GAME_COUNT: _game_count,
    identity.SEND_GAME_CONFIGURATION: _game_configuration,
    identity.SEND_VERSION: _version,
    identity.SEND_SELECTED_GAME: _selected_game,
    identity.SEND_ENABLED_GAMES: _enabled_games,
    identity.SEND_DATE_AND_TIME: _date_and_time,
    identity.SEND_ENABLED_FEATURES: _enabled_features,
}
"""Read polls but for the selected-meter polls, which ``METER_POLLS`` names: those have an encoder of their own."""

METER_POLLS: frozenset[LongPoll] = frozenset(
    {meters.SEND_SELECTED_METERS, meters.SEND_EXTENDED_METERS, meters.SEND_EXTENDED_METERS_TWIN}
)
