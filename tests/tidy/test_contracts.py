"""The import contracts know every package: one that is added must be given its line."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.tidy.source import ROOT, Module, modules


def contracts() -> list[dict[str, Any]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["tool"]["importlinter"]["contracts"])


def contract(words: str) -> dict[str, Any]:
    (found,) = [entry for entry in contracts() if words in entry["name"]]
    return found


def children(package: str) -> set[str]:
    """Direct sub-packages and modules of a package."""
    depth = package.count(".") + 1
    return {
        name.name
        for name in modules()
        if name.name.startswith(f"{package}.") and name.name.count(".") == depth
    }


def imported(module: Module) -> set[str]:
    """Absolute names that a module imports, anywhere in it; relative imports stay within its package."""
    names = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(name), level=0):
                names.add(name)
    return names


def test_every_part_of_firmware_and_hal_is_bound_by_a_contract_of_its_own() -> None:
    bound = {
        source
        for entry in contracts()
        for source in entry.get("source_modules", []) + entry.get("modules", [])
    }
    free = {"firmware.control_program"}  # builds the machine from all the others
    assert children("firmware") | children("hal") <= bound | free


def test_pure_code_is_everything_but_the_rim() -> None:
    pure = set(contract("Pure code")["source_modules"])
    assert children("firmware") - {"firmware.control_program"} <= pure
    assert children("hal") - {"hal.backends"} <= pure
    assert {"sas_protocol", "simulator.cabinet", "simulator.floor"} <= pure


def test_what_may_import_only_named_parts_is_forbidden_all_others() -> None:
    allowed = {
        "core knows itself": {"firmware.core"},
        "Games know": {"firmware.core", "firmware.games"},
        "their reader knows nothing": {"firmware.profiles"},
        "memory and the generator know ports": {"firmware.memory", "firmware.rng"},
        "of the core only facts": {"firmware.drivers", "firmware.core"},
        "Links translate": {"firmware.core", "firmware.games", "firmware.links"},
    }
    for words, own in allowed.items():
        assert children("firmware") - own <= set(contract(words)["forbidden_modules"]), words


def test_twins_and_host_systems_see_nothing_else_of_the_simulator() -> None:
    for own in ("simulator.cabinet", "simulator.floor"):
        for module in modules():
            if module.name.startswith(own):
                strangers = {
                    name
                    for name in imported(module)
                    if name.startswith("simulator") and not name.startswith(own)
                }
                assert strangers == set(), module.name


def test_the_linter_sees_the_standard_library(tmp_path: Path) -> None:
    """The sternest contract rests on this: an import of ``time`` three modules away breaks it."""
    for name, text in {
        "toy/__init__.py": "",
        "toy/pure.py": "from toy import middle\n",
        "toy/middle.py": "from toy import rim\n",
        "toy/rim.py": "import time\n",
        ".importlinter": (
            "[importlinter]\nroot_package = toy\ninclude_external_packages = True\n"
            "[importlinter:contract:1]\nname = pure\ntype = forbidden\n"
            "source_modules = toy.pure\nforbidden_modules = time\n"
        ),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 1
    assert "toy.rim -> time" in answer.stdout
