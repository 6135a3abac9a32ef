"""Which notice a machine sends next. SAS reference 7.1, 8.

The queue itself lives in the machine's critical memory; this is one line's view of it: what was already
delivered, what is due again, what the present mode allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sas_protocol.codes import BILL_BY_NOTICE, BILLS
from sas_protocol.errors import EncodeError
from sas_protocol.frames import encode_event
from sas_protocol.notices import BILL_ACCEPTED, Mode, Notice, NoticeKind, encode_facts

_NEVER: Final = 1 << 62


class NoticeQueue:
    """The pending notices of one line.

    Args:
        kinds: the notice table of the reported version.
        ordinary_codes: priority notices to be treated as ordinary ones.
    """

    def __init__(self, kinds: Mapping[int, NoticeKind], ordinary_codes: frozenset[int] = frozenset()) -> None:
        self._kinds: Final = kinds
        self._ordinary: Final = ordinary_codes
        self._pending: tuple[Notice, ...] = ()
        self._checked: set[int] = set()  # sequences whose facts are known to be encodable
        self._delivered_us: dict[int, tuple[int, int]] = {}  # sequence -> first, latest acknowledgement
        self._reported: set[int] = set()  # sequences already reported as unsendable
        self._choice: Notice | None = None
        self._choice_mode: bool | None = None  # mode the choice holds for; None: choose again
        self._choose_again_us = _NEVER

    def set_pending(self, notices: tuple[Notice, ...]) -> None:
        """Take the machine's queue as it now is. Raises EncodeError for a notice that no frame can carry."""
        for notice in notices:
            if notice.sequence not in self._checked:
                self._check(notice)
        present = {notice.sequence for notice in notices}
        self._checked = present
        self._reported &= present
        self._delivered_us = {key: at for key, at in self._delivered_us.items() if key in present}
        self._pending = notices
        self._choice_mode = None

    def next(self, now_us: int, *, real_time: bool) -> Notice | None:
        """The notice to send now, None if there is nothing."""
        if not self._pending:
            return None
        if self._choice_mode is not real_time or now_us >= self._choose_again_us:
            self._choose(now_us, real_time)
        return self._choice

    def delivered(self, notice: Notice, now_us: int) -> None:
        """The host has it; a priority notice that stays pending is due again by its table row."""
        if notice.sequence in self._checked:
            first, _ = self._delivered_us.get(notice.sequence, (now_us, now_us))
            self._delivered_us[notice.sequence] = (first, now_us)
        self._choice_mode = None

    def unsendable(self, *, real_time: bool) -> list[Notice]:
        """Pending notices that the mode forbids, each reported once."""
        found = [
            notice
            for notice in self._pending
            if notice.sequence not in self._reported and not self._is_sendable(notice, real_time)
        ]
        self._reported.update(notice.sequence for notice in found)
        return found

    def encode(self, notice: Notice, address: int, *, real_time: bool) -> bytes:
        """The bytes that carry it: one byte, or an event frame in real-time mode."""
        code, facts = wire_form(notice, real_time=real_time)
        return encode_event(address, self._kinds[code], facts) if real_time else bytes((code,))

    def _check(self, notice: Notice) -> None:
        """Raise EncodeError unless the notice fits the table."""
        if notice.code not in self._kinds:
            raise EncodeError(f"there is no notice {notice.code:02X}")
        code, facts = wire_form(notice, real_time=True)
        encode_facts(self._kinds[code], facts)

    def _is_sendable(self, notice: Notice, real_time: bool) -> bool:
        code, _ = wire_form(notice, real_time=real_time)
        return self._kinds[code].mode is not (Mode.NOT_REAL_TIME if real_time else Mode.REAL_TIME_ONLY)

    def _rank(self, notice: Notice) -> int:
        """Sort key: priority notices by rank, all others after them in the given order."""
        rank = self._kinds[notice.code].rank
        return _NEVER if rank is None or notice.code in self._ordinary else rank

    def _choose(self, now_us: int, real_time: bool) -> None:
        """Find the first notice that is due, and when to look again though nothing happened."""
        best: Notice | None = None
        best_rank = _NEVER + 1
        again_us = _NEVER
        for notice in self._pending:
            due_us = self._due_us(notice)
            if due_us > now_us:
                again_us = min(again_us, due_us)
            elif self._rank(notice) < best_rank and self._is_sendable(notice, real_time):
                best, best_rank = notice, self._rank(notice)
        self._choice, self._choice_mode, self._choose_again_us = best, real_time, again_us

    def _due_us(self, notice: Notice) -> int:
        """When the notice may be sent: at once, at its re-issue, or never again."""
        acknowledged = self._delivered_us.get(notice.sequence)
        if acknowledged is None:
            return 0
        kind = self._kinds[notice.code]
        if kind.reissue_us is None or notice.code in self._ordinary:
            return _NEVER
        first, latest = acknowledged
        due = latest + kind.reissue_us
        ends = _NEVER if kind.reissue_for_us is None else first + kind.reissue_for_us
        return due if due <= ends else _NEVER


def wire_form(notice: Notice, *, real_time: bool) -> tuple[int, tuple[int, ...]]:
    """Code and facts of a notice as the mode wants them.

    An accepted bill has two names: its own code outside real-time mode (where it has one), and 4F with
    country, denomination and count in it. The queue may hold either; facts that a bare code lacks are sent
    as 0.
    """
    code, facts = notice.code, notice.facts
    if real_time:
        bill = BILL_BY_NOTICE.get(code)
        if bill is not None:
            return BILL_ACCEPTED, facts or (0, bill.code, 0)
    elif code == BILL_ACCEPTED and facts and 0 <= facts[1] < len(BILLS):
        return BILLS[facts[1]].notice, ()
    return code, facts
