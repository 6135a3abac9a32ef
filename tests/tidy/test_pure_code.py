"""Nothing pure opens, prints, asks for the time or loads code by name; and this check can fail."""

from __future__ import annotations

import pytest

from tests.tidy.purity import offences
from tests.tidy.source import Module, modules

PURE = ("firmware", "hal.ports", "hal.wire", "sas_protocol", "simulator.cabinet", "simulator.floor")
RIM = ("firmware.control_program",)
"""Parts of the packages above that meet the world by design (docs/ARCHITECTURE.md)."""


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def pure_modules() -> list[Module]:
    return [
        module for module in modules() if is_within(module.name, PURE) and not is_within(module.name, RIM)
    ]


@pytest.mark.parametrize("module", pure_modules(), ids=lambda module: module.name)
def test_pure_code_touches_nothing(module: Module) -> None:
    assert offences(module.text) == []


def test_the_pure_modules_are_found() -> None:
    names = {module.name for module in pure_modules()}
    assert {"firmware.core.meters", "hal.ports.links", "sas_protocol", "simulator.floor"} <= names
    assert not any(name.startswith("firmware.control_program") for name in names)


@pytest.mark.parametrize(
    ("source", "offence"),
    [
        ("open('x')", "1: open"),
        ("with open('x') as f:\n    pass", "1: open"),
        ("def f():\n    print('x')", "2: print"),
        ("shout = print", "1: print"),
        ("input()", "1: input"),
        ("eval('1')", "1: eval"),
        ("exec('1')", "1: exec"),
        ("compile('1', '', 'eval')", "1: compile"),
        ("breakpoint()", "1: breakpoint"),
        ("__import__('os')", "1: __import__"),
        ("__builtins__['open']", "1: __builtins__"),
        ("globals()['open']", "1: globals"),
        ("import importlib", "1: import importlib"),
        ("from importlib import import_module", "1: import importlib"),
        ("from importlib.resources import files", "1: import importlib.resources"),
        ("x.import_module('os')", "1: .import_module"),
        ("import datetime\ndatetime.datetime.now()", "2: .now"),
        ("from datetime import datetime as d\nd.utcnow()", "2: .utcnow"),
        ("from datetime import date\ntoday = date.today", "2: .today"),
        ("moment.astimezone()", "1: .astimezone()"),
        ("import time", "1: import time"),
        ("from time import time", "1: import time"),
        ("def f():\n    import os", "2: import os"),
        ("import os.path as p", "1: import os.path"),
        ("try:\n    import socket\nexcept ImportError:\n    pass", "2: import socket"),
        ("import pathlib", "1: import pathlib"),
        ("import random", "1: import random"),
        ("import secrets", "1: import secrets"),
        ("import threading", "1: import threading"),
        ("import asyncio", "1: import asyncio"),
        ("import logging", "1: import logging"),
        ("import sys", "1: import sys"),
        ("import ctypes", "1: import ctypes"),
        ("import numpy", "1: import numpy"),
        ("import serial", "1: import serial"),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import os", "4: import os"),
    ],
)
def test_each_offence_is_caught(source: str, offence: str) -> None:
    assert offences(source) == [offence]


@pytest.mark.parametrize(
    "source",
    [
        "import json, math, datetime",
        "from firmware.core.meters import METERS",
        "from . import sibling",
        "import re\nre.compile('x')",
        "link.open()",
        "state.now",  # a field of ours; nothing of datetime in sight
        "from datetime import datetime, UTC\ndatetime(2030, 1, 1, tzinfo=UTC).astimezone(UTC)",
        "if TYPE_CHECKING:\n    from pathlib import Path",
        "'print(1)'",
    ],
)
def test_what_is_allowed_passes(source: str) -> None:
    assert offences(source) == []
