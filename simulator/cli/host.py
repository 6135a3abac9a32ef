"""``egm host``: the host's end of a SAS line, on a pseudo-terminal, a serial port or TCP."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from sas_protocol.frames import ack, busy, nack
from sas_protocol.host_end import (
    Acked,
    Answered,
    Chirp,
    LongPollRequest,
    Nacked,
    NoticeReceived,
    RawRequest,
    Unanswered,
    WasBusy,
)
from sas_protocol.longpolls import LongPoll
from sas_protocol.longpolls.meters import SEND_EXTENDED_METERS
from simulator.cli import NO, USAGE, run_typer
from simulator.floor.sas_host import IDENTITY, READ_AFTER, CameOnline, SasHost, SasHostEvent, WentOffline
from simulator.floor.sas_meters import MeterSurvey
from simulator.floor.sas_words import Listener, read_host, read_machine, readable, request_from_hex
from simulator.host_line import HostLineError, open_host_line
from simulator.host_session import HostSession

PATIENCE_S = 3.0
"""A machine that has said nothing for so long is not there."""

app = typer.Typer(
    help="Be the host's end of a SAS line.\n\nExample: egm host poll egm-data/sas",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Url = Annotated[str, typer.Argument(help="pty:PATH, serial:DEVICE, tcp:HOST:PORT, or a path.")]
Address = Annotated[int, typer.Option(min=1, max=127, help="Address of the machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one a line.")]
Every = Annotated[int, typer.Option("--every", min=10, help="Milliseconds from poll to poll.")]
For = Annotated[float | None, typer.Option("--for", min=0, help="Seconds after which to end.")]
Count = Annotated[int | None, typer.Option(min=1, help="Notices after which to end.")]


def main(arguments: list[str]) -> int:
    """Run ``egm host ARGUMENTS`` and return the exit code."""
    try:
        return run_typer(app, "host", arguments)
    except HostLineError as error:
        print(f"egm host: {error}", file=sys.stderr)
        return USAGE


def _end(code: int, sentence: str) -> NoReturn:
    print(f"egm host: {sentence}", file=sys.stderr)
    raise typer.Exit(code)


@contextmanager
def _session(url: str, address: int, **options: Any) -> Iterator[HostSession]:
    with HostSession(open_host_line(url), lambda now_us: SasHost(address, now_us, **options)) as session:
        yield session


def _follow(session: HostSession, for_s: float | None, hear: Callable[[SasHostEvent], bool]) -> None:
    """Give ``hear`` what happens until it returns True, the time is over or somebody presses Ctrl-C."""
    try:
        for event in session.events(None if for_s is None else round(for_s * 1_000_000)):
            if hear(event):
                break
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        for event in session.leave():
            hear(event)


class _Silence:
    """Notice that no machine is there: nothing was understood since the start."""

    def __init__(self, url: str, address: int) -> None:
        self._where = f"nothing answers at address {address} on {url}"
        self._began_s = time.monotonic()
        self._is_over = False
        self._hint = ""

    def watch(self, event: SasHostEvent) -> None:
        """Take every event; end the command if a machine that never answered still does not."""
        if isinstance(event, Chirp):
            self._hint = f"; a machine there calls itself {event.address}"
        elif isinstance(event, Unanswered):
            if event.reason is not None:
                self._hint = f"; what comes is no answer ({event.reason.value.replace('_', ' ')})"
            if not self._is_over and time.monotonic() - self._began_s >= PATIENCE_S:
                self.complain()
        else:
            self._is_over = True

    def complain(self) -> NoReturn:
        """End the command with the sentence."""
        _end(NO, self._where + self._hint)

    @property
    def was_broken(self) -> bool:
        """Whether a machine answered at all."""
        return self._is_over


class _Printer:
    """Prints what is heard, as text or as a line of JSON, with the seconds since the start."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._began_s = time.monotonic()

    def show(self, kind: str, text: str, **facts: Any) -> None:
        """Print one line and flush it, so that a pipe hears it at once."""
        seconds = time.monotonic() - self._began_s
        if self._as_json:
            line = json.dumps({"time_s": round(seconds, 3), "kind": kind, **facts})
        else:
            line = f"{seconds:9.3f}  {text}"
        print(line, flush=True)

    def notice(self, notice: NoticeReceived) -> None:
        """Print a notice by name, with the facts of a real-time event."""
        reading = read_machine(bytes((0x80 | notice.frame[0],)), notice.frame)
        facts = dict(reading.fields) if notice.facts else {}
        words = " ".join(f"{name}={value}" for name, value in facts.items())
        self.show(
            "notice",
            f"{notice.code:02X} {notice.kind.name} {words}".rstrip(),
            code=f"{notice.code:02X}",
            name=notice.kind.name,
            facts=facts,
        )

    def state(self, event: CameOnline | WentOffline) -> None:
        """Print that the machine is there, or gone."""
        word = "online" if isinstance(event, CameOnline) else "offline"
        self.show(word, word)


@app.command()
def poll(
    url: Url,
    address: Address = 1,
    every: Every = 200,
    count: Count = None,
    for_s: For = None,
    real_time: Annotated[bool, typer.Option("--real-time", help="Turn real-time events on.")] = False,
    as_json: AsJson = False,
) -> None:
    """Poll a machine and print its news by name.

    Exit code 1 if nothing answers.

    Example: egm host poll egm-data/sas --for 10
    """
    printer, silence, left = _Printer(as_json), _Silence(url, address), count

    def hear(event: SasHostEvent) -> bool:
        nonlocal left
        silence.watch(event)
        if isinstance(event, CameOnline | WentOffline):
            printer.state(event)
        elif isinstance(event, NoticeReceived) and event.code:
            printer.notice(event)
            left = None if left is None else left - 1
        return left is not None and left <= 0

    with _session(url, address, period_us=every * 1000, real_time=real_time) as session:
        _follow(session, for_s, hear)
    if not silence.was_broken:
        silence.complain()


@app.command()
def send(
    url: Url,
    words: Annotated[list[str], typer.Argument(metavar="COMMAND [DATA]", help="Hexadecimal, without CRC.")],
    address: Address = 1,
    broadcast: Annotated[bool, typer.Option("--broadcast", help="Send it to every machine.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Add nothing: no address, length or CRC.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send one long poll and print its answer, raw and decoded. Length byte and CRC are added.

    Exit code 1 if the machine refuses, is busy or does not answer.

    Example: egm host send egm-data/sas 6F 0000A0
    """
    try:
        frame = bytes.fromhex("".join(words)) if raw else request_from_hex(0 if broadcast else address, words)
    except ValueError as error:
        _end(USAGE, str(error))
    if len(frame) < 2:
        _end(USAGE, "a long poll has an address and a command")
    with _session(url, address, period_us=None) as session:
        session.host.ask(RawRequest(frame))
        notices: list[NoticeReceived] = []
        answer = b""
        for event in session.events(None if frame[0] else 0):
            if isinstance(event, NoticeReceived):
                notices.append(event)
            elif not isinstance(event, CameOnline | WentOffline | Chirp):
                answer = _frame_of(event, address)
                break
    _print_exchange(frame, answer, notices, as_json)
    if frame[0] and (not answer or read_machine(frame, answer).kind in ("nack", "busy", "unreadable")):
        raise typer.Exit(NO)


def _frame_of(event: SasHostEvent, address: int) -> bytes:
    """The bytes of an answer; none if there was no answer."""
    match event:
        case Answered(frame=frame):
            return frame
        case Acked():
            return ack(address)
        case Nacked():
            return nack(address)
        case WasBusy():
            return busy(address)
    return b""


def _print_exchange(sent: bytes, answer: bytes, notices: list[NoticeReceived], as_json: bool) -> None:
    asked = read_host(sent)
    answered = read_machine(sent, answer) if answer else None
    events = [read_machine(sent, notice.frame) for notice in notices]
    if as_json:
        document = {
            "sent": sent.hex(" ").upper(),
            "request": asked.as_json(),
            "received": answer.hex(" ").upper() or None,
            "answer": answered.as_json() if answered else None,
            "events": [event.as_json() for event in events],
        }
        print(json.dumps(document, indent=1))
        return
    print(f"sent      {sent.hex(' ').upper()}  {asked.as_text()}")
    for notice, event in zip(notices, events, strict=True):
        print(f"meanwhile {notice.frame.hex(' ').upper()}  {event.as_text()}")
    if answered:
        print(f"received  {answer.hex(' ').upper()}  {answered.as_text()}")
    else:
        print("received  nothing" + ("" if sent[0] else ", as is right for a broadcast"))


@app.command()
def meters(
    url: Url,
    address: Address = 1,
    game: Annotated[int, typer.Option(min=0, max=9999, help="SAS game number; 0 is the machine.")] = 0,
    every_row: Annotated[bool, typer.Option("--all", help="Print meters that stand at zero too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read every meter that the machine reports.

    Exit code 1 if it reports none.

    Example: egm host meters egm-data/sas --json
    """
    survey = MeterSurvey(game)
    silence = _Silence(url, address)
    with _session(url, address, period_us=None) as session:
        session.host.ask(*survey.first())
        for event in session.events():
            silence.watch(event)
            if isinstance(event, Answered | Acked | Nacked | WasBusy | Unanswered):
                session.host.ask(*survey.take(event))
            if survey.is_done:
                break
    if not silence.was_broken:
        silence.complain()
    if survey.failure:
        _end(NO, survey.failure)
    if as_json:
        found = {value.meter.name: value.as_json(survey.denomination) for value in survey.found.values()}
        document = {
            "address": address, "game": game, "denomination_cents": survey.denomination, "meters": found,
        }  # fmt: skip
        print(json.dumps(document, indent=1))
        return
    _print_meters(survey, every_row)


def _print_meters(survey: MeterSurvey, every_row: bool) -> None:
    shown = [value for value in survey.found.values() if value.value or every_row]
    width = max((len(value.meter.name) for value in shown), default=0)
    for value in shown:
        cents = value.cents(survey.denomination)
        dollars = "" if cents is None else f"{cents / 100:>14,.2f}"
        meter = value.meter
        print(
            f"{meter.code:02X}  {meter.name:{width}}  {value.value:>12} {meter.unit.value:8}{dollars}".rstrip()
        )
    zeros = len(survey.found) - len(shown)
    print(f"{len(survey.found)} meters" + (f", {zeros} at zero (--all shows them)" if zeros else ""))


WATCHED = {0x0C: "credits", 0x00: "coin in", 0x01: "coin out", 0x0B: "bills", 0x05: "games"}
"""Meters that ``watch`` follows."""
_WATCHED_REQUEST = LongPollRequest(SEND_EXTENDED_METERS, {"game": 0, "meters": tuple(WATCHED)})


@app.command()
def watch(
    url: Url,
    address: Address = 1,
    every: Every = 200,
    for_s: For = None,
    as_json: AsJson = False,
) -> None:
    """Keep a machine company: who it is, its news with their facts, and the meters that move.

    Exit code 1 if nothing answers.

    Example: egm host watch egm-data/sas
    """
    printer, silence = _Printer(as_json), _Silence(url, address)
    known: dict[int, int] = {}

    def hear(event: SasHostEvent) -> bool:
        silence.watch(event)
        match event:
            case CameOnline() | WentOffline():
                printer.state(event)
            case NoticeReceived() if event.code:
                printer.notice(event)
            case Answered(request=request, values=values) if request == _WATCHED_REQUEST:
                _print_moves(printer, known, values["meters"])
            case Answered(poll=LongPoll(name=name), values=values):
                facts = readable(values)
                words = " ".join(f"{field}={value}" for field, value in facts.items())
                printer.show("answer", f"{name} {words}", name=name, fields=facts)
        return False

    follows = {code: (*READ_AFTER.get(code, ()), _WATCHED_REQUEST) for code in range(1, 256)}
    period_us = every * 1000
    with _session(url, address, period_us=period_us, reads_after=follows, real_time=True) as session:
        session.host.ask(_WATCHED_REQUEST, *IDENTITY)
        _follow(session, for_s, hear)
    if not silence.was_broken:
        silence.complain()


def _print_moves(
    printer: _Printer, known: dict[int, int], items: tuple[tuple[int, int, int | None], ...]
) -> None:
    """Print the watched meters if one of them moved."""
    values = {code: value for code, _, value in items if value is not None}
    if values == known:
        return
    known.clear()
    known.update(values)
    facts = {WATCHED[code]: value for code, value in values.items()}
    printer.show("meters", ", ".join(f"{name} {value}" for name, value in facts.items()), meters=facts)


@app.command()
def decode(
    file: Annotated[Path, typer.Argument(help="A file of messages, or - for standard input.")],
    as_json: AsJson = False,
) -> None:
    """Decode recorded messages: one a line in hexadecimal; > before a host's, < before a machine's.

    Without > and < a message is taken as an answer where it can be one. # begins a comment.

    Exit code 1 if a message cannot be read.

    Example: echo '> 01 1A' | egm host decode -
    """
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _end(USAGE, f"cannot read {file}: {getattr(error, 'strerror', None) or error}")
    listener, is_readable = Listener(), True
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        sender: Literal["host", "machine", ""] = ""
        if written[0] in "<>":
            sender = "host" if written[0] == ">" else "machine"
        try:
            frame = bytes.fromhex(written.lstrip("<> "))
        except ValueError:
            _end(USAGE, f"{file}:{number}: {written!r} is not hexadecimal")
        reading = listener.hear(frame, sender)
        is_readable = is_readable and reading.kind != "unreadable"
        if as_json:
            print(json.dumps({"line": number, "bytes": frame.hex(" ").upper(), **reading.as_json()}))
        else:
            print(f"{frame.hex(' ').upper()}  {reading.as_text()}")
    if not is_readable:
        raise typer.Exit(NO)
