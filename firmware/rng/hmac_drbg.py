"""HMAC_DRBG of SP 800-90A Rev. 1, section 10.1.2, with SHA-256: the second mechanism behind ``drbg.Drbg``.

Short enough to be read beside the standard. It exists for review, for cross-checks and as a ready
replacement; the machine draws from ``ctr_drbg``, which is faster.
"""

from __future__ import annotations

import hmac
from typing import ClassVar, Final

from firmware.rng.drbg import (
    RESEED_INTERVAL_MAX,
    Status,
    check_reseed_interval,
    check_seed,
    check_status,
    refuse_request,
)

_DIGEST: Final = "sha256"
_SIZE: Final = 32


class HmacDrbg:
    """HMAC_DRBG with SHA-256. See ``drbg.Drbg`` for the calls.

    Args:
        reseed_interval: generate calls allowed per seed, 1..2^48. Raises DrbgRequestError.
    """

    name: ClassVar[str] = "HMAC_DRBG SHA-256"

    def __init__(self, reseed_interval: int = RESEED_INTERVAL_MAX) -> None:
        check_reseed_interval(reseed_interval)
        self._reseed_interval = reseed_interval
        self._requests_since_reseed = 0
        self._status = Status.UNINSTANTIATED
        self._key = bytearray(_SIZE)
        self._v = bytearray(_SIZE)

    @property
    def status(self) -> Status:
        """Where the instance stands in its life."""
        return self._status

    @property
    def requests_since_reseed(self) -> int:
        """Generate calls since the last (re)seed."""
        return self._requests_since_reseed

    def instantiate(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        """Section 10.1.2.3."""
        check_status(self._status, Status.UNINSTANTIATED)
        check_seed(entropy, nonce, personalization)
        self._key[:] = bytes(_SIZE)
        self._v[:] = b"\x01" * _SIZE
        self._update(entropy + nonce + personalization)
        self._requests_since_reseed = 0
        self._status = Status.READY

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        """Section 10.1.2.4."""
        check_status(self._status, Status.READY)
        check_seed(entropy, None, additional)
        self._update(entropy + additional)
        self._requests_since_reseed = 0

    def generate(self, size: int, additional: bytes = b"") -> bytes:
        """Section 10.1.2.5."""
        refuse_request(self._status, size, additional, self._requests_since_reseed, self._reseed_interval)
        self._requests_since_reseed += 1
        if additional:
            self._update(additional)
        output = bytearray()
        while len(output) < size:
            self._v[:] = hmac.digest(self._key, self._v, _DIGEST)
            output += self._v
        self._update(additional)
        return bytes(output[:size])

    def uninstantiate(self) -> None:
        """Overwrite key and V."""
        self._wipe()
        if self._status is not Status.FAILED:
            self._status = Status.UNINSTANTIATED

    def fail(self) -> None:
        """Overwrite the state; no call but ``uninstantiate`` is served from now on."""
        self._wipe()
        self._status = Status.FAILED

    def _wipe(self) -> None:
        self._key[:] = bytes(_SIZE)
        self._v[:] = bytes(_SIZE)
        self._requests_since_reseed = 0

    def _update(self, provided: bytes) -> None:
        """HMAC_DRBG_Update, section 10.1.2.2: a second round only where there is something to mix in."""
        rounds = (b"\x00", b"\x01") if provided else (b"\x00",)
        for separator in rounds:
            self._key[:] = hmac.digest(self._key, bytes(self._v) + separator + provided, _DIGEST)
            self._v[:] = hmac.digest(self._key, self._v, _DIGEST)
