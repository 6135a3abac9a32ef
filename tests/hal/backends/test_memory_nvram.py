"""Critical memory in a buffer: what only it can do."""

from __future__ import annotations

import pytest

from hal.backends.memory_nvram import MemoryNvram
from hal.ports.nvram import NvramError


def test_held_flushes_are_durable_only_when_released() -> None:
    nvram = MemoryNvram(512, holds_flushes=True)
    assert [nvram.flush() for _ in range(3)] == [1, 2, 3]
    assert nvram.durable() == 0
    nvram.release(2)
    assert nvram.durable() == 2
    nvram.release(1)
    assert nvram.durable() == 2
    nvram.release()
    assert nvram.durable() == 3
    nvram.release(99)
    assert nvram.durable() == 3


def test_a_memory_starts_from_an_image_and_gives_one_back() -> None:
    image = bytes(range(256)) * 2
    nvram = MemoryNvram(512, image=image)
    nvram.write(0, b"\xff")
    assert nvram.image() == b"\xff" + image[1:]
    assert image[0] == 0
    with pytest.raises(NvramError, match="The image is 511 bytes, the memory 512"):
        MemoryNvram(512, image=image[1:])


def test_a_broken_part_says_so_at_every_use() -> None:
    nvram = MemoryNvram(512)
    nvram.flush()
    nvram.fail("FRAM does not answer")
    for attempt in (lambda: nvram.read(0, 1), lambda: nvram.write(0, b"x"), nvram.durable):
        with pytest.raises(NvramError, match="FRAM does not answer"):
            attempt()
    assert nvram.flush() == 2
