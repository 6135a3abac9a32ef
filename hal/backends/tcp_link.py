"""A line as raw bytes over TCP: we listen, one client at a time is the other end.

With no client the line is a wire with nobody at the other end: reads are empty, writes are lost. A second
client is turned away; a client that vanishes without a word is noticed and makes room for the next.
"""

from __future__ import annotations

import contextlib
import select
import socket

from hal.backends.errors import BackendError, reason
from hal.backends.serial_escapes import EscapeDecoder, escape
from hal.ports.links import LinkError, Run

_READ_SIZE = 512  # a client that floods the line must not keep the loop for long in one read()
# Enough for the longest burst a line sends, small enough that a stopped reader is soon noticed.
_SEND_BUFFER_BYTES = 65_536
# A client whose computer lost its power or network is given up after this time.
_SILENCE_SECONDS = 10


class TcpServer:
    """The listening socket and its one client. Bytes in, bytes out; never blocks.

    Args:
        host: name or address to listen on, such as ``127.0.0.1`` or ``::1``.
        port: 0 picks a free one.

    Raises:
        BackendError: the address is busy, not ours or unknown.
    """

    def __init__(self, host: str, port: int) -> None:
        self._listener = _listen(host, port)
        self.host = host
        self.port: int = self._listener.getsockname()[1]
        self._client: socket.socket | None = None
        # An epoll in an epoll: the loop sees one descriptor, whichever sockets come and go.
        self._poller = select.epoll()
        self._poller.register(self._listener, select.EPOLLIN)
        self._is_open = True

    @property
    def address(self) -> str:
        """``HOST:PORT`` with the port in use, the host in brackets if it is an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def has_client(self) -> bool:
        """Whether a client is connected, as far as ``receive`` has seen."""
        return self._client is not None

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``receive`` has something to do."""
        return self._poller.fileno()

    def receive(self, limit: int = _READ_SIZE) -> tuple[bytes, bool]:
        """Return 0..limit bytes, and whether a new client sent them. Raises LinkError once closed."""
        self._require_open()
        data = self._receive(limit)
        # After the read, so that a client which is gone does not turn its successor away.
        if not data and self._accept():
            return self._receive(limit), True
        return data, False

    def send(self, data: bytes) -> None:
        """Send ``data``, or hang up on a client that has stopped reading. Raises LinkError once closed."""
        self._require_open()
        if self._client is None:
            return
        try:
            is_sent = self._client.send(data) == len(data)
        except OSError:
            is_sent = False
        if not is_sent:
            self._drop_client()

    def close(self) -> None:
        """Hang up and stop listening. Harmless when done twice."""
        if self._is_open:
            self._is_open = False
            self._drop_client()
            self._poller.close()
            self._listener.close()

    def _receive(self, limit: int) -> bytes:
        if self._client is None:
            return b""
        try:
            data = self._client.recv(limit)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._drop_client()
        return data

    def _accept(self) -> bool:
        """Take a waiting client if there is room, turn the others away; return whether one was taken."""
        is_new = False
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # none waiting, or it went away while waiting
                return is_new
            if self._client is not None:
                client.close()
                continue
            _set_up(client)
            self._poller.register(client, select.EPOLLIN | select.EPOLLRDHUP)
            self._client = client
            is_new = True

    def _drop_client(self) -> None:
        if self._client is not None:
            self._poller.unregister(self._client)
            self._client.close()
            self._client = None

    def _require_open(self) -> None:
        if not self._is_open:
            raise LinkError(f"tcp:{self.address} is closed")


class TcpByteLink:
    """A device's line over TCP. A ByteLink. Arguments and errors as TcpServer."""

    def __init__(self, host: str, port: int) -> None:
        self._server = TcpServer(host, port)

    @property
    def url(self) -> str:
        """The line as a URL with the port in use, such as ``tcp:127.0.0.1:4001``."""
        return f"tcp:{self._server.address}"

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``read`` has something to do."""
        return self._server.fileno()

    def read(self, limit: int) -> bytes:
        """Return 0..limit bytes already received. Never blocks. Raises LinkError."""
        return self._server.receive(limit)[0]

    def write(self, data: bytes) -> None:
        """Send ``data`` if a client is there. Never blocks. Raises LinkError."""
        self._server.send(data)

    def close(self) -> None:
        """Hang up and stop listening."""
        self._server.close()


class TcpWakeupLink:
    """The machine's end of a SAS line over TCP. A WakeupLink.

    Args:
        host: name or address to listen on. port: 0 picks a free one. is_marked: both directions carry the
        ninth bit as ``FF 00 xx`` and ``FF FF``. Otherwise it is ``None`` in what
            is read and lost in what is written.

    Raises:
        BackendError: the address is busy, not ours or unknown.
    """

    def __init__(self, host: str, port: int, *, is_marked: bool = False) -> None:
        self._server = TcpServer(host, port)
        self._is_marked = is_marked
        self._escapes = EscapeDecoder()

    @property
    def url(self) -> str:
        """The line as a URL with the port in use, such as ``tcp:127.0.0.1:4001?marked``."""
        return f"tcp:{self._server.address}{'?marked' if self._is_marked else ''}"

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``read`` has something to do."""
        return self._server.fileno()

    def read(self) -> list[Run]:
        """Return what has arrived as runs. Never blocks. Raises LinkError."""
        data, is_new_client = self._server.receive()
        if is_new_client:
            self._escapes.reset()
        if self._is_marked:
            return self._escapes.feed(data)
        return [(data, None)] if data else []

    def write(self, data: bytes, *, wakeup: bool = False) -> None:
        """Send ``data`` if a client is there. Never blocks. Raises LinkError."""
        self._server.send(escape(data, wakeup=wakeup) if self._is_marked else data)

    def close(self) -> None:
        """Hang up and stop listening."""
        self._server.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:  # UnicodeError: a text that cannot be the name of a host
        why = reason(error) if isinstance(error, OSError) else "no name of a host"
        raise BackendError(f"Cannot listen on {host}: {why}; use an address of this computer.") from error
    try:
        # A port that a machine has just left may be taken at once; one that is listened on may not.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(4)
    except OSError as error:
        listener.close()
        raise BackendError(
            f"Cannot listen on {host}:{port}: {reason(error)}; "
            "choose another address or port (0 picks a free port)."
        ) from error
    listener.setblocking(False)
    return listener


def _set_up(client: socket.socket) -> None:
    client.setblocking(False)
    with contextlib.suppress(OSError):  # the client may be gone already; the next read shows it
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SILENCE_SECONDS // 2)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _SILENCE_SECONDS // 2)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_SECONDS * 1000)
