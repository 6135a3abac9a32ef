"""Both mechanisms against NIST's CAVP answers, and the states and limits of SP 800-90A.

Vectors: tests/vectors/drbg.toml, 288 cases of CAVS 14.3 (rng_and_stats.md 3).
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from firmware.rng import cavp
from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.drbg import (
    REQUEST_BYTES_MAX,
    RESEED_INTERVAL_MAX,
    Drbg,
    DrbgRequestError,
    DrbgStateError,
    ReseedRequiredError,
    Status,
)
from firmware.rng.hmac_drbg import HmacDrbg

VECTORS = Path(__file__).parents[2] / "vectors" / "drbg.toml"
CASES: list[dict[str, Any]] = tomllib.loads(VECTORS.read_text())["case"]
MECHANISMS = {mechanism.name: mechanism for mechanism in (CtrDrbg, HmacDrbg)}
both = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=["ctr", "hmac"])


def run(case: dict[str, Any]) -> bytes:
    """The calls of one case, written apart from those in ``known_answers``."""
    drbg: Drbg = MECHANISMS[case["mechanism"]]()
    texts = {key: value for key, value in case.items() if isinstance(value, str)}
    hexes = {key: bytes.fromhex(value) for key, value in texts.items() if key not in ("mechanism", "flow")}
    additional = [bytes.fromhex(text) for text in case["additional_input"]]
    size = len(hexes["returned_bits"])
    drbg.instantiate(hexes["entropy_input"], hexes["nonce"], hexes["personalization_string"])
    if case["flow"] == "pr_true":
        for entropy, text in zip(case["entropy_input_pr"], additional, strict=True):
            drbg.reseed(bytes.fromhex(entropy), text)
            output = drbg.generate(size)
        return output
    if case["flow"] == "pr_false":
        drbg.reseed(hexes["entropy_input_reseed"], hexes["additional_input_reseed"])
    drbg.generate(size, additional[0])
    return drbg.generate(size, additional[1])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("flow", ["no_reseed", "pr_false", "pr_true"])
def test_every_cavp_case_gives_its_bits(name: str, flow: str) -> None:
    cases = [case for case in CASES if case["mechanism"] == name and case["flow"] == flow]
    assert len(cases) == 48
    for case in cases:
        assert run(case).hex() == case["returned_bits"], case["count"]


def test_the_file_holds_nothing_but_the_cases_run_above() -> None:
    assert len(CASES) == 288
    assert Counter(case["mechanism"] for case in CASES) == dict.fromkeys(MECHANISMS, 144)


def test_the_cases_inside_the_program_are_cases_of_the_file() -> None:
    known = {
        (case["mechanism"], case["flow"], case["entropy_input"], case["returned_bits"]) for case in CASES
    }
    assert len(cavp.CASES) == 24
    for case in cavp.CASES:
        assert (case.mechanism, case.flow.value, case.entropy, case.returned) in known


@both
@pytest.mark.parametrize("size", [1, 15, 16, 17, 36, 900, 944, 945, 960, 961, 1024, 5000, REQUEST_BYTES_MAX])
def test_a_shorter_request_is_the_beginning_of_a_longer_one(mechanism: type[Drbg], size: int) -> None:
    short, long = mechanism(), mechanism()
    for drbg in (short, long):
        drbg.instantiate(bytes(range(48)), bytes(16))
    assert short.generate(size) == long.generate(REQUEST_BYTES_MAX)[:size]


@both
def test_no_bits_before_instantiation_and_none_after_the_wipe(mechanism: type[Drbg]) -> None:
    drbg = mechanism()
    for call in (lambda: drbg.generate(16), lambda: drbg.reseed(bytes(32))):
        with pytest.raises(DrbgStateError):
            call()
    drbg.instantiate(bytes(32), bytes(16))
    drbg.generate(16)
    drbg.uninstantiate()
    assert drbg.status is Status.UNINSTANTIATED
    with pytest.raises(DrbgStateError):
        drbg.generate(16)


@both
def test_the_wipe_leaves_only_zeros(mechanism: type[Drbg]) -> None:
    drbg = mechanism()
    drbg.instantiate(bytes(range(32)), bytes(16))
    drbg.generate(16)
    buffers = [value for value in vars(drbg).values() if isinstance(value, bytearray | memoryview)]
    assert any(any(buffer) for buffer in buffers)
    drbg.uninstantiate()
    assert not any(any(buffer) for buffer in buffers)


@pytest.mark.parametrize("size", [16, 36, 960, 961, 4000])
def test_the_work_area_keeps_nothing_of_the_last_output(size: int) -> None:
    drbg = CtrDrbg()
    drbg.instantiate(bytes(range(32)), bytes(16))
    output = drbg.generate(size)
    held = b"".join(
        bytes(value) for value in vars(drbg).values() if isinstance(value, bytearray | memoryview)
    )
    assert output[:8] not in held
    assert output[-8:] not in held


@both
def test_the_error_state_is_for_good(mechanism: type[Drbg]) -> None:
    drbg = mechanism()
    drbg.instantiate(bytes(32), bytes(16))
    drbg.fail()
    drbg.uninstantiate()
    assert drbg.status is Status.FAILED
    for call in (
        lambda: drbg.generate(16),
        lambda: drbg.reseed(bytes(32)),
        lambda: drbg.instantiate(bytes(32), bytes(16)),
    ):
        with pytest.raises(DrbgStateError):
            call()


@both
def test_a_second_instantiation_is_refused_and_changes_nothing(mechanism: type[Drbg]) -> None:
    drbg, other = mechanism(), mechanism()
    for one in (drbg, other):
        one.instantiate(bytes(range(32)), bytes(16))
    with pytest.raises(DrbgStateError):
        drbg.instantiate(bytes(32), bytes(16))
    assert drbg.generate(16) == other.generate(16)


@both
def test_limits_are_refused_without_moving_the_state(mechanism: type[Drbg]) -> None:
    drbg, other = mechanism(), mechanism()
    for arguments in ((bytes(31), bytes(16)), (bytes(32), bytes(15)), (bytes(32), bytes(16), bytes(1 << 17))):
        with pytest.raises(DrbgRequestError):
            drbg.instantiate(*arguments)
    for one in (drbg, other):
        one.instantiate(bytes(range(32)), bytes(16))
    for size in (-1, 0, REQUEST_BYTES_MAX + 1):
        with pytest.raises(DrbgRequestError):
            drbg.generate(size)
    with pytest.raises(DrbgRequestError):
        drbg.generate(16, bytes(1 << 17))
    with pytest.raises(DrbgRequestError):
        drbg.reseed(bytes(31))
    assert drbg.requests_since_reseed == 0
    assert drbg.generate(16) == other.generate(16)


@both
def test_the_reseed_interval_is_kept(mechanism: type[Any]) -> None:
    drbg: Drbg = mechanism(3)
    drbg.instantiate(bytes(32), bytes(16))
    for _ in range(3):
        drbg.generate(16)
    with pytest.raises(ReseedRequiredError):
        drbg.generate(16)
    drbg.reseed(bytes(range(32)))
    assert drbg.requests_since_reseed == 0
    drbg.generate(16)


@both
@pytest.mark.parametrize("interval", [0, -1, RESEED_INTERVAL_MAX + 1])
def test_an_impossible_reseed_interval_is_refused(mechanism: type[Any], interval: int) -> None:
    with pytest.raises(DrbgRequestError):
        mechanism(interval)


def test_counter_wraps_at_128_bits() -> None:
    """V is a whole block: its carry goes through all 16 bytes (ctr_len = blocklen, SP 800-90A 10.2.1)."""
    drbg = CtrDrbg()
    drbg.instantiate(bytes(range(32)), bytes(16))
    key = bytes(drbg._key)
    drbg._v[:] = b"\xff" * 16
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    assert drbg.generate(32) == block.update(bytes(16)) + block.update(bytes(15) + b"\x01")
