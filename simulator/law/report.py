"""Clause -> tests -> outcome: the report itself, without any way of showing it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from simulator.law.clauses import Clause
from simulator.law.markers import Claim
from simulator.law.results import Results


class Status(Enum):
    """What can be said of a clause. The values are the words of the JSON report."""

    SHOWN = "shown"  # a passing test shows all of its acceptance
    PARTLY = "partly"  # passing tests show a part and say what is missing
    NOT_YET = "not_yet"  # no test, a failing one, or one that has not run
    NOT_A_PROGRAM = "not_a_program"  # steel or people satisfy it


@dataclass(frozen=True, slots=True)
class Evidence:
    """One test that claims a clause. ``outcome`` is None if it has not run."""

    test: str
    outcome: str | None
    partly: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """One clause of the report."""

    clause: Clause
    status: Status
    tests: tuple[Evidence, ...]

    @property
    def missing(self) -> list[str]:
        """What its partial tests say is not shown; empty if it is shown."""
        if self.status is Status.SHOWN:
            return []
        return sorted({test.partly for test in self.tests if test.partly})

    def as_json(self) -> dict[str, object]:
        """Return the clause as an entry of ``{"clauses": [...]}``."""
        return {
            "id": self.clause.id,
            "status": self.status.value,
            "tests": [
                {"test": test.test, "outcome": test.outcome, "partly": test.partly} for test in self.tests
            ],
            "missing": self.missing,
            "source": self.clause.source,
            "system": self.clause.system,
            "applies_to": list(self.clause.applies_to),
            "kind": self.clause.kind,
            "requirement": self.clause.requirement,
            "acceptance": self.clause.acceptance,
        }


def status_of(clause: Clause, tests: Iterable[Evidence]) -> Status:
    """Judge one clause. A failing test takes the clause back, whatever the others say."""
    outcomes = list(tests)
    passed = [test for test in outcomes if test.outcome == "passed"]
    if any(test.outcome == "failed" for test in outcomes):
        return Status.NOT_YET
    if any(test.partly is None for test in passed):
        return Status.SHOWN
    if passed:
        return Status.PARTLY
    return Status.NOT_YET if clause.is_for_programs else Status.NOT_A_PROGRAM


def build(clauses: Mapping[str, Clause], claims: Iterable[Claim], results: Results | None) -> list[Line]:
    """Join clauses, claims and outcomes; one line a clause, in the order of the table.

    Claims of unknown clauses are left out: the test run refuses them.
    """
    by_clause: defaultdict[str, list[Evidence]] = defaultdict(list)
    outcomes = results.by_test() if results else {}
    for claim in claims:
        by_clause[claim.clause].append(Evidence(claim.test, outcomes.get(claim.test), claim.partly))
    return [
        Line(clause, status_of(clause, by_clause[clause.id]), tuple(by_clause[clause.id]))
        for clause in clauses.values()
    ]


def summary(lines: Iterable[Line]) -> dict[str, int]:
    """Count the clauses by status, every status present."""
    counted = Counter(line.status for line in lines)
    return {status.value: counted[status] for status in Status}


def failing(lines: Iterable[Line]) -> list[str]:
    """Return the node ids of failing tests that carry a clause, once each, sorted."""
    return sorted({test.test for line in lines for test in line.tests if test.outcome == "failed"})
