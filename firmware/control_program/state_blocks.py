"""How the machine's state lies in critical memory: a table of blocks, each with its layout and version.

A block's number is never used for anything else. Counters are journalled as additions; of every other part only
what changed is written, and a part whose identity did not change is not looked at.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from firmware.core import cash_in, game_cycle, handpay, host_control, host_queue, settings, tilts
from firmware.core.doors import DOORS
from firmware.core.event_log import LOG_SIZE, Log, LogEntry
from firmware.core.events import BY_NUMBER
from firmware.core.marks import Marks
from firmware.core.meters import GAME_COUNT_MAX, GAME_SLOT_COUNT
from firmware.core.meters import SLOT_COUNT as METER_SLOT_COUNT
from firmware.core.money import Amounts
from firmware.core.state import Machine
from firmware.memory import BlockSpec, Change, Put

METERS = BlockSpec(1, "meters", METER_SLOT_COUNT * 8, 1, counters=True)
GAME_METERS = BlockSpec(2, "game_meters", GAME_COUNT_MAX * GAME_SLOT_COUNT * 8, 1, counters=True)
CREDITS = BlockSpec(3, "credits", 24, 1)
CASH_IN = BlockSpec(4, "cash_in", 24, 1)
GAME = BlockSpec(5, "game", 128, 1)
HANDPAY = BlockSpec(6, "handpay", 120, 1)
TILTS = BlockSpec(7, "tilts", 8, 1)
HOST_CONTROL = BlockSpec(8, "host_control", 16, 1)
MARKS = BlockSpec(9, "marks", 56, 1)
LOG = BlockSpec(10, "log", LOG_SIZE * 32, 1)
SETTINGS = BlockSpec(11, "settings", (settings.SLOT_COUNT + 1) * 8, 1)
IDENTITY = BlockSpec(12, "identity", 1024, 2)
GENERATOR = BlockSpec(13, "generator", 32, 1)
SEQUENCE = BlockSpec(14, "event_sequence", 8, 1)
LINE_COUNT_MAX = 4
HOST_QUEUES = tuple(
    BlockSpec(16 + line, f"host_queue_{line}", 8 + host_queue.SLOT_COUNT * 40, 1)
    for line in range(LINE_COUNT_MAX)
)

BLOCKS = (
    METERS, GAME_METERS, CREDITS, CASH_IN, GAME, HANDPAY, TILTS, HOST_CONTROL, MARKS, LOG, SETTINGS, IDENTITY,
    GENERATOR, SEQUENCE, *HOST_QUEUES,
)  # fmt: skip

SIZES = {block.id: block.size for block in BLOCKS}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a data folder was made with; a later start must agree (decisions.md "Machine")."""

    profile: str
    games: tuple[str, ...]
    denomination: int
    asset: int
    serial: str
    sas_version: str
    validation: str
    validation_id: int | None


_CREDITS = struct.Struct("<3Q")
_CASH_IN = struct.Struct("<B7xQQ")
_GAME = struct.Struct("<BBHIIBB2xQQ10I10H")
_GAME_VALUES_MAX = 10
_HANDPAY = struct.Struct("<BxH4xQQ")
_MASKS = struct.Struct("<2Q")
_SETTINGS = struct.Struct(f"<{settings.SLOT_COUNT}qQ")
_KNOWN_SETTINGS = sum(1 << row.slot for row in settings.SETTINGS.values())
_MARKS = struct.Struct("<7q")
_SEQUENCE = struct.Struct("<Q")
_LOG_ENTRY = struct.Struct("<QH6xqq")
_QUEUE_HEAD = struct.Struct("<I4x")
_NOTICE = struct.Struct("<IBBBx4Q")
_NO_NOTICE = bytes(_NOTICE.size)
_PRIORITY, _FRONT = 1, 2
_HANDPAY_KINDS: tuple[handpay.Kind, ...] = ("jackpot", "cancelled_credits")


# --- one part each: bytes of the part, and back ---


def _pack_credits(state: Amounts) -> bytes:
    return _CREDITS.pack(*state.by_kind())


def _unpack_credits(data: bytes) -> Amounts:
    return Amounts(*_CREDITS.unpack(data))


def _pack_cash_in(state: cash_in.State) -> bytes:
    if isinstance(state, cash_in.Stacking):
        return _CASH_IN.pack(1, state.cents, state.last_cents)
    return _CASH_IN.pack(0, 0, state.last_cents)


def _unpack_cash_in(data: bytes) -> cash_in.State:
    is_stacking, cents, last_cents = _CASH_IN.unpack(data)
    return cash_in.Stacking(cents, last_cents) if is_stacking else cash_in.Idle(last_cents)


def _pack_game(state: game_cycle.State) -> bytes:
    if isinstance(state, game_cycle.Drawing):
        raise TypeError("a draw without its answer cannot be on record")
    play = state.play if isinstance(state, game_cycle.Spinning) else state.last
    kind = 0 if play is None else 2 if isinstance(state, game_cycle.Spinning) else 1
    if play is None:
        return _GAME.pack(kind, state.bet_index, *(0,) * (_GAME_FIELD_COUNT - 2)).ljust(GAME.size, b"\0")
    values = play.values + (0,) * (_GAME_VALUES_MAX - len(play.values))
    stops = play.stops + (0,) * (_GAME_VALUES_MAX - len(play.stops))
    return _GAME.pack(
        kind,
        state.bet_index,
        play.game,
        play.bet_credits,
        play.denomination,
        len(play.values),
        len(play.stops),
        play.win_cents,
        play.credits_before_cents,
        *values,
        *stops,
    ).ljust(GAME.size, b"\0")


_GAME_FIELD_COUNT = 9 + 2 * _GAME_VALUES_MAX


def _unpack_game(data: bytes) -> game_cycle.State:
    kind, bet_index, game, bet, denomination, value_count, stop_count, win, before, *rest = _GAME.unpack(
        data[: _GAME.size]
    )
    if kind == 0:
        return game_cycle.Idle(bet_index)
    values = tuple(rest[:value_count])
    stops = tuple(rest[_GAME_VALUES_MAX : _GAME_VALUES_MAX + stop_count])
    play = game_cycle.Play(game, bet, denomination, values, stops, win, before)
    return game_cycle.Spinning(bet_index, play) if kind == 2 else game_cycle.Idle(bet_index, play)


def _pack_handpay(state: handpay.State) -> bytes:
    packed = (
        _HANDPAY.pack(1 + _HANDPAY_KINDS.index(one.kind), one.game, one.cents, one.non_restricted_cents)
        for one in state
    )
    return b"".join(packed).ljust(HANDPAY.size, b"\0")


def _unpack_handpay(data: bytes) -> handpay.State:
    return tuple(
        handpay.Handpay(_HANDPAY_KINDS[kind - 1], cents, game, non_restricted)
        for kind, game, cents, non_restricted in _HANDPAY.iter_unpack(data)
        if kind
    )


def _pack_tilts(state: tilts.State) -> bytes:
    mask = sum(1 << tilts.CONDITIONS[key].bit for key in tilts.kept(state))
    return mask.to_bytes(TILTS.size, "little")


def _unpack_tilts(data: bytes) -> tilts.State:
    mask = int.from_bytes(data, "little")
    return frozenset(key for key, row in tilts.CONDITIONS.items() if mask >> row.bit & 1)


def _pack_host_control(state: host_control.State) -> bytes:
    return _MASKS.pack(_mask(state.play_off_by), _mask(state.acceptor_off_by))


def _unpack_host_control(data: bytes) -> host_control.State:
    play, acceptor = _MASKS.unpack(data)
    return host_control.State(_lines(play), _lines(acceptor))


def _mask(lines: Iterable[int]) -> int:
    return sum(1 << line for line in lines)


def _lines(mask: int) -> frozenset[int]:
    return frozenset(line for line in range(LINE_COUNT_MAX) if mask >> line & 1)


def _pack_marks(state: Marks) -> bytes:
    return _MARKS.pack(
        state.games_at_power_up,
        state.games_at_door_closed,
        state.bills_at_stacker,
        state.bill_in_at_stacker,
        state.clock_offset_us,
        state.power_ups,
        state.last_paid_cents,
    )


def _unpack_marks(data: bytes) -> Marks:
    return Marks(*_MARKS.unpack(data))


def _pack_settings(state: settings.State) -> bytes:
    return _SETTINGS.pack(*state, _KNOWN_SETTINGS)


def _unpack_settings(data: bytes) -> dict[int, int]:
    """Slot -> value of what was ever written; a setting that is newer than the memory has no value there."""
    *values, known = _SETTINGS.unpack(data)
    return {slot: value for slot, value in enumerate(values) if known >> slot & 1}


def pack_identity(identity: Identity) -> bytes:
    """The identity as bytes of its block. Raises ValueError if it is too long."""
    text = json.dumps(asdict(identity), separators=(",", ":")).encode()
    if len(text) > IDENTITY.size:
        raise ValueError(
            f"the machine's identity takes {len(text)} bytes, more than {IDENTITY.size}: fewer games"
        )
    return text.ljust(IDENTITY.size, b"\0")


def unpack_identity(data: bytes) -> Identity:
    """The identity back. Raises ValueError if the block holds none."""
    content = json.loads(data.rstrip(b"\0").decode())
    return Identity(**{**content, "games": tuple(content["games"])})


# --- parts that are packed whole ---


@dataclass(frozen=True, slots=True)
class _Part:
    """``attribute``: of ``Machine``. The codec's types are those of that attribute.

    ``must_be_kept``: with a failed memory it does not change, since what it says would be unsaid by a power cut.
    """

    attribute: str
    block: BlockSpec
    pack: Callable[..., bytes]
    unpack: Callable[[bytes], object]
    must_be_kept: bool = True


_PARTS = (
    _Part("credits", CREDITS, _pack_credits, _unpack_credits),
    _Part("cash_in", CASH_IN, _pack_cash_in, _unpack_cash_in),
    _Part("game", GAME, _pack_game, _unpack_game),
    _Part("handpay", HANDPAY, _pack_handpay, _unpack_handpay),
    _Part("tilts", TILTS, _pack_tilts, _unpack_tilts, must_be_kept=False),
    _Part("host_control", HOST_CONTROL, _pack_host_control, _unpack_host_control),
    _Part("marks", MARKS, _pack_marks, _unpack_marks, must_be_kept=False),
    _Part("settings", SETTINGS, _pack_settings, _unpack_settings),
)


def must_be_kept(old: Machine, new: Machine) -> bool:
    """Something changed between ``old`` and ``new`` that must not happen unless it is on record: money, above all."""
    return any(
        getattr(old, part.attribute) != getattr(new, part.attribute) for part in _PARTS if part.must_be_kept
    )


def changes(old: Machine, new: Machine) -> list[Change]:
    """What must be written so that critical memory holds ``new`` where it held ``old``; meters excepted."""
    changed: list[Change] = []
    for part in _PARTS:
        before, after = getattr(old, part.attribute), getattr(new, part.attribute)
        if after is not before:
            data = part.pack(after)
            if data != part.pack(before):
                changed.append(Put(part.block.id, 0, data))
    if new.log is not old.log:
        changed.extend(_log_changes(old.log, new.log))
    if new.host_queues is not old.host_queues:
        for block, before, after in zip(HOST_QUEUES, old.host_queues, new.host_queues, strict=False):
            if after is not before:
                changed.extend(_queue_changes(block, before, after))
    return changed


def _log_changes(old: Log, new: Log) -> Iterator[Put]:
    if new.sequence != old.sequence:
        yield Put(SEQUENCE.id, 0, _SEQUENCE.pack(new.sequence))
    if new.entries is not old.entries:
        newest = old.entries[-1].index if old.entries else 0
        for entry in new.entries:
            if entry.index <= newest:
                continue
            packed = _LOG_ENTRY.pack(entry.index, entry.number, entry.wall_us, entry.value)
            yield Put(LOG.id, entry.index % LOG_SIZE * _LOG_ENTRY.size, packed)


def _queue_changes(block: BlockSpec, old: host_queue.Line, new: host_queue.Line) -> Iterator[Put]:
    if new.next_sequence != old.next_sequence:
        yield Put(block.id, 0, _QUEUE_HEAD.pack(new.next_sequence))
    before = {notice.slot: notice for notice in old.pending}
    after = {notice.slot: notice for notice in new.pending}
    for slot, notice in after.items():
        if before.get(slot) is not notice:
            yield Put(block.id, _notice_place(slot), _pack_notice(notice))
    for slot in before.keys() - after.keys():
        yield Put(block.id, _notice_place(slot), _NO_NOTICE)


def _notice_place(slot: int) -> int:
    return _QUEUE_HEAD.size + slot * _NOTICE.size


def _pack_notice(notice: host_queue.Notice) -> bytes:
    flags = (_PRIORITY if notice.is_priority else 0) | (_FRONT if notice.is_front else 0)
    facts = notice.facts + (0,) * (host_queue.FACT_COUNT_MAX - len(notice.facts))
    return _NOTICE.pack(notice.sequence, notice.code, flags, len(notice.facts), *facts)


def restore(machine: Machine, content: Callable[[int], bytes]) -> Machine:
    """The machine as critical memory has it. ``content``: block number -> bytes, as kept by any version so far.

    ``machine``: a new one; its rules and what is not kept stay.
    """
    parts: dict[str, Any] = {part.attribute: part.unpack(content(part.block.id)) for part in _PARTS}
    lines = tuple(_unpack_queue(content(HOST_QUEUES[line].id)) for line in range(machine.rules.line_count))
    open_doors = frozenset(door for door in machine.rules.doors if f"{door}_door_open" in parts["tilts"])
    gone = frozenset(f"{door}_door_open" for door in DOORS) - {f"{door}_door_open" for door in open_doors}
    kept = parts["settings"]
    parts["settings"] = tuple(kept.get(slot, value) for slot, value in enumerate(machine.settings))
    parts["tilts"] -= gone  # a door that this cabinet does not have cannot be closed
    return replace(
        machine,
        doors_open=open_doors,
        **parts,
        meters=struct.unpack(f"<{METER_SLOT_COUNT}Q", content(METERS.id)),
        game_meters=struct.unpack(f"<{GAME_COUNT_MAX * GAME_SLOT_COUNT}Q", content(GAME_METERS.id)),
        log=_unpack_log(content(SEQUENCE.id), content(LOG.id)),
        host_queues=lines,
    )


def _unpack_log(head: bytes, data: bytes) -> Log:
    (sequence,) = _SEQUENCE.unpack(head)
    entries = [
        LogEntry(index, number, wall_us, value)
        for index, number, wall_us, value in _LOG_ENTRY.iter_unpack(data)
        if index and number in BY_NUMBER
    ]
    return Log(sequence, tuple(sorted(entries, key=lambda entry: entry.index)))


def _unpack_queue(data: bytes) -> host_queue.Line:
    (next_sequence,) = _QUEUE_HEAD.unpack_from(data)
    notices = []
    for slot, (sequence, code, flags, count, *facts) in enumerate(
        _NOTICE.iter_unpack(data[_QUEUE_HEAD.size :])
    ):
        if sequence:
            is_priority, is_front = bool(flags & _PRIORITY), bool(flags & _FRONT)
            notices.append(
                host_queue.Notice(sequence, code, slot, tuple(facts[:count]), is_priority, is_front)
            )
    notices.sort(key=_queue_order)
    return host_queue.Line(max(next_sequence, 1), tuple(notices))


def _queue_order(notice: host_queue.Notice) -> tuple[bool, int]:
    return (not notice.is_front, notice.sequence)
