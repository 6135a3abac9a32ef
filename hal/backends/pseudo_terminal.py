"""The kernel's side of a pseudo-terminal: two ends, packet mode, who has the other end open. Linux only.

The host opens the *slave* like any serial port; we hold the *master*. Facts of serial_ninth_bit.md 2 that
decide the shape of this file: a pty drops ``PARENB`` but keeps ``CMSPAR`` and ``PARODD``; in packet mode
with ``EXTPROC`` set, each change of the slave's settings reaches the master as a status byte; the last
close of the slave makes the master's read fail with EIO and its poll spin. So while no host is there we
keep the slave open ourselves, and let go as soon as a host shows itself: its last close is then news, not
noise.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import struct
import termios
import tty
from collections.abc import Iterator
from dataclasses import dataclass

from hal.backends.errors import BackendError, reason

# Not in the termios module of Python 3.11 (asm-generic/termbits.h, the same on x86 and ARM).
_CMSPAR = 0o10000000000
_EXTPROC = 0o200000

_CONTROL, _LOCAL = 2, 3  # places in the list of termios.tcgetattr
_OFF = struct.pack("i", 0)
_ON = struct.pack("i", 1)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the host has set, as far as it concerns us."""

    parity: bool | None
    """``True`` mark, ``False`` space, ``None`` neither."""
    ignores_modem_lines: bool
    """``CLOCAL``, which every host sets and nothing here depends on."""
    announces_changes: bool
    """``EXTPROC``, which we set; a host that fills its flags from nothing clears it."""


class PseudoTerminal:
    """An open pair. The owner reads packets until there are none, and reports when a host shows itself.

    Raises:
        BackendError: the system has no pseudo-terminal left, or no such thing.
    """

    def __init__(self) -> None:
        try:
            self.master, slave = os.openpty()
        except OSError as error:
            raise BackendError(
                f"Cannot make a pseudo-terminal: {reason(error)}; close some, or raise kernel.pty.max."
            ) from error
        self.path = os.ttyname(slave)
        self._own_slave: int | None = slave
        os.set_blocking(self.master, False)
        tty.setraw(slave)
        self._set_extproc()
        fcntl.ioctl(self.master, termios.TIOCPKT, _ON)
        self._poller = select.poll()
        self._poller.register(self.master, select.POLLIN)
        self._status_poller = select.poll()
        self._status_poller.register(self.master, select.POLLPRI)

    def packet(self, limit: int) -> bytes | None:
        """Return the next packet, ``None`` if there is none. First byte: 00 for data, otherwise a status.

        Raises:
            OSError: EIO, the last host has closed the slave.
        """
        try:
            return os.read(self.master, limit + 1)
        except BlockingIOError:
            return None

    def waiting(self) -> int:
        """Return how many bytes from the host lie ready to be read."""
        # Polling makes the kernel hand over what is still on its way from the slave; the count alone would
        # miss it.
        self._poller.poll(0)
        count = array.array("i", [0])
        fcntl.ioctl(self.master, termios.FIONREAD, count)
        return count[0]

    def settings(self) -> Settings:
        """Return what the host has set."""
        flags = termios.tcgetattr(self.master)
        parity = bool(flags[_CONTROL] & termios.PARODD) if flags[_CONTROL] & _CMSPAR else None
        return Settings(
            parity,
            ignores_modem_lines=bool(flags[_CONTROL] & termios.CLOCAL),
            announces_changes=bool(flags[_LOCAL] & _EXTPROC),
        )

    def mend(self, settings: Settings) -> bool:
        """Prepare the line for the host's next request; return whether that is a change, and so announced.

        glibc fails ``tcsetattr`` with EINVAL when nothing of the request took effect, and ``PARENB`` never
        does. With ``CLOCAL`` clear every host's request changes something, even if it asks for what is
        already so. glibc compares what it finds before and after the request: clearing ``CLOCAL`` in between
        would bring about the very error, and a host that wakes us can be held up just there. So mend only
        when the host has shown that it is past it.
        """
        if settings.ignores_modem_lines:
            # One bit under the kernel's lock: reading and writing back all flags could undo a host's change
            # in between.
            fcntl.ioctl(self.master, termios.TIOCSSOFTCAR, _OFF)
        if not settings.announces_changes:
            self._set_extproc()
        return settings.ignores_modem_lines or not settings.announces_changes

    def hold(self) -> None:
        """Keep the slave open ourselves: no host has it."""
        if self._own_slave is None:
            self._own_slave = self._open_slave()

    def release(self) -> None:
        """Let go of the slave: a host has it, and its last close shall be seen."""
        if self._own_slave is not None:
            os.close(self._own_slave)
            self._own_slave = None

    def has_host(self) -> bool:
        """Return whether a host has the slave open.

        A host that only listens shows no sign of itself. So look: let go, and hold again if the line hangs
        up.
        """
        if self._own_slave is None:
            return not self._is_hung_up()
        self.release()
        if not self._is_hung_up():
            return True
        self.hold()
        return False

    def has_announcement(self, wait_ms: int = 0) -> bool:
        """Return whether the next packet is a status; those come before all data.

        Waits at most ``wait_ms`` for one, and no longer once no host is there.
        """
        return any(event & select.POLLPRI for _, event in self._status_poller.poll(wait_ms))

    def _is_hung_up(self) -> bool:
        return any(event & select.POLLHUP for _, event in self._poller.poll(0))

    def write(self, data: bytes) -> int:
        """Return how many bytes the host's side had room for, 0 included."""
        try:
            return os.write(self.master, data)
        except BlockingIOError:
            return 0

    def unread(self) -> int:
        """Return how many bytes were written and no host has read."""
        with self._any_slave() as slave:
            poller = select.poll()
            poller.register(slave, select.POLLIN)
            poller.poll(0)  # as in waiting()
            count = array.array("i", [0])
            fcntl.ioctl(slave, termios.FIONREAD, count)
            return count[0]

    def drop_unread(self) -> None:
        """Throw away what was written and no host has read. Announced to us like a host's flush."""
        with self._any_slave() as slave:
            termios.tcflush(slave, termios.TCIFLUSH)

    @contextlib.contextmanager
    def _any_slave(self) -> Iterator[int]:
        """Our own slave, or one for the moment."""
        if self._own_slave is not None:
            yield self._own_slave
            return
        slave = self._open_slave()
        try:
            yield slave
        finally:
            os.close(slave)

    def close(self) -> None:
        """Close both ends: a host that has the slave open sees a hang-up."""
        self.release()
        with contextlib.suppress(OSError):
            os.close(self.master)

    def _open_slave(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_NOCTTY)

    def _set_extproc(self) -> None:
        # Not atomic like TIOCSSOFTCAR: only at the start, and for the rare host that fills its flags from
        # nothing.
        flags = termios.tcgetattr(self.master)
        flags[_LOCAL] |= _EXTPROC
        termios.tcsetattr(self.master, termios.TCSANOW, flags)
