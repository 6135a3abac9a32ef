"""One figure of a benchmark: what was measured, its floor, and the limit between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Args:
        name: what was measured, in words.
        value: the figure, in ``unit``.
        unit: ``ms``, ``/s``, ``x``, ``MB``, ``%`` …
        floor: the same figure of the bare program, in the same unit; None where there is none.
        limit: the bound. With a floor it binds ``value / floor``, without one ``value``. None: reported only.
        sense: whether the bounded number may be ``at_most`` or must be ``at_least`` the limit.
    """

    name: str
    value: float
    unit: str
    floor: float | None = None
    limit: float | None = None
    sense: Literal["at_most", "at_least"] = "at_most"

    @property
    def ratio(self) -> float | None:
        """Measured over floor; None without a floor."""
        if self.floor is None:
            return None
        return self.value / self.floor if self.floor else math.inf

    @property
    def holds(self) -> bool:
        """Whether the limit is kept; a row without a limit always holds."""
        if self.limit is None:
            return True
        bounded = self.value if self.ratio is None else self.ratio
        return bounded <= self.limit if self.sense == "at_most" else bounded >= self.limit

    def cells(self) -> tuple[str, str, str, str, str, str]:
        """Return the columns of the table as text."""
        floor = "" if self.floor is None else f"{_short(self.floor)} {self.unit}"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f} x"
        limit, verdict = "", ""
        if self.limit is not None:
            sign = "<=" if self.sense == "at_most" else ">="
            unit = self.unit if self.ratio is None else "x"
            limit = f"{sign} {_short(self.limit)} {unit}"
            verdict = "holds" if self.holds else "MISSED"
        return self.name, f"{_short(self.value)} {self.unit}", floor, ratio, limit, verdict

    def as_json(self) -> dict[str, object]:
        """Return the row for machines."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "floor": self.floor,
            "ratio": self.ratio,
            "limit": self.limit,
            "sense": self.sense,
            "holds": self.holds,
        }


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
