"""What parity settings prove about the ninth bit: announcements and bytes as the kernel orders them."""

from __future__ import annotations

import pytest

from hal.backends.wakeup_evidence import WakeupEvidence

MARK, SPACE, NONE = True, False, None


@pytest.fixture
def evidence() -> WakeupEvidence:
    return WakeupEvidence()


def read(evidence: WakeupEvidence, size: int) -> bool | None:
    label = evidence.label(size)
    evidence.drained()
    return label


def test_before_any_setting_nothing_is_known(evidence: WakeupEvidence) -> None:
    assert read(evidence, 3) is None


def test_an_attentive_reader_knows_every_bit(evidence: WakeupEvidence) -> None:
    for _ in range(3):
        evidence.changed(MARK, waiting=0)
        assert read(evidence, 1) is True
        evidence.changed(SPACE, waiting=0)
        assert read(evidence, 5) is False


def test_a_host_quicker_than_its_announcement_is_still_known(evidence: WakeupEvidence) -> None:
    for _ in range(3):
        evidence.changed(MARK, waiting=1)
        assert read(evidence, 1) is True
        evidence.changed(SPACE, waiting=5)
        assert read(evidence, 5) is False


def test_so_is_one_that_closes_the_port_after_the_marked_byte(evidence: WakeupEvidence) -> None:
    evidence.changed(MARK, waiting=1)
    assert read(evidence, 1) is True
    evidence.host_left()
    evidence.changed(SPACE, waiting=5)
    assert read(evidence, 5) is False


def test_a_whole_message_in_one_read_is_left_to_inference(evidence: WakeupEvidence) -> None:
    evidence.changed(SPACE, waiting=0)
    read(evidence, 1)
    evidence.changed(SPACE, waiting=6)  # to mark and back unseen
    assert read(evidence, 6) is None
    assert read(evidence, 1) is False


def test_a_marked_byte_that_comes_after_its_setting_is_gone_is_not_taken_for_unmarked(
    evidence: WakeupEvidence,
) -> None:
    evidence.changed(MARK, waiting=0)
    evidence.drained()
    evidence.changed(SPACE, waiting=0)
    evidence.drained()  # the byte is still on its way inside the kernel
    assert read(evidence, 1) is None
    assert read(evidence, 5) is False


def test_a_messages_end_read_with_the_next_ones_start_is_left_to_inference(evidence: WakeupEvidence) -> None:
    evidence.changed(SPACE, waiting=0)
    evidence.changed(MARK, waiting=6)
    assert read(evidence, 6) is None
    assert read(evidence, 1) is True


def test_doubt_lasts_until_the_line_is_drained(evidence: WakeupEvidence) -> None:
    evidence.changed(SPACE, waiting=3)
    assert evidence.label(1) is None
    assert evidence.label(2) is None
    evidence.drained()
    assert evidence.label(1) is False


def test_a_host_that_never_sets_parity_again_is_not_judged_by_the_last_one(evidence: WakeupEvidence) -> None:
    evidence.changed(MARK, waiting=0)
    read(evidence, 1)
    evidence.host_left()
    assert read(evidence, 1) is None


@pytest.mark.parametrize("before", [MARK, SPACE, NONE])
@pytest.mark.parametrize("waiting", [0, 1, 7])
def test_without_parity_nothing_is_claimed(
    evidence: WakeupEvidence, before: bool | None, waiting: int
) -> None:
    evidence.changed(before, waiting=0)
    evidence.changed(NONE, waiting)
    assert read(evidence, 7) is None
    assert read(evidence, 7) is None
