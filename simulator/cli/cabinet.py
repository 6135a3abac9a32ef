"""``egm cabinet``: the hands of a person at a running machine, through its HTTP routes."""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from simulator.cli import NO, USAGE, run_typer
from simulator.machine_file import is_left_behind

app = typer.Typer(
    help="Be the hands at a running machine.\n\nExample: egm cabinet bill 20",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Answer = dict[str, object]

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Switch = Annotated[str, typer.Argument(metavar="on|off", help="on or off.")]


@dataclass(slots=True)
class Panel:
    """Where the machine's panel is, and the token it asks for."""

    url: str
    token: str

    def ask(self, method: str, path: str, body: Answer | None = None, timeout_s: float = 70.0) -> Answer:
        """Return the machine's JSON answer, or end the command: 1 for "no", 2 for wrong usage."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(urllib.parse.urljoin(self.url, path), data, method=method)
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout_s) as response:
                answer: Answer = json.load(response)
        except urllib.error.HTTPError as error:
            _end_with_problem(error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            _end(USAGE, f"no machine answers at {self.url}: {reason}")
        return answer


def _end(code: int, sentence: str) -> NoReturn:
    print(f"egm cabinet: {sentence}", file=sys.stderr)
    raise typer.Exit(code)


def _end_with_problem(error: urllib.error.HTTPError) -> NoReturn:
    try:
        problem: Answer = json.load(error)
    except ValueError:
        problem = {"title": str(error)}
    words = ": ".join(str(problem[part]) for part in ("title", "detail") if problem.get(part))
    allowed = problem.get("allowed")
    if isinstance(allowed, list) and allowed:
        words += "; allowed: " + ", ".join(str(item) for item in allowed)
    # A time that ran out is an answer; everything else is a question that was wrong.
    _end(NO if error.code in (408, 504) else USAGE, words)


_PLACED_FIRST = ("--data", "--url", "--token")


def main(arguments: list[str]) -> int:
    """Run ``egm cabinet ARGUMENTS`` and return the exit code. Its options may stand anywhere among them."""
    first: list[str] = []
    rest: list[str] = []
    last: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _PLACED_FIRST:
            first += [word, *(value for value in [next(words, None)] if value is not None)]
        elif word.startswith(tuple(f"{option}=" for option in _PLACED_FIRST)):
            first.append(word)
        else:
            (last if word == "--json" else rest).append(word)
    return run_typer(app, "cabinet", first + rest + last)


@app.callback()
def where(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Data folder of the machine.")] = Path("egm-data"),
    url: Annotated[str, typer.Option(help="URL of the panel instead.")] = "",
    token: Annotated[str, typer.Option(help="Token the panel asks for (or EGM_PANEL_TOKEN).")] = "",
) -> None:
    """Be the hands at a running machine.

    Example: egm cabinet --data ./egm-data bill 20
    """
    if url and not url.startswith(("http://", "https://")):
        _end(USAGE, f"{url!r} is no URL of a panel such as http://127.0.0.1:8080/")
    token = token or os.environ.get("EGM_PANEL_TOKEN", "")
    context.obj = lambda: Panel(url or _panel_of(data), token)


def _panel_of(data: Path) -> str:
    try:
        ready: Answer = json.loads((data / "machine.json").read_text())
    except (OSError, ValueError):
        _end(
            USAGE, f"no machine runs on {data} (it has no machine.json); start one with egm run --data {data}"
        )
    if is_left_behind(data):
        _end(
            USAGE,
            f"no machine runs on {data}: the one that did was killed; start it with egm run --data {data}",
        )
    panel = ready.get("panel")
    if not isinstance(panel, str):
        _end(USAGE, f"the machine on {data} runs without a panel")
    return panel


def _panel(context: typer.Context) -> Panel:
    find: Callable[[], Panel] = context.obj
    return find()


def _show(answer: Answer, as_json: bool, text: str) -> None:
    print(json.dumps(answer) if as_json else text)


def _on(word: str, on: tuple[str, ...] = ("on",), off: tuple[str, ...] = ("off",)) -> bool:
    if word in on:
        return True
    if word in off:
        return False
    _end(USAGE, f"{word!r} is neither {on[0]} nor {off[0]}")


def cents_of(amount: str) -> int:
    """Return the cents of an amount in dollars, such as ``20`` or ``0.50``. Raises ValueError."""
    match = re.fullmatch(r"\$?([0-9]{1,9})(?:\.([0-9]{2}))?", amount)
    if match is None:
        raise ValueError(f"{amount!r} is not an amount in dollars such as 20 or 0.50")
    return int(match[1]) * 100 + int(match[2] or 0)


def seconds_of(text: str) -> float:
    """Return the seconds of a duration: ``5``, ``5s``, ``500ms`` or ``2m``. Raises ValueError."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|)", text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 5s, 500ms or 2m")
    return float(match[1]) * {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0}[match[2]]


@app.command()
def bill(context: typer.Context, dollars: Annotated[str, typer.Argument()], as_json: Json = False) -> None:
    """Put a note in and say what became of it (exit code 1 unless it was stacked).

    Example: egm cabinet bill 20
    """
    try:
        cents = cents_of(dollars)
    except ValueError as error:
        _end(USAGE, str(error))
    answer = _panel(context).ask("POST", "/api/cabinet/bill", {"cents": cents})
    reason = f" ({answer['reason']})" if answer.get("reason") else ""
    _show(answer, as_json, f"{answer['result']}{reason}")
    raise typer.Exit(0 if answer["result"] == "stacked" else NO)


@app.command()
def press(context: typer.Context, button: Annotated[str, typer.Argument()], as_json: Json = False) -> None:
    """Press a button.

    Example: egm cabinet press spin
    """
    answer = _panel(context).ask("POST", "/api/cabinet/press", {"button": button})
    _show(answer, as_json, f"pressed {button}")


@app.command()
def door(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="DOOR")],
    position: Annotated[str, typer.Argument(metavar="open|closed")],
    as_json: Json = False,
) -> None:
    """Open or close a door.

    Example: egm cabinet door main open
    """
    is_open = _on(position, ("open",), ("closed", "close", "shut"))
    answer = _panel(context).ask("POST", "/api/cabinet/door", {"door": name, "open": is_open})
    _show(answer, as_json, f"{name} door is {'open' if is_open else 'closed'}")


@app.command()
def key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="KEY")],
    on: Switch,
    as_json: Json = False,
) -> None:
    """Turn a key on or off.

    Example: egm cabinet key reset on
    """
    answer = _panel(context).ask("POST", "/api/cabinet/key", {"key": name, "on": _on(on)})
    _show(answer, as_json, f"{name} key is {on}")


@app.command()
def stacker(
    context: typer.Context,
    position: Annotated[str, typer.Argument(metavar="out|in")],
    as_json: Json = False,
) -> None:
    """Take the note box out or put it back.

    Example: egm cabinet stacker out
    """
    removed = _on(position, ("out",), ("in",))
    answer = _panel(context).ask("POST", "/api/cabinet/stacker", {"removed": removed})
    _show(answer, as_json, f"note box is {position}")


@app.command()
def power(context: typer.Context, on: Switch, as_json: Json = False) -> None:
    """Cut or restore the machine's power.

    Example: egm cabinet power off
    """
    answer = _panel(context).ask("POST", "/api/cabinet/power", {"on": _on(on)})
    _show(answer, as_json, f"power is {on}")


@app.command()
def fault(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="What it happens to; none lists all.")] = "",
    kind: Annotated[str, typer.Argument(help="What happens.")] = "",
    count: Annotated[int, typer.Option(min=0, help="How many times (0: the kind's own).")] = 0,
    lasting: Annotated[str, typer.Option("--for", help="How long, such as 5s.")] = "",
    clear: Annotated[bool, typer.Option("--clear", help="End it instead; all, without a target.")] = False,
    as_json: Json = False,
) -> None:
    """Inject a fault, end it, or list what exists.

    Example: egm cabinet fault bill_acceptor jam_in_stack --count 1
    """
    panel = _panel(context)
    if clear:
        place = (
            f"/{urllib.parse.quote(target, safe='')}/{urllib.parse.quote(kind, safe='')}" if target else ""
        )
        _show(panel.ask("DELETE", f"/api/fault{place}"), as_json, "cleared")
        return
    if not target:
        answer = panel.ask("GET", "/api/fault")
        _show(answer, as_json, _fault_list(answer))
        return
    body: Answer = {"target": target, "kind": kind}
    if count:
        body["count"] = count
    if lasting:
        try:
            body["milliseconds"] = round(seconds_of(lasting) * 1000)
        except ValueError as error:
            _end(USAGE, str(error))
    _show(panel.ask("POST", "/api/fault", body), as_json, f"{target}: {kind}")


def _fault_list(answer: Answer) -> str:
    lines = []
    known = answer.get("known")
    active = answer.get("active")
    for target, kinds in known.items() if isinstance(known, dict) else ():
        lines += [f"{target} {kind}: {words}" for kind, words in kinds.items()]
    for item in active if isinstance(active, list) else ():
        lines.append(f"at work: {item['target']} {item['kind']}")
    return "\n".join(lines) or "no faults exist"


@app.command()
def wait(
    context: typer.Context,
    event: Annotated[list[str], typer.Argument(help="Name of the event; any of several.")],
    timeout: Annotated[str, typer.Option(help="Such as 5s, 500ms, 2m.")] = "30s",
    after: Annotated[int, typer.Option(min=-1, help="Sequence number it comes after (-1: now).")] = -1,
    as_json: Json = False,
) -> None:
    """Wait for an event (exit code 1 if none comes in time).

    Example: egm cabinet wait game_ended --timeout 5s
    """
    try:
        seconds = seconds_of(timeout)
    except ValueError as error:
        _end(USAGE, str(error))
    query: list[tuple[str, str]] = [("event", name) for name in event]
    query.append(("timeout", f"{seconds:g}"))
    if after >= 0:
        query.append(("after", str(after)))
    path = "/api/wait?" + urllib.parse.urlencode(query)
    answer = _panel(context).ask("GET", path, timeout_s=seconds + 15)
    facts = {name: value for name, value in answer.items() if name not in ("sequence", "time_us", "event")}
    _show(
        answer,
        as_json,
        f"{answer['sequence']} {answer['event']} {json.dumps(facts) if facts else ''}".rstrip(),
    )


@app.command()
def state(context: typer.Context, as_json: Json = False) -> None:
    """Show what a person standing there could see.

    Example: egm cabinet state --json
    """
    answer = _panel(context).ask("GET", "/api/state")
    _show(
        answer,
        as_json,
        "\n".join(f"{name}: {_plain(value)}" for name, value in answer.items() if name != "meters"),
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
