"""A robot at the cabinet: plays, pays notes in, opens doors, keys off hand pays, now and then pulls the plug.

It acts through hands only and decides by what a person sees, from one seed. It keeps books of its own: what it
put in and what became of it, what it saw wagered, won and paid. Knows nothing of meters.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from simulator.hands import Fate
from simulator.world import Body, World

SECOND_US: Final = 1_000_000
NOTES: Final = (100, 500, 1000, 2000, 5000, 10_000)


class CabinetHands(Protocol):
    """What the robot can do. ``simulator.hands.Hands`` over a wire or not."""

    def bill(self, cents: int) -> None:
        """Put a note in; its fate is learnt otherwise."""

    def press(self, button: str) -> None:
        """Press a button."""

    def door(self, door: str, is_open: bool) -> None:
        """Open or close a door."""

    def key(self, key: str, on: bool) -> None:
        """Turn a key."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a hand does, and how long it rests before the next."""

    hand: str
    arguments: tuple[object, ...]
    pause_us: int

    def do(self, hands: CabinetHands) -> None:
        """Do it."""
        getattr(hands, self.hand)(*self.arguments)


@dataclass
class Accounts:
    """What the robot knows of the money, in cents, by its own eyes.

    ``stacked``: note -> how many were swallowed for good.
    """

    stacked: dict[int, int] = field(default_factory=dict)
    wagered: int = 0
    won: int = 0
    games: int = 0
    games_won: int = 0
    hand_paid: int = 0
    jackpots_paid: int = 0
    doors_opened: int = 0

    @property
    def paid_in(self) -> int:
        """Cents of all notes that were swallowed."""
        return sum(note * count for note, count in self.stacked.items())

    def take_event(self, event: Body) -> None:
        """Take what is announced, as a person sees it on the display."""
        match event["event"]:
            case "game_started":
                self.wagered += _cents(event, "wager_cents")
            case "game_ended":
                win = _cents(event, "win_cents")
                self.games += 1
                self.won += win
                self.games_won += win > 0
            case "handpay_reset":
                if event["kind"] == "jackpot":
                    self.jackpots_paid += _cents(event, "cents")
                else:
                    self.hand_paid += _cents(event, "cents")

    def take_fate(self, cents: int, fate: Fate) -> None:
        """Take what became of a note."""
        if fate.result == "stacked":
            self.stacked[cents] = self.stacked.get(cents, 0) + 1


def _cents(event: Body, name: str) -> int:
    return cast("int", event[name])


class Robot:
    """Decides what to do next, given what can be seen.

    Args:
        seed: of all its decisions.
        notes: what is in its wallet, in cents.
    """

    def __init__(self, seed: int | str, notes: tuple[int, ...] = NOTES) -> None:
        self._chance = random.Random(f"robot {seed}")
        self._notes = notes

    def next_act(self, state: Mapping[str, Any]) -> Act:
        """Return the next act. ``state``: the body of ``GET /api/state`` of a machine with power."""
        chance = self._chance
        blocked = set(state["playable_blocked_by"])
        if state["keys"]["reset"]:
            return self._act("key", "reset", False)
        open_doors = [door for door, is_open in state["doors"].items() if is_open]
        if open_doors and chance.random() < 0.7:
            return self._act("door", chance.choice(open_doors), False)
        if "handpay" in blocked and chance.random() < 0.7:
            return self._act("key", "reset", True)
        on_meter = state["credits"]["total"]
        if on_meter < state["bet"] and chance.random() < 0.8:
            return self._act("bill", chance.choice(self._notes), pause_us=2_500_000)
        return self._any_act()

    def _any_act(self) -> Act:
        """What people do at a machine that waits for them; also what makes no sense just then."""
        chance = self._chance
        roll = chance.random()
        if roll < 0.70:
            return self._act("press", "spin", pause_us=chance.choice((80_000, 300_000, 700_000, 900_000)))
        if roll < 0.78:
            return self._act("press", "bet_one", pause_us=250_000)
        if roll < 0.84:
            return self._act("press", "bet_max", pause_us=700_000)
        if roll < 0.90:
            return self._act("bill", chance.choice(self._notes), pause_us=chance.choice((100_000, 3_000_000)))
        if roll < 0.93:
            return self._act("press", "cash_out", pause_us=400_000)
        if roll < 0.96:
            return self._act("door", "main", True, pause_us=chance.choice((50_000, 600_000)))
        if roll < 0.98:
            return self._act("key", "reset", True)
        return self._act("press", chance.choice(("service", "help")), pause_us=200_000)

    def _act(self, hand: str, *arguments: object, pause_us: int = 500_000) -> Act:
        return Act(hand, arguments, pause_us + self._chance.randrange(50_000))


class RobotPlayer:
    """A robot at a world. A Neighbour of it: acts when its time has come, also on a machine without power.

    Args:
        world: its cabinet.
        seed: of its decisions.
        now_us: present time.
        notes: its wallet.
    """

    def __init__(self, world: World, seed: int | str, now_us: int, notes: tuple[int, ...] = NOTES) -> None:
        self._world = world
        self._robot = Robot(seed, notes)
        self._due_us: int | None = now_us
        self.accounts = Accounts()
        self.acts: list[tuple[int, Act]] = []
        world.listeners.append(self.accounts.take_event)

    def step(self, now_us: int) -> None:
        """Act if it is time."""
        if self._due_us is None or now_us < self._due_us:
            return
        if not self._world.has_power:
            self._due_us = now_us + SECOND_US
            return
        act = self._robot.next_act(self._world.state())
        self._due_us = now_us + act.pause_us
        self.acts.append((now_us, act))
        self._do(act)

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called."""
        return self._due_us

    def go_away(self) -> None:
        """Do nothing more."""
        self._due_us = None

    def _do(self, act: Act) -> None:
        hands = self._world.hands
        match act.hand, act.arguments:
            case "bill", (int(cents),):
                hands.bill(cents, lambda fate: self.accounts.take_fate(cents, fate))
            case "press", (str(button),):
                hands.press(button)
            case "door", (str(door), bool(is_open)):
                was_open = self._world.twins.doors()[door]
                self.accounts.doors_opened += is_open and not was_open
                hands.door(door, is_open)
            case "key", (str(key), bool(on)):
                hands.key(key, on)
            case _:
                raise ValueError(f"a robot has no such hand: {act}")
