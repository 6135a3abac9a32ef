"""No dead module, no overgrown one, no function longer than a screen."""

from __future__ import annotations

import ast
import tomllib

import pytest

from tests.tidy.source import ROOT, Module, modules

LINES_MAX = 600
"""100 to 400 lines is the aim; what is longer than this is two subjects."""
FUNCTION_LINES_MAX = 90
"""A function fits on a screen (60 or so); what is longer than this hides a part that wants a name."""

TABLES = frozenset(
    {
        "firmware.core.meters",
        "firmware.rng.cavp",  # published answers, one a line
    }
)
"""Modules that are mostly a table: as long as the table is."""


FOR_TESTS = {
    "firmware.links.sas.refused": "the third owner of polls: what is absent from the other two, and why",
    "hal.backends.memory_media": "the media port without a folder",
    "hal.backends.memory_nvram": "the memory port without a file",
    "simulator.sim_session": "make sim: a robot's session in virtual time, audited; starts with python -m",
}
"""Modules that only tests and benchmarks use, each with what it is for."""


def entry_points() -> set[str]:
    """Modules that something outside Python starts: the scripts of the project and ``python -m``."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        scripts = tomllib.load(file)["project"]["scripts"].values()
    started = {script.partition(":")[0] for script in scripts}
    return started | {module.name for module in modules() if module.name.endswith(".__main__")}


def references(module: Module, names: set[str]) -> set[str]:
    """Return the project's modules that a module imports, or names whole in a string (for ``-m``, say)."""
    found = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(base), level=0, names=aliases):
                found |= {base} | {f"{base}.{alias.name}" for alias in aliases}
            case ast.ImportFrom(module=base, level=level, names=aliases) if level:
                is_package = module.path.name == "__init__.py"
                parts = module.name.split(".")
                parts = parts[: len(parts) - level + is_package]
                package = ".".join([*parts, *([base] if base else [])])
                found |= {package} | {f"{package}.{alias.name}" for alias in aliases}
            case ast.Constant(value=str(text)):
                found.add(text.partition(":")[0])
    return (found & names) - {module.name}


def unreached(every: tuple[Module, ...], roots: set[str]) -> set[str]:
    """Return the modules that no chain of imports from the entry points reaches.

    A package is reached with its modules, not the other way round.
    """
    by_name = {module.name: module for module in every}
    names = set(by_name)
    reached: set[str] = set()
    waiting = list(roots & names)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        waiting += references(by_name[name], names)
        if name.rpartition(".")[0] in names:
            waiting.append(name.rpartition(".")[0])
    return names - reached


def test_every_module_is_reached_from_an_entry_point() -> None:
    assert sorted(unreached(modules(), entry_points() | FOR_TESTS.keys())) == []


def test_what_is_only_for_tests_is_used_by_one() -> None:
    names = {module.name for module in modules()}
    used: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        if not path.is_relative_to(ROOT / "tests" / "tidy") or path.name == "test_poll_owners.py":
            used |= references(Module("tests", path), names)
    by_name = {module.name: module for module in modules()}
    for helper in set(used) & FOR_TESTS.keys():
        used |= references(by_name[helper], names)
    assert FOR_TESTS.keys() <= used


def test_a_module_that_nothing_imports_is_noticed() -> None:
    start = next(module for module in modules() if module.name == "simulator.cli.law")
    few = (start, *(m for m in modules() if m.name.startswith("simulator.law")))
    dead = unreached(few, set())
    assert "simulator.law.report" in dead
    assert unreached(few, {start.name}) == set()


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_a_module_and_its_functions_have_a_readable_size(module: Module) -> None:
    lines = len(module.text.splitlines())
    assert lines <= LINES_MAX or module.name in TABLES, f"{lines} lines: split it"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            assert length <= FUNCTION_LINES_MAX, f"{node.name} has {length} lines: lift a part out"


def test_the_tables_that_may_be_long_exist() -> None:
    assert {module.name for module in modules()} >= TABLES
