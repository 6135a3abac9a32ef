"""What the ID-003 twin is made of, as data: faults, the state and command table, times, kinds of unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hal.wire import id003
from hal.wire.id003 import Command, Setting, Status

FAULTS: Final[Mapping[str, str]] = {
    "lost_answer": "an answer of the acceptor does not arrive",
    "lost_request": "a message of the host is not heard",
    "lost_ack_to_host": "the acceptor's ACK to a command does not arrive",
    "lost_ack_from_host": "the host's ACK to VEND VALID is not heard",
    "corrupt_crc": "an answer has a wrong CRC",
    "noise_00": "a lone 00 comes instead of an answer",
    "late_answer": "an answer comes after `late_us` (detail: other microseconds)",
    "repeated_vend": "VEND VALID is shown again although the host acknowledged",
    "disconnect": "the line is cut, until cleared or for a count of messages of the host",
    "misread": "the next item is refused (detail: reason code, 0x76 if none)",
    "unknown_denomination": "the next note is read as a code that no table has (detail: code, 0x6E if none)",
    "odd_barcode": "the last character of the next ticket is not read",
    "second_bill": "a second note stands in the entrance while one is in the path, until cleared",
    "jam_at_entrance": "the next item stops while it is drawn in",
    "jam_before_lever": "the next item to be stacked stops in front of the lever",
    "jam_after_lever": "the next item to be stacked stops behind the lever, before VEND VALID",
    "jam_after_vend": "the next item to be stacked stops behind the lever, after VEND VALID",
    "cheat": "the next item to be stacked is pulled back on a string",
    "box_pulled_before_lever": "the box is taken while an item is stacked, in front of the lever",
    "box_pulled_after_lever": "the same, behind the lever and before VEND VALID",
    "failure": "a part breaks (detail: failure code, 0xA2 if none), until cleared",
    "rom_byte": "a byte of the firmware image changes, until cleared",
}
"""Every fault by name: what ``inject`` takes."""

UNTIL_CLEARED: Final = frozenset({"disconnect", "second_bill", "failure", "rom_byte"})
"""Faults without a count: they stand until cleared."""

ROM: Final = b"i(USA)100-SS ID003-05V280-42 01AUG17" + bytes.fromhex("8771")
"""The firmware image. Its last two bytes make its CRC-16 the checksum in the version text."""
ROM_CHECKSUM: Final = 0x964D

MOVING: Final = frozenset({Status.STACKING, Status.STACKED, Status.REJECTING, Status.RETURNING})
WAITING: Final = frozenset({Status.ESCROW, Status.HOLDING})
IDLE: Final = frozenset({Status.IDLING, Status.INHIBITED})
POWER_UP: Final = frozenset(
    {Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR, Status.POWER_UP_BILL_IN_STACKER}
)
ERRORS: Final = frozenset(
    {
        Status.STACKER_FULL,
        Status.STACKER_OPEN,
        Status.JAM_IN_ACCEPTOR,
        Status.JAM_IN_STACKER,
        Status.PAUSE,
        Status.CHEATED,
        Status.FAILURE,
    }
)
EVERY: Final = frozenset({*POWER_UP, *ERRORS, *MOVING, *WAITING, *IDLE}) | {
    Status.INITIALIZE,
    Status.ACCEPTING,
    Status.VEND_VALID,
}
SETTABLE: Final = IDLE | ERRORS | {Status.INITIALIZE}

POSSIBLE: Final[Mapping[int, frozenset[Status]]] = {
    Command.STATUS_REQUEST: EVERY,
    Command.RESET: EVERY,
    Command.STACK_1: WAITING,
    Command.STACK_2: WAITING,
    Command.RETURN: WAITING,
    Command.HOLD: WAITING,
    Command.WAIT: frozenset({Status.STACKING, Status.VEND_VALID}),  # (?) changes nothing here
    **dict.fromkeys(Setting, SETTABLE),  # outside INITIALIZE: (?)
    Setting.INHIBIT: EVERY - POWER_UP,  # at power-up: (?)
    **{setting - id003.GET_OFFSET: EVERY for setting in Setting},
    Command.VERSION: EVERY,
    Command.BOOT_VERSION: EVERY,
    Command.CURRENCY_ASSIGN: EVERY,
}
"""Command -> the states in which it is obeyed; in all others, and any other command: 4B (id003.md 6.5)."""


@dataclass(frozen=True, slots=True)
class Timings:
    """How long things take, in microseconds (id003.md 6.5, a design choice and not protocol)."""

    boot_us: int = 1_500_000
    initialize_us: int = 3_000_000
    accept_us: int = 800_000
    escrow_us: int = 10_000_000
    hold_us: int = 5_000_000
    lever_us: int = 500_000  # STACK to the point of no return
    box_us: int = 1_200_000  # STACK to fully stacked
    stacked_us: int = 300_000
    back_us: int = 800_000
    answer_us: int = 10_000
    late_us: int = 120_000


@dataclass(frozen=True, slots=True)
class Unit:
    """What kind of unit it is.

    Args:
        version: answer to VERSION; its last word is the firmware's checksum.
        boot_version: answer to BOOT VERSION, 4 characters.
        table: its notes; None: CURRENCY ASSIGN is unknown to it, and it reads the US notes.
        status_after_box: shown when the box is back and nothing in the path: 40, 1B, or 44 until a RESET.
        is_zero_while_booting: answers with lone 00 bytes while it boots, instead of silence.
        shows_communication_error: shows 4A once after a message with a wrong CRC (?).
    """

    version: str = "i(USA)100-SS ID003-05V280-42 01AUG17 964D"
    boot_version: str = "B05 "
    table: tuple[id003.Denomination, ...] | None = id003.US_TABLE
    status_after_box: Status = Status.POWER_UP
    is_zero_while_booting: bool = False
    shows_communication_error: bool = False
