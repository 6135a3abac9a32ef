"""Both mechanisms against OpenSSL 3's own, call by call, on random sequences (rng_and_stats.md 3).

OpenSSL's EVP_RAND is driven through ctypes: its TEST-RAND parent hands the child exactly the entropy and
nonce that ours gets. Nothing is shared but the standard: ours uses OpenSSL only for single AES passes.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.drbg import Drbg
from firmware.rng.hmac_drbg import HmacDrbg

# OSSL_PARAM data types, openssl/core.h.
UNSIGNED_INTEGER, UTF8_STRING, OCTET_STRING = 2, 4, 5


class Param(ctypes.Structure):
    _fields_ = (
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    )


def load_libcrypto() -> ctypes.CDLL | None:
    for name in (ctypes.util.find_library("crypto"), "libcrypto.so.3", "libcrypto.3.dylib"):
        try:
            library = ctypes.CDLL(name) if name else None
        except OSError:
            continue
        if library is not None and hasattr(library, "EVP_RAND_fetch"):
            break
    else:
        return None
    pointer, size, number, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
    strength = ctypes.c_uint
    for function, result, arguments in (
        ("EVP_RAND_fetch", pointer, (pointer, text, text)),
        ("EVP_RAND_free", None, (pointer,)),
        ("EVP_RAND_CTX_new", pointer, (pointer, pointer)),
        ("EVP_RAND_CTX_free", None, (pointer,)),
        ("EVP_RAND_CTX_set_params", number, (pointer, pointer)),
        ("EVP_RAND_instantiate", number, (pointer, strength, number, text, size, pointer)),
        ("EVP_RAND_reseed", number, (pointer, number, text, size, text, size)),
        ("EVP_RAND_generate", number, (pointer, pointer, size, strength, number, text, size)),
    ):
        declared = getattr(library, function)
        declared.restype, declared.argtypes = result, arguments
    return library


LIBCRYPTO = load_libcrypto()
if LIBCRYPTO is None:
    pytest.skip(
        "NO ORACLE: OpenSSL 3 (libcrypto.so.3) is not on this computer; the generators were held to the CAVP "
        "vectors only. Install libssl3 to run these tests.",
        allow_module_level=True,
    )


class Params:
    """An OSSL_PARAM array, keeping its buffers alive."""

    def __init__(self, *entries: tuple[bytes, int, bytes]) -> None:
        self.buffers = [ctypes.create_string_buffer(value, len(value) + 1) for _, _, value in entries]
        self.array = (Param * (len(entries) + 1))()
        for slot, (key, kind, value), buffer in zip(self.array, entries, self.buffers, strict=False):
            slot.key, slot.data_type = key, kind
            slot.data, slot.data_size = ctypes.addressof(buffer), len(value)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.array)


class Oracle:
    """OpenSSL's generator with the entropy we choose. ``settings``: parameters of the child."""

    def __init__(self, name: bytes, settings: Sequence[tuple[bytes, int, bytes]]) -> None:
        assert LIBCRYPTO is not None
        self.library = LIBCRYPTO
        self.parent = self.new(b"TEST-RAND", None)
        self.child = self.new(name, self.parent)
        self.settings = Params(*settings)

    def new(self, name: bytes, parent: int | None) -> int:
        algorithm = self.library.EVP_RAND_fetch(None, name, None)
        assert algorithm, f"OpenSSL does not offer {name!r}"
        context = self.library.EVP_RAND_CTX_new(algorithm, parent)
        self.library.EVP_RAND_free(algorithm)
        assert context
        return int(context)

    def feed(self, entropy: bytes, nonce: bytes = b"") -> None:
        strength = (256).to_bytes(ctypes.sizeof(ctypes.c_uint), "little")
        entries = [(b"strength", UNSIGNED_INTEGER, strength), (b"test_entropy", OCTET_STRING, entropy)]
        if nonce:
            entries.append((b"test_nonce", OCTET_STRING, nonce))
        params = Params(*entries)
        assert self.library.EVP_RAND_CTX_set_params(self.parent, params.address) == 1

    def instantiate(self, entropy: bytes, nonce: bytes, personalization: bytes) -> None:
        self.feed(entropy, nonce)
        assert self.library.EVP_RAND_instantiate(self.parent, 256, 0, None, 0, None) == 1
        text, settings = personalization, self.settings.address
        assert self.library.EVP_RAND_instantiate(self.child, 256, 0, text, len(text), settings) == 1

    def reseed(self, entropy: bytes, additional: bytes) -> None:
        self.feed(entropy)
        assert self.library.EVP_RAND_reseed(self.child, 0, None, 0, additional, len(additional)) == 1

    def generate(self, size: int, additional: bytes) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        text = additional or None
        assert self.library.EVP_RAND_generate(self.child, buffer, size, 256, 0, text, len(additional)) == 1
        return buffer.raw

    def close(self) -> None:
        self.library.EVP_RAND_CTX_free(self.child)
        self.library.EVP_RAND_CTX_free(self.parent)


ORACLES: dict[str, tuple[type[CtrDrbg] | type[HmacDrbg], bytes, list[tuple[bytes, int, bytes]]]] = {
    "ctr": (
        CtrDrbg,
        b"CTR-DRBG",
        [
            (b"cipher", UTF8_STRING, b"AES-256-CTR"),
            (b"use_derivation_function", 1, (1).to_bytes(ctypes.sizeof(ctypes.c_int), "little")),
        ],
    ),
    "hmac": (
        HmacDrbg,
        b"HMAC-DRBG",
        [(b"digest", UTF8_STRING, b"SHA256"), (b"mac", UTF8_STRING, b"HMAC")],
    ),
}

additional_inputs = st.just(b"") | st.binary(max_size=300)
generates = st.tuples(st.just("generate"), st.integers(1, 3000), additional_inputs)
reseeds = st.tuples(st.just("reseed"), st.binary(min_size=32, max_size=64), additional_inputs)


@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=150)
@given(
    entropy=st.binary(min_size=32, max_size=64),
    nonce=st.binary(min_size=16, max_size=32),
    personalization=additional_inputs,
    calls=st.lists(generates | reseeds, min_size=1, max_size=8),
)
def test_any_sequence_of_calls_equals_openssl(
    name: str,
    entropy: bytes,
    nonce: bytes,
    personalization: bytes,
    calls: list[tuple[str, int | bytes, bytes]],
) -> None:
    mechanism, theirs, parameters = ORACLES[name]
    ours: Drbg = mechanism()
    oracle = Oracle(theirs, parameters)
    try:
        ours.instantiate(entropy, nonce, personalization)
        oracle.instantiate(entropy, nonce, personalization)
        for _, argument, additional in calls:
            if isinstance(argument, bytes):
                ours.reseed(argument, additional)
                oracle.reseed(argument, additional)
            else:
                assert ours.generate(argument, additional) == oracle.generate(argument, additional)
        assert ours.generate(64) == oracle.generate(64, b"")
    finally:
        oracle.close()
