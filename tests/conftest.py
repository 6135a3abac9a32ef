"""What every test shares: one hypothesis profile, and the law marker.

``@pytest.mark.law("NJ-28B-i-10")`` says that a test shows a clause of ``docs/law/requirements.tsv``;
``@pytest.mark.law("NJ-28B-i-10", partly="not the restart")`` that it shows a part. An unknown id stops the
collection. Outcomes go to ``.pytest_cache/law.json`` (or ``--law-report FILE``), where ``egm law report``
reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import hypothesis
import pytest

from simulator.law import results
from simulator.law.clauses import complaint, load

hypothesis.settings.register_profile(
    "house",
    deadline=None,  # two cores shared with other tests: wall time proves nothing
    derandomize=True,  # the same examples in every run, so that a red run can be repeated
    database=None,
    max_examples=100,
)
hypothesis.settings.load_profile("house")

CLAUSES = load()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--law-report",
        metavar="FILE",
        type=Path,
        help="write clause outcomes of this run here; default: add them to .pytest_cache/law.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # with xdist only the controller hears every report
        config.pluginmanager.register(LawRecorder(config), "law-recorder")


def check_marks(marks: Iterable[pytest.Mark], where: str) -> None:
    """Refuse a marker that names no clause, or says ``partly`` without words."""
    for mark in marks:
        unknown_keys = mark.kwargs.keys() - {"partly"}
        if not mark.args or unknown_keys:
            raise pytest.UsageError(f'{where}: write @pytest.mark.law("ID", …, partly="what is missing")')
        if "partly" in mark.kwargs and not str(mark.kwargs["partly"] or "").strip():
            raise pytest.UsageError(f"{where}: partly= says in words what is missing")
        for clause in mark.args:
            if clause not in CLAUSES:
                raise pytest.UsageError(f"{where}: {complaint(str(clause), CLAUSES)}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Check here and not later: an error at this point is a collection error of the file at fault."""
    check_marks(metafunc.definition.iter_markers("law"), metafunc.definition.nodeid)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Attach each item's clauses to its reports, which is what reaches the controller from a worker."""
    for item in items:
        marks = list(item.iter_markers("law"))
        check_marks(marks, item.nodeid)  # parameters carry marks of their own
        if marks:
            item.user_properties.append(("law", sorted({clause for mark in marks for clause in mark.args})))


class LawRecorder:
    """Gather outcomes of tests that carry a clause and write them when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.results = results.Results(finished="")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        clauses = dict(report.user_properties).get("law")
        if clauses is None:
            return
        # Three reports a test: set-up, call, tear-down. The worst counts; a skip happens in the first two.
        if report.failed:
            outcome = "failed"
        elif report.skipped:
            outcome = "skipped"
        elif report.when == "call":
            outcome = "passed"
        else:
            return
        before = self.results.outcomes.get(report.nodeid)
        self.results.outcomes[report.nodeid] = "failed" if before == "failed" else outcome
        self.results.clauses[report.nodeid] = list(clauses)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.results.outcomes:
            return
        self.results.finished = datetime.now(UTC).isoformat(timespec="seconds")
        self.results.whole = self.is_whole(session)
        target: Path | None = self.config.getoption("--law-report")
        recorded = self.results
        if target is None:
            target = results.LAST_RUN
            if not recorded.whole and target.exists():
                recorded = results.merged(results.read(target), recorded)
        results.write(target, recorded)

    def is_whole(self, session: pytest.Session) -> bool:
        """Whether this run was of every test: nothing chosen, nothing left out, not cut short."""
        choices = ("keyword", "markexpr", "lf", "deselect", "maxfail")
        chosen = any(self.config.getoption(choice, default=None) for choice in choices)
        return (
            self.config.args_source is pytest.Config.ArgsSource.TESTPATHS
            and not chosen
            and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
            and not session.shouldstop
        )
