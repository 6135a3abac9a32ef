"""The memory of a machine that was played on, changed while its power is off: repaired and told, or a tilt.

Every structure of the memory is hit, and as many bytes as ``EGM_BYTES`` says anywhere (``EGM_SWEEP=full``: 4000).
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from firmware.control_program import state_blocks
from firmware.control_program.errors import ConfigError
from firmware.control_program.options import (
    DEFAULT_DUTIES,
    MachineOptions,
    RunOptions,
    SasLineOptions,
    TimeMode,
)
from firmware.core.events import EVENTS
from firmware.memory import CriticalMemory, Place, Status
from firmware.memory.layout import Layout
from hal.backends.memory_nvram import MemoryNvram
from simulator.run_machine import assemble, power_on
from simulator.whole_machine import SECOND_US, WholeMachine
from tests.crash.session import HOST, Session, machine

ANYWHERE = int(os.environ.get("EGM_BYTES", "4000" if os.environ.get("EGM_SWEEP") == "full" else "60"))
REPAIRED, NOT_REPAIRED = 0x31, 0x32
NAMES = ("header", "seal", *(block.name for block in state_blocks.BLOCKS), "journal", "unused")


@dataclass(frozen=True)
class Played:
    """A memory whose machine lost its power, and what was on it then."""

    image: bytes
    meters: dict[str, object]
    last_game: object
    layout: Layout


@cache
def played() -> Played:
    nvram = MemoryNvram()
    session = Session(machine(nvram, seed=8))
    session.start()
    session.note(2000)
    session.games(6)
    session.door()
    whole = session.machine
    layout = CriticalMemory(MemoryNvram(image=nvram.image()), state_blocks.BLOCKS).layout
    meters = dict(whole.world.meters())
    return Played(nvram.image(), meters, whole.program.executor.durable.game, layout)


def started(image: bytes) -> tuple[WholeMachine, MemoryNvram]:
    nvram = MemoryNvram(len(image), image=image)
    whole = machine(nvram, seed=9, host=HOST)
    whole.power_on()
    whole.run_for(8 * SECOND_US)
    return whole, nvram


def offsets_of(name: str, count: int) -> list[int]:
    """``count`` offsets within a half that belong to the structure ``name``, the first and last byte among them."""
    layout = played().layout
    match name:
        case "header":
            areas = [(0, layout.header_size)]
        case "seal":
            areas = [(layout.seal_offset, 512)]
        case "journal":
            areas = [(layout.journal_offset, layout.journal_size)]
        case "unused":
            areas = [(layout.used_size, layout.half_size - layout.used_size)]
        case _:
            areas = [(page.offset, page.size) for page in layout.pages if page.block.name == name]
    chance = random.Random(name)
    found = []
    for start, size in areas:
        found += [start, start + size - 1, *(start + chance.randrange(size) for _ in range(count))]
    return found[: max(count, len(areas))]


def changed(*offsets: int) -> bytes:
    image = bytearray(played().image)
    chance = random.Random(repr(offsets))
    for offset in offsets:
        image[offset] ^= chance.randrange(1, 256)
    return bytes(image)


def is_what_a_cut_leaves(*offsets: int) -> bool:
    """Whether the change looks like the newest write torn by a power cut. No change goes unnoticed either way."""
    image = changed(*offsets)
    report = CriticalMemory(MemoryNvram(image=image), state_blocks.BLOCKS).power_up()
    assert report.findings, offsets
    explained = all(finding.cut_explains for finding in report.findings)
    assert not explained or {finding.place for finding in report.findings} <= {Place.SEAL, Place.JOURNAL}
    return explained


def assert_repaired_and_told(whole: WholeMachine, nvram: MemoryNvram, *offsets: int) -> None:
    offset = offsets[0]
    state = whole.world.state()
    assert state["playable"], (offset, state["playable_blocked_by"])
    before, after = played().meters, whole.world.meters()
    since_start = {"power_resets", "games_since_power_up"}
    differing = {name for name in before if before[name] != after[name]} - since_start
    assert not differing, offset
    assert whole.program.executor.durable.game == played().last_game, offset
    # A half-written seal or newest record is mended like all else, but is no failure of the memory.
    if not is_what_a_cut_leaves(*offsets):
        assert whole.events("memory_repaired"), offset
        assert REPAIRED in [notice.code for notice in whole.host.heard], offset
        numbers = [entry.number for entry in whole.program.executor.durable.log.entries]
        assert EVENTS["memory_repaired"].number in numbers, offset
    whole.cut()
    again = CriticalMemory(MemoryNvram(image=nvram.image()), state_blocks.BLOCKS).power_up()
    assert again.status in (Status.INTACT, Status.REPAIRED), offset
    assert all(finding.cut_explains for finding in again.findings), offset


def assert_hard_tilt(whole: WholeMachine, offset: int) -> None:
    """Tilted, told, and nothing but a RAM clear helps: no key, no door, no game, no note, no new start."""
    nvram = whole.nvram
    assert isinstance(nvram, MemoryNvram)
    image = nvram.image()
    for _ in range(2):
        assert "memory_failure" in whole.world.state()["playable_blocked_by"], offset  # type: ignore[operator]
        assert NOT_REPAIRED in [notice.code for notice in whole.host.heard], offset
        fates: list[object] = []
        hands = whole.world.hands
        hands.bill(500, lambda fate, fates=fates: fates.append(fate.result))  # type: ignore[misc]
        for on in (True, False):
            hands.key("reset", on)
            hands.door("main", on)
            whole.run_for(1 * SECOND_US)
        hands.press("spin")
        hands.press("cash_out")
        whole.run_for(5 * SECOND_US)
        assert fates and fates[0] != "stacked", (offset, fates)
        assert not whole.events("game_started") and not whole.events("handpay_pending"), offset
        assert nvram.image() == image, "a damaged memory is evidence: nothing is written"
        whole.cut()
        whole.host.heard.clear()
        whole.power_on()
        whole.run_for(8 * SECOND_US)


@pytest.mark.law("NJ-28B-s10")
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_of_any_structure_is_repaired_logged_and_told(name: str) -> None:
    half = played().layout.half_size
    for number, offset in enumerate(offsets_of(name, 2)):
        offset += half * (number % 2)
        whole, nvram = started(changed(offset))
        assert_repaired_and_told(whole, nvram, offset)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(4))
def test_a_changed_byte_anywhere_is_repaired_logged_and_told(part: int) -> None:
    chance = random.Random(f"bytes {part}")
    layout = played().layout
    for _ in range(ANYWHERE // 4):
        # Half of them where something is stored; evenly spread ones would hit mostly unused bytes.
        limit = layout.used_size if chance.random() < 0.7 else layout.half_size
        offset = chance.randrange(limit) + layout.half_size * chance.randrange(2)
        whole, nvram = started(changed(offset))
        assert_repaired_and_told(whole, nvram, offset)


@pytest.mark.law("NJ-28B-p1")
@pytest.mark.law("NJ-28B-b-hard", partly="that a RAM clear ends it is shown with the RAM clear")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("journal", "unused")])
def test_the_same_byte_in_both_copies_is_a_hard_tilt_with_its_event(name: str) -> None:
    for offset in offsets_of(name, 1):
        whole, _ = started(changed(offset, offset + played().layout.half_size))
        assert_hard_tilt(whole, offset)


def test_the_same_byte_of_both_journals_is_a_tilt_if_it_is_needed_and_repaired_if_not() -> None:
    layout = played().layout
    chance = random.Random("journal")
    live = [layout.journal_offset + sector * 512 + 5 for sector in range(6)]
    dead = [layout.journal_offset + layout.journal_size - 1 - chance.randrange(4096) for _ in range(3)]
    fates = []
    for offset in live + dead:
        whole, nvram = started(changed(offset, offset + layout.half_size))
        is_tilted = "memory_failure" in whole.world.state()["playable_blocked_by"]  # type: ignore[operator]
        fates.append(is_tilted)
        if is_tilted:
            assert_hard_tilt(whole, offset)
        else:
            assert_repaired_and_told(whole, nvram, offset, offset + layout.half_size)
    assert any(fates[: len(live)]) and not any(fates[len(live) :])


# --- the file itself ---------------------------------------------------------------------------------------


def tried(folder: Path, content: bytes) -> dict[str, object]:
    """Start a machine on a file with this content; return its state. Raises ConfigError."""
    (folder / "memory.bin").write_bytes(content)
    options = RunOptions(
        machine=MachineOptions(seed=1, denomination=100),
        sas=(SasLineOptions("memory:sas", duties=DEFAULT_DUTIES),),
        time=TimeMode("free"),
        panel=None,
    )
    assembly = assemble(options, folder)
    try:
        power_on(assembly)
        for _ in range(1000):  # the flushing thread is real: a few milliseconds of it
            if not assembly.world.machine.executor.is_busy:  # type: ignore[union-attr]
                break
            assembly.world.stir()
            assembly.world.turn()
        return assembly.world.state()
    finally:
        assembly.close()


@pytest.mark.parametrize("kept", [1, 1000, 51_200, 262_144, 523_776, -1, -512])
def test_a_file_of_another_size_is_refused_in_one_sentence_and_left_alone(tmp_path: Path, kept: int) -> None:
    image = played().image
    content = image[:kept] if kept > 0 else image + bytes(-kept)
    with pytest.raises(ConfigError, match=r"memory\.bin is \d+ bytes, expected 524288"):
        tried(tmp_path, content)
    assert (tmp_path / "memory.bin").read_bytes() == content


@pytest.mark.parametrize("blank", [b"", bytes(1000), bytes(524_288), b"\xff" * 524_288], ids=len)
def test_a_blank_file_is_a_new_memory(tmp_path: Path, blank: bytes) -> None:
    state = tried(tmp_path, blank)
    assert "memory_failure" not in state["playable_blocked_by"]  # type: ignore[operator]
    assert state["credits"]["total"] == 0  # type: ignore[index]


@pytest.mark.parametrize("case", ["noise", "shifted up", "shifted down", "text"])
def test_garbage_of_the_right_size_is_a_hard_tilt(tmp_path: Path, case: str) -> None:
    image = played().image
    content = {
        "noise": random.Random(5).randbytes(len(image)),
        "shifted up": image[512:] + bytes(512),
        "shifted down": bytes(512) + image[:-512],
        "text": b"not a memory\n" * (len(image) // 13) + b"........"[: len(image) % 13],
    }[case]
    content = content.ljust(len(image), b".")
    state = tried(tmp_path, content)
    assert "memory_failure" in state["playable_blocked_by"]  # type: ignore[operator]
    assert state["credits"]["total"] in (0, played().meters["current_credits"]["value"])  # type: ignore[index]
    assert (tmp_path / "memory.bin").read_bytes() == content


def test_half_a_memory_is_rebuilt_from_the_other_half(tmp_path: Path) -> None:
    image = played().image
    half = len(image) // 2
    credits_before = played().meters["current_credits"]["value"]  # type: ignore[index]
    for content in (image[:half] + bytes(half), bytes(half) + image[half:]):
        state = tried(tmp_path, content)
        assert "memory_failure" not in state["playable_blocked_by"]  # type: ignore[operator]
        assert state["credits"]["total"] == credits_before  # type: ignore[index]
