"""The escapes of a serial port with PARMRK: vectors, every way to split them, garbage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.backends.serial_escapes import EscapeDecoder, escape
from hal.ports.links import Run

# serial_ninth_bit.md 1 and SAS reference 2.1: FF 00 xx is a byte with wakeup 1, FF FF a literal FF.
# The long poll is 6F for meters 0000 and 00A0 (SAS reference 5.1); the general poll is 81 to address 1.
VECTORS = [
    ("FF 00 81", [("81", True)]),
    ("FF 00 01 6F 06 00 00 00 00 A0 00 7C D8", [("01", True), ("6F 06 00 00 00 00 A0 00 7C D8", False)]),
    ("72 FF FF 01", [("72 FF 01", False)]),
    ("FF 00 FF", [("FF", True)]),  # general poll to address 127
    ("FF 00 00", [("00", True)]),  # broadcast, or a break
    ("FF FF FF 00 01", [("FF", False), ("01", True)]),
    ("FF 00 01 FF 00 02", [("01", True), ("02", True)]),
    ("00 00", [("00 00", False)]),
    ("FF 41 42", [("FF 41 42", False)]),  # no escape that a driver makes: taken as it is
    ("", []),
]


def bits(runs: list[Run]) -> list[tuple[int, bool | None]]:
    return [(byte, wakeup) for data, wakeup in runs for byte in data]


def expected_bits(runs: list[tuple[str, bool]]) -> list[tuple[int, bool | None]]:
    return [(byte, wakeup) for data, wakeup in runs for byte in bytes.fromhex(data)]


@pytest.mark.parametrize(("stream", "runs"), VECTORS)
def test_vectors_in_one_piece(stream: str, runs: list[tuple[str, bool]]) -> None:
    assert EscapeDecoder().feed(bytes.fromhex(stream)) == [(bytes.fromhex(data), bit) for data, bit in runs]


@pytest.mark.parametrize(("stream", "runs"), VECTORS)
def test_vectors_split_at_every_byte(stream: str, runs: list[tuple[str, bool]]) -> None:
    data = bytes.fromhex(stream)
    for cut in range(len(data) + 1):
        decoder = EscapeDecoder()
        assert bits(decoder.feed(data[:cut]) + decoder.feed(data[cut:])) == expected_bits(runs)


@pytest.mark.parametrize(("stream", "runs"), VECTORS)
def test_vectors_a_byte_at_a_time(stream: str, runs: list[tuple[str, bool]]) -> None:
    decoder = EscapeDecoder()
    found = [run for byte in bytes.fromhex(stream) for run in decoder.feed(bytes([byte]))]
    assert bits(found) == expected_bits(runs)


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=8), st.booleans()), max_size=8))
def test_what_is_escaped_is_decoded(runs: list[tuple[bytes, bool]]) -> None:
    stream = b"".join(escape(data, wakeup=wakeup) for data, wakeup in runs)
    assert bits(EscapeDecoder().feed(stream)) == [(byte, bit) for data, bit in runs for byte in data]


@given(st.lists(st.binary(max_size=6), max_size=8))
def test_any_bytes_give_runs_that_do_not_depend_on_the_pieces(pieces: list[bytes]) -> None:
    decoder = EscapeDecoder()
    found = bits([run for piece in pieces for run in decoder.feed(piece)])
    assert found == bits(EscapeDecoder().feed(b"".join(pieces)))


def test_reset_forgets_an_unfinished_escape() -> None:
    decoder = EscapeDecoder()
    assert decoder.feed(b"\xff\x00") == []
    decoder.reset()
    assert decoder.feed(b"\x01") == [(b"\x01", False)]
