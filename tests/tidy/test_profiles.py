"""Each figure of each jurisdiction names clauses that exist, or says that there is none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from simulator.law.clauses import load
from tests.tidy.source import ROOT

PROFILES = sorted((ROOT / "firmware" / "profiles").glob("*.toml"))
CLAUSES = load()


def test_the_jurisdictions_are_there() -> None:
    assert {path.stem for path in PROFILES} >= {"nj", "pa", "md"}


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_each_entry_carries_its_clause(path: Path) -> None:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = {key: entry for key, entry in document.items() if isinstance(entry, dict)}
    if "includes" in document:  # the figures of another, perhaps asked for by nobody here
        assert document["includes"] in {other.stem for other in PROFILES}
    else:
        assert len(entries) > 10
    for key, entry in entries.items():
        clauses = entry["clauses"]
        assert clauses == "no clause" or (isinstance(clauses, list) and clauses), key
        if isinstance(clauses, list):
            assert set(clauses) <= CLAUSES.keys(), key
