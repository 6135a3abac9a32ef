"""``python -m tests.crash``: the sweep of power cuts, of any size, as a table.

python -m tests.crash                       every point of every path, eight seeds each
python -m tests.crash --seeds 2 --every 5   a smaller one
python -m tests.crash --path session --point 123 --seed 4   one run of it again, with its traceback
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time

from tests.crash.paths import PATHS, run_path, run_point


def main(arguments: list[str] | None = None) -> int:
    """Run the sweep; return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__.split("\n")[0])
    parser.add_argument("--path", action="append", choices=sorted(PATHS), help="only this path (repeatable)")
    parser.add_argument("--seeds", type=int, default=8, help="copies at each point (default 8)")
    parser.add_argument("--every", type=int, default=1, help="only each N-th point (default 1: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="copies at once")
    parser.add_argument("--point", type=int, help="run this point alone, in this process")
    parser.add_argument("--seed", type=int, default=0, help="with --point: of which seed")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    if options.point is not None:
        problems = run_point((options.path or ["session"])[0], options.point, options.seed)
        print("\n".join(problems) or "nothing wrong")
        return int(bool(problems))
    results = []
    if not options.json:
        print(f"{'path':<22}{'cut points':>12}{'runs':>8}{'failures':>10}{'seconds':>9}")
    for name in options.path or PATHS:
        began = time.monotonic()
        result = run_path(name, options.seeds, options.every, options.jobs)
        results.append(result)
        if not options.json:
            seconds = time.monotonic() - began
            print(f"{name:<22}{result.points:>12}{result.runs:>8}{len(result.failures):>10}{seconds:>9.1f}")
            for failure in result.failures[:20]:
                print(f"  --path {name} --point {failure.point} --seed {failure.seed}: {failure.problem}")
            sys.stdout.flush()
    if options.json:
        table = [
            {
                "path": one.path,
                "points": one.points,
                "runs": one.runs,
                "failures": [[each.point, each.seed, each.problem] for each in one.failures],
            }
            for one in results
        ]
        print(json.dumps(table))
    return int(any(result.failures for result in results))


if __name__ == "__main__":
    sys.exit(main())
