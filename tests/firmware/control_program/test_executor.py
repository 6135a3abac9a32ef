"""Commit, then act, then tell: nothing moves and nobody hears before the record is durable; a failed memory promises
nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from firmware.control_program import state_blocks
from firmware.control_program.executor import Executor, Outlets
from firmware.core import books, game_cycle, router
from firmware.core import meters as meter_table
from firmware.core.cash_in import Stacking
from firmware.core.commands import (
    Event,
    HostHeard,
    HostSetAcceptor,
    HostSetClock,
    HostSetPlay,
    PowerUp,
    SelfFault,
)
from firmware.core.effects import Answer, Deposit, Draw, Publish, TellHost
from firmware.core.errors import InvariantError
from firmware.core.facts import (
    AcceptorReady,
    ButtonPressed,
    DoorMoved,
    KeyTurned,
    NoteInEscrow,
    NoteRejected,
    NoteStacked,
)
from firmware.core.money import Money
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, Order, ReturnNote, StackNote
from firmware.core.state import Machine, Now, new_machine
from firmware.memory import CriticalMemory
from firmware.rng.generator import FailureReason, RngFailure, RngFailureError
from hal.backends.memory_nvram import MemoryNvram
from hal.ports.nvram import NvramError
from tests.firmware.core.bench import CASH_OUT, SPIN, dial_rules

RULES = dial_rules(lines=2)
SPIN_TIME_US = 600_000


class Draws:
    """Stands for the generator: known answers, or none at all."""

    def __init__(self) -> None:
        self.values: Iterator[int] = iter(())
        self.is_broken = False
        self.asked: list[tuple[int, ...]] = []

    def draw(self, ranges: tuple[int, ...]) -> tuple[int, ...]:
        if self.is_broken:
            raise RngFailureError(RngFailure(FailureReason.MECHANISM, "broken in a test"))
        self.asked.append(ranges)
        return tuple(next(self.values, 0) for _ in ranges)


class Rig:
    """An executor on a memory part whose flushes can be held, and everything it did, in order."""

    def __init__(self, image: bytes | None = None) -> None:
        self.nvram = MemoryNvram(image=image)
        self.memory = CriticalMemory(self.nvram, state_blocks.BLOCKS)
        self.memory.power_up()
        self.draws = Draws()
        self.did: list[object] = []
        self.now_us = 0
        self.executor = Executor(
            state_blocks.restore(new_machine(RULES, {}), self.memory.content),
            self.memory,
            self.draws,  # type: ignore[arg-type]
            True,
            Outlets(self.did.append, self.did.append, self.did.append, self._durable),
        )
        if image is None:
            settings = state_blocks.changes(self.machine, new_machine(RULES, {}))
            assert self.memory.is_durable(self.memory.append(settings))
            self.executor.machine = self.executor.durable = new_machine(RULES, {})
        self.do(PowerUp(image is None), AcceptorReady())
        self.did.clear()

    def _durable(self, machine: Machine) -> None:
        self.did.append("durable")

    @property
    def machine(self) -> Machine:
        return self.executor.machine

    def do(self, *events: Event, after_us: int = 1000) -> list[object]:
        """Submit events and run; returns what was done since the last call."""
        self.now_us += after_us
        for event in events:
            self.executor.submit(event)
        self.executor.run(Now(self.now_us, self.now_us))
        done, self.did[:] = list(self.did), []
        return done

    def hold(self) -> None:
        self.nvram._holds_flushes = True

    def release(self) -> list[object]:
        self.nvram.release()
        return self.do()

    def power_cycled(self) -> Rig:
        """Another program on the same bytes: what a power cut leaves of held writes is the memory's own business."""
        return Rig(self.nvram.image())

    def insert(self, cents: int = 2000) -> None:
        self.do(NoteInEscrow(cents), NoteStacked())


def orders(done: list[object]) -> list[Order]:
    return [one for one in done if isinstance(one, StackNote | ReturnNote | AcknowledgeStacked | AcceptNotes)]


def published(done: list[object]) -> list[str]:
    return [one.event for one in done if isinstance(one, Publish)]


def told(done: list[object]) -> list[TellHost]:
    return [one for one in done if isinstance(one, TellHost)]


# --- commit, act, tell ---


@pytest.mark.parametrize(
    "event",
    [
        NoteInEscrow(2000),
        SPIN,
        HostSetPlay(0, False),
        HostSetClock(1, 10**15),
        DoorMoved("main", True),
        CASH_OUT,
    ],
    ids=repr,
)
def test_nothing_is_ordered_told_or_published_before_the_record_is_durable(event: Event) -> None:
    rig = Rig()
    rig.insert()
    rig.hold()
    before = rig.executor.durable
    assert rig.do(event) == []
    assert rig.executor.is_busy
    assert rig.executor.durable is before  # what polls are answered from
    assert rig.machine is before
    assert rig.do() == []
    done = rig.release()
    assert done[0] == "durable"
    assert len(done) > 1
    assert rig.executor.durable is rig.machine is not before
    assert not rig.executor.is_busy


def test_devices_move_before_hosts_and_the_public_hear() -> None:
    rig = Rig()
    done = rig.do(HostSetPlay(0, False))
    kinds = ["durable" if one == "durable" else type(one).__name__ for one in done]
    assert kinds == ["durable", "AcceptNotes", "TellHost", "Publish", "Publish", "Publish"]


def test_the_money_is_in_memory_when_the_acceptor_may_forget() -> None:
    rig = Rig()
    rig.do(NoteInEscrow(2000))
    rig.hold()
    assert rig.do(NoteStacked()) == []
    rig.nvram.release()
    found = state_blocks.restore(new_machine(RULES, {}), rig.power_cycled().memory.content)
    assert found.credits.cashable == 2000
    assert AcknowledgeStacked() in rig.do()


def test_events_wait_their_turn_behind_an_open_record() -> None:
    rig = Rig()
    rig.insert()
    rig.hold()
    assert rig.do(SPIN, DoorMoved("main", True), HostSetPlay(0, False)) == []
    assert rig.machine.game == game_cycle.NEW
    assert "game_started" in published(rig.release())
    assert "door_opened" in published(rig.release())
    assert told(rig.release()) == [TellHost(0, Answer.ACK)]


def test_an_event_that_changes_nothing_kept_needs_no_record() -> None:
    rig = Rig()
    rig.hold()
    assert told(rig.do(HostSetPlay(0, True))) == [TellHost(0, Answer.ACK)]
    assert not rig.executor.is_busy


def test_one_event_is_one_record_with_its_draw_in_it() -> None:
    rig = Rig()
    rig.insert()
    before = rig.memory.sequence
    rig.draws.values = iter([7])
    done = rig.do(SPIN)
    assert rig.memory.sequence == before + 1
    assert rig.draws.asked == [(1_000_000,)]
    assert not any(isinstance(one, Draw) for one in done)
    found = rig.power_cycled().machine
    assert isinstance(found.game, game_cycle.Spinning)
    assert found.game.play.values == (7,)
    assert found.credits.total == 1_999


def test_a_subject_that_draws_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    rig.insert()
    monkeypatch.setattr(
        game_cycle, "_drawn", lambda bet, values, machine: (game_cycle.Drawing(bet), [Draw((6,))])
    )
    rig.do(SPIN)
    assert rig.machine.tilts == {"program_error"}
    assert rig.machine.game == game_cycle.NEW


# --- timers ---


def test_the_reels_stand_when_their_time_is_over_and_not_before() -> None:
    rig = Rig()
    rig.insert()
    rig.do(SPIN)
    assert rig.executor.next_timer_us() == rig.now_us + SPIN_TIME_US
    assert rig.do(after_us=SPIN_TIME_US - 1) == []
    assert "game_ended" in published(rig.do(after_us=1))
    assert rig.executor.next_timer_us() is None


def test_a_timer_of_a_stopped_game_does_not_end_the_next_one() -> None:
    rig = Rig()
    rig.insert()
    rig.do(SPIN)
    rig.hold()
    rig.do(SPIN, after_us=SPIN_TIME_US - 500)  # stopped by hand; that record is open when the timer runs out
    rig.do(SPIN)  # the next game waits, and behind it the old timer
    while rig.executor.is_busy:
        rig.release()
    assert rig.machine.game_in_play
    assert meter_table.value(rig.machine, "games_played") == 1


# --- what hosts have heard ---


def test_the_last_notice_that_a_host_has_heard_leaves_with_the_next_record() -> None:
    rig = Rig()
    (power_up,) = rig.machine.host_queues[0].pending
    rig.hold()
    before = rig.memory.sequence
    assert rig.do(HostHeard(0, power_up.sequence)) == ["durable"]
    assert rig.machine.host_queues[0].pending == ()
    assert not rig.executor.is_busy
    assert rig.memory.sequence == before
    rig.do(DoorMoved("main", True))  # the next record takes it along
    rig.release()
    assert [notice.sequence for notice in rig.power_cycled().machine.host_queues[0].pending] == [3, 2]


def test_of_a_backlog_that_a_host_has_heard_a_power_cut_brings_back_one_at_most() -> None:
    rig = Rig()
    for _ in range(10):
        rig.do(NoteRejected("inhibited"))
    notices = rig.machine.host_queues[0].pending
    for count, notice in enumerate(notices, 1):
        rig.do(HostHeard(0, notice.sequence))
        found = [
            one.sequence for one in rig.power_cycled().machine.host_queues[0].pending if one.code == 0x2B
        ]
        left = [one.sequence for one in notices[count:] if one.code == 0x2B]
        assert found == left or (count == len(notices) and found == [notice.sequence])


def test_a_host_that_hears_a_whole_backlog_while_memory_is_slow_stops_nothing() -> None:
    rig = Rig()
    for _ in range(30):
        rig.do(NoteRejected("inhibited"))
    rig.hold()
    heard: list[Event] = [
        HostHeard(line, notice.sequence)
        for line in (0, 1)
        for notice in rig.machine.host_queues[line].pending
    ]
    assert len(heard) > 50
    rig.do(*heard, DoorMoved("main", True))
    records = 0
    while rig.executor.is_busy:
        rig.release()
        records += 1
        assert records < 60
    assert rig.machine.doors_open == {"main"}
    assert [len(line.pending) for line in rig.machine.host_queues] == [1, 1]


# --- a memory that fails ---


def fail_at_append(rig: Rig, event: Event) -> list[object]:
    rig.nvram.fail("gone")
    return rig.do(event)


def fail_at_durable(rig: Rig, event: Event) -> list[object]:
    rig.hold()
    assert rig.do(event) == []
    rig.nvram.fail("gone")
    return rig.do()


def fail_before(rig: Rig, event: Event) -> list[object]:
    """Memory is known to have failed when the event comes."""
    rig.nvram.fail("gone")
    with pytest.raises(NvramError):
        rig.memory.scrub_step()
    rig.do(SelfFault("memory_failure", "found by a check"))
    return rig.do(event)


FAILURES = pytest.mark.parametrize(
    "fail", [fail_at_append, fail_at_durable, fail_before], ids=lambda f: f.__name__
)
Failing = Callable[[Rig, Event], list[object]]


@FAILURES
def test_a_note_that_cannot_be_recorded_goes_back(fail: Failing) -> None:
    rig = Rig()
    done = fail(rig, NoteInEscrow(2000))
    assert ReturnNote() in orders(done)
    assert StackNote() not in orders(done)
    assert "memory_failure" in rig.machine.tilts
    assert not rig.executor.is_writable
    assert rig.machine.accepting == frozenset()
    assert rig.machine.credits.total == 0


@FAILURES
def test_money_that_cannot_be_recorded_is_neither_credited_nor_acknowledged(fail: Failing) -> None:
    rig = Rig()
    rig.do(NoteInEscrow(2000))
    done = fail(rig, NoteStacked())
    assert AcknowledgeStacked() not in orders(done)
    assert "bill_stacked" not in published(done)
    assert rig.executor.durable.credits.total == 0
    assert rig.machine.cash_in == Stacking(2000)  # the acceptor settles it at the next power-up
    assert AcknowledgeStacked() not in orders(rig.do(NoteStacked()))


@FAILURES
def test_a_game_that_cannot_be_recorded_does_not_start_and_one_in_play_does_not_pay(fail: Failing) -> None:
    rig = Rig()
    rig.insert()
    done = fail(rig, SPIN)
    assert "game_started" not in published(done)
    assert rig.machine.credits.total == 2000
    assert rig.executor.next_timer_us() is None

    rig = Rig()
    rig.insert()
    rig.draws.values = iter([50])
    rig.do(SPIN)
    done = fail(rig, SPIN)  # stops the reels
    assert "game_ended" not in published(done)
    assert rig.machine.credits.total == 1_999
    assert rig.machine.game_in_play  # its outcome is on record


@FAILURES
@pytest.mark.parametrize("event", [HostSetPlay(0, False), HostSetAcceptor(0, False), HostSetClock(0, 10**15)])
def test_a_command_that_cannot_be_recorded_is_not_acknowledged(fail: Failing, event: Event) -> None:
    rig = Rig()
    assert told(fail(rig, event)) == [TellHost(0, Answer.IGNORE)]
    assert rig.machine.host_control.play_off_by == rig.machine.host_control.acceptor_off_by == frozenset()
    assert rig.machine.marks.clock_offset_us == 0


@FAILURES
def test_a_payment_that_cannot_be_recorded_is_not_made(fail: Failing) -> None:
    rig = Rig()
    rig.insert()
    rig.do(CASH_OUT)
    done = fail(rig, KeyTurned("reset", True))
    assert "handpay_reset" not in published(done)
    assert "handpay" in rig.machine.tilts
    assert rig.machine.credits.total == 2000


@FAILURES
def test_a_door_is_still_seen(fail: Failing) -> None:
    rig = Rig()
    done = fail(rig, DoorMoved("main", True))
    assert "door_opened" in published(done)
    assert rig.machine.tilts == {"memory_failure", "main_door_open"}


def test_a_memory_found_failed_by_a_check_locks_the_machine() -> None:
    rig = Rig()
    rig.nvram.fail("gone")
    with pytest.raises(NvramError):
        rig.memory.scrub_step()
    done = rig.do(SelfFault("memory_failure", "found by a check"))
    assert "tilt_raised" in published(done)
    assert rig.machine.tilts == {"memory_failure"}
    assert rig.do(SelfFault("generator_failure", "as well")) != []
    assert rig.machine.tilts == {"memory_failure", "generator_failure"}


# --- when the program or the generator is wrong ---


def break_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_cycle, "_settle", lambda play, machine: [Deposit(Money.CASHABLE, 1)])


@pytest.mark.law("NJ-28B-s12", partly="authentication mismatches come with authentication")
def test_a_broken_rule_locks_play_and_the_state_before_it_is_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig()
    rig.insert()
    rig.do(SPIN)
    break_settling(monkeypatch)
    before = rig.machine
    done = rig.do(SPIN)
    assert "program_error" in published(done)
    assert "game_ended" not in published(done)
    assert rig.machine.tilts == {"program_error"}
    assert (rig.machine.credits, rig.machine.game, rig.machine.meters) == (
        before.credits,
        before.game,
        before.meters,
    )
    assert "program_error" in caplog.text
    again = rig.power_cycled()
    assert "program_error" in again.machine.tilts  # only a technician ends it
    assert books.imbalance(again.machine) == (0, 0, 0)
    assert again.machine.log.entries[-2].number == 92


@pytest.mark.parametrize("event", [NoteInEscrow(2000), HostSetPlay(1, False)])
def test_an_event_that_breaks_a_rule_is_refused_to_whoever_waits(
    monkeypatch: pytest.MonkeyPatch, event: Event
) -> None:
    rig = Rig()
    real = router.step

    def wrong(machine: Machine, one: Event, now: Now) -> router.Turn:
        if one == event:
            raise InvariantError("wrong in a test")
        return real(machine, one, now)

    monkeypatch.setattr(router, "step", wrong)
    done = rig.do(event)
    expected = ReturnNote() if isinstance(event, NoteInEscrow) else TellHost(1, Answer.IGNORE)
    assert expected in done
    assert rig.machine.tilts == {"program_error"}


def test_a_fault_that_cannot_be_raised_ends_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()

    def always_wrong(machine: Machine, event: Event, now: Now) -> router.Turn:
        raise InvariantError("wrong in a test")

    monkeypatch.setattr(router, "step", always_wrong)
    with pytest.raises(InvariantError):
        rig.do(ButtonPressed("spin"))


def test_without_chance_there_is_no_game() -> None:
    rig = Rig()
    rig.insert()
    rig.draws.is_broken = True
    done = rig.do(SPIN)
    assert "game_started" not in published(done)
    assert rig.machine.tilts == {"generator_failure"}
    assert rig.machine.credits.total == 2000
    assert rig.machine.game == game_cycle.NEW
    rig.draws.is_broken = False
    assert published(rig.do(SPIN)) == []
