"""Dialects of the machine's end as data: what a family of machines does differently in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sas_protocol.line_rules import REFERENCE, STRICT, LineRules

# Legacy handpay reporting (SAS 15): 51 is sent once and 52 at the reset, whether or not LP 1B was read.
_LEGACY_HANDPAY = frozenset({0x51, 0x52})

BEHAVIOURS: Mapping[str, LineRules] = {
    "reference": replace(REFERENCE, ordinary_codes=_LEGACY_HANDPAY),
    "strict": replace(STRICT, ordinary_codes=_LEGACY_HANDPAY),
}
"""``reference`` tolerates slow hosts; ``strict`` keeps the 5 ms rule between bytes (decisions.md "SAS")."""
