"""One game from the press of a button to its last credit.

The draw happens in the turn of the press and goes on record with the wager, before a reel moves; the reels only
show it (NJ 13:69E-1.28G(c)). The award is paid when they stand, also after a power loss, and never drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.core.commands import Drawn, PowerUp, TimerExpired
from firmware.core.effects import (
    AddMeter,
    Asked,
    Deposit,
    Draw,
    LockWin,
    Report,
    StartTimer,
    StopTimer,
    Wager,
)
from firmware.core.errors import InvariantError
from firmware.core.facts import ButtonPressed
from firmware.core.meters import ATOMS
from firmware.core.money import Money

if TYPE_CHECKING:
    from firmware.core.game_rules import Outcome
    from firmware.core.state import Machine

REELS_TIMER = "reels"


@dataclass(frozen=True, slots=True)
class Play:
    """A game that was drawn.

    ``game``: number of the offered game; ``bet_credits`` at ``denomination`` cents; ``values``: what was drawn;
    ``stops``: what the reels show; ``win_cents``; ``credits_before_cents``: the meter before the wager.
    """

    game: int
    bet_credits: int
    denomination: int
    values: tuple[int, ...]
    stops: tuple[int, ...]
    win_cents: int
    credits_before_cents: int

    @property
    def wager_cents(self) -> int:
        """The wager in cents."""
        return self.bet_credits * self.denomination


@dataclass(frozen=True, slots=True)
class Idle:
    """No game is in play. ``bet_index``: the chosen one of the game's bets; ``last``: the last game's result."""

    bet_index: int = 0
    last: Play | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """The generator is being asked. Exists only within a turn."""

    bet_index: int


@dataclass(frozen=True, slots=True)
class Spinning:
    """The outcome is on record and the reels turn."""

    bet_index: int
    play: Play


State = Idle | Drawing | Spinning
NEW = Idle()

Event = ButtonPressed | Drawn | TimerExpired | PowerUp


def step(state: State, event: Event, machine: Machine) -> tuple[State, list[Asked]]:
    """Advance the game. Buttons of other subjects are not this one's business."""
    match state:
        case Idle():
            match event:
                case ButtonPressed("spin" | "bet_one" | "bet_max") if not machine.is_playable:
                    return state, []  # no effect until what blocks play has ended (NJ 13:69E-1.28B(j))
                case ButtonPressed("spin"):
                    return _start(state, machine)
                case ButtonPressed("bet_max"):
                    return _bet_max(state, machine)
                case ButtonPressed("bet_one"):
                    index = (state.bet_index + 1) % len(_bets(machine))
                    return _choose_bet(state, index, machine)
                case Drawn():
                    raise InvariantError("chance arrived that no game asked for")
                case ButtonPressed() | TimerExpired() | PowerUp():
                    return state, []
        case Drawing(bet_index):
            match event:
                case Drawn(values):
                    return _drawn(bet_index, values, machine)
                case ButtonPressed() | TimerExpired() | PowerUp():
                    raise InvariantError("a draw was left unanswered")
        case Spinning(bet_index, play):
            match event:
                case TimerExpired("reels"):
                    return Idle(bet_index, play), _settle(play, machine)
                case ButtonPressed("spin" | "bet_max"):
                    return Idle(bet_index, play), [StopTimer(REELS_TIMER), *_settle(play, machine)]
                case PowerUp():
                    return state, [StartTimer(REELS_TIMER, machine.rules.game(play.game).rules.spin_time_us)]
                case Drawn():
                    raise InvariantError("chance arrived while the reels turn")
                case ButtonPressed() | TimerExpired():
                    return state, []


SELECTED_GAME = 1
"""The game that is offered; choosing among several comes with the second game."""


def selected_bet(state: State, machine: Machine) -> int:
    """The chosen bet in credits; while the reels turn, the wager that was made."""
    if isinstance(state, Spinning):
        return state.play.bet_credits
    bets = _bets(machine)
    return bets[min(state.bet_index, len(bets) - 1)]


def _bets(machine: Machine) -> tuple[int, ...]:
    limit = machine.setting("bet_credits_max")
    bets = machine.rules.game(SELECTED_GAME).rules.bets
    return tuple(bet for bet in bets if bet <= limit) or bets[:1]


def _choose_bet(state: Idle, index: int, machine: Machine) -> tuple[Idle, list[Asked]]:
    if index == state.bet_index:
        return state, []
    return Idle(index, state.last), [Report("bet_changed", (("bet_credits", _bets(machine)[index]),))]


def _bet_max(state: Idle, machine: Machine) -> tuple[State, list[Asked]]:
    """Choose the largest bet and play it, if there are credits for it."""
    chosen, changed = _choose_bet(state, len(_bets(machine)) - 1, machine)
    started, asked = _start(chosen, machine)
    return started, [*changed, *asked]


def _start(state: Idle, machine: Machine) -> tuple[State, list[Asked]]:
    bet = selected_bet(state, machine)
    if machine.credits.total < bet * machine.denomination:
        return state, []
    rules = machine.rules.game(SELECTED_GAME).rules
    return Drawing(min(state.bet_index, len(_bets(machine)) - 1)), [Draw(rules.ranges(bet))]


def _drawn(bet_index: int, values: tuple[int, ...], machine: Machine) -> tuple[State, list[Asked]]:
    rules = machine.rules.game(SELECTED_GAME).rules
    bets = _bets(machine)
    bet, denomination = bets[bet_index], machine.denomination
    outcome = rules.outcome(values, bet)
    play = Play(
        game=SELECTED_GAME,
        bet_credits=bet,
        denomination=denomination,
        values=values,
        stops=outcome.stops,
        win_cents=outcome.win_credits * denomination,
        credits_before_cents=machine.credits.total,
    )
    started = Report(
        "game_started",
        (
            ("game", SELECTED_GAME),
            ("wager_cents", play.wager_cents),
            ("coin_in_cents", machine.meters[_COIN_IN] + play.wager_cents),
            ("is_max_bet", int(bet == bets[-1])),
        ),
    )
    return Spinning(bet_index, play), [
        Wager(play.wager_cents, SELECTED_GAME),
        started,
        StartTimer(REELS_TIMER, rules.spin_time_us),
    ]


def _settle(play: Play, machine: Machine) -> list[Asked]:
    win = play.win_cents
    counted: list[Asked] = [
        AddMeter("games_played", 1, play.game),
        AddMeter("games_won" if win else "games_lost", 1, play.game),
    ]
    if win > machine.setting("handpay_limit"):
        counted.append(LockWin(win, play.game))
    elif win:
        counted += [Deposit(Money.CASHABLE, win), AddMeter("coin_out", win, play.game)]
    ended = Report("game_ended", (("game", play.game), ("win_cents", win), ("wager_cents", play.wager_cents)))
    return [*counted, ended]


def result(play: Play, machine: Machine) -> Outcome:
    """What a recorded game shows and pays, line by line: a pure function of the recorded draw."""
    return machine.rules.game(play.game).rules.outcome(play.values, play.bet_credits)


_COIN_IN = ATOMS["coin_in"].slot
