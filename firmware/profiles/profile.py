"""A jurisdiction as data: every figure with its unit and the clauses it comes from.

Code asks a ``Profile`` for a figure and never for its name. The files beside this one say which figures New
Jersey, Pennsylvania and Maryland ask for; reading files is left to the caller. Every profile states every
entry, so that a figure nobody thought of is an error at boot and not a silent default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

NO_CLAUSE = "no clause"
"""Stands in a file where no clause asks for a figure: it is our decision, or the absence of a rule."""

NO_LIMIT = "none"
"""Stands in a file for the value of a rule that a jurisdiction does not have."""


class ProfileError(Exception):
    """A profile cannot be used: says file, key, what stands there and what is allowed."""

    def __init__(self, source: str, key: str, problem: str) -> None:
        super().__init__(f"{source}: {key}: {problem}")
        self.source = source
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Entry(Generic[Value]):
    """One figure. ``unit``: as in the file; shares (``percent``) are held as fractions of one.

    ``clauses``: ids of docs/law/requirements.tsv, empty where no clause asks for it.
    """

    value: Value
    unit: str
    clauses: tuple[str, ...]

    @property
    def citation(self) -> str:
        """The clauses as words."""
        return ", ".join(self.clauses) or NO_CLAUSE


@dataclass(frozen=True, slots=True)
class Profile:
    """One jurisdiction. What each entry means stands at its place below."""

    name: str
    title: str

    # Games: firmware.games.law says how each is measured.
    return_min: Entry[Fraction]
    return_min_at: Entry[str]
    return_below: Entry[Fraction | None]
    return_drop_ignored: Entry[Fraction]
    return_drops_total_max: Entry[Fraction]
    return_not_below_lowest_wager: Entry[bool]
    odds_max: Entry[int]
    combinations_at_every_wager: Entry[bool]
    neighbour_ratio_max: Entry[Fraction | None]

    # Money: defaults of the machine's limits, all inclusive.
    credit_limit: Entry[int]
    """The credit meter takes no more money that would bring it above."""
    handpay_limit: Entry[int]
    """The largest win the machine pays by itself; a larger one locks and is paid by an attendant."""
    voucher_limit: Entry[int]
    """The largest voucher; a larger cash-out is paid by an attendant."""
    wager_limit: Entry[int]
    """The largest bet of one game."""
    offline_vouchers_max: Entry[int]
    """How many vouchers may be issued while the validation host is silent."""

    # Memory and self-checks.
    history_games_min: Entry[int]
    history_results_min: Entry[int]
    """Results of bonus rounds, choices and free games that recall must hold at least."""
    retention_hours: Entry[int]
    """How long memory keeps its content without power."""
    code_check_hours_max: Entry[int]
    """How long one pass of the check of code in memory may take."""

    # Locks.
    printer_tilt_blocks_play: Entry[bool]

    # Meters, by key of firmware.core.meters.
    required_meters: Entry[tuple[str, ...]]
    meter_waivers: Entry[Mapping[str, str]]
    """Required meter that a machine may lack -> id of the waiver."""
    composite_meters: Entry[Mapping[str, tuple[str, ...]]]
    """Further meter the regulator orders -> the meters it is the sum of."""

    # Words.
    malfunction_text: Entry[str]

    def entries(self) -> dict[str, Entry[Any]]:
        """Every entry by its key, in the order of ``LAYOUT``."""
        return {key: getattr(self, key) for key in LAYOUT}


Reader = Callable[[object], Any]
"""Turns what TOML gave into a value; raises ValueError with what is allowed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How an entry is written: its unit and how its value is read."""

    unit: str
    read: Reader


def _whole(least: int) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"a whole number from {least} is allowed")
        return value

    return read


def _exact(value: object) -> Fraction:
    # Decimals arrive as Fraction (parse_float below), so that 0.01 is one hundredth and nothing near it.
    if isinstance(value, bool) or not isinstance(value, int | Fraction) or value < 0:
        raise ValueError("a number from 0 is allowed")
    return Fraction(value)


def _share(value: object) -> Fraction:
    return _exact(value) / 100


def _or_none(reader: Reader) -> Reader:
    def read(value: object) -> object:
        return None if value == NO_LIMIT else reader(value)

    return read


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is allowed")
    return value


def _choice(*words: str) -> Reader:
    def read(value: object) -> str:
        if value not in words:
            raise ValueError(f"allowed: {', '.join(words)}")
        return str(value)

    return read


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text is allowed")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ValueError("a list of names is allowed")
    if len(set(value)) != len(value):
        raise ValueError("each name may stand there once")
    return tuple(value)


def _mapping(reader: Reader) -> Reader:
    def read(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("a table is allowed")
        return {key: reader(item) for key, item in value.items()}

    return read


LAYOUT: Mapping[str, Kind] = {
    "return_min": Kind("percent", _share),
    "return_min_at": Kind("choice", _choice("every_wager", "lowest_wager")),
    "return_below": Kind("percent", _or_none(_share)),
    "return_drop_ignored": Kind("percent", _share),
    "return_drops_total_max": Kind("percent", _share),
    "return_not_below_lowest_wager": Kind("flag", _flag),
    "odds_max": Kind("to one", _whole(1)),
    "combinations_at_every_wager": Kind("flag", _flag),
    "neighbour_ratio_max": Kind("times", _or_none(_exact)),
    "credit_limit": Kind("cents", _whole(1)),
    "handpay_limit": Kind("cents", _whole(1)),
    "voucher_limit": Kind("cents", _whole(1)),
    "wager_limit": Kind("credits", _whole(1)),
    "offline_vouchers_max": Kind("vouchers", _whole(0)),
    "history_games_min": Kind("games", _whole(1)),
    "history_results_min": Kind("results", _whole(0)),
    "retention_hours": Kind("hours", _whole(1)),
    "code_check_hours_max": Kind("hours", _whole(1)),
    "printer_tilt_blocks_play": Kind("flag", _flag),
    "required_meters": Kind("meters", _names),
    "meter_waivers": Kind("waiver by meter", _mapping(_text)),
    "composite_meters": Kind("meters by meter", _mapping(_names)),
    "malfunction_text": Kind("text", _text),
}
"""Every entry of a profile: a new one is a row here, a field of ``Profile`` and a line in each file."""

_HEAD = ("name", "title", "includes", "included_clauses")


def parse_profile(text: str, source: str, read: Callable[[str], str]) -> Profile:
    """Read one profile.

    Args:
        text: the content of its file.
        source: what to call it in errors, usually its path.
        read: gives the text of another profile by name; asked only where this one has ``includes``.

    Raises:
        ProfileError: no TOML; a key unknown, missing or not allowed; an inclusion of an inclusion.
    """
    return _build(text, source, read, may_include=True)


def _build(text: str, source: str, read: Callable[[str], str], may_include: bool) -> Profile:
    try:
        content = tomllib.loads(text, parse_float=Fraction)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(source, "file", f"is not TOML: {error}") from error
    unknown = sorted(set(content) - set(LAYOUT) - set(_HEAD))
    if unknown:
        raise ProfileError(source, unknown[0], f"is not known; known: {', '.join((*_HEAD, *LAYOUT))}")
    entries = _included(content, source, read, may_include)
    for key, kind in LAYOUT.items():
        if key in content:
            entries[key] = _entry(content[key], source, key, kind)
        elif key not in entries:
            raise ProfileError(source, key, f"is missing; a table with value, unit = {kind.unit!r}, clauses")
    return Profile(name=_head(content, source, "name"), title=_head(content, source, "title"), **entries)


def _head(content: Mapping[str, Any], source: str, key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value:
        raise ProfileError(source, key, f"is {value!r}; text is needed")
    return value


def _included(
    content: Mapping[str, Any], source: str, read: Callable[[str], str], may_include: bool
) -> dict[str, Entry[Any]]:
    """The entries of the profile that this one starts from; empty if it stands alone."""
    if "includes" not in content:
        if "included_clauses" in content:
            raise ProfileError(source, "included_clauses", "makes sense only with includes")
        return {}
    name = _head(content, source, "includes")
    if not may_include:
        raise ProfileError(source, "includes", "a profile that is included may include none itself")
    if content.get("included_clauses") not in ("kept", NO_CLAUSE):
        raise ProfileError(
            source, "included_clauses", f"is {content.get('included_clauses')!r}; allowed: kept, {NO_CLAUSE}"
        )
    entries = _build(read(name), name, read, may_include=False).entries()
    if content["included_clauses"] == "kept":
        return entries
    return {key: Entry(entry.value, entry.unit, ()) for key, entry in entries.items()}


def _entry(table: object, source: str, key: str, kind: Kind) -> Entry[Any]:
    if not isinstance(table, dict) or set(table) != {"value", "unit", "clauses"}:
        raise ProfileError(source, key, "must be a table with exactly value, unit and clauses")
    if table["unit"] != kind.unit:
        raise ProfileError(source, f"{key}.unit", f"is {table['unit']!r}; {kind.unit!r} is allowed")
    try:
        value = kind.read(table["value"])
    except ValueError as error:
        raise ProfileError(source, f"{key}.value", f"is {table['value']!r}; {error}") from error
    return Entry(value, kind.unit, _clauses(table["clauses"], source, key))


def _clauses(value: object, source: str, key: str) -> tuple[str, ...]:
    if value == NO_CLAUSE:
        return ()
    if isinstance(value, list) and value and all(isinstance(clause, str) and clause for clause in value):
        return tuple(value)
    raise ProfileError(
        source, f"{key}.clauses", f'is {value!r}; a list of clause ids or "{NO_CLAUSE}" is allowed'
    )
