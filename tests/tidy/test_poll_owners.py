"""Every long poll has exactly one owner in the machine: answered, obeyed, or refused with a reason."""

from __future__ import annotations

from collections import Counter

import pytest

from firmware.links.sas.answers import ANSWERS, METER_POLLS
from firmware.links.sas.commands import COMMANDS, LINE_COMMANDS
from firmware.links.sas.refused import REFUSED
from sas_protocol.longpolls import V603, LongPoll
from sas_protocol.longpolls.poll import Size

ANSWERED = (*ANSWERS, *METER_POLLS)
OWNED = Counter([*ANSWERED, *COMMANDS, *LINE_COMMANDS, *REFUSED])


@pytest.mark.parametrize("poll", V603.values(), ids=lambda poll: f"{poll.code:02X}_{poll.name}")
def test_a_poll_has_exactly_one_owner(poll: LongPoll) -> None:
    assert OWNED[poll] == 1


def test_nothing_else_is_owned() -> None:
    assert set(OWNED) == set(V603.values())


def test_what_is_answered_has_an_answer_to_give() -> None:
    for poll in ANSWERED:
        assert poll.response_size is not Size.NONE, poll.name
        assert poll.response is not None, poll.name


def test_what_is_obeyed_changes_something_and_answers_with_a_word() -> None:
    for poll in (*COMMANDS, *LINE_COMMANDS):
        assert not poll.is_read, poll.name


def test_every_refusal_has_a_reason() -> None:
    assert all(reason.strip() for reason in REFUSED.values())
