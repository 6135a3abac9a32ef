"""The panel process as the machine sees it: started, fed, heard, replaced when it dies, never waited for."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable

from firmware.control_program.errors import ConfigError
from simulator.panel.channel import OUTSTANDING, Body, EventRing, PanelChannel, Request

_log = logging.getLogger(__name__)

BUSY_PATIENCE_S = 0.8
"""How long a busy port may belong to the panel of a machine that was killed a moment ago."""

REPLACE_AFTER_US = 2_000_000

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Orders to stop. They are for the machine alone, though a terminal sends them to the panel's process too."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one. Raises ConfigError: busy, or not our address."""
    give_up = time.monotonic() + BUSY_PATIENCE_S
    while True:
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > give_up:
                reason = (error.strerror or str(error)).lower()
                raise ConfigError(
                    f"cannot listen there: {reason}; choose another, or port 0",
                    key="--panel",
                    value=f"{host}:{port}",
                ) from None
        time.sleep(0.02)


class PanelProcess:
    """One panel process after another, on one listening socket.

    Args:
        listener: the listening socket; connections wait in it until a panel has started.
        hello: what each panel is told first.
        answer: does what a request asks; its last argument takes status and body, at once or later.
    """

    def __init__(
        self,
        listener: socket.socket,
        hello: Body,
        answer: Callable[[Request, Callable[[int, Body], None]], None],
    ) -> None:
        self._listener = listener
        self._hello = hello
        self._answer = answer
        self._ring = EventRing()
        self._questions: deque[tuple[PanelChannel, Request]] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._replace_due_us = 0
        self.channel: PanelChannel | None = None

    @property
    def url(self) -> str:
        """Where the panel is."""
        host, port = self._listener.getsockname()[:2]
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def start(self) -> None:
        """Start a panel process. Its standard output is nobody's: the ready line stands there alone."""
        ours, theirs = socket.socketpair()
        with theirs:
            descriptors = (self._listener.fileno(), theirs.fileno())
            # Inherited: the new process is deaf to them before it can say so itself.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "simulator.panel", *map(str, descriptors)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=descriptors,
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.channel = PanelChannel(ours, self._ring, self._hello)
        self.channel.send()

    def publish(self, event: Body) -> None:
        """Add an event to the ring; ``serve`` hands it over."""
        self._ring.append(event)

    def serve(self, now_us: int, is_readable: bool) -> None:
        """Answer one question, hand over what there is; replace a panel that has died.

        One: hosts are served between two questions, and the machine sees one hand's move before the next.
        """
        channel = self.channel
        if channel is None:
            self._replace(now_us)
            return
        if is_readable and len(self._questions) < OUTSTANDING:
            self._questions.extend((channel, request) for request in channel.receive())
        if self._questions:
            asked_by, request = self._questions.popleft()
            self._answer(request, self._replier(asked_by, request.request_id))
        channel.send()

    def collect(self, now_us: int) -> None:
        """Forget a channel that has closed. Call after the loop has stopped waiting for its descriptor."""
        if self.channel is not None and not self.channel.is_open:
            _log.warning("the panel process has ended; another is started")
            self.channel = None
            self._replace_due_us = now_us + REPLACE_AFTER_US

    def next_deadline_us(self, now_us: int) -> int | None:
        """When ``serve`` must be called even if nothing arrives."""
        if self.channel is None:
            return self._replace_due_us
        if self._questions:
            return now_us
        return now_us + 5_000 if self.channel.has_output else None

    def close(self) -> None:
        """End the panel process and the port."""
        if self.channel is not None:
            self.channel.send()
            self.channel.close()
        self._listener.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _replace(self, now_us: int) -> None:
        if now_us >= self._replace_due_us:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            self.start()

    @staticmethod
    def _replier(channel: PanelChannel, request_id: int) -> Callable[[int, Body], None]:
        def reply(status: int, body: Body) -> None:
            if channel.is_open:
                channel.reply(request_id, status, body)

        return reply


def reap_children() -> None:
    """Take leave of children that an earlier program in this process has left (after ``--restart``)."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
