"""Line URLs as people write them (interface.md, "Line URLs"), and the links they open.

``pty:LINK[?marked|?plain]`` · ``tcp:HOST:PORT[?marked|?plain]`` · ``memory:NAME``
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hal.backends.errors import BackendError
from hal.backends.memory_links import MemoryLines
from hal.backends.pty_byte_link import PtyByteLink
from hal.backends.pty_link import NinthBit, PtyLink
from hal.backends.tcp_link import TcpByteLink, TcpWakeupLink
from hal.ports.links import ByteLink, WakeupLink

FORMS = "pty:LINK, tcp:HOST:PORT or memory:NAME"
_LATER = ("serial", "rfc2217")


class _Opened(Protocol):
    """What every opened line has besides its port."""

    @property
    def url(self) -> str:
        """The line as it really is: absolute path, port in use."""

    def fileno(self) -> int | None:
        """Return the descriptor to wait for, ``None`` for a line in memory."""

    def close(self) -> None:
        """Let go of everything outside. Harmless when done twice."""


class OpenWakeupLink(WakeupLink, _Opened, Protocol):
    """An opened SAS line."""


class OpenByteLink(ByteLink, _Opened, Protocol):
    """An opened line of a device."""


@dataclass(frozen=True, slots=True)
class LineUrl:
    """A line URL in its parts."""

    scheme: str
    """``pty``, ``tcp`` or ``memory``."""
    target: str
    """The path, the host or the name."""
    port: int = 0
    """TCP only; 0 picks a free one."""
    ninth_bit: NinthBit = NinthBit.FROM_PARITY


def parse_line_url(url: str) -> LineUrl:
    """Return the parts of ``url``; nothing is opened. Raises BackendError."""
    scheme, colon, rest = url.partition(":")
    if scheme in _LATER and colon:
        raise BackendError(f"{url!r}: {scheme}: lines are not built yet; use {FORMS}.")
    if scheme not in ("pty", "tcp", "memory") or not colon:
        raise BackendError(f"{url!r} is not a line; write {FORMS}.")
    target, _, query = rest.partition("?")
    if query not in {bit.value for bit in NinthBit} or (query and scheme == "memory"):
        raise BackendError(f"{url!r}: ?{query} is unknown; after pty: and tcp: may stand ?marked or ?plain.")
    ninth_bit = NinthBit(query)
    if scheme == "tcp":
        host, port = _host_and_port(url, target)
        return LineUrl(scheme, host, port, ninth_bit)
    if not target:
        raise BackendError(f"{url!r} lacks its {'path' if scheme == 'pty' else 'name'}; write {FORMS}.")
    return LineUrl(scheme, target, ninth_bit=ninth_bit)


def open_wakeup_link(url: str, memory: MemoryLines | None = None) -> OpenWakeupLink:
    """Open the machine's end of the SAS line at ``url``.

    Args:
        url: a line URL.
        memory: where ``memory:`` lines live; without it they are refused.

    Raises:
        BackendError: the URL is wrong, or the line cannot be opened; one sentence for the operator.
    """
    line = parse_line_url(url)
    if line.scheme == "pty":
        return PtyLink(Path(line.target), line.ninth_bit)
    if line.scheme == "tcp":
        return TcpWakeupLink(line.target, line.port, is_marked=line.ninth_bit is NinthBit.MARKED)
    return _memory(url, memory).wakeup_pair(line.target)[0]


def open_byte_link(url: str, memory: MemoryLines | None = None) -> OpenByteLink:
    """Open the machine's end of the byte line at ``url``. Arguments and errors as ``open_wakeup_link``."""
    line = parse_line_url(url)
    if line.ninth_bit is NinthBit.MARKED:
        raise BackendError(f"{url!r}: ?marked is for SAS lines, this one carries no ninth bit; leave it out.")
    if line.scheme == "pty":
        return PtyByteLink(PtyLink(Path(line.target), NinthBit.PLAIN))
    if line.scheme == "tcp":
        return TcpByteLink(line.target, line.port)
    return _memory(url, memory).byte_pair(line.target)[0]


def _memory(url: str, memory: MemoryLines | None) -> MemoryLines:
    if memory is None:
        raise BackendError(
            f"{url!r}: a line in memory exists only inside one process; use pty:LINK or tcp:HOST:PORT."
        )
    return memory


def _host_and_port(url: str, target: str) -> tuple[str, int]:
    host, _, port = target.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise BackendError(f"{url!r} needs a host and a port 0..65535, such as tcp:127.0.0.1:4001.")
    return host, int(port)
