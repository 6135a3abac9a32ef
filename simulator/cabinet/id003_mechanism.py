"""The inside of a simulated ID-003 acceptor: what a note does in it, and which status that shows.

Bytes are the twin's part (``id003_acceptor``); this is states, motions, errors and the body. Motion that is
under way when the power goes is lost with it: the item stays where it was. Source: id003.md 4 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from hal.wire import id003
from hal.wire.id003 import Command, Setting, Status
from simulator.cabinet import id003_tables as tables
from simulator.cabinet.faults import FaultSet
from simulator.cabinet.id003_tables import Timings, Unit
from simulator.cabinet.note_path import AcceptorBody, Item, Outcome, Place


class _Motion(Enum):
    """What will be over at ``_due_us``."""

    BOOT = auto()
    INITIALIZE = auto()
    ACCEPT = auto()
    ESCROW = auto()  # the patience of ESCROW or HOLDING
    LEVER = auto()
    BOX = auto()
    STACKED = auto()  # STACKED is shown long enough
    BACK = auto()


class _Vend(Enum):
    """When the item being stacked becomes VEND VALID."""

    NEVER = auto()  # after a restart: the power-up status has told of it
    AT_LEVER = auto()  # STACK-1
    IN_BOX = auto()  # STACK-2


@dataclass(frozen=True, slots=True)
class _Paused:
    """What goes on when the second note is pulled out."""

    status: Status
    data: bytes
    motion: _Motion | None
    left_us: int


class Id003Mechanism:
    """States, motions and body of one acceptor. Made without power.

    Args:
        timings: how long things take.
        unit: what kind of unit it is.
        body: what was physically true when the world was last saved.
        on_physical_change: called after the body changed.
        on_outcome: called with what became of each item.
    """

    _status: Status | None
    _status_data: bytes
    _motion: _Motion | None
    _due_us: int | None
    _shown_until_us: int
    _paused: _Paused | None
    _vend: _Vend
    _is_reset_due: bool
    _is_told: bool
    _settings: dict[Setting, bytes]

    def __init__(
        self,
        timings: Timings,
        unit: Unit,
        body: AcceptorBody,
        on_physical_change: Callable[[], None],
        on_outcome: Callable[[Outcome], None],
    ) -> None:
        self.faults = FaultSet(tables.FAULTS)
        self.timings = timings
        self.unit = unit
        self.body = body
        self.is_powered = False
        self._on_physical_change = on_physical_change
        self._on_outcome = on_outcome
        self._codes = frozenset(entry.code for entry in (unit.table or id003.US_TABLE) if entry.country)
        self._forget()

    @property
    def status(self) -> Status | None:
        """What a poll is answered; None without power and while booting."""
        return self._status

    @property
    def status_data(self) -> bytes:
        """Data of the status."""
        return self._status_data

    @property
    def settings(self) -> dict[Setting, bytes]:
        """Present values."""
        return self._settings

    @property
    def due_us(self) -> int | None:
        """When the present motion is over; None at rest."""
        return self._due_us

    # --- Hands ----------------------------------------------------------------------------------------

    def power_on(self, now_us: int) -> None:
        """Give it power: it boots in silence, then says what it holds."""
        if not self.is_powered:
            self.is_powered = True
            self._forget()
            self._schedule(_Motion.BOOT, now_us + self.timings.boot_us)

    def power_off(self) -> None:
        """Take its power: only the body stays."""
        self.is_powered = False
        self._forget()

    def insert(self, item: int | str, now_us: int) -> int:
        """Offer a note (its code) or a ticket (its bar code text) at the entrance, as a hand does.

        Returns the number of the insertion. A unit that is not idling does not draw it in.
        """
        number = self.body.insertions + 1
        thing = Item(item, "", number) if isinstance(item, int) else Item(id003.TICKET, item, number)
        if self._status is not Status.IDLING:
            self._change(insertions=number)
            self._tell(thing, "rejected", _word(self._status), now_us)
            return number
        self._change(insertions=number, place=Place.IN_FRONT, item=thing)
        self._show(Status.ACCEPTING)
        self._schedule(_Motion.ACCEPT, now_us + self.timings.accept_us)
        self._pause_if_second_bill(now_us)
        return number

    def remove_box(self) -> None:
        """Take the box out, at any time, powered or not."""
        self._change(box_present=False)
        if self._status is not None:
            self._stop(Status.STACKER_OPEN)

    def return_box(self, now_us: int, *, is_emptied: bool = False) -> tuple[Item, ...]:
        """Put the box back; return what a hand took out of it before."""
        taken = self.body.box if is_emptied else ()
        self._change(box_present=True, box=() if is_emptied else self.body.box)
        if self._status is Status.STACKER_OPEN:
            status = self._power_up_status()
            if status is not Status.POWER_UP:
                self._show(status)
            elif self.unit.status_after_box is Status.INITIALIZE:
                self._initialize(now_us)
            else:
                self._show(self.unit.status_after_box)
        return taken

    def clear_jam(self, now_us: int, *, take_item: bool = False) -> None:
        """Free what is jammed. The item stays, or is taken out by hand if it is in front of the lever."""
        was_jammed = self.body.jam != ""
        self._change(jam="")
        if take_item and was_jammed and self.body.place is Place.IN_FRONT:
            self._give_back("returned", "taken out by hand", now_us)

    def inject(self, kind: str, now_us: int, count: int | None = 1, detail: int = 0) -> None:
        """Inject a fault of ``id003_tables.FAULTS``. Raises UnknownFaultError."""
        self.faults.inject(kind, None if kind in tables.UNTIL_CLEARED else count, detail)
        if kind == "failure":
            self._change(failure=detail or 0xA2)
            if self._status is not None:
                self._stop(*self._error() or (Status.FAILURE,))
        elif kind == "rom_byte":
            self._change(rom=bytes((tables.ROM[0] ^ 0x01,)) + tables.ROM[1:])
        elif kind == "second_bill":
            self._pause_if_second_bill(now_us)

    def clear_fault(self, kind: str, now_us: int) -> None:
        """Disarm a fault and mend what it did. Raises UnknownFaultError."""
        self.faults.clear(kind)
        if kind == "failure":
            self._change(failure=0)
        elif kind == "rom_byte":
            self._change(rom=tables.ROM)
        elif kind == "second_bill" and self._status is Status.PAUSE:
            self._resume(now_us)
        elif kind.startswith("jam_"):
            self.clear_jam(now_us)
        elif kind.startswith("box_pulled_") and not self.body.box_present:
            self.return_box(now_us)

    # --- Commands -------------------------------------------------------------------------------------

    def set(self, setting: Setting, data: bytes) -> None:
        """Take a setting; INHIBIT and the denominations show at once in an idle unit."""
        self._settings[setting] = data
        if self._status in tables.IDLE:
            self._show(self._idle_status())

    def operate(self, command: Command, now_us: int) -> None:
        """Obey an operation command that ``id003_tables.POSSIBLE`` allows now."""
        match command:
            case Command.RESET:
                self._reset(now_us)
            case Command.STACK_1 | Command.STACK_2:
                self._vend = _Vend.AT_LEVER if command is Command.STACK_1 else _Vend.IN_BOX
                self._show(Status.STACKING)
                self._schedule(_Motion.LEVER, now_us + self.timings.lever_us)
                self._pause_if_second_bill(now_us)
            case Command.RETURN:
                self._show(Status.RETURNING)
                self._schedule(_Motion.BACK, now_us + self.timings.back_us)
            case Command.HOLD:
                self._show(Status.HOLDING)
                self._schedule(_Motion.ESCROW, now_us + self.timings.hold_us)
            case _:
                pass  # WAIT: accepted, changes nothing.

    def _reset(self, now_us: int) -> None:
        status = self._status
        if status in tables.MOVING or (status is Status.VEND_VALID and self._motion is not None):
            self._is_reset_due = True  # Motion ends first.
            return
        if status in (Status.POWER_UP_BILL_IN_STACKER, Status.VEND_VALID):
            self._is_told = True
            self._change(vend_unacknowledged=False)
        if status in tables.ERRORS and self._error() is None and self._holds_something():
            # An error is over and something is in the path: the unit restarts and says where it is (6.3).
            self._stop(self._power_up_status())
        else:
            self._initialize(now_us)

    def acknowledged(self, now_us: int) -> None:
        """The host has the money on record."""
        if self._status is not Status.VEND_VALID or self.faults.take("repeated_vend") is not None:
            return
        self._change(vend_unacknowledged=False)
        error = self._error() if self.body.jam else None
        if error is not None:
            self._stop(*error)
            return
        self._show(Status.STACKED)
        self._shown_until_us = now_us + self.timings.stacked_us
        if self._motion is None:
            self._schedule(_Motion.STACKED, self._shown_until_us)

    # --- Motion ---------------------------------------------------------------------------------------

    def run(self, now_us: int) -> None:
        """End every motion that is over by ``now_us``, in order, each at its own time."""
        while self._motion is not None and self._due_us is not None and self._due_us <= now_us:
            motion, due_us = self._motion, self._due_us
            self._motion = None
            self._due_us = None
            self._finish(motion, due_us)

    def _finish(self, motion: _Motion, now_us: int) -> None:
        match motion:
            case _Motion.BOOT:
                self._show(*self._boot_status())
            case _Motion.INITIALIZE:
                self._settle(now_us)
            case _Motion.ACCEPT:
                self._read_item(now_us)
            case _Motion.ESCROW:
                self._reject(0x79, now_us)
            case _Motion.LEVER:
                self._pass_lever(now_us)
            case _Motion.BOX:
                self._drop_into_box(now_us)
            case _Motion.STACKED:
                self._end_of_item(now_us)
            case _Motion.BACK:
                is_refused = self._status is Status.REJECTING
                reason = id003.reject_reason(self._status_data) if is_refused else ""
                self._give_back("rejected" if is_refused else "returned", reason, now_us)
                self._end_of_item(now_us)

    def _initialize(self, now_us: int) -> None:
        """Settings are lost, motors home, the self-test runs."""
        self._is_reset_due = False
        self._settings = _settings_after_reset()
        self._paused = None
        self._vend = _Vend.NEVER
        self._show(Status.INITIALIZE)
        self._schedule(_Motion.INITIALIZE, now_us + self.timings.initialize_us)

    def _settle(self, now_us: int) -> None:
        """Initialization is over: the self-test's result, then what is still in the path, then idle."""
        error = self._error()
        if error is not None:
            self._stop(*error)
        elif self._power_up_status() is Status.POWER_UP_BILL_IN_STACKER and not self._is_told:
            self._show(Status.POWER_UP_BILL_IN_STACKER)  # An error stood in front of it until now.
        elif self.body.place is Place.IN_FRONT:
            self._show(Status.RETURNING)
            self._schedule(_Motion.BACK, now_us + self.timings.back_us)
        elif self.body.place is Place.BEHIND:
            self._show(Status.STACKING)
            self._schedule(_Motion.BOX, now_us + self.timings.box_us - self.timings.lever_us)
        else:
            self._show(self._idle_status())

    def _read_item(self, now_us: int) -> None:
        """The item is read: refuse it or hold it in escrow."""
        item = self.body.item
        if item is None or self._take_jam("jam_at_entrance", "acceptor"):
            return
        misread = self.faults.take("misread")
        reason = (misread.detail or 0x76) if misread is not None else self._refusal(item)
        if reason:
            self._reject(reason, now_us)
            return
        self._show(Status.ESCROW, self._escrow_data(item))
        self._schedule(_Motion.ESCROW, now_us + self.timings.escrow_us)

    def _escrow_data(self, item: Item) -> bytes:
        if item.code == id003.TICKET:
            text = item.text[:-1] if self.faults.take("odd_barcode") is not None else item.text
            return bytes((id003.TICKET,)) + text.encode("ascii", "replace")
        unknown = self.faults.take("unknown_denomination")
        return bytes(((unknown.detail or 0x6E) if unknown is not None else item.code,))

    def _refusal(self, item: Item) -> int:
        """Return the reason code to refuse ``item``, 0 for none. C3 coming after 12 is the host's affair."""
        barred = self._settings[Setting.BARCODE_INHIBIT][0]
        if item.code == id003.TICKET:
            size = self._settings[Setting.BARCODE_FUNCTION][1]
            if barred & 2:
                return 0x79
            return 0x93 if size not in (0xFF, len(item.text)) else 0
        if item.code not in self._codes:
            return 0x76
        is_let_in = id003.is_enabled(self._settings[Setting.DENOMINATION], item.code) and not barred & 1
        return 0 if is_let_in else 0x79

    def _reject(self, reason: int, now_us: int) -> None:
        self._show(Status.REJECTING, bytes((reason,)))
        self._schedule(_Motion.BACK, now_us + self.timings.back_us)

    def _pass_lever(self, now_us: int) -> None:
        if self._take_jam("jam_before_lever", "acceptor"):
            return
        if self.faults.take("box_pulled_before_lever") is not None:
            self.remove_box()
            return
        if self.faults.take("cheat") is not None:
            self._give_back("returned", "pulled back on a string", now_us)
            self._stop(Status.CHEATED)
            return
        is_stuck = self.faults.take("jam_after_lever") is not None
        is_vend = self._vend is _Vend.AT_LEVER and not is_stuck and not self._is_reset_due
        if self.faults.take("box_pulled_after_lever") is not None:
            self._change(place=Place.BEHIND)
            self.remove_box()
            return
        self._change(
            place=Place.BEHIND, vend_unacknowledged=is_vend, jam="stacker" if is_stuck else self.body.jam
        )
        if is_stuck:
            self._stop(Status.JAM_IN_STACKER)
            return
        if is_vend:
            self._show(Status.VEND_VALID)
        self._schedule(_Motion.BOX, now_us + self.timings.box_us - self.timings.lever_us)

    def _drop_into_box(self, now_us: int) -> None:
        """The item falls into the box: one change, so that no cut finds it twice, or its flag missing."""
        body, item = self.body, self.body.item
        if item is None:
            return
        if self.faults.take("jam_after_vend") is not None:
            self._change(jam="stacker")
            if self._status is not Status.VEND_VALID:  # VEND VALID stays until it is acknowledged.
                self._stop(Status.JAM_IN_STACKER)
            return
        is_vend = self._vend is _Vend.IN_BOX
        flag = (body.vend_unacknowledged or is_vend) and not self._is_reset_due
        self._change(place=Place.NOWHERE, item=None, box=(*body.box, item), vend_unacknowledged=flag)
        self._tell(item, "stacked", "", now_us)
        if self._is_reset_due:
            self._initialize(now_us)
        elif is_vend:
            self._show(Status.VEND_VALID)
        elif self._status is Status.STACKED:
            self._schedule(_Motion.STACKED, max(now_us, self._shown_until_us))
        elif self._status is Status.STACKING:
            self._show(Status.STACKED)
            self._schedule(_Motion.STACKED, now_us + self.timings.stacked_us)

    def _end_of_item(self, now_us: int) -> None:
        error = self._error()
        if self._is_reset_due:
            self._initialize(now_us)
        elif error is not None:
            self._stop(*error)
        else:
            self._show(self._idle_status())

    # --- Errors ---------------------------------------------------------------------------------------

    def _error(self) -> tuple[Status, bytes] | None:
        """What the self-test would find wrong, the gravest first."""
        body = self.body
        if id003.crc(body.rom) != tables.ROM_CHECKSUM:
            return Status.FAILURE, b"\xb1"
        if body.failure:
            return Status.FAILURE, bytes((body.failure,))
        if not body.box_present:
            return Status.STACKER_OPEN, b""
        if body.jam:
            return Status.JAM_IN_STACKER if body.jam == "stacker" else Status.JAM_IN_ACCEPTOR, b""
        if body.is_box_full:
            return Status.STACKER_FULL, b""
        if self.faults.is_active("second_bill"):
            return Status.PAUSE, b""
        return None

    def _boot_status(self) -> tuple[Status, bytes]:
        """What it shows after booting: a bad image or a missing box at once, else what it holds."""
        error = self._error()
        if error is not None and (error[1] == b"\xb1" or error[0] is Status.STACKER_OPEN):
            return error
        return self._power_up_status(), b""

    def _power_up_status(self) -> Status:
        body = self.body
        if body.place is Place.BEHIND or body.vend_unacknowledged:
            return Status.POWER_UP_BILL_IN_STACKER
        if body.place is Place.IN_FRONT:
            return Status.POWER_UP_BILL_IN_ACCEPTOR
        return Status.POWER_UP

    def _holds_something(self) -> bool:
        return self._power_up_status() is not Status.POWER_UP

    def _take_jam(self, kind: str, where: str) -> bool:
        if self.faults.take(kind) is None:
            return False
        self._change(jam=where)
        self._stop(Status.JAM_IN_ACCEPTOR)
        return True

    def _pause_if_second_bill(self, now_us: int) -> None:
        """A second note behind the first stops everything in front of the lever."""
        status = self._status
        stoppable = tables.WAITING | {Status.ACCEPTING, Status.STACKING}
        if status is None or not self.faults.is_active("second_bill"):
            return
        if status in stoppable and self.body.place is Place.IN_FRONT:
            left_us = 0 if self._due_us is None else max(0, self._due_us - now_us)
            paused = _Paused(status, self._status_data, self._motion, left_us)
            self._stop(Status.PAUSE)
            self._paused = paused

    def _resume(self, now_us: int) -> None:
        paused = self._paused
        if paused is None:  # A RESET came meanwhile.
            self._settle(now_us)
            return
        self._paused = None
        self._show(paused.status, paused.data)
        if paused.motion is not None:
            self._schedule(paused.motion, now_us + paused.left_us)

    # --- Small steps ----------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Lose everything that needs power."""
        self._status = None
        self._status_data = b""
        self._motion = None
        self._due_us = None
        self._shown_until_us = 0
        self._paused = None
        self._vend = _Vend.NEVER
        self._is_reset_due = False
        self._is_told = False
        self._settings = _settings_after_reset()

    def _change(self, **fields: Any) -> None:
        """Change the body and let the world persist it, before any byte can tell of it."""
        body = replace(self.body, **fields)
        if body.item is not None and body.place is Place.BEHIND and self.body.place is not Place.BEHIND:
            self._is_told = False
        if body != self.body:
            self.body = body
            self._on_physical_change()

    def _show(self, status: Status, data: bytes = b"") -> None:
        self._status, self._status_data = status, data

    def _stop(self, status: Status, data: bytes = b"") -> None:
        """Stand still in ``status``."""
        self._motion = None
        self._due_us = None
        self._paused = None
        self._show(status, data)

    def _schedule(self, motion: _Motion, due_us: int) -> None:
        self._motion, self._due_us = motion, due_us

    def _idle_status(self) -> Status:
        mask, barred = self._settings[Setting.DENOMINATION], self._settings[Setting.BARCODE_INHIBIT][0]
        takes_notes = not barred & 1 and any(id003.is_enabled(mask, code) for code in self._codes)
        takes_tickets = not barred & 2
        is_inhibited = self._settings[Setting.INHIBIT][0] & 1 or not (takes_notes or takes_tickets)
        return Status.INHIBITED if is_inhibited else Status.IDLING

    def _give_back(self, result: str, reason: str, now_us: int) -> None:
        item = self.body.item
        if item is not None:
            self._change(place=Place.NOWHERE, item=None)
            self._tell(item, result, reason, now_us)

    def _tell(self, item: Item, result: str, reason: str, now_us: int) -> None:
        self._on_outcome(Outcome(item.insertion, item, result, reason, now_us))


def _settings_after_reset() -> dict[Setting, bytes]:
    """What a RESET leaves: the usual values, and inhibited until the host says otherwise (a choice)."""
    return {**id003.SETTING_DEFAULTS, Setting.INHIBIT: b"\x01"}


def _word(status: Status | None) -> str:
    """Why nothing was drawn in, as a word."""
    return "not_running" if status is None else status.name.lower()
