"""The machine's random number generator: seeded, watched, cycling between games, and asked once a decision.

``Generator`` puts together what the other files of this package do: known answers first, then the noise
source behind its health tests, then a mechanism of SP 800-90A, then exact scaling. Sources: NJ
13:69E-1.28G(b), rng_and_stats.md 1 and 2, decisions.md (Generator).

What it never does: keep outcomes in stock, return a number after a failure, show or log its state.
What it leaves to others: when doors close and players press (the loop calls ``reseed`` and ``stir``), keeping
the carry-over (critical memory), the tilt after a failure (the core).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

from firmware.rng import known_answers
from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.drbg import REQUEST_BYTES_MAX, DrbgError, ReseedRequiredError
from firmware.rng.health import OS_MIN_ENTROPY, HealthTestError, MonitoredEntropy
from firmware.rng.hmac_drbg import HmacDrbg
from firmware.rng.known_answers import KnownAnswerError, Mechanism
from firmware.rng.scaling import pick, pick_ranges, scale
from hal.ports.entropy import Entropy, EntropyError

REQUESTS_PER_SEED: Final = 1 << 14
SEED_AGE_US_MAX: Final = 15 * 60 * 1_000_000
CYCLE_US_MIN: Final = 200_000
CYCLE_US_MAX: Final = 1_000_000
CARRY_OVER_BYTES: Final = 32
_SEED_BYTES: Final = 48
_NONCE_BYTES: Final = 16
_CARRY_OVER_LABEL: Final = b"egm generator carry-over 1"
_PERSONALIZATION_LABEL: Final = b"egm generator personalization 1"


class FailureReason(Enum):
    """Why a generator gives no numbers."""

    KNOWN_ANSWER = "known_answer"  # the program computes wrongly
    ENTROPY_UNAVAILABLE = "entropy_unavailable"  # the noise source is gone
    ENTROPY_UNHEALTHY = "entropy_unhealthy"  # the noise source failed a health test
    MECHANISM = "mechanism"  # the mechanism refused a call that it must serve
    SHUT_DOWN = "shut_down"  # wiped at an orderly power-down


@dataclass(frozen=True, slots=True)
class RngFailure:
    """The generator is out of service until the next power-up. ``detail``: one sentence, no secret in it."""

    reason: FailureReason
    detail: str


class RngFailureError(Exception):
    """A number was asked of a generator that has failed. The machine must tilt; nothing was drawn."""

    def __init__(self, failure: RngFailure) -> None:
        super().__init__(f"the random number generator is out of service: {failure.detail}")
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Personalization:
    """What sets this start of this machine's generator apart from every other; not secret.

    ``serial``: the machine's serial number; ``boot_count``: power-ups so far, 0..2^64-1; ``instance``: tells
    generators of one process apart.
    """

    serial: str
    boot_count: int
    instance: str = ""

    def encode(self) -> bytes:
        """Return the personalization string. Each part is preceded by its length, so no two mean the same."""
        parts = (
            _PERSONALIZATION_LABEL,
            self.serial.encode(),
            self.boot_count.to_bytes(8, "big"),
            self.instance.encode(),
        )
        return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


class Generator:
    """The generator of one machine.

    The constructor runs the start-up: known answers, health tests on 1,024 samples of the noise source,
    instantiate, and a reseed that takes the carry-over of the last run as additional input. It does not raise
    when one of them fails: ``failure`` then says why, and every draw raises RngFailureError.

    A failure is for good; a new power-up (a new object) is the only way out.
    The state must not be shared by two processes, or both would draw the same numbers: the machine does not
    fork, its panel is started as a new program. Not safe to share between threads: only the loop draws.

    Args:
        entropy: the noise source.
        personalization: see there.
        now_us: monotonic time.
        carry_over: 32 bytes that ``carry_over`` gave in an earlier run, or empty; else ValueError.
        mechanism: makes the mechanism; tested for known answers like the two built-in ones.
        min_entropy: bits a byte claimed for ``entropy``; 8 for the operating system's generator.
    """

    def __init__(
        self,
        entropy: Entropy,
        personalization: Personalization,
        *,
        now_us: int,
        carry_over: bytes = b"",
        mechanism: Mechanism = CtrDrbg,
        min_entropy: Fraction = OS_MIN_ENTROPY,
    ) -> None:
        if len(carry_over) not in (0, CARRY_OVER_BYTES):
            raise ValueError(f"a carry-over of {len(carry_over)} bytes; it has {CARRY_OVER_BYTES} or none")
        self._entropy = MonitoredEntropy(entropy, min_entropy)
        self._mechanism = mechanism
        self._drbg = mechanism(REQUESTS_PER_SEED)
        self._failure: RngFailure | None = None
        self._requests = 0
        self._reseeds = 0
        self._cycles = 0
        self._seeded_us = now_us
        self._cycle_due_us = now_us
        try:
            self._test()
            self._instantiate(personalization.encode(), carry_over)
            self._schedule_cycle(now_us)
        except RngFailureError:
            return  # ``failure`` is set; the machine asks for it before it starts a game

    @property
    def failure(self) -> RngFailure | None:
        """Why no numbers can be had, or None while all is well."""
        return self._failure

    @property
    def requests(self) -> int:
        """Generate requests since power-up: draws, cycles, stirs, carry-overs."""
        return self._requests

    @property
    def reseeds(self) -> int:
        """Reseeds since power-up, the one at power-up included."""
        return self._reseeds

    @property
    def cycles(self) -> int:
        """Background cycles since power-up."""
        return self._cycles

    def draw(self, ranges: Sequence[int]) -> tuple[int, ...]:
        """Draw one decision: value i is uniform in 0..ranges[i]-1 and independent of all others.

        One generate request for the whole decision (a second only where rejections used up the spare words,
        see ``scaling.scale``); what is left of it is thrown away.
        ``ranges``: 1..8,000 ranges of 1..2^64. Raises RangeError, RngFailureError.
        """
        return scale(self._request, ranges)

    def draw_without_replacement(self, population: int, count: int) -> tuple[int, ...]:
        """Draw ``count`` different numbers of 0..population-1 as one decision, in the order they came.

        ``population``: 1..2^64; ``count``: 1..population, at most 8,000. Raises RangeError, RngFailureError.
        """
        return pick(scale(self._request, pick_ranges(population, count)))

    def raw(self, size: int) -> bytes:
        """Return ``size`` bytes, 1..65,536, of one request before scaling, for a laboratory's collection.

        Raises ValueError, RngFailureError.
        """
        if not 1 <= size <= REQUEST_BYTES_MAX:
            raise ValueError(f"{size} bytes in one request are not in 1..{REQUEST_BYTES_MAX}")
        return self._request(size)

    def background(self, now_us: int) -> None:
        """Cycle once if it is due: draw, throw away, choose the next moment at random (NJ 13:69E-1.28G(b)4).

        Reseeds first where the seed is 15 minutes old. A failure is flagged in ``failure``, not raised.
        """
        if self._failure is not None or now_us < self._cycle_due_us:
            return
        try:
            if now_us - self._seeded_us >= SEED_AGE_US_MAX:
                self._reseed()
                self._seeded_us = now_us
            self._schedule_cycle(now_us)
        except RngFailureError:
            return
        self._cycles += 1

    def next_deadline_us(self) -> int | None:
        """When ``background`` must be called next; None after a failure."""
        return None if self._failure is not None else self._cycle_due_us

    def stir(self, now_us: int) -> None:
        """Move on after something a player did, mixing in its moment. A failure is flagged, not raised."""
        if self._failure is not None:
            return
        try:
            self._request(_NONCE_BYTES, now_us.to_bytes(8, "big", signed=True))
        except RngFailureError:
            return

    def reseed(self, now_us: int) -> None:
        """Mix in fresh entropy: after a door closed, after a recovery. A failure is flagged, not raised."""
        if self._failure is not None:
            return
        try:
            self._reseed()
        except RngFailureError:
            return
        self._seeded_us = now_us

    def self_test(self, now_us: int) -> None:
        """Run the start-up tests on demand, then reseed. A failure is flagged, not raised."""
        if self._failure is not None:
            return
        try:
            self._test()
            self._reseed()
        except RngFailureError:
            return
        self._seeded_us = now_us

    def carry_over(self) -> bytes:
        """Return 32 bytes for critical memory, to be handed to the next power-up's generator.

        A digest of output that nobody else sees, so it tells neither the state nor any outcome, earlier or
        later. Each call gives new bytes. Raises RngFailureError.
        """
        return hashlib.sha256(_CARRY_OVER_LABEL + self._request(CARRY_OVER_BYTES)).digest()

    def shut_down(self) -> None:
        """Wipe the state at an orderly power-down. Draws raise from now on."""
        if self._failure is None:
            self._flag(FailureReason.SHUT_DOWN, "it was shut down")

    def _request(self, size: int, additional: bytes = b"") -> bytes:
        """Every bit that leaves the mechanism comes through here."""
        if self._failure is not None:
            raise RngFailureError(self._failure)
        try:
            output = self._drbg.generate(size, additional)
        except ReseedRequiredError:
            self._reseed()
            return self._request(size, additional)
        except DrbgError as error:
            raise self._flag(FailureReason.MECHANISM, str(error)) from error
        self._requests += 1
        return output

    def _schedule_cycle(self, now_us: int) -> None:
        """Draw the time to the next cycle from the generator itself."""
        (wait_us,) = scale(self._request, (CYCLE_US_MAX - CYCLE_US_MIN + 1,))
        self._cycle_due_us = now_us + CYCLE_US_MIN + wait_us

    def _test(self) -> None:
        """Known answers, then the start-up test of the noise source."""
        mechanisms: dict[Mechanism, None] = {self._mechanism: None, CtrDrbg: None, HmacDrbg: None}
        try:
            known_answers.verify(mechanisms)
        except KnownAnswerError as error:
            raise self._flag(FailureReason.KNOWN_ANSWER, str(error)) from error
        try:
            self._entropy.start_up()
        except (EntropyError, HealthTestError) as error:
            raise self._flag_entropy(error) from error

    def _instantiate(self, personalization: bytes, carry_over: bytes) -> None:
        seed = self._fresh(_SEED_BYTES)
        nonce = self._fresh(_NONCE_BYTES)
        try:
            self._drbg.instantiate(seed, nonce, personalization)
        except DrbgError as error:
            raise self._flag(FailureReason.MECHANISM, str(error)) from error
        # Instantiate itself has no additional input; a reseed before the first output is where it can enter.
        self._reseed(carry_over)

    def _reseed(self, additional: bytes = b"") -> None:
        seed = self._fresh(_SEED_BYTES)
        try:
            self._drbg.reseed(seed, additional)
        except DrbgError as error:
            raise self._flag(FailureReason.MECHANISM, str(error)) from error
        self._reseeds += 1

    def _fresh(self, size: int) -> bytes:
        try:
            return self._entropy.read(size)
        except (EntropyError, HealthTestError) as error:
            raise self._flag_entropy(error) from error

    def _flag_entropy(self, error: EntropyError | HealthTestError) -> RngFailureError:
        unhealthy = isinstance(error, HealthTestError)
        reason = FailureReason.ENTROPY_UNHEALTHY if unhealthy else FailureReason.ENTROPY_UNAVAILABLE
        return self._flag(reason, str(error))

    def _flag(self, reason: FailureReason, detail: str) -> RngFailureError:
        """Wipe the mechanism for good, note why, and return the error to raise."""
        self._drbg.fail()
        self._failure = RngFailure(reason, detail)
        return RngFailureError(self._failure)
