"""The table of clauses: read whole, refused when it is wrong, and near misses are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.law.clauses import COLUMNS, LawError, complaint, load, nearest

HEAD = "\t".join(COLUMNS)
ROW = "NJ-1\tN.J.A.C. 1\tmeters\tmachine,host\tsoftware\tIt counts.\tIt is counted."


def table(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "requirements.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_projects_table_is_whole() -> None:
    clauses = load()
    assert len(clauses) >= 1500  # what the project began with; a clause is never taken out
    assert clauses["NJ-28A-a"].source == "N.J.A.C. 13:69E-1.28A(a)"
    assert {clause.id.partition("-")[0] for clause in clauses.values()} == {"NJ", "PA", "MD"}


def test_a_row_is_read_by_column(tmp_path: Path) -> None:
    clause = load(table(tmp_path, HEAD, ROW))["NJ-1"]
    assert clause.applies_to == ("machine", "host")
    assert (clause.kind, clause.requirement, clause.acceptance) == (
        "software",
        "It counts.",
        "It is counted.",
    )
    assert clause.is_for_programs


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ((), "the columns must be"),
        ((HEAD.replace("kind", "sort"), ROW), "the columns must be"),
        ((HEAD, ROW.rpartition("\t")[0]), ":2: a row has 7 columns"),
        ((HEAD, ROW.replace("It counts.", "")), ":2: a row has 7 columns"),
        ((HEAD, ROW.replace("It is counted.", "")), ":2: a clause for a program says"),
        ((HEAD, ROW.replace("software", "spiritual")), ":2: unknown kind 'spiritual'"),
        ((HEAD, ROW, ROW), ":3: the id NJ-1 is used twice"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(
    tmp_path: Path, lines: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(LawError, match=complaint):
        load(table(tmp_path, *lines))


def test_a_missing_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LawError, match=r"gone\.tsv: No such file"):
        load(tmp_path / "gone.tsv")


def test_a_near_miss_names_the_clause_that_was_meant() -> None:
    clauses = load()
    assert nearest("NJ-28B-i10", clauses)[0] == "NJ-28B-i-10"
    assert "NJ-28B-i-10" in complaint("NJ-28B-i10", clauses)
    assert "nearest" not in complaint("???", clauses)
