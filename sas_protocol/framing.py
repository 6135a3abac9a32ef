"""From bytes with or without a ninth bit to messages: the machine's ear. SAS reference 2, 2.1, 2.2, 4.

Where the ninth bit is right, a marked byte starts a message and an unmarked one continues it. But a
pseudo-terminal's ninth bit is only strong evidence, some lines have none, and some hosts set it wrongly. So
bits and structure are weighed together:

- A message's length is known from its command, its end is proven by its CRC.
- Where the evidence agrees there is one *reading* of the bytes.
- Where it does not (an unmarked byte after a pause inside a message; a marked byte close behind another
  inside a message that began with a mark) the older reading goes on and a second one, the *trial*, starts at
  the doubtful byte. The first that completes with proof wins. A trial that found a poll without proof (one
  byte, or address and command) wins when the line stays quiet; until then it has no effect.
- Bytes that belong to nothing are skipped until the line is idle or a marked byte comes.

Whatever arrives, the next good message after a pause is understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

from sas_protocol.crc import has_good_crc
from sas_protocol.frames import SYNC_POLL, general_poll, request_length
from sas_protocol.line_events import LineCounters
from sas_protocol.line_rules import LineRules
from sas_protocol.longpolls.poll import LongPoll

Run = tuple[bytes, bool | None]
"""Bytes that share one ninth bit: ``(data, wakeup)``; None: the line did not say."""


_SYNC: Final = bytes((SYNC_POLL,))


class MessageKind(Enum):
    """What a message is to this machine."""

    GENERAL = auto()  # a general poll to us
    LONG = auto()  # a long poll to us, CRC good or without CRC
    DAMAGED = auto()  # a long poll to us, CRC wrong
    UNKNOWN = auto()  # a long poll to us whose length nobody knows: only its first two bytes
    BROADCAST = auto()  # a long poll to all, CRC good or without CRC
    OTHER = auto()  # a poll to another machine, or the sync poll


class Message(NamedTuple):
    """A message as heard; ``frame`` is empty for one-byte polls and polls to others."""

    kind: MessageKind
    frame: bytes = b""


class _Reading:
    """A long poll that is not complete yet."""

    __slots__ = ("frame", "is_marked", "is_suspect", "size")

    def __init__(self, first: int, is_marked: bool, is_suspect: bool) -> None:
        self.frame = bytearray((first,))
        self.size = 0  # total length once it is known
        self.is_marked = is_marked  # its first byte carried the ninth bit
        self.is_suspect = is_suspect  # it may be a stray byte and not a message


class _Parser:
    """Follows one hypothesis: a reading, or skipping, or ready for the next message."""

    __slots__ = (
        "_address",
        "_general",
        "_table",
        "ended_well",
        "found",
        "has_proof",
        "is_skipping",
        "is_wanted",
        "reading",
    )

    def __init__(self, address: int, table: Mapping[int, LongPoll]) -> None:
        self._address = address
        self._general = general_poll(address)
        self._table = table
        self.reading: _Reading | None = None
        self.is_skipping = False
        self.found: list[Message] = []
        self.has_proof = False  # a message to us or to all was completed with a good CRC
        self.is_wanted = False  # a message to us was completed
        self.ended_well = False  # the latest reading ended with a good CRC, whoever it was for

    def start(self, byte: int, is_marked: bool, is_suspect: bool = False) -> None:
        """Take a byte as the first of a message."""
        self.is_skipping = False
        self.reading = None
        if byte == self._general:
            self.found.append(Message(MessageKind.GENERAL))
            self.is_wanted = True
        elif byte >= SYNC_POLL:
            self.found.append(Message(MessageKind.OTHER))
        else:
            if byte not in (0, self._address):
                self.found.append(Message(MessageKind.OTHER))
            self.reading = _Reading(byte, is_marked, is_suspect)

    def go_on(self, byte: int) -> None:
        """Take a byte as the next of the open reading."""
        reading = self.reading
        if reading is None:
            return
        frame = reading.frame
        frame.append(byte)
        if reading.size == 0:
            size = request_length(self._table, frame)
            if size is None:
                self._give_up(reading, byte)
                return
            reading.size = size
        if len(frame) == reading.size:
            self._complete(reading)

    def _give_up(self, reading: _Reading, byte: int) -> None:
        """Nobody knows how long this message is."""
        self.reading = None
        self.is_skipping = True
        if reading.frame[0] == self._address:
            self.found.append(Message(MessageKind.UNKNOWN, bytes(reading.frame)))
        elif reading.frame[0] == 0 and not reading.is_marked and byte in (SYNC_POLL, self._general):
            # A stray 00 (hosts send it behind LP 54) and then a one-byte poll.
            self.start(byte, is_marked=False)

    def _complete(self, reading: _Reading) -> None:
        """Judge a message of full length."""
        frame = bytes(reading.frame)
        is_read = self._table[frame[1]].is_read
        is_good = is_read or has_good_crc(frame)
        self.reading = None
        self.ended_well = is_good and not is_read
        # Behind a proven end the next message may follow at once; else the next bytes may be strays.
        self.is_skipping = is_read or not is_good
        if frame[0] == self._address:
            self.found.append(Message(MessageKind.LONG if is_good else MessageKind.DAMAGED, frame))
            self.is_wanted = self.is_wanted or is_good
        elif frame[0] == 0 and is_good:
            self.found.append(Message(MessageKind.BROADCAST, frame))
        else:
            return
        self.has_proof = self.has_proof or self.ended_well

    def take_found(self) -> list[Message]:
        """Hand over what was found, and forget it."""
        found, self.found = self.found, []
        self.is_wanted = self.has_proof = False
        return found


class Ear:
    """Turns runs into messages.

    Args:
        address: 1..127.
        table: long polls of the reported version; gives lengths.
        rules: timing.
        counters: where errors are counted.
    """

    def __init__(
        self, address: int, table: Mapping[int, LongPoll], rules: LineRules, counters: LineCounters
    ) -> None:
        self._address: Final = address
        self._general: Final = bytes((general_poll(address),))
        self._table: Final = table
        self._rules: Final = rules
        self._counters: Final = counters
        self._main = _Parser(address, table)
        self._trial: _Parser | None = None
        self._last_us = -(1 << 62)  # when the latest byte came
        # request length by command for whole_message(): plain numbers only
        self._sizes: Final = {
            code: poll.request_size for code, poll in table.items() if isinstance(poll.request_size, int)
        }

    def whole_message(self, now_us: int, runs: list[Run]) -> bytes:
        """The common case made short: if these runs are just one message to us, or the sync poll, on a clear
        line, its bytes.

        Lengths are checked, the CRC is not. Returns b"" if it is anything else. Changes nothing: call
        ``took`` if the message is taken, ``hear`` with the same runs if not.
        """
        main = self._main
        if main.reading is not None or (main.is_skipping and now_us - self._last_us < self._rules.idle_us):
            return b""
        if len(runs) == 1:
            data, wakeup = runs[0]
            if data == self._general or data == _SYNC:
                return data
            if wakeup is True:
                return b""
        elif len(runs) == 2:
            (first, wakeup), (rest, other) = runs
            if not wakeup or other is not False or len(first) != 1:
                return b""
            data = first + rest
        else:
            return b""
        if len(data) < 2 or data[0] != self._address:
            return b""
        size = self._sizes.get(data[1])
        if size is None:
            poll = self._table.get(data[1])
            if poll is None or not poll.request_prefixed or len(data) < 3:
                return b""
            size = 5 + data[2]
        return data if len(data) == size else b""

    def took(self, now_us: int, *, is_proven: bool) -> None:
        """The message of ``whole_message`` was taken. ``is_proven``: it has a good CRC, or is one byte."""
        self._last_us = now_us
        self._main.is_skipping = not is_proven

    def answered(self) -> None:
        """We have spoken: what comes next is a new message, not a stray byte of the old."""
        self._main.is_skipping = False

    def hear(self, now_us: int, runs: list[Run]) -> list[Message]:
        """Take what has arrived; return complete messages in order."""
        heard = self.settle(now_us)
        gap_us = now_us - self._last_us
        for data, wakeup in runs:
            for byte in data:
                self._byte(byte, wakeup, gap_us)
                gap_us = 0
                if self._trial is None and self._main.found:
                    heard += self._main.take_found()
            if data:
                self._last_us = now_us
        return heard

    def settle(self, now_us: int) -> list[Message]:
        """Decide for a trial that found a poll to us and then heard nothing more."""
        trial = self._trial
        if trial is None or not trial.is_wanted or now_us - self._last_us < self._rules.settle_us:
            return []
        self._counters.cut_frames += 1
        self._promote(trial)
        return self._main.take_found()

    def settle_deadline_us(self) -> int | None:
        """When ``settle`` will have something to decide."""
        if self._trial is None or not self._trial.is_wanted:
            return None
        return self._last_us + self._rules.settle_us

    def _byte(self, byte: int, wakeup: bool | None, gap_us: int) -> None:
        """Take one byte that came ``gap_us`` after the one before."""
        main, rules = self._main, self._rules
        is_pause = gap_us >= rules.idle_us
        if main.reading is not None and gap_us > rules.gap_max_us:
            self._counters.gaps += 1
            # What still comes of a message that was dropped is not a new one.
            is_rest = wakeup is False and main.reading.is_marked
            self._drop_reading()
            main = self._main
            if is_rest or (wakeup is not True and not is_pause):
                main.is_skipping = True
                self._counters.stray_bytes += 1
                return
        reading = main.reading
        if reading is None:
            if main.is_skipping and wakeup is not True and not is_pause:
                self._counters.stray_bytes += 1
            else:
                # An unmarked 00 close behind other bytes is more likely their tail than a broadcast.
                is_suspect = byte == 0 and wakeup is not True and not is_pause
                main.start(byte, wakeup is True, is_suspect)
            return
        if wakeup is True and (is_pause or not reading.is_marked):
            self._counters.cut_frames += 1
            self._drop_reading()
            self._main.start(byte, is_marked=True)
            return
        self._both(byte, wakeup, reading, is_pause)

    def _both(self, byte: int, wakeup: bool | None, reading: _Reading, is_pause: bool) -> None:
        """Continue the open reading, and the trial if there is doubt."""
        length = len(reading.frame)
        if wakeup is True:
            is_doubtful = True
        elif is_pause:
            # The gap that hosts make between a marked address and the rest is no reason for doubt.
            is_doubtful = not (wakeup is False and reading.is_marked and length == 1)
        else:
            is_doubtful = reading.is_suspect and length == 1
        trial = self._trial
        if is_doubtful:
            if trial is None:
                trial = self._trial = _Parser(self._address, self._table)
            trial.start(byte, wakeup is True)
        elif trial is not None and trial.reading is not None:
            trial.go_on(byte)
        elif trial is not None and not trial.is_skipping:
            trial.start(byte, wakeup is True)
        self._main.go_on(byte)
        if trial is not None:
            self._judge(trial)

    def _judge(self, trial: _Parser) -> None:
        """Choose between the older reading and the trial, if one of them is complete."""
        main = self._main
        if trial.has_proof:
            self._counters.cut_frames += 1
            self._promote(trial)
        elif main.reading is None:
            if main.ended_well or (main.found and main.found[-1].kind is MessageKind.LONG):
                self._trial = None
            else:
                self._counters.cut_frames += 1
                self._promote(trial)

    def _promote(self, trial: _Parser) -> None:
        """The trial was right: what the older reading found since is void.

        What the trial found damaged on its way was no message, or is one that its host has given up: a NACK
        now would seem to answer what comes next.
        """
        trial.found = [message for message in trial.found if message.kind is not MessageKind.DAMAGED]
        self._main = trial
        self._trial = None

    def _drop_reading(self) -> None:
        """The open reading is dead; a trial beside it was right about what came so far, and is cut too."""
        if self._trial is not None:
            self._promote(self._trial)
        self._main.reading = None
