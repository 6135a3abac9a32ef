"""Faults that a tester injects: one registry, asked by the parts that can misbehave.

A part that can fail asks ``take(target, kind)`` at the moment when it would matter; what is not in the table
cannot be asked for. A fault ends when its count is used up, when its time is over, or when it is cleared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hal.ports.links import Run, WakeupLink


class UnknownFaultError(Exception):
    """No such fault. ``allowed``: the ones that exist, as ``target kind``."""

    def __init__(self, target: str, kind: str, allowed: list[str]) -> None:
        super().__init__(f"no such fault as {target[:100]!r} {kind[:100]!r}")
        self.allowed = allowed


@dataclass(slots=True)
class ActiveFault:
    """A fault at work. ``remaining``: how many times yet; ``until_us``: when it ends. None: no limit."""

    target: str
    kind: str
    remaining: int | None
    until_us: int | None


Catalogue = Mapping[str, Mapping[str, str]]
"""Target → kind → what happens, in words."""


class Faults:
    """The faults that exist and those at work. Time is an argument, in microseconds."""

    def __init__(self, *catalogues: Catalogue) -> None:
        self._known: dict[str, dict[str, str]] = {}
        for catalogue in catalogues:
            for target, kinds in catalogue.items():
                self._known.setdefault(target, {}).update(kinds)
        self._active: dict[tuple[str, str], ActiveFault] = {}

    @property
    def known(self) -> Catalogue:
        """Every fault that exists."""
        return self._known

    def check(self, target: str, kind: str) -> None:
        """Raise UnknownFaultError unless the fault exists."""
        if kind not in self._known.get(target, {}):
            raise UnknownFaultError(
                target, kind, [f"{name} {k}" for name, kinds in self._known.items() for k in kinds]
            )

    def inject(self, target: str, kind: str, count: int | None = None, until_us: int | None = None) -> None:
        """Put a fault to work: ``count`` times, until ``until_us``, or for good. Raises UnknownFaultError."""
        self.check(target, kind)
        self._active[target, kind] = ActiveFault(target, kind, count, until_us)

    def clear(self, target: str | None = None, kind: str | None = None) -> list[ActiveFault]:
        """End one fault, or all; return those that were at work. Raises UnknownFaultError."""
        if target is None or kind is None:
            ended = list(self._active.values())
            self._active.clear()
            return ended
        self.check(target, kind)
        one = self._active.pop((target, kind), None)
        return [] if one is None else [one]

    def take(self, target: str, kind: str) -> bool:
        """Return whether the fault strikes now, and count it."""
        if not self._active:
            return False
        fault = self._active.get((target, kind))
        if fault is None:
            return False
        if fault.remaining is not None:
            fault.remaining -= 1
            if fault.remaining <= 0:
                del self._active[target, kind]
        return True

    def expire(self, now_us: int) -> list[ActiveFault]:
        """End the faults whose time is over; return them."""
        if not self._active:
            return []
        over = [
            fault
            for fault in self._active.values()
            if fault.until_us is not None and fault.until_us <= now_us
        ]
        for fault in over:
            del self._active[fault.target, fault.kind]
        return over

    def next_deadline_us(self) -> int | None:
        """When ``expire`` has something to do."""
        return min((f.until_us for f in self._active.values() if f.until_us is not None), default=None)

    def active(self) -> list[dict[str, object]]:
        """Return the faults at work, ready for JSON."""
        return [
            {"target": f.target, "kind": f.kind, "remaining": f.remaining, "until_us": f.until_us}
            for f in self._active.values()
        ]


SAS_FAULTS: Mapping[str, str] = {
    "crc": "the last byte of an answer longer than one byte is wrong",
    "silence": "an answer does not leave the machine",
    "noise": "a stray byte leaves the machine before an answer",
    "cut_short": "the last byte of an answer is missing",
    "deaf": "what the host sent does not reach the machine",
}


class FaultyLine:
    """A SAS line whose wire can misbehave: a WakeupLink around another. ``target``: its name among the faults."""

    def __init__(self, link: WakeupLink, faults: Faults, target: str) -> None:
        self._link = link
        self._faults = faults
        self._target = target

    def read(self) -> list[Run]:
        """Return what has arrived, unless the line is deaf."""
        runs = self._link.read()
        if runs and self._faults.take(self._target, "deaf"):
            return []
        return runs

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Send ``data``, or what the faults at work leave of it."""
        if self._faults.take(self._target, "silence"):
            return
        if len(data) > 1 and self._faults.take(self._target, "crc"):
            data = data[:-1] + bytes([data[-1] ^ 0x01])
        if self._faults.take(self._target, "cut_short"):
            data = data[:-1]
        if self._faults.take(self._target, "noise"):
            self._link.write(b"\x55")
        if data:
            self._link.write(data, wakeup=wakeup)
