"""The boot-time known answers pass on the real thing and fail on each broken one."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest

from firmware.rng import known_answers, scaling
from firmware.rng.cavp import CASES
from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.drbg import RESEED_INTERVAL_MAX, Status
from firmware.rng.hmac_drbg import HmacDrbg
from firmware.rng.known_answers import KnownAnswerError, verify


def test_both_mechanisms_pass() -> None:
    verify((CtrDrbg, HmacDrbg))


class WrongBit(CtrDrbg):
    def generate(self, size: int, additional: bytes = b"") -> bytes:
        output = super().generate(size, additional)
        return bytes([output[0] ^ 1]) + output[1:]


class NoUpdate(CtrDrbg):
    """Right for the first request; gives the same bits again."""

    def generate(self, size: int, additional: bytes = b"") -> bytes:
        state = bytes(self._work[-48:])
        output = super().generate(size, additional)
        self._work[-48:] = state
        return output


class DeafReseed(HmacDrbg):
    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        self._requests_since_reseed = 0


class DeafToAdditionalInput(HmacDrbg):
    def generate(self, size: int, additional: bytes = b"") -> bytes:
        return super().generate(size)


class DeafToPersonalization(CtrDrbg):
    def instantiate(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        super().instantiate(entropy, nonce)


class NeverTired(CtrDrbg):
    """Ignores its reseed interval."""

    def __init__(self, reseed_interval: int = 1) -> None:
        super().__init__(RESEED_INTERVAL_MAX)


class Undead(CtrDrbg):
    """Goes on after an error."""

    def fail(self) -> None:
        self._status = Status.READY


class Unknown(CtrDrbg):
    name: ClassVar[str] = "Dual_EC_DRBG P-256"


@pytest.mark.parametrize(
    "broken",
    [
        WrongBit,
        NoUpdate,
        DeafReseed,
        DeafToAdditionalInput,
        DeafToPersonalization,
        NeverTired,
        Undead,
        Unknown,
    ],
)
def test_a_broken_mechanism_is_found(broken: type[CtrDrbg]) -> None:
    with pytest.raises(KnownAnswerError):
        verify((broken,))


def test_a_changed_answer_is_found() -> None:
    for index in range(len(CASES)):
        case = CASES[index]
        changed = replace(case, returned="00" + case.returned[2:])
        with pytest.raises(KnownAnswerError, match="wrong bits"):
            verify((CtrDrbg, HmacDrbg), (*CASES[:index], changed, *CASES[index + 1 :]))


@pytest.mark.parametrize(
    ("function", "broken"),
    [
        ("scale", lambda source, ranges: tuple(value ^ 1 for value in scaling.scale(source, ranges))),
        ("pick", lambda offsets: tuple(offsets)),
        ("pick_ranges", lambda population, count: range(population, population + count)),
    ],
)
def test_broken_scaling_is_found(monkeypatch: pytest.MonkeyPatch, function: str, broken: object) -> None:
    monkeypatch.setattr(known_answers, function, broken)
    with pytest.raises(KnownAnswerError):
        verify((CtrDrbg,))


def test_scaling_without_rejection_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "scale_word", lambda word, size, width=32: word * size >> width)
    with pytest.raises(KnownAnswerError, match="scaling"):
        verify((CtrDrbg,))
