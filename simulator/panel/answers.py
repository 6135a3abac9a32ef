"""What the machine's process answers to the panel: one entry a verb of ``panel.routes``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.faults import UnknownTargetError
from simulator.hands import Fate, HandError
from simulator.panel.channel import Body, Request
from simulator.world import World

Reply = Callable[[int, Body], None]
"""Takes an HTTP status and a body; may be called later than the question, and once."""


def answer(world: World, request: Request, reply: Reply) -> None:
    """Do what a request asks and reply, at once or when its result is known."""
    try:
        if request.verb == "bill":
            _bill(world, request.arguments, reply)
        else:
            reply(200, VERBS[request.verb](world, request.arguments))
    except HandError as error:
        extra: Body = {"allowed": list(error.allowed)} if error.allowed else {}
        reply(error.status, {"title": error.title, "detail": error.detail, **extra})
    except UnknownTargetError as error:
        reply(422, {"title": "Unknown fault", "detail": str(error), "allowed": error.allowed})


def _bill(world: World, body: Body, reply: Reply) -> None:
    sequence = (
        world.sequence
    )  # before the note goes in: an acceptor that refuses at once tells its fate at once

    def told(fate: Fate) -> None:
        reply(200, {"result": fate.result, "reason": fate.reason or None, "sequence": sequence})

    world.hands.bill(_integer(body["cents"]), told)


def _integer(value: object) -> int:
    """The panel has checked the type; this tells it to the type checker."""
    return value if isinstance(value, int) else 0


def _fault(world: World, body: Body) -> Body:
    count = body.get("count")
    milliseconds = body.get("milliseconds")
    sequence = world.sequence
    world.faults.inject(
        str(body["target"]),
        str(body["kind"]),
        world.clock.now_us(),
        count=None if count is None else _integer(count),
        lasting_us=None if milliseconds is None else _integer(milliseconds) * 1000,
        detail=_integer(body.get("detail", 0)),
    )
    world.stir_outside()
    return {"sequence": sequence}


def _fault_clear(world: World, body: Body) -> Body:
    sequence = world.sequence
    if "target" in body:
        world.faults.clear(str(body["target"]), str(body["kind"]), world.clock.now_us())
    else:
        world.faults.clear_all(world.clock.now_us())
    world.stir_outside()
    return {"sequence": sequence}


VERBS: Mapping[str, Callable[[World, Body], Body]] = {
    "state": lambda world, _: world.state(),
    "meters": lambda world, _: world.meters(),
    "vocabulary": lambda world, _: world.vocabulary(),
    "sequence": lambda world, _: {"sequence": world.sequence},
    "press": lambda world, body: {"sequence": world.hands.press(str(body["button"]))},
    "door": lambda world, body: {"sequence": world.hands.door(str(body["door"]), body["open"] is True)},
    "key": lambda world, body: {"sequence": world.hands.key(str(body["key"]), body["on"] is True)},
    "stacker": lambda world, body: {"sequence": world.hands.stacker(body["removed"] is True)},
    "power": lambda world, body: {"sequence": world.hands.power(body["on"] is True)},
    "faults": lambda world, _: {"known": world.faults.known, "active": world.faults.active()},
    "fault": _fault,
    "fault_clear": _fault_clear,
}
"""Every verb but ``bill``, whose answer comes later."""
