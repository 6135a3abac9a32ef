"""What a host's notice carries in real-time mode: the core's facts in cents, as SAS fields (SAS 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firmware.core.host_queue import Notice as OwedNotice
from firmware.links.sas.answers import COUNTRY_UNITED_STATES
from sas_protocol.codes import BILLS, denomination_code
from sas_protocol.notices import Notice

Facts = tuple[int, ...]

_BILL_CODES = {bill.value * 100: bill.code for bill in BILLS}
_MAX_BET = 1 << 7
"""Wager type, bit 7; bit 6 (multi-denomination field valid (?)) stays clear on a machine of one denomination."""


def _bill_accepted(facts: Facts, _: int) -> Facts:
    cents, count = facts
    return (COUNTRY_UNITED_STATES, _BILL_CODES[cents], count % 10**8)


def _game_started(facts: Facts, denomination: int) -> Facts:
    wager, coin_in, is_max_bet = facts
    wager_type = denomination_code(denomination) | (_MAX_BET if is_max_bet else 0)
    return (wager // denomination % 10**4, coin_in // denomination % 10**8, wager_type, 0)


def _game_ended(facts: Facts, denomination: int) -> Facts:
    (win,) = facts
    return (win // denomination % 10**8,)


FACTS: Mapping[int, Callable[[Facts, int], Facts]] = {
    0x4F: _bill_accepted,
    0x7E: _game_started,
    0x7F: _game_ended,
}
"""Notice code -> what becomes of the core's facts; a code without a row carries nothing."""


def translate(owed: OwedNotice, denomination: int) -> Notice:
    """One owed notice as the line sends it. ``denomination``: accounting denomination in cents."""
    fill = FACTS.get(owed.code)
    return Notice(owed.sequence, owed.code, fill(owed.facts, denomination) if fill else ())
