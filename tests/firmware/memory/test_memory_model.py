"""Hypothesis against a plain dictionary: whatever is done in whatever order, the memory holds the books."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from firmware.memory import Change, Put, Status
from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError
from tests.firmware.memory.common import (
    CREDITS,
    HISTORY,
    IMAGE_SIZE,
    blank,
    changed,
    content_of,
    open_memory,
    put_to_sleep,
    random_changes,
    wait,
)


class MemoryMachine(RuleBasedStateMachine):
    """``durable`` is certain; ``open`` may be there after a cut, as a whole; ``lazy`` is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.nvram = CuttableNvram(IMAGE_SIZE, lag=2)
        self.memory, _ = open_memory(self.nvram)
        self.durable = blank()
        self.open: list[Change] = []
        self.lazy: list[Change] = []
        self.ticket = 0

    def settle(self) -> None:
        wait(self.memory, self.memory.sequence)
        self.durable, self.open = changed(self.durable, self.open), []

    @rule(seed=st.integers(0, 10_000), settle=st.booleans())
    def append(self, seed: int, settle: bool) -> None:
        self.settle()
        changes = random_changes(random.Random(seed))
        self.memory.append(changes)
        self.open, self.lazy = self.lazy + changes, []
        if settle:
            self.settle()

    @rule(value=st.binary(min_size=1, max_size=8))
    def append_lazily(self, value: bytes) -> None:
        if len(self.lazy) < 5:  # more would become a record
            self.memory.append([Put(CREDITS, 40, value)], lazy=True)
            self.lazy.append(Put(CREDITS, 40, value))

    @rule()
    def idle(self) -> None:
        put_to_sleep(self.memory)
        self.settle()

    @rule(steps=st.integers(1, 20))
    def scrub(self, steps: int) -> None:
        assert [finding for _ in range(steps) for finding in self.memory.scrub_step()] == []

    @rule(seed=st.integers(0, 10_000), recovery_cut=st.none() | st.integers(0, 12))
    def cut(self, seed: int, recovery_cut: int | None) -> None:
        self.nvram._random.seed(seed)
        self.nvram.reboot(recovery_cut)
        try:
            self.memory, report = open_memory(self.nvram)
        except PowerCutError:
            self.nvram.reboot()
            self.memory, report = open_memory(self.nvram)
        self.nvram.cut_after = None
        assert report.status in (Status.INTACT, Status.REPAIRED)
        found = content_of(self.memory)
        assert found in (self.durable, changed(self.durable, self.open))
        self.durable, self.open, self.lazy = found, [], []

    @rule(offset=st.integers(0, IMAGE_SIZE - 1), mask=st.integers(1, 255))
    def change_a_byte_while_off(self, offset: int, mask: int) -> None:
        self.idle()
        self.nvram.reboot()
        self.nvram.flip(offset, mask)
        self.memory, report = open_memory(self.nvram)
        assert report.status is Status.REPAIRED
        self.lazy = []

    @precondition(lambda self: not self.lazy)
    @rule(keep=st.booleans())
    def clear(self, keep: bool) -> None:
        self.settle()
        kept = {HISTORY: self.durable[HISTORY]} if keep else {}
        self.memory.format(keep=kept)
        self.durable = {**blank(), **kept}

    @invariant()
    def content_is_what_was_written(self) -> None:
        assert content_of(self.memory) == changed(self.durable, self.open + self.lazy)


TestMemoryModel = MemoryMachine.TestCase
TestMemoryModel.settings = settings(max_examples=60, stateful_step_count=40)
