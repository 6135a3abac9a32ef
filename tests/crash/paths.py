"""The ways through the machine along which the power is cut: one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.control_program import build
from firmware.core.commands import ChangeSetting
from firmware.core.state import Machine
from firmware.games.reel_game import ReelGame
from firmware.profiles.profile import Profile
from simulator.whole_machine import SECOND_US, HostPlan, WholeMachine
from tests.crash.power_cuts import PowerSwitch, Result, SwitchedLine, SwitchedNvram, run_alone, sweep
from tests.crash.session import HOST, QUICK_HOST, Session, machine
from tests.crash.verdicts import AfterCut


def _load_once() -> None:
    """A game is a pure function of its par sheet: let thousands of restarts in one sweep share it."""
    load, loaded = build.load_game, {}

    def load_game(text: str, source: str, profile: Profile) -> ReelGame:
        if (text, profile.name) not in loaded:
            loaded[text, profile.name] = load(text, source, profile)
        return loaded[text, profile.name]

    build.load_game = load_game


GAMES = 36

WINNING_SEED = 8
"""Of chance: the first game of the session wins, and a later one too; others lose."""


@dataclass
class Setting:
    """One session with its switch, made anew for each sweep."""

    machine: WholeMachine
    nvram: SwitchedNvram
    play: Callable[[PowerSwitch], None]
    before: list[Machine] = field(default_factory=list)


def _whole_session(host: HostPlan = HOST, lag: int = 0) -> Setting:
    """Every operation of critical memory, from the first power-up on an empty memory to the cash-out."""
    nvram = SwitchedNvram(lag=lag)
    whole = machine(nvram, seed=WINNING_SEED, host=host)

    def play(switch: PowerSwitch) -> None:
        nvram.switch = switch
        Session(whole).run()

    return Setting(whole, nvram, play)


def _restart() -> Setting:
    """Every operation of a restart in mid-game, with a note's money on the meter and news for the host."""
    nvram = SwitchedNvram()
    whole = machine(nvram, seed=WINNING_SEED)
    before: list[Machine] = []

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        session.note(2000)
        whole.world.hands.press("spin")
        whole.run_for(300_000)
        before.append(whole.program.executor.durable)
        whole.cut()
        nvram.reboot()
        nvram.switch = switch
        whole.power_on()
        whole.run_until_playable()

    return Setting(whole, nvram, play, before)


def _orderly_end() -> Setting:
    """Every operation of an orderly power-down and of the power-up after it."""
    nvram = SwitchedNvram()
    whole = machine(nvram, seed=WINNING_SEED)
    before: list[Machine] = []

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        session.note(2000)
        session.spin()
        nvram.switch = switch
        program = whole.program
        whole.world.shut_down()
        before.append(program.executor.durable)
        whole.run_for(1 * SECOND_US)
        whole.power_on()
        whole.run_until_playable()

    return Setting(whole, nvram, play, before)


def _note_bytes() -> Setting:
    """Every byte between machine and acceptor while one note is on its way."""
    nvram = SwitchedNvram()
    lines: list[SwitchedLine] = []

    def wire(link: object) -> SwitchedLine:
        lines.append(SwitchedLine(link, lambda: whole.twins.step(whole.clock.now_us())))
        return lines[0]

    whole = machine(nvram, seed=WINNING_SEED, wire=wire)

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        lines[0].switch = switch
        session.note(2000)
        lines[0].switch = None
        session.spin()

    return Setting(whole, nvram, play)


def _note_moments() -> Setting:
    """Every moment at which anything is due while one note is on its way: what moves stops where it is."""
    nvram = SwitchedNvram()
    whole = machine(nvram, seed=WINNING_SEED)

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        turn = whole.world.turn

        def turn_or_lose_power() -> None:
            switch.point()
            turn()

        whole.world.turn = turn_or_lose_power  # type: ignore[method-assign]
        session.note(2000)
        whole.world.turn = turn  # type: ignore[method-assign]

    return Setting(whole, nvram, play)


def _games() -> Setting:
    """Every operation of many games, from the button to the next idle moment."""
    nvram = SwitchedNvram()
    whole = machine(nvram, seed=WINNING_SEED)

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        session.note(5000)
        nvram.switch = switch
        session.games(GAMES)

    return Setting(whole, nvram, play)


def _jackpot() -> Setting:
    """Every operation from the spin of a win that an attendant pays to the key that ends it.

    The operator has told the machine to pay no win itself, so that a small win is enough.
    """
    return next(setting for setting in map(_jackpot_of, range(1, 100)) if setting is not None)


def _jackpot_of(seed: int) -> Setting | None:
    """The path with the chance of ``seed``; None if its first game loses."""

    def play(switch: PowerSwitch) -> None:
        whole, nvram = setting.machine, setting.nvram
        session = Session(whole)
        session.start()
        whole.program.executor.submit(ChangeSetting("handpay_limit", 0))
        session.note(2000)
        nvram.switch = switch
        session.spin()
        if whole.program.executor.durable.handpay:
            session.attendant()

    nvram = SwitchedNvram()
    setting = Setting(machine(nvram, seed=seed), nvram, play)
    play(PowerSwitch(lambda _: (), jobs=0))
    if not setting.machine.events("handpay_reset"):
        return None
    setting.nvram = SwitchedNvram()
    setting.machine = machine(setting.nvram, seed=seed)
    return setting


def _quiet() -> Setting:
    """Every moment from a burst of news on while the host takes it in and nothing else happens."""
    nvram = SwitchedNvram()
    whole = machine(nvram, seed=WINNING_SEED)

    def play(switch: PowerSwitch) -> None:
        session = Session(whole)
        session.start()
        for is_open in (True, False):
            for door in ("main", "belly", "drop", "cash_box"):
                whole.world.hands.door(door, is_open)
            whole.run_for(600_000)
        turn = whole.world.turn

        def turn_or_lose_power() -> None:
            switch.point()
            turn()

        whole.world.turn = turn_or_lose_power  # type: ignore[method-assign]
        whole.run_for(3 * SECOND_US)
        whole.world.turn = turn  # type: ignore[method-assign]

    return Setting(whole, nvram, play)


PATHS: dict[str, Callable[[], Setting]] = {
    "session": _whole_session,
    "games": _games,
    "session, 40 ms host": lambda: _whole_session(host=QUICK_HOST),
    "session, slow memory": lambda: _whole_session(lag=3),
    "restart": _restart,
    "orderly end": _orderly_end,
    "note, bytes": _note_bytes,
    "note, moments": _note_moments,
    "jackpot": _jackpot,
    "quiet": _quiet,
}


def run_path(name: str, seeds: int, every: int, jobs: int) -> Result:
    """Sweep one path. ``every``: only each N-th point, each with ``seeds`` seeds that differ from point to point."""

    def seeds_at(number: int) -> range:
        return range(number % 8 * seeds, number % 8 * seeds + seeds) if number % every == 0 else range(0)

    _load_once()
    setting = PATHS[name]()
    return sweep(
        name, setting.play, AfterCut(setting.machine, setting.nvram, setting.before).problems, seeds_at, jobs
    )


def run_point(name: str, point: int, seed: int) -> list[str]:
    """Repeat one run of a path in this process."""
    setting = PATHS[name]()
    return run_alone(
        setting.play, AfterCut(setting.machine, setting.nvram, setting.before).problems, point, seed
    )
