"""The host's end of a SAS line on this computer: a serial port, a pseudo-terminal or TCP.

On a serial port and on a pseudo-terminal the ninth bit is made with mark and space parity
(serial_ninth_bit.md 3); on TCP it is lost, or written out with ``?marked``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import termios
import time
from typing import Protocol

import serial

from hal.backends.serial_escapes import EscapeDecoder, escape

FORMS = "pty:PATH, serial:DEVICE, tcp:HOST:PORT, or a path"
BAUD = 19_200
PAUSE_S = 0.002
"""From one write to the next. A byte takes 0.573 ms, and tcdrain is not enough on some USB adapters; on a
pseudo-terminal 2 ms kept bytes and settings apart in every trial. It must stay below the 5 ms in which the
next byte is due (SAS reference 3)."""
CONNECT_TIMEOUT_S = 5.0
READ_SIZE = 4096


class HostLineError(Exception):
    """The line cannot be opened, or was lost. One sentence: what is wrong, and what to do."""


class HostLine(Protocol):
    """An open line. Used by one thread."""

    @property
    def url(self) -> str:
        """The line as it was asked for."""

    def write(self, data: bytes, *, wakeup: bool) -> None:
        """Send bytes, every one with the ninth bit ``wakeup``. Raises HostLineError."""

    def receive(self, timeout_s: float) -> bytes:
        """Return what is there, waiting up to ``timeout_s`` for a first byte; ``b""``: nothing came.

        Raises HostLineError.
        """

    def close(self) -> None:
        """Let go of the line. Harmless when done twice."""


def open_host_line(url: str) -> HostLine:
    """Open the line at ``url`` (see ``FORMS``). Raises HostLineError."""
    scheme, colon, rest = url.partition(":")
    if not colon or "/" in scheme:
        return SerialHostLine(url, url)
    if scheme in ("pty", "serial") and rest:
        return SerialHostLine(url, rest.partition("?")[0])
    if scheme == "tcp" and rest:
        return TcpHostLine(url, rest)
    raise HostLineError(f"{url!r} is not a line a host can open; write {FORMS}.")


class SerialHostLine:
    """A serial port or pseudo-terminal, 19200 8 bits, the ninth bit made with mark and space parity.

    Args:
        url: how the line is called in messages.
        device: path of the port.
    """

    def __init__(self, url: str, device: str) -> None:
        self._url = url
        self._written_s = 0.0
        try:
            self._port = serial.Serial(device, BAUD, timeout=0, exclusive=True)
        except (serial.SerialException, OSError, ValueError, termios.error) as error:
            raise HostLineError(f"cannot open {url}: {_words(error)}.") from error

    @property
    def url(self) -> str:
        """See HostLine."""
        return self._url

    def write(self, data: bytes, *, wakeup: bool) -> None:
        """See HostLine."""
        parity = serial.PARITY_MARK if wakeup else serial.PARITY_SPACE
        time.sleep(max(0.0, self._written_s + PAUSE_S - time.monotonic()))
        self._set_parity(parity)
        try:
            self._port.write(data)
            self._port.flush()
        except (serial.SerialException, OSError, termios.error) as error:
            raise HostLineError(f"lost {self._url}: {_words(error)}.") from error
        self._written_s = time.monotonic()

    def receive(self, timeout_s: float) -> bytes:
        """See HostLine."""
        try:
            ready, _, _ = select.select([self._port.fileno()], [], [], max(0.0, timeout_s))
            return bytes(self._port.read(READ_SIZE)) if ready else b""
        except (serial.SerialException, OSError) as error:
            raise HostLineError(f"lost {self._url}: {_words(error)}.") from error

    def close(self) -> None:
        """See HostLine."""
        if self._port.is_open:
            with contextlib.suppress(HostLineError, OSError):  # where the line is gone, nobody minds
                self._set_parity(serial.PARITY_NONE)  # or the next user of the port finds mark or space set
            self._port.close()

    def _set_parity(self, parity: str) -> None:
        try:
            self._port.parity = parity
        except termios.error as error:
            # A pseudo-terminal keeps only part of what is asked: EINVAL says that this part stood so already.
            if error.args[0] != errno.EINVAL:
                raise HostLineError(f"lost {self._url}: {error.args[-1]}.") from error


class TcpHostLine:
    """A TCP connection to the machine's end.

    Args:
        url: how the line is called in messages.
        target: ``HOST:PORT``, perhaps with ``?marked`` or ``?plain``.
    """

    def __init__(self, url: str, target: str) -> None:
        self._url = url
        address, _, query = target.partition("?")
        host, colon, port = address.rpartition(":")
        if query not in ("", "marked", "plain"):
            raise HostLineError(f"{url!r}: ?{query} is unknown; after tcp: may stand ?marked or ?plain.")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65_536:
            raise HostLineError(f"{url!r} needs a host and a port, such as tcp:127.0.0.1:5000.")
        self._escapes = EscapeDecoder() if query == "marked" else None
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S)
        except OSError as error:
            raise HostLineError(f"nothing listens at {url}: {_words(error)}.") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def url(self) -> str:
        """See HostLine."""
        return self._url

    def write(self, data: bytes, *, wakeup: bool) -> None:
        """See HostLine."""
        try:
            self._socket.sendall(escape(data, wakeup=wakeup) if self._escapes else data)
        except OSError as error:
            raise HostLineError(f"lost {self._url}: {_words(error)}.") from error

    def receive(self, timeout_s: float) -> bytes:
        """See HostLine."""
        try:
            ready, _, _ = select.select([self._socket], [], [], max(0.0, timeout_s))
            if not ready:
                return b""
            data = self._socket.recv(READ_SIZE)
        except (OSError, ValueError) as error:
            raise HostLineError(f"lost {self._url}: {error}.") from error
        if not data:
            raise HostLineError(f"lost {self._url}: the machine's end closed it.")
        return b"".join(run for run, _ in self._escapes.feed(data)) if self._escapes else data

    def close(self) -> None:
        """See HostLine."""
        self._socket.close()


def _words(error: Exception) -> str:
    """What went wrong in the operating system's words, without number and path."""
    number = getattr(error, "errno", None)
    if number:
        return os.strerror(number).lower()
    text = str(error)
    return "it is no serial port" if "Inappropriate ioctl" in text else text.lower().rstrip(".")
