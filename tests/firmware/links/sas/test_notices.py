"""What a host hears of the machine's events, in and out of real-time mode, from the core's cents to the wire."""

from __future__ import annotations

import pytest

from firmware.core import router
from firmware.core.commands import Drawn, HostHeard, PowerDown, PowerUp
from firmware.core.events import EVENTS
from firmware.core.facts import AcceptorReady, DoorMoved, KeyTurned, NoteInEscrow, NoteRejected, NoteStacked
from firmware.core.host_queue import Notice as Owed
from firmware.core.meters import BILL_VALUES
from firmware.core.state import Now
from firmware.links.sas.notices import FACTS, translate
from sas_protocol.codes import BILLS, DENOMINATIONS, Bill
from sas_protocol.frames import decode_event
from sas_protocol.notices import NOTICES_602, encode_facts
from tests.firmware.core.bench import REELS_STAND, SPIN, DialGame, dial_rules, with_meters
from tests.firmware.links.sas.host import Host

REAL_TIME_ON, REAL_TIME_OFF = bytes.fromhex("01 0E 01 45 D1"), bytes.fromhex("01 0E 00 CC C0")
IDLE = bytes.fromhex("01 FF 00 1C A5")
CREDIT_LIMIT = 99_999_999


def real_time(host: Host) -> Host:
    assert host.send(REAL_TIME_ON) == b"\x01"
    return host


def all_events(host: Host) -> list[tuple[int, tuple[int, ...]]]:
    """Poll in real-time mode until nothing is left."""
    heard = []
    while (answer := host.poll()) != IDLE:
        kind, facts = decode_event(NOTICES_602, 1, answer)
        heard.append((kind.code, facts))
        assert len(heard) < 40
    return heard


def all_codes(host: Host) -> list[int]:
    codes = []
    while (answer := host.poll()) != b"\x00":
        (code,) = answer
        codes.append(code)
        assert len(codes) < 40
    return codes


# --- each note ---


@pytest.mark.parametrize("bill", BILLS, ids=lambda bill: str(bill.value))
def test_a_note_has_its_own_code_outside_real_time_mode_and_4f_with_data_in_it(bill: Bill) -> None:
    """Notes up to the largest that a credit meter may hold are inserted; of the rest the translation is looked at."""
    cents = bill.value * 100
    assert translate(Owed(1, 0x4F, 0, (cents, 12)), 1).facts == (37, bill.code, 12)
    for is_real_time in (False, True) if cents < CREDIT_LIMIT else ():
        host = Host(notes_accepted=(1 << 24) - 1, credit_limit=CREDIT_LIMIT)
        if is_real_time:
            real_time(host)
        host.happen(NoteInEscrow(cents), NoteStacked())
        heard = all_events(host) if is_real_time else all_codes(host)
        assert heard == ([(0x4F, (37, bill.code, 1))] if is_real_time else [bill.notice])


def test_a_twenty_as_the_reference_writes_it() -> None:
    host = real_time(Host())
    host.set(with_meters(host.machine, bill_in_count_20=11))
    host.happen(NoteInEscrow(2000), NoteStacked())
    assert host.poll() == bytes.fromhex("01 FF 4F 37 04 00 00 00 12 A4 A4")
    assert host.poll() == IDLE


def test_a_twenty_outside_real_time_mode_is_4a() -> None:
    host = Host()
    host.happen(NoteInEscrow(2000), NoteStacked())
    assert host.poll() == b"\x4a"


# --- games ---


def test_a_game_as_the_reference_writes_it() -> None:
    """Wager 5, coin in 1234, not the largest bet, one cent; a win of 25."""
    host = real_time(Host(rules=dial_rules([DialGame(bets=(5, 10))])))
    host.set(with_meters(host.machine, coin_in=1_229, wat_in=1_229))
    host.happen(NoteInEscrow(2000), NoteStacked())
    all_events(host)
    play(host, 25)
    assert host.poll() == bytes.fromhex("01 FF 7E 00 05 00 00 12 34 01 00 5F B6")
    assert host.poll() == bytes.fromhex("01 FF 7F 00 00 00 25 5F 6B")


def play(host: Host, won: int) -> None:
    asked = router.step(host.machine, SPIN, Now())
    host.set(router.step(asked.machine, Drawn((won,)), Now()).machine)
    host.happen(REELS_STAND)


def test_wagers_and_wins_are_credits_of_the_accounting_denomination() -> None:
    host = real_time(Host(rules=dial_rules([DialGame(bets=(3,))]), accounting_denomination=25))
    host.happen(NoteInEscrow(2000), NoteStacked())
    all_events(host)
    play(host, 40)
    largest_bet = 0x80
    assert all_events(host) == [(0x7E, (3, 3, largest_bet | 0x04, 0)), (0x7F, (40,))]


def test_what_is_too_long_for_its_field_rolls_over() -> None:
    facts = translate(Owed(1, 0x7E, 0, (10_001, 10**8 + 5, 0)), 1).facts
    assert facts == (1, 5, 1, 0)
    assert translate(Owed(1, 0x7F, 0, (10**8 + 7,)), 1).facts == (7,)
    assert translate(Owed(1, 0x4F, 0, (2000, 10**8 + 3)), 1).facts == (37, 4, 3)


# --- all others ---


@pytest.mark.parametrize("key", sorted(key for key, row in EVENTS.items() if row.host is not None))
@pytest.mark.parametrize("denomination", [1, 5, 25, 100])
def test_every_event_of_the_table_fits_its_notice(key: str, denomination: int) -> None:
    row = EVENTS[key]
    assert row.host is not None
    facts = {
        "cents": 2000,
        "count": 3,
        "wager_cents": 300,
        "coin_in_cents": 900,
        "is_max_bet": 1,
        "win_cents": 500,
    }
    owed = Owed(7, row.host, 0, tuple(facts[name] for name in row.host_facts))
    notice = translate(owed, denomination)
    assert (notice.sequence, notice.code) == (7, row.host)
    encode_facts(NOTICES_602[row.host], notice.facts)  # raises if they do not fit
    assert bool(row.host_facts) == (row.host in FACTS)


def test_all_notes_and_denominations_that_the_core_knows_have_codes() -> None:
    assert tuple(bill.value for bill in BILLS) == BILL_VALUES
    cents = {value // 100 for value in DENOMINATIONS.values() if value % 100 == 0}
    assert {1, 5, 10, 25, 50, 100, 500} <= cents


def test_events_come_in_order_and_leave_the_queue_when_the_host_goes_on() -> None:
    host = Host()
    host.happen(DoorMoved("main", True), NoteRejected("x"), DoorMoved("main", False))
    assert host.poll() == b"\x11"
    assert len(host.machine.host_queues[0].pending) == 3  # nobody knows yet whether it arrived
    assert host.send(b"\x81") == b"\x11"  # the same poll again is a first NACK: the same bytes
    host.send(b"\x80")
    assert [notice.code for notice in host.machine.host_queues[0].pending] == [0x2B, 0x12]
    assert all_codes(host) == [0x2B, 0x12]
    assert host.machine.host_queues[0].pending == ()


def test_an_event_is_sent_until_the_core_has_forgotten_it_and_not_again() -> None:
    """The removal is on its way to memory; meanwhile the line knows that the host has it."""
    host = Host(is_quick=False)
    host.happen(DoorMoved("main", True))
    assert host.poll() == b"\x11"
    assert host.poll() == b"\x00"
    assert [type(event) for event in host.waiting] == [HostHeard]
    assert host.machine.host_queues[0].pending != ()
    host.work()
    assert host.machine.host_queues[0].pending == ()


def test_after_a_power_cycle_power_notices_come_first() -> None:
    host = Host()
    host.happen(NoteRejected("x"), PowerDown(), PowerUp(False), AcceptorReady())
    assert all_codes(host) == [0x18, 0x17, 0x2B]


def test_hand_pays_come_in_order_each_with_its_reset() -> None:
    host = Host()
    host.happen(NoteInEscrow(2000), NoteStacked())
    all_codes(host)
    play(host, 130_000)
    host.happen(KeyTurned("reset", True), KeyTurned("reset", False))
    play(host, 140_000)
    assert all_codes(host) == [0x7E, 0x7F, 0x51, 0x52, 0x7E, 0x7F, 0x51]


def test_the_oldest_is_lost_when_a_host_stays_away_and_it_is_told_so() -> None:
    host = Host()
    host.happen(DoorMoved("main", True), *[NoteRejected("x")] * 25)
    assert all_codes(host) == [0x70, *[0x2B] * 25]


def test_in_real_time_mode_a_long_poll_is_answered_with_the_event_instead() -> None:
    host = real_time(Host())
    host.happen(DoorMoved("main", True))
    before = host.machine
    door_open = bytes.fromhex("01 FF 11 14 A4")
    assert host.send(bytes.fromhex("01 01 51 08")) == door_open
    assert host.waiting == []
    assert host.machine.host_control == before.host_control
    host.send(b"\x80")
    assert host.send(bytes.fromhex("01 01 51 08")) == b"\x01"
    assert host.machine.tilts == {"main_door_open", "host_disabled"}


def test_out_of_real_time_mode_the_same_events_are_bare_codes_again() -> None:
    host = real_time(Host())
    host.send(b"\x80")
    assert host.send(REAL_TIME_OFF) == b"\x01"
    host.happen(NoteInEscrow(2000), NoteStacked())
    play(host, 3)
    assert all_codes(host) == [0x4A, 0x7E, 0x7F]
