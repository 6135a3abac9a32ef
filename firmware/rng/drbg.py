"""What every deterministic generator of SP 800-90A offers: five calls, three states, limits.

Two mechanisms stand behind this Protocol: ``ctr_drbg`` (the machine's) and ``hmac_drbg`` (for review and
cross-checks). Where entropy comes from, when to reseed and what the bits are for belongs to ``generator``.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Protocol

# SP 800-90A Rev. 1, table 2 and table 3 (rng_and_stats.md 1); both mechanisms share these figures.
REQUEST_BYTES_MAX = 1 << 16
RESEED_INTERVAL_MAX = 1 << 48
ENTROPY_BYTES_MIN = 32  # 256 bits of min-entropy
NONCE_BYTES_MIN = 16  # half the security strength
# The standard allows 2^32 bytes; nothing here has more than a few hundred, and a bound keeps the costs known.
INPUT_BYTES_MAX = 1 << 16


class Status(Enum):
    """Where a mechanism stands in its life."""

    UNINSTANTIATED = "uninstantiated"
    READY = "ready"
    FAILED = "failed"  # the error state of section 11.3: no bits, and no way back


class DrbgError(Exception):
    """A mechanism refused a call. No bits came out."""


class DrbgStateError(DrbgError):
    """The call does not fit the state: not instantiated, already instantiated, or failed."""


class DrbgRequestError(DrbgError, ValueError):
    """An argument is outside the limits above."""


class ReseedRequiredError(DrbgError):
    """The reseed interval is used up: ``reseed`` comes first."""


class Drbg(Protocol):
    """One instance of one mechanism; 256 bits of security strength. Not safe to share between threads."""

    name: ClassVar[str]
    """The mechanism as the known-answer files call it, such as ``HMAC_DRBG SHA-256``."""

    @property
    def status(self) -> Status:
        """Where the instance stands in its life."""

    @property
    def requests_since_reseed(self) -> int:
        """Generate calls since the last (re)seed."""

    def instantiate(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        """Seed a fresh instance.

        ``entropy``: at least 32 bytes holding 256 bits of min-entropy; ``nonce``: at least 16 bytes;
        ``personalization``: 0..65,536 bytes, need not be secret.
        Raises DrbgRequestError, DrbgStateError (already instantiated, or failed).
        """

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        """Mix in at least 32 bytes of fresh entropy. Raises DrbgRequestError, DrbgStateError."""

    def generate(self, size: int, additional: bytes = b"") -> bytes:
        """Return ``size`` bytes, 1..65,536, and move the state on, so that it no longer tells these bytes.

        Raises DrbgRequestError, DrbgStateError, ReseedRequiredError.
        """

    def uninstantiate(self) -> None:
        """Wipe the state, as far as Python allows. Allowed in every state; a failed instance stays failed."""

    def fail(self) -> None:
        """Wipe the state and enter the error state for good (a health test failed, section 11.3)."""


def check_status(status: Status, wanted: Status) -> None:
    """Raise DrbgStateError unless ``status`` is ``wanted``."""
    if status is not wanted:
        raise DrbgStateError(f"the generator is {status.value}, this call needs it {wanted.value}")


def check_reseed_interval(requests: int) -> None:
    """Raise DrbgRequestError unless 1 <= ``requests`` <= 2^48."""
    if not 1 <= requests <= RESEED_INTERVAL_MAX:
        raise DrbgRequestError(f"a reseed interval of {requests} requests is not in 1..2^48")


def check_seed(entropy: bytes, nonce: bytes | None, text: bytes) -> None:
    """Raise DrbgRequestError for too little entropy or nonce, or too long a text.

    ``text`` is the personalization or the additional input; ``nonce`` is None for a reseed, which takes none.
    """
    if not ENTROPY_BYTES_MIN <= len(entropy) <= INPUT_BYTES_MAX:
        raise DrbgRequestError(
            f"{len(entropy)} bytes of entropy are not in {ENTROPY_BYTES_MIN}..{INPUT_BYTES_MAX}"
        )
    if nonce is not None and not NONCE_BYTES_MIN <= len(nonce) <= INPUT_BYTES_MAX:
        raise DrbgRequestError(
            f"a nonce of {len(nonce)} bytes is not in {NONCE_BYTES_MIN}..{INPUT_BYTES_MAX}"
        )
    if len(text) > INPUT_BYTES_MAX:
        raise DrbgRequestError(f"an input of {len(text)} bytes is longer than {INPUT_BYTES_MAX}")


def refuse_request(
    status: Status, size: int, additional: bytes, requests_since_reseed: int, reseed_interval: int
) -> None:
    """Raise the reason why a generate call may not be served; return if it may."""
    check_status(status, Status.READY)
    if not 1 <= size <= REQUEST_BYTES_MAX:
        raise DrbgRequestError(f"a request of {size} bytes is not in 1..{REQUEST_BYTES_MAX}")
    if len(additional) > INPUT_BYTES_MAX:
        raise DrbgRequestError(f"an input of {len(additional)} bytes is longer than {INPUT_BYTES_MAX}")
    if requests_since_reseed >= reseed_interval:
        raise ReseedRequiredError(f"{requests_since_reseed} requests since the last seed: reseed first")
