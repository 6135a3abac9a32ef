"""What stops play and what ends it: tilts, doors, keys, hosts, the power, the program's own faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.core.commands import (
    HostSetAcceptor,
    HostSetClock,
    HostSetPlay,
    MemoryRepaired,
    PowerDown,
    PowerUp,
    SelfFault,
)
from firmware.core.doors import DOORS, KEYS
from firmware.core.effects import Answer, TellHost
from firmware.core.event_log import LOG_SIZE
from firmware.core.events import EVENTS
from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorReady,
    DeviceFault,
    DoorMoved,
    KeyTurned,
    NoteInEscrow,
    NoteRejected,
    NoteStacked,
)
from firmware.core.meters import value
from firmware.core.tilts import CONDITIONS, kept
from tests.firmware.core.bench import Bench, dial_rules

DEVICE_FAULTS = sorted(
    key for key, row in CONDITIONS.items() if row.cleared_by == "device" and key.startswith(("acceptor_", "stacker_"))
)  # fmt: skip
DEVICE_FAULTS = [key for key in DEVICE_FAULTS if key not in ("acceptor_starting", "acceptor_door_open")]
SELF_FAULTS = sorted(key for key, row in CONDITIONS.items() if row.kind == "hard")


@pytest.mark.parametrize("kind", DEVICE_FAULTS)
def test_a_device_fault_stops_play_until_the_device_says_it_is_over(kind: str) -> None:
    bench = Bench()
    bench.do(DeviceFault(kind, True, "in the path"))
    assert bench.machine.tilts == {kind}
    raised = bench.facts("tilt_raised")
    assert (raised["tilt"], raised["text"], raised["detail"]) == (kind, CONDITIONS[kind].text, "in the path")
    assert bench.events()[-1] == "unplayable"
    assert bench.do(DeviceFault(kind, True)) == []  # said again, it is no news
    bench.do(DeviceFault(kind, False))
    assert bench.machine.is_playable
    assert bench.events()[-1] == "playable"
    assert bench.do(DeviceFault(kind, False)) == []


@pytest.mark.law("NJ-28B-s3", partly="the log's life through a power cycle is shown with critical memory")
@pytest.mark.parametrize(
    ("kind", "code"),
    [("acceptor_jam", 0x28), ("stacker_full", 0x27), ("stacker_removed", 0x1B), ("acceptor_failure", 0x29),
     ("acceptor_cheated", 0x2C), ("acceptor_disconnected", 0x29)],
)  # fmt: skip
def test_the_host_and_the_log_hear_of_each_fault_once(kind: str, code: int) -> None:
    bench = Bench()
    logged = len(bench.machine.log.entries)
    bench.do(DeviceFault(kind, True))
    assert bench.owed()[1:] == [code]
    (entry,) = bench.machine.log.entries[logged:]
    assert entry.number == EVENTS[CONDITIONS[kind].raised].number
    assert entry.wall_us == bench.now.wall_us - 1000


@pytest.mark.parametrize("door", DOORS)
def test_an_open_door_stops_play_counts_and_is_reported(door: str) -> None:
    bench = Bench()
    opened, closed = EVENTS[f"{door}_door_opened"], EVENTS[f"{door}_door_closed"]
    bench.do(DoorMoved(door, True))
    assert bench.machine.tilts == {f"{door}_door_open"}
    assert bench.machine.doors_open == {door}
    assert bench.do(DoorMoved(door, True)) == []
    bench.do(DoorMoved(door, False))
    assert bench.machine.is_playable
    assert bench.meter(f"{door}_door_openings") == 1
    assert bench.owed()[1:] == [opened.host, closed.host]
    assert [entry.number for entry in bench.machine.log.entries[-2:]] == [opened.number, closed.number]
    assert bench.do(DoorMoved(door, False)) == []


@pytest.mark.law(
    "NJ-28B-s9", "NJ-28B-s4", partly="the log's life through a power cycle is shown with critical memory"
)
def test_main_belly_drop_and_stacker_doors_are_in_the_log_with_their_time() -> None:
    bench = Bench()
    for door in ("main", "belly", "drop", "cash_box"):
        at_us = bench.now.wall_us
        bench.do(DoorMoved(door, True))
        entry = bench.machine.log.entries[-1]
        assert (entry.number, entry.wall_us) == (EVENTS[f"{door}_door_opened"].number, at_us)


def test_with_two_doors_open_closing_one_does_not_allow_play() -> None:
    bench = Bench()
    bench.do(DoorMoved("main", True), DoorMoved("belly", True), DoorMoved("main", False))
    assert not bench.machine.is_playable
    assert "playable" not in bench.events()
    bench.do(DoorMoved("belly", False))
    assert bench.events()[-1] == "playable"


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_remembered_and_reported_once(key: str) -> None:
    bench = Bench()
    bench.do(KeyTurned(key, True))
    assert bench.facts("key_on") == {"key": key}
    assert bench.machine.keys_on == {key}
    assert bench.do(KeyTurned(key, True)) == []
    bench.do(KeyTurned(key, False))
    assert bench.machine.keys_on == frozenset()
    assert bench.facts("key_off") == {"key": key}


# --- hosts ---


@pytest.mark.law("PA-7-p-act", partly="the central system's own protocol is not built")
def test_a_host_stops_play_and_allows_it_again() -> None:
    bench = Bench()
    assert TellHost(0, Answer.ACK) in bench.do(HostSetPlay(0, False))
    assert bench.machine.tilts == {"host_disabled"}
    assert bench.do(HostSetPlay(0, False)) == [TellHost(0, Answer.ACK)]  # again: acknowledged, no news
    bench.do(HostSetPlay(0, True))
    assert bench.machine.is_playable


def test_one_hosts_on_does_not_undo_anothers_off() -> None:
    bench = Bench(dial_rules(lines=2))
    bench.do(HostSetPlay(0, False), HostSetPlay(1, False), HostSetPlay(0, True))
    assert bench.machine.tilts == {"host_disabled"}
    bench.do(HostSetAcceptor(1, False), HostSetPlay(1, True), HostSetAcceptor(0, True))
    assert bench.machine.is_playable
    assert bench.machine.accepting == frozenset()
    bench.do(HostSetAcceptor(1, True))
    assert bench.machine.accepting


def test_a_hosts_word_outlives_the_power() -> None:
    bench = Bench()
    bench.do(HostSetPlay(0, False), PowerUp(False), AcceptorReady())
    assert bench.machine.tilts == {"host_disabled"}


def test_a_hosts_clock_moves_the_machines_and_is_logged() -> None:
    bench = Bench()
    wanted = bench.now.wall_us + 3_600_000_000
    effects = bench.do(HostSetClock(0, wanted))
    assert bench.machine.marks.clock_offset_us == 3_600_000_000
    assert TellHost(0, Answer.ACK) in effects
    assert bench.machine.log.entries[-1].number == EVENTS["clock_set"].number
    broadcast = bench.do(HostSetClock(None, bench.now.wall_us))
    assert not any(isinstance(effect, TellHost) for effect in broadcast)
    assert bench.machine.marks.clock_offset_us == 3_600_000_000


# --- power and the program itself ---


def test_at_power_up_play_waits_for_the_acceptor() -> None:
    bench = Bench(powered=False)
    bench.do(PowerUp(memory_fresh=True))
    assert bench.machine.tilts == {"acceptor_starting"}
    assert bench.meter("power_resets") == 1
    bench.do(AcceptorNotReady(), AcceptorReady())
    assert bench.machine.is_playable


def test_a_machine_without_an_acceptor_waits_for_none() -> None:
    assert Bench(dial_rules(parts=())).machine.is_playable


@pytest.mark.law("NJ-28B-s13", partly="the log's life through a power cycle is shown with critical memory")
def test_the_powers_coming_and_going_is_logged() -> None:
    bench = Bench()
    bench.do(PowerDown(), PowerUp(False))
    numbers = [entry.number for entry in bench.machine.log.entries[-2:]]
    assert numbers == [EVENTS["power_down"].number, EVENTS["power_up"].number]


@pytest.mark.law("NJ-28B-s10", partly="the log's life through a power cycle is shown with critical memory")
@pytest.mark.parametrize(
    "repair", [PowerUp(False, tuple(f"page {page}" for page in range(100))), MemoryRepaired("page 3")]
)
def test_repairs_of_memory_are_one_entry_and_one_notice_however_many(repair: PowerUp) -> None:
    bench = Bench()
    logged = len(bench.machine.log.entries)
    bench.do(repair)
    number = EVENTS["memory_repaired"].number
    assert [entry.number for entry in bench.machine.log.entries[logged:]].count(number) == 1
    assert bench.owed().count(0x31) == 1
    assert "page 3" in str(bench.facts("memory_repaired")["detail"])


@pytest.mark.law("NJ-28B-s12", partly="authentication mismatches come with authentication")
@pytest.mark.parametrize("condition", SELF_FAULTS)
def test_a_fault_of_our_own_is_a_hard_tilt_that_nothing_at_the_cabinet_ends(condition: str) -> None:
    bench = Bench()
    logged = len(bench.machine.log.entries)
    bench.do(SelfFault(condition, "found in a test"))
    assert bench.machine.tilts == {condition}
    assert EVENTS[CONDITIONS[condition].raised].number in [
        entry.number for entry in bench.machine.log.entries[logged:]
    ]
    bench.do(
        KeyTurned("reset", True), DoorMoved("main", True), DoorMoved("main", False), AcceptorReady(),
        HostSetPlay(0, True),
    )  # fmt: skip
    assert bench.machine.tilts == {condition}


def test_what_a_power_loss_does_not_end() -> None:
    doors = {f"{door}_door_open" for door in DOORS}
    assert kept(frozenset(CONDITIONS)) == {"host_disabled", "handpay", "program_error"} | doors


def test_a_door_that_stays_open_through_a_power_loss_is_not_opened_twice() -> None:
    bench = Bench()
    bench.do(DoorMoved("main", True))
    openings = value(bench.machine, "main_door_openings")
    kept_tilts = kept(bench.machine.tilts)
    bench.machine = replace(bench.machine, tilts=kept_tilts)
    bench.do(PowerUp(False), DoorMoved("main", True))
    assert value(bench.machine, "main_door_openings") == openings
    assert "main_door_open" in bench.machine.tilts
    bench.do(DoorMoved("main", False))
    assert "main_door_open" not in bench.machine.tilts


def test_what_a_line_that_is_gone_had_switched_off_ends_at_power_up() -> None:
    bench = Bench(dial_rules(lines=2))
    bench.do(HostSetPlay(1, False), HostSetAcceptor(1, False))
    assert "host_disabled" in bench.machine.tilts
    bench.machine = replace(
        bench.machine, rules=dial_rules(lines=1), host_queues=bench.machine.host_queues[:1]
    )
    bench.do(PowerUp(False))
    assert "host_disabled" not in bench.machine.tilts
    assert not bench.machine.host_control.acceptor_off_by


def test_game_events_go_only_to_lines_with_that_duty() -> None:
    rules = replace(dial_rules(lines=2), duties=(frozenset({"general"}), frozenset({"game_events"})))
    bench = Bench(rules)
    bench.do(NoteInEscrow(100), NoteStacked())
    bench.game(0)
    told = [
        {notice.code for notice in line.pending} & {0x7E, 0x7F, 0x4F} for line in bench.machine.host_queues
    ]
    assert told == [{0x4F}, {0x4F, 0x7E, 0x7F}]


def test_the_log_keeps_the_newest_and_counts_on() -> None:
    bench = Bench()
    for number in range(LOG_SIZE + 10):
        bench.do(HostSetPlay(0, bool(number % 2)))
    entries = bench.machine.log.entries
    assert len(entries) == LOG_SIZE
    assert [entry.index for entry in entries] == list(range(entries[0].index, entries[0].index + LOG_SIZE))
    assert entries[-1].index == LOG_SIZE + 10 + 1  # the first was the power-up


def test_public_events_are_numbered_without_a_gap() -> None:
    bench = Bench()
    first = bench.machine.log.sequence
    sequences = [
        effect.sequence
        for effect in bench.do(NoteRejected("x"), DoorMoved("main", True), DoorMoved("main", False))
        if hasattr(effect, "sequence")
    ]
    assert sequences == list(range(first + 1, first + 1 + len(sequences)))
    assert bench.machine.log.sequence == sequences[-1]


# --- marks ---


@pytest.mark.law("PA-7-k-1", "PA-7-k-2")
@pytest.mark.law("PA-7-k-3", partly="the RAM clear comes with its ritual")
def test_games_since_power_up_door_closing_and_ram_clear() -> None:
    bench = Bench()
    bench.give(cashable=1_000)

    def play(games: int) -> None:
        for _ in range(games):
            bench.game()

    play(7)
    assert bench.meter("games_since_power_up") == 7
    bench.do(DoorMoved("main", True), DoorMoved("main", False))
    play(3)
    assert bench.meter("games_since_door_closed") == 3
    bench.do(PowerUp(False), AcceptorReady())
    assert bench.meter("games_since_power_up") == 0
    assert bench.meter("games_since_door_closed") == 3
    bench.do(DoorMoved("main", False), DoorMoved("belly", True), DoorMoved("belly", False))
    play(2)
    assert bench.meter("games_since_power_up") == 2
    assert bench.meter("games_since_door_closed") == 5  # neither a closed door nor another one counts anew
    assert bench.meter("games_since_ram_clear") == bench.meter("games_played") == 12


def test_the_notes_in_the_box_are_counted_from_when_it_was_put_in() -> None:
    bench = Bench()
    bench.insert(2000)
    bench.insert(500)
    assert (bench.meter("bills_in_stacker"), bench.meter("bills_in_stacker_value")) == (2, 2500)
    bench.do(DeviceFault("stacker_removed", False))  # it never was away
    assert bench.meter("bills_in_stacker") == 2
    bench.do(DeviceFault("stacker_removed", True))
    assert bench.meter("bills_in_stacker") == 2
    bench.do(DeviceFault("stacker_removed", False))
    assert (bench.meter("bills_in_stacker"), bench.meter("bills_in_stacker_value")) == (0, 0)
    assert set(bench.owed()[-3:]) == {0x1B, 0x1C, 0x7B}
    bench.insert(100)
    assert (bench.meter("bills_in_stacker"), bench.meter("bill_in")) == (1, 2600)
