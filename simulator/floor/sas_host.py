"""A slot monitoring host for one machine: what to ask next. Pure; the line's rules are ``HostEnd``'s.

Every period a general poll; between them whatever else was asked, one long poll at a time, and what SAS
reference 18.3 tells a host to read when certain news comes. A machine that answers nothing is asked on; it is
offline after 30 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final, NamedTuple

from sas_protocol.frames import SYNC_POLL
from sas_protocol.host_end import (
    Chirp,
    GeneralPoll,
    HostEnd,
    HostEvent,
    HostRules,
    LongPollRequest,
    NoticeReceived,
    Request,
    Unanswered,
    Write,
)
from sas_protocol.longpolls import identity
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS

PERIOD_US: Final = 200_000
"""From one general poll to the next; 40 ms where LP A0 allows it (reference 3)."""
OFFLINE_US: Final = 30_000_000
"""Silence after which a machine is offline (reference 18.3)."""

_REAL_TIME_ON: Final = LongPollRequest(ENABLE_REAL_TIME_EVENTS, {"enable": 1})
IDENTITY: Final = (
    LongPollRequest(identity.SEND_VERSION),
    LongPollRequest(identity.SEND_MACHINE_ID),
    LongPollRequest(identity.SEND_GAME_COUNT),
    LongPollRequest(identity.SEND_ENABLED_GAMES),
    LongPollRequest(identity.SEND_ENABLED_FEATURES, {"game": 0}),
)
"""What a host reads when a machine appears (reference 18.3, rule 2), as far as it needs no answer of ours."""

POWER_APPLIED: Final = 0x17
READ_AFTER: Final[Mapping[int, tuple[Request, ...]]] = {
    POWER_APPLIED: IDENTITY,  # power applied: perhaps another program
    0x3C: IDENTITY,  # the operator changed options
    0xA2: IDENTITY,  # enabled games or denominations changed
}
"""Notice -> what to read then (reference 18.3, rule 3)."""


class CameOnline(NamedTuple):
    """The machine answered: for the first time, or again."""


class WentOffline(NamedTuple):
    """The machine answered nothing for 30 s."""


SasHostEvent = HostEvent | CameOnline | WentOffline


class SasHost:
    """Keep one machine polled.

    Args:
        address: of the machine, 1..127.
        now_us: present time; the first poll is due at once.
        period_us: from general poll to general poll; None: general polls only when asked for.
        reads_after: notice code -> requests that it leads to; default: none.
        real_time: turn real-time events on before the first general poll, and again whenever the machine
            comes back: it forgets them with its power (reference 8).
        rules: patience towards one answer.

    Raises ValueError for an impossible address.
    """

    def __init__(
        self,
        address: int,
        now_us: int,
        *,
        period_us: int | None = PERIOD_US,
        reads_after: Mapping[int, tuple[Request, ...]] | None = None,
        real_time: bool = False,
        rules: HostRules | None = None,
    ) -> None:
        self._opening: Final = (_REAL_TIME_ON,) if real_time else ()
        self._first: Final[deque[Request]] = deque(self._opening)
        self._end: Final = HostEnd(address, rules=rules)
        self._period_us: Final = period_us
        self._reads_after: Final = reads_after or {}
        self._asked: Final[deque[Request]] = deque()
        self._poll_due_us: int | None = now_us if period_us is not None else None
        self._answered_us = now_us
        self._is_online = False
        self._was_told_offline = False

    @property
    def is_online(self) -> bool:
        """Whether the machine answers."""
        return self._is_online

    @property
    def is_real_time(self) -> bool:
        """Whether the machine acknowledged real-time reporting."""
        return self._end.is_real_time

    @property
    def is_idle(self) -> bool:
        """Whether nothing that was asked for is on its way or waiting; general polls do not count."""
        return not self._first and not self._asked and not self._end.is_waiting

    def ask(self, *requests: Request) -> None:
        """Ask for these, in order, each when the line is free."""
        self._asked.extend(requests)

    def receive(self, now_us: int, data: bytes) -> list[SasHostEvent]:
        """Take bytes from the machine; return what they mean, and what to write."""
        return self._follow(now_us, self._end.receive(now_us, data))

    def tick(self, now_us: int) -> list[SasHostEvent]:
        """Do what is due; return what to write, and what ended."""
        return self._follow(now_us, self._end.tick(now_us))

    def next_deadline_us(self) -> int | None:
        """When ``tick`` must be called even if nothing arrives; None: never."""
        if self._end.is_waiting:
            return self._end.next_deadline_us()
        return 0 if self._first or self._asked else self._poll_due_us

    def farewell(self) -> list[Write]:
        """What to write last, so that the machine knows that its answer arrived (reference 18.3, rule 5)."""
        return [Write(bytes((SYNC_POLL,)), wakeup=True)]

    def _follow(self, now_us: int, events: list[HostEvent]) -> list[SasHostEvent]:
        """Keep the machine's state, and start what comes next if the line is free."""
        found: list[SasHostEvent] = []
        for event in events:
            found += self._heard(now_us, event)
            found.append(event)
        while not self._end.is_waiting and (request := self._next(now_us)) is not None:
            found += self._end.send(now_us, request)
        return found

    def _heard(self, now_us: int, event: HostEvent) -> list[SasHostEvent]:
        match event:
            case Write() | Chirp():
                return []
            case Unanswered(reason=reason):
                # Bytes that make no sense are no machine's answer.
                silent_us = now_us - self._answered_us
                if reason is not None or self._was_told_offline or silent_us < OFFLINE_US:
                    return []
                self._is_online, self._was_told_offline = False, True
                return [WentOffline()]
            case _:
                self._answered_us = now_us
                if isinstance(event, NoticeReceived):
                    leads_to = self._reads_after.get(event.code, ())
                    self.ask(*(request for request in leads_to if request not in self._asked))
                    if event.code == POWER_APPLIED:
                        self._first.extend(self._opening)
                if self._is_online:
                    return []
                if self._was_told_offline:
                    self._first.extend(self._opening)
                self._is_online, self._was_told_offline = True, False
                return [CameOnline()]

    def _next(self, now_us: int) -> Request | None:
        """A general poll that is due goes first, so that news never waits for a long list of questions."""
        if self._first:
            return self._first.popleft()
        if self._period_us is not None and self._poll_due_us is not None and now_us >= self._poll_due_us:
            self._poll_due_us = now_us + self._period_us
            return GeneralPoll()
        return self._asked.popleft() if self._asked else None
