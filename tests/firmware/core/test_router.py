"""One event, one turn: everything has a route, requests come to an end, the old machine is never touched."""

from __future__ import annotations

import copy
import typing

import pytest

from firmware.core import doors, router
from firmware.core.commands import Event
from firmware.core.effects import Asked, ClearCondition, Publish, RaiseCondition, Report, Request
from firmware.core.errors import InvariantError
from firmware.core.facts import DoorMoved, NoteInEscrow, NoteStacked
from firmware.core.orders import AcknowledgeStacked
from tests.firmware.core.bench import Bench


def members(union: object) -> set[type]:
    """The classes of a union of unions."""
    found = set()
    for one in typing.get_args(union):
        found |= members(one) if typing.get_args(one) else {one}
    return found


def test_every_event_goes_to_a_subject_and_every_request_too() -> None:
    assert set(router._EVENT_ROUTES) == members(Event)
    assert set(router._REQUEST_ROUTES) == members(Request)


def test_subjects_that_ask_each_other_without_end_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def restless(state: frozenset[str], event: DoorMoved) -> tuple[frozenset[str], list[Asked]]:
        return state, [Report("bet_changed")] * (router.ROUNDS_MAX + 1)

    monkeypatch.setattr(doors, "step", restless)
    bench = Bench()
    before = copy.copy(bench.machine)
    with pytest.raises(InvariantError, match="without end"):
        router.step(bench.machine, DoorMoved("main", True), bench.now)
    assert bench.machine == before


def test_an_order_leaves_after_the_money_that_caused_it_is_counted() -> None:
    """Effects keep the order in which they were asked for, over all subjects."""
    bench = Bench()
    bench.do(NoteInEscrow(500))
    turn = router.step(bench.machine, NoteStacked(), bench.now)
    kinds = [effect.event if isinstance(effect, Publish) else type(effect) for effect in turn.effects]
    assert kinds == ["bill_stacked", AcknowledgeStacked, "credits_changed"]
    assert turn.machine.credits.cashable == 500


def test_playable_is_told_once_a_turn_from_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def there_and_back(state: frozenset[str], event: DoorMoved) -> tuple[frozenset[str], list[Asked]]:
        return state, [RaiseCondition("main_door_open"), ClearCondition("main_door_open")]

    monkeypatch.setattr(doors, "step", there_and_back)
    bench = Bench()
    bench.do(DoorMoved("main", True))
    assert "unplayable" not in bench.events()
    assert "playable" not in bench.events()


def test_a_condition_without_a_row_is_refused() -> None:
    bench = Bench()
    with pytest.raises(KeyError):
        router.step(bench.machine, DoorMoved("cellar", True), bench.now)
