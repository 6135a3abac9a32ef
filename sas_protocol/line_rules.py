"""The timing of a machine's end as data: what a behaviour (dialect) may change. SAS reference 3, 6, 18.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class LineRules:
    """Timing of one line, in microseconds.

    Attributes:
        gap_max_us: a longer pause between two bytes of a message makes the message invalid.
        idle_us: after this long without a byte, stray bytes are over and an unmarked byte may start
            a message.
        settle_us: quiet time after which, of two possible readings of the same bytes, the shorter wins.
        answer_window_us: an answer that is not ready this long after its poll is not sent any more; it is
            kept for the host's identical repeat.
        late_answer_us: how long such an answer is kept.
        loop_break_us: silence after which the machine chirps.
        chirp_us: period of the chirp.
        supervision_us: time without implied acknowledgement after which the link is down.
        answer_third: send the same bytes once more at the second repeat. Sources disagree (?); a tested
            machine keeps silent there.
        ordinary_codes: priority notices that this machine queues as ordinary ones, e.g. 3D and 3E with
            standard validation, 51 and 52 with legacy handpay reporting (reference 7.1).
    """

    gap_max_us: int = 200_000
    idle_us: int = 20_000
    settle_us: int = 5_000
    answer_window_us: int = 20_000
    late_answer_us: int = 10_000_000
    loop_break_us: int = 5_000_000
    chirp_us: int = 200_000
    supervision_us: int = 30_000_000
    answer_third: bool = False
    ordinary_codes: frozenset[int] = frozenset()


REFERENCE: Final = LineRules()
"""Tolerates slow and odd hosts."""

STRICT: Final = LineRules(gap_max_us=5_000)
"""The 5 ms rule between bytes, as written."""
