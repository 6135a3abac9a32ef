"""A SAS line on a pseudo-terminal: the machine's end, the ninth bit taken from the host's parity settings.

A host opens the symlink like any serial port, at any speed and parity, as often as it likes, in the middle
of a message too. While no host has it open, what the machine sends is lost, as on a wire with nobody at the
other end; a host that stops reading loses the oldest bytes, and the machine never waits for it.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from hal.backends.line_symlink import LineSymlink
from hal.backends.pseudo_terminal import PseudoTerminal
from hal.backends.serial_escapes import EscapeDecoder, escape
from hal.backends.wakeup_evidence import WakeupEvidence
from hal.ports.links import LinkError, Run

# TIOCPKT_IOCTL of linux/ioctl.h: the slave's settings changed. The termios module does not name it.
_SETTINGS_CHANGED = 0x40

_READ_SIZE = 4096
# A host that floods the line must not keep the loop for longer than this in one read().
_PACKETS_MAX = 64


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
        self._expects_own_change = False
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
            elif packet[0] & _SETTINGS_CHANGED:
                self._settings_changed()
        return runs

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Send ``data`` if a host is there; what it has not read makes room. Raises LinkError."""
        self._require_open()
        if self._ninth_bit is NinthBit.MARKED:
            data = escape(data, wakeup=wakeup)
        try:
            if not self._terminal.has_host():
                return
            if self._terminal.write(data) < len(data):
                # A stopped reader: this message, whole, is worth more to it than all the old ones.
                self._terminal.drop_unread()
                self._terminal.write(data)
        except OSError as error:
            raise LinkError(f"{self.url} failed: {error}") from error

    def close(self) -> None:
        """Hang up and remove the symlink. Harmless when done twice."""
        if self._is_open:
            self._is_open = False
            self._symlink.close()
            self._terminal.close()

    def _received(self, data: bytes, runs: list[Run]) -> None:
        self._terminal.release()
        if self._ninth_bit is NinthBit.MARKED:
            runs += self._escapes.feed(data)
        elif self._ninth_bit is NinthBit.PLAIN:
            runs.append((data, None))
        else:
            runs.append((data, self._evidence.label(len(data))))

    def _settings_changed(self) -> None:
        # Both at once, before anything else: each microsecond later is one in which more bytes can arrive.
        waiting = self._terminal.waiting()
        settings = self._terminal.settings()
        is_our_own = self._expects_own_change and settings.parity is self._evidence.setting
        self._expects_own_change = self._terminal.mend(settings)
        if is_our_own and not self._expects_own_change:
            return
        self._evidence.changed(settings.parity, waiting)
        self._terminal.release()

    def _host_left(self) -> None:
        """The last host closed the port; everything it wrote has been read."""
        try:
            self._terminal.hold()
            self._terminal.drop_unread()  # the next host must not read what was meant for this one
        except OSError as error:
            raise LinkError(f"{self.url} failed: {error}") from error
        self._evidence.host_left()
        self._escapes.reset()

    def _require_open(self) -> None:
        if not self._is_open:
            raise LinkError(f"{self.url} is closed")
