"""The panel process: ``python -m simulator.panel LISTEN_FD CHANNEL_FD``, started by the machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from simulator.panel.machine_link import MachineLink, end_process
from simulator.panel.process import STOP_SIGNALS
from simulator.panel.server import build


class _Server(uvicorn.Server):
    """A server that leaves signals alone: the end of the channel is the only order to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(listener: socket.socket, channel: socket.socket) -> None:
    """Serve until the machine closes its end of the channel."""
    reader, writer = await asyncio.open_unix_connection(sock=channel, limit=4_194_304)
    machine = MachineLink(reader, writer)
    listening = asyncio.ensure_future(machine.listen(end_process))
    await machine.greeting()
    config = uvicorn.Config(
        build(machine),
        lifespan="off",
        access_log=False,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=65_536,
        limit_concurrency=512,
    )
    await _Server(config).serve(sockets=[listener])
    await listening


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """A refused WebSocket is no fault of the panel, though this server says so of each one."""
    return "without completing handshake" not in record.getMessage()


def main() -> None:
    """Run the process.

    Ctrl-C on the terminal, and a signal to the whole process group, reach the machine too, which then ends the
    channel. Until here they were blocked by whoever started this process.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    logging.getLogger("uvicorn.error").addFilter(_is_worth_a_line)
    listener, channel = (socket.socket(fileno=int(text)) for text in sys.argv[1:3])
    asyncio.run(serve(listener, channel))


main()
