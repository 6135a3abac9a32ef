"""One line between its port and the core: comes up, goes down, is cut and mended, and never disturbs the machine."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from firmware.core.commands import HostHeard, HostLink
from firmware.core.facts import NoteRejected
from firmware.core.host_queue import EMPTY, post
from firmware.links.sas.behaviours import BEHAVIOURS
from firmware.links.sas.line import SasLink
from hal.backends.memory_links import wakeup_link_pair
from tests.firmware.links.sas.host import ALL_DUTIES, IDENTITY, Host


def test_the_core_hears_that_a_host_came_and_went() -> None:
    host = Host(is_quick=False)
    assert host.machine.host_links_up == {0}
    host.step(5_000_000)
    assert host.waiting == [HostLink(0, False)]
    host.work()
    assert host.machine.host_links_up == frozenset()
    host.send(b"\x80")
    assert host.send(b"\x81") == b"\x20"  # the one event 20 that the host finds
    assert host.waiting == [HostLink(0, True)]


def test_silence_is_noticed_when_the_line_asked_to_be_called() -> None:
    host = Host()
    due_us = host.link.next_deadline_us()
    assert due_us is not None
    assert due_us <= host.now_us + 5_000_000
    chirp = host.step(due_us - host.now_us)
    assert chirp == b"\x01"
    following = host.link.next_deadline_us()
    assert following == due_us + 200_000


def test_a_cut_line_is_trouble_and_a_mended_one_goes_on() -> None:
    host = Host()
    host.port.close()
    assert host.link.step(host.now_us) == []
    assert host.link.trouble
    host.happen(NoteRejected("x"))
    host.port.reopen()
    assert host.link.step(host.now_us) == []
    assert host.link.trouble == ""
    assert host.poll() == b"\x2b"


def test_an_answer_into_a_cut_line_is_trouble_and_no_exception() -> None:
    host = Host(is_quick=False)
    host.send(bytes.fromhex("01 01 51 08"))
    host.port.close()
    host.work()
    assert host.link.trouble


def test_nothing_is_answered_before_there_is_a_state() -> None:
    port, other = wakeup_link_pair("test")
    link = SasLink(0, port, 1, "reference", ALL_DUTIES, IDENTITY, lambda: 0, 0)
    for frame in (b"\x80", b"\x81", b"\x80", b"\x01\x11"):
        other.write(frame[:1], wakeup=True)
        other.write(frame[1:], wakeup=False)
        link.step(1_000)
    assert b"".join(data for data, _ in other.read()) == b"\x00"


@pytest.mark.parametrize("behaviour", sorted(BEHAVIOURS))
def test_every_behaviour_makes_a_line(behaviour: str) -> None:
    port, _ = wakeup_link_pair("test")
    link = SasLink(0, port, 127, behaviour, ALL_DUTIES, IDENTITY, lambda: 0, 0)
    assert link.next_deadline_us() is not None


def test_an_unknown_behaviour_is_refused() -> None:
    port, _ = wakeup_link_pair("test")
    with pytest.raises(KeyError):
        SasLink(0, port, 1, "no such dialect", ALL_DUTIES, IDENTITY, lambda: 0, 0)


def test_noise_moves_no_money_and_the_next_good_poll_is_answered() -> None:
    """Twenty thousand bytes without a good CRC by chance rarely; whatever is executed, play and money stand."""
    chance = random.Random(5)
    host = Host()
    money, meters = host.machine.credits, host.machine.meters
    for _ in range(400):
        host.port.write(chance.randbytes(50), wakeup=chance.choice((True, False, None)))
        host.step(chance.choice((0, 1_000, 30_000)))
    assert (host.machine.credits, host.machine.meters) == (money, meters)
    host.step(300_000)
    host.send(b"\x80")
    host.send(b"\x80")
    assert host.send(bytes.fromhex("01 55"))[:2] == b"\x01\x55"


def test_a_notice_that_the_mode_forbids_is_dropped_and_not_waited_for() -> None:
    host = Host(is_quick=False)
    wagered = post(EMPTY, 0x89)  # real-time mode only (SAS 7.2, column R)
    host.set(replace(host.machine, host_queues=(wagered,)))
    assert host.poll() == b"\x00"
    assert host.waiting == [HostHeard(0, 1)]


def test_the_state_may_change_at_any_time_without_a_word_lost() -> None:
    host = Host()
    for number in range(50):
        host.happen(NoteRejected("x"))
        assert host.poll() == b"\x2b", number
        host.set(host.machine)
    assert host.poll() == b"\x00"
