"""Which lasting states of an ID-003 acceptor are which fault, and which of them the core has been told.

Source: id003.md 4.3 and 4.5. Lasting errors end with a RESET once their cause is gone; the wire does not say
when it is gone, so the driver tries from time to time: a unit whose cause remains shows the same error again.
A fault counts as over when the unit has passed its self-test and idles (NJ 13:69E-1.28N(g)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firmware.core.facts import DeviceFault
from hal.wire import id003
from hal.wire.id003 import Status


@dataclass(frozen=True, slots=True)
class LastingError:
    """A status that stays until a RESET.

    Args:
        kind: key of the core's conditions.
        detail: words for the log; for FAILURE the part is added.
        reset_after_us: from its first sight, and from each RESET, to the next one.
    """

    kind: str
    detail: str
    reset_after_us: int


LASTING: Final[Mapping[int, LastingError]] = {
    Status.STACKER_FULL: LastingError("stacker_full", "", 10_000_000),
    Status.STACKER_OPEN: LastingError("stacker_removed", "", 5_000_000),
    Status.JAM_IN_ACCEPTOR: LastingError("acceptor_jam", "in the acceptor", 5_000_000),
    Status.JAM_IN_STACKER: LastingError("acceptor_jam", "in the stacker", 5_000_000),
    Status.CHEATED: LastingError("acceptor_cheated", "", 5_000_000),
    Status.FAILURE: LastingError("acceptor_failure", "", 10_000_000),
}
"""Status -> fault. PAUSE is not here: it ends by itself when the second note is pulled out."""

COMMUNICATION_ERRORS_MAX: Final = 5
"""COMMUNICATION ERROR ends with the next good frame: so many answers in a row are a fault of their own."""

_LINK_KIND: Final = "acceptor_disconnected"


def is_lasting(status: int | None) -> bool:
    """Whether this status stays until a RESET."""
    return status in LASTING


class FaultReport:
    """The faults of one acceptor: at most one lasting, one passing, and a lost line."""

    def __init__(self) -> None:
        self.is_lost = False
        self._lasting: tuple[str, str] | None = None
        self._passing: tuple[str, str] | None = None
        self._told: dict[str, str] = {}
        self._communication_errors = 0

    def see(self, status: int, data: bytes) -> None:
        """Take one status. One that no table knows is a failure until a known one comes: it says nothing."""
        if status == Status.COMMUNICATION_ERROR:
            self._communication_errors += 1
            if self._communication_errors >= COMMUNICATION_ERRORS_MAX:
                self._passing = ("acceptor_failure", "does not understand the messages")
            return
        self._communication_errors = 0
        if status == Status.PAUSE:
            self._passing = ("acceptor_paused", "")
        elif status not in _KNOWN:
            self._passing = ("acceptor_failure", f"unknown status {status:02X}")
        else:
            self._passing = None
        error = LASTING.get(status)
        if error is not None:
            self.set_lasting(
                error.kind, id003.failed_part(data) if status == Status.FAILURE else error.detail
            )

    def set_lasting(self, kind: str, detail: str) -> None:
        """A fault that only the end of a self-test ends; it takes the place of another one."""
        self._lasting = (kind, detail)

    def clear_lasting(self) -> None:
        """The unit idles after its self-test."""
        self._lasting = None

    def news(self) -> list[DeviceFault]:
        """Return what has come or gone since the last call, what has gone first."""
        present = dict(fault for fault in (self._passing, self._lasting) if fault is not None)
        if self.is_lost:
            present[_LINK_KIND] = ""
        gone = [DeviceFault(kind, on=False) for kind in self._told if kind not in present]
        come = [
            DeviceFault(kind, on=True, detail=detail)
            for kind, detail in present.items()
            if kind not in self._told
        ]
        self._told = present
        return [*gone, *come]


_KNOWN: Final = frozenset(Status)
