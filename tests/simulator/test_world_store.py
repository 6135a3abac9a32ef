"""The world file: whole at any moment, and refused when damaged."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.world_store import FileWorldStore, MemoryWorldStore, WorldFileError

WRITER = """
import sys, pathlib
from simulator.world_store import FileWorldStore
store = FileWorldStore(pathlib.Path(sys.argv[1]))
number = 0
while True:
    number += 1
    store.save({"number": number, "filling": [number] * (number % 3000)})
    if number == 1:
        print("writing", flush=True)
"""


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    for store in (FileWorldStore(tmp_path / "world.bin"), MemoryWorldStore()):
        assert store.load() is None
        store.save({"a": [1, {"b": None}]})
        store.save({"a": [2]})
        assert store.load() == {"a": [2]}


def test_a_process_killed_at_any_moment_leaves_a_whole_world(tmp_path: Path) -> None:
    path = tmp_path / "world.bin"
    chance = random.Random(1)
    for _ in range(12):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.random() * 0.02)  # which write it hits is left to the computer; all must do
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        world = FileWorldStore(path).load()
        assert world is not None
        number = world["number"]
        assert isinstance(number, int)
        assert world["filling"] == [number] * (number % 3000)
    assert list(tmp_path.iterdir()) == [path]


def test_every_damaged_byte_is_noticed_and_told_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "world.bin"
    store = FileWorldStore(path)
    store.save({"doors": ["main"], "number": 5})
    whole = path.read_bytes()
    for place in range(len(whole) - 1):  # the last byte is the line's end
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x04]) + whole[place + 1 :])
        try:
            assert store.load() == {"doors": ["main"], "number": 5}, (
                place
            )  # e.g. in the name of no key we read
        except WorldFileError as error:
            assert "remove it" in str(error)
    for size in range(len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(WorldFileError, match="damaged"):
            store.load()


def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    store = FileWorldStore(tmp_path / "gone" / "world.bin")
    with pytest.raises(WorldFileError, match="cannot write"):
        store.save({})
