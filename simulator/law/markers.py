"""Which tests claim which clauses: ``@pytest.mark.law(...)`` found in the source, without running it.

A marker on a function counts for that test, on a class for each test in it, in a module's ``pytestmark`` for
all of the module, in a ``pytest.param(..., marks=...)`` for the function around it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Claim:
    """A test says that it shows a clause: wholly, or ``partly`` (then the words say what is missing)."""

    clause: str
    test: str
    """Node id without parameters: ``tests/firmware/test_x.py::TestY::test_z``."""
    partly: str | None = None


def scan(tests: Path, root: Path) -> list[Claim]:
    """Return every claim under ``tests``, with node ids relative to ``root``, sorted by file.

    Raises SyntaxError if a test file is not Python.
    """
    claims: list[Claim] = []
    for path in sorted(tests.rglob("test_*.py")):
        module = path.relative_to(root).as_posix()
        claims.extend(_claims_of(ast.parse(path.read_text(encoding="utf-8"), str(path)), module))
    return claims


def _claims_of(tree: ast.Module, module: str) -> Iterator[Claim]:
    inherited = [mark for node in tree.body for mark in _pytestmark(node)]
    yield from _claims_in(tree.body, module, inherited)


def _claims_in(body: list[ast.stmt], prefix: str, inherited: list[tuple[str, str | None]]) -> Iterator[Claim]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = [mark for decorator in node.decorator_list for mark in _marks(decorator)]
            own += [mark for statement in node.body for mark in _pytestmark(statement)]
            yield from _claims_in(node.body, f"{prefix}::{node.name}", inherited + own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            own = [mark for decorator in node.decorator_list for mark in _marks(decorator)]
            for clause, partly in dict.fromkeys(inherited + own):
                yield Claim(clause, f"{prefix}::{node.name}", partly)


def _pytestmark(node: ast.stmt) -> list[tuple[str, str | None]]:
    if isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    ):
        return _marks(node.value)
    return []


def _marks(tree: ast.AST) -> list[tuple[str, str | None]]:
    """Return ``(clause, partly)`` for each ``…mark.law(...)`` call anywhere in an expression."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_law(node.func):
            partly = next((_text(item.value) for item in node.keywords if item.arg == "partly"), None)
            found.extend((clause, partly) for clause in map(_text, node.args) if clause is not None)
    return found


def _is_law(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "law"
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "mark"
    )


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
