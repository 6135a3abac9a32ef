"""What an entry of the long poll table looks like. SAS reference 4, 11."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sas_protocol.fields import Field, total_size


class Kind(Enum):
    """How a long poll is framed (reference 4)."""

    READ = "R"  # address and command only, no CRC
    SEND = "S"  # data and CRC
    GAME = "M"  # as SEND; its data begin with a game number, which the answer repeats


class Size(Enum):
    """Total lengths that are not a number."""

    PREFIXED = "len"  # a length byte follows the command
    UNKNOWN = "?"  # no public source gives it
    NONE = "-"  # no data answer: ACK, NACK, BUSY or nothing


@dataclass(frozen=True, slots=True)
class LongPoll:
    """One long poll: both directions, as data.

    Attributes:
        code: command byte.
        request: fields between command (or length byte) and CRC; None: not declared.
        response: fields of the data answer; empty: there is none; None: not declared.
        request_prefixed, response_prefixed: a length byte goes before the fields.
        request_length, response_length: total length in bytes, address to CRC, where fields do not tell
            (undeclared layouts of known length); None: unknown.
        is_global: honoured when sent to address 0 (kind G of the reference).
        is_denomination_aware: may follow the multi-denomination preamble B0.
        is_obsolete: EFT of SAS 5.
        since: first SAS version that has it.
        note: a doubt ("(?)") or a thinness of sources ("(1 src)"), empty if none.
    """

    code: int
    name: str
    kind: Kind
    request: tuple[Field, ...] | None = ()
    response: tuple[Field, ...] | None = ()
    request_prefixed: bool = False
    response_prefixed: bool = False
    request_length: int | None = None
    response_length: int | None = None
    is_global: bool = False
    is_denomination_aware: bool = False
    is_obsolete: bool = False
    since: int = 602
    note: str = ""
    source: str = "SAS reference 11"
    request_size: int | Size = field(init=False)
    """Total length of the request: a number, PREFIXED or UNKNOWN."""
    response_size: int | Size = field(init=False)
    """Total length of the data answer: a number, PREFIXED, UNKNOWN or NONE."""

    def __post_init__(self) -> None:
        overhead = 2 if self.kind is Kind.READ else 4
        request = _total(self.request, self.request_prefixed, self.request_length, overhead)
        response: int | Size
        if self.response == () and not self.response_prefixed:
            response = Size.NONE
        else:
            response = _total(self.response, self.response_prefixed, self.response_length, 4)
        object.__setattr__(self, "request_size", request)
        object.__setattr__(self, "response_size", response)

    @property
    def is_read(self) -> bool:
        """Whether the request has no data and no CRC."""
        return self.kind is Kind.READ


def _total(fields: tuple[Field, ...] | None, prefixed: bool, length: int | None, overhead: int) -> int | Size:
    """Total length of a message: its fields and the bytes around them."""
    if prefixed:
        return Size.PREFIXED
    if fields is None:
        return Size.UNKNOWN if length is None else length
    size = total_size(fields)
    if size is None:
        raise ValueError("a message without a length byte must have a fixed size")
    return size + overhead


def table(*families: tuple[LongPoll, ...]) -> dict[int, LongPoll]:
    """Join families into a table by command. Raises ValueError if a command is declared twice."""
    found: dict[int, LongPoll] = {}
    for poll in sorted((poll for family in families for poll in family), key=lambda poll: poll.code):
        if poll.code in found:
            raise ValueError(f"long poll {poll.code:02X} is declared twice")
        found[poll.code] = poll
    return found
