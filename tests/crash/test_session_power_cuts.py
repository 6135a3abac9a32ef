"""No power cut cheats the spine: a CI-sized part of ``python -m tests.crash`` (``EGM_SWEEP=full``: all of it).

In processes of their own, since each cut forks one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware.control_program import executor, state_blocks
from firmware.control_program.executor import Executor
from firmware.core.commands import HostHeard
from simulator.world import World
from tests.crash.paths import PATHS, run_point

IS_FULL = os.environ.get("EGM_SWEEP") == "full"
EVERY = {
    "session": 2,
    "games": 2,
    "session, 40 ms host": 4,
    "session, slow memory": 3,
    "restart": 1,
    "orderly end": 1,
}
EVERY |= {"note, bytes": 4, "note, moments": 2, "jackpot": 1, "quiet": 3}


def swept(path: str) -> dict[str, object]:
    size = ["--seeds", "8"] if IS_FULL else ["--seeds", "1", "--every", str(EVERY[path])]
    command = [sys.executable, "-m", "tests.crash", "--json", "--path", path, *size, "--jobs", "1"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    (table,) = json.loads(done.stdout)
    return table


@pytest.mark.law("NJ-28B-r", "NJ-28B-m1")
@pytest.mark.timeout(600)
def test_a_game_cut_at_200_points_ends_as_it_was_drawn() -> None:
    table = swept("games")
    assert table["runs"] >= 200  # type: ignore[operator]
    assert table["failures"] == [], "repeat one: python -m tests.crash --path games --point N --seed N"


@pytest.mark.timeout(3600 if IS_FULL else 120)
@pytest.mark.parametrize("path", [path for path in PATHS if path != "games"])
def test_after_a_cut_anywhere_books_box_hosts_and_outcome_are_what_they_were(
    path: str,
) -> None:
    table = swept(path)
    assert table["runs"] >= table["points"] // (1 if IS_FULL else EVERY[path]) > 0  # type: ignore[operator]
    assert table["failures"] == [], "repeat one: python -m tests.crash --path PATH --point N --seed N"


# --- controls: a machine that breaks its word must be caught --------------------------------------------------


def found_at_some_point(path: str, points: range) -> bool:
    return any(run_point(path, point, seed=point) for point in points)


def test_a_machine_that_does_not_record_its_meters_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Executor, "_changes", lambda self, turn: state_blocks.changes(self.machine, turn.machine)
    )
    assert found_at_some_point("session", range(60, 64))


def test_a_machine_that_tells_a_whole_queue_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_may_wait", lambda event, machine: isinstance(event, HostHeard))
    assert found_at_some_point("quiet", range(20, 40, 6))


def test_a_cabinet_that_is_saved_too_late_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    save = World._save
    calls = 0

    def late(self: World) -> None:
        nonlocal calls
        calls += 1
        if calls < 20:
            save(self)

    monkeypatch.setattr(World, "_save", late)
    assert found_at_some_point("note, moments", range(41, 66, 4))
