"""What an ID-003 acceptor must be told and asked before it may take money: settings and identification.

Holds what the acceptor has confirmed, says which message is due next, takes the answers. When one may be
sent is the driver's part (``id003_acceptor``). Source: id003.md 3.2, 5 and 6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firmware.core.orders import AcceptNotes
from hal.wire import id003
from hal.wire.errors import DecodeError
from hal.wire.id003 import Command, Setting

SENDING_ORDER: Final = (
    Setting.DENOMINATION,
    Setting.SECURITY,
    Setting.COMMUNICATION_MODE,
    Setting.DIRECTION,
    Setting.OPTIONAL_FUNCTION,
    Setting.BARCODE_FUNCTION,
    Setting.BARCODE_INHIBIT,
    Setting.INHIBIT,  # last is prudent (id003.md 6.1)
)

REQUIRED: Final = frozenset({Setting.DENOMINATION, Setting.INHIBIT})
"""Without these the acceptor cannot be controlled. A unit that refuses another one does without it."""

REFUSALS_MAX: Final = 2
"""So many 4B in a row are a refusal. One alone may be the late answer to an earlier command."""

QUERY_TRIES_MAX: Final[Mapping[int, int]] = {
    # The values of the notes hang on it: on a line that answers polls, eight losses in a row are a unit that
    # does not know the question.
    Command.CURRENCY_ASSIGN: 8,
    Command.VERSION: 4,
    Command.BOOT_VERSION: 4,
}
"""Questions, in order of asking, and how often each is asked in vain before it is given up."""


@dataclass(frozen=True, slots=True)
class Identification:
    """What the acceptor said about itself since contact; None or empty: not yet, or it does not tell.

    Args:
        version: its version text in parts; ``version.checksum`` is its signature (id003.md 5).
        boot_version: 4 characters at most.
        denominations: escrow code -> cents of the notes that count here.
    """

    version: id003.Version | None
    boot_version: str
    denominations: Mapping[int, int]

    @property
    def firmware_checksum(self) -> str:
        """Four hex digits, or "" if unknown."""
        return "" if self.version is None else self.version.checksum


class Id003Setup:
    """Settings and identification of one acceptor.

    Args:
        fallback: escrow code -> cents from the cabinet file, for a unit that answers 4B to CURRENCY ASSIGN.
        currency: notes of other currencies in the unit's table are not taken: an unknown note is returned.
    """

    def __init__(self, fallback: Mapping[int, int], currency: str) -> None:
        self._fallback = dict(fallback)
        self._countries = id003.COUNTRIES[currency]
        self._accept = AcceptNotes(frozenset())
        self._accept_last_open = AcceptNotes(frozenset(fallback.values()))
        self._confirmed: dict[Setting, bytes] = {}
        self._skipped: set[Setting] = set()
        self._refusals: Counter[int] = Counter()
        self._is_settled = False  # every setting is confirmed: asked at each turn of an idle machine
        self.forget_unit()

    # --- Which notes ----------------------------------------------------------------------------------

    @property
    def denominations(self) -> Mapping[int, int]:
        """Escrow code -> cents; empty until the unit's table is known."""
        return self._table or {}

    @property
    def identification(self) -> Identification:
        """What the unit said about itself."""
        return Identification(self._version, self._boot_version, dict(self.denominations))

    def accept(self, order: AcceptNotes) -> None:
        """Remember what may be taken; the settings follow from it."""
        self._accept = order
        self._is_settled = False
        if order.cents or order.tickets:
            self._accept_last_open = order
        self._skipped.clear()
        self._refusals.clear()

    def takes_note(self, cents: int) -> bool:
        """Whether a note of this value may be taken now."""
        return cents in self._accept.cents

    @property
    def takes_tickets(self) -> bool:
        """Whether tickets may be taken now."""
        return self._accept.tickets

    # --- What is due ----------------------------------------------------------------------------------

    def forget_settings(self) -> None:
        """The unit was reset: its settings are lost (id003.md 3.2)."""
        self._is_settled = False
        self._confirmed.clear()
        self._skipped.clear()
        self._refusals.clear()

    def forget_unit(self) -> None:
        """It may be another unit: ask everything again."""
        self.forget_settings()
        self._version: id003.Version | None = None
        self._boot_version = ""
        self._table: dict[int, int] | None = None
        self._answered: set[int] = set()
        self._tries: Counter[int] = Counter()

    def next_query(self) -> id003.Frame | None:
        """Return the next question about the unit, None if all are answered or given up."""
        return next((id003.Frame(code) for code in QUERY_TRIES_MAX if code not in self._answered), None)

    def sent(self, code: int) -> None:
        """Count a message that went out without knowing yet whether it is answered."""
        if code in QUERY_TRIES_MAX:
            self._tries[code] += 1

    def unanswered(self, code: int) -> None:
        """Take the silence that followed ``code``."""
        if code in QUERY_TRIES_MAX and self._tries[code] >= QUERY_TRIES_MAX[code]:
            self._give_up(code)

    def next_setting(self) -> id003.Frame | None:
        """Return the next setting that is not confirmed as it should be, None if all are."""
        if self._is_settled or self._table is None:
            return None  # Which bit is which value is not known yet.
        for setting in SENDING_ORDER:
            if setting not in self._skipped and self._confirmed.get(setting) != self._wanted(setting):
                return id003.Frame(setting, self._wanted(setting))
        self._is_settled = not self._skipped
        return None

    @property
    def inhibit_is_due(self) -> bool:
        """Whether INHIBIT differs from what it should be: it may be sent in every state but power-up."""
        return not self._is_settled and self._confirmed.get(Setting.INHIBIT) != self._wanted(Setting.INHIBIT)

    @property
    def inhibit(self) -> id003.Frame:
        """The INHIBIT setting as it should be."""
        return id003.Frame(Setting.INHIBIT, self._wanted(Setting.INHIBIT))

    @property
    def is_complete(self) -> bool:
        """Whether the unit has confirmed everything it must."""
        return self._table is not None and self.next_setting() is None

    def _wanted(self, setting: Setting) -> bytes:
        """Closed altogether, only INHIBIT changes: the other settings may need a RESET to be taken (?)."""
        accept = self._accept_last_open
        if setting is Setting.INHIBIT:
            return b"\x00" if self._accept.cents or self._accept.tickets else b"\x01"
        if setting is Setting.DENOMINATION:
            enabled = frozenset(code for code, cents in self.denominations.items() if cents in accept.cents)
            positions = 16 if max(self.denominations, default=0) > id003.FIRST_DENOMINATION + 7 else 8
            return id003.denomination_mask(enabled, positions)
        if setting is Setting.BARCODE_INHIBIT:
            return bytes((int(not accept.cents) | int(not accept.tickets) << 1,))
        return id003.SETTING_DEFAULTS[setting]

    # --- Answers --------------------------------------------------------------------------------------

    def answered(self, frame: id003.Frame) -> None:
        """Take the echo of a setting or the answer to a question."""
        self._refusals.pop(frame.code, None)
        if frame.code in id003.SETTING_SIZES:
            self._is_settled = False
            self._confirmed[Setting(frame.code)] = frame.data  # another value than ours: it is sent again
        elif self._tries[frame.code] and frame.code not in self._answered:
            self._learn(frame)

    def refused(self, code: int) -> bool:
        """Take a 4B to ``code``. Returns True if that is a required setting, refused for good."""
        self._refusals[code] += 1
        if self._refusals[code] < REFUSALS_MAX:
            return False
        del self._refusals[code]
        if code not in id003.SETTING_SIZES:
            self._give_up(code)
            return False
        if Setting(code) in REQUIRED:
            return True
        self._skipped.add(Setting(code))
        return False

    def skip(self, code: int) -> None:
        """Do without setting ``code`` until the next reset or order."""
        self._skipped.add(Setting(code))

    def _give_up(self, code: int) -> None:
        self._answered.add(code)
        if code == Command.CURRENCY_ASSIGN:
            self._table = dict(self._fallback)

    def _learn(self, frame: id003.Frame) -> None:
        self._answered.add(frame.code)
        try:
            if frame.code == Command.VERSION:
                self._version = id003.parse_version(frame.data)
            elif frame.code == Command.BOOT_VERSION:
                self._boot_version = id003.parse_boot_version(frame.data)
            else:
                table = id003.parse_currency_assign(frame.data)
                self._table = {
                    entry.code: entry.cents
                    for entry in table
                    if entry.country in self._countries and entry.cents > 0
                }
        except DecodeError:
            if frame.code == Command.CURRENCY_ASSIGN:
                self._table = {}  # A table that cannot be read gives no note a value: all are returned.
