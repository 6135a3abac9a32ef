"""The host keeps a machine polled, asks between the polls, and follows what the news tell it to read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sas_protocol.host_end import (
    Acked,
    Answered,
    GeneralPoll,
    LongPollRequest,
    NoticeReceived,
    RawRequest,
    Unanswered,
    Write,
)
from sas_protocol.line_events import BUSY, IGNORE, NACK
from sas_protocol.longpolls.control import ENABLE_REAL_TIME_EVENTS, SHUTDOWN
from sas_protocol.longpolls.identity import SEND_VERSION
from simulator.floor.sas_host import READ_AFTER, CameOnline, SasHost, SasHostEvent, WentOffline
from simulator.floor.sas_meters import MeterSurvey
from tests.simulator.floor.line_machine import LineMachine, converse


def polled_at(host: SasHost, machine: LineMachine | None, for_us: int) -> list[int]:
    """When general polls to the machine were written."""
    times: list[int] = []

    def note(now_us: int, event: SasHostEvent) -> None:
        if isinstance(event, Write) and event.data == b"\x81":
            times.append(now_us)

    converse(host, machine, for_us, note)
    return times


def test_a_machine_is_polled_every_period() -> None:
    times = polled_at(SasHost(1, 0), LineMachine(), 2_000_000)
    assert len(times) == 10
    assert all(abs(time - 200_000 * number) < 5_000 for number, time in enumerate(times))


def test_news_arrive_once_each_and_leave_the_machine() -> None:
    machine = LineMachine()
    machine.tell(0x11)
    machine.tell(0x12)
    events = converse(SasHost(1, 0), machine, 2_000_000)
    codes = [event.code for event in events if isinstance(event, NoticeReceived) and event.code]
    assert codes == [0x11, 0x12]
    assert machine.notices == []


def test_the_machine_comes_online_once() -> None:
    events = converse(SasHost(1, 0), LineMachine(), 1_000_000)
    assert [event for event in events if isinstance(event, CameOnline | WentOffline)] == [CameOnline()]


def test_a_silent_machine_goes_offline_after_thirty_seconds_and_comes_back() -> None:
    machine, times = LineMachine(), {}
    host = SasHost(1, 0)

    def note(now_us: int, event: SasHostEvent) -> None:
        if isinstance(event, CameOnline | WentOffline):
            times[now_us] = type(event)

    converse(host, machine, 1_000_000, note)
    assert list(times.values()) == [CameOnline]
    gone = converse(host, None, 31_500_000, note)
    assert list(times.values()) == [CameOnline, WentOffline]
    assert max(times) >= 29_000_000
    assert any(isinstance(event, Unanswered) for event in gone)
    assert not host.is_online


def test_long_polls_go_between_general_polls_and_news_do_not_wait_for_them() -> None:
    machine, host = LineMachine(), SasHost(1, 0)
    host.ask(*[LongPollRequest(SEND_VERSION)] * 40)
    order: list[str] = []

    def note(now_us: int, event: SasHostEvent) -> None:
        if isinstance(event, NoticeReceived):
            order.append("notice")
        elif isinstance(event, Answered):
            order.append("answer")

    converse(host, machine, 1_000_000, note)
    assert order.count("answer") == 40
    last_answer = max(place for place, kind in enumerate(order) if kind == "answer")
    assert order[:last_answer].count("notice") >= 2  # the first, and one in the midst of the questions
    assert host.is_idle


def test_the_same_poll_twice_is_asked_twice_and_not_repeated() -> None:
    machine, host = LineMachine(), SasHost(1, 0, period_us=None)
    host.ask(LongPollRequest(SEND_VERSION), LongPollRequest(SEND_VERSION))
    converse(host, machine, 500_000)
    assert machine.heard == [0x54, 0x54]


def test_power_applied_makes_the_host_read_who_is_there() -> None:
    machine, host = LineMachine(), SasHost(1, 0, reads_after=READ_AFTER)
    converse(host, machine, 3_000_000, at={500_000: lambda: machine.tell(0x17)})
    assert {0x54, 0x1F} <= set(machine.heard)


def test_in_real_time_mode_news_come_with_their_facts_and_commands_are_asked_again() -> None:
    machine, host = LineMachine(), SasHost(1, 0)
    host.ask(LongPollRequest(ENABLE_REAL_TIME_EVENTS, {"enable": 1}))
    act: Callable[[], None] = lambda: (machine.tell(0x4F, 37, 4, 12), host.ask(LongPollRequest(SHUTDOWN)))[0]  # noqa: E731
    events = converse(host, machine, 1_000_000, at={450_000: act})
    assert host.is_real_time
    told = [event for event in events if isinstance(event, NoticeReceived) and event.code]
    assert [(event.code, event.facts) for event in told] == [(0x4F, (37, 4, 12))]
    assert machine.heard[-1] == 0x01
    assert [event.request for event in events if isinstance(event, Acked)][-1] == LongPollRequest(SHUTDOWN)


def test_real_time_events_are_on_before_the_first_news_and_again_after_a_power_loss() -> None:
    machine, host = LineMachine(), SasHost(1, 0, real_time=True)
    machine.tell(0x4F, 37, 4, 12)
    events = converse(host, machine, 1_000_000)
    assert [event.facts for event in events if isinstance(event, NoticeReceived) and event.code] == [
        (37, 4, 12)
    ]
    restarted = LineMachine()
    restarted.tell(0x17)
    converse(host, restarted, 2_000_000)
    assert restarted.end.is_real_time


def test_without_a_period_only_what_was_asked_is_sent() -> None:
    machine, host = LineMachine(), SasHost(1, 0, period_us=None)
    host.ask(RawRequest(bytes.fromhex("0154")))
    sent: list[bytes] = []
    converse(
        host, machine, 300_000, lambda _, event: sent.append(event.data) if isinstance(event, Write) else None
    )
    assert b"".join(sent) == bytes.fromhex("80 01 54")
    assert host.next_deadline_us() is None


def test_the_last_word_is_one_that_every_machine_takes_for_an_acknowledgement() -> None:
    assert SasHost(1, 0).farewell() == [Write(b"\x80", True)]


# --- the survey of meters -------------------------------------------------------------------------------


def survey(machine: LineMachine | None, game: int = 0) -> MeterSurvey:
    """Run a whole survey."""
    asked, host = MeterSurvey(game), SasHost(1, 0, period_us=None)
    host.ask(*asked.first())

    def take(_: int, event: SasHostEvent) -> None:
        if hasattr(event, "request") and not isinstance(event.request, GeneralPoll):
            host.ask(*asked.take(event))  # type: ignore[arg-type]

    converse(host, machine, 20_000_000, take)
    return asked


def test_every_meter_the_machine_has_is_read_and_no_other() -> None:
    machine = LineMachine()
    found = survey(machine)
    assert {code: value.value for code, value in found.found.items()} == machine.meters
    assert found.is_done
    assert not found.failure
    assert set(machine.heard) == {0x1F, 0x6F, 0xAF}


def test_money_is_counted_in_cents_by_its_unit() -> None:
    found = survey(LineMachine())
    assert found.denomination == 5
    by_name = {value.meter.name: value.as_json(found.denomination) for value in found.found.values()}
    assert by_name["total_coin_in"] == {"code": "00", "value": 1234, "unit": "credits", "cents": 6170}
    assert by_name["games_played"] == {"code": "05", "value": 7, "unit": "count", "cents": None}
    assert by_name["aft_cashable_to_machine_cents"]["cents"] == 15_000


def test_a_machine_without_6f_is_asked_with_2f() -> None:
    machine = LineMachine(refuses={0x6F: IGNORE, 0xAF: IGNORE})
    found = survey(machine)
    assert {code: value.value for code, value in found.found.items()} == machine.meters
    assert machine.heard.count(0x6F) == 3  # as often as a host asks in vain, and not for every meter


def test_a_machine_that_is_busy_for_a_while_is_asked_again() -> None:
    class Busy(LineMachine):
        def receive(self, now_us: int, runs: object) -> bytes:
            self.refuses = {} if now_us > 100_000 else {0x6F: BUSY}
            return super().receive(now_us, runs)  # type: ignore[arg-type]

    found = survey(Busy())
    assert found.is_done
    assert len(found.found) == 3


@pytest.mark.parametrize(
    ("machine", "game", "failure"),
    [
        (
            LineMachine(refuses=dict.fromkeys((0x6F, 0xAF, 0x2F), IGNORE)),
            0,
            "answers none of the meter polls",
        ),
        (LineMachine(refuses=dict.fromkeys((0x6F, 0xAF, 0x2F), NACK)), 7, "has no meters for game 7"),
        (LineMachine(refuses={0x6F: BUSY}), 0, "is busy and stays so"),
        (None, 0, "answers none of the meter polls"),
    ],
)
def test_why_a_survey_gives_up(machine: LineMachine | None, game: int, failure: str) -> None:
    found = survey(machine, game)
    assert found.is_done
    assert failure in found.failure
