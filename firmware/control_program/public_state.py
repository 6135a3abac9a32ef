"""What a person standing at the machine could see, as JSON-ready values (interface.md 3). Amounts are cents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from firmware.control_program.devices import DEVICES
from firmware.core import game_cycle, meters, settings
from firmware.core import tilts as tilt_table
from firmware.core.doors import DOORS, KEYS
from firmware.core.events import EVENTS
from firmware.core.state import Machine

if TYPE_CHECKING:
    from firmware.control_program.machine import ControlProgram
    from firmware.profiles.profile import Profile

BUTTONS = ("spin", "bet_one", "bet_max", "cash_out")
"""Buttons that do something today."""

Body = dict[str, object]


def state(program: ControlProgram) -> Body:
    """The body of ``GET /api/state``."""
    machine = program.executor.durable
    amounts = machine.credits
    denomination = machine.denomination
    conditions = sorted(machine.tilts, key=lambda key: tilt_table.CONDITIONS[key].bit)
    return {
        "playable": machine.is_playable,
        "playable_blocked_by": conditions,
        "credits": {
            "cashable": amounts.cashable,
            "non_restricted": amounts.non_restricted,
            "restricted": amounts.restricted,
            "total": amounts.total,
            "credits": amounts.total // denomination,
        },
        "denomination": denomination,
        "game": _game(machine),
        "bet": game_cycle.selected_bet(machine.game, machine) * denomination,
        "win": _win(machine),
        "tilts": [_tilt(key) for key in conditions],
        "doors": {door: door in machine.doors_open for door in machine.rules.doors},
        "keys": {key: key in machine.keys_on for key in KEYS},
        "messages": _messages(program, machine, conditions),
        "handpay": [
            {"kind": one.kind, "cents": one.cents, "game": one.game or None} for one in machine.handpay
        ],
        **{name: _device(program, name, machine) for name in DEVICES},
        "links": [
            {
                "url": line.url,
                "address": line.address,
                "up": number in machine.host_links_up,
                "duties": list(line.duties),
                "counters": asdict(program.sas[number].end.counters),
                "trouble": program.sas[number].trouble,
            }
            for number, line in enumerate(program.cabinet.sas_lines)
        ],
        "identity": {
            "asset": program.options.asset,
            "serial": program.options.serial,
            "profile": program.options.profile,
            "seed": program.options.seed,
        },
        "event_sequence": machine.log.sequence,
        "time": program.cabinet.clock.wall_us() + machine.marks.clock_offset_us,
    }


def _game(machine: Machine) -> Body:
    shown = machine.game.play if isinstance(machine.game, game_cycle.Spinning) else None
    in_play = shown is not None
    if shown is None and isinstance(machine.game, game_cycle.Idle):
        shown = machine.game.last
    offered = machine.rules.game(shown.game if shown else game_cycle.SELECTED_GAME)
    rules = offered.rules
    bet = game_cycle.selected_bet(machine.game, machine)
    body: Body = {
        "name": rules.name,
        "title": rules.title,
        "number": offered.number,
        "paytable": rules.paytable_id,
        "in_play": in_play,
        "bet_credits": bet,
        "bets": list(rules.bets),
        "lines": rules.lines_played(bet),
        "stops": list(shown.stops) if shown else [],
        "window": [list(row) for row in rules.window(shown.stops)] if shown else [],
        "line_wins": [],
    }
    if shown is not None and not in_play:
        # While the reels turn nobody is told what they will show.
        body["line_wins"] = [
            {"line": win.line, "combination": win.combination, "cents": win.credits * shown.denomination}
            for win in game_cycle.result(shown, machine).wins
        ]
    if in_play:
        body["stops"], body["window"] = [], []
    return body


def _win(machine: Machine) -> int:
    """The win meter: what the game just ended paid; 0 while the reels turn (PA 461a.7(j)(2))."""
    game = machine.game
    return game.last.win_cents if isinstance(game, game_cycle.Idle) and game.last else 0


def _tilt(key: str) -> Body:
    row = tilt_table.CONDITIONS[key]
    return {"key": key, "kind": row.kind, "text": row.text, "cleared_by": row.cleared_by}


def _device(program: ControlProgram, name: str, machine: Machine) -> Body | None:
    """One device's part, ``None`` in a cabinet without it."""
    driver = program.drivers.get(name)
    return None if driver is None else DEVICES[name].show(driver, machine)


def _messages(program: ControlProgram, machine: Machine, conditions: list[str]) -> list[str]:
    texts = [tilt_table.CONDITIONS[key].text for key in conditions]
    texts += [f"HAND PAY ${one.cents // 100:,}.{one.cents % 100:02d}" for one in machine.handpay]
    if program.options.seed is not None:
        texts.append(f"TEST MACHINE: REPEATABLE CHANCE, SEED {program.options.seed}")
    texts.append(program.plan.profile.malfunction_text.value)
    return texts


def meters_body(machine: Machine, profile: Profile) -> Body:
    """The body of ``GET /api/meters``: every meter of the table, and those that the profile adds."""
    body: Body = {}
    for key, row in meters.METERS.items():
        sas = None if row.sas is None else f"{row.sas:02X}"
        body[key] = {"value": meters.value(machine, key), "unit": row.unit, "sas": sas, "law": list(row.law)}
    entry = profile.composite_meters
    for key, terms in entry.value.items():
        value = sum(meters.value(machine, term) for term in terms)
        unit = meters.METERS[terms[0]].unit
        body[key] = {"value": value, "unit": unit, "sas": None, "law": list(entry.clauses)}
    return body


def _event_texts() -> dict[str, str]:
    """Public event name -> what it means; a name that several events share (one a door) has all their texts."""
    texts: dict[str, list[str]] = {}
    for row in sorted(EVENTS.values(), key=lambda row: row.number):
        if row.public:
            texts.setdefault(row.public, []).append(row.text)
    return {name: "; ".join(dict.fromkeys(found)) for name, found in texts.items()}


def vocabulary() -> Body:
    """Names that outside tools may rely on."""
    return {
        "events": _event_texts(),
        "tilts": {
            key: {"kind": row.kind, "text": row.text, "cleared_by": row.cleared_by}
            for key, row in tilt_table.CONDITIONS.items()
        },
        "playable_blocked_by": list(tilt_table.CONDITIONS),
        "buttons": list(BUTTONS),
        "doors": list(DOORS),
        "keys": list(KEYS),
        "settings": {
            key: {
                "unit": row.unit,
                "low": row.low,
                "high": row.high,
                "default": row.default,
                "text": row.text,
            }
            for key, row in settings.SETTINGS.items()
        },
    }
