"""Commit, then act, then tell: turns events into records and, once they are durable, into orders and words.

One event at a time. While its record is on the way to durable memory, further events wait in a queue and read polls
are answered from the last durable state (design.md law 2). What a failed memory could not record did not happen:
nothing is ordered and nobody is told.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from firmware.control_program import state_blocks
from firmware.core import commands, facts, router
from firmware.core.effects import Answer, Draw, Effect, Publish, StartTimer, StopTimer, TellHost
from firmware.core.errors import InvariantError
from firmware.core.orders import Order, ReturnNote
from firmware.core.state import Machine, Now
from firmware.memory import Add, Change, CriticalMemory, UnusableMemoryError
from firmware.rng.generator import Generator, RngFailureError
from hal.ports.nvram import NvramError

_log = logging.getLogger(__name__)

DRAWS_MAX = 16
"""Draws within one turn; more is a fault of the program."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where effects go: to the driver of a device, to a host's line, to the public."""

    order: Callable[[Order], None]
    tell: Callable[[TellHost], None]
    publish: Callable[[Publish], None]
    durable: Callable[[Machine], None]


@dataclass(slots=True)
class _OpenRecord:
    """A turn whose record is not durable yet."""

    ticket: int
    event: commands.Event
    machine: Machine
    effects: list[Effect]


class Executor:
    """Run events through the core, in order.

    Args:
        machine: the state at power-up.
        memory: critical memory, powered up.
        generator: where ``Draw`` is answered from.
        is_writable: false when memory is damaged: nothing is recorded any more, and nothing that must be happens.
        outlets: where effects go.
    """

    def __init__(
        self,
        machine: Machine,
        memory: CriticalMemory,
        generator: Generator,
        is_writable: bool,
        outlets: Outlets,
    ) -> None:
        self.machine = machine
        self.durable = machine
        self._memory = memory
        self._generator = generator
        self._is_writable = is_writable
        self._outlets = outlets
        self._events: deque[commands.Event] = deque()
        self._open: _OpenRecord | None = None
        self._timers: dict[str, int] = {}

    @property
    def is_busy(self) -> bool:
        """A record is open or events wait."""
        return self._open is not None or bool(self._events)

    @property
    def is_writable(self) -> bool:
        """Critical memory takes records."""
        return self._is_writable

    def submit(self, event: commands.Event) -> None:
        """Queue one event."""
        self._events.append(event)

    def lose_memory(self, detail: str) -> None:
        """Both copies of something are bad: play is locked, and nothing is written over the evidence any more."""
        self._is_writable = False
        self.submit(commands.SelfFault("memory_failure", detail))

    def run(self, now: Now) -> None:
        """Process events until none is left or a record is open."""
        for name in [name for name, due_us in self._timers.items() if due_us <= now.us]:
            del self._timers[name]
            self._events.append(commands.TimerExpired(name))
        self._close_record(now)
        while self._events and self._open is None:
            self._process(self._events.popleft(), now)

    def is_timer_due(self, now_us: int) -> bool:
        """A timer of the core has run out."""
        return any(due_us <= now_us for due_us in self._timers.values())

    def next_timer_us(self) -> int | None:
        """When the next timer of the core runs out."""
        return min(self._timers.values(), default=None)

    # --- one event ---

    def _process(self, event: commands.Event, now: Now) -> None:
        try:
            turn = self._complete_turn(event, now)
        except InvariantError as error:
            self._lock("program_error", f"{error} (at {event})", now, event)
            return
        except RngFailureError as error:
            self._lock("generator_failure", str(error), now, event)
            return
        if not self._is_writable:
            # A clock that was set is only a mark, but its host would be told that it is for good.
            is_promise = isinstance(event, commands.HostSetClock)
            if is_promise or state_blocks.must_be_kept(self.machine, turn.machine):
                self._refuse(event)
            else:
                self._finish(turn.machine, turn.effects, now)
            return
        changes = self._changes(turn)
        if not changes:
            self._finish(turn.machine, turn.effects, now)
            return
        try:
            ticket = self._memory.append(changes, lazy=_may_wait(event, turn.machine))
        except (NvramError, UnusableMemoryError) as error:
            self._memory_failed(error, event, now)
            return
        if ticket > self._memory.sequence:  # a lazy change, which waits for the next record
            self._finish(turn.machine, turn.effects, now)
            return
        self._open = _OpenRecord(ticket, event, turn.machine, turn.effects)
        self._close_record(now)

    def _complete_turn(self, event: commands.Event, now: Now) -> router.Turn:
        """Step, and answer every draw in the same turn, so that one record holds the decision and its chance."""
        turn = router.step(self.machine, event, now)
        for _ in range(DRAWS_MAX):
            draw = next((effect for effect in turn.effects if isinstance(effect, Draw)), None)
            if draw is None:
                return turn
            values = self._generator.draw(draw.ranges)
            drawn = router.step(turn.machine, commands.Drawn(values), now)
            turn = router.Turn(
                drawn.machine,
                [effect for effect in turn.effects if effect is not draw] + drawn.effects,
                turn.added + drawn.added,
                turn.game_added + drawn.game_added,
            )
        raise InvariantError(f"more than {DRAWS_MAX} draws in one turn, at {event}")

    def _changes(self, turn: router.Turn) -> list[Change]:
        changes = state_blocks.changes(self.machine, turn.machine)
        changes += [Add(state_blocks.METERS.id, slot, amount) for slot, amount in turn.added]
        changes += [Add(state_blocks.GAME_METERS.id, slot, amount) for slot, amount in turn.game_added]
        return changes

    def _close_record(self, now: Now) -> None:
        record = self._open
        if record is None:
            return
        try:
            if not self._memory.is_durable(record.ticket):
                return
        except (NvramError, UnusableMemoryError) as error:
            self._open = None
            self._memory_failed(error, record.event, now)
            return
        self._open = None
        self._finish(record.machine, record.effects, now)

    def _finish(self, machine: Machine, effects: list[Effect], now: Now) -> None:
        """The turn is durable: it becomes what polls are answered from, then devices move, then others are told."""
        self.machine = machine
        self.durable = machine
        self._outlets.durable(machine)
        for effect in effects:
            match effect:
                case StartTimer(name, delay_us):
                    self._forget_timer(name)
                    self._timers[name] = now.us + delay_us
                case StopTimer(name):
                    self._forget_timer(name)
                case TellHost() | Publish() | Draw():
                    continue
                case _:
                    self._outlets.order(effect)
        for effect in effects:
            if isinstance(effect, TellHost):
                self._outlets.tell(effect)
        for effect in effects:
            if isinstance(effect, Publish):
                self._outlets.publish(effect)

    def _forget_timer(self, name: str) -> None:
        """A timer that ran out while a record was open has an event waiting, which must not end the next game."""
        self._timers.pop(name, None)
        expired = commands.TimerExpired(name)
        while expired in self._events:
            self._events.remove(expired)

    # --- faults of our own ---

    def _lock(self, condition: str, detail: str, now: Now, event: commands.Event) -> None:
        """Raise a hard condition instead of the event; the state before it stays as evidence."""
        _log.critical("%s: %s", condition, detail, exc_info=True)
        if isinstance(event, commands.SelfFault):
            raise InvariantError(f"the fault {event} cannot be raised: {detail}")
        self._refuse(event)
        self._process(commands.SelfFault(condition, detail), now)

    def _memory_failed(self, error: Exception, event: commands.Event, now: Now) -> None:
        """Nothing can be recorded any more: lock play, then see what is left to do about the event without a record."""
        _log.critical("memory_failure: %s", error)
        self._is_writable = False
        self._process(commands.SelfFault("memory_failure", str(error)), now)
        self._process(event, now)

    def _refuse(self, event: commands.Event) -> None:
        """The event does not happen. What is in escrow goes back to the player, and a host gets no answer."""
        match event:
            case facts.NoteInEscrow() | facts.TicketInEscrow():
                self._outlets.order(ReturnNote(event.item))
            case commands.HostSetPlay(line) | commands.HostSetAcceptor(line) | commands.HostSetClock(line):
                if line is not None:
                    self._outlets.tell(TellHost(line, Answer.IGNORE))
            case _:
                return


def _may_wait(event: commands.Event, machine: Machine) -> bool:
    """Whether the event's record may wait for the next one.

    Removing a notice that a host has acknowledged is lazy, but only while nothing else is owed to that host: else a
    whole queue could be told again after a power cut (design.md law 2: at most one repeat).
    """
    return isinstance(event, commands.HostHeard) and not machine.host_queues[event.line].pending
