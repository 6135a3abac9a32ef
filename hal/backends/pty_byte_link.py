"""A pseudo-terminal as a plain byte pipe, for lines that know no ninth bit, such as GAT."""

from __future__ import annotations

from hal.backends.pty_link import PtyLink


class PtyByteLink:
    """A ByteLink over ``line``, which it owns from now on."""

    def __init__(self, line: PtyLink) -> None:
        self._line = line
        self._rest = b""

    @property
    def url(self) -> str:
        """The line as a URL with an absolute path."""
        return self._line.url.partition("?")[0]

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``read`` has something to do.

        A caller whose limit was reached reads again before it waits.
        """
        return self._line.fileno()

    def read(self, limit: int) -> bytes:
        """Return 0..limit bytes already received. Never blocks. Raises LinkError."""
        arrived = self._rest + b"".join(data for data, _ in self._line.read())
        self._rest = arrived[limit:]
        return arrived[:limit]

    def write(self, data: bytes) -> None:
        """Send ``data`` if somebody is there. Never blocks. Raises LinkError."""
        self._line.write(data)

    def close(self) -> None:
        """Hang up and remove the symlink."""
        self._line.close()
