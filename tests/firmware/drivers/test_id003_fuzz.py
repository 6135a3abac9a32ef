"""The ID-003 driver under noise: random bytes, broken frames, good frames that make no sense.

``EGM_FUZZ_BYTES`` sets how many bytes each kind gets (default 70,000, so more than 200,000 in all).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from firmware.core.facts import (
    AcceptorPoweredUp,
    AcceptorReady,
    Fact,
    NoteInEscrow,
    NoteRejected,
    NoteReturned,
    NoteStacked,
    TicketInEscrow,
)
from firmware.core.orders import AcceptNotes, AcknowledgeStacked, HoldNote, ReturnNote, StackNote
from hal.wire import id003
from hal.wire.id003 import Command, Status
from tests.firmware.drivers.id003_puppet import Puppet

BYTES = int(os.environ.get("EGM_FUZZ_BYTES", "70000"))

GOOD = [
    *(id003.encode(status) for status in Status),
    *(id003.encode(Status.ESCROW, bytes((code,))) for code in (*id003.US_CENTS, 0x6E)),
    id003.encode(Status.ESCROW, b"\x6f001234567890123456"),
    id003.encode(Status.ESCROW, b"\x6f\xff\x00"),
    id003.encode(Status.REJECTING, b"\x79"),
    id003.encode(Status.FAILURE, b"\xa2"),
    id003.encode(id003.ACK),
    id003.encode(id003.INVALID_COMMAND),
    id003.encode(Command.VERSION, b"\x80\x00"),
    id003.encode(Command.CURRENCY_ASSIGN, b"\x65\x01\x02"),
    *(id003.encode(setting, value) for setting, value in id003.SETTING_DEFAULTS.items()),
]


def random_bytes(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([1, 3, 40, 400]))


def broken_frames(rng: random.Random) -> bytes:
    """One damaged frame. The 00 in front keeps two of them from making a whole one."""
    frame = bytearray(rng.choice(GOOD))
    match rng.randrange(4):
        case 0:
            frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        case 1:
            del frame[rng.randrange(len(frame))]
        case 2:
            frame.insert(rng.randrange(1, len(frame)), rng.choice([0x05, 0x00]))
        case _:
            del frame[rng.randrange(1, len(frame)) :]
    return b"\x00" + bytes(frame)


def assert_money_has_its_sequence(facts: list[Fact]) -> None:
    is_open = False
    for fact in facts:
        match fact:
            case NoteInEscrow() | TicketInEscrow():
                assert not is_open
                is_open = True
            case NoteStacked():
                assert is_open
                is_open = False
            case NoteReturned():
                assert is_open
                is_open = False
            case NoteRejected() | AcceptorPoweredUp() | AcceptorReady():
                is_open = False


def orders(rng: random.Random) -> Iterator[object]:
    if rng.random() < 0.3:
        yield rng.choice([StackNote(), StackNote(), ReturnNote(), HoldNote(), AcknowledgeStacked()])
    if rng.random() < 0.02:
        yield AcceptNotes(frozenset(rng.sample(sorted(id003.US_CENTS.values()), 3)), rng.random() < 0.5)


def assert_recovers(puppet: Puppet) -> None:
    puppet.unit.read(1 << 20)
    puppet.driver.order(AcceptNotes(frozenset(id003.US_CENTS.values())), puppet.now_us)
    puppet.driver.order(AcknowledgeStacked(), puppet.now_us)
    puppet.show(Status.POWER_UP, seconds=2)
    puppet.driver.order(AcknowledgeStacked(), puppet.now_us)
    puppet.run(10)
    facts = puppet.show(Status.IDLING, seconds=2)
    assert AcceptorReady() in facts
    assert puppet.show(Status.ESCROW, b"\x65") == [NoteInEscrow(2000)]


@pytest.mark.parametrize("source", [random_bytes, broken_frames])
@pytest.mark.parametrize("is_ready", [False, True], ids=["from_power_up", "from_ready"])
def test_noise_moves_nothing_but_polls(source, is_ready: bool) -> None:
    rng = random.Random(f"{source.__name__} {is_ready}")
    puppet = Puppet().ready() if is_ready else Puppet()
    puppet.unit.read(1 << 20)
    driver, unit, written = puppet.driver, puppet.unit, id003.Framer()
    facts: list[Fact] = []
    sent: list[id003.Frame] = []
    fed = 0
    while fed < BYTES // 2:
        data = source(rng)
        fed += len(data)
        unit.write(data)
        facts += driver.step(puppet.now_us)
        out = written.receive(puppet.now_us, unit.read(4096))
        assert len(out) <= 1, "one message a step"
        sent += out
        for order in orders(rng):
            driver.order(order, puppet.now_us)
        puppet.now_us += rng.choice([0, 1_000, 20_000, 60_000, 250_000])
        assert driver.next_deadline_us() <= puppet.now_us + 1_000_000, "it would sleep through its duties"
    assert not written.errors
    # Nothing valid ever came: no message but polls may have gone out, and nothing about money was said.
    assert {frame.code for frame in sent} == {Command.STATUS_REQUEST}
    assert not any(isinstance(fact, NoteInEscrow | NoteStacked | NoteReturned) for fact in facts)
    assert_recovers(puppet)


STATUSES = [
    *Status,
    Status.ESCROW,
    Status.ESCROW,
    Status.VEND_VALID,
    Status.IDLING,
    Status.IDLING,
    0x2A,
    0xFF,
]


def test_good_frames_without_sense_never_make_money() -> None:
    """The unit jumps between statuses at random, answers late, twice, or something else."""
    rng = random.Random("sense")
    puppet = Puppet().ready()
    facts: list[Fact] = []
    fed = 0
    while fed < BYTES:
        if rng.random() < 0.15:
            likely = {Status.ESCROW: Status.VEND_VALID, Status.IDLING: Status.ESCROW}
            puppet.status = rng.choice([rng.choice(STATUSES), likely.get(puppet.status, Status.IDLING)])
            puppet.data = rng.choice([b"\x65", b"\x61", b"\x6f1234", b"", rng.randbytes(2)])
        for _ in range(6):
            facts += puppet.driver.step(puppet.now_us)
            heard = puppet._framer.receive(puppet.now_us, puppet.unit.read(4096))
            answer = b"".join(puppet.answer(frame) for frame in heard)
            match rng.randrange(30):
                case 0:
                    answer = b""
                case 1:
                    answer *= 2
                case 2:
                    answer = rng.choice(GOOD) + answer
                case 3:
                    answer = rng.choice(GOOD)
            puppet.unit.write(answer)
            fed += len(answer)
            puppet.now_us += 10_000
        for order in orders(rng):
            puppet.driver.order(order, puppet.now_us)
    assert_money_has_its_sequence(facts)
    kinds = {type(fact) for fact in facts}
    assert {NoteInEscrow, NoteStacked, NoteReturned, NoteRejected, AcceptorPoweredUp} <= kinds
    assert_recovers(puppet)


def test_the_next_good_frame_after_noise_is_understood() -> None:
    rng = random.Random(3)
    for _ in range(300):
        puppet = Puppet(Status.ESCROW)
        puppet.is_silent = True
        puppet.driver.step(0)
        puppet.unit.write(broken_frames(rng))
        puppet.driver.step(1_000)
        puppet.unit.write(id003.encode(Status.INHIBITED))
        now_us = 1_000 + id003.GAP_US
        facts = puppet.driver.step(now_us) + puppet.driver.step(now_us + id003.GAP_US)
        assert any(isinstance(fact, AcceptorPoweredUp) for fact in facts)
