"""The clauses of the law, as the project keeps them in ``docs/law/requirements.tsv``.

A clause is one demand of New Jersey, Pennsylvania or Maryland law on a machine, a host or people, with an
acceptance that says what a test has to see; what only steel or people satisfy may have none. Ids never change
and are never reused.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
REQUIREMENTS = REPOSITORY / "docs" / "law" / "requirements.tsv"

COLUMNS = ("id", "source", "system", "applies_to", "kind", "requirement", "acceptance")

KINDS_OF_PROGRAM = frozenset({"software", "hardware_signal", "data"})
"""Kinds of clause that a program can show."""
KINDS_BESIDE_PROGRAM = frozenset({"physical", "procedural"})
"""Kinds that steel or people satisfy: no test of ours can."""


class LawError(Exception):
    """The table of clauses, or a file about it, is missing or wrong; the text says which and where."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: a row of the table, with its columns as they are written there."""

    id: str
    source: str
    system: str
    applies_to: tuple[str, ...]
    kind: str
    requirement: str
    acceptance: str

    @property
    def is_for_programs(self) -> bool:
        """Whether a program can show it."""
        return self.kind in KINDS_OF_PROGRAM


def load(path: Path = REQUIREMENTS) -> dict[str, Clause]:
    """Read the table: id -> clause, in the order of the file.

    Raises LawError if the file is missing, or a row has the wrong number of columns, an unknown kind or a
    used id.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except OSError as error:
        raise LawError(f"cannot read the table of clauses {path}: {error.strerror}") from error
    if not rows or tuple(rows[0]) != COLUMNS:
        raise LawError(f"{path}:1: the columns must be {', '.join(COLUMNS)}")
    clauses: dict[str, Clause] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS) or not all(row[:-1]):
            raise LawError(
                f"{path}:{number}: a row has {len(COLUMNS)} columns, and only the last may be empty"
            )
        identifier, source, system, applies_to, kind, requirement, acceptance = row
        if kind not in KINDS_OF_PROGRAM | KINDS_BESIDE_PROGRAM:
            raise LawError(f"{path}:{number}: unknown kind {kind!r}")
        if kind in KINDS_OF_PROGRAM and not acceptance:
            raise LawError(f"{path}:{number}: a clause for a program says what a test has to see")
        if identifier in clauses:
            raise LawError(f"{path}:{number}: the id {identifier} is used twice")
        parts = tuple(applies_to.split(","))
        clauses[identifier] = Clause(identifier, source, system, parts, kind, requirement, acceptance)
    return clauses


def nearest(unknown: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to ``count`` known ids that look most like ``unknown``, best first."""
    return difflib.get_close_matches(unknown, list(known), n=count, cutoff=0.5)


def complaint(unknown: str, known: Mapping[str, object]) -> str:
    """Say in one sentence that ``unknown`` is no clause, and which ids it may have meant."""
    candidates = nearest(unknown, known)
    hint = f"; the nearest are {', '.join(candidates)}" if candidates else ""
    return f"{unknown!r} is no clause of docs/law/requirements.tsv{hint}"
