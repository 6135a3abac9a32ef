"""A SAS line on a pseudo-terminal: the machine's end, the ninth bit taken from the host's parity settings.

A host opens the symlink like any serial port, at any speed and parity, as often as it likes, in the middle
of a message too. While no host has it open, what the machine sends is lost, as on a wire with nobody at the
other end, but for the answer to a host that is about to open it again (``kept_answer``); a host that stops
reading loses the oldest bytes, and the machine never waits for it.
"""

from __future__ import annotations

import time
from enum import Enum
from pathlib import Path

from hal.backends.kept_answer import KeptAnswer
from hal.backends.line_symlink import LineSymlink
from hal.backends.pseudo_terminal import PseudoTerminal
from hal.backends.serial_escapes import EscapeDecoder, escape
from hal.backends.wakeup_evidence import WakeupEvidence
from hal.ports.links import LinkError, Run

# Of asm-generic/ioctls.h, not in the termios module: TIOCPKT_IOCTL, the slave's settings changed, and
# TIOCPKT_FLUSHREAD, what we wrote was thrown away unread. pyserial does both whenever it opens a port.
_SETTINGS_CHANGED = 0x40
_FLUSHED = 0x01
# A host that closes behind its polls is back at its flush by then, but for a very busy computer.
_REOPENING_MS = 2

# A host that floods the line must not keep the loop for longer than this in one read(): 512 bytes are 300 ms
# of a real line and a few milliseconds of answers. The descriptor stays readable for the rest.
_READ_SIZE = 64
_PACKETS_MAX = 8


class NinthBit(Enum):
    """How a line without parity carries the ninth bit."""

    FROM_PARITY = ""
    """Received: from mark or space parity, ``None`` where the host sets neither. Sent: lost."""
    MARKED = "marked"
    """Both ways as ``FF 00 xx`` for a marked byte and ``FF FF`` for a literal FF."""
    PLAIN = "plain"
    """Received: always ``None``. Sent: lost."""


class PtyLink:
    """The machine's end of a line whose other end is a symlink at ``link``. A WakeupLink.

    Args:
        link: where the symlink is made; relative paths start at the current folder.
        ninth_bit: how the ninth bit travels.

    Raises:
        BackendError: no pseudo-terminal left, ``link`` is taken, or its folder cannot be written.
    """

    def __init__(self, link: Path, ninth_bit: NinthBit = NinthBit.FROM_PARITY) -> None:
        self._ninth_bit = ninth_bit
        self._terminal = PseudoTerminal()
        try:
            self._symlink = LineSymlink(link, self._terminal.path)
        except BaseException:
            self._terminal.close()
            raise
        self._evidence = WakeupEvidence()
        self._escapes = EscapeDecoder()
        self._kept = KeptAnswer()
        self._expects_own_change = False
        self._expects_own_flush = False
        self._is_unmended = False
        # The last host has left, and the next has neither written nor flushed: it may be opening the port.
        self._is_opening = False
        self._has_flushed = False
        self._is_open = True

    @property
    def url(self) -> str:
        """The line as a URL with an absolute path, such as ``pty:/home/me/egm-data/sas?marked``."""
        query = f"?{self._ninth_bit.value}" if self._ninth_bit.value else ""
        return f"pty:{self._symlink.path}{query}"

    @property
    def terminal_path(self) -> str:
        """Where the symlink leads, such as ``/dev/pts/3``."""
        return self._terminal.path

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``read`` has something to do."""
        return self._terminal.master

    def read(self) -> list[Run]:
        """Return what has arrived as runs. Never blocks. Raises LinkError."""
        self._require_open()
        runs: list[Run] = []
        for _ in range(_PACKETS_MAX):
            try:
                packet = self._terminal.packet(_READ_SIZE)
            except OSError:
                self._host_left()
                continue
            if packet is None:
                self._evidence.drained()
                break
            if packet[0] == 0:
                self._received(packet[1:], runs)
            else:
                self._announced(packet[0])
        if self._has_flushed:
            self._repeat_flushed()
        if self._kept.has_expired(_now_us()):
            self._kept.forget()
            if not self._terminal.has_host():
                self._drop_unread()
        return runs

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Send ``data`` if a host is there; what it has not read makes room. Raises LinkError.

        Does not wait for a reader, but up to 2 ms for a host that is known to close behind its polls.
        """
        self._require_open()
        if self._ninth_bit is NinthBit.MARKED:
            data = escape(data, wakeup=wakeup)
        try:
            if not wakeup and (self._is_opening or self._kept.is_host_hasty):
                self._await_flush()  # a flush before this write is not a flush behind it
            has_host = self._terminal.has_host()
            is_ready = has_host and not self._is_opening
            now_us = _now_us()
            if has_host or (self._kept.is_answer(now_us) and not wakeup):
                self._send(data)
            if not wakeup:
                self._kept.keep(data, now_us, is_owed=not is_ready)
        except OSError as error:
            raise LinkError(f"{self.url} failed: {error}") from error

    def _await_flush(self) -> None:
        """If the host is about to close and open the port, let it come to its flush first.

        Once it is known to have closed there is no need: what is written now is written again behind the flush.
        """
        wait_ms = 0 if self._is_opening else _REOPENING_MS
        while True:
            if not self._terminal.has_announcement(wait_ms):
                # Not as hasty as it was: it keeps the port open, and no later answer waits again.
                self._kept.is_host_hasty = self._kept.is_host_hasty and not wait_ms
                return
            packet = self._terminal.packet(_READ_SIZE)
            if not packet or not packet[0]:
                return
            self._announced(packet[0])
            if self._has_flushed:
                self._has_flushed = False
                wait_ms = 0

    def _send(self, data: bytes) -> None:
        if self._terminal.write(data) < len(data):
            # A stopped reader: this message, whole, is worth more to it than all the old ones.
            self._drop_unread()
            self._terminal.write(data)

    def close(self) -> None:
        """Hang up and remove the symlink. Harmless when done twice."""
        if self._is_open:
            self._is_open = False
            self._symlink.close()
            self._terminal.close()

    def _received(self, data: bytes, runs: list[Run]) -> None:
        self._terminal.release()
        self._kept.heard(_now_us())
        self._is_opening = False
        if self._is_unmended:
            self._mend()
        if self._ninth_bit is NinthBit.MARKED:
            runs += self._escapes.feed(data)
        elif self._ninth_bit is NinthBit.PLAIN:
            runs.append((data, None))
        else:
            runs.append((data, self._evidence.label(len(data))))

    def _announced(self, status: int) -> None:
        """The host changed its settings, or threw away what it had not read, or both."""
        if status & _SETTINGS_CHANGED:
            self._settings_changed()
        if status & _FLUSHED:
            if self._expects_own_flush:
                self._expects_own_flush = False
                return
            if self._is_unmended:
                self._mend()
            self._is_opening = False
            self._has_flushed = True

    def _settings_changed(self) -> None:
        # Both at once, before anything else: each microsecond later is one in which more bytes can arrive.
        waiting = self._terminal.waiting()
        settings = self._terminal.settings()
        is_our_own = self._expects_own_change and settings.parity is self._evidence.setting
        self._expects_own_change = False
        self._is_unmended = settings.ignores_modem_lines or not settings.announces_changes
        if is_our_own and not self._is_unmended:
            return
        self._evidence.changed(settings.parity, waiting)
        self._terminal.release()

    def _mend(self) -> None:
        """The host is past its request: prepare for the next."""
        self._is_unmended = False
        self._expects_own_change = self._terminal.mend(self._terminal.settings())

    def _host_left(self) -> None:
        """The last host closed the port; everything it wrote has been read."""
        try:
            self._terminal.hold()
            if not self._kept.host_left(self._terminal.unread(), _now_us()):
                self._drop_unread()  # the next host must not read what was meant for this one
            if self._is_unmended:
                self._mend()
        except OSError as error:
            raise LinkError(f"{self.url} failed: {error}") from error
        self._is_opening = True
        self._evidence.host_left()
        self._escapes.reset()

    def _repeat_flushed(self) -> None:
        """The host threw away, when it opened the port, the answer that it is about to wait for."""
        self._has_flushed = False
        owed = self._kept.owed()
        if owed and not self._terminal.unread():
            self._send(owed)
            self._kept.delivered()

    def _drop_unread(self) -> None:
        # A flush is announced to us like a host's: none if there is nothing.
        if self._terminal.unread():
            self._expects_own_flush = True
            self._terminal.drop_unread()

    def _require_open(self) -> None:
        if not self._is_open:
            raise LinkError(f"{self.url} is closed")


def _now_us() -> int:
    return time.monotonic_ns() // 1000
