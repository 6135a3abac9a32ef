"""Twin of an ID-003 note acceptor: its end of the wire, and the hands that reach it.

It sees its wire and the world's hands, never the firmware. What outlives its power is the ``AcceptorBody``;
everything else is lost when the power goes. Behaviour: id003.md 3 to 6; the inside is ``id003_mechanism``.
Not modelled: interrupt mode, the directions of a note, encryption, the program signature (answered 4B), the
time that bytes need on the wire.
"""

from __future__ import annotations

from collections.abc import Callable

from hal.ports.links import ByteLink, LinkError
from hal.wire import id003
from hal.wire.id003 import Command, Setting, Status
from simulator.cabinet import id003_tables as tables
from simulator.cabinet.faults import FaultSet
from simulator.cabinet.id003_mechanism import Id003Mechanism
from simulator.cabinet.id003_tables import Timings, Unit
from simulator.cabinet.note_path import AcceptorBody, Item, Outcome


def _nothing_to_do() -> None:
    """Stand in for a world that keeps nothing."""


class Id003AcceptorTwin:
    """A simulated acceptor on the device's end of ``link``. It is made without power: call ``power_on``.

    Args:
        link: the device's end of the wire.
        timings: how long things take.
        unit: what kind of unit it is.
        body: what was physically true when the world was last saved; None: a new unit with an empty box.
        on_physical_change: called after ``physical`` changed and before any byte that tells of it is written.
        on_outcome: called with each outcome, which is also appended to ``outcomes``.
    """

    def __init__(
        self,
        link: ByteLink,
        *,
        timings: Timings | None = None,
        unit: Unit | None = None,
        body: AcceptorBody | None = None,
        on_physical_change: Callable[[], None] = _nothing_to_do,
        on_outcome: Callable[[Outcome], None] | None = None,
    ) -> None:
        self.outcomes: list[Outcome] = []
        self.timings = timings or Timings()
        self.unit = unit or Unit()
        self.on_physical_change = on_physical_change
        self.on_outcome = on_outcome
        self._link = link
        self._inside = Id003Mechanism(
            self.timings,
            self.unit,
            body or AcceptorBody(rom=tables.ROM),
            lambda: self.on_physical_change(),  # looked up at each call: the world may set it later
            self._tell,
        )
        self._framer = id003.Framer()
        self._outbox: list[tuple[int, bytes]] = []
        self._has_communication_error = False

    # --- What the world sees and does -----------------------------------------------------------------

    def physical(self) -> AcceptorBody:
        """Return what would survive a power cut now."""
        return self._inside.body

    @property
    def status(self) -> Status | None:
        """What a poll would be answered now; None without power and while booting."""
        return self._inside.status

    @property
    def is_powered(self) -> bool:
        """Whether it has power."""
        return self._inside.is_powered

    @property
    def faults(self) -> FaultSet:
        """The faults it knows and those that are armed."""
        return self._inside.faults

    def power_on(self, now_us: int) -> None:
        """Give it power: it boots in silence, then says what it holds."""
        self._inside.power_on(now_us)

    def power_off(self) -> None:
        """Take its power: only ``physical`` stays."""
        self._inside.power_off()
        self._framer.clear()
        self._outbox.clear()
        self._has_communication_error = False

    def insert(self, item: int | str, now_us: int) -> int:
        """Offer a note (its code) or a ticket (its bar code's text) at the entrance, as a hand does.

        Returns the number of the insertion; what becomes of the item is an ``Outcome`` with that number. An
        acceptor that is not idling does not draw it in: that outcome is there when this returns.
        """
        return self._inside.insert(item, now_us)

    def remove_box(self) -> None:
        """Take the box out, at any time, powered or not."""
        self._inside.remove_box()

    def return_box(self, now_us: int, *, is_emptied: bool = False) -> tuple[Item, ...]:
        """Put the box back; return what a hand took out of it before."""
        return self._inside.return_box(now_us, is_emptied=is_emptied)

    def clear_jam(self, now_us: int, *, take_item: bool = False) -> None:
        """Free what is jammed. The item stays, or is taken out by hand if it is in front of the lever."""
        self._inside.clear_jam(now_us, take_item=take_item)

    def inject(self, kind: str, now_us: int, count: int | None = 1, detail: int = 0) -> None:
        """Inject a fault of ``id003_tables.FAULTS``. Raises UnknownFaultError, ValueError for a bad count."""
        self._inside.inject(kind, now_us, count, detail)

    def clear_fault(self, kind: str, now_us: int) -> None:
        """Disarm a fault and mend what it did (part, jam, box, second note). Raises UnknownFaultError."""
        self._inside.clear_fault(kind, now_us)

    # --- Time and bytes -------------------------------------------------------------------------------

    def step(self, now_us: int) -> None:
        """Do everything that is due by ``now_us``, take what has arrived, write what is due."""
        self._inside.run(now_us)
        try:
            data = self._link.read(limit=4096)
        except LinkError:
            data = b""
        if self._inside.status is not None:
            self._hear(data, now_us)
        elif data and self._inside.is_powered and self.unit.is_zero_while_booting:
            self._outbox.append((now_us + self.timings.answer_us, b"\x00"))
        if self.faults.is_active("disconnect"):
            self._outbox.clear()
        while self._outbox and self._outbox[0][0] <= now_us:
            self._write(self._outbox.pop(0)[1])

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called even if nothing arrives; None if never."""
        dues = [self._inside.due_us, self._outbox[0][0] if self._outbox else None]
        return min((due for due in dues if due is not None), default=None)

    def _hear(self, data: bytes, now_us: int) -> None:
        if not data:
            return
        broken_before = self._framer.errors["bad_crc"]
        for frame in self._framer.receive(now_us, data):
            if self.faults.is_active("disconnect") or self.faults.take("lost_request") is not None:
                continue
            answer = self._answer(frame, now_us)
            if answer is not None:
                self._send(answer, now_us)
        if self._framer.errors["bad_crc"] > broken_before and self.unit.shows_communication_error:
            self._has_communication_error = True

    def _send(self, answer: id003.Frame, now_us: int) -> None:
        data = id003.encode(answer.code, answer.data)
        if self.faults.take("lost_answer") is not None:
            return
        if answer.code == id003.ACK and self.faults.take("lost_ack_to_host") is not None:
            return
        if self.faults.take("noise_00") is not None:
            data = b"\x00"
        elif self.faults.take("corrupt_crc") is not None:
            data = data[:-1] + bytes((data[-1] ^ 0xFF,))
        late = self.faults.take("late_answer")
        delay_us = self.timings.answer_us if late is None else late.detail or self.timings.late_us
        self._outbox.append((now_us + delay_us, data))
        self._outbox.sort(key=lambda entry: entry[0])

    def _write(self, data: bytes) -> None:
        try:
            self._link.write(data)
        except LinkError:
            return  # Nobody is there to hear it, and an acceptor never speaks unasked.

    def _tell(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if self.on_outcome is not None:
            self.on_outcome(outcome)

    # --- Messages -------------------------------------------------------------------------------------

    def _answer(self, frame: id003.Frame, now_us: int) -> id003.Frame | None:
        """Obey one message of the host; return the answer, None for silence."""
        code, data, status = frame.code, frame.data, self._inside.status
        if code == id003.ACK:
            if self.faults.take("lost_ack_from_host") is None:
                self._inside.acknowledged(now_us)
            return None
        if status is None or status not in tables.POSSIBLE.get(code, ()):
            return id003.Frame(id003.INVALID_COMMAND)
        if len(data) != id003.SETTING_SIZES.get(code, 0):
            return id003.Frame(id003.INVALID_COMMAND)
        if code in id003.SETTING_SIZES:
            self._inside.set(Setting(code), data)
            return frame
        if code == Command.STATUS_REQUEST:
            return self._status_frame(status)
        if code in id003.OPERATIONS:
            self._inside.operate(Command(code), now_us)
            return id003.Frame(id003.ACK)
        return self._identify(code)

    def _status_frame(self, status: Status) -> id003.Frame:
        if self._has_communication_error:
            self._has_communication_error = False
            return id003.Frame(Status.COMMUNICATION_ERROR)
        return id003.Frame(status, self._inside.status_data)

    def _identify(self, code: int) -> id003.Frame:
        """Answer a question about the unit, or about a setting's present value."""
        if code == Command.VERSION:
            return id003.Frame(code, self.unit.version.encode("ascii"))
        if code == Command.BOOT_VERSION:
            return id003.Frame(code, self.unit.boot_version.encode("ascii"))
        if code != Command.CURRENCY_ASSIGN:
            return id003.Frame(code, self._inside.settings[Setting(code + id003.GET_OFFSET)])
        if self.unit.table is None:
            return id003.Frame(id003.INVALID_COMMAND)
        return id003.Frame(code, id003.encode_currency_assign(self.unit.table))
