"""The marker in a real test run, with and without workers: refusals, and outcomes in the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.law.clauses import REPOSITORY

GOOD = """
import pytest

@pytest.mark.law("NJ-28A-a")
@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.law("NJ-28A-b"))])
def test_good(x):
    pass

@pytest.mark.law("NJ-28A-c", partly="the rest")
def test_bad():
    assert 0

@pytest.mark.law("NJ-28A-d")
def test_absent():
    pytest.skip("no such device here")

@pytest.fixture
def broken():
    yield
    raise RuntimeError

@pytest.mark.law("NJ-28A-d")
def test_late(broken):
    pass
"""


WRONG = {
    'law("NJ-28A-aa")': "'NJ-28A-aa' is no clause of docs/law/requirements.tsv; the nearest are NJ-28A-a,",
    "law()": "write @pytest.mark.law",
    'law("NJ-28A-a", partly="")': "partly= says in words what is missing",
    'law("NJ-28A-a", party="x")': "write @pytest.mark.law",
}


def run(tmp_path: Path, sources: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on some files with this project's conftest, apart from this run."""
    files = {
        "conftest.py": "from tests.conftest import *\n",
        "pytest.ini": "[pytest]\nmarkers =\n  law: clauses\n",
    }
    for name, text in (files | sources).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_outcomes_reach_the_file(tmp_path: Path, workers: str) -> None:
    answer = run(tmp_path, {"test_it.py": GOOD}, "-n", workers, "--law-report", "law.json")
    assert answer.returncode == pytest.ExitCode.TESTS_FAILED, answer.stdout + answer.stderr
    recorded = json.loads((tmp_path / "law.json").read_text(encoding="utf-8"))["outcomes"]
    assert recorded == {
        "test_it.py::test_absent": {"outcome": "skipped", "clauses": ["NJ-28A-d"]},
        "test_it.py::test_bad": {"outcome": "failed", "clauses": ["NJ-28A-c"]},
        "test_it.py::test_good[1]": {"outcome": "passed", "clauses": ["NJ-28A-a"]},
        "test_it.py::test_good[2]": {"outcome": "passed", "clauses": ["NJ-28A-a", "NJ-28A-b"]},
        "test_it.py::test_late": {"outcome": "failed", "clauses": ["NJ-28A-d"]},
    }


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_wrong_marker_is_a_collection_error_of_its_file(tmp_path: Path, workers: str) -> None:
    sources = {
        f"test_{number}.py": f"import pytest\n\n@pytest.mark.{mark}\ndef test_it():\n    pass\n"
        for number, mark in enumerate(WRONG)
    }
    answer = run(tmp_path, sources, "-n", workers)
    assert answer.returncode != pytest.ExitCode.OK
    for number, complaint in enumerate(WRONG.values()):
        assert f"test_{number}.py::test_it: {complaint}" in answer.stdout
    assert "passed" not in answer.stdout
