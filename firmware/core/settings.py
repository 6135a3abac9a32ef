"""The settings table: what the operator may set, in which range, and where its default comes from.

Values are integers (cents, counts, flags, microseconds). They change only while the machine is idle without
credits (NJ 1.28B(h)); each change is logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firmware.core.effects import Asked, Report


@dataclass(frozen=True, slots=True)
class Setting:
    """One row.

    Args:
        key: name.
        slot: place in critical memory, never reused.
        unit: ``cents``, ``count``, ``flag``, ``us`` or ``bits``.
        low, high: allowed range, both included.
        default: value in a new machine, unless a profile or an option gives one.
        profile: the profile entry that gives the default, "" for none.
        text: what the menu says.
        fixed: set by an option when the data folder is made, and never again.
    """

    key: str
    slot: int
    unit: str
    low: int
    high: int
    default: int
    text: str
    profile: str = ""
    fixed: bool = False


_ROWS = (
    Setting("accounting_denomination", 0, "cents", 1, 500_000, 1, "Accounting denomination", fixed=True),
    Setting("credit_limit", 1, "cents", 100, 99_999_999, 1_000_000, "Highest credit meter", "credit_limit"),
    Setting("handpay_limit", 2, "cents", 0, 99_999_999, 119_999, "Highest win paid by the machine", "handpay_limit"),
    # Bit n: the note of bill denomination code n (SAS 9.3). Default: 1 2 5 10 20 50 100.
    Setting("notes_accepted", 3, "bits", 0, (1 << 24) - 1, 0b1101_1111, "Notes accepted"),
    Setting("bet_credits_max", 4, "count", 1, 100, 100, "Most credits a game", "wager_limit"),
    Setting("acceptor_enabled", 5, "flag", 0, 1, 1, "Bill acceptor in use"),
)  # fmt: skip

SETTINGS: Mapping[str, Setting] = {row.key: row for row in _ROWS}
SLOT_COUNT = 63
"""Places in critical memory for settings; what follows them there says which places were ever written."""

State = tuple[int, ...]
"""Values by slot."""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting gets a new value; already checked to be allowed now."""

    key: str
    value: int


class SettingError(ValueError):
    """The value is out of range, or the setting does not exist or cannot change."""


def defaults(given: Mapping[str, int]) -> State:
    """Values of a new machine. ``given``: values from profile and options by key.

    Raises:
        SettingError: a given value is out of its range, or has no row.
    """
    values = [0] * SLOT_COUNT
    for row in SETTINGS.values():
        values[row.slot] = check(row.key, given.get(row.key, row.default))
    for key in given:
        if key not in SETTINGS:
            raise SettingError(f"there is no setting {key!r}; there are: {', '.join(SETTINGS)}")
    return tuple(values)


def check(key: str, value: int) -> int:
    """Return ``value`` if it is in the range of ``key``'s row. Raises SettingError."""
    row = SETTINGS.get(key)
    if row is None:
        raise SettingError(f"there is no setting {key!r}; there are: {', '.join(SETTINGS)}")
    if not row.low <= value <= row.high:
        raise SettingError(f"{key} is {value}, but must be {row.low}..{row.high} {row.unit}")
    return value


def value(state: State, key: str) -> int:
    """The present value of a setting. Raises KeyError."""
    return state[SETTINGS[key].slot]


def step(state: State, event: Change) -> tuple[State, list[Asked]]:
    """Give one setting a new value and report old and new."""
    row = SETTINGS[event.key]
    old = state[row.slot]
    if old == event.value:
        return state, []
    new = (*state[: row.slot], event.value, *state[row.slot + 1 :])
    return new, [Report("setting_changed", (("setting", event.key), ("old", old), ("new", event.value)))]
