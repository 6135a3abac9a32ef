"""The faults of a whole world: each target with its kinds, injected, counted, timed and cleared in one place.

A target is a twin or a wire that can misbehave; it knows its own kinds and does them itself. The registry
knows who they are and when a fault's time is over. Time is an argument, in integer microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hal.ports.links import Run, WakeupLink
from simulator.cabinet.faults import FaultSet


class UnknownTargetError(ValueError):
    """Nothing of that name can have that fault. ``allowed``: ``target kind`` of all that exist."""

    def __init__(self, target: str, kind: str, allowed: list[str]) -> None:
        super().__init__(f"no such fault as {target[:100]} {kind[:100]}")
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that can have faults.

    Args:
        known: kind -> what happens, in words.
        inject: ``(kind, now_us, count, detail)``; a count of ``None`` means until cleared.
        clear: ``(kind, now_us)``.
        active: kind -> how many times yet, ``None`` until cleared.
    """

    known: Mapping[str, str]
    inject: Callable[[str, int, int | None, int], None]
    clear: Callable[[str, int], None]
    active: Callable[[], Mapping[str, int | None]]


class Faults:
    """Every fault that exists in a world, and those at work.

    Args:
        targets: name -> target.
    """

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._targets = dict(targets)
        self._until_us: dict[tuple[str, str], int] = {}

    @property
    def known(self) -> dict[str, dict[str, str]]:
        """Target -> kind -> what happens, in words."""
        return {name: dict(target.known) for name, target in self._targets.items()}

    def inject(
        self,
        target: str,
        kind: str,
        now_us: int,
        *,
        count: int | None = None,
        lasting_us: int | None = None,
        detail: int = 0,
    ) -> None:
        """Put a fault to work ``count`` times, or for ``lasting_us``, or both; once if neither is said.

        ``detail``: a number that the kind understands, such as a failure's code. Raises UnknownTargetError.
        """
        found = self._find(target, kind)
        if count is None and lasting_us is None:
            count = 1
        found.inject(kind, now_us, count, detail)
        self._until_us.pop((target, kind), None)
        if lasting_us is not None:
            self._until_us[target, kind] = now_us + lasting_us

    def clear(self, target: str, kind: str, now_us: int) -> None:
        """End one fault, and mend what it broke. Raises UnknownTargetError."""
        self._find(target, kind).clear(kind, now_us)
        self._until_us.pop((target, kind), None)

    def clear_all(self, now_us: int) -> None:
        """End every fault at work."""
        for name, target in self._targets.items():
            for kind in tuple(target.active()):
                self.clear(name, kind, now_us)

    def expire(self, now_us: int) -> None:
        """End the faults whose time is over."""
        for target, kind in [key for key, until_us in self._until_us.items() if until_us <= now_us]:
            self.clear(target, kind, now_us)

    def next_deadline_us(self) -> int | None:
        """When ``expire`` has something to do."""
        return min(self._until_us.values(), default=None)

    def active(self) -> list[dict[str, object]]:
        """Return the faults at work: target, kind, how many times yet, until when (``None``: no limit)."""
        return [
            {
                "target": name,
                "kind": kind,
                "remaining": remaining,
                "until_us": self._until_us.get((name, kind)),
            }
            for name, target in self._targets.items()
            for kind, remaining in target.active().items()
        ]

    def _find(self, target: str, kind: str) -> Target:
        found = self._targets.get(target)
        if found is None or kind not in found.known:
            allowed = [f"{name} {word}" for name, one in self._targets.items() for word in one.known]
            raise UnknownTargetError(target, kind, allowed)
        return found


SAS_FAULTS: Mapping[str, str] = {
    "crc": "the last byte of an answer longer than one byte is wrong",
    "silence": "an answer does not leave the machine",
    "noise": "a stray byte leaves the machine before an answer",
    "cut_short": "the last byte of an answer is missing",
    "deaf": "what the host sent does not reach the machine",
}

_STRAY_BYTE = b"\x55"


class FaultyLine:
    """A SAS line whose wire can misbehave: a WakeupLink around another."""

    def __init__(self, link: WakeupLink) -> None:
        self._link = link
        self.faults = FaultSet(SAS_FAULTS)

    @property
    def target(self) -> Target:
        """The wire as a target of the registry."""
        return Target(
            SAS_FAULTS,
            lambda kind, _now_us, count, _detail: self.faults.inject(kind, count),
            lambda kind, _now_us: self.faults.clear(kind),
            self.faults.active,
        )

    def read(self) -> list[Run]:
        """Return what has arrived, unless the line is deaf."""
        runs = self._link.read()
        return [] if runs and self.faults.take("deaf") else runs

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Send ``data``, or what the faults at work leave of it."""
        if self.faults.take("silence"):
            return
        if len(data) > 1 and self.faults.take("crc"):
            data = data[:-1] + bytes([data[-1] ^ 0x01])
        if self.faults.take("cut_short"):
            data = data[:-1]
        if self.faults.take("noise"):
            self._link.write(_STRAY_BYTE)
        self._link.write(data, wakeup=wakeup)
