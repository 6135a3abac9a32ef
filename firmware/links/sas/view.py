"""The machine as a SAS host sees it: meters by code, in SAS units, from one durable state."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from firmware.core import meters
from firmware.core.state import Machine
from sas_protocol.codes import denomination_code
from sas_protocol.meters import METERS_603, Unit

_EPOCH = datetime.datetime(1970, 1, 1)
_IN_CREDITS = frozenset(code for code, meter in METERS_603.items() if meter.unit is Unit.CREDITS)


@dataclass(frozen=True, slots=True)
class SasIdentity:
    """Who the machine says it is: ``version`` 602 or 603, ``serial`` up to 40 characters, and the ids of LP 1F."""

    version: str
    serial: str
    game_id: str
    additional_id: str


class SasView:
    """One durable state, with what was looked up in it. Made anew when the state changes.

    Attributes:
        machine: the state.
        identity: who the machine is.
    """

    __slots__ = ("_denomination", "_found", "_wall_us", "identity", "machine")

    def __init__(self, machine: Machine, identity: SasIdentity, wall_us: Callable[[], int]) -> None:
        self.machine = machine
        self.identity = identity
        self._wall_us = wall_us
        self._denomination = machine.denomination
        self._found: dict[tuple[int, int], int | None] = {}

    def meter(self, code: int, game: int = 0) -> int | None:
        """The value of SAS meter ``code`` in SAS's own unit; ``None``: this cabinet or game has no such meter.

        Amounts that SAS counts in credits are cents divided by the accounting denomination, each total floored on
        its own (decisions.md "Money and meters").
        """
        key = (code, game)
        found = self._found
        if key in found:
            return found[key]
        value = found[key] = self._read(code, game)
        return value

    def _read(self, code: int, game: int) -> int | None:
        row = meters.BY_SAS_CODE.get(code)
        machine = self.machine
        if row is None or (row.needs and row.needs not in machine.rules.parts):
            return None
        if game == 0:
            value: int | None = meters.value(machine, row.key)
        elif self.has_game(game):
            value = meters.game_value(machine, row.key, game)
        else:
            value = None
        if value is not None and code in _IN_CREDITS:
            return value // self._denomination
        return value

    def tracked(self, code: int, game: int = 0) -> int:
        """As ``meter``, of one that is always there. Raises KeyError if it is not."""
        value = self.meter(code, game)
        if value is None:
            raise KeyError(f"meter {code:02X} of game {game}")
        return value

    def count(self, key: str) -> int:
        """The value of a meter that has no SAS code, by its own key."""
        return meters.value(self.machine, key)

    def has_game(self, game: int) -> bool:
        """``game`` is one of the implemented games (1..)."""
        return 1 <= game <= len(self.machine.rules.games)

    @property
    def denomination_code(self) -> int:
        """The accounting denomination's code (SAS 9.1)."""
        return denomination_code(self._denomination)

    @property
    def date_and_time(self) -> datetime.datetime:
        """Civil time of the poll."""
        return _EPOCH + datetime.timedelta(microseconds=self._wall_us())


def wall_us(date: datetime.date, time: datetime.time) -> int:
    """Microseconds since 1970 of a civil time."""
    return (datetime.datetime.combine(date, time) - _EPOCH) // datetime.timedelta(microseconds=1)
