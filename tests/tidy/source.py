"""The project's own files, as the tidy tests see them."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("firmware", "hal", "sas_protocol", "simulator")


@dataclass(frozen=True)
class Module:
    """One Python module of the packages: dotted name, file and syntax tree."""

    name: str
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the four packages, by name."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(Module(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return tuple(found)


def tracked_texts() -> list[tuple[str, str]]:
    """Return (name, text) of each text file that is or would be committed.

    Without git (an unpacked archive) every file of the packages and tests counts.
    """
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listing.returncode == 0:
        names = sorted(set(listing.stdout.split("\0")) - {""})
    else:
        names = [
            str(path.relative_to(ROOT)) for top in (*PACKAGES, "tests") for path in (ROOT / top).rglob("*.*")
        ]
    texts = []
    for name in names:
        path = ROOT / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                texts.append((name, data.decode("utf-8")))
    return texts
