"""The report as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from simulator.law.report import Line, summary

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222 }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #ddd }
th { position: sticky; top: 0; background: #fff }
code { font-size: .85em }
.shown { color: #05682b } .partly { color: #8a5a00 } .not_yet { color: #a11 } .not_a_program { color: #666 }
"""


def render(lines: Sequence[Line], finished: str | None) -> str:
    """Return the whole page. ``finished``: when the tests ran, as text, or None if they never did."""
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in summary(lines).items())
    when = f"Tests finished {escape(finished)}." if finished else "No test has run yet."
    rows = "\n".join(_row(line) for line in lines)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Clauses and the tests that show them</title>
<style>{_STYLE}</style></head><body>
<h1>Clauses and the tests that show them</h1>
<p>{when} {len(lines)} clauses: {counts}.</p>
<table><thead><tr><th>Clause</th><th>Status</th><th>Requirement and acceptance</th><th>Tests</th></tr></thead>
<tbody>
{rows}
</tbody></table></body></html>
"""


def _row(line: Line) -> str:
    clause, status = line.clause, line.status.value
    tests = "<br>".join(
        f"<code>{escape(test.test)}</code> {escape(test.outcome or 'has not run')}"
        + (f", without: {escape(test.partly)}" if test.partly else "")
        for test in line.tests
    )
    return (
        f'<tr id="{escape(clause.id)}"><td><b>{escape(clause.id)}</b><br>{escape(clause.source)}</td>'
        f'<td class="{status}">{status.replace("_", " ")}</td>'
        f"<td>{escape(clause.requirement)}<br><small>{escape(clause.acceptance)}</small></td><td>{tests}</td></tr>"
    )
