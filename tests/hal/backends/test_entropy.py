"""Entropy: the seeded stream is repeatable, the system's failure is named."""

from __future__ import annotations

import hashlib
import os

import pytest

from hal.backends.seeded_entropy import SeededEntropy
from hal.backends.system_entropy import SystemEntropy
from hal.ports.entropy import EntropyError


def test_equal_seeds_give_equal_bytes_however_they_are_read() -> None:
    whole = SeededEntropy(42).read(500)
    pieces = SeededEntropy(42)
    assert b"".join(pieces.read(size) for size in (1, 0, 31, 32, 33, 64, 339)) == whole


def test_other_seeds_give_other_bytes() -> None:
    assert len({SeededEntropy(seed).read(16) for seed in range(500)}) == 500
    assert SeededEntropy(1).read(16) == SeededEntropy("1").read(16)


def test_the_stream_is_sha_256_of_key_and_counter() -> None:
    key = hashlib.sha256(b"seeded entropy 42").digest()
    blocks = [hashlib.sha256(key + counter.to_bytes(8, "big")).digest() for counter in range(2)]
    assert SeededEntropy(42).read(64) == b"".join(blocks)


@pytest.mark.parametrize("failure", [OSError("no device"), NotImplementedError("no source")])
def test_a_system_without_noise_is_an_error(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(_: int) -> bytes:
        raise failure

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError, match=f"gives no random bytes: {failure}"):
        SystemEntropy().read(48)


def test_fewer_bytes_than_asked_for_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: bytes(size - 1))
    with pytest.raises(EntropyError, match="gave 47 random bytes of 48"):
        SystemEntropy().read(48)
