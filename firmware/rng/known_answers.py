"""Known-answer tests at boot and on demand: each call of each mechanism, and the scaling.

SP 800-90A section 11.3: before first use, every call gives the published answer, and every call that must be
refused is refused. A failure here means that the program is not the one that was tested, so nothing is drawn:
``generator`` turns the error into a failure that the machine shows as a hard tilt.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from firmware.rng.cavp import CASES, Case
from firmware.rng.drbg import (
    REQUEST_BYTES_MAX,
    Drbg,
    DrbgError,
    DrbgRequestError,
    DrbgStateError,
    ReseedRequiredError,
)
from firmware.rng.scaling import pick, pick_ranges, scale

Mechanism = Callable[[int], Drbg]
"""Makes an uninstantiated generator with the given reseed interval (in requests)."""


class KnownAnswerError(Exception):
    """A known answer did not come out. The message says which."""


# Words (32 bits, in order), ranges, and the numbers that must come out, worked by hand: value = word * range
# / 2^32, rounded down. For a range of 3 the product's low half must be at least 2^32 mod 3 = 1, so word 0 is
# refused; for 3 * 2^30 it must be at least 2^30, so words that are 0 mod 4 are refused. Four words are spare.
_SCALED: Final[tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]] = (
    ((0x80000000, 0xFFFFFFFF, 0, 0x08000000, 1, 1, 1, 1), (32, 32, 32, 32), (16, 31, 0, 1)),
    ((0, 0xFFFFFFFF, 5, 6, 7), (3,), (2,)),
    ((4, 8, 5, 0xFFFFFFFF, 1), (3 << 30,), (3,)),
    ((0xDEADBEEF, 1, 1, 1, 1), (1 << 32,), (0xDEADBEEF,)),
    ((9, 9, 9, 9, 9), (1,), (0,)),
)
# For a range above 2^32 words are 64 bits, low half first.
_SCALED_WIDE: Final = ((0, 0x80000000, 1, 1, 1, 1, 1, 1, 1, 1), (1 << 40,), (1 << 39,))
# Places 0..4; offsets 4, 0, 2 take 4, then the second place, then what lies two behind it: the old front.
_PICKED: Final = (5, (4, 0, 2), (4, 1, 0))


def verify(mechanisms: Iterable[Mechanism], cases: Sequence[Case] = CASES) -> None:
    """Run every case of every mechanism, the refusals and the scaling.

    Raises KnownAnswerError at the first failure, and for a mechanism that no case is known for.
    """
    for mechanism in mechanisms:
        name = mechanism(1).name
        try:
            _verify_mechanism(mechanism, [case for case in cases if case.mechanism == name])
        except DrbgError as error:
            raise KnownAnswerError(f"{name}: {error}") from error
    verify_scaling()


def passes(mechanism: Mechanism, case: Case) -> bool:
    """Run one case on a fresh instance; return whether its bits came out. Raises DrbgError."""
    generator = mechanism(2)
    generator.instantiate(_hex(case.entropy), _hex(case.nonce), _hex(case.personalization))
    expected = _hex(case.returned)
    output = b""
    reseeds = iter(case.reseeds)
    for index, additional in enumerate(case.additional):
        # One reseed goes in front of the first generate; with prediction resistance, one in front of each.
        if index < len(case.reseeds):
            entropy, reseed_additional = next(reseeds)
            generator.reseed(_hex(entropy), _hex(reseed_additional))
        output = generator.generate(len(expected), _hex(additional))
    generator.uninstantiate()
    return output == expected


def verify_scaling() -> None:
    """Check that known words become known numbers, refused words included. Raises KnownAnswerError."""
    for words, ranges, expected in (*_SCALED, _SCALED_WIDE):
        data = struct.pack(f"<{len(words)}I", *words)

        def source(size: int, data: bytes = data) -> bytes:
            return data[:size]

        if scale(source, ranges) != expected:
            raise KnownAnswerError(f"scaling to {ranges}: wrong numbers")
    population, offsets, picked = _PICKED
    if pick(offsets) != picked or tuple(pick_ranges(population, 3)) != (5, 4, 3):
        raise KnownAnswerError("selection without replacement: wrong numbers")


def _verify_mechanism(mechanism: Mechanism, cases: Sequence[Case]) -> None:
    name = mechanism(1).name
    if not cases:
        raise KnownAnswerError(f"no known answer for {name}")
    for case in cases:
        if not passes(mechanism, case):
            raise KnownAnswerError(f"{name}, {case.flow.value}, count {case.count}: wrong bits")
    _verify_refusals(mechanism)


def _verify_refusals(mechanism: Mechanism) -> None:
    """Section 11.3: calls outside the limits are refused, and after an error no bits come out."""
    generator = mechanism(1)
    entropy, nonce = bytes(range(32)), bytes(range(16))
    _must_refuse(generator, DrbgStateError, lambda: generator.generate(16))
    _must_refuse(generator, DrbgRequestError, lambda: generator.instantiate(entropy[1:], nonce))
    generator.instantiate(entropy, nonce)
    _must_refuse(generator, DrbgRequestError, lambda: generator.generate(REQUEST_BYTES_MAX + 1))
    generator.generate(16)
    _must_refuse(generator, ReseedRequiredError, lambda: generator.generate(16))
    generator.fail()
    _must_refuse(generator, DrbgStateError, lambda: generator.generate(16))
    _must_refuse(generator, DrbgStateError, lambda: generator.reseed(entropy))
    _must_refuse(generator, DrbgStateError, lambda: generator.instantiate(entropy, nonce))


def _must_refuse(generator: Drbg, error: type[Exception], call: Callable[[], object]) -> None:
    try:
        call()
    except error:
        return
    raise KnownAnswerError(f"{generator.name}: a call that must be refused ({error.__name__}) was served")


def _hex(text: str) -> bytes:
    return bytes.fromhex(text)
