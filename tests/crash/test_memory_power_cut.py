"""Cut the power at every operation of critical memory: nothing acknowledged is lost, nothing else appears."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from firmware.memory import Change, Put, Status
from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError
from tests.firmware.memory.common import (
    CREDITS,
    HISTORY,
    IMAGE_SIZE,
    Content,
    blank,
    changed,
    content_of,
    memory_on,
    open_memory,
    put_to_sleep,
    random_changes,
    wait,
)

SEEDS = range(8)
RECORDS = 30  # the journal of 8 sectors wraps three times and more


@dataclass
class Books:
    """What the session knows for certain, kept outside the machine."""

    durable: Content = field(default_factory=blank)
    in_flight: list[Content] = field(default_factory=list)
    records: int = 0

    def begin(self, changes: list[Change]) -> None:
        self.in_flight = [changed(self.durable, changes)]

    def settle(self) -> None:
        if self.in_flight:
            self.durable, self.in_flight = self.in_flight[-1], []
        self.records += 1

    def allows(self, content: Content) -> bool:
        return content == self.durable or content in self.in_flight


def session(nvram: CuttableNvram, books: Books, records: int = RECORDS) -> None:
    """Power up, make records with lazy ones among them, idle, and lie down in an orderly way."""
    memory, report = open_memory(nvram)
    assert report.status in (Status.FRESH, Status.INTACT, Status.REPAIRED)
    found = content_of(memory)
    assert books.allows(found)
    books.durable, books.in_flight = found, []
    chance = random.Random(books.records)
    for number in range(records):
        changes = random_changes(chance)
        if number % 5 == 3:
            lazy: list[Change] = [Put(CREDITS, 40, bytes((number,)))]
            memory.append(lazy, lazy=True)
            changes = lazy + changes
            books.begin(changes)
            ticket = memory.append(changes[1:])
        else:
            books.begin(changes)
            ticket = memory.append(changes)
        wait(memory, ticket)
        books.settle()
        if number % 7 == 0:
            put_to_sleep(memory)
    put_to_sleep(memory)


def operations_of_a_session(lag: int) -> int:
    nvram = CuttableNvram(IMAGE_SIZE, lag=lag)
    session(nvram, Books())
    return nvram.operations


def test_a_session_wraps_the_journal_and_checkpoints_both_copies_of_every_page() -> None:
    nvram = CuttableNvram(IMAGE_SIZE)
    memory, _ = open_memory(nvram)
    chance = random.Random(1)
    before = [list(copy) for copy in memory._page_sequences]
    for _ in range(RECORDS):
        wait(memory, memory.append(random_changes(chance)))
    for copy in (0, 1):
        assert all(
            new is not None and old is not None and new > old
            for new, old in zip(memory._page_sequences[copy], before[copy], strict=True)
        )
    assert memory.sequence > 3 * memory.layout.journal_sectors


@pytest.mark.law("NJ-28B-r", partly="critical memory alone, without a game")
@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_power_cut_at_any_operation_loses_nothing_acknowledged(seed: int, lag: int) -> None:
    for cut_after in range(operations_of_a_session(lag)):
        nvram, books = CuttableNvram(IMAGE_SIZE, cut_after, seed=1000 * seed + cut_after, lag=lag), Books()
        with pytest.raises(PowerCutError):
            session(nvram, books)
        nvram.reboot()
        memory, report = open_memory(nvram)
        where = f"cut after {cut_after}: {report}"
        assert report.status in (Status.FRESH, Status.INTACT, Status.REPAIRED), where
        assert books.allows(content_of(memory)), where
        assert all(finding.cut_explains for finding in report.findings), where
        # What came back must not hang on a single copy, and the next record must work.
        assert memory_on(nvram.clone()).examine().status is Status.INTACT, where
        wait(memory, memory.append([Put(CREDITS, 0, b"on")]))


@pytest.mark.parametrize("seed", SEEDS)
def test_power_cut_again_and_again_even_while_recovering(seed: int) -> None:
    """The cut comes in recovery, in the first record after it, or later, over and over on one part."""
    chance = random.Random(seed)
    nvram, books = CuttableNvram(IMAGE_SIZE, seed=seed, lag=seed % 3), Books()
    cuts = 0
    for _ in range(150):
        nvram.reboot(
            cut_after=chance.choice((chance.randrange(8), chance.randrange(40), chance.randrange(120)))
        )
        try:
            session(nvram, books)
        except PowerCutError:
            cuts += 1
    assert cuts > 100
    nvram.reboot()
    memory, report = open_memory(nvram)
    assert report.status in (Status.INTACT, Status.REPAIRED)
    assert books.allows(content_of(memory))
    assert books.records > 200


@pytest.mark.parametrize("seed", SEEDS)
def test_every_operation_of_a_recovery_may_be_cut(seed: int) -> None:
    """Take cuts that leave something to repair, and cut the repair at each of its operations."""
    repaired = 0
    for cut_after in range(40, operations_of_a_session(0), 7):
        nvram, books = CuttableNvram(IMAGE_SIZE, cut_after, seed=77 * seed + cut_after), Books()
        with pytest.raises(PowerCutError):
            session(nvram, books)
        nvram.reboot()
        whole = nvram.clone()
        memory, report = open_memory(whole)
        expected = content_of(memory)
        repaired += report.status is Status.REPAIRED
        for recovery_cut in range(whole.operations):
            again = CuttableNvram(IMAGE_SIZE, recovery_cut, seed=seed)
            again.load(nvram.image())
            with pytest.raises(PowerCutError):
                open_memory(again)
            again.reboot()
            memory, report = open_memory(again)
            assert report.status in (Status.INTACT, Status.REPAIRED), report
            assert all(finding.cut_explains for finding in report.findings), report
            assert content_of(memory) == expected
    assert repaired > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clear_is_done_or_not_begun_whenever_the_power_is_cut(seed: int) -> None:
    def prepare(cut_after: int | None) -> tuple[CuttableNvram, Content]:
        nvram, books = CuttableNvram(IMAGE_SIZE, seed=seed), Books()
        session(nvram, books, records=6 + seed)
        nvram.reboot(cut_after)
        return nvram, books.durable

    def clear(nvram: CuttableNvram) -> None:
        memory, _ = open_memory(nvram)
        memory.format(keep={HISTORY})

    nvram, before = prepare(None)
    clear(nvram)
    after = {**blank(), HISTORY: before[HISTORY]}
    seen = set()
    for cut_after in range(nvram.operations):
        nvram, _ = prepare(cut_after)
        with pytest.raises(PowerCutError):
            clear(nvram)
        nvram.reboot()
        memory, report = open_memory(nvram)
        content = content_of(memory)
        assert content in (before, after), f"cut after {cut_after}: {report}"
        assert not report.damaged
        seen.add(content == after)
        wait(memory, memory.append([Put(CREDITS, 0, b"on")]))
        assert memory_on(nvram.clone()).examine().status is Status.INTACT
    assert seen == {False, True}


def test_a_clear_whose_first_header_is_durable_is_finished_at_power_up() -> None:
    nvram, books = CuttableNvram(IMAGE_SIZE), Books()
    session(nvram, books)
    nvram.reboot(cut_after=2)  # the header of half 0 and its flush
    memory, _ = open_memory(nvram)
    half, size = memory.layout.half_size, memory.layout.header_size
    second_header = nvram.read(half, size)
    with pytest.raises(PowerCutError):
        memory.format()
    nvram.reboot()
    nvram.write(half, second_header)  # the write that the cut met did not arrive
    memory, report = open_memory(nvram)
    assert report.status is Status.FRESH
    assert content_of(memory) == blank()
    assert memory.sequence > books.records, "sequence numbers go on"
