"""What the tests said last: a JSON file that the test run writes and the report reads.

Shape: ``{"finished": ISO 8601 UTC, "whole": bool, "outcomes": {NODE ID: {"outcome", "clauses": [...]}}}``,
where a node id has its parameters and ``outcome`` is ``passed``, ``failed`` or ``skipped``. ``whole`` tells a
run of every test from one that added to an older file.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from simulator.law.clauses import REPOSITORY, LawError

LAST_RUN = REPOSITORY / ".pytest_cache" / "law.json"

_WORST_FIRST = ("failed", "passed", "skipped")
"""The outcomes there are; the first one present decides over the parameters of a test."""


@dataclass(slots=True)
class Results:
    """Outcomes of tests that carry a clause."""

    finished: str
    whole: bool = True
    outcomes: dict[str, str] = field(default_factory=dict)
    """Node id, parameters included -> outcome."""
    clauses: dict[str, list[str]] = field(default_factory=dict)
    """Node id, parameters included -> ids of the clauses it carries."""

    def by_test(self) -> dict[str, str]:
        """Return node id without parameters -> outcome over all its parameters.

        One failure fails it; where some parameters were skipped (hardware that is not there) the others
        decide.
        """
        found: dict[str, str] = {}
        for node, outcome in self.outcomes.items():
            test = node.partition("[")[0]
            found[test] = min(outcome, found.get(test, outcome), key=_WORST_FIRST.index)
        return found


def read(path: Path) -> Results:
    """Read a file that a test run wrote. Raises LawError if it is missing or not of the shape above."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        results = Results(finished=str(raw["finished"]), whole=bool(raw["whole"]))
        for node, entry in raw["outcomes"].items():
            if entry["outcome"] not in _WORST_FIRST:
                raise ValueError(f"outcome {entry['outcome']!r}")
            results.outcomes[node] = entry["outcome"]
            results.clauses[node] = list(entry["clauses"])
    except OSError as error:
        raise LawError(f"cannot read test results {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LawError(f"{path} holds no results of a test run ({error!r})") from error
    return results


def write(path: Path, results: Results) -> None:
    """Write the file whole or not at all. Raises OSError."""
    outcomes = {
        node: {"outcome": outcome, "clauses": results.clauses[node]}
        for node, outcome in sorted(results.outcomes.items())
    }
    document = {"finished": results.finished, "whole": results.whole, "outcomes": outcomes}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")  # two runs at once must not share one
    draft.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def merged(older: Results, newer: Results) -> Results:
    """Return the older results with every test that ran again replaced by the newer ones."""
    again = {node.partition("[")[0] for node in newer.outcomes}
    kept = [node for node in older.outcomes if node.partition("[")[0] not in again or node in newer.outcomes]
    result = Results(finished=newer.finished, whole=False)
    for source, nodes in ((older, kept), (newer, list(newer.outcomes))):
        for node in nodes:
            result.outcomes[node] = source.outcomes[node]
            result.clauses[node] = source.clauses[node]
    return result
