"""Read every meter that a machine reports, by whichever poll it answers. Pure. SAS reference 12.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sas_protocol.codes import denomination_cents
from sas_protocol.host_end import Acked, Answered, LongPollRequest, Nacked, Request, Unanswered, WasBusy
from sas_protocol.longpolls import identity
from sas_protocol.longpolls.meters import (
    SEND_EXTENDED_METERS,
    SEND_EXTENDED_METERS_TWIN,
    SEND_SELECTED_METERS,
)
from sas_protocol.meters import METERS_603, Meter, Unit

EXTENDED_MAX: Final = 12
"""Meters in one 6F or AF by the rule."""
SELECTED_MAX: Final = 10
"""Meters in one 2F."""
BUSY_MAX: Final = 20
"""How often a busy machine is asked again."""


@dataclass(frozen=True, slots=True)
class MeterValue:
    """One meter as the machine reported it. ``value``: in the meter's own unit."""

    meter: Meter
    value: int

    def cents(self, denomination: int | None) -> int | None:
        """The value in cents; None if it counts no money, or credits of an unknown denomination (cents)."""
        match self.meter.unit:
            case Unit.CENTS:
                return self.value
            case Unit.CREDITS:
                return None if denomination is None else self.value * denomination
        return None

    def as_json(self, denomination: int | None) -> dict[str, Any]:
        """Return the meter for machines."""
        return {
            "code": f"{self.meter.code:02X}",
            "value": self.value,
            "unit": self.meter.unit.value,
            "cents": self.cents(denomination),
        }


@dataclass(slots=True)
class MeterSurvey:
    """Ask a machine for all meters: with 6F and AF in turn, or with 2F where those stay unanswered.

    One request at a time: a machine that answers none of them is not asked for every meter in vain.

    Args:
        game: SAS game number, 0 for the machine.
        codes: which meters.
    """

    game: int = 0
    codes: Sequence[int] = tuple(METERS_603)
    denomination: int | None = None
    """Accounting denomination in cents, once LP 1F told it."""
    found: dict[int, MeterValue] = field(default_factory=dict)
    """Code -> value, as far as read."""
    failure: str = ""
    """Why the survey gave up, "" if it did not."""
    is_done: bool = False
    """Whether there is nothing left to ask."""
    _uses_selected: bool = False
    _asked_count: int = 0
    _busy_count: int = 0

    def first(self) -> list[Request]:
        """What to ask first."""
        return [LongPollRequest(identity.SEND_MACHINE_ID), self._request(0)]

    def take(self, event: Answered | Acked | Nacked | WasBusy | Unanswered) -> list[Request]:
        """Take the fate of one of our requests; return what to ask next."""
        poll = event.request.poll if isinstance(event.request, LongPollRequest) else None
        if poll is identity.SEND_MACHINE_ID:
            if isinstance(event, Answered):
                self.denomination = denomination_cents(event.values["denomination"])
            return []
        match event:
            case Answered(values=values):
                self._keep(values)
                return self._next()
            case WasBusy() if self._busy_count < BUSY_MAX:
                self._busy_count += 1
                return [event.request]
            case Nacked() | Unanswered() if not self._asked_count and not self._uses_selected:
                self._uses_selected = True
                return [self._request(0)]
        self._give_up(event)
        return []

    def _give_up(self, event: Acked | Nacked | WasBusy | Unanswered) -> None:
        self.is_done = True
        if isinstance(event, WasBusy):
            self.failure = "the machine is busy and stays so"
        elif self.game:
            self.failure = f"the machine has no meters for game {self.game}"
        else:
            self.failure = "the machine answers none of the meter polls 6F, AF and 2F"

    def _next(self) -> list[Request]:
        self._asked_count += SELECTED_MAX if self._uses_selected else EXTENDED_MAX
        self.is_done = self._asked_count >= len(self.codes)
        return [] if self.is_done else [self._request(self._asked_count)]

    def _request(self, start: int) -> Request:
        """The poll for the meters from ``start`` on."""
        if self._uses_selected:
            poll, size = SEND_SELECTED_METERS, SELECTED_MAX
        else:
            # Two names for one poll, so that a host may ask twice in a row (reference 6.2).
            is_even = start // EXTENDED_MAX % 2 == 0
            poll, size = SEND_EXTENDED_METERS if is_even else SEND_EXTENDED_METERS_TWIN, EXTENDED_MAX
        return LongPollRequest(poll, {"game": self.game, "meters": tuple(self.codes[start : start + size])})

    def _keep(self, values: Mapping[str, Any]) -> None:
        """Items are ``(code, value)`` in a 2F answer and ``(code, size, value)`` in 6F; None: not there."""
        for code, *_, value in values.get("meters", ()):
            meter = METERS_603.get(code)
            if meter is not None and value is not None:
                self.found[code] = MeterValue(meter, value)
