"""Random and mutated bytes through the whole SAS side of a machine: link, line, core, memory, in virtual time.

``SAS_LINK_FUZZ_BYTES`` in the environment sets how many bytes; a million is the project's measure, the default suits
CI. The judge keeps its own record of every byte that was said, with its own check bytes, and knows nothing of framing.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from firmware.core import books
from firmware.core.state import Machine
from hal.backends.memory_nvram import MemoryNvram
from hal.ports.links import Run
from sas_protocol.line_events import LineEvent, PollReceived
from simulator.whole_machine import SECOND_US, WholeMachine
from tests.sim.foreign_hosts import crc, sealed

TOTAL = int(os.environ.get("SAS_LINK_FUZZ_BYTES", "300000"))
SEEDS = range(3)
RECENT = 700
"""Longer than two of the longest messages."""

OURS, SYNC, POLL = 0x01, b"\x80", b"\x81"
COMMANDS = {
    "play_disabled": sealed(b"\x01\x01"),
    "play_enabled": sealed(b"\x01\x02"),
    "acceptor_enabled": sealed(b"\x01\x06"),
    "acceptor_disabled": sealed(b"\x01\x07"),
}
GOOD = [
    *COMMANDS.values(),
    *(sealed(bytes((address, command))) for address in (2, 127) for command in (0x01, 0x02, 0x06, 0x07)),
    sealed(b"\x01\x0e\x01"),
    sealed(b"\x01\x0e\x00"),
    sealed(b"\x01\x09\x00\x01\x00"),
    sealed(b"\x01\x7f\x03\x15\x20\x26\x10\x11\x12"),
    sealed(b"\x00\x7f\x03\x15\x20\x26\x10\x11\x12"),
    sealed(b"\x00\x01"),  # not a poll that may be broadcast
    sealed(b"\x01\x6f\x06\x00\x00\x00\x00\xa0\x00"),
    sealed(b"\x01\x2f\x04\x00\x00\x00\x01"),
    sealed(b"\x01\x53\x00\x01"),
    sealed(b"\x01\x72\x3b" + bytes(0x3B)),
    sealed(b"\x01\xb0\x04\x01\xb5\x00\x01"),
    *(
        bytes((OURS, command))
        for command in (0x0F, 0x11, 0x1A, 0x1C, 0x1F, 0x48, 0x51, 0x54, 0x55, 0x56, 0x7E)
    ),
    SYNC,
    POLL,
    b"\x82",
    b"\xff",
]
PAUSES_US = (0, 0, 100, 573, 2_000, 4_900, 6_000, 19_000, 21_000, 60_000, 199_000, 250_000)


def mutated(random: Random) -> bytes:
    """A good message, a good message with something wrong, two, or plain noise."""
    frame = bytearray(random.choice(GOOD))
    at = random.randrange(len(frame))
    match random.randrange(9):
        case 0:
            return random.randbytes(random.randrange(1, 40))
        case 1:
            frame[at] ^= 1 << random.randrange(8)
        case 2:
            del frame[at:]
        case 3:
            frame.insert(at, random.randrange(256))
        case 4:
            frame += random.randbytes(random.randrange(1, 6))
        case 5:
            frame[-2:] = frame[:-3:-1]  # check bytes in the wrong order
        case 6:
            frame = bytearray(sealed(bytes(frame[:2]) + random.randbytes(random.randrange(0, 20))))
        case 7:
            frame[at:at] = random.choice(GOOD)
        case _:
            pass
    return bytes(frame)


def chopped(random: Random, data: bytes) -> list[Run]:
    """The same bytes in pieces, their ninth bit right, unknown, wrong or at random."""
    habit = random.randrange(4)
    runs: list[Run] = []
    at = 0
    while at < len(data):
        size = 1 if at == 0 and habit == 0 else random.randrange(1, 14)
        wakeup = (at == 0, None, False, random.choice((True, False, None)))[habit]
        runs.append((data[at : at + size], wakeup))
        at += size
    return runs


class Fuzzed:
    """A machine with a note in it and somebody who plays, and a line on which anything may be said."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.machine = WholeMachine(MemoryNvram(512 * 1024), seed=seed)
        self.driver, self.hands = self.machine.driver, self.machine.world.hands
        self.announced = self.machine.announced
        # Its own host falls silent: what is said on the line is said here.
        polite = self.machine.host
        polite.step = lambda now_us: None  # type: ignore[method-assign]
        polite.next_deadline_us = lambda: None  # type: ignore[method-assign]
        self.host = polite.link
        self.recent = b""  # the latest bytes that were said
        self.said = 0
        self.occurrences: Counter[bytes] = Counter()  # how often each watched frame was said, in one piece
        self.obeyed: Counter[bytes] = Counter()
        self.answers = 0
        self.machine.power_on()
        self._watch()
        self._get_playable()

    def _watch(self) -> None:
        """Let the judge see every poll that the line's end reports."""
        end = self.machine.program.sas[0].end
        receive, tick = end.receive, end.tick

        def watched_receive(now_us: int, runs: list[Run]) -> list[LineEvent]:
            return self._judged(receive(now_us, runs))

        def watched_tick(now_us: int) -> list[LineEvent]:
            return self._judged(tick(now_us))

        end.receive, end.tick = watched_receive, watched_tick  # type: ignore[method-assign]

    @property
    def state(self) -> Machine:
        """What is durable at this moment."""
        return self.machine.program.executor.durable

    def _get_playable(self) -> None:
        assert self.machine.run_until_playable()
        self.driver.run_for(SECOND_US)
        self.hands.bill(10_000)
        self.driver.run_for(10 * SECOND_US)
        assert self.state.credits.total == 10_000
        self.host.read()

    # --- what is said ---

    def say(self, run: Run, pause_us: int = 0) -> bytes:
        """Say one piece after a pause; return what the machine says until then and to it."""
        sent = self.wait(pause_us)
        data, wakeup = run
        before = self.recent[-120:]
        self.recent = (self.recent + data)[-RECENT:]
        self.said += len(data)
        for frame in self.watched:
            window = before[-(len(frame) - 1) :] + data  # of those that end in the new piece
            if frame in window:
                self.occurrences[frame] += window.count(frame)  # none of them overlaps itself
        self.host.write(data, wakeup=wakeup)
        self.driver.run_for(0)
        return sent + self.hear()

    watched = tuple(frame for frame in GOOD if len(frame) >= 4 and frame[0] in (0, OURS))

    def wait(self, time_us: int) -> bytes:
        """Let time pass; return what the machine says meanwhile."""
        if time_us:
            self.driver.run_for(time_us)
        return self.hear()

    def hear(self) -> bytes:
        """Take what the machine has said; judge each answer."""
        sent = b""
        for data, is_chirp in self.host.read():
            if is_chirp:
                assert data == bytes((OURS,))
                continue
            self.answers += 1
            self._judge_answer(data)
            sent += data
        return sent

    # --- the judge ---

    def _judge_answer(self, answer: bytes) -> None:
        """An answer has our address and good check bytes, or is one of the short ones; and we were spoken to."""
        assert OURS in self.recent or POLL[0] in self.recent
        if len(answer) == 1:
            return
        assert answer[0] == OURS
        if len(answer) == 2:
            assert answer[1] == 0  # busy
            return
        assert crc(answer[:-2]) == answer[-2:], answer.hex(" ")
        if answer[1] != 0xFF:
            assert bytes((OURS, answer[1])) in self.recent, f"nobody asked for {answer.hex(' ')}"

    def _judged(self, events: list[LineEvent]) -> list[LineEvent]:
        for event in events:
            if isinstance(event, PollReceived):
                frame = bytes(event.frame)
                assert frame in self.recent, f"{frame.hex(' ')} was never said in one piece"
                assert frame[0] == (0 if event.is_broadcast else OURS)
                assert len(frame) == 2 or crc(frame[:-2]) == frame[-2:]
                if frame in self.watched:
                    self.obeyed[frame] += 1
                    assert self.obeyed[frame] <= self.occurrences[frame], f"{frame.hex(' ')} was taken twice"
        return events

    def recover(self) -> None:
        """After a pause a host of any habit is understood at once: nothing that was said before counts."""
        habit = self.random.choice((True, None, False))
        self.say((SYNC, habit), 210_000 if self.random.random() < 0.5 else 40_000)
        for _ in range(40):  # in real-time mode waiting events go first
            answer = self._ask(sealed(b"\x01\x0e\x00"), habit)
            assert answer, f"no answer behind {self.recent[-80:].hex(' ')}"
            if answer == bytes((OURS,)):
                break
            assert answer[:2] == b"\x01\xff", answer.hex(" ")
            self.say((SYNC, habit), 30_000)
        self.say((SYNC, habit), 30_000)
        before = self.state.credits.total  # a credit is a cent here; a game may begin or end while we ask
        answer = self._ask(b"\x01\x1a", habit)
        possible = {sealed(bytes.fromhex(f"011A{cents:08d}")) for cents in (before, self.state.credits.total)}
        assert answer in possible, self.recent[-80:].hex(" ")
        self.say((SYNC, habit), 30_000)
        assert len(self._ask(POLL, habit)) == 1

    def _ask(self, message: bytes, habit: bool | None) -> bytes:
        sent = self.say((message[:1], habit), 30_000)
        if message[1:]:
            sent += self.say((message[1:], False if habit else habit), self.random.choice((0, 1_000, 4_000)))
        return sent + self.wait(6_000)


def live(fuzzed: Fuzzed) -> None:
    """Somebody plays and opens doors, so that there are events to tell."""
    hands = fuzzed.hands
    match fuzzed.random.randrange(4):
        case 0:
            is_open = fuzzed.random.random() < 0.3
            hands.door("main", is_open)
        case _:
            hands.press("spin")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_machine_survives_anything_that_is_said_to_it(seed: int) -> None:
    fuzzed = Fuzzed(seed)
    random = fuzzed.random
    while fuzzed.said < TOTAL // len(SEEDS):
        for run in chopped(random, mutated(random)):
            fuzzed.say(run, random.choice(PAUSES_US) if random.random() < 0.3 else 0)
        if random.random() < 0.03:
            live(fuzzed)
        if random.random() < 0.02:
            fuzzed.recover()
    fuzzed.recover()
    assert fuzzed.answers > fuzzed.said // 200
    assert min(fuzzed.obeyed[frame] for frame in COMMANDS.values()) > 5
    assert not [event for event in fuzzed.announced if event["event"] in ("program_error", "memory_failed")]
    assert not any(books.imbalance(fuzzed.state))


@pytest.mark.parametrize("wakeup", [True, False, None])
def test_what_is_said_to_others_is_neither_answered_nor_obeyed(wakeup: bool | None) -> None:
    """Noise and good messages without a byte that could be our address, our poll or a broadcast."""
    fuzzed = Fuzzed(9)
    random = fuzzed.random
    fuzzed.say((SYNC, wakeup), 40_000)
    known = len(fuzzed.announced)
    quiet = bytes(byte for byte in range(256) if byte not in (0x00, OURS, POLL[0]))
    said = 0
    while said < TOTAL // 20:
        if random.random() < 0.5:
            data = bytes(random.choices(quiet, k=random.randrange(1, 30)))
        else:
            data = bytes((random.choice((2, 64, 127)),)) + random.choice(GOOD)[1:]
            if not set(data) <= set(quiet):
                continue
        for run in chopped(random, data):
            data, _ = run
            said += len(data)
            assert fuzzed.say((data, wakeup), random.choice(PAUSES_US)) == b""
    assert not fuzzed.obeyed
    assert len(fuzzed.announced) == known
    fuzzed.recover()
