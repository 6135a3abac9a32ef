"""Clause + claims + outcomes -> status; the command shows the same in three forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli import law
from simulator.law import markers, page, report, results
from simulator.law.clauses import Clause, load
from simulator.law.markers import Claim
from simulator.law.report import Status

SOURCE = """
import pytest
pytestmark = pytest.mark.law("A")

@pytest.mark.law("B", "C")
def test_one(): pass

class TestGroup:
    pytestmark = [pytest.mark.law("D")]

    @pytest.mark.law("E", partly="not when it rains")
    def test_two(self): pass

    def helper(self): pass

@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.law("F"))])
async def test_three(x): pass

@pytest.mark.other("Z")
def test_four(): law("Y")
"""


def clause(identifier: str = "A", kind: str = "software") -> Clause:
    return Clause(identifier, "source", "meters", ("machine",), kind, "It <counts>.", "It is counted.")


def outcomes(**by_test: str) -> results.Results:
    return results.Results("2030-01-01T00:00:00+00:00", outcomes=dict(by_test))


def test_markers_are_found_wherever_pytest_would_find_them(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(SOURCE, encoding="utf-8")
    found = {(claim.test, claim.clause, claim.partly) for claim in markers.scan(tmp_path / "tests", tmp_path)}
    one, two = "tests/test_x.py::test_one", "tests/test_x.py::TestGroup::test_two"
    three, four = "tests/test_x.py::test_three", "tests/test_x.py::test_four"
    assert found == {
        (one, "A", None),
        (one, "B", None),
        (one, "C", None),
        (two, "A", None),
        (two, "D", None),
        (two, "E", "not when it rains"),
        (three, "A", None),
        (three, "F", None),
        (four, "A", None),
    }


@pytest.mark.parametrize(
    ("kind", "claims", "ran", "expected"),
    [
        ("software", [], {}, Status.NOT_YET),
        ("procedural", [], {}, Status.NOT_A_PROGRAM),
        ("physical", [("t", None)], {"t": "passed"}, Status.SHOWN),
        ("software", [("t", None)], {}, Status.NOT_YET),
        ("software", [("t", None)], {"t": "passed"}, Status.SHOWN),
        ("software", [("t", None)], {"t[1]": "passed", "t[2]": "failed"}, Status.NOT_YET),
        ("software", [("t", None)], {"t[1]": "passed", "t[2]": "skipped"}, Status.SHOWN),
        ("software", [("t", None)], {"t": "skipped"}, Status.NOT_YET),
        ("software", [("t", "not the rest")], {"t": "passed"}, Status.PARTLY),
        ("software", [("t", "not the rest"), ("u", None)], {"t": "passed"}, Status.PARTLY),
        ("software", [("t", "not the rest"), ("u", None)], {"t": "passed", "u": "passed"}, Status.SHOWN),
        ("software", [("t", "not the rest"), ("u", None)], {"t": "failed", "u": "passed"}, Status.NOT_YET),
    ],
)
def test_a_clause_is_shown_only_by_passing_tests(
    kind: str, claims: list[tuple[str, str | None]], ran: dict[str, str], expected: Status
) -> None:
    claimed = [Claim("A", test, partly) for test, partly in claims]
    (line,) = report.build({"A": clause(kind=kind)}, claimed, outcomes(**ran))
    assert line.status is expected


def test_what_partial_tests_leave_out_is_listed_until_a_whole_one_passes() -> None:
    claimed = [Claim("A", "t", "not the rest"), Claim("A", "u")]
    (partial,) = report.build({"A": clause()}, claimed, outcomes(t="passed"))
    (whole,) = report.build({"A": clause()}, claimed, outcomes(t="passed", u="passed"))
    assert partial.as_json()["missing"] == ["not the rest"]
    assert whole.as_json()["missing"] == []


def test_results_survive_their_file_and_a_later_run_replaces_only_its_own_tests(tmp_path: Path) -> None:
    first = results.Results(
        "then",
        True,
        {"t[1]": "failed", "t[2]": "passed", "u": "passed"},
        {"t[1]": ["A"], "t[2]": ["A"], "u": ["B"]},
    )
    results.write(tmp_path / "law.json", first)
    assert results.read(tmp_path / "law.json") == first
    both = results.merged(first, results.Results("now", False, {"t[2]": "failed"}, {"t[2]": ["A"]}))
    assert both.outcomes == {"t[2]": "failed", "u": "passed"}
    assert not both.whole


@pytest.mark.parametrize("text", ["", "[]", '{"finished": "x"}', '{"outcomes": {"t": {"outcome": "?"}}}'])
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "law.json").write_text(text, encoding="utf-8")
    answer = CliRunner().invoke(law.app, ["report", "--results", str(tmp_path / "law.json")])
    assert answer.exit_code == 2
    assert "holds no results" in answer.stderr


def recorded(tmp_path: Path, outcome: str) -> str:
    """Results in which every test that carries a clause had the same outcome."""
    claims = markers.scan(law.REPOSITORY / "tests", law.REPOSITORY)
    path = tmp_path / "law.json"
    tests = {claim.test for claim in claims}
    every = results.Results("now", True, dict.fromkeys(tests, outcome), {test: [] for test in tests})
    results.write(path, every)
    return str(path)


def test_the_command_reports_every_clause_as_json(tmp_path: Path) -> None:
    answer = CliRunner().invoke(law.app, ["report", "--json", "--results", recorded(tmp_path, "passed")])
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert [entry["id"] for entry in document["clauses"]] == list(load())
    assert sum(document["summary"].values()) == len(document["clauses"])
    assert {entry["status"] for entry in document["clauses"]} <= {status.value for status in Status}
    assert {"id", "status", "tests"} <= document["clauses"][0].keys()


def test_a_failed_test_makes_the_answer_no(tmp_path: Path) -> None:
    claims = markers.scan(law.REPOSITORY / "tests", law.REPOSITORY)
    answer = CliRunner().invoke(law.app, ["report", "--results", recorded(tmp_path, "failed")])
    assert answer.exit_code == (1 if claims else 0)


def test_the_page_escapes_what_it_quotes(tmp_path: Path) -> None:
    lines = report.build({"A": clause()}, [Claim("A", "t", "<b>")], outcomes(t="passed"))
    text = page.render(lines, "now")
    assert "It &lt;counts&gt;." in text
    assert "without: &lt;b&gt;" in text
    target = tmp_path / "law.html"
    answer = CliRunner().invoke(law.app, ["report", "--system", "meters", "--html", str(target)])
    assert answer.exit_code == 0
    meters = [clause for clause in load().values() if clause.system == "meters"]
    assert target.read_text(encoding="utf-8").count("<tr id=") == len(meters)


def test_show_prints_the_clause_and_an_unknown_one_is_wrong_usage() -> None:
    good = CliRunner().invoke(law.app, ["show", "NJ-28A-a"])
    assert good.exit_code == 0
    assert "at least 83%" in good.stdout
    bad = CliRunner().invoke(law.app, ["show", "NJ-28A-aa"])
    assert bad.exit_code == 2
    assert "NJ-28A-a" in bad.stderr
