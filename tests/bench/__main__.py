"""``make bench``: run the benchmarks and print one table of ratios, each beside its floor.

A benchmark is a module ``tests/bench/bench_NAME.py`` with ``main() -> Iterable[Row]``. Every floor is
measured in the same run by a bare program that does only the unavoidable part; a figure may stand alone.

Usage: ``python -m tests.bench [--json] [NAME ...]``. Exit code 1 if a row misses its limit, 2 for an unknown
name.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.bench.rows import Row

HERE = Path(__file__).parent


def available() -> list[str]:
    """Return the names of the benchmarks there are, sorted."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def table(rows: Iterable[Row]) -> str:
    """Return the rows as text: names to the left, figures to the right."""
    head = ("benchmark", "measured", "floor", "ratio", "limit", "")
    lines = [head, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    text = []
    for name, *figures in lines:
        cells = [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        text.append("  ".join([name.ljust(widths[0]), *cells]))
    return "\n".join(text)


def main(arguments: list[str]) -> int:
    """Run what was asked for and return the exit code."""
    as_json = "--json" in arguments
    chosen = [name for name in arguments if name != "--json"] or available()
    unknown = set(chosen) - set(available())
    if unknown:
        print(
            f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(available())}", file=sys.stderr
        )
        return 2
    rows: list[Row] = []
    for name in chosen:
        print(f"measuring {name} …", file=sys.stderr)
        rows.extend(importlib.import_module(f"tests.bench.bench_{name}").main())
    if as_json:
        print(json.dumps([row.as_json() for row in rows], indent=1))
    else:
        print(f"Python {platform.python_version()} on {platform.machine()}\n")
        print(table(rows))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
