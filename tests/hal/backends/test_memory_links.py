"""Lines in memory: what only they can do."""

from __future__ import annotations

import pytest

from hal.backends.errors import BackendError
from hal.backends.memory_links import PENDING_BYTES_MAX, MemoryLines, byte_link_pair, wakeup_link_pair
from hal.ports.links import LinkError


@pytest.mark.parametrize("wakeup", [True, False, None])
def test_a_host_says_the_ninth_bit_of_each_run_or_leaves_it_unsaid(wakeup: bool | None) -> None:
    machine, host = wakeup_link_pair()
    host.write(b"\x01", wakeup=wakeup)
    host.write(b"\x54", wakeup=False)
    assert machine.read() == [(b"\x01", wakeup), (b"\x54", False)]
    assert machine.read() == []


def test_a_host_sees_the_mark_of_a_chirp() -> None:
    machine, host = wakeup_link_pair()
    machine.write(b"\x00")
    machine.write(b"\x01", wakeup=True)
    assert host.read() == [(b"\x00", False), (b"\x01", True)]


@pytest.mark.parametrize("end", [0, 1])
def test_cutting_either_end_cuts_both_and_loses_what_was_under_way(end: int) -> None:
    pair = byte_link_pair("acceptor")
    pair[0].write(b"lost")
    pair[1].write(b"lost too")
    pair[end].close()
    for link in pair:
        with pytest.raises(LinkError, match="memory:acceptor is cut"):
            link.read(10)
        with pytest.raises(LinkError, match="memory:acceptor is cut"):
            link.write(b"x")
    pair[1 - end].reopen()
    assert pair[0].read(10) == pair[1].read(10) == b""
    pair[0].write(b"news")
    assert pair[1].read(10) == b"news"


def test_a_cut_sas_line_comes_back_too() -> None:
    machine, host = wakeup_link_pair()
    host.close()
    with pytest.raises(LinkError):
        machine.write(b"\x00")
    host.reopen()
    host.write(b"\x81", wakeup=True)
    assert machine.read() == [(b"\x81", True)]


def test_a_reader_that_never_comes_costs_bounded_memory_and_the_oldest_bytes() -> None:
    link, other = byte_link_pair()
    block = 1 << 16
    for number in range(100):
        link.write(bytes([number]) * block)
    kept = b"".join(iter(lambda: other.read(block), b""))
    assert len(kept) == PENDING_BYTES_MAX
    assert kept[-1] == 99
    assert kept[0] == 100 - PENDING_BYTES_MAX // block
    link.write(b"and on")
    assert other.read(100) == b"and on"


def test_a_write_wakes_the_other_end() -> None:
    machine, host = wakeup_link_pair()
    calls: list[str] = []
    machine.on_arrival = lambda: calls.append("machine")
    host.on_arrival = lambda: calls.append("host")
    host.write(b"\x81", wakeup=True)
    machine.write(b"\x00")
    machine.write(b"")
    assert calls == ["machine", "host"]
    assert machine.fileno() is None


def test_a_registry_gives_both_sides_the_same_pair() -> None:
    lines = MemoryLines()
    lines.byte_pair("acceptor")[0].write(b"x")
    assert lines.byte_pair("acceptor")[1].read(1) == b"x"
    assert lines.byte_pair("printer")[1].read(1) == b""
    assert MemoryLines().byte_pair("acceptor")[0] is not lines.byte_pair("acceptor")[0]


def test_one_name_is_one_kind_of_line() -> None:
    lines = MemoryLines()
    lines.byte_pair("one")
    lines.wakeup_pair("other")
    with pytest.raises(BackendError, match="memory:one is a device's line"):
        lines.wakeup_pair("one")
    with pytest.raises(BackendError, match="memory:other is a SAS line"):
        lines.byte_pair("other")
