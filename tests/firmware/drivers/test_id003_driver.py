"""The ID-003 driver against a unit on strings: every status, every refusal, every silence."""

from __future__ import annotations

import pytest

from firmware.core.facts import (
    AcceptorNotReady,
    AcceptorPoweredUp,
    AcceptorReady,
    DeviceFault,
    Fact,
    NoteInEscrow,
    NotePosition,
    NoteRejected,
    NoteReturned,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import (
    AcceptNotes,
    AcknowledgeStacked,
    HoldNote,
    ReturnNote,
    SetLamp,
    StackNote,
)
from firmware.core.tilts import CONDITIONS
from firmware.drivers.id003_acceptor import Periods
from firmware.drivers.id003_faults import LASTING
from hal.wire import id003
from hal.wire.id003 import Command, Setting, Status
from tests.firmware.drivers.id003_puppet import Puppet

ESCROW_20 = (Status.ESCROW, b"\x65")
TICKET = b"\x6f" + b"001234567890123456"
IN_ACCEPTOR = AcceptorPoweredUp(NotePosition.IN_ACCEPTOR)
IN_STACKER = AcceptorPoweredUp(NotePosition.IN_STACKER)
NOWHERE = AcceptorPoweredUp(NotePosition.NONE)


def order(puppet: Puppet, *orders: object) -> None:
    for one in orders:
        puppet.driver.order(one, puppet.now_us)


def on(kind: str, detail: str = "") -> DeviceFault:
    return DeviceFault(kind, on=True, detail=detail)


def off(kind: str) -> DeviceFault:
    return DeviceFault(kind, on=False)


# --- Starting -----------------------------------------------------------------------------------------


def test_the_whole_power_up_in_order() -> None:
    puppet = Puppet()
    assert puppet.run(1) == [AcceptorNotReady(), NOWHERE]
    assert puppet.codes() == [0x8A, 0x88, 0x89, 0x40, 0xC0, 0xC1, 0xC2, 0xC4, 0xC5, 0xC6, 0xC7, 0xC3]
    settings = {frame.code: frame.data.hex() for frame in puppet.heard if frame.code in id003.SETTING_SIZES}
    assert settings == {
        0xC0: "8200",
        0xC1: "0000",
        0xC2: "00",
        0xC3: "00",
        0xC4: "00",
        0xC5: "0000",
        0xC6: "0112",
        0xC7: "02",  # notes only
    }
    assert puppet.show(Status.IDLING) == [AcceptorReady()]


def test_identification_is_told() -> None:
    driver = Puppet().ready().driver
    assert driver.identification.firmware_checksum == "1A2B"
    assert driver.identification.boot_version == "B05"
    assert driver.version_text == "U(USA)-24-SS ID003-03V201-11 10SEP08 1A2B"
    assert driver.identification.denominations == id003.US_CENTS
    assert Puppet().driver.version_text == ""


@pytest.mark.parametrize(
    ("status", "note"),
    [
        (Status.POWER_UP, NOWHERE),
        (Status.POWER_UP_BILL_IN_ACCEPTOR, IN_ACCEPTOR),
        (Status.IDLING, NOWHERE),
        (Status.INHIBITED, NOWHERE),
        (Status.ACCEPTING, NOWHERE),
        (Status.STACKED, NOWHERE),
        (Status.ESCROW, IN_ACCEPTOR),
        (Status.HOLDING, IN_ACCEPTOR),
        (Status.REJECTING, IN_ACCEPTOR),
        (Status.RETURNING, IN_ACCEPTOR),
    ],
)
def test_first_contact_in_a_state_that_asks_for_no_money(status: Status, note: Fact) -> None:
    puppet = Puppet(status)
    assert puppet.run(0.5) == [AcceptorNotReady(), note]
    facts = puppet.show(Status.IDLING, seconds=0.3) + puppet.show(Status.IDLING)
    assert facts == [AcceptorReady()]
    assert Command.RESET in puppet.codes(), "its settings are not ours"
    assert id003.ACK not in puppet.codes()


@pytest.mark.parametrize("status", [Status.ESCROW, Status.HOLDING])
def test_first_contact_with_an_unknown_item_in_escrow_returns_it_before_any_reset(status: Status) -> None:
    puppet = Puppet(status, b"\x65" if status is Status.ESCROW else b"")
    puppet.run(0.3)
    assert set(puppet.codes()) == {Command.RETURN}


@pytest.mark.parametrize("status", [Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER])
def test_money_of_before_is_told_and_kept_until_it_is_on_record(status: Status) -> None:
    puppet = Puppet(status)
    assert puppet.run(10) == [AcceptorNotReady(), IN_STACKER]
    assert Command.RESET not in puppet.codes()
    assert id003.ACK not in puppet.codes()
    order(puppet, AcknowledgeStacked())
    puppet.run(0.3)
    expected = id003.ACK if status is Status.VEND_VALID else Command.RESET
    assert expected in puppet.codes()


@pytest.mark.parametrize("status", [Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER])
def test_that_the_note_before_is_on_record_says_nothing_of_this_one(status: Status) -> None:
    puppet = Puppet().ready()
    for _ in range(2):
        puppet.show(*ESCROW_20)
        order(puppet, StackNote())
        puppet.heard.clear()
        puppet.show(Status.STACKING)
        puppet.is_silent = True
        puppet.run(2)
        puppet.unit.read(4096)
        puppet.is_silent = False
        assert IN_STACKER in puppet.show(status, seconds=3)
        assert not {id003.ACK, Command.RESET} & set(puppet.codes())
        order(puppet, AcknowledgeStacked())
        puppet.run(1)
        assert AcceptorReady() in puppet.show(Status.IDLING, seconds=1) + puppet.show(Status.IDLING)


def test_a_note_on_record_need_not_be_told_to_the_core_again_before_the_restart() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    puppet.show(Status.VEND_VALID)
    order(puppet, AcknowledgeStacked())
    puppet.run(0.05)
    assert IN_STACKER in puppet.show(Status.POWER_UP_BILL_IN_STACKER, seconds=0.3)
    assert Command.RESET in puppet.codes()


@pytest.mark.parametrize(
    ("statuses", "note"),
    [
        ([Status.STACKING, Status.VEND_VALID], IN_STACKER),
        ([Status.STACKING, Status.STACKED], NOWHERE),
        ([Status.STACKING, Status.IDLING], NOWHERE),
        ([Status.INITIALIZE, Status.IDLING], NOWHERE),
        ([Status.INITIALIZE, Status.STACKER_OPEN, Status.POWER_UP_BILL_IN_STACKER], IN_STACKER),
        ([Status.JAM_IN_STACKER, Status.POWER_UP_BILL_IN_STACKER], IN_STACKER),
        ([Status.JAM_IN_ACCEPTOR, Status.POWER_UP_BILL_IN_ACCEPTOR], IN_ACCEPTOR),
        ([Status.PAUSE, Status.ESCROW], IN_ACCEPTOR),
    ],
)
def test_first_contact_that_tells_nothing_yet_waits_for_what_tells(
    statuses: list[Status], note: Fact
) -> None:
    puppet = Puppet(statuses[0])
    for status in statuses[:-1]:
        assert not [fact for fact in puppet.show(status) if isinstance(fact, AcceptorPoweredUp)]
    assert note in puppet.show(statuses[-1])


def test_a_lone_00_or_silence_is_booting() -> None:
    puppet = Puppet()
    puppet.is_silent = True
    facts = puppet.run(1)
    for _ in range(10):
        puppet.unit.write(b"\x00")
        facts += puppet.run(0.2)
    puppet.unit.read(4096)
    puppet.is_silent = False
    facts += puppet.run(1)
    assert facts == [AcceptorNotReady(), NOWHERE]


def test_endless_boot_silence_is_a_lost_acceptor() -> None:
    puppet = Puppet()
    puppet.is_silent = True
    assert puppet.run(4.9) == [AcceptorNotReady()]
    assert puppet.run(1) == [on("acceptor_disconnected")]
    puppet.unit.read(4096)
    puppet.is_silent = False
    assert puppet.run(1)[:2] == [off("acceptor_disconnected"), NOWHERE]


def test_a_setting_that_does_not_come_back_as_it_was_is_sent_again() -> None:
    puppet = Puppet()
    plain, wrong = puppet.answer, [b"\x00\x00", b"\xff\xff"]

    def answer(frame: id003.Frame) -> bytes:
        reply = plain(frame)
        return (
            id003.encode(frame.code, wrong.pop()) if frame.code == Setting.DENOMINATION and wrong else reply
        )

    puppet.answer = answer
    puppet.run(1)
    assert puppet.codes().count(Setting.DENOMINATION) == 3
    assert puppet.codes().count(Setting.SECURITY) == 1


def test_an_unanswered_setting_is_sent_again_after_a_look() -> None:
    puppet = Puppet()
    puppet.silent = {Setting.DIRECTION}
    puppet.run(2)
    assert AcceptorReady() not in puppet.show(Status.IDLING, seconds=1)
    assert puppet.codes().count(Setting.DIRECTION) > 2
    puppet.silent.clear()
    assert AcceptorReady() in puppet.run(1.5)


def test_settings_are_sent_again_after_every_initialize() -> None:
    puppet = Puppet().ready()
    facts = puppet.show(Status.INITIALIZE)
    assert facts == [AcceptorNotReady()]
    assert puppet.codes() == [0xC0, 0xC1, 0xC2, 0xC4, 0xC5, 0xC6, 0xC7, 0xC3]
    assert puppet.show(Status.IDLING) == [AcceptorReady()]


def test_an_optional_setting_may_be_refused_for_good() -> None:
    puppet = Puppet()
    puppet.refused = {Setting.BARCODE_FUNCTION, Setting.COMMUNICATION_MODE}
    puppet.run(1.5)
    assert puppet.show(Status.IDLING) == [AcceptorReady()]


def test_a_unit_that_refuses_to_be_inhibited_is_a_failure() -> None:
    puppet = Puppet()
    puppet.refused = {Setting.INHIBIT}
    facts: list[Fact] = []
    for _ in range(12):
        facts += puppet.run(1) + puppet.show(Status.IDLING, seconds=1)
    assert facts.count(on("acceptor_failure", "does not take its settings")) == 1
    assert AcceptorReady() not in facts
    puppet.refused.clear()
    facts = puppet.run(1) + puppet.show(Status.IDLING, seconds=1)
    assert facts[-2:] == [off("acceptor_failure"), AcceptorReady()]


def test_without_currency_assign_the_table_of_the_cabinet_counts() -> None:
    puppet = Puppet(denominations={0x61: 700})
    puppet.refused = {Command.CURRENCY_ASSIGN}
    puppet.ready()
    order(puppet, AcceptNotes(frozenset({700})))
    puppet.run(0.5)
    assert puppet.show(Status.ESCROW, b"\x61") == [NoteInEscrow(700)]


def test_one_late_4b_is_not_taken_for_the_answer_to_currency_assign() -> None:
    puppet = Puppet(denominations={0x65: 100})
    plain, refusals = puppet.answer, [b""]

    def answer(frame: id003.Frame) -> bytes:
        reply = plain(frame)
        if frame.code == Command.CURRENCY_ASSIGN and refusals:
            refusals.pop()
            return id003.encode(id003.INVALID_COMMAND)
        return reply

    puppet.answer = answer
    puppet.ready()
    assert puppet.driver.identification.denominations[0x65] == 2000


@pytest.mark.parametrize(
    "table",
    [
        b"\x65\xe0\x05\x01",  # fifty euros
        b"\x65\x01\x02\x09",  # nobody has such a note
        b"\x65\x01\x02",
    ],
)
def test_notes_of_a_foreign_or_unreadable_table_are_returned(table: bytes) -> None:
    puppet = Puppet()
    puppet.currency = table
    puppet.ready()
    assert puppet.show(*ESCROW_20) == [NoteRejected("unknown_denomination")]
    assert Command.RETURN in puppet.codes()


# --- Items --------------------------------------------------------------------------------------------


@pytest.mark.law("NJ-28N-a", "NJ-28N-b1")
def test_a_good_note_is_read_stacked_and_acknowledged_once() -> None:
    puppet = Puppet().ready()
    assert puppet.show(Status.ACCEPTING) == []
    assert puppet.show(*ESCROW_20) == [NoteInEscrow(2000)]
    assert puppet.codes() == []
    order(puppet, StackNote())
    puppet.run(0.02)
    assert set(puppet.codes()) == {Command.STACK_1}
    assert puppet.show(Status.STACKING) == []
    assert puppet.show(Status.VEND_VALID, seconds=5) == [NoteStacked()]
    assert id003.ACK not in puppet.codes(), "not before the money is on record"
    order(puppet, AcknowledgeStacked())
    assert puppet.run(0.01) == []
    assert puppet.codes()[-1] == id003.ACK
    assert puppet.show(Status.STACKED) == []
    assert puppet.show(Status.IDLING) == [AcceptorReady()]
    assert puppet.codes().count(id003.ACK) == 1


def test_vend_valid_straight_after_escrow_and_idle_straight_after_it() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    assert puppet.show(Status.VEND_VALID) == [NoteStacked()]
    order(puppet, AcknowledgeStacked())
    assert puppet.show(Status.IDLING) == [AcceptorReady()]


def test_a_vend_valid_that_repeats_is_acknowledged_again_and_told_once() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    puppet.show(Status.VEND_VALID)
    order(puppet, AcknowledgeStacked())
    assert puppet.show(Status.VEND_VALID, seconds=1) == []
    assert puppet.codes().count(id003.ACK) > 3


def test_the_cabinet_file_may_ask_for_stack_2() -> None:
    puppet = Puppet(stacks_fully=True).ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    puppet.run(0.1)
    assert Command.STACK_2 in puppet.codes()
    assert Command.STACK_1 not in puppet.codes()


def test_4b_after_stack_means_look_again() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    puppet.refused = {Command.STACK_1}  # the ACK was lost; the unit has begun
    order(puppet, StackNote())
    puppet.run(0.01)
    assert puppet.show(Status.STACKING) == []
    assert puppet.codes() == [Command.STACK_1]
    assert puppet.show(Status.VEND_VALID) == [NoteStacked()]


def test_stack_is_sent_again_while_the_unit_still_shows_escrow() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    puppet.silent = {Command.STACK_1}
    order(puppet, StackNote())
    assert puppet.run(2) == []
    assert puppet.codes().count(Command.STACK_1) > 3


def test_a_permanent_4b_does_not_flood_the_line() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    puppet.refused = {Command.STACK_1}
    order(puppet, StackNote())
    puppet.run(1)
    assert puppet.codes().count(Command.STACK_1) <= 20


@pytest.mark.parametrize("end", [Status.RETURNING, Status.IDLING, Status.ACCEPTING])
def test_a_returned_note_is_told_once_even_if_the_motion_was_not_seen(end: Status) -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, ReturnNote())
    puppet.run(0.02)
    assert set(puppet.codes()) == {Command.RETURN}
    facts = puppet.show(end) + puppet.show(Status.IDLING)
    assert facts == [NoteReturned(), AcceptorReady()]


@pytest.mark.law("NJ-28N-b2", partly="the driver's part; vouchers and coupons come with redemption")
@pytest.mark.parametrize(("code", "reason"), id003.REJECT_REASONS.items())
def test_every_reject_reason_has_its_word(code: int, reason: str) -> None:
    puppet = Puppet().ready()
    puppet.show(Status.ACCEPTING)
    facts = puppet.show(Status.REJECTING, bytes((code,))) + puppet.show(Status.IDLING)
    assert facts == [NoteRejected(reason), AcceptorReady()]


def test_a_unit_that_gives_up_on_escrow_says_so() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    assert puppet.show(Status.REJECTING, b"\x79") == [NoteRejected("inhibited")]
    order(puppet, StackNote())  # too late
    assert puppet.show(Status.IDLING) == [AcceptorReady()]
    assert puppet.show(Status.ESCROW, b"\x61", seconds=1) == [NoteInEscrow(100)]
    assert Command.STACK_1 not in puppet.codes(), "the order was for another note"


@pytest.mark.parametrize("late", [StackNote, ReturnNote, HoldNote])
def test_an_order_for_one_note_never_meets_the_next(late: type[StackNote | ReturnNote | HoldNote]) -> None:
    puppet = Puppet().ready()
    first = next(fact for fact in puppet.show(*ESCROW_20) if isinstance(fact, NoteInEscrow))
    puppet.show(Status.RETURNING)
    puppet.show(Status.IDLING)
    second = next(fact for fact in puppet.show(*ESCROW_20, seconds=0.3) if isinstance(fact, NoteInEscrow))
    assert first.item != second.item
    puppet.heard.clear()
    order(puppet, late(first.item))
    puppet.run(0.5)
    assert not {Command.STACK_1, Command.RETURN, Command.HOLD} & set(puppet.codes())
    order(puppet, StackNote(second.item))
    puppet.run(0.5)
    assert Command.STACK_1 in puppet.codes()


def test_a_note_in_escrow_replaced_by_another_was_returned() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    assert puppet.show(Status.ESCROW, b"\x61") == [NoteReturned(), NoteInEscrow(100)]


def test_the_same_escrow_seen_again_after_a_pause_is_the_same_note() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    assert puppet.show(Status.PAUSE) == [on("acceptor_paused")]
    assert puppet.show(*ESCROW_20) == [off("acceptor_paused")]


def test_a_note_nobody_decides_on_goes_back_within_five_seconds() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20, seconds=4.8)
    assert puppet.codes() == []
    puppet.run(0.7)
    assert Command.RETURN in puppet.codes()


def test_hold_is_repeated_until_the_decision() -> None:
    puppet = Puppet().ready()
    order(puppet, AcceptNotes(frozenset({2000}), tickets=True))
    puppet.run(0.5)
    puppet.heard.clear()
    assert puppet.show(Status.ESCROW, TICKET) == [TicketInEscrow("001234567890123456")]
    order(puppet, HoldNote())
    puppet.run(0.02)
    assert puppet.show(Status.HOLDING, seconds=10) == []
    assert puppet.codes() == [Command.HOLD] * 4
    order(puppet, StackNote())
    assert puppet.show(Status.VEND_VALID) == [NoteStacked()]


@pytest.mark.parametrize("text", [b"", b"12345A", b"\xff\xff"])
def test_a_barcode_that_is_no_number_is_returned(text: bytes) -> None:
    puppet = Puppet().ready()
    order(puppet, AcceptNotes(frozenset({2000}), tickets=True))
    assert puppet.show(Status.ESCROW, b"\x6f" + text) == [NoteRejected("barcode_unreadable")]
    assert Command.RETURN in puppet.codes()


@pytest.mark.parametrize("data", [b"\x6e", b"\x60", b"\x62", b""])
def test_an_unknown_denomination_is_returned(data: bytes) -> None:
    puppet = Puppet().ready()
    assert puppet.show(Status.ESCROW, data) == [NoteRejected("unknown_denomination")]
    facts = puppet.show(Status.RETURNING) + puppet.show(Status.IDLING)
    assert facts == [AcceptorReady()]
    assert puppet.codes()[0] == Command.RETURN


@pytest.mark.parametrize(
    ("accept", "data"),
    [
        (AcceptNotes(frozenset()), b"\x65"),
        (AcceptNotes(frozenset({100})), b"\x65"),
        (AcceptNotes(frozenset({100})), TICKET),
    ],
)
def test_what_must_not_be_taken_is_returned_without_asking(accept: AcceptNotes, data: bytes) -> None:
    puppet = Puppet().ready()
    order(puppet, accept)
    assert puppet.show(Status.ESCROW, data) == [NoteRejected("inhibited")]
    assert Command.RETURN in puppet.codes()


def test_a_note_stacked_without_an_order_is_told_as_money_of_before() -> None:
    puppet = Puppet().ready()
    puppet.show(Status.ACCEPTING)
    assert puppet.show(Status.VEND_VALID) == [IN_STACKER, AcceptorNotReady()]
    assert id003.ACK not in puppet.codes()


def test_a_note_stacked_although_it_was_to_be_returned_is_told_as_stacked() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, ReturnNote())
    puppet.show(Status.STACKING)
    assert puppet.show(Status.VEND_VALID) == [NoteStacked()]


def test_stacking_that_ends_without_vend_valid_is_neither_money_nor_return() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    assert puppet.show(Status.STACKING) == []
    assert puppet.show(Status.STACKED) == []
    assert puppet.show(Status.IDLING) == [AcceptorReady()]


def test_orders_without_an_item_do_nothing() -> None:
    puppet = Puppet().ready()
    order(puppet, StackNote(), ReturnNote(), HoldNote(), AcknowledgeStacked(), SetLamp("spin", on=True))
    assert puppet.run(1) == []
    assert puppet.codes() == []


# --- Inhibit ------------------------------------------------------------------------------------------


def test_inhibit_is_sent_within_a_moment_in_any_state() -> None:
    puppet = Puppet().ready()
    puppet.show(Status.ACCEPTING)
    order(puppet, AcceptNotes(frozenset()))
    puppet.run(0.05)
    assert [(frame.code, frame.data) for frame in puppet.heard if frame.code in id003.SETTING_SIZES] == [
        (Setting.INHIBIT, b"\x01")
    ]


def test_denominations_and_tickets_change_when_idle() -> None:
    puppet = Puppet().ready()
    puppet.show(Status.ACCEPTING)
    order(puppet, AcceptNotes(frozenset({500}), tickets=True))
    puppet.run(0.5)
    assert puppet.codes() == []
    puppet.show(Status.IDLING)
    settings = [(frame.code, frame.data.hex()) for frame in puppet.heard if frame.code in id003.SETTING_SIZES]
    assert settings == [(Setting.DENOMINATION, "fb00"), (Setting.BARCODE_INHIBIT, "00")]


def test_closing_and_opening_again_changes_only_the_inhibit() -> None:
    puppet = Puppet().ready()
    order(puppet, AcceptNotes(frozenset()))
    puppet.show(Status.INHIBITED)
    order(puppet, AcceptNotes(frozenset(id003.US_CENTS.values())))
    assert puppet.show(Status.IDLING) == [], "idling, inhibited or not, is one state to the core"
    assert puppet.codes() == [Setting.INHIBIT, Setting.INHIBIT]


def test_a_denomination_setting_refused_while_idle_is_made_good_in_escrow() -> None:
    puppet = Puppet().ready()
    puppet.refused = {Setting.DENOMINATION}
    order(puppet, AcceptNotes(frozenset({500})))
    assert puppet.run(1) == []
    assert puppet.codes().count(Setting.DENOMINATION) == 2
    assert puppet.show(*ESCROW_20) == [NoteRejected("inhibited")]


# --- Faults -------------------------------------------------------------------------------------------

FAULTS = [
    pytest.param(
        0x43, b"", on("stacker_full"), marks=pytest.mark.law("NJ-28N-i4", partly="the driver's fact")
    ),
    pytest.param(
        0x44,
        b"",
        on("stacker_removed"),
        marks=pytest.mark.law("NJ-28B-p5", "NJ-28N-i3", partly="the driver's fact"),
    ),
    pytest.param(
        0x45,
        b"",
        on("acceptor_jam", "in the acceptor"),
        marks=pytest.mark.law("NJ-28B-o3", "NJ-28N-i1", partly="the driver's fact"),
    ),
    pytest.param(
        0x46,
        b"",
        on("acceptor_jam", "in the stacker"),
        marks=pytest.mark.law("NJ-28B-o3", partly="the driver's fact"),
    ),
    pytest.param(0x48, b"", on("acceptor_cheated")),
    *(
        pytest.param(
            0x49,
            bytes((code,)),
            on("acceptor_failure", part),
            marks=pytest.mark.law("NJ-28B-o4", "NJ-28N-i8", partly="the driver's fact"),
        )
        for code, part in id003.FAILURES.items()
    ),
    pytest.param(0x49, b"\x01", on("acceptor_failure", "part 01")),
    pytest.param(0x49, b"", on("acceptor_failure", "unnamed part")),
]


@pytest.mark.law("NJ-28N-g-rec", partly="the log entry is the core's")
@pytest.mark.parametrize(("status", "data", "fault"), FAULTS)
def test_a_lasting_error_is_told_once_and_ends_after_a_self_test(
    status: int, data: bytes, fault: DeviceFault
) -> None:
    puppet = Puppet().ready()
    facts = puppet.show(status, data, seconds=4)
    assert facts == [fault]
    puppet.refused = set()
    for _ in range(2):  # a RESET is tried; the cause is still there
        facts += puppet.run(10.5) + puppet.show(status, data, seconds=4)
    assert [fact for fact in facts if isinstance(fact, DeviceFault)] == [fault]
    assert AcceptorReady() not in facts
    puppet.show(Status.INITIALIZE, seconds=1)
    assert puppet.show(Status.IDLING) == [off(fault.kind), AcceptorReady()]


def test_every_fault_kind_is_a_condition_of_the_core() -> None:
    kinds = {error.kind for error in LASTING.values()} | {"acceptor_paused", "acceptor_disconnected"}
    assert kinds <= CONDITIONS.keys()


def test_another_error_takes_the_place_of_the_first() -> None:
    puppet = Puppet().ready()
    facts = puppet.show(Status.STACKER_FULL) + puppet.show(Status.STACKER_OPEN)
    assert facts == [on("stacker_full"), off("stacker_full"), on("stacker_removed")]


def test_the_box_back_in_place_is_a_restart() -> None:
    puppet = Puppet().ready()
    puppet.show(Status.STACKER_OPEN)
    assert puppet.show(Status.POWER_UP, seconds=1) == [NOWHERE, AcceptorNotReady()]
    assert puppet.show(Status.IDLING) == [off("stacker_removed"), AcceptorReady()]


def test_a_jam_while_stacking_waits_for_what_the_restart_says() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    puppet.show(Status.STACKING)
    assert puppet.show(Status.JAM_IN_STACKER, seconds=4) == [on("acceptor_jam", "in the stacker")]
    assert puppet.show(Status.POWER_UP_BILL_IN_STACKER)[0] == IN_STACKER


def test_no_reset_while_a_stacked_note_is_not_on_record() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    assert puppet.show(Status.VEND_VALID) == [NoteStacked()]
    puppet.show(Status.STACKER_OPEN, seconds=20)
    assert Command.RESET not in puppet.codes()
    order(puppet, AcknowledgeStacked())
    puppet.run(0.5)
    assert Command.RESET in puppet.codes()


def test_an_unknown_status_is_a_failure_until_a_known_one_and_moves_nothing() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    assert puppet.show(0x2A, seconds=10) == [on("acceptor_failure", "unknown status 2A")]
    assert puppet.codes() == []
    order(puppet, StackNote())
    assert puppet.show(Status.VEND_VALID) == [off("acceptor_failure"), NoteStacked()]


@pytest.mark.parametrize("status", [Status.SIGNATURE_BUSY, Status.SIGNATURE_END])
def test_signature_statuses_say_nothing_of_notes(status: Status) -> None:
    puppet = Puppet().ready()
    assert puppet.show(status, b"\x12\x34") == []
    assert puppet.show(Status.IDLING) == []


def test_a_communication_error_or_two_are_nothing_many_are_a_failure() -> None:
    puppet = Puppet().ready()
    assert puppet.show(Status.COMMUNICATION_ERROR, seconds=0.2) == []
    assert puppet.show(Status.IDLING) == []
    assert puppet.show(Status.COMMUNICATION_ERROR, seconds=2) == [
        on("acceptor_failure", "does not understand the messages")
    ]
    assert puppet.show(Status.IDLING) == [off("acceptor_failure")]


def test_three_missed_answers_over_a_second_are_a_lost_acceptor() -> None:
    puppet = Puppet().ready()
    puppet.is_silent = True
    assert puppet.run(0.75) == [], "its last answer may be a poll's time ago"
    assert puppet.run(0.5) == [on("acceptor_disconnected")]
    assert puppet.run(20) == []
    puppet.unit.read(4096)
    puppet.is_silent = False
    facts = puppet.run(1) + puppet.show(Status.IDLING, seconds=1)
    assert facts == [off("acceptor_disconnected"), NOWHERE, AcceptorNotReady(), AcceptorReady()]


def test_a_short_silence_is_nothing() -> None:
    puppet = Puppet().ready()
    puppet.is_silent = True
    puppet.run(0.5)
    puppet.unit.read(4096)
    puppet.is_silent = False
    assert puppet.run(1) == []


@pytest.mark.law("NJ-28N-i6", partly="the driver's fact")
def test_a_broken_link_is_told_at_once_and_raises_nothing() -> None:
    puppet = Puppet().ready()
    puppet.unit.close()
    facts = puppet.driver.step(puppet.now_us) + puppet.driver.step(puppet.now_us + 1)
    assert facts == [on("acceptor_disconnected")]
    for now_us in range(puppet.now_us, puppet.now_us + 3_000_000, 100_000):
        assert puppet.driver.step(now_us) == []
        assert puppet.driver.next_deadline_us() > now_us
    puppet.now_us += 3_000_000
    puppet.unit.reopen()
    assert puppet.run(1)[:2] == [off("acceptor_disconnected"), NOWHERE]


def test_a_link_that_is_not_there_at_first_is_waited_for() -> None:
    puppet = Puppet()
    puppet.unit.close()
    facts = [fact for now_us in range(0, 4_900_000, 100_000) for fact in puppet.driver.step(now_us)]
    assert facts == [AcceptorNotReady()]
    assert puppet.driver.step(5_000_000) == [on("acceptor_disconnected")]


def test_silence_in_mid_note_is_settled_by_the_first_status_after_it() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    order(puppet, StackNote())
    puppet.run(0.02)
    puppet.is_silent = True
    assert puppet.run(3) == [on("acceptor_disconnected")]
    puppet.unit.read(4096)
    puppet.is_silent = False
    assert puppet.show(Status.VEND_VALID)[:2] == [off("acceptor_disconnected"), IN_STACKER]


def test_our_own_bytes_echoed_back_never_make_an_acceptor() -> None:
    puppet = Puppet()
    puppet.answer = lambda frame: id003.encode(frame.code, frame.data)
    assert AcceptorReady() not in puppet.run(30)


def test_a_late_answer_is_taken_when_it_comes() -> None:
    puppet = Puppet().ready()
    puppet.show(*ESCROW_20)
    puppet.is_silent = True
    puppet.run(0.5)
    puppet.unit.read(4096)
    puppet.unit.write(id003.encode(Status.RETURNING))
    assert puppet.driver.step(puppet.now_us) == [NoteReturned()]


def test_polls_are_slow_when_idle_and_faster_when_something_moves() -> None:
    periods = Periods()
    puppet = Puppet().ready()
    puppet.run(2)
    idle = len(puppet.heard)
    puppet.heard.clear()
    puppet.show(Status.ACCEPTING, seconds=2)
    assert idle == 2_000_000 // periods.poll_us
    assert len(puppet.heard) >= 2_000_000 // periods.poll_moving_us - 1


def test_an_unknown_currency_is_refused_by_name() -> None:
    with pytest.raises(KeyError, match="ZZZ"):
        Puppet(currency="ZZZ")
