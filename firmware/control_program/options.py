"""The options of a machine: one table row each, from the command line or from a configuration file.

A row says the name, the default, what is allowed and how a text or a TOML value becomes the option's value.
Reading files is left to the caller (``config_file.parse`` takes text); what an option *means* is left to the
part that uses it, so a profile or game that does not exist is found when the machine is built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from firmware.control_program.errors import ConfigError

DENOMINATIONS_CENTS = (
    *(1, 2, 3, 5, 10, 15, 20, 25, 40, 50, 100, 200, 250, 500, 1_000, 2_000, 2_500, 5_000),
    *(10_000, 20_000, 25_000, 50_000, 100_000, 200_000, 250_000, 500_000),
)
"""Accounting denominations in cents: those with a SAS code (SAS reference 9.1), none below a cent."""

DUTIES = ("general", "validation", "aft", "legacy_bonus", "progressive", "game_events", "central_control")
"""What a SAS line may be trusted with (decisions, "SAS"). Central control is never given by default."""

DEFAULT_DUTIES = tuple(duty for duty in DUTIES if duty != "central_control")
"""What a single host is trusted with."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this computer that no other computer reaches."""

DEFAULT_PANEL = ("127.0.0.1", 8080)

LINE_KINDS = ("pty", "tcp", "memory")
"""Kinds of line URL that a back end exists for."""


@dataclass(frozen=True, slots=True)
class SasLineOptions:
    """One SAS line. ``url`` empty: the default place in the data folder. ``address``: 1..127.

    ``duties`` is ``None`` until ``merge`` has divided the duties that no line claims.
    """

    url: str = ""
    address: int = 1
    behaviour: str = "reference"
    duties: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """What the control program is built from. The first start seeds critical memory with it.

    ``games``: names, empty for the standard set. ``denomination``: cents. ``asset``: 0..2**32-1.
    ``serial``: 1..40 printable ASCII characters. ``seed``: ``None`` for real chance.
    ``validation_id``: 1..0xFFFFFF, or ``None`` until a host sets it. ``game_id`` two and ``additional_id``
    three ASCII characters (SAS poll 1F).
    """

    profile: str = "nj"
    games: tuple[str, ...] = ()
    denomination: int = 1
    asset: int = 1
    serial: str = "SIM00001"
    sas_version: str = "602"
    seed: int | None = None
    validation: str = "enhanced"
    validation_id: int | None = 0x000001
    game_id: str = "EM"
    additional_id: str = "000"


@dataclass(frozen=True, slots=True)
class TimeMode:
    """``real``; ``free``: as fast as it can; ``paced``: ``factor`` simulated seconds a second."""

    name: str = "real"
    factor: int = 1


@dataclass(frozen=True, slots=True)
class PanelOptions:
    """Where the panel listens. ``port`` 0 picks a free one; ``token`` ``""`` asks nobody for one."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str = ""
    insecure: bool = False
    tester: bool = True


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Everything that ``egm run`` may be told. ``panel`` is ``None`` for none."""

    machine: MachineOptions = field(default_factory=MachineOptions)
    sas: tuple[SasLineOptions, ...] = (SasLineOptions(duties=DEFAULT_DUTIES),)
    data: str = "./egm-data"
    cabinet: str = "simulated"
    panel: PanelOptions | None = field(default_factory=PanelOptions)
    time: TimeMode = field(default_factory=TimeMode)
    headless: bool = False
    restart: bool = False


# --- from a text or a TOML value to the option's value -----------------------------------------------

Parse = Callable[[object], object]


def _integer(low: int, high: int) -> Parse:
    def parse(value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,80}", value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("not a whole number")
        if not low <= value <= high:
            raise ValueError("out of range")
        return value

    return parse


def _one_of(*choices: object) -> Parse:
    def parse(value: object) -> object:
        for choice in choices:
            if str(value) == str(choice) and not isinstance(value, bool | list | dict):
                return choice
        raise ValueError("not one of them")

    return parse


def _text(pattern: str) -> Parse:
    def parse(value: object) -> str:
        if not isinstance(value, str) or re.fullmatch(pattern, value) is None:
            raise ValueError("not understood")
        return value

    return parse


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _names(value: object) -> tuple[str, ...]:
    found = value.split(",") if isinstance(value, str) else value
    if not isinstance(found, list) or not found:
        raise ValueError("not a list of names")
    names = tuple(name.strip() if isinstance(name, str) else "" for name in found)
    if "" in names or len(set(names)) != len(names):
        raise ValueError("a name is empty or stands twice")
    return names


def _duties(value: object) -> tuple[str, ...]:
    duties = () if value == [] else _names(value)
    for duty in duties:
        if duty not in DUTIES:
            raise ValueError(f"no such duty as {duty}")
    return duties


def _validation_id(value: object) -> int | None:
    if value == "none":
        return None
    if not isinstance(value, str) or re.fullmatch(r"[0-9A-Fa-f]{1,6}", value) is None or int(value, 16) == 0:
        raise ValueError("not a validation ID")
    return int(value, 16)


def _line_url(value: object) -> str:
    text = _text(r"\S{1,1000}")(value)
    kind, colon, place = str(text).partition(":")
    if not colon or kind not in LINE_KINDS or not place:
        raise ValueError("not a line URL")
    if kind == "tcp" and re.fullmatch(r".*:[0-9]{1,5}(\?.*)?", place) is None:
        raise ValueError("a tcp: URL needs a host and a port")
    return str(text)


def _panel(value: object) -> tuple[str, int] | None:
    if value == "off":
        return None
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})", str(_text(r"\S+")(value)))
    if match is None or int(match[2]) > 65_535:
        raise ValueError("not understood")
    return match[1].strip("[]"), int(match[2])


def _time_mode(value: object) -> TimeMode:
    if value in ("real", "free"):
        return TimeMode(str(value))
    match = re.fullmatch(r"x([0-9]{1,4})", value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError("not understood")
    return TimeMode("paced", int(match[1]))


def _no_gat(value: object) -> str:
    if value != "off":
        raise ValueError("this version has no GAT line yet")
    return "off"


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``name`` as on the command line without its dashes; ``metavar`` ``None``: a switch."""

    name: str
    metavar: str | None
    parse: Parse
    allowed: str
    help: str

    @property
    def key(self) -> str:
        """The name in a configuration file."""
        return self.name.replace("-", "_")


_FILE_NAME = r"[^\0]{1,4000}"
_LINE_URLS = "pty:LINK, tcp:HOST:PORT or memory:NAME"

OPTIONS: tuple[Option, ...] = (
    Option("data", "DIR", _text(_FILE_NAME), "a folder", "the machine's memory and identity (./egm-data)"),
    Option(
        "cabinet",
        "FILE",
        _one_of("simulated"),
        "simulated",
        "cabinet; only the simulated one so far (simulated)",
    ),
    Option("profile", "NAME", _text(r"\S{1,1000}"), "a profile's name", "jurisdiction: nj, pa, md (nj)"),
    Option("games", "A,B", _names, "names parted by commas, each once", "games offered (the standard set)"),
    Option(
        "denomination",
        "CENTS",
        _one_of(*DENOMINATIONS_CENTS),
        "whole cents that SAS has a code for: " + ", ".join(str(cents) for cents in DENOMINATIONS_CENTS),
        "accounting denomination (1)",
    ),
    Option("sas", "URL", _line_url, _LINE_URLS, "where the first SAS line is (pty:DATA/sas)"),
    Option("sas-address", "N", _integer(1, 127), "1 to 127", "SAS address (1)"),
    Option("behaviour", "NAME", _text(r"[a-z0-9_.-]{1,64}"), "a behaviour's name", "dialect (reference)"),
    Option(
        "validation",
        "KIND",
        _one_of("standard", "enhanced", "system"),
        "standard, enhanced, system",
        "who makes a voucher's number (enhanced)",
    ),
    Option(
        "validation-id",
        "HEX",
        _validation_id,
        "1 to 6 hexadecimal digits, not zero, or none",
        "validation ID; none waits for the host's (000001)",
    ),
    Option("asset", "N", _integer(0, 0xFFFF_FFFF), "0 to 4294967295", "asset number (1)"),
    Option(
        "serial",
        "TEXT",
        _text(r"[ -~]{1,40}"),
        "1 to 40 printable ASCII characters",
        "serial number (SIM00001)",
    ),
    Option("sas-version", "602|603", _one_of("602", "603"), "602, 603", "SAS version reported (602)"),
    Option("game-id", "TEXT", _text(r"[ -~]{2}"), "two ASCII characters", "SAS game ID (EM)"),
    Option("additional-id", "TEXT", _text(r"[ -~]{3}"), "three ASCII characters", "SAS additional ID (000)"),
    Option("gat", "URL", _no_gat, "off", "where the GAT line is (off: a later version has one)"),
    Option("panel", "HOST:PORT", _panel, "HOST:PORT or off", "panel and HTTP routes (127.0.0.1:8080)"),
    Option("panel-token", "TEXT", _text(r"[!-~]{8,200}"), "8 to 200 ASCII characters", "asked of callers"),
    Option("insecure", None, _switch, "true or false", "allow a panel without TLS beyond this computer"),
    Option("no-tester", None, _switch, "true or false", "leave out hands, faults and snapshots"),
    Option("seed", "N", _integer(0, 2**64 - 1), "0 to 2**64-1", "repeatable chance, for tests"),
    Option("time", "MODE", _time_mode, "real, free, or x1 to x9999", "pace of simulated time (real)"),
    Option("headless", None, _switch, "true or false", "log lines only"),
    Option("restart", None, _switch, "true or false", "start again after a watchdog exit (86)"),
)

BY_KEY: Mapping[str, Option] = {option.key: option for option in OPTIONS}

SAS_TABLE: Mapping[str, Option] = {
    "url": Option("url", "URL", _line_url, _LINE_URLS, ""),
    "address": Option("address", "N", _integer(1, 127), "1 to 127", ""),
    "behaviour": Option("behaviour", "NAME", _text(r"[a-z0-9_.-]{1,64}"), "a behaviour's name", ""),
    "duties": Option("duties", "LIST", _duties, "some of: " + ", ".join(DUTIES), ""),
}
"""Keys of a ``[[sas]]`` table."""

Found = Mapping[str, object]
"""Option key → parsed value; ``sas`` holds a URL or a tuple of ``SasLineOptions``."""


def parse_option(option: Option, value: object, source: str = "") -> object:
    """Return one option's value. ``source``: file name, ``""`` for the command line. Raises ConfigError."""
    key = option.key if source else f"--{option.name}"
    try:
        return option.parse(value)
    except ValueError as error:
        raise ConfigError(str(error), source=source, key=key, value=value, allowed=option.allowed) from None


def merge(command_line: Found, config: Found) -> RunOptions:
    """Return the options of a run: the command line over the configuration file over the defaults.

    Raises ConfigError where options contradict each other.
    """
    found: dict[str, object] = {**config, **command_line}
    options = RunOptions(
        machine=_machine(found),
        sas=_lines(command_line, config),
        panel=_panel_options(found),
        **_only(found, "data", "cabinet", "time", "headless", "restart"),  # type: ignore[arg-type]
    )
    _check_time(options)
    _check_lines(options.sas)
    return options


def _only(found: Found, *keys: str) -> dict[str, object]:
    return {key: found[key] for key in keys if key in found}


def _machine(found: Found) -> MachineOptions:
    return MachineOptions(**_only(found, *MachineOptions.__dataclass_fields__))  # type: ignore[arg-type]


def _lines(command_line: Found, config: Found) -> tuple[SasLineOptions, ...]:
    """Tables of the file are the lines; ``--sas``, ``--sas-address`` and ``--behaviour`` change the first."""
    tables = config.get("sas")
    lines = list(tables) if isinstance(tables, tuple) and tables else [SasLineOptions()]
    for layer in (config, command_line):
        for key, name in (("sas", "url"), ("sas_address", "address"), ("behaviour", "behaviour")):
            if key in layer and not isinstance(layer[key], tuple):
                lines[0] = replace(lines[0], **{name: layer[key]})
    return _divide_duties(lines)


def _divide_duties(lines: list[SasLineOptions]) -> tuple[SasLineOptions, ...]:
    """The first line without a list of its own has every duty that no line claims; later ones have none."""
    claimed = {duty for line in lines for duty in line.duties or ()}
    rest = tuple(duty for duty in DEFAULT_DUTIES if duty not in claimed)
    divided = []
    for line in lines:
        if line.duties is None:
            line, rest = replace(line, duties=rest), ()
        divided.append(line)
    return tuple(divided)


def _panel_options(found: Found) -> PanelOptions | None:
    place = found.get("panel", DEFAULT_PANEL)
    if not isinstance(place, tuple):
        return None
    host, port = place
    token, insecure = str(found.get("panel_token", "")), bool(found.get("insecure", False))
    if host not in LOOPBACK and not (token and insecure):
        raise ConfigError(
            "a panel that other computers reach needs --panel-token TEXT and, as it has no TLS, --insecure",
            key="--panel",
            value=f"{host}:{port}",
        )
    return PanelOptions(host, port, token, insecure, tester=not found.get("no_tester", False))


def _check_time(options: RunOptions) -> None:
    outside = [line.url for line in options.sas if not line.url.startswith("memory:")]
    if options.time.name != "real" and outside:
        raise ConfigError(
            f"only real time suits a line to the outside, and the SAS line is {outside[0] or 'pty:DATA/sas'}",
            key="--time",
            value="free" if options.time.name == "free" else f"x{options.time.factor}",
            allowed="real, or any mode with --sas memory:NAME",
        )


def _check_lines(lines: tuple[SasLineOptions, ...]) -> None:
    """Two lines cannot be at one place, and a duty belongs to one line only (SAS reference 1)."""
    urls = [line.url for line in lines]
    for url in urls:
        if urls.count(url) > 1:
            raise ConfigError(f"two SAS lines are at {url or 'the default place'}; give each its own url")
    for duty in DUTIES:
        if sum(duty in (line.duties or ()) for line in lines) > 1:
            raise ConfigError(f"two SAS lines have the duty {duty}; leave it to one of them")
