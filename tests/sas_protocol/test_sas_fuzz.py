"""Random and mutated bytes into the machine's end: no exception, no foreign answer, recovery at the next good frame.

``SAS_FUZZ_BYTES`` in the environment sets how many; a million is the project's measure, the default suits CI.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random

import pytest

from sas_protocol.crc import append_crc, has_good_crc
from sas_protocol.frames import encode_request
from sas_protocol.framing import Run
from sas_protocol.line_events import ACK, PollReceived, Transmit
from sas_protocol.line_rules import REFERENCE, STRICT, LineRules
from sas_protocol.longpolls import V602
from sas_protocol.machine_end import MachineEnd
from sas_protocol.notices import Notice
from tests.sas_protocol.lines import Bench

TOTAL = int(os.environ.get("SAS_FUZZ_BYTES", "240000"))
SEEDS = range(6)
ADDRESS = 5

GOOD = [
    encode_request(V602[0x01], ADDRESS),
    encode_request(V602[0x6F], ADDRESS, {"game": 0, "meters": (0, 1, 2, 0x0B, 0xA0)}),
    encode_request(V602[0x09], ADDRESS, {"game": 1, "enable": 1}),
    bytes((ADDRESS, 0x1A)),
    bytes((0x80 | ADDRESS,)),
    b"\x80",
    encode_request(V602[0x80], 0, {"group": 1, "level": 1, "cents": 1}),
    encode_request(V602[0x01], 9),
]


def mutated(random: Random) -> bytes:
    """A good frame with something wrong, or plain noise."""
    frame = bytearray(random.choice(GOOD))
    match random.randrange(7):
        case 0:
            return random.randbytes(random.randrange(1, 40))
        case 1:
            frame[random.randrange(len(frame))] ^= 1 << random.randrange(8)
        case 2:
            del frame[random.randrange(len(frame)) :]
        case 3:
            frame.insert(random.randrange(len(frame) + 1), random.randrange(256))
        case 4:
            frame += random.randbytes(random.randrange(1, 6))
        case 5:
            frame = bytearray(append_crc(bytes(frame[:2]) + random.randbytes(random.randrange(0, 20))))
        case _:
            frame += random.choice(GOOD)
    return bytes(frame)


def chopped(random: Random, data: bytes) -> list[Run]:
    """The same bytes as runs with right, random, lying or no marks."""
    habit = random.randrange(4)
    runs: list[Run] = []
    at = 0
    while at < len(data):
        size = 1 if at == 0 else random.randrange(1, 12)
        wakeup = (at == 0, random.choice((True, False, None)), random.random() < 0.5, None)[habit]
        runs.append((data[at : at + size], wakeup))
        at += size
    return runs


class Fuzzed:
    """A machine's end under fire; every answer is checked against what was really said."""

    def __init__(self, seed: int, rules: LineRules) -> None:
        self.random = Random(seed)
        self.now_us = 0
        self.end = MachineEnd(ADDRESS, 0, rules=rules)
        self.recent = bytearray()  # everything that was heard lately
        self.heard = 0
        self.answers = 0

    def run(self, total: int) -> None:
        while self.heard < total:
            for run in chopped(self.random, mutated(self.random)):
                self.now_us += self.random.choice((0, 0, 100, 600, 6_000, 25_000, 250_000))
                self.say(run)
            if self.random.random() < 0.02:
                self.end.set_pending(
                    tuple(Notice(self.heard + i, self.random.choice((0x11, 0x57, 0x4A))) for i in range(3))
                )
            if self.random.random() < 0.05:
                self.recover()

    def say(self, run: Run) -> bytes:
        self.recent += run[0]
        del self.recent[:-600]
        self.heard += len(run[0])
        sent = self.take(self.end.receive(self.now_us, [run]))
        due_us = self.end.next_deadline_us()
        assert due_us is not None
        if due_us <= self.now_us:
            sent += self.take(self.end.tick(self.now_us))
        return sent

    def take(self, events: Sequence[object]) -> bytes:
        sent = b""
        for event in events:
            if isinstance(event, Transmit) and not event.wakeup:
                sent += event.data
            elif isinstance(event, PollReceived):
                self.check(event)
                sent += self.end.send(self.now_us, ACK)
        if sent:
            self.answers += 1
            # Whatever we answer, our address was among what was said.
            assert bytes((0x80 | ADDRESS,)) in self.recent or bytes((ADDRESS,)) in self.recent
        return sent

    def check(self, event: PollReceived) -> None:
        """What is reported was said, in one piece, to us or to all, with a good CRC."""
        assert bytes(event.frame) in self.recent
        assert event.frame[0] == (0 if event.is_broadcast else ADDRESS)
        assert event.poll.is_read or has_good_crc(event.frame)

    def recover(self) -> None:
        """After a pause, a polite host is understood whatever was before."""
        habit = self.random.choice((True, None, False))
        for frame in (b"\x80", encode_request(V602[0x02], ADDRESS), b"\x80", bytes((0x80 | ADDRESS,))):
            self.now_us += 40_000
            sent = b""
            for part, wakeup in ((frame[:1], habit), (frame[1:], False if habit else habit)):
                if part:
                    sent += self.say((part, wakeup))
            self.now_us += 6_000
            sent += self.take(self.end.tick(self.now_us))
            if frame[0] != 0x80:
                assert sent, f"no answer to {frame.hex(' ')} after {bytes(self.recent[-60:]).hex(' ')}"


@pytest.mark.parametrize("rules", [REFERENCE, STRICT], ids=["reference", "strict"])
@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz(seed: int, rules: LineRules) -> None:
    fuzzed = Fuzzed(seed, rules)
    fuzzed.run(TOTAL // (2 * len(SEEDS)))
    assert fuzzed.answers > 30  # it is alive, not merely silent


def test_frames_to_others_are_never_answered() -> None:
    """Every command, to every other address, with good CRC: nothing is sent and nothing reported."""
    random = Random(1)
    bench = Bench(address=ADDRESS)
    bench.sync()
    for address in (each for each in range(1, 128) if each != ADDRESS):
        for marked in (True, False):
            bench.marked = marked
            poll = random.choice(list(V602.values()))
            frame = bytes((address, poll.code))
            if isinstance(poll.request_size, int) and not poll.is_read:
                frame = append_crc(frame + random.randbytes(poll.request_size - 4))
            elif not poll.is_read:
                length = random.randrange(40)
                frame = append_crc(frame + bytes((length,)) + random.randbytes(length))
            bench.pass_time(40_000)
            assert bench.poll(frame) + bench.pass_time(10_000) == b""
            assert bench.reported() == []
            assert bench.poll(bytes((0x80 | address,))) == b""
