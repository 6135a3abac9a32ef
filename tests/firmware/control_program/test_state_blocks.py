"""The machine's state as bytes: each part survives the trip, and what a turn writes is what a power-up finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.control_program import state_blocks
from firmware.control_program.state_blocks import (
    BLOCKS,
    Identity,
    must_be_kept,
    pack_identity,
    unpack_identity,
)
from firmware.core import game_cycle, router
from firmware.core.cash_in import Idle, Stacking
from firmware.core.commands import (
    ChangeSetting,
    Drawn,
    Event,
    HostHeard,
    HostLink,
    HostSetAcceptor,
    HostSetClock,
    HostSetPlay,
    PowerDown,
    PowerUp,
    SelfFault,
)
from firmware.core.effects import Draw
from firmware.core.facts import (
    AcceptorReady,
    ButtonPressed,
    DeviceFault,
    DoorMoved,
    KeyTurned,
    NoteInEscrow,
    NoteStacked,
)
from firmware.core.game_cycle import Play, Spinning
from firmware.core.handpay import QUEUE_MAX, Handpay
from firmware.core.marks import Marks
from firmware.core.meters import ATOMS
from firmware.core.money import Amounts
from firmware.core.settings import SETTINGS as SETTING_ROWS
from firmware.core.state import Machine, Now, new_machine
from firmware.core.tilts import CONDITIONS, kept
from firmware.memory import Add, Put
from tests.firmware.core.bench import CASH_OUT, REELS_STAND, SPIN, DialGame, dial_rules

RULES = dial_rules([DialGame(), DialGame(number=2)], lines=2)
KEPT = ("meters", "game_meters", "credits", "cash_in", "game", "handpay", "host_control", "host_queues", "marks", "log",
        "settings")  # fmt: skip


class Image:
    """Blocks as plain bytes: the simplest critical memory there can be."""

    def __init__(self) -> None:
        self.blocks = {spec.id: bytearray(spec.size) for spec in BLOCKS}

    def write(self, old: Machine, turn: router.Turn) -> None:
        for put in state_blocks.changes(old, turn.machine):
            assert isinstance(put, Put)
            block = self.blocks[put.block]
            assert put.offset + len(put.data) <= len(block)
            block[put.offset : put.offset + len(put.data)] = put.data
        for block_id, added in (
            (state_blocks.METERS.id, turn.added),
            (state_blocks.GAME_METERS.id, turn.game_added),
        ):
            for slot, amount in added:
                at = slice(slot * 8, slot * 8 + 8)
                block = self.blocks[block_id]
                block[at] = (int.from_bytes(block[at], "little") + amount).to_bytes(8, "little")

    def restored(self) -> Machine:
        return state_blocks.restore(new_machine(RULES, {}), lambda block: bytes(self.blocks[block]))


def written(machine: Machine) -> Machine:
    """The machine after everything about it was written to blank memory and read back."""
    image = Image()
    blank = image.restored()
    image.write(blank, router.Turn(machine, [], [], []))
    return image.restored()


def assert_kept(found: Machine, machine: Machine) -> None:
    for name in KEPT:
        assert getattr(found, name) == getattr(machine, name), name
    assert found.tilts == kept(machine.tilts)


# --- part by part ---

PARTS = {
    "credits": [Amounts(1, 2, 3), Amounts(2**63, 0, 0)],
    "cash_in": [Idle(), Idle(2000), Stacking(10_000, 500)],
    "game": [
        game_cycle.Idle(), game_cycle.Idle(2),
        game_cycle.Idle(1, Play(2, 3, 25, (9,), (4,), 0, 10_000)),
        Spinning(0, Play(32, 100, 500_000, tuple(range(10)), tuple(range(10)), 2**40, 2**40)),
        Spinning(0, Play(1, 1, 1, (0, 0, 0), (21, 0, 5), 7, 1)),
    ],
    "handpay": [
        (), (Handpay("jackpot", 120_000, 1),),
        tuple(Handpay("cancelled_credits", 2**40 + n, 0, 2**39) for n in range(QUEUE_MAX)),
    ],
    "marks": [Marks(1, 2, 3, 4, -(2**62), 6, 7)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "value"), [(name, one) for name, values in PARTS.items() for one in values]
)
def test_a_part_survives_the_trip(attribute: str, value: object) -> None:
    machine = replace(new_machine(RULES, {}), **{attribute: value})  # type: ignore[arg-type]
    assert_kept(written(machine), machine)


@pytest.mark.parametrize("key", sorted(CONDITIONS))
def test_a_condition_survives_if_its_row_says_so(key: str) -> None:
    machine = replace(new_machine(RULES, {}), tilts=frozenset({key}))
    assert written(machine).tilts == ({key} if CONDITIONS[key].kept else frozenset())


def test_a_new_machines_settings_survive() -> None:
    machine = new_machine(RULES, {"credit_limit": 5_000, "accounting_denomination": 25})
    assert_kept(written(machine), machine)


def test_a_draw_without_its_answer_is_never_written() -> None:
    machine = new_machine(RULES, {})
    with pytest.raises(TypeError):
        state_blocks.changes(machine, replace(machine, game=game_cycle.Drawing(0)))


def test_identity_survives_the_trip() -> None:
    for validation_id in (None, 0x010203):
        identity = Identity(
            "nj", ("lantern_night", "other"), 25, 7, "SIM 0001 ü", "603", "enhanced", validation_id
        )
        assert unpack_identity(pack_identity(identity).ljust(1024, b"\0")) == identity
    with pytest.raises(ValueError, match="fewer games"):
        pack_identity(
            Identity("nj", tuple(f"game_{n:040}" for n in range(32)), 1, 1, "S", "602", "none", None)
        )


# --- the table ---


def test_no_two_blocks_share_a_number_or_a_name() -> None:
    assert max(Counter(spec.id for spec in BLOCKS).values()) == 1
    assert max(Counter(spec.name for spec in BLOCKS).values()) == 1


def test_what_a_block_is_said_to_hold_fits_it() -> None:
    assert state_blocks._CREDITS.size <= state_blocks.CREDITS.size
    assert state_blocks._CASH_IN.size <= state_blocks.CASH_IN.size
    assert state_blocks._GAME.size <= state_blocks.GAME.size
    assert state_blocks._HANDPAY.size * QUEUE_MAX <= state_blocks.HANDPAY.size
    assert state_blocks._MARKS.size == state_blocks.MARKS.size
    assert max(row.bit for row in CONDITIONS.values()) < state_blocks.TILTS.size * 8
    assert max(atom.slot for atom in ATOMS.values()) * 8 < state_blocks.METERS.size


# --- turn by turn ---

EVENTS: tuple[Event, ...] = (
    SPIN, SPIN, REELS_STAND, REELS_STAND, CASH_OUT, ButtonPressed("bet_max"), ButtonPressed("bet_one"),
    NoteInEscrow(2000), NoteInEscrow(10_000), NoteStacked(), NoteStacked(), AcceptorReady(), KeyTurned("reset", True),
    KeyTurned("reset", False), DoorMoved("main", True), DoorMoved("main", False), DoorMoved("logic", True),
    DoorMoved("logic", False), DeviceFault("stacker_removed", True), DeviceFault("stacker_removed", False),
    HostSetPlay(1, False), HostSetPlay(1, True), HostSetAcceptor(0, False), HostSetAcceptor(0, True),
    HostSetClock(0, 1_800_000_000_000_000), HostLink(1, True), HostLink(1, False), PowerUp(False), PowerDown(),
    ChangeSetting("credit_limit", 50_000), SelfFault("generator_failure", "test"),
)  # fmt: skip

STEPS = st.lists(
    st.one_of(
        st.sampled_from(EVENTS),
        st.tuples(
            st.sampled_from((0, 1)), st.integers(0, 60)
        ),  # the host has heard the n-th notice of that line
    ),
    min_size=5,
    max_size=80,
)


@given(steps=STEPS, draws=st.lists(st.sampled_from((0, 0, 5, 150_000)), min_size=80, max_size=80))
@settings(max_examples=60)
def test_after_each_turn_memory_holds_the_machine(
    steps: list[Event | tuple[int, int]], draws: list[int]
) -> None:
    """The law of a record: applying what a turn writes to what was there gives the new machine exactly."""
    image = Image()
    machine = new_machine(RULES, {})
    image.write(image.restored(), router.Turn(machine, [], [], []))
    for index, (step, draw) in enumerate(
        zip([PowerUp(True), AcceptorReady(), *steps], [*draws, 0, 0], strict=False)
    ):
        if isinstance(step, tuple):
            line, nth = step
            pending = machine.host_queues[line].pending
            event: Event = HostHeard(line, pending[nth % len(pending)].sequence if pending else 1)
        else:
            event = step
        now = Now(index, 1_767_225_600_000_000 + index)
        turn = router.step(machine, event, now)
        if any(isinstance(effect, Draw) for effect in turn.effects):
            answered = router.step(turn.machine, Drawn((draw,)), now)
            turn = router.Turn(
                answered.machine, [], turn.added + answered.added, turn.game_added + answered.game_added
            )
        image.write(machine, turn)
        machine = turn.machine
        assert_kept(image.restored(), machine)


def test_nothing_is_written_for_what_did_not_change() -> None:
    machine = replace(new_machine(RULES, {}), credits=Amounts(500))
    assert state_blocks.changes(machine, machine) == []
    assert (
        state_blocks.changes(machine, replace(machine, credits=Amounts(500))) == []
    )  # equal, though not the same
    door = router.step(machine, DoorMoved("main", True), Now()).machine
    blocks = {change.block for change in state_blocks.changes(machine, door) if not isinstance(change, Add)}
    untouched = {
        state_blocks.CREDITS.id,
        state_blocks.GAME.id,
        state_blocks.CASH_IN.id,
        state_blocks.SETTINGS.id,
    }
    assert blocks & untouched == set()


def test_what_a_failed_memory_must_not_let_happen() -> None:
    machine = replace(new_machine(RULES, {}), credits=Amounts(500))
    for event, kept_back in (
        (DoorMoved("main", True), False), (HostLink(0, True), False), (SelfFault("memory_failure", ""), False),
        (NoteInEscrow(2000), True), (CASH_OUT, True), (HostSetPlay(0, False), True), (ButtonPressed("bet_one"), True),
    ):  # fmt: skip
        new = router.step(machine, event, Now()).machine
        assert must_be_kept(machine, new) is kept_back, event


def test_a_line_more_or_less_keeps_the_rest() -> None:
    image = Image()
    machine = new_machine(RULES, {})
    image.write(image.restored(), router.Turn(machine, [], [], []))
    turn = router.step(machine, DoorMoved("main", True), Now())
    image.write(machine, turn)
    fewer = state_blocks.restore(
        new_machine(dial_rules(lines=1), {}), lambda block: bytes(image.blocks[block])
    )
    assert fewer.host_queues == turn.machine.host_queues[:1]
    more = state_blocks.restore(
        new_machine(dial_rules(lines=4), {}), lambda block: bytes(image.blocks[block])
    )
    assert more.host_queues[:2] == turn.machine.host_queues
    assert [line.pending for line in more.host_queues[2:]] == [(), ()]


def test_a_setting_that_is_newer_than_the_memory_has_its_default_and_not_zero() -> None:
    rules = dial_rules()
    older = new_machine(rules, {"credit_limit": 5_000})
    written = bytearray(state_blocks._pack_settings(older.settings))
    row = SETTING_ROWS["bet_credits_max"]
    known = int.from_bytes(written[-8:], "little") & ~(1 << row.slot)
    written[row.slot * 8 : row.slot * 8 + 8] = bytes(8)
    written[-8:] = known.to_bytes(8, "little")

    def content(block: int) -> bytes:
        return bytes(written) if block == state_blocks.SETTINGS.id else bytes(state_blocks.SIZES[block])

    restored = state_blocks.restore(new_machine(rules, {"bet_credits_max": 7}), content)
    assert restored.setting("bet_credits_max") == 7
    assert restored.setting("credit_limit") == 5_000
