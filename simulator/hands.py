"""The hands of a person at the cabinet: notes, buttons, doors, keys, the note box.

Each hand is one method; wrong names are told with what exists. What became of a note is told once its fate is
known on both sides: physically, and on the machine's records (it acknowledges a stacked note only once it is
recorded).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.control_program.errors import ConfigError
from hal.wire.id003 import Status
from simulator.cabinet.note_path import Outcome
from simulator.world_store import WorldFileError

if TYPE_CHECKING:
    from simulator.world import World

ACKNOWLEDGE_US = 5_000_000
"""How long the answer about a stacked note waits for the machine's acknowledgement."""

PATIENCE_US = 1_000_000
"""How long a hand holds a note at the entrance of an acceptor that is busy with another or not yet enabled."""

_NOT_STARTED = frozenset(
    {"not_running", "power_up", "power_up_bill_in_acceptor", "power_up_bill_in_stacker", "initialize"}
)
"""Why an acceptor took nothing, where it had not finished its self-test."""

_NOT_FOR_LONG = frozenset(
    {
        *(Status.INHIBITED, Status.ACCEPTING, Status.ESCROW, Status.HOLDING, Status.STACKING),
        *(Status.VEND_VALID, Status.STACKED, Status.REJECTING, Status.RETURNING),
    }
)
"""What an acceptor shows that may soon idle again. One that starts or is out of order gives the note back."""

RESULTS = ("stacked", "returned", "rejected")


class HandError(Exception):
    """A hand that cannot be: ``status`` as in HTTP, ``allowed``: what would have been right."""

    def __init__(self, status: int, title: str, detail: str, allowed: tuple[object, ...] = ()) -> None:
        super().__init__(f"{title}: {detail}")
        self.status = status
        self.title = title
        self.detail = detail
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a note: ``result`` one of ``RESULTS``, ``reason`` a word or ``""``."""

    result: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Offered:
    """A note that a hand holds at the entrance."""

    code: int
    cents: int
    until_us: int
    told: Callable[[Fate], None] | None


@dataclass(frozen=True, slots=True)
class _Settling:
    """A stacked note whose acknowledgement is awaited."""

    fate: Fate
    until_us: int
    told: Callable[[Fate], None]


def _counts(kept: object) -> dict[str, dict[str, int]]:
    """Return the counts that ``to_json`` gave. Raises WorldFileError."""
    try:
        counts = {
            name: {unit: operator.index(kept[name][unit]) for unit in ("count", "cents")}  # type: ignore[index]
            for name in ("inserted", *RESULTS)
        }
    except (KeyError, TypeError) as error:
        raise WorldFileError(f"the world file tells nothing of its notes ({error!r}); remove it") from None
    return counts


class Hands:
    """The hands at one world. ``is_changed``: the counts differ from what was saved.

    Args:
        world: where they reach.
        kept: the counts as ``to_json`` gave them, ``None`` for a new cabinet.

    Raises WorldFileError: ``kept`` is something else.
    """

    def __init__(self, world: World, kept: object = None) -> None:
        self._world = world
        self._waiting: dict[int, Callable[[Fate], None]] = {}
        self._settling: list[_Settling] = []
        self._offered: list[_Offered] = []
        self._counts = {name: {"count": 0, "cents": 0} for name in ("inserted", *RESULTS)}
        if kept is not None:
            self._counts.update(_counts(kept))
        self.is_changed = False
        world.twins.acceptor.on_outcome = self._outcome

    # --- what a hand does -----------------------------------------------------------------------------------

    def bill(self, cents: int, told: Callable[[Fate], None] | None = None) -> int:
        """Put a note in; ``told`` is called once with its fate. Returns the event log's sequence number.

        Raises HandError for a note that the acceptor has no code for.
        """
        twins = self._world.twins
        code = twins.note_codes.get(cents)
        if code is None:
            raise HandError(
                422, "Unknown note", f"there is no note of {cents} cents", tuple(twins.note_codes)
            )
        sequence = self._world.sequence
        now_us = self._world.clock.now_us()
        self._offered.append(_Offered(code, cents, now_us + PATIENCE_US, told))
        self._offer(now_us)
        self._moved()
        return sequence

    def press(self, button: str) -> int:
        """Press and release a button. Returns the sequence number. Raises HandError."""
        self._known("button", button, self._world.twins.buttons)
        sequence = self._world.sequence
        self._world.twins.switches.press(button, self._world.clock.now_us())
        self._moved()
        return sequence

    def door(self, door: str, is_open: bool) -> int:
        """Open or close a door, with or without power. Returns the sequence number. Raises HandError."""
        self._known("door", door, self._world.twins.door_names)
        sequence = self._world.sequence
        self._world.twins.switches.move_door(door, is_open, self._world.clock.now_us())
        self._moved()
        return sequence

    def key(self, key: str, on: bool) -> int:
        """Turn a key. Returns the sequence number. Raises HandError."""
        self._known("key", key, self._world.twins.keys)
        sequence = self._world.sequence
        self._world.twins.switches.turn_key(key, on, self._world.clock.now_us())
        self._moved()
        return sequence

    def stacker(self, removed: bool) -> int:
        """Take the note box out, or put it back emptied. Returns the sequence number."""
        sequence = self._world.sequence
        acceptor, now_us = self._world.twins.acceptor, self._world.clock.now_us()
        if removed and acceptor.physical().box_present:
            acceptor.remove_box()
        elif not removed and not acceptor.physical().box_present:
            acceptor.return_box(now_us, is_emptied=True)
        self._moved()
        return sequence

    def power(self, on: bool) -> int:
        """Cut or restore the power. Returns the sequence number. Raises HandError if the machine does not start."""
        sequence = self._world.sequence
        try:
            self._world.power(on)
        except ConfigError as error:
            raise HandError(409, "The machine does not start", str(error)) from None
        return sequence

    # --- time ---------------------------------------------------------------------------------------------

    def step(self, now_us: int) -> None:
        """Push in the note that is held, tell the fate of stacked notes that the machine has acknowledged."""
        self._offer(now_us)
        if not self._settling or (self._is_unacknowledged() and now_us < self._settling[0].until_us):
            return
        settled, self._settling = self._settling, []
        for one in settled:
            one.told(one.fate)

    def next_deadline_us(self) -> int | None:
        """When ``step`` must be called even if nothing arrives."""
        settled_us = self._settling[0].until_us if self._settling else None
        if not self._offered:
            return settled_us
        offered_us = self._offered[0].until_us
        return offered_us if settled_us is None else min(settled_us, offered_us)

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what hands put in and what became of it: count and cents by ``inserted`` and by result."""
        return {name: dict(numbers) for name, numbers in self._counts.items()}

    # --- inside -------------------------------------------------------------------------------------------

    def _offer(self, now_us: int) -> None:
        """Push in the notes that are held, one after the other, once the acceptor takes or refuses them."""
        acceptor = self._world.twins.acceptor
        while self._offered:
            first = self._offered[0]
            if acceptor.status in _NOT_FOR_LONG and now_us < first.until_us:
                return
            self._offered.pop(0)
            if first.told is not None:
                self._waiting[acceptor.physical().insertions + 1] = first.told
            self._count("inserted", first.cents)
            acceptor.insert(first.code, now_us)

    def _moved(self) -> None:
        self._world.stir()
        self._world.stir_outside()

    def _known(self, what: str, name: str, known: tuple[str, ...]) -> None:
        if name not in known:
            raise HandError(422, f"Unknown {what}", f"there is no {what} {name[:100]!r}", known)

    def _count(self, name: str, cents: int) -> None:
        self._counts[name]["count"] += 1
        self._counts[name]["cents"] += cents
        self.is_changed = True

    def _is_unacknowledged(self) -> bool:
        return self._world.twins.acceptor.physical().vend_unacknowledged

    def _outcome(self, outcome: Outcome) -> None:
        # A note that a starting acceptor never drew in is still in the hand.
        result = "returned" if outcome.reason in _NOT_STARTED else outcome.result
        self._count(result, self._world.twins.cents_of(outcome.item.code))
        told = self._waiting.pop(outcome.insertion, None)
        if told is None:
            return
        fate = Fate(result, outcome.reason)
        if result == "stacked" and self._is_unacknowledged():
            self._settling.append(_Settling(fate, outcome.now_us + ACKNOWLEDGE_US, told))
        else:
            told(fate)
