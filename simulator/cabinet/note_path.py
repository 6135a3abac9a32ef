"""The body of a note acceptor: what is still true when its power is gone.

Where the item in the path is, what lies in the box, what is jammed or broken. The twin of a protocol changes
it; the world keeps it in its file. Not modelled: the item's exact position, heaters, dust, the bezel's lamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Place(Enum):
    """Where the item in the path is, seen from the point of no return (the stacker lever)."""

    NOWHERE = "nowhere"
    IN_FRONT = "in_front"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True)
class Item:
    """A note or a ticket.

    Args:
        code: the acceptor's code for the note; 0x6F for a ticket.
        text: the ticket's bar code, "" for a note.
        insertion: which insertion by a hand brought it in, 1, 2, 3 ...
    """

    code: int
    text: str = ""
    insertion: int = 0


@dataclass(frozen=True, slots=True)
class AcceptorBody:
    """Physical state of one acceptor with its box. Survives power loss and the end of the process.

    Args:
        place: where ``item`` is.
        item: what is in the path; None exactly when ``place`` is NOWHERE.
        vend_unacknowledged: VEND VALID has been due since the lever and the host has not acknowledged it:
            the acceptor's own power-safe flag.
        box_present: the box is in its place. ``box`` is what lies in it, wherever it is.
        box_capacity: items that fit.
        jam: ``""``, ``acceptor`` (in front of the lever) or ``stacker``.
        failure: code of a broken part, 0 for none.
        rom: the firmware image, on which the acceptor's self-test computes its checksum.
        insertions: number of insertions so far.
    """

    place: Place = Place.NOWHERE
    item: Item | None = None
    vend_unacknowledged: bool = False
    box_present: bool = True
    box: tuple[Item, ...] = ()
    box_capacity: int = 600
    jam: str = ""
    failure: int = 0
    rom: bytes = b""
    insertions: int = 0

    @property
    def is_box_full(self) -> bool:
        """Whether no further item fits."""
        return len(self.box) >= self.box_capacity

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values, for the world's file."""
        return {
            "place": self.place.value,
            "item": None if self.item is None else _item_to_json(self.item),
            "vend_unacknowledged": self.vend_unacknowledged,
            "box_present": self.box_present,
            "box": [_item_to_json(item) for item in self.box],
            "box_capacity": self.box_capacity,
            "jam": self.jam,
            "failure": self.failure,
            "rom": self.rom.hex(),
            "insertions": self.insertions,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> AcceptorBody:
        """Read what ``to_json`` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        item = value["item"]
        return cls(
            place=Place(value["place"]),
            item=None if item is None else _item_from_json(item),
            vend_unacknowledged=bool(value["vend_unacknowledged"]),
            box_present=bool(value["box_present"]),
            box=tuple(_item_from_json(entry) for entry in value["box"]),
            box_capacity=int(value["box_capacity"]),
            jam=str(value["jam"]),
            failure=int(value["failure"]),
            rom=bytes.fromhex(value["rom"]),
            insertions=int(value["insertions"]),
        )


def _item_to_json(item: Item) -> list[Any]:
    return [item.code, item.text, item.insertion]


def _item_from_json(value: list[Any]) -> Item:
    code, text, insertion = value
    return Item(int(code), str(text), int(insertion))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an inserted item.

    Args:
        insertion: the number that ``insert`` returned.
        item: the item.
        result: ``stacked`` (in the box), ``returned`` (given back after it was read) or ``rejected``.
        reason: a word, "" where the result says all.
        now_us: when.
    """

    insertion: int
    item: Item
    result: str
    reason: str
    now_us: int
