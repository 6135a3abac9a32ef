"""Driver and twin on one wire: each fault by name, each hand, and what the core hears of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorPoweredUp,
    AcceptorReady,
    DeviceFault,
    NoteInEscrow,
    NotePosition,
    NoteRejected,
    NoteReturned,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import AcceptNotes, HoldNote, ReturnNote
from hal.wire import id003
from hal.wire.id003 import Status
from simulator.cabinet.id003_tables import FAULTS, Unit
from simulator.cabinet.note_path import Place
from tests.firmware.drivers.id003_bench import NOTE, Bench, stack_all

STACKED = [NoteInEscrow(2000), NoteStacked()]
RETURNED = [NoteInEscrow(2000), NoteReturned()]
IN_ACCEPTOR = AcceptorPoweredUp(NotePosition.IN_ACCEPTOR)
IN_STACKER = AcceptorPoweredUp(NotePosition.IN_STACKER)


def faults(bench: Bench) -> list[tuple[str, bool]]:
    return [(fact.kind, fact.on) for fact in bench.facts if isinstance(fact, DeviceFault)]


def results(bench: Bench) -> list[tuple[str, str]]:
    return [(outcome.result, outcome.reason) for outcome in bench.twin.outcomes]


def insert(bench: Bench, item: int | str = NOTE, seconds: float = 8) -> None:
    bench.twin.insert(item, bench.now_us)
    bench.run(seconds)


# --- Without faults -----------------------------------------------------------------------------------


@pytest.mark.law("NJ-28N-g-post", partly="the log entry is the core's")
def test_power_up_passes_a_self_test_before_anything_is_taken() -> None:
    bench = Bench()
    bench.run(3)
    assert bench.twin.status is Status.INITIALIZE
    bench.twin.insert(NOTE, bench.now_us)
    assert results(bench) == [("rejected", "initialize")]
    bench.run(3)
    assert bench.facts == [AcceptorNotReady(), AcceptorPoweredUp(NotePosition.NONE), AcceptorReady()]
    insert(bench)
    assert bench.record.credited == 2000


@pytest.mark.law("NJ-28N-h-sig", partly="the log entry is the core's")
def test_the_signature_is_computed_at_power_up_and_reported() -> None:
    bench = Bench().ready()
    assert id003.crc(bench.twin.physical().rom) == 0x964D
    assert bench.driver.identification.firmware_checksum == "964D"


@pytest.mark.law("NJ-28N-h-bad", "NJ-28N-g-fail")
def test_a_changed_firmware_byte_keeps_the_acceptor_out_of_service_for_good() -> None:
    bench = Bench().ready()
    bench.twin.inject("rom_byte", bench.now_us)
    for _ in range(3):
        bench.kill_world()
        bench.run(20)
        assert bench.twin.status is not Status.IDLING
        insert(bench, seconds=1)
    assert {result for result, _ in results(bench)} == {"rejected"}
    assert ("acceptor_failure", True) in faults(bench)
    assert AcceptorReady() not in bench.facts
    bench.twin.clear_fault("rom_byte", bench.now_us)
    bench.run_until_fact(AcceptorReady())


@pytest.mark.law("NJ-28N-b1", "NJ-28N-c")
@pytest.mark.parametrize(("code", "cents"), id003.US_CENTS.items())
@pytest.mark.parametrize("stacks_fully", [False, True], ids=["stack_1", "stack_2"])
def test_every_note_is_credited_at_its_value(code: int, cents: int, stacks_fully: bool) -> None:
    bench = Bench(stacks_fully=stacks_fully).ready()
    insert(bench, code)
    assert bench.facts == [NoteInEscrow(cents), NoteStacked(), AcceptorReady()]
    assert bench.record.credited == cents == bench.swallowed_cents()
    assert [item.code for item in bench.twin.physical().box] == [code]
    assert results(bench) == [("stacked", "")]


@pytest.mark.law("NJ-28N-b2", partly="notes; vouchers and coupons come with redemption")
def test_a_note_that_is_none_is_rejected() -> None:
    bench = Bench().ready()
    insert(bench, 0x99)
    assert bench.facts == [NoteRejected("denomination_undecided"), AcceptorReady()]
    assert results(bench) == [("rejected", "denomination_undecided")]


def test_the_core_may_return_a_note() -> None:
    bench = Bench(lambda _: ReturnNote()).ready()
    insert(bench)
    assert bench.facts == [*RETURNED, AcceptorReady()]
    assert results(bench) == [("returned", "")]


def test_a_ticket_is_read_held_and_returned() -> None:
    bench = Bench(lambda _: HoldNote(), accept=AcceptNotes(frozenset({2000}), tickets=True)).ready()
    insert(bench, "001234567890123456", seconds=25)
    assert bench.facts == [TicketInEscrow("001234567890123456")]
    assert bench.twin.status is Status.HOLDING, "held far beyond the time after which HOLD lapses"
    bench.driver.order(ReturnNote(), bench.now_us)
    bench.run(3)
    assert bench.facts[1:] == [NoteReturned(), AcceptorReady()]


def test_tickets_are_refused_by_the_acceptor_itself_unless_asked_for() -> None:
    bench = Bench().ready()
    insert(bench, "001234567890123456")
    assert bench.facts == [NoteRejected("inhibited"), AcceptorReady()]


def test_a_ticket_of_another_length_is_refused_by_the_acceptor() -> None:
    bench = Bench(accept=AcceptNotes(frozenset(), tickets=True)).ready()
    insert(bench, "1234")
    assert bench.facts == [NoteRejected("barcode_wrong_length"), AcceptorReady()]


def test_an_undecided_note_goes_back() -> None:
    bench = Bench(lambda _: None).ready()
    insert(bench)
    assert bench.facts == [*RETURNED, AcceptorReady()]


@pytest.mark.law("NJ-28N-a")
def test_inhibited_nothing_is_drawn_in_and_enabled_again_it_is() -> None:
    bench = Bench().ready()
    bench.driver.order(AcceptNotes(frozenset()), bench.now_us)
    bench.run(1)
    assert bench.twin.status is Status.INHIBITED
    insert(bench, seconds=3)
    assert results(bench) == [("rejected", "inhibited")]
    bench.driver.order(AcceptNotes(frozenset({2000})), bench.now_us)
    bench.run(1)
    insert(bench)
    insert(bench, 0x61)
    assert bench.facts == [*STACKED, AcceptorReady(), NoteRejected("inhibited"), AcceptorReady()]


def test_a_note_on_its_way_in_when_the_inhibit_comes_is_returned() -> None:
    bench = Bench().ready()
    insert(bench, seconds=0.4)
    bench.driver.order(AcceptNotes(frozenset()), bench.now_us)
    bench.run(5)
    assert bench.facts == [NoteRejected("inhibited"), AcceptorReady()]
    assert results(bench) == [("returned", "")]
    assert bench.record.credited == 0


# --- The wire -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        "lost_answer",
        "lost_request",
        "lost_ack_to_host",
        "lost_ack_from_host",
        "corrupt_crc",
        "noise_00",
        "late_answer",
        "repeated_vend",
    ],
)
@pytest.mark.parametrize("after", [0.0, 0.7, 0.86, 0.9, 1.0, 1.3, 1.4, 1.5])
def test_one_or_two_spoilt_messages_cost_time_and_nothing_else(kind: str, after: float) -> None:
    bench = Bench().ready()
    insert(bench, seconds=after)
    bench.twin.inject(kind, bench.now_us, count=2)
    bench.run(8)
    assert bench.money_facts() == STACKED
    assert bench.record.credited == 2000
    assert faults(bench) == []
    assert bench.twin.status is Status.IDLING
    assert not bench.twin.physical().vend_unacknowledged


def test_an_answer_later_than_the_next_poll_does_no_harm() -> None:
    bench = Bench().ready()
    bench.twin.inject("late_answer", bench.now_us, count=40, detail=260_000)
    insert(bench, seconds=30)
    assert bench.money_facts() == STACKED


def test_a_settings_echo_that_is_spoilt_is_asked_again() -> None:
    bench = Bench()
    bench.run(1.6)
    for kind in ("corrupt_crc", "lost_answer", "noise_00", "lost_request"):
        bench.twin.inject(kind, bench.now_us, count=2)
    bench.run_until_fact(AcceptorReady())
    insert(bench)
    assert bench.record.credited == 2000


@pytest.mark.law("NJ-28N-i6", partly="here: driver and acceptor; the machine's tilt is shown with the core")
def test_a_cut_line_is_a_fault_and_nothing_is_credited_until_it_is_whole() -> None:
    bench = Bench().ready()
    bench.twin.inject("disconnect", bench.now_us)
    bench.run(3)
    insert(bench, seconds=20)
    assert faults(bench) == [("acceptor_disconnected", True)]
    assert bench.record.credited == 0
    assert results(bench) == [("rejected", "inhibited")], "nobody decided: the unit gave it back"
    bench.twin.clear_fault("disconnect", bench.now_us)
    bench.run(8)
    assert faults(bench) == [("acceptor_disconnected", True), ("acceptor_disconnected", False)]
    assert bench.facts[-1] == AcceptorReady()


def test_a_power_cut_of_the_acceptor_is_seen() -> None:
    bench = Bench().ready()
    bench.twin.power_off()
    bench.run(2)
    assert faults(bench) == [("acceptor_disconnected", True)]
    bench.twin.power_on(bench.now_us)
    bench.run(8)
    assert bench.facts[1:] == [
        DeviceFault("acceptor_disconnected", on=False),
        AcceptorPoweredUp(NotePosition.NONE),
        AcceptorNotReady(),
        AcceptorReady(),
    ]


def test_a_unit_that_shows_communication_errors_and_00_while_booting() -> None:
    bench = Bench(unit=Unit(is_zero_while_booting=True, shows_communication_error=True))
    bench.run_until_fact(AcceptorReady())
    bench.host_link.write(b"\xfc\x05\x11\x27\x57")
    insert(bench)
    assert bench.money_facts()[1:] == STACKED
    assert faults(bench) == []


def test_a_unit_without_currency_assign() -> None:
    bench = Bench(unit=Unit(table=None)).ready()
    insert(bench, 0x64)
    assert bench.record.credited == 1000


# --- Faults of the unit -------------------------------------------------------------------------------


@pytest.mark.law("NJ-28B-o3", "NJ-28N-i1", partly="here: driver and acceptor; the host's event is the line's")
@pytest.mark.parametrize(
    ("kind", "credited", "told"),
    [
        ("jam_at_entrance", 0, IN_ACCEPTOR),
        ("jam_before_lever", 0, IN_ACCEPTOR),
        ("jam_after_lever", 2000, IN_STACKER),
        ("jam_after_vend", 2000, IN_STACKER),
    ],
)
@pytest.mark.parametrize("stacks_fully", [False, True], ids=["stack_1", "stack_2"])
def test_a_jam_is_told_once_and_its_note_is_decided_by_the_restart(
    kind: str, credited: int, told: AcceptorPoweredUp, stacks_fully: bool
) -> None:
    bench = Bench(stacks_fully=stacks_fully).ready()
    bench.twin.inject(kind, bench.now_us)
    insert(bench, seconds=20)
    assert faults(bench) == [("acceptor_jam", True)], "told once, however often a RESET is tried"
    before = bench.record.credited
    bench.twin.insert(NOTE, bench.now_us)
    assert results(bench)[-1][0] == "rejected"
    bench.twin.clear_jam(bench.now_us)
    bench.run(15)
    assert faults(bench) == [("acceptor_jam", True), ("acceptor_jam", False)]
    assert told in bench.facts
    assert bench.record.credited == credited == bench.swallowed_cents()
    assert before in (0, credited)
    insert(bench)
    assert bench.record.credited == credited + 2000


def test_a_jammed_note_taken_out_by_hand_is_not_credited() -> None:
    bench = Bench().ready()
    bench.twin.inject("jam_before_lever", bench.now_us)
    insert(bench, seconds=5)
    bench.twin.clear_jam(bench.now_us, take_item=True)
    bench.run(15)
    assert results(bench) == [("returned", "taken out by hand")]
    assert bench.record.credited == 0
    assert bench.facts[-1] == AcceptorReady()


@pytest.mark.law(
    "NJ-28B-p5", "NJ-28N-i3", partly="here: driver and acceptor; the machine's tilt is the core's"
)
@pytest.mark.parametrize("after_box", [Status.POWER_UP, Status.INITIALIZE, Status.STACKER_OPEN])
def test_a_removed_box_is_told_and_back_again_the_unit_restarts(after_box: Status) -> None:
    bench = Bench(unit=Unit(status_after_box=after_box)).ready()
    bench.twin.remove_box()
    bench.run(0.3)
    assert faults(bench) == [("stacker_removed", True)]
    insert(bench, seconds=20)
    assert results(bench)[-1][0] == "rejected"
    bench.twin.return_box(bench.now_us)
    bench.run(12)
    assert faults(bench) == [("stacker_removed", True), ("stacker_removed", False)]
    assert bench.facts[-1] == AcceptorReady()
    insert(bench)
    assert bench.record.credited == 2000


@pytest.mark.parametrize(
    ("kind", "credited"), [("box_pulled_before_lever", 0), ("box_pulled_after_lever", 2000)]
)
def test_a_box_pulled_while_a_note_is_stacked(kind: str, credited: int) -> None:
    bench = Bench().ready()
    bench.twin.inject(kind, bench.now_us)
    insert(bench, seconds=20)
    assert faults(bench) == [("stacker_removed", True)]
    assert bench.record.credited == 0
    bench.twin.return_box(bench.now_us)
    bench.run(12)
    assert bench.record.credited == credited == bench.swallowed_cents()


@pytest.mark.law("NJ-28N-i4", partly="here: driver and acceptor; the machine's tilt is the core's")
def test_a_full_box_is_told_and_emptied_it_takes_notes_again() -> None:
    bench = Bench()
    body = bench.twin.physical()
    bench.twin._inside.body = type(body)(box_capacity=2, rom=body.rom)
    bench.ready()
    insert(bench)
    insert(bench)
    assert faults(bench) == [("stacker_full", True)]
    insert(bench, seconds=30)
    assert results(bench)[-1] == ("rejected", "stacker_full")
    bench.twin.remove_box()
    bench.run(2)
    bench.taken_out += bench.twin.return_box(bench.now_us, is_emptied=True)
    bench.run(8)
    assert faults(bench) == [
        ("stacker_full", True),
        ("stacker_full", False),
        ("stacker_removed", True),
        ("stacker_removed", False),
    ]
    insert(bench)
    assert bench.record.credited == 6000 == bench.swallowed_cents()


def test_a_second_note_pauses_and_pulled_out_the_first_goes_on() -> None:
    bench = Bench().ready()
    insert(bench, seconds=0.5)
    bench.twin.inject("second_bill", bench.now_us)
    bench.run(3)
    assert faults(bench) == [("acceptor_paused", True)]
    assert bench.twin.status is Status.PAUSE
    bench.twin.clear_fault("second_bill", bench.now_us)
    bench.run(5)
    assert faults(bench) == [("acceptor_paused", True), ("acceptor_paused", False)]
    assert bench.money_facts() == STACKED


def test_a_second_note_while_the_first_is_in_escrow_does_not_make_two_of_it() -> None:
    bench = Bench(lambda _: HoldNote()).ready()
    insert(bench, seconds=2)
    bench.twin.inject("second_bill", bench.now_us)
    bench.run(2)
    bench.twin.clear_fault("second_bill", bench.now_us)
    bench.run(2)
    assert bench.money_facts() == [NoteInEscrow(2000)]


def test_a_note_on_a_string_is_a_cheat_and_no_credit() -> None:
    bench = Bench().ready()
    bench.twin.inject("cheat", bench.now_us)
    insert(bench, seconds=15)
    assert faults(bench) == [("acceptor_cheated", True), ("acceptor_cheated", False)]
    assert bench.record.credited == 0
    assert bench.record.intent is None


@pytest.mark.law("NJ-28B-o4", "NJ-28N-i8", partly="here: driver and acceptor; the host's event is the line's")
@pytest.mark.parametrize("part", id003.FAILURES)
def test_a_broken_part_is_told_by_name_until_it_is_repaired(part: int) -> None:
    bench = Bench().ready()
    bench.twin.inject("failure", bench.now_us, detail=part)
    bench.run(15)
    told = [fact for fact in bench.facts if isinstance(fact, DeviceFault)]
    assert told == [DeviceFault("acceptor_failure", on=True, detail=id003.FAILURES[part])]
    bench.twin.insert(NOTE, bench.now_us)
    assert results(bench)[-1][0] == "rejected"
    bench.twin.clear_fault("failure", bench.now_us)
    bench.run(15)
    assert bench.facts[-2:] == [DeviceFault("acceptor_failure", on=False), AcceptorReady()]


@pytest.mark.parametrize("code", [0, 0x62, 0x70])
def test_an_unknown_denomination_is_returned_unasked(code: int) -> None:
    bench = Bench().ready()
    bench.twin.inject("unknown_denomination", bench.now_us, detail=code)
    insert(bench)
    assert bench.facts == [NoteRejected("unknown_denomination"), AcceptorReady()]
    assert results(bench) == [("returned", "")]


def test_an_odd_barcode_is_told_as_it_was_read() -> None:
    bench = Bench(lambda _: ReturnNote(), accept=AcceptNotes(frozenset(), tickets=True)).ready()
    bench.twin.inject("odd_barcode", bench.now_us)
    insert(bench, "001234567890123456")
    assert bench.facts == [TicketInEscrow("00123456789012345"), NoteReturned(), AcceptorReady()]


@pytest.mark.parametrize(("code", "word"), id003.REJECT_REASONS.items())
def test_a_misread_item_is_rejected_with_its_reason(code: int, word: str) -> None:
    bench = Bench().ready()
    bench.twin.inject("misread", bench.now_us, detail=code)
    insert(bench, seconds=4)
    assert bench.facts == [NoteRejected(word), AcceptorReady()]


@pytest.mark.law("NJ-28N-i7")
def test_nothing_is_taken_while_the_acceptor_resets() -> None:
    bench = Bench().ready()
    bench.twin.power_off()
    bench.twin.power_on(bench.now_us)
    while bench.facts[-1:] != [AcceptorReady()]:
        bench.run(0.25)
        if bench.twin.status is not Status.IDLING:
            bench.twin.insert(NOTE, bench.now_us)
    assert {result for result, _ in results(bench)} == {"rejected"}
    assert len(bench.twin.outcomes) > 10
    assert bench.record.credited == 0


# --- Power cuts in each state -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stacks_fully", "after", "status", "place", "told", "credited"),
    [
        (False, 0.5, Status.ACCEPTING, Place.IN_FRONT, NotePosition.IN_ACCEPTOR, 0),
        (False, 0.8, Status.ESCROW, Place.IN_FRONT, NotePosition.IN_ACCEPTOR, 0),
        (False, 0.9, Status.STACKING, Place.IN_FRONT, NotePosition.IN_ACCEPTOR, 0),
        (False, 1.3, Status.VEND_VALID, Place.BEHIND, NotePosition.IN_STACKER, 2000),
        (False, 1.9, Status.STACKED, Place.BEHIND, NotePosition.IN_STACKER, 2000),
        (False, 4.0, Status.IDLING, Place.NOWHERE, NotePosition.NONE, 2000),
        (True, 1.5, Status.STACKING, Place.BEHIND, NotePosition.IN_STACKER, 2000),
        (True, 2.0, Status.VEND_VALID, Place.NOWHERE, NotePosition.IN_STACKER, 2000),
        (True, 2.0, Status.STACKED, Place.NOWHERE, NotePosition.NONE, 2000),
    ],
)
def test_a_power_cut_in_each_state_of_a_note(
    stacks_fully: bool, after: float, status: Status, place: Place, told: NotePosition, credited: int
) -> None:
    bench = Bench(stacks_fully=stacks_fully).ready()
    bench.twin.insert(NOTE, bench.now_us)
    start = bench.now_us
    bench.run_until(lambda: bench.now_us - start >= after * 1e6 and bench.twin.status is status)
    bench.kill_world()
    bench.boot_host()
    assert bench.twin.physical().place is place
    bench.facts.clear()
    bench.run(10)
    assert bench.money_facts() == [AcceptorPoweredUp(told)]
    assert bench.record.credited == credited == bench.swallowed_cents()


@pytest.mark.parametrize(("end", "result"), [(ReturnNote(), "returned"), (None, "rejected")])
def test_a_power_cut_while_a_note_goes_back(end: ReturnNote | None, result: str) -> None:
    bench = Bench(lambda _: end).ready()
    if end is None:
        bench.twin.inject("misread", bench.now_us)
    insert(bench, seconds=1.3)
    assert bench.twin.status in (Status.RETURNING, Status.REJECTING)
    bench.kill_world()
    bench.boot_host()
    bench.facts.clear()
    bench.run(10)
    assert bench.money_facts() == [IN_ACCEPTOR]
    assert results(bench) == [("returned", "")], (
        f"it was being {result}; after the restart it is just given back"
    )
    assert bench.record.credited == 0


def test_every_fault_of_the_table_has_been_tried_somewhere() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_id003_s*.py")
    )
    assert [kind for kind in FAULTS if f'"{kind}"' not in text] == []


def test_the_same_hands_give_the_same_bytes() -> None:
    def play() -> list:
        bench = Bench(stack_all).ready()
        bench.twin.inject("corrupt_crc", bench.now_us, count=3)
        insert(bench)
        return bench.sent

    assert play() == play()
