"""What a machine's end reports to its link, and what the link answers.

Named tuples rather than frozen dataclasses: tens of thousands are made a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from sas_protocol.longpolls.poll import LongPoll
from sas_protocol.notices import Notice


class Transmit(NamedTuple):
    """Write these bytes now. ``wakeup``: the ninth bit of each; True only for the chirp."""

    data: bytes
    wakeup: bool = False


class PollReceived(NamedTuple):
    """A long poll for us, whole and good. Answer with ``MachineEnd.send`` unless ``is_broadcast``.

    Attributes:
        number: rises with every report; names this poll in a late ``send``.
        fields: decoded request, read-only; shared between equal polls.
        frame: the bytes as received, address to CRC.
    """

    poll: LongPoll
    fields: Mapping[str, Any]
    frame: bytes
    is_broadcast: bool
    number: int


class Delivered(NamedTuple):
    """The host has this notice (implied acknowledgement): an ordinary one may leave the queue."""

    notice: Notice


class Unsendable(NamedTuple):
    """This notice cannot be sent in the present reporting mode (7.2, column R): drop it or keep it."""

    notice: Notice


class Acknowledged(NamedTuple):
    """The host has our answer to this long poll (implied acknowledgement). ``number``: of its PollReceived.

    ``number`` is 0 for a posted result (``MachineEnd.post``).
    """

    poll: LongPoll
    number: int


class RealTimeEvents(NamedTuple):
    """The host turned real-time reporting on or off (LP 0E); already acknowledged by the line itself."""

    on: bool


class LinkUp(NamedTuple):
    """First poll to us after synchronisation."""


DownReason = Literal["loop_break", "no_acknowledgement"]


class LinkDown(NamedTuple):
    """The host is gone: nothing for 5 s, or nothing acknowledged for 30 s (6.5)."""

    reason: DownReason


LineEvent = (
    Transmit | PollReceived | Delivered | Unsendable | Acknowledged | RealTimeEvents | LinkUp | LinkDown
)


class Ack(NamedTuple):
    """Command accepted."""


class Nack(NamedTuple):
    """A field is invalid or out of range, or the machine cannot do it at all."""


class Busy(NamedTuple):
    """Valid, but not now."""


class Data(NamedTuple):
    """A data answer by the poll's table entry: values by field name."""

    values: Mapping[str, Any]


class RawData(NamedTuple):
    """A data answer already encoded: from the length byte (if there is one) to the last data byte."""

    body: bytes


class Ignore(NamedTuple):
    """No answer at all: not supported, or not valid for this configuration."""


Answer = Ack | Nack | Busy | Data | RawData | Ignore

ACK: Final = Ack()
NACK: Final = Nack()
BUSY: Final = Busy()
IGNORE: Final = Ignore()


@dataclass(slots=True)
class LineCounters:
    """What went wrong on a line since it was made; only rises.

    Attributes:
        crc_errors: long polls with a wrong CRC, to us or to all.
        bad_fields: long polls whose CRC was good and whose fields were not.
        unknown_commands: long polls to us that are not in the table, or of unknown length.
        unserved: long polls to us that this machine does not serve.
        gaps: messages dropped for a pause in them.
        cut_frames: messages dropped because a better reading of the bytes was found.
        stray_bytes: bytes that belong to no message.
        unsynchronised: polls to us that were ignored because no other address was heard yet.
        repeats: answers sent again at a first NACK.
        given_up: second NACKs: the host stopped asking.
        late_answers: answers that were ready too late to be sent.
    """

    crc_errors: int = 0
    bad_fields: int = 0
    unknown_commands: int = 0
    unserved: int = 0
    gaps: int = 0
    cut_frames: int = 0
    stray_bytes: int = 0
    unsynchronised: int = 0
    repeats: int = 0
    given_up: int = 0
    late_answers: int = 0
