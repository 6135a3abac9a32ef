"""Checks of a whole machine against everything outside it: notes in the box, hosts, what was announced.

An auditor looks at the machine's meters as anybody could (the public meters, the line) and holds them against
what is physical, what the host was told and what the public heard. ``problems`` are sentences; none is good.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from firmware.core import books
from firmware.core.meters import BILL_VALUES, BY_SAS_CODE, Derived
from sas_protocol.meters import METERS_603, Unit
from simulator.whole_machine import Heard, LineHost, WholeMachine

POWER_APPLIED = 0x17
MAIN_DOOR_OPENED = 0x11
BILL_ACCEPTED = 0x4F
GAME_STARTED, GAME_ENDED = 0x7E, 0x7F

FOLLOWED: Final = frozenset({BILL_ACCEPTED, GAME_STARTED, GAME_ENDED})
"""Notices of which a repeat can be told from news: they take turns, or carry a count. Not so doors: one that stands
open through a power cut is told anew."""

REPEATS_MAX: Final = 2
"""Notices that a host may get again after one power cut: the one whose acknowledgement had not arrived, and the
one whose removal was not on record yet."""

NEVER_FALLING: Final = frozenset(
    code
    for code, row in BY_SAS_CODE.items()
    if not isinstance(row, Derived) and row.needs in ("", "bill_acceptor")
)
"""Meters on the line that no event may lower."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one host was told of notes and games, repeats left out.

    ``repeats``: after each power-up, how many there were. ``doors_opened``: openings of the main door, repeats and all.
    """

    notices: tuple[Heard, ...]
    repeats: tuple[int, ...]
    doors_opened: int


def told(heard: Sequence[Heard]) -> Told:
    """Separate news from repeats: after a power-up, a beginning that is the end of what was heard before."""
    news: list[Heard] = []
    repeats: list[int] = []
    segment: list[Heard] = []

    def close_segment() -> None:
        count = _overlap(news, segment)
        repeats.append(count)
        news.extend(segment[count:])
        segment.clear()

    for notice in heard:
        if notice.code == POWER_APPLIED:
            close_segment()
        elif notice.code in FOLLOWED:
            segment.append(notice)
    close_segment()
    doors_opened = sum(notice.code == MAIN_DOOR_OPENED for notice in heard)
    return Told(tuple(news), tuple(repeats[1:]), doors_opened)


def _overlap(before: Sequence[Heard], after: Sequence[Heard]) -> int:
    """The longest beginning of ``after`` that is an end of ``before``."""
    for count in range(min(len(before), len(after)), 0, -1):
        if [_content(one) for one in before[-count:]] == [_content(one) for one in after[:count]]:
            return count
    return 0


def _content(notice: Heard) -> tuple[int, tuple[int, ...]]:
    return notice.code, notice.facts


@dataclass(frozen=True, slots=True)
class Ledger:
    """A machine's public meters, and what must agree with them whoever reads them.

    Args:
        meters: name -> cents or count.
        denomination: cents a credit.
        pending_jackpots: cents of wins that wait for an attendant.
    """

    meters: Mapping[str, int]
    denomination: int
    pending_jackpots: int

    @classmethod
    def of_public(cls, state: Mapping[str, Any], meters: Mapping[str, Mapping[str, Any]]) -> Ledger:
        """Read the bodies of ``GET /api/state`` and ``GET /api/meters``."""
        pending = sum(int(one["cents"]) for one in state["handpay"] if one["kind"] == "jackpot")
        values = {name: int(meter["value"]) for name, meter in meters.items()}
        return cls(values, int(state["denomination"]), pending)

    @property
    def won(self) -> int:
        """Cents of all wins, those included that an attendant has paid or is to pay."""
        return self.meters["coin_out"] + self.jackpots

    @property
    def jackpots(self) -> int:
        """Cents of wins that an attendant has paid or is to pay."""
        return self.meters["attendant_paid_jackpots"] + self.pending_jackpots

    def of_movements(self) -> Iterator[str]:
        """In + won = out + wagered + on the meter."""
        m = self.meters
        due = m["bill_in"] - m["coin_in"] + m["coin_out"] - m["attendant_paid_cancelled_credits"]
        if m["current_credits"] != due:
            yield f"{m['current_credits']} cents on the credit meter, the movements leave {due}"
        if m["games_played"] != m["games_won"] + m["games_lost"]:
            yield f"{m['games_played']} games, but {m['games_won']} won and {m['games_lost']} lost"

    def of_line(self, read: Mapping[int, int]) -> Iterator[str]:
        """Meters as a host read them (poll 6F): code -> value in the meter's own unit."""
        for code, value in read.items():
            row = BY_SAS_CODE[code]
            cents_or_count = self.meters[row.key]
            is_credits = METERS_603[code].unit is Unit.CREDITS
            expected = cents_or_count // self.denomination if is_credits else cents_or_count
            if value != expected:
                yield f"meter {code:02X} is {value} on the line, {row.key} is {expected}"

    def of_notices(self, heard: Told) -> Iterator[str]:
        """A host that adds up real-time events arrives at the meters: nothing lost, nothing twice."""
        repeats_max = max(heard.repeats, default=0)
        if repeats_max > REPEATS_MAX:
            yield f"{repeats_max} notices came again after one power cut"
        yield from self._notes_told(heard)
        yield from self._games_told(heard)
        opened = self.meters["main_door_openings"]
        cuts = max(0, len(heard.repeats) - 1)
        if not opened <= heard.doors_opened <= opened + REPEATS_MAX * cuts:
            yield f"{heard.doors_opened} door openings told, {opened} counted"

    def _notes_told(self, heard: Told) -> Iterator[str]:
        counts: dict[int, int] = {}
        for notice in heard.notices:
            if notice.code == BILL_ACCEPTED and notice.facts:
                _, note, count = notice.facts
                if count != counts.get(note, 0) + 1:
                    yield f"note code {note}: told number {count} after {counts.get(note, 0)}"
                counts[note] = count
        for note, value in enumerate(BILL_VALUES):
            told_count, counted = counts.get(note, 0), self.meters[f"bill_in_count_{value}"]
            if told_count != counted:
                yield f"{told_count} notes of {value} told, {counted} counted"

    def _games_told(self, heard: Told) -> Iterator[str]:
        games = [notice for notice in heard.notices if notice.code in (GAME_STARTED, GAME_ENDED)]
        coin_in = won = 0
        for index, notice in enumerate(games):
            expected = GAME_STARTED if index % 2 == 0 else GAME_ENDED
            if notice.code != expected:
                before = [f"{one.code:02X} {one.facts}" for one in games[max(0, index - 3) : index + 2]]
                yield f"game news number {index} should be {expected:02X}: {', '.join(before)}"
                return
            if not notice.facts:
                yield f"game news number {index} ({notice.code:02X}) came without its data"
                return
            if notice.code == GAME_STARTED:
                wagered, total, *_ = notice.facts
                coin_in += wagered
                if total != coin_in:
                    yield f"a game told a coin in of {total} credits, wagers so far are {coin_in}"
            else:
                won += notice.facts[0]
        cents = self.denomination
        if coin_in * cents != self.meters["coin_in"]:
            yield f"wagers of {coin_in * cents} cents told, coin in is {self.meters['coin_in']}"
        if won * cents != self.won:
            yield f"wins of {won * cents} cents told, {self.won} paid or to be paid"
        if len(games) // 2 != self.meters["games_played"]:
            yield f"{len(games) // 2} games told, {self.meters['games_played']} played"


class Audit:
    """Holds one machine's meters against the world.

    Args:
        machine: powered and at rest: no note in the path, no game in play, its hosts' queues empty.
    """

    def __init__(self, machine: WholeMachine) -> None:
        self._machine = machine
        meters = cast("Mapping[str, Mapping[str, Any]]", machine.world.meters())
        self.ledger: Final = Ledger.of_public(machine.world.state(), meters)
        self.meters: Final = self.ledger.meters

    def problems(self) -> list[str]:
        """Everything that does not agree."""
        found = [*self.of_money(), *self.of_notes(), *self.of_announcements()]
        for number, host in enumerate(self._machine.hosts):
            found += [f"line {number}: {problem}" for problem in self.of_host(host)]
        return found

    def of_money(self) -> Iterator[str]:
        """The machine's own books, and the same sum from its public meters."""
        imbalance = books.imbalance(self._machine.program.executor.durable)
        if any(imbalance):
            yield f"the books differ by {imbalance} cents"
        yield from self.ledger.of_movements()

    def of_notes(self) -> Iterator[str]:
        """What lies in the box is what was counted, note by note."""
        twins = self._machine.twins
        body = twins.acceptor.physical()
        stacked = [twins.cents_of(item.code) for item in body.box]
        if sum(stacked) != self.meters["bill_in"]:
            yield f"{sum(stacked)} cents of notes in the box, {self.meters['bill_in']} counted"
        for value in BILL_VALUES:
            count, counted = stacked.count(value * 100), self.meters[f"bill_in_count_{value}"]
            if count != counted:
                yield f"{count} notes of {value} in the box, {counted} counted"

    def of_announcements(self) -> Iterator[str]:
        """What was announced happened. A cut may keep the announcement of what is on record from going out."""
        machine, m = self._machine, self.meters
        sequences = [cast("int", event["sequence"]) for event in machine.announced]
        if any(after <= before for before, after in itertools.pairwise(sequences)):
            yield "sequence numbers of announced events do not rise"
        counted = {
            "coin_in": ("game_started", "wager_cents"),
            "bill_in": ("bill_stacked", "cents"),
            "games_played": ("game_ended", ""),
        }
        for meter, (event, fact) in counted.items():
            announced = sum(cast("int", one[fact]) if fact else 1 for one in machine.events(event))
            if announced > m[meter]:
                yield f"{event}: {announced} announced, but {meter} is {m[meter]}"
            elif announced < m[meter] and machine.power_ups == 1:
                yield f"{event}: only {announced} announced of {meter} {m[meter]}"
        won = sum(cast("int", one["win_cents"]) for one in machine.events("game_ended"))
        if won > self.ledger.won or (won < self.ledger.won and machine.power_ups == 1):
            yield f"wins of {won} cents announced, {self.ledger.won} paid or to be paid"

    def of_host(self, host: LineHost) -> Iterator[str]:
        """The host's meters are the machine's and never fell; its notices tell every event."""
        yield from self.ledger.of_line(host.meters)
        yield from _falls(host)
        if any(notice.facts for notice in host.heard):
            yield from self.ledger.of_notices(told(host.heard))


def _falls(host: LineHost) -> Iterator[str]:
    """Readings in which a meter that only rises fell."""
    last: dict[int, int] = {}
    for at_us, reading in host.meter_readings:
        for code, value in reading.items():
            if code in NEVER_FALLING and value < last.get(code, 0):
                yield f"meter {code:02X} fell from {last[code]} to {value} at {at_us} us"
            last[code] = value


def is_at_rest(machine: WholeMachine) -> bool:
    """Whether nothing is under way: note, game, news for a host, a poll of a host."""
    executor = machine.program.executor
    durable, body = executor.durable, machine.twins.acceptor.physical()
    return (
        not executor.is_busy
        and body.item is None
        and not body.vend_unacknowledged
        and "acceptor_starting" not in durable.tilts
        and not durable.game_in_play
        and not any(line.pending for line in durable.host_queues)
        and all(host.host.is_idle for host in machine.hosts)
    )


def settle(machine: WholeMachine, limit_us: int = 60_000_000) -> bool:
    """Let time pass until nothing is under way, then let every host read its meters. False: no rest came."""
    is_rested = machine.driver.run_while(lambda: not is_at_rest(machine), limit_us)
    for host in machine.hosts:
        host.read_meters()
    machine.run_for(3_000_000)
    return is_rested and is_at_rest(machine)
