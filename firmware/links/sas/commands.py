"""Set polls and the core event each becomes.

``None`` as the event means that the command's values are impossible: NACK. The line's own command, real-time reporting
(LP 0E), never gets here: ``sas_protocol.machine_end`` keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from firmware.core.commands import Event, HostSetAcceptor, HostSetClock, HostSetPlay
from firmware.links.sas.view import wall_us
from sas_protocol.longpolls import LongPoll, control, identity

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """What a set poll means. ``duties``: a line that has none of them ignores the poll (SAS 1).

    ``event(line, fields)``: ``line`` is ``None`` for a broadcast, which nobody answers.
    """

    duties: frozenset[str]
    event: Callable[[int | None, Fields], Event]


_GENERAL = frozenset({"general"})
_GENERAL_OR_CENTRAL = frozenset({"general", "central_control"})
"""Central control may enable and disable play, and nothing else (design.md 6, 58 Pa. Code 461a.7(p))."""


def _set_play(enabled: bool) -> Command:
    return Command(_GENERAL_OR_CENTRAL, lambda line, _: HostSetPlay(line or 0, enabled))


def _set_acceptor(enabled: bool) -> Command:
    return Command(_GENERAL, lambda line, _: HostSetAcceptor(line or 0, enabled))


COMMANDS: Mapping[LongPoll, Command] = {
    control.SHUTDOWN: _set_play(False),
    control.STARTUP: _set_play(True),
    control.ENABLE_BILL_ACCEPTOR: _set_acceptor(True),
    control.DISABLE_BILL_ACCEPTOR: _set_acceptor(False),
    identity.SET_DATE_AND_TIME: Command(
        _GENERAL, lambda line, fields: HostSetClock(line, wall_us(fields["date"], fields["time"]))
    ),
}

LINE_COMMANDS: frozenset[LongPoll] = frozenset({control.ENABLE_REAL_TIME_EVENTS})
"""Commands about the line itself, obeyed by the line's end."""
