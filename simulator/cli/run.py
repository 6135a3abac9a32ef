"""``egm run``: options in, a running machine, one ready line on standard output, an exit code.

Kept light, since the machine lives in this very process: argparse, and nothing of the panel's or the tools'
packages.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from firmware.control_program import config_file
from firmware.control_program.errors import ConfigError
from firmware.control_program.options import OPTIONS, PanelOptions, RunOptions, merge, parse_option
from hal.backends.watchdog import leave
from simulator.cli import DONE, USAGE, version
from simulator.machine_file import DataFolder
from simulator.stderr_log import StderrLog
from simulator.world_store import WorldFileError

_RESTARTS = "EGM_RESTARTS"
"""Environment variable by which a restarted machine knows how many quick restarts came before."""

CONFIG_SIZE_MAX = 1_000_000
"""Characters; a longer file was named by mistake."""

QUICK_RESTART_S = 10.0
QUICK_RESTARTS_MAX = 5

_log = logging.getLogger(__name__)


class StopSignals:
    """SIGTERM, Ctrl-C and a closed terminal are an orderly power-down, also when they come during the start."""

    def __init__(self) -> None:
        self._is_asked = False
        self._stop: Callable[[], None] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                self._before[number] = signal.signal(number, lambda *_: self._ask())
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def call(self, stop: Callable[[], None]) -> None:
        """Let ``stop`` be called from now on; at once if a signal has come already."""
        self._stop = stop
        if self._is_asked:
            stop()

    def _ask(self) -> None:
        self._is_asked = True
        if self._stop is not None:
            self._stop()


class _Parser(argparse.ArgumentParser):
    """Wrong usage as one sentence with exit code 2, like every other refusal."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def parser() -> argparse.ArgumentParser:
    """Return the parser: one argument a row of the option table."""
    made = _Parser(
        prog="egm run",
        description="Run one machine with a simulated cabinet until Ctrl-C.",
        epilog="example: egm run --data ./egm-data --denomination 25 --panel 127.0.0.1:0",
        allow_abbrev=False,
    )
    made.add_argument("--config", metavar="FILE", help="a TOML file; every option may stand in it")
    for option in OPTIONS:
        words = option.help.replace("%", "%%")
        if option.metavar is None:
            made.add_argument(f"--{option.name}", action="store_const", const=True, help=words)
        else:
            made.add_argument(f"--{option.name}", metavar=option.metavar, help=words)
    return made


def options_from(arguments: list[str]) -> RunOptions:
    """Return the options of a command line and the file it names. Raises ConfigError."""
    words = vars(parser().parse_args(arguments))
    config: dict[str, object] = {}
    if words["config"] is not None:
        config = config_file.parse(_read(words["config"]), words["config"])
    found = {
        option.key: parse_option(option, words[option.key])
        for option in OPTIONS
        if words[option.key] is not None
    }
    return merge(found, config)


def _read(name: str) -> str:
    try:
        with Path(name).open(encoding="utf-8") as file:
            text = file.read(CONFIG_SIZE_MAX + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ConfigError(f"cannot be read: {reason}", key="--config", value=name) from None
    if len(text) > CONFIG_SIZE_MAX:
        raise ConfigError("too long for a configuration file", key="--config", value=name)
    return text


def main(arguments: list[str]) -> int:
    """Run a machine; return the exit code."""
    restarts = int(os.environ.pop(_RESTARTS, "0"))
    try:
        options = options_from(arguments)
        logs = StderrLog()
        logs.start()
        try:
            with StopSignals() as signals:
                return _run(options, restarts, signals)
        finally:
            logs.stop()
    except (ConfigError, WorldFileError) as error:
        print(f"egm run: {error}", file=sys.stderr)
        return USAGE


def _run(options: RunOptions, restarts: int, signals: StopSignals) -> int:
    # Loaded here: a wrong word is refused, and --help answered, without the machine's modules.
    from simulator.panel.process import listen, reap_children
    from simulator.run_machine import Runner, assemble, panel_for, power_on

    with contextlib.ExitStack() as ends:
        folder = DataFolder(Path(options.data))
        ends.callback(folder.close)
        if restarts:
            reap_children()
        listener = None
        if options.panel is not None:
            listener = listen(options.panel.host, _port(options.panel, folder, restarts))
            ends.callback(listener.close)
        assembly = assemble(options, folder.path)
        ends.callback(assembly.close)
        panel = None
        if options.panel is not None and listener is not None:
            panel = panel_for(assembly.world, options.panel, listener, version())
            ends.callback(panel.close)
        runner = Runner(assembly, panel, options.time, _bite(restarts) if options.restart else None)
        ends.callback(runner.close)
        signals.call(runner.stop)
        ends.callback(signals.call, lambda: None)  # while the rest is closed, a second signal changes nothing
        power_on(assembly)
        places: dict[str, object] = {
            "sas": [link.url for link in assembly.links],
            "panel": None if panel is None else panel.url,
        }
        _tell_ready(places, folder, options, restarts)
        if panel is not None:
            panel.start()  # its port has been open for long: who is quicker than the panel waits in its queue
        runner.run()
    return DONE


def _port(panel: PanelOptions, folder: DataFolder, restarts: int) -> int:
    """A restarted machine comes back where it was, also when its port was a free one."""
    if panel.port == 0 and restarts:
        was = str(folder.read_ready().get("panel") or "").rstrip("/").rpartition(":")[2]
        if was.isdigit():
            return int(was)
    return panel.port


def _tell_ready(places: dict[str, object], folder: DataFolder, options: RunOptions, restarts: int) -> None:
    """Write the ready line to its file and, for the first start of this process, to standard output."""
    ready = {
        "event": "ready",
        "sas": places["sas"],
        "gat": None,  # a later version has a GAT line
        "panel": places["panel"],
        "data": str(folder.path),
        "version": version(),
        "pid": os.getpid(),
    }
    try:
        folder.write_ready(ready)
    except OSError as error:
        raise ConfigError(f"cannot write {folder.path}/machine.json: {error.strerror}") from None
    if restarts:
        _log.warning("started again after a watchdog exit")
        return
    try:
        print(json.dumps(ready), flush=True)
    except BrokenPipeError:
        _log.warning("nobody reads standard output")
    except OSError as error:
        raise ConfigError(f"cannot write the ready line to standard output: {error.strerror}") from None
    if sys.stderr.isatty() and not options.headless:
        print(f"SAS line  {ready['sas']}\npanel     {ready['panel']}\nCtrl-C powers down", file=sys.stderr)


def _bite(restarts: int) -> Callable[[], None]:
    """Return what the watchdog does with ``--restart``: the same process begins anew.

    Whoever started it still holds the machine by its process number, and killing that kills the machine.
    """
    began = time.monotonic()

    def bite() -> None:
        is_quick = time.monotonic() - began < QUICK_RESTART_S
        count = restarts + 1 if is_quick else 1
        if count > QUICK_RESTARTS_MAX:
            leave()
        os.environ[_RESTARTS] = str(count)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

    return bite
