"""The ring of journal sectors by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.memory import MemoryInvariantError
from firmware.memory.journal import Ring, encode_record, payload_size_max, record_sectors, scan


def test_a_record_that_does_not_fit_is_an_error_and_never_overwrites() -> None:
    ring = Ring(8)
    assert [ring.place(sequence, 2) for sequence in (1, 2, 3)] == [0, 2, 4]
    with pytest.raises(MemoryInvariantError):
        ring.place(4, 3)  # two sectors at the end are skipped, and 0 is taken
    ring.release(2)
    with pytest.raises(MemoryInvariantError):
        ring.place(4, 3)
    ring.release(3)
    assert ring.place(4, 3) == 0
    assert ring.used == 7
    assert ring.live == ((3, 4, 2), (4, 0, 3))


def test_a_full_ring_is_not_taken_for_an_empty_one() -> None:
    ring = Ring(8)
    for sequence in range(1, 9):
        ring.place(sequence, 1)
    assert ring.used == 8
    with pytest.raises(MemoryInvariantError):
        ring.place(9, 1)
    ring.release(9)
    assert ring.used == 0


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 6)), min_size=1, max_size=60))
def test_needed_records_never_overlap(steps: list[tuple[int, int]]) -> None:
    ring = Ring(128)
    oldest = 1
    for sequence, (sectors, released) in enumerate(steps, 1):
        oldest = min(sequence, oldest + released)
        ring.release(oldest)
        try:
            ring.place(sequence, sectors)
        except MemoryInvariantError:
            return
        taken = [sector for _, first, count in ring.live for sector in range(first, first + count)]
        assert len(taken) == len(set(taken)) <= ring.used
        assert all(0 <= sector < 128 for sector in taken)


@given(st.integers(0, 4000))
def test_a_record_of_any_size_takes_the_sectors_it_says_and_reads_back(size: int) -> None:
    payload = bytes(number % 251 for number in range(size))
    data = encode_record(7, 3, payload)
    sectors = record_sectors(size)
    assert (sectors - 1) * 512 < len(data) <= sectors * 512
    assert payload_size_max(sectors) >= size > (payload_size_max(sectors - 1) if sectors > 1 else -1)
    (record,) = scan(data.ljust(12 * 512, b"\0")).values()
    assert (record.sequence, record.needed_from, record.payload, record.sectors) == (7, 3, payload, sectors)
