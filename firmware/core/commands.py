"""Events that do not come from devices: from the loop, from hosts, from the operator."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.core.facts import Fact


@dataclass(frozen=True, slots=True)
class PowerUp:
    """The program starts. Always the first event; ``memory_fresh``: nothing was kept, this is a new memory."""

    memory_fresh: bool
    memory_repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PowerDown:
    """Power is failing or the operator stops the program in good order; this is the last event."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The answer to ``Draw``."""

    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TimerExpired:
    """A timer of ``StartTimer`` ran out."""

    name: str


@dataclass(frozen=True, slots=True)
class SelfFault:
    """The program found itself, its memory or its generator wrong: raise the hard condition ``condition``."""

    condition: str
    detail: str


@dataclass(frozen=True, slots=True)
class MemoryRepaired:
    """A check of critical memory found one bad copy; it is rewritten from the good one. ``detail``: where."""

    detail: str


@dataclass(frozen=True, slots=True)
class HostSetPlay:
    """A host disables or enables play (LP 01, 02)."""

    line: int
    enabled: bool


@dataclass(frozen=True, slots=True)
class HostSetAcceptor:
    """A host disables or enables the bill acceptor (LP 07, 06)."""

    line: int
    enabled: bool


@dataclass(frozen=True, slots=True)
class HostSetClock:
    """A host sets civil time (LP 7F). ``wall_us``: microseconds since 1970 in the cabinet's zone."""

    line: int | None
    wall_us: int


@dataclass(frozen=True, slots=True)
class HostHeard:
    """A host has acknowledged the notice with that sequence number. Losing this costs one repeat, never an event."""

    line: int
    sequence: int


@dataclass(frozen=True, slots=True)
class HostLink:
    """A host's line came up or went down."""

    line: int
    up: bool


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """The operator changes a row of ``settings.SETTINGS``."""

    key: str
    value: int


Command = (
    PowerUp
    | PowerDown
    | Drawn
    | TimerExpired
    | SelfFault
    | MemoryRepaired
    | HostSetPlay
    | HostSetAcceptor
    | HostSetClock
    | HostHeard
    | HostLink
    | ChangeSetting
)

Event = Fact | Command
"""Everything that ``router.step`` takes."""
