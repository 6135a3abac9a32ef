"""The command ``egm``: a table of commands, each loaded only when it is asked for.

A command that needs much (the mathematics) costs the others nothing, and one that is broken breaks no other.
Exit codes: 0 done, 1 the answer is "no", 2 wrong usage or configuration.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DONE, NO, USAGE = 0, 1, 2
"""Exit codes."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. ``module`` holds either ``app`` (typer) or ``main(arguments) -> exit code``."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "run": Command("simulator.cli.run", "run a machine with a simulated cabinet"),
    "cabinet": Command("simulator.cli.cabinet", "be the hands at a running machine: bill, press, door, wait"),
    "host": Command("simulator.cli.host", "be the host's end of a SAS line: poll, send, meters"),
    "game": Command("simulator.cli.game", "games: list, show, prove"),
    "rng": Command("simulator.cli.rng", "random numbers: sample, vectors"),
    "law": Command("simulator.cli.law", "clauses of law and the tests that show them"),
}

EXAMPLE = "egm run --data ./egm-data"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``egm ARGUMENTS`` and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _fill_standard_descriptors()
    try:
        code = dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output (head, less) has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = NO
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _fill_standard_descriptors() -> None:
    """Put the null device where the caller closed standard input, output or error.

    Else the next file that is opened gets that number, and a line of the log ends in critical memory.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    # Left open on purpose: they are the standard streams now.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123


def dispatch(words: list[str]) -> int:
    """Return the exit code of the command that ``words`` names."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return DONE if words else USAGE
    if words[0] == "--version":
        print(f"egm {version()}")
        return DONE
    command = COMMANDS.get(words[0])
    if command is None:
        print(f"egm: no such command as {words[0]!r}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return USAGE
    try:
        module = importlib.import_module(command.module)
    except ImportError as error:
        print(f"egm {words[0]}: cannot be loaded: {error}", file=sys.stderr)
        return USAGE
    own_main: Callable[[list[str]], int] | None = getattr(module, "main", None)
    if own_main is not None:
        return own_main(words[1:])
    return run_typer(module.app, words[0], words[1:])


def run_typer(app: Callable[..., object], name: str, arguments: list[str]) -> int:
    """Run a typer application and return its exit code, with usage errors as click tells them."""
    try:
        app(arguments, prog_name=f"egm {name}")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else (DONE if leaving.code is None else NO)
    return DONE


def usage() -> str:
    """Return the text of ``egm --help``."""
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: egm COMMAND [OPTIONS]",
            "",
            "An open electronic gaming machine.",
            "",
            "commands:",
            *lines,
            "",
            "egm COMMAND --help tells more, with an example.",
            "",
            f"example: {EXAMPLE}",
        ]
    )


@functools.cache
def version() -> str:
    """Return the version of the installed package, or ``0+unknown`` in a bare checkout."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("egm")
    except PackageNotFoundError:
        return "0+unknown"
