"""CTR_DRBG of SP 800-90A Rev. 1, section 10.2.1: AES-256 with derivation function.

The whole of one request, output and state update, is one pass of AES in counter mode: the keystream of
block 1..n is the output, the three blocks behind it, added to the additional input, are the next key and V.
AES itself is ``cryptography``'s (OpenSSL).
"""

from __future__ import annotations

from typing import ClassVar, Final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR

from firmware.rng.drbg import (
    RESEED_INTERVAL_MAX,
    Status,
    check_reseed_interval,
    check_seed,
    check_status,
    refuse_request,
)

_BLOCK: Final = 16
_KEY: Final = 32
_SEED: Final = _KEY + _BLOCK
_NO_INPUT: Final = bytes(_SEED)
_ZEROS: Final = memoryview(bytes((1 << 16) + _BLOCK + _SEED))
_DERIVATION_KEY: Final = bytes(range(_KEY))
_SMALL: Final = 1024  # larger requests get a work area of their own


class CtrDrbg:
    """AES-256 CTR_DRBG with derivation function. See ``drbg.Drbg`` for the calls.

    Args:
        reseed_interval: generate calls allowed per seed, 1..2^48. Raises DrbgRequestError.
    """

    name: ClassVar[str] = "CTR_DRBG AES-256 use df"

    def __init__(self, reseed_interval: int = RESEED_INTERVAL_MAX) -> None:
        check_reseed_interval(reseed_interval)
        self._reseed_interval = reseed_interval
        self._requests_since_reseed = 0
        self._status = Status.UNINSTANTIATED
        # Secrets live in one buffer that can be overwritten; bytes objects could not be. Its end holds key
        # and V. A small request is worked out in front of them, so the new state lands where the old one was.
        self._work = memoryview(bytearray(_SMALL))
        self._key = self._work[-_SEED:-_BLOCK]
        self._v = self._work[-_BLOCK:]

    @property
    def status(self) -> Status:
        """Where the instance stands in its life."""
        return self._status

    @property
    def requests_since_reseed(self) -> int:
        """Generate calls since the last (re)seed."""
        return self._requests_since_reseed

    def instantiate(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        """Section 10.2.1.3.2: key and V start at zero and take up the derived seed."""
        check_status(self._status, Status.UNINSTANTIATED)
        check_seed(entropy, nonce, personalization)
        self._run(0, derive(entropy + nonce + personalization))
        self._requests_since_reseed = 0
        self._status = Status.READY

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        """Section 10.2.1.4.2."""
        check_status(self._status, Status.READY)
        check_seed(entropy, None, additional)
        self._run(0, derive(entropy + additional))
        self._requests_since_reseed = 0

    def generate(self, size: int, additional: bytes = b"") -> bytes:
        """Section 10.2.1.5.2."""
        refuse_request(self._status, size, additional, self._requests_since_reseed, self._reseed_interval)
        self._requests_since_reseed += 1
        if not additional:  # the game's road: one pass of AES
            return self._run(size, _NO_INPUT)
        provided = derive(additional)
        self._run(0, provided)
        return self._run(size, provided)

    def uninstantiate(self) -> None:
        """Overwrite key, V and work area."""
        self._wipe()
        if self._status is not Status.FAILED:
            self._status = Status.UNINSTANTIATED

    def fail(self) -> None:
        """Overwrite the state; no call but ``uninstantiate`` is served from now on."""
        self._wipe()
        self._status = Status.FAILED

    def _wipe(self) -> None:
        self._work[:] = _ZEROS[:_SMALL]
        self._requests_since_reseed = 0

    def _run(self, size: int, provided: bytes) -> bytes:
        """Return ``size`` bytes of output; replace key and V (CTR_DRBG_Update with 48 bytes ``provided``).

        The standard increments V before each use, so the counter starts one block early and block 0 is
        thrown away: that costs one block and saves the arithmetic on a 128-bit number.
        """
        end = _BLOCK + -(-size // _BLOCK) * _BLOCK + _SEED
        # Counter mode adds its input to the keystream, which is just what the update does with ``provided``.
        plain = _ZEROS[:end] if provided is _NO_INPUT else bytes(end - _SEED) + provided
        work = self._work[-end:] if end <= _SMALL else memoryview(bytearray(end))
        Cipher(AES256(self._key), CTR(self._v)).encryptor().update_into(plain, work)
        if end > _SMALL:
            self._work[-_SEED:] = work[-_SEED:]
            work[-_SEED:] = _NO_INPUT
        output = bytes(work[_BLOCK : _BLOCK + size])
        work[:-_SEED] = _ZEROS[: end - _SEED]  # or the next one to look here would see this output
        return output


def derive(material: bytes) -> bytes:
    """Return 48 bytes that depend on all of ``material`` (Block_Cipher_df, section 10.3.2)."""
    framed = len(material).to_bytes(4, "big") + _SEED.to_bytes(4, "big") + material + b"\x80"
    framed += bytes(-len(framed) % _BLOCK)
    chained = b"".join(_last_block(index.to_bytes(4, "big") + bytes(12) + framed) for index in range(3))
    # X = E(K, X), three times over: that is CBC over zero blocks with X as its initial value.
    cipher = Cipher(AES256(chained[:_KEY]), CBC(chained[_KEY:]))
    return cipher.encryptor().update(bytes(_SEED))


def _last_block(data: bytes) -> bytes:
    """BCC of section 10.3.3: the last block of a CBC encryption from a zero initial value."""
    cipher = Cipher(AES256(_DERIVATION_KEY), CBC(bytes(_BLOCK)))
    return cipher.encryptor().update(data)[-_BLOCK:]
