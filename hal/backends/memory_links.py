"""Lines inside one process: pairs of ends, each of which reads what the other wrote. They can be cut.

For tests, and for a machine and its simulated cabinet in one process; not for two threads at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from hal.backends.errors import BackendError
from hal.ports.links import LinkError, Run

PENDING_BYTES_MAX = 1 << 20
"""What is kept for a reader that never comes; then its oldest writes are lost. Far above any message."""


class _Cable:
    """What the two ends of a pair share: its name, and whether it is whole."""

    __slots__ = ("is_whole", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_whole = True


class _End:
    """One end: what has arrived from the other one, as runs, oldest first."""

    def __init__(self, cable: _Cable) -> None:
        self._cable = cable
        self._arrived: deque[Run] = deque()
        self._arrived_bytes = 0
        self._peer: _End = self
        self.on_arrival: Callable[[], None] | None = None
        """Called after the other end has written, so that a sleeping loop can wake."""

    @property
    def url(self) -> str:
        """The line as a URL, such as ``memory:acceptor``."""
        return f"memory:{self._cable.name}"

    def fileno(self) -> None:
        """Return ``None``: there is no descriptor to wait for; set ``on_arrival`` instead."""
        return

    def close(self) -> None:
        """Cut the line: both ends raise LinkError from now on, and what was under way is lost."""
        self._cable.is_whole = False
        for end in (self, self._peer):
            end._arrived.clear()
            end._arrived_bytes = 0

    def reopen(self) -> None:
        """Mend a cut line. Both ends find it empty."""
        self._cable.is_whole = True

    def join(self, peer: _End) -> None:
        """Make ``peer`` the other end of this one."""
        self._peer, peer._peer = peer, self

    def _deliver(self, data: bytes, wakeup: bool | None) -> None:
        if not self._cable.is_whole:
            raise self._cut_error()
        if not data:
            return
        peer = self._peer
        peer._arrived.append((data, wakeup))
        peer._arrived_bytes += len(data)
        while peer._arrived_bytes > PENDING_BYTES_MAX:
            peer._arrived_bytes -= len(peer._arrived.popleft()[0])
        if peer.on_arrival is not None:
            peer.on_arrival()

    def _cut_error(self) -> LinkError:
        return LinkError(f"{self.url} is cut")


class MemoryByteLink(_End):
    """One end of a byte pair. A ByteLink."""

    def read(self, limit: int) -> bytes:
        """Return 0..limit bytes already received. Never blocks. Raises LinkError."""
        if not self._cable.is_whole:
            raise self._cut_error()
        arrived = self._arrived
        if not arrived or limit <= 0:
            return b""
        if len(arrived) > 1:
            whole = b"".join(data for data, _ in arrived)
            arrived.clear()
        else:
            whole = arrived.popleft()[0]
        if len(whole) > limit:
            arrived.append((whole[limit:], None))
            whole = whole[:limit]
        self._arrived_bytes -= len(whole)
        return whole

    def write(self, data: bytes) -> None:
        """Queue ``data``. Never blocks. Raises LinkError."""
        self._deliver(bytes(data), None)


class MemoryWakeupLink(_End):
    """One end of a wakeup pair. A WakeupLink, and the host's end of one, which may leave the bit unsaid."""

    def read(self) -> list[Run]:
        """Return what has arrived, as the runs in which it was written. Never blocks. Raises LinkError."""
        if not self._cable.is_whole:
            raise self._cut_error()
        if not self._arrived:
            return []
        runs = list(self._arrived)
        self._arrived.clear()
        self._arrived_bytes = 0
        return runs

    def write(self, data: bytes, *, wakeup: bool | None = False) -> None:
        """Queue ``data`` as one run; ``None`` as on a line without a ninth bit. Raises LinkError."""
        self._deliver(bytes(data), wakeup)


def byte_link_pair(name: str = "pair") -> tuple[MemoryByteLink, MemoryByteLink]:
    """Return the two ends of a new byte line; ``name`` is for messages."""
    cable = _Cable(name)
    one, other = MemoryByteLink(cable), MemoryByteLink(cable)
    one.join(other)
    return one, other


def wakeup_link_pair(name: str = "pair") -> tuple[MemoryWakeupLink, MemoryWakeupLink]:
    """Return the machine's end and the host's end of a new SAS line; ``name`` is for messages."""
    cable = _Cable(name)
    machine, host = MemoryWakeupLink(cable), MemoryWakeupLink(cable)
    machine.join(host)
    return machine, host


class MemoryLines:
    """The lines of one process by name, for ``memory:NAME``: both sides get the same pair."""

    def __init__(self) -> None:
        self._byte_pairs: dict[str, tuple[MemoryByteLink, MemoryByteLink]] = {}
        self._wakeup_pairs: dict[str, tuple[MemoryWakeupLink, MemoryWakeupLink]] = {}

    def byte_pair(self, name: str) -> tuple[MemoryByteLink, MemoryByteLink]:
        """Return the machine's end and the device's end. Raises BackendError if ``name`` is a SAS line."""
        if name in self._wakeup_pairs:
            raise BackendError(f"memory:{name} is a SAS line already; give the device's line another name.")
        if name not in self._byte_pairs:
            self._byte_pairs[name] = byte_link_pair(name)
        return self._byte_pairs[name]

    def wakeup_pair(self, name: str) -> tuple[MemoryWakeupLink, MemoryWakeupLink]:
        """Return the machine's end and the host's end. Raises BackendError if ``name`` is a device's line."""
        if name in self._byte_pairs:
            raise BackendError(f"memory:{name} is a device's line already; give the SAS line another name.")
        if name not in self._wakeup_pairs:
            self._wakeup_pairs[name] = wakeup_link_pair(name)
        return self._wakeup_pairs[name]
