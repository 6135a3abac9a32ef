"""What every Nvram promises, run on each back end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hal.backends.file_nvram import FileNvram, Flushing
from hal.backends.memory_nvram import MemoryNvram
from hal.ports.nvram import Nvram, NvramError

SIZE = 4096
PATIENCE_SECONDS = 5.0


def memory(_: Path) -> Iterator[Nvram]:
    yield MemoryNvram(SIZE)


def file_with_thread(folder: Path) -> Iterator[Nvram]:
    nvram = FileNvram(folder / "memory.bin", SIZE)
    yield nvram
    nvram.close()


def file_adaptive(folder: Path) -> Iterator[Nvram]:
    nvram = FileNvram(folder / "memory.bin", SIZE, flushing=Flushing.ADAPTIVE)
    yield nvram
    nvram.close()


def file_inline(folder: Path) -> Iterator[Nvram]:
    nvram = FileNvram(folder / "memory.bin", SIZE, flushing=Flushing.INLINE)
    yield nvram
    nvram.close()


@pytest.fixture(params=[memory, file_with_thread, file_adaptive, file_inline])
def nvram(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Nvram]:
    yield from request.param(tmp_path)


def wait_durable(nvram: Nvram, ticket: int) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while nvram.durable() < ticket:
        assert time.monotonic() < give_up, f"ticket {ticket} never became durable"
        time.sleep(0.0005)


class TestNvram:
    def test_a_new_memory_is_all_zeros_of_the_size_asked_for(self, nvram: Nvram) -> None:
        assert nvram.size == SIZE
        assert nvram.read(0, SIZE) == bytes(SIZE)

    def test_own_writes_are_read_back_before_any_flush(self, nvram: Nvram) -> None:
        nvram.write(510, b"abcd")
        assert nvram.read(508, 8) == b"\0\0abcd\0\0"

    def test_first_and_last_byte_can_be_written(self, nvram: Nvram) -> None:
        nvram.write(0, b"\x01")
        nvram.write(SIZE - 1, b"\x02")
        assert (nvram.read(0, 1), nvram.read(SIZE - 1, 1)) == (b"\x01", b"\x02")
        assert nvram.read(1, SIZE - 2) == bytes(SIZE - 2)

    @pytest.mark.parametrize(("offset", "size"), [(-1, 1), (SIZE, 1), (SIZE - 1, 2), (0, SIZE + 1)])
    def test_nothing_outside_is_read_or_written(self, nvram: Nvram, offset: int, size: int) -> None:
        with pytest.raises(ValueError, match="outside"):
            nvram.read(offset, size)
        with pytest.raises(ValueError, match="outside"):
            nvram.write(offset, bytes(size))
        assert nvram.read(0, SIZE) == bytes(SIZE)

    def test_tickets_count_from_one_and_become_durable(self, nvram: Nvram) -> None:
        assert nvram.durable() == 0
        for ticket in range(1, 51):
            nvram.write(0, bytes([ticket]))
            assert nvram.flush() == ticket
            wait_durable(nvram, ticket)
            assert nvram.durable() == ticket

    def test_no_ticket_is_durable_that_was_not_given(self, nvram: Nvram) -> None:
        tickets = [nvram.flush() for _ in range(20)]
        assert tickets == list(range(1, 21))
        wait_durable(nvram, 20)
        assert nvram.durable() == 20

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(st.integers(0, SIZE - 1), st.binary(max_size=600)), max_size=8))
    def test_it_is_a_row_of_bytes(self, nvram: Nvram, writes: list[tuple[int, bytes]]) -> None:
        model = bytearray(nvram.read(0, SIZE))
        for offset, whole in writes:
            data = whole[: SIZE - offset]
            nvram.write(offset, data)
            model[offset : offset + len(data)] = data
        assert nvram.read(0, SIZE) == bytes(model)


@pytest.mark.parametrize("size", [0, -512, 511, 513])
def test_sizes_that_no_part_has_are_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(NvramError, match="multiple of 512"):
        MemoryNvram(size)
    with pytest.raises(NvramError, match="multiple of 512"):
        FileNvram(tmp_path / "memory.bin", size)
    assert not (tmp_path / "memory.bin").exists()
