"""The panel's end of the channel to the machine: questions with answers, and the ring of events."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Callable, Collection

from simulator.panel.channel import OUTSTANDING, Body, encode
from simulator.panel.problems import ProblemError

RING_SIZE = 10_000


def sequence_of(event: Body) -> int:
    """Return the sequence number of an event."""
    return int(str(event["sequence"]))


class EventLog:
    """The newest events, each once and in order, for those who wait and those who watch.

    ``latest`` is the sequence number of the newest event (0: none seen).
    """

    def __init__(self, size: int = RING_SIZE) -> None:
        self._events: deque[Body] = deque(maxlen=size)
        self._news = asyncio.Event()
        self.latest = 0
        self._first_kept = 1

    def append(self, event: Body) -> None:
        """Add one event. After a gap (the machine dropped some) nothing older is kept: it shows as 410."""
        sequence = sequence_of(event)
        if sequence <= self.latest:
            return  # seen already: a panel that replaced another is told the machine's whole ring
        if sequence != self.latest + 1:
            self._events.clear()
        self._events.append(event)
        self._first_kept, self.latest = sequence_of(self._events[0]), sequence
        self._news.set()
        self._news = asyncio.Event()

    @property
    def oldest(self) -> int:
        """Sequence number of the oldest event kept."""
        return self._first_kept

    def check(self, after: int) -> None:
        """Raise ProblemError 410 if events right after ``after`` have left the ring."""
        if after + 1 < self._first_kept and self._events:
            raise ProblemError(
                410,
                "Events no longer kept",
                f"events after {after} have left the ring; the oldest kept is {self._first_kept}",
                oldest=self._first_kept,
            )

    def after(self, sequence: int) -> list[Body]:
        """Return the events kept that come after ``sequence``."""
        start = max(0, sequence + 1 - self._first_kept)
        return [self._events[index] for index in range(start, len(self._events))]

    async def next_after(self, sequence: int) -> list[Body]:
        """Wait until there is an event after ``sequence``; return all of them. Raises ProblemError 410."""
        while True:
            self.check(sequence)
            found = self.after(sequence)
            if found:
                return found
            await self._news.wait()

    async def first(self, names: Collection[str], after: int) -> Body:
        """Wait for the first event after ``after`` whose name is in ``names`` (empty: any)."""
        while True:
            events = await self.next_after(after)
            for event in events:
                if not names or event["event"] in names:
                    return event
            after = self.latest

    def names(self) -> set[str]:
        """Return the names of the events kept."""
        return {str(event["event"]) for event in self._events}


class MachineLink:
    """Ask the machine and hear from it. ``on_end`` is called once the machine has gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._open: dict[int, asyncio.Future[tuple[int, Body]]] = {}
        self._next_id = 1
        self.events = EventLog()
        self.hello: Body = {}
        self._greeted = asyncio.Event()

    async def greeting(self) -> Body:
        """Wait for the machine's first line, which says how this panel is to behave."""
        await self._greeted.wait()
        return self.hello

    async def ask(self, verb: str, arguments: Body, timeout_s: float) -> Body:
        """Return the machine's answer. Raises ProblemError: its own, 503 (queue full) or 504 (no answer)."""
        if len(self._open) >= OUTSTANDING:
            raise ProblemError(
                503, "Too many requests", f"{OUTSTANDING} requests are open already; try again"
            )
        request_id, self._next_id = self._next_id, self._next_id + 1
        answer: asyncio.Future[tuple[int, Body]] = asyncio.get_running_loop().create_future()
        self._open[request_id] = answer
        self._writer.write(encode({"ask": request_id, "verb": verb, "with": arguments}))
        try:
            status, body = await asyncio.wait_for(answer, timeout_s)
        except TimeoutError:
            raise ProblemError(
                504, "No answer", f"the machine did not answer within {timeout_s:g} s"
            ) from None
        finally:
            self._open.pop(request_id, None)
        if status >= 400:
            title, detail = str(body.pop("title")), str(body.pop("detail", ""))
            raise ProblemError(status, title, detail, **body)
        return body

    async def listen(self, on_end: Callable[[], None]) -> None:
        """Take the machine's lines until it closes the channel, or dies with a question of ours unread."""
        try:
            while line := await self._reader.readline():
                self._take(json.loads(line))
        finally:
            on_end()

    def _take(self, message: Body) -> None:
        match message:
            case {"event": dict(event)}:
                self.events.append(event)
            case {"reply": int(request_id), "status": int(status), "body": dict(body)}:
                answer = self._open.get(request_id)
                if answer is not None and not answer.done():
                    answer.set_result((status, body))
            case {"hello": dict(hello)}:
                self.hello = hello
                self._greeted.set()


def end_process() -> None:
    """The machine has gone: leave at once, whatever connections are open, so that its port is free again."""
    os._exit(0)
