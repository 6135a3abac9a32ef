"""Settings: in range, never with credits on the meter or in a game, each change heard of."""

from __future__ import annotations

import pytest

from firmware.core import settings
from firmware.core.commands import ChangeSetting
from firmware.core.settings import SETTINGS, SettingError
from tests.firmware.core.bench import REELS_STAND, SPIN, Bench

OPEN = sorted(key for key, row in SETTINGS.items() if not row.fixed)


def other_value(key: str) -> int:
    row = SETTINGS[key]
    return row.low if row.default != row.low else row.high


@pytest.mark.law("NJ-28B-h-cr", "NJ-28B-h-game")
@pytest.mark.parametrize("key", OPEN)
def test_a_setting_changes_only_without_credits_and_between_games(key: str) -> None:
    bench = Bench()
    default, wanted = bench.machine.setting(key), other_value(key)
    change = ChangeSetting(key, wanted)
    bench.give(cashable=1)
    assert bench.do(change) == []
    bench.do(SPIN)
    assert bench.machine.credits.total == 0
    assert bench.machine.game_in_play
    assert bench.do(change) == []
    assert bench.machine.setting(key) == default
    bench.do(REELS_STAND, change)
    assert bench.machine.setting(key) == wanted
    assert bench.facts("setting_changed") == {"setting": key, "old": default, "new": wanted}
    assert bench.owed()[-1] == 0x3C


@pytest.mark.parametrize("key", OPEN)
def test_a_value_out_of_range_is_refused(key: str) -> None:
    bench = Bench()
    row = SETTINGS[key]
    for wrong in (row.low - 1, row.high + 1):
        assert bench.do(ChangeSetting(key, wrong)) == []
        with pytest.raises(SettingError, match=key):
            settings.check(key, wrong)
    for right in (row.low, row.high):
        assert settings.check(key, right) == right
        bench.do(ChangeSetting(key, right))
        assert bench.machine.setting(key) == right


def test_what_is_fixed_when_the_machine_is_made_never_changes() -> None:
    bench = Bench(accounting_denomination=5)
    assert bench.do(ChangeSetting("accounting_denomination", 25)) == []
    assert bench.machine.denomination == 5


def test_a_setting_nobody_knows_changes_nothing() -> None:
    assert Bench().do(ChangeSetting("volume", 1)) == []
    with pytest.raises(SettingError, match="volume"):
        settings.check("volume", 1)
    with pytest.raises(SettingError, match="volume"):
        settings.defaults({"volume": 1})


def test_the_value_it_already_has_is_no_change() -> None:
    bench = Bench()
    assert bench.do(ChangeSetting("credit_limit", bench.machine.setting("credit_limit"))) == []


def test_a_new_machine_has_the_given_values_and_the_defaults_of_the_rest() -> None:
    state = settings.defaults({"credit_limit": 5_000})
    assert settings.value(state, "credit_limit") == 5_000
    for key, row in SETTINGS.items():
        if key != "credit_limit":
            assert settings.value(state, key) == row.default


def test_a_changed_limit_is_obeyed_at_once() -> None:
    bench = Bench()
    bench.do(ChangeSetting("handpay_limit", 100), ChangeSetting("notes_accepted", 0b1))
    assert bench.machine.accepting == frozenset({100})
    bench.give(cashable=10)
    bench.game(won_credits=101)
    assert bench.machine.tilts == {"handpay"}
