"""``egm law``: which clause of the law is shown by which test, and what that test said last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from simulator.law import markers, page, report, results
from simulator.law.clauses import REPOSITORY, REQUIREMENTS, LawError, complaint, load

app = typer.Typer(
    help="Clauses of the law, the tests that show them, and what those tests said last.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_STYLES = {"shown": "green", "partly": "yellow", "not_yet": "red", "not_a_program": "dim"}

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ResultsFile = Annotated[
    Path | None, typer.Option("--results", help="Results of a test run (pytest --law-report FILE).")
]


@app.command("report")
def report_command(
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page to this file.")] = None,
    results_file: ResultsFile = None,
    system: Annotated[str | None, typer.Option(help="Only clauses of this system, such as meters.")] = None,
    status: Annotated[str | None, typer.Option(help="Only clauses of this status, such as partly.")] = None,
) -> None:
    """Report every clause: shown, partly, not_yet or not_a_program.

    Exit code 1 if a test that carries a clause failed.

    Example: egm law report --system meters --html law.html
    """
    lines, outcomes = _lines(results_file)
    chosen = [
        line
        for line in lines
        if (system is None or line.clause.system == system)
        and (status is None or line.status.value == status)
    ]
    if not chosen:
        systems = ", ".join(sorted({line.clause.system for line in lines}))
        _refuse(f"no clause has that system and status; systems: {systems}; statuses: {', '.join(_STYLES)}")
    failed = report.failing(chosen)
    if html is not None:
        _write(html, page.render(chosen, outcomes.finished if outcomes else None))
    if as_json:
        document = {
            "finished": outcomes.finished if outcomes else None,
            "whole": outcomes.whole if outcomes else False,
            "summary": report.summary(chosen),
            "clauses": [line.as_json() for line in chosen],
        }
        typer.echo(json.dumps(document, indent=1))
    elif html is None:
        _print_table(chosen, outcomes, failed)
    raise typer.Exit(1 if failed else 0)


@app.command("show")
def show_command(
    clause: Annotated[str, typer.Argument(help="Id of the clause, such as NJ-28B-i-10.")],
    as_json: AsJson = False,
    results_file: ResultsFile = None,
) -> None:
    """Show one clause whole: its words, its acceptance, its tests.

    Example: egm law show NJ-28B-i-10
    """
    lines, _ = _lines(results_file)
    known = {line.clause.id: line for line in lines}
    if clause not in known:
        _refuse(complaint(clause, known))
    line = known[clause]
    if as_json:
        typer.echo(json.dumps(line.as_json(), indent=1))
        return
    typer.echo(f"{line.clause.id}  {line.status.value}  ({line.clause.source})")
    typer.echo(
        f"{line.clause.system}, {line.clause.kind}, applies to {' and '.join(line.clause.applies_to)}\n"
    )
    typer.echo(f"{line.clause.requirement}\n\nShown when: {line.clause.acceptance}\n")
    for test in line.tests:
        typer.echo(f"{test.outcome or 'has not run':11}  {test.test}")
        if test.partly:
            typer.echo(f"{'':11}  without: {test.partly}")
    if not line.tests:
        typer.echo("No test carries this clause.")


def _lines(results_file: Path | None) -> tuple[list[report.Line], results.Results | None]:
    """Join the table, the markers in the tests, and the results given or of the last run."""
    try:
        clauses = load(REQUIREMENTS)
        claims = markers.scan(REPOSITORY / "tests", REPOSITORY)
        path = results_file or (results.LAST_RUN if results.LAST_RUN.exists() else None)
        outcomes = results.read(path) if path else None
    except (LawError, SyntaxError) as error:
        _refuse(str(error))
    return report.build(clauses, claims, outcomes), outcomes


def _print_table(
    lines: Sequence[report.Line], outcomes: results.Results | None, failed: Sequence[str]
) -> None:
    console = Console()
    table = Table("clause", "status", "tests", "requirement", box=None, header_style="bold")
    for line in lines:
        word = line.status.value
        count = str(len(line.tests)) if line.tests else ""
        table.add_row(line.clause.id, f"[{_STYLES[word]}]{word}[/]", count, line.clause.requirement)
    console.print(table)
    counts = ", ".join(f"{count} {status}" for status, count in report.summary(lines).items())
    typer.echo(f"\n{len(lines)} clauses: {counts}")
    if outcomes is None:
        typer.echo("No test has run here yet, so nothing is shown: make test")
    else:
        extent = "every test" if outcomes.whole else "some tests, the others earlier"
        typer.echo(f"Results of {outcomes.finished} ({extent})")
    for test in failed:
        typer.echo(f"failed: {test}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        _refuse(f"cannot write {path}: {error.strerror}")


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"egm law: {sentence}", err=True)
    raise typer.Exit(2)
