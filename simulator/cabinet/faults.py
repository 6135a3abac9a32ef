"""Faults of a twin by name: injected with a count, used up one by one, or standing until cleared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class UnknownFaultError(ValueError):
    """There is no fault of that name. The message lists those that exist."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An injected fault. ``count``: uses left, None until cleared. ``detail``: what the kind makes of it."""

    count: int | None
    detail: int = 0


class FaultSet:
    """The faults that one twin knows, and those that are active.

    Args:
        known: kind -> what it does, in words.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = dict(known)
        self._active: dict[str, Fault] = {}

    def inject(self, kind: str, count: int | None = 1, detail: int = 0) -> None:
        """Arm ``kind`` for ``count`` uses (None: until cleared). Raises UnknownFaultError, ValueError."""
        self.check(kind)
        if count is not None and count < 1:
            raise ValueError(f"{kind}: a count is 1 or more, or none for as long as it is not cleared")
        self._active[kind] = Fault(count, detail)

    def clear(self, kind: str) -> None:
        """Disarm ``kind`` if it is active. Raises UnknownFaultError."""
        self.check(kind)
        self._active.pop(kind, None)

    def check(self, kind: str) -> None:
        """Raise UnknownFaultError unless ``kind`` is known."""
        if kind not in self.known:
            raise UnknownFaultError(f"no fault {kind!r}; known are {', '.join(sorted(self.known))}")

    def is_active(self, kind: str) -> bool:
        """Whether ``kind`` is armed, without using it up."""
        return kind in self._active

    def take(self, kind: str) -> Fault | None:
        """Use ``kind`` once: return it if it is armed, else None."""
        fault = self._active.get(kind)
        if fault is not None and fault.count is not None:
            if fault.count == 1:
                del self._active[kind]
            else:
                self._active[kind] = Fault(fault.count - 1, fault.detail)
        return fault

    def active(self) -> dict[str, int | None]:
        """Return kind -> uses left (None: until cleared) of all that are armed."""
        return {kind: fault.count for kind, fault in sorted(self._active.items())}
