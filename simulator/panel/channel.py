"""The machine's end of the channel to the panel process: JSON lines over a socket that never blocks.

Machine → panel: ``{"hello": …}`` once, ``{"event": …}`` from a bounded ring that drops the oldest, and
``{"reply": ID, "status": N, "body": …}``. Panel → machine: ``{"ask": ID, "verb": …, "with": {…}}``; the panel
keeps no more than ``OUTSTANDING`` of them open, so the queue is bounded at both ends.
A panel that reads too slowly loses events, never the machine its time.
"""

from __future__ import annotations

import json
import socket
from collections import deque
from dataclasses import dataclass

OUTSTANDING = 64
"""Requests the panel may have open at once. A machine that was stopped for a while finds more: those that were
given up meanwhile."""

LINE_SIZE_MAX = 262_144
"""A longer line from the panel is a fault of the panel, and closes the channel."""

Body = dict[str, object]


@dataclass(frozen=True, slots=True)
class Request:
    """One question of the panel. ``verb`` and the names in ``arguments`` are those of ``panel.routes``."""

    request_id: int
    verb: str
    arguments: Body


def encode(message: Body) -> bytes:
    """Return one JSON line, newline included."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class EventRing:
    """The newest ``size`` events, encoded; a reader that falls behind is moved on to the oldest one left."""

    def __init__(self, size: int = 4096) -> None:
        self._lines: deque[bytes] = deque(maxlen=size)
        self._appended = 0

    def append(self, event: Body) -> None:
        """Add one event; the oldest goes when the ring is full."""
        self._lines.append(encode({"event": event}))
        self._appended += 1

    def read(self, cursor: int, limit: int) -> tuple[list[bytes], int]:
        """Return at most ``limit`` lines from ``cursor`` (0: the oldest kept), and the next cursor."""
        oldest = self._appended - len(self._lines)
        cursor = max(cursor, oldest)
        stop = min(cursor + limit, self._appended)
        return [self._lines[index - oldest] for index in range(cursor, stop)], stop


class PanelChannel:
    """The machine's end. ``ring`` outlives a panel process that ended; the channel does not."""

    def __init__(self, sock: socket.socket, ring: EventRing, hello: Body) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._ring = ring
        self._cursor = 0
        self._replies: deque[bytes] = deque([encode({"hello": hello})])
        self._out = bytearray()
        self._in = bytearray()
        self.is_open = True

    def fileno(self) -> int:
        """Descriptor for the loop's selector."""
        return self._socket.fileno()

    @property
    def has_output(self) -> bool:
        """Bytes are waiting for a socket that was full."""
        return bool(self._out)

    def receive(self) -> list[Request]:
        """Return the questions that have arrived. Closes the channel when the panel has gone."""
        try:
            data = self._socket.recv(65_536)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            data = b""
        if not data:
            self.close()
            return []
        self._in += data
        *lines, rest = self._in.split(b"\n")
        self._in = rest
        if len(rest) > LINE_SIZE_MAX:
            self.close()
            return []
        try:
            return [_request(bytes(line)) for line in lines]
        except (ValueError, KeyError, TypeError):
            self.close()  # not our panel, or a broken one: the machine goes on without it
            return []

    def reply(self, request_id: int, status: int, body: Body) -> None:
        """Answer one question; ``status`` is the HTTP status the panel will give."""
        self._replies.append(encode({"reply": request_id, "status": status, "body": body}))

    def send(self) -> None:
        """Hand over what the socket takes: events first, so that a reply never overtakes what caused it."""
        while self.is_open:
            if not self._out and not self._fill():
                return
            try:
                sent = self._socket.send(self._out)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.close()
                return
            del self._out[:sent]

    def _fill(self) -> bool:
        lines: list[bytes] = []
        if self._replies and self._replies[0].startswith(b'{"hello"'):
            lines.append(self._replies.popleft())
        events, self._cursor = self._ring.read(self._cursor, limit=256)
        lines += events
        if len(events) < 256:
            lines += self._replies
            self._replies.clear()
        self._out += b"".join(lines)
        return bool(lines)

    def close(self) -> None:
        """Close the socket; the panel process ends when it sees that."""
        if self.is_open:
            self.is_open = False
            self._socket.close()


def _request(line: bytes) -> Request:
    message = json.loads(line)
    return Request(message["ask"], message["verb"], message.get("with", {}))
