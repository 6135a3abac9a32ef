"""One event, one turn: the pure ``step`` of the whole machine.

Subjects know nothing of each other. What one asks of another goes through here, in the order in which it was
asked, until nothing is left; what then leaves is executed after the turn is durable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields

from firmware.core import (
    books,
    cash_in,
    doors,
    game_cycle,
    handpay,
    host_control,
    host_queue,
    marks,
    power,
    settings,
    tilts,
)
from firmware.core import commands as c
from firmware.core import credits as credit_meter
from firmware.core import effects as e
from firmware.core import facts as f
from firmware.core.errors import InvariantError
from firmware.core.event_log import Log
from firmware.core.events import EVENTS
from firmware.core.meters import ATOMS, GAME_SLOT_COUNT
from firmware.core.orders import AcceptNotes
from firmware.core.state import Machine, Now

ROUNDS_MAX = 200
"""More requests than any event can need: a loop among subjects is a fault of the program."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one event did.

    Args:
        machine: the new machine.
        effects: what is to be done once it is durable, in order.
        added: ``(slot, amount)`` for each count on a machine meter.
        game_added: the same for the games' own meters.
    """

    machine: Machine
    effects: list[e.Effect]
    added: list[tuple[int, int]]
    game_added: list[tuple[int, int]]


def step(machine: Machine, event: c.Event, now: Now) -> Turn:
    """Advance the machine by one event. Pure.

    While a turn runs, subjects see the meters as they stood before the event.

    Raises:
        InvariantError: the program is wrong; the old machine is still good.
    """
    return _Router(machine, now).run(event)


_FIELDS = tuple(field.name for field in fields(Machine))
_set = object.__setattr__


def _draft(machine: Machine) -> Machine:
    """A copy that only the router changes, and only until its turn ends: one copy a turn instead of one a change."""
    draft = object.__new__(Machine)
    for name in _FIELDS:
        _set(draft, name, getattr(machine, name))
    return draft


class _Router:
    """The turn in the making."""

    __slots__ = ("added", "before", "effects", "game_added", "machine", "now", "queue")

    def __init__(self, machine: Machine, now: Now) -> None:
        self.before = machine
        self.machine = _draft(machine)
        self.now = now
        self.queue: deque[e.Asked] = deque()
        self.effects: list[e.Effect] = []
        self.added: list[tuple[int, int]] = []
        self.game_added: list[tuple[int, int]] = []

    def run(self, event: c.Event) -> Turn:
        for subject in _EVENT_ROUTES[type(event)]:
            subject(self, event)
        self._settle_requests()
        self._derive()
        self._settle_requests()
        self._count()
        return Turn(self.machine, self.effects, self.added, self.game_added)

    def _settle_requests(self) -> None:
        queue = self.queue
        for _ in range(ROUNDS_MAX):
            if not queue:
                return
            request = queue.popleft()
            route = _REQUEST_ROUTES.get(type(request))
            if route is None:
                self.effects.append(request)  # type: ignore[arg-type]  # what no subject takes leaves the core
            else:
                route(self, request)
        raise InvariantError(f"subjects ask each other without end: {list(queue)[:3]}")

    def _derive(self) -> None:
        """What follows from the new state whatever led to it."""
        before, machine = self.before, self.machine
        if machine.credits is not before.credits and machine.credits != before.credits:
            amounts = machine.credits
            self.queue.append(
                e.Report(
                    "credits_changed",
                    (
                        ("cashable", amounts.cashable),
                        ("non_restricted", amounts.non_restricted),
                        ("restricted", amounts.restricted),
                        ("total", amounts.total),
                    ),
                )
            )
        if machine.is_playable != before.is_playable:
            self.queue.append(e.Report("playable" if machine.is_playable else "unplayable"))
        if "bill_acceptor" in machine.rules.parts:
            accepting = cash_in.acceptable(machine)
            if accepting != machine.accepting:
                _set(machine, "accepting", accepting)
                self.queue.append(AcceptNotes(accepting))

    def _count(self) -> None:
        """Put the turn's counts on the meters and check the books."""
        if self.added:
            meters = list(self.machine.meters)
            for slot, amount in self.added:
                meters[slot] += amount
            _set(self.machine, "meters", tuple(meters))
        if self.game_added:
            game_meters = list(self.machine.game_meters)
            for slot, amount in self.game_added:
                game_meters[slot] += amount
            _set(self.machine, "game_meters", tuple(game_meters))
        if self.added or self.machine.credits is not self.before.credits:
            books.check_event(self.before.credits, self.machine.credits, self.added)

    # --- requests ---

    def add_meter(self, request: e.AddMeter) -> None:
        atom = ATOMS[request.key]
        if request.amount < 0:
            raise InvariantError(f"{request.key} counted {request.amount}")
        self.added.append((atom.slot, request.amount))
        if request.game and atom.game_slot is not None:
            self.game_added.append(((request.game - 1) * GAME_SLOT_COUNT + atom.game_slot, request.amount))

    def move_credits(self, request: e.Deposit | e.Wager | e.CancelCredits) -> None:
        new, asked = credit_meter.step(self.machine.credits, request)
        _set(self.machine, "credits", new)
        self.queue.extend(asked)

    def set_condition(self, request: e.RaiseCondition | e.ClearCondition) -> None:
        new, asked = tilts.step(self.machine.tilts, request)
        if asked:
            _set(self.machine, "tilts", new)
            self.queue.extend(asked)

    def report(self, request: e.Report) -> None:
        row = EVENTS[request.event]
        machine = self.machine
        log = machine.log
        if row.log:
            log = log.appended(row.number, self.now.wall_us, _log_value(request))
        if row.public:
            log = Log(log.sequence + 1, log.entries)
            self.effects.append(e.Publish(log.sequence, row.public, request.facts))
        if row.host is not None:
            facts = dict(request.facts)
            carried = tuple(int(facts[name]) for name in row.host_facts)
            queues = tuple(
                host_queue.post(line, row.host, carried, priority=row.priority, front=row.front)
                if (not row.own_line or facts["line"] == number) and machine.rules.has_duty(number, row.duty)
                else line
                for number, line in enumerate(machine.host_queues)
            )
            _set(machine, "host_queues", queues)
        if log is not machine.log:
            _set(machine, "log", log)

    # --- events and requests of the subjects ---

    def to_cash_in(self, event: cash_in.Event) -> None:
        new, asked = cash_in.step(self.machine.cash_in, event, self.machine)
        if new is not self.machine.cash_in:
            _set(self.machine, "cash_in", new)
        self.queue.extend(asked)

    def to_game_cycle(self, event: game_cycle.Event) -> None:
        new, asked = game_cycle.step(self.machine.game, event, self.machine)
        if new is not self.machine.game:
            _set(self.machine, "game", new)
        self.queue.extend(asked)

    def to_handpay(self, event: handpay.Event) -> None:
        new, asked = handpay.step(self.machine.handpay, event, self.machine)
        if new is not self.machine.handpay:
            _set(self.machine, "handpay", new)
        self.queue.extend(asked)

    def to_doors(self, event: f.DoorMoved) -> None:
        new, asked = doors.step(self.machine.doors_open, event)
        _set(self.machine, "doors_open", new)
        self.queue.extend(asked)

    def to_keys(self, event: f.KeyTurned) -> None:
        new, asked = doors.turn_key(self.machine.keys_on, event)
        _set(self.machine, "keys_on", new)
        self.queue.extend(asked)

    def to_marks(self, event: c.PowerUp | f.DoorMoved | f.DeviceFault | c.HostSetClock | e.ShowPaid) -> None:
        new, asked = marks.step(self.machine.marks, event, self.machine, self.now)
        if new is not self.machine.marks:
            _set(self.machine, "marks", new)
        self.queue.extend(asked)

    def to_power(
        self, event: c.PowerUp | c.PowerDown | c.SelfFault | c.MemoryRepaired | f.DeviceFault
    ) -> None:
        self.queue.extend(power.step(event, self.machine))

    def to_host_control(self, event: host_control.Event) -> None:
        new, asked = host_control.step(self.machine.host_control, event, self.machine.rules.line_count)
        if new is not self.machine.host_control:
            _set(self.machine, "host_control", new)
        self.queue.extend(asked)

    def to_host_queue(self, event: c.HostHeard) -> None:
        queues = list(self.machine.host_queues)
        queues[event.line] = host_queue.drop(queues[event.line], event.sequence)
        if queues[event.line] is not self.machine.host_queues[event.line]:
            _set(self.machine, "host_queues", tuple(queues))

    def to_host_links(self, event: c.HostLink) -> None:
        up = self.machine.host_links_up
        if event.up == (event.line in up):
            return
        _set(self.machine, "host_links_up", up | {event.line} if event.up else up - {event.line})
        self.queue.append(e.Report("host_link_up" if event.up else "host_link_down", (("line", event.line),)))

    def to_settings(self, event: c.ChangeSetting) -> None:
        machine = self.machine
        if machine.credits.total or machine.game_in_play or isinstance(machine.cash_in, cash_in.Stacking):
            return  # NJ 13:69E-1.28B(h): never with credits on the meter or during a game
        row = settings.SETTINGS.get(event.key)
        if row is None or row.fixed or not row.low <= event.value <= row.high:
            return
        new, asked = settings.step(self.machine.settings, settings.Change(event.key, event.value))
        _set(self.machine, "settings", new)
        self.queue.extend(asked)


def _log_value(report: e.Report) -> int:
    """The one number that the log keeps of a report: its first fact that is one."""
    return next((value for _, value in report.facts if isinstance(value, int)), 0)


_EVENT_ROUTES: dict[type, tuple[Callable[..., None], ...]] = {
    c.PowerUp: (_Router.to_marks, _Router.to_power, _Router.to_host_control, _Router.to_game_cycle),
    c.PowerDown: (_Router.to_power,),
    c.SelfFault: (_Router.to_power,),
    c.MemoryRepaired: (_Router.to_power,),
    c.Drawn: (_Router.to_game_cycle,),
    c.TimerExpired: (_Router.to_game_cycle,),
    c.HostSetPlay: (_Router.to_host_control,),
    c.HostSetAcceptor: (_Router.to_host_control,),
    c.HostSetClock: (_Router.to_marks,),
    c.HostHeard: (_Router.to_host_queue,),
    c.HostLink: (_Router.to_host_links,),
    c.ChangeSetting: (_Router.to_settings,),
    f.AcceptorPoweredUp: (_Router.to_cash_in,),
    f.AcceptorReady: (_Router.to_cash_in,),
    f.AcceptorNotReady: (_Router.to_cash_in,),
    f.NoteInEscrow: (_Router.to_cash_in,),
    f.TicketInEscrow: (_Router.to_cash_in,),
    f.NoteStacked: (_Router.to_cash_in,),
    f.NoteReturned: (_Router.to_cash_in,),
    f.NoteRejected: (_Router.to_cash_in,),
    f.DeviceFault: (_Router.to_power, _Router.to_marks),
    f.ButtonPressed: (_Router.to_game_cycle, _Router.to_handpay),
    f.DoorMoved: (_Router.to_marks, _Router.to_doors),
    f.KeyTurned: (_Router.to_keys, _Router.to_handpay),
}

_REQUEST_ROUTES: dict[type, Callable[..., None]] = {
    e.AddMeter: _Router.add_meter,
    e.Deposit: _Router.move_credits,
    e.Wager: _Router.move_credits,
    e.CancelCredits: _Router.move_credits,
    e.ShowPaid: _Router.to_marks,
    e.LockWin: _Router.to_handpay,
    e.RaiseCondition: _Router.set_condition,
    e.ClearCondition: _Router.set_condition,
    e.Report: _Router.report,
}
