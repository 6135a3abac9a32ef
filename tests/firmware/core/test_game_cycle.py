"""A game from the press to its last credit: drawn and recorded in the turn of the press, paid once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.core import game_cycle, router
from firmware.core.commands import Drawn, HostSetPlay, PowerUp, TimerExpired
from firmware.core.effects import Draw, Publish, StartTimer, StopTimer
from firmware.core.errors import InvariantError
from firmware.core.facts import AcceptorReady, ButtonPressed, DoorMoved
from firmware.core.game_cycle import Idle, Play, Spinning
from firmware.core.tilts import CONDITIONS, kept
from tests.firmware.core.bench import REELS_STAND, SPIN, Bench, DialGame, dial_rules

BET_ONE, BET_MAX = ButtonPressed("bet_one"), ButtonPressed("bet_max")


def funded(cents: int = 10_000, **settings: int) -> Bench:
    bench = Bench(**settings)
    bench.give(cashable=cents)
    return bench


def test_the_press_asks_for_chance_and_changes_no_money_before_it_has_it() -> None:
    bench = funded()
    turn = router.step(bench.machine, SPIN, bench.now)
    assert turn.effects == [Draw((1_000_000,))]
    assert turn.added == []
    assert turn.machine.credits == bench.machine.credits


def test_the_outcome_is_part_of_the_turn_of_the_press() -> None:
    bench = funded(accounting_denomination=5)
    bench.do(SPIN, draw=7)
    play = Play(
        game=1,
        bet_credits=1,
        denomination=5,
        values=(7,),
        stops=(0,),
        win_cents=35,
        credits_before_cents=10_000,
    )
    assert bench.machine.game == Spinning(0, play)
    assert bench.machine.credits.total == 9_995
    assert bench.meter("coin_in") == 5
    assert StartTimer("reels", 600_000) in bench.effects
    assert bench.facts("game_started")["wager_cents"] == 5


@pytest.mark.law("NJ-28C-a2", "PA-7-g-2", partly="bonus and progressive pays come with their subjects")
def test_a_win_of_twenty_quarters_raises_coin_out_by_five_dollars() -> None:
    bench = funded(accounting_denomination=25)
    bench.game(won_credits=20)
    assert bench.meter("coin_out") == 500
    assert bench.machine.credits.total == 10_000 - 25 + 500
    assert bench.facts("game_ended") == {"game": 1, "win_cents": 500, "wager_cents": 25}


def test_a_lost_game_pays_nothing_and_is_counted_as_lost() -> None:
    bench = funded()
    bench.game()
    bench.game(won_credits=3)
    counts = [bench.meter(key) for key in ("games_played", "games_won", "games_lost", "coin_out")]
    assert counts == [2, 1, 1, 3]


def test_nothing_is_paid_or_told_while_the_reels_turn() -> None:
    bench = funded()
    bench.do(SPIN, draw=50)
    assert bench.meter("coin_out") == bench.meter("games_played") == 0
    public = [effect for effect in bench.effects if isinstance(effect, Publish)]
    assert not any("win" in name or name == "stops" for effect in public for name, _ in effect.facts)
    assert bench.meter("win") == 0


@pytest.mark.parametrize("button", ["spin", "bet_max"])
def test_a_second_press_stops_the_reels_and_pays_what_was_drawn(button: str) -> None:
    bench = funded()
    bench.do(SPIN, draw=50)
    play = bench.machine.shown_play
    bench.do(ButtonPressed(button))
    assert StopTimer("reels") in bench.effects
    assert bench.machine.game == Idle(0, play)
    assert bench.machine.credits.total == 10_000 - 1 + 50
    bench.do(REELS_STAND)  # a timer that comes too late
    assert bench.machine.credits.total == 10_000 - 1 + 50


@pytest.mark.law("NJ-28B-r", partly="one point in a game; the sweep of power cuts shows the others")
@pytest.mark.parametrize("won", [0, 77, 120_000])
def test_after_a_power_loss_the_recorded_outcome_is_paid_and_nothing_drawn_again(won: int) -> None:
    bench = funded()
    bench.do(SPIN, draw=won)
    interrupted, uninterrupted = bench.machine, Bench()
    uninterrupted.machine = interrupted
    uninterrupted.do(REELS_STAND)
    bench.machine = replace(interrupted, tilts=kept(interrupted.tilts), accepting=None)
    turn = router.step(bench.machine, PowerUp(False), bench.now)
    assert not any(isinstance(effect, Draw) for effect in turn.effects)
    assert StartTimer("reels", 600_000) in turn.effects
    bench.do(PowerUp(False), REELS_STAND)
    assert bench.machine.game == uninterrupted.machine.game
    assert bench.machine.credits == uninterrupted.machine.credits
    assert bench.machine.handpay == uninterrupted.machine.handpay
    for key in ("coin_in", "coin_out", "games_played", "games_won"):
        assert bench.meter(key) == uninterrupted.meter(key)


def test_a_game_in_play_ends_though_play_was_blocked_meanwhile() -> None:
    for blocked in (DoorMoved("main", True), HostSetPlay(0, False)):
        bench = funded()
        bench.do(SPIN, draw=9)
        bench.do(blocked, REELS_STAND)
        assert bench.machine.credits.total == 10_000 - 1 + 9
        assert not bench.machine.game_in_play
        assert bench.do(SPIN) == []


@pytest.mark.parametrize("condition", sorted(CONDITIONS))
def test_no_condition_lets_a_game_start_or_a_bet_change(condition: str) -> None:
    bench = funded()
    bench.machine = replace(bench.machine, tilts=frozenset({condition}), accepting=frozenset())
    before = bench.machine
    for button in (SPIN, BET_ONE, BET_MAX):
        assert bench.do(button) == []
    assert bench.machine == before


@pytest.mark.parametrize(("cents", "starts"), [(14, False), (15, True)])
def test_a_bet_needs_its_credits(cents: int, starts: bool) -> None:
    bench = Bench(accounting_denomination=5)
    bench.give(cashable=cents)
    bench.do(BET_MAX)
    assert bench.machine.game_in_play is starts
    assert bench.meter("coin_in") == (15 if starts else 0)


def test_the_buttons_choose_among_the_games_bets() -> None:
    bench = funded()
    chosen = []
    for _ in range(4):
        bench.do(BET_ONE)
        chosen.append(bench.facts("bet_changed")["bet_credits"])
    assert chosen == [2, 3, 1, 2]
    bench.game()
    assert bench.meter("coin_in") == 2
    bench.do(BET_MAX)
    assert bench.events()[0] == "bet_changed"
    assert bench.meter("coin_in") == 5
    bench.do(REELS_STAND, SPIN)
    assert bench.meter("coin_in") == 8  # the bet stays chosen


def test_the_limit_of_a_bet_is_kept_and_bet_max_means_the_largest_below_it() -> None:
    bench = funded(bet_credits_max=2)
    bench.do(BET_MAX)
    assert bench.meter("coin_in") == 2
    assert bench.machine.host_queues[0].pending[-1].facts == (2, 2, 1)  # wager, coin in, is the largest bet
    bench.do(REELS_STAND, BET_ONE)
    assert bench.facts("bet_changed")["bet_credits"] == 1


def test_the_host_hears_wager_coin_in_after_it_and_win() -> None:
    bench = funded(accounting_denomination=5)
    bench.game(won_credits=25)
    bench.game()
    codes = [(notice.code, notice.facts) for notice in bench.machine.host_queues[0].pending[-4:]]
    assert codes == [(0x7E, (5, 5, 0)), (0x7F, (125,)), (0x7E, (5, 10, 0)), (0x7F, (0,))]


def test_the_game_that_is_shown_can_be_paid_again_from_its_record() -> None:
    bench = funded()
    bench.game(won_credits=12)
    play = bench.machine.shown_play
    assert play is not None
    outcome = game_cycle.result(play, bench.machine)
    assert (outcome.stops, outcome.win_credits * play.denomination) == (play.stops, play.win_cents)


def test_a_new_press_draws_anew() -> None:
    bench = funded()
    for won in (5, 0, 9):
        bench.do(SPIN, draw=won)
        bench.do(REELS_STAND)
        assert bench.meter("win") == won


@pytest.mark.parametrize("spinning", [False, True])
def test_chance_that_nobody_asked_for_is_a_fault_of_the_program(spinning: bool) -> None:
    bench = funded()
    if spinning:
        bench.do(SPIN)
    with pytest.raises(InvariantError):
        router.step(bench.machine, Drawn((1,)), bench.now)


@pytest.mark.parametrize("event", [SPIN, TimerExpired("reels"), PowerUp(False)])
def test_a_draw_is_answered_before_anything_else_happens(event: ButtonPressed) -> None:
    bench = funded()
    asking = router.step(bench.machine, SPIN, bench.now).machine
    with pytest.raises(InvariantError):
        router.step(asking, event, bench.now)


@pytest.mark.law("PA-7-j-1", "PA-7-j-2")
def test_the_wager_stays_shown_until_the_next_game_and_the_win_is_the_game_just_endeds() -> None:
    bench = Bench(dial_rules([DialGame(bets=(40,))]))
    bench.give(cashable=10_000)
    bench.do(SPIN, draw=25)
    assert (bench.meter("credits_wagered"), bench.meter("win")) == (40, 0)
    bench.do(REELS_STAND)
    assert (bench.meter("credits_wagered"), bench.meter("win")) == (40, 25)
    bench.game()
    assert (bench.meter("credits_wagered"), bench.meter("win")) == (40, 0)


@pytest.mark.law("NJ-28B-m2", partly="the display belongs to the panel")
def test_the_chosen_bet_is_kept_through_a_power_cut_in_the_game() -> None:
    bench = Bench(dial_rules([DialGame(bets=(1, 40))]))
    bench.give(cashable=1_000)
    bench.do(BET_MAX)
    bench.machine = replace(bench.machine, tilts=kept(bench.machine.tilts))
    bench.do(PowerUp(False), AcceptorReady())
    assert game_cycle.selected_bet(bench.machine.game, bench.machine) == 40
    bench.do(REELS_STAND)
    assert game_cycle.selected_bet(bench.machine.game, bench.machine) == 40


@pytest.mark.law("NJ-28B-l3", "PA-7-i", partly="multi-denomination play comes with its subject")
def test_meters_count_cents_whatever_the_denomination() -> None:
    bench = Bench(dial_rules([DialGame(bets=(20,))]), accounting_denomination=5)
    bench.give(cashable=1_000)
    bench.do(SPIN)
    assert bench.meter("coin_in") == 100
