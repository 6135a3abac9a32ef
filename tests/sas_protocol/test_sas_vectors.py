"""The worked frames of ``tests/vectors/sas.toml``, in both directions: bytes to meaning, meaning to bytes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sas_protocol.crc import append_crc, crc16, has_good_crc
from sas_protocol.fields import Values
from sas_protocol.frames import (
    decode_answer,
    decode_event,
    decode_request,
    encode_answer,
    encode_event,
    encode_request,
    request_length,
)
from sas_protocol.longpolls import V603
from sas_protocol.notices import NOTICES_603

VECTORS = tomllib.loads(Path(__file__).parents[1].joinpath("vectors/sas.toml").read_text(encoding="utf-8"))
BYTES_FIELDS = {"validation_data", "base_data", "game_options", "target"}


def plain(values: Mapping[str, Any]) -> Values:
    """Values as the codec has them: tuples for lists, bytes for the hexadecimal text of bytes fields."""
    found: Values = {}
    for name, value in values.items():
        if name in BYTES_FIELDS:
            found[name] = bytes.fromhex(value)
        elif isinstance(value, list):
            found[name] = tuple(tuple(each) if isinstance(each, list) else each for each in value)
        else:
            found[name] = value
    return found


def named(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", VECTORS[kind], ids=lambda vector: vector["name"])


def test_the_crc_has_its_published_check_value_and_chains_from_a_seed() -> None:
    data = bytes.fromhex(VECTORS["crc"]["check"])
    assert crc16(data) == VECTORS["crc"]["value"]
    assert crc16(data, VECTORS["crc"]["signature_seed"]) == VECTORS["crc"]["signature"]


@pytest.mark.parametrize("kind", ["request", "answer", "event", "length"])
def test_every_worked_frame_has_a_good_crc_and_no_other(kind: str) -> None:
    for vector in VECTORS[kind]:
        frame = bytes.fromhex(vector["bytes"])
        assert has_good_crc(frame), vector["name"]
        assert append_crc(frame[:-2]) == frame
        if frame[-1] != frame[-2]:
            assert not has_good_crc(frame[:-2] + frame[:-3:-1]), vector["name"]  # high and low swapped


@named("request")
def test_a_request_says_what_it_means(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["bytes"])
    poll, values = decode_request(V603, frame)
    assert poll.code == vector["poll"]
    assert values == plain(vector["values"])
    assert encode_request(poll, frame[0], plain(vector["values"])) == frame
    assert request_length(V603, frame) == len(frame)


@named("answer")
def test_an_answer_says_what_it_means(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["bytes"])
    poll = V603[vector["poll"]]
    assert decode_answer(poll, 1, frame) == plain(vector["values"])
    assert encode_answer(poll, 1, plain(vector["values"])) == frame


@named("event")
def test_a_real_time_event_says_what_it_means(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["bytes"])
    kind, facts = decode_event(NOTICES_603, 1, frame)
    assert (kind.code, facts) == (vector["notice"], tuple(vector["facts"]))
    assert encode_event(1, kind, facts) == frame


@named("length")
def test_a_frame_without_declared_fields_is_still_framed(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["bytes"])
    assert frame[1] == vector["poll"]
    assert request_length(V603, frame) == len(frame)
