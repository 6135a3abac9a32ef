"""What hosts have switched off: play, and the bill acceptor. Kept through a power loss (SAS 12.1 (?))."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firmware.core.commands import HostSetAcceptor, HostSetPlay, PowerUp
from firmware.core.effects import Answer, Asked, ClearCondition, RaiseCondition, Report, TellHost


@dataclass(frozen=True, slots=True)
class State:
    """Numbers of the lines whose host has switched it off."""

    play_off_by: frozenset[int] = frozenset()
    acceptor_off_by: frozenset[int] = frozenset()


ALL_ENABLED = State()


Event = HostSetPlay | HostSetAcceptor | PowerUp


def step(state: State, event: Event, line_count: int) -> tuple[State, list[Asked]]:
    """Obey a host; one host's *on* does not undo another's *off*.

    What a line had switched off that the machine no longer has ends at power-up: nobody is left to switch it on.
    """
    if isinstance(event, PowerUp):
        lines = frozenset(range(line_count))
        left = State(state.play_off_by & lines, state.acceptor_off_by & lines)
        ended: list[Asked] = [] if left.play_off_by else [ClearCondition("host_disabled")]
        return (state, []) if left == state else (left, ended)
    told = TellHost(event.line, Answer.ACK)
    match event:
        case HostSetPlay(line, enabled):
            off_by = _switched(state.play_off_by, line, enabled)
            if off_by == state.play_off_by:
                return state, [told]
            condition = RaiseCondition("host_disabled") if off_by else ClearCondition("host_disabled")
            report = Report("play_enabled" if enabled else "play_disabled", (("line", line),))
            return replace(state, play_off_by=off_by), [condition, report, told]
        case HostSetAcceptor(line, enabled):
            off_by = _switched(state.acceptor_off_by, line, enabled)
            if off_by == state.acceptor_off_by:
                return state, [told]
            report = Report("acceptor_enabled" if enabled else "acceptor_disabled", (("line", line),))
            return replace(state, acceptor_off_by=off_by), [report, told]


def _switched(off_by: frozenset[int], line: int, enabled: bool) -> frozenset[int]:
    return off_by - {line} if enabled else off_by | {line}
