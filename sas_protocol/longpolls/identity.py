"""Who the machine is, what it offers, and its clock. SAS reference 9.4, 9.6, 12.4."""

from __future__ import annotations

from typing import Final

from sas_protocol.fields import (
    Ascii,
    Bcd,
    Binary,
    Date,
    Optional,
    Raw,
    Repeated,
    Reserved,
    RestText,
    Text,
    Time,
)
from sas_protocol.longpolls.poll import Kind, LongPoll

SOURCE: Final = "SAS reference 12.4"
GAME: Final = Bcd("game", 2)
IDENTITY: Final = (
    Ascii("game_id", 2),
    Ascii("additional_id", 3),
    Binary("denomination"),  # accounting denomination, codes.DENOMINATIONS
    Binary("max_bet"),  # credits, FF if above 255
    Binary("progressive_group"),
    Raw("game_options", 2),  # the bit table is not public (?): 0000 if none are defined
    Ascii("paytable_id", 6),
    Ascii("base_percent", 4),  # hundredths of a percent: "9512" is 95.12 %
)

SEND_MACHINE_ID: Final = LongPoll(
    code=0x1F, name="send_machine_id", kind=Kind.READ, response=IDENTITY, source="SAS reference 9.4"
)
SEND_GAME_COUNT: Final = LongPoll(
    code=0x51, name="send_game_count", kind=Kind.READ, response=(Bcd("count", 2),), source=SOURCE
)
SEND_GAME_CONFIGURATION: Final = LongPoll(
    code=0x53,
    name="send_game_configuration",
    kind=Kind.GAME,
    request=(GAME,),
    response=(GAME, *IDENTITY),
    source="SAS reference 9.4",
)
SEND_VERSION: Final = LongPoll(
    code=0x54,
    name="send_version_and_serial",
    kind=Kind.READ,
    response=(Ascii("version", 3), RestText("serial", 40)),
    response_prefixed=True,
    source=SOURCE,
)
SEND_SELECTED_GAME: Final = LongPoll(
    code=0x55, name="send_selected_game", kind=Kind.READ, response=(GAME,), source=SOURCE
)
SEND_ENABLED_GAMES: Final = LongPoll(
    code=0x56,
    name="send_enabled_games",
    kind=Kind.READ,
    response=(Repeated("games", (GAME,), most=127, counted=True),),
    response_prefixed=True,
    is_denomination_aware=True,
    source=SOURCE,
)
SEND_DATE_AND_TIME: Final = LongPoll(
    code=0x7E, name="send_date_and_time", kind=Kind.READ, response=(Date("date"), Time("time")), source=SOURCE
)
SET_DATE_AND_TIME: Final = LongPoll(
    code=0x7F,
    name="set_date_and_time",
    kind=Kind.SEND,
    request=(Date("date"), Time("time")),
    is_global=True,
    source=SOURCE,
)
SEND_ENABLED_FEATURES: Final = LongPoll(
    code=0xA0,
    name="send_enabled_features",
    kind=Kind.GAME,
    request=(GAME,),
    # Six bytes: F1 F2 F3 and three reserved in 6.02; 6.03 uses the fourth (codes.FEATURES).
    response=(
        GAME,
        Binary("feature_1"),
        Binary("feature_2"),
        Binary("feature_3"),
        Binary("feature_4"),
        Reserved(2),
    ),
    source=SOURCE,
)
SEND_CASH_OUT_LIMIT: Final = LongPoll(
    code=0xA4,
    name="send_cash_out_limit",
    kind=Kind.GAME,
    request=(GAME,),
    response=(GAME, Bcd("limit", 2)),  # credits
    source=SOURCE,
)
SEND_PLAYER_DENOMINATION: Final = LongPoll(
    code=0xB1,
    name="send_player_denomination",
    kind=Kind.READ,
    response=(Binary("denomination"),),
    source=SOURCE,
)
SEND_PLAYER_DENOMINATIONS: Final = LongPoll(
    code=0xB2,
    name="send_player_denominations",
    kind=Kind.READ,
    response=(Repeated("denominations", (Binary("denomination"),), most=254, counted=True),),
    response_prefixed=True,
    source=SOURCE,
)
SEND_TOKEN_DENOMINATION: Final = LongPoll(
    code=0xB3,
    name="send_token_denomination",
    kind=Kind.READ,
    response=(Binary("denomination"),),
    source=SOURCE,
)
SEND_WAGER_CATEGORY: Final = LongPoll(
    code=0xB4,
    name="send_wager_category",
    kind=Kind.GAME,
    request=(GAME, Bcd("category", 2)),
    # The meter's size byte is part of the data: coin_in is the size and that many BCD bytes, unparsed.
    response=(GAME, Bcd("category", 2), Ascii("payback_percent", 4), Raw("sized_coin_in")),
    response_prefixed=True,
    source=SOURCE,
)
SEND_GAME_INFORMATION: Final = LongPoll(
    code=0xB5,
    name="send_game_information",
    kind=Kind.GAME,
    request=(GAME,),
    response=(
        GAME,
        Bcd("max_bet", 2),
        Binary("progressive_group"),
        Binary("progressive_levels", 4),  # bit 0: level 1
        Text("game_name", 20),
        Text("paytable_name", 20),
        Bcd("wager_categories", 2),
        # The tail is 6.03 (1 src): a machine that reports 602 leaves it out.
        Optional(
            (Repeated("denominations", (Binary("denomination"),), counted=True),), first="denominations"
        ),
    ),
    response_prefixed=True,
    is_denomination_aware=True,
    source=SOURCE,
)
SET_MACHINE_NUMBERS: Final = LongPoll(
    code=0xB7,
    name="set_machine_numbers",
    kind=Kind.SEND,
    request=(Binary("asset", 4), Text("location", 40)),  # 0 and empty: ask
    response=(Binary("flags"), Binary("asset", 4), Text("location", 40)),
    request_prefixed=True,
    response_prefixed=True,
    since=603,
    source=SOURCE,
)

POLLS: Final = (
    SEND_MACHINE_ID,
    SEND_GAME_COUNT,
    SEND_GAME_CONFIGURATION,
    SEND_VERSION,
    SEND_SELECTED_GAME,
    SEND_ENABLED_GAMES,
    SEND_DATE_AND_TIME,
    SET_DATE_AND_TIME,
    SEND_ENABLED_FEATURES,
    SEND_CASH_OUT_LIMIT,
    SEND_PLAYER_DENOMINATION,
    SEND_PLAYER_DENOMINATIONS,
    SEND_TOKEN_DENOMINATION,
    SEND_WAGER_CATEGORY,
    SEND_GAME_INFORMATION,
)
ADDED_IN_603: Final = (SET_MACHINE_NUMBERS,)
