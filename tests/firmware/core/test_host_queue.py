"""What a host is owed: a FIFO of 25, flags that are set once, power notices in front."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firmware.core.commands import HostHeard, HostLink, PowerDown, PowerUp
from firmware.core.facts import AcceptorReady, NoteRejected
from firmware.core.host_queue import EMPTY, FIFO_MAX, SLOT_COUNT, Line, drop, post
from firmware.core.state import Machine
from tests.firmware.core.bench import Bench, dial_rules

ORDINARY, PRIORITY, FRONT = (0x11, 0x12, 0x28, 0x7E), (0x3D, 0x51, 0x70), (0x17, 0x18)


def codes(line: Line) -> list[int]:
    return [notice.code for notice in line.pending]


def filled(count: int) -> Line:
    line = EMPTY
    for number in range(count):
        line = post(line, 0x11, (number,))
    return line


def test_twenty_five_wait_in_order_of_arrival() -> None:
    line = filled(FIFO_MAX)
    assert [notice.facts for notice in line.pending] == [(number,) for number in range(25)]


def test_the_twenty_sixth_costs_the_oldest_and_sets_the_overflow_flag() -> None:
    line = post(filled(FIFO_MAX), 0x12)
    assert codes(line) == [0x11] * 24 + [0x70, 0x12]
    assert line.pending[0].facts == (1,)
    line = post(line, 0x13)
    assert codes(line) == [0x11] * 23 + [0x70, 0x12, 0x13]  # one flag, however much is lost


def test_flags_and_power_notices_take_no_place_of_the_fifo() -> None:
    line = filled(FIFO_MAX)
    line = post(post(post(line, 0x51, priority=True), 0x18, front=True), 0x17, front=True)
    assert codes(line) == [0x18, 0x17, *[0x11] * 25, 0x51]


def test_a_flag_that_is_set_is_not_set_again() -> None:
    line = post(EMPTY, 0x51, priority=True)
    assert post(line, 0x51, priority=True) is line
    assert codes(post(drop(line, line.pending[0].sequence), 0x51, priority=True)) == [0x51]


def test_a_newer_power_notice_replaces_its_twin_and_keeps_the_order_of_what_happened() -> None:
    line = post(EMPTY, 0x11)
    for code in (0x18, 0x17, 0x18, 0x17):
        line = post(line, code, front=True)
    assert codes(line) == [0x18, 0x17, 0x11]


def test_what_was_dropped_frees_its_place_and_an_unknown_number_changes_nothing() -> None:
    line = filled(3)
    assert drop(line, 99) is line
    shorter = drop(line, line.pending[1].sequence)
    assert post(shorter, 0x12).pending[-1].slot == line.pending[1].slot


POSTS = st.one_of(
    st.tuples(st.just("ordinary"), st.sampled_from(ORDINARY)),
    st.tuples(st.just("priority"), st.sampled_from(PRIORITY)),
    st.tuples(st.just("front"), st.sampled_from(FRONT)),
    st.tuples(st.just("drop"), st.integers(0, 40)),
)


@given(st.lists(POSTS, max_size=120))
def test_it_behaves_like_a_list_of_each_kind(steps: list[tuple[str, int]]) -> None:
    """The model: front notices, entries and flags in a list each; entries lose their head beyond 25."""
    line, front, rest = EMPTY, list[int](), list[tuple[int, bool]]()
    for kind, value in steps:
        match kind:
            case "front":
                line = post(line, value, front=True)
                front = [*[code for code in front if code != value], value]
            case "priority":
                line = post(line, value, priority=True)
                if (value, True) not in rest:
                    rest.append((value, True))
            case "ordinary":
                line = post(line, value)
                if sum(not flag for _, flag in rest) == FIFO_MAX:
                    rest.remove(next(one for one in rest if not one[1]))
                    if (0x70, True) not in rest:
                        rest.append((0x70, True))
                rest.append((value, False))
            case _ if line.pending:
                place = value % len(line.pending)
                line = drop(line, line.pending[place].sequence)
                if place < len(front):
                    del front[place]
                else:
                    del rest[place - len(front)]
        assert codes(line) == [*front, *(code for code, _ in rest)]
        slots = [notice.slot for notice in line.pending]
        assert len(set(slots)) == len(slots)
        assert all(0 <= slot < SLOT_COUNT for slot in slots)
        sequences = [notice.sequence for notice in line.pending]
        assert len(set(sequences)) == len(sequences)
        assert all(0 < sequence < line.next_sequence for sequence in sequences)


# --- as part of the machine ---


def test_after_a_power_loss_18_and_17_go_in_front_of_what_was_kept() -> None:
    bench = Bench()
    bench.machine = heard_all(bench)
    bench.do(NoteRejected("inhibited"), PowerDown(), PowerUp(False))
    assert bench.owed() == [0x18, 0x17, 0x2B]


def test_without_an_orderly_end_17_alone_is_in_front() -> None:
    bench = Bench()
    bench.machine = heard_all(bench)
    bench.do(NoteRejected("inhibited"), PowerUp(False), AcceptorReady())
    assert bench.owed() == [0x17, 0x2B]


def test_each_line_has_a_queue_of_its_own() -> None:
    bench = Bench(dial_rules(lines=2))
    bench.do(NoteRejected("inhibited"))
    assert bench.owed(0) == bench.owed(1) == [0x17, 0x2B]
    bench.do(HostHeard(1, bench.machine.host_queues[1].pending[1].sequence))
    assert (bench.owed(0), bench.owed(1)) == ([0x17, 0x2B], [0x17])
    before = bench.machine
    bench.do(HostHeard(1, 999))
    assert bench.machine == before


def test_a_lost_host_is_logged_at_once_and_finds_one_event_20_itself() -> None:
    bench = Bench(dial_rules(lines=2))
    bench.do(HostLink(1, True), HostLink(1, True))
    assert bench.machine.host_links_up == {1}
    bench.do(HostLink(1, False), HostLink(1, False))
    assert bench.machine.host_links_up == frozenset()
    assert bench.events() == ["host_link_down"]
    assert (bench.owed(0), bench.owed(1)) == ([0x17], [0x17, 0x20])
    assert bench.machine.log.entries[-1].value == 1  # the line


def heard_all(bench: Bench) -> Machine:
    """The machine as it is once its host has heard everything."""
    for notice in bench.machine.host_queues[0].pending:
        bench.do(HostHeard(0, notice.sequence))
    assert bench.machine.host_queues[0].pending == ()
    return bench.machine
