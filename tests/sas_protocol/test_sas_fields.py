"""Every field kind and every table entry: round trip, truncation, trailing bytes, garbage."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sas_protocol import fields
from sas_protocol.crc import append_crc
from sas_protocol.errors import DecodeError, EncodeError, Reason
from sas_protocol.fields import Field, decode_fields, encode_fields, total_size
from sas_protocol.frames import (
    decode_answer,
    decode_event,
    decode_request,
    encode_answer,
    encode_event,
    encode_request,
    request_length,
)
from sas_protocol.longpolls import V603, LongPoll, Size
from sas_protocol.notices import NOTICES_603, NoticeKind

FEW = settings(max_examples=5)  # for each of a hundred entries


def ascii_text(least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(max_codepoint=127), min_size=least, max_size=most)


def values_of(layout: tuple[Field, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Any values that a body of these fields can carry."""
    return st.tuples(*(values_of_field(each) for each in layout)).map(
        lambda parts: {name: value for part in parts for name, value in part.items()}
    )


def values_of_field(field: Field) -> st.SearchStrategy[dict[str, Any]]:
    """Any values of one field, as a mapping."""
    match field:
        case fields.Bcd(name, size):
            return one(name, st.integers(0, 100**size - 1))
        case fields.Binary(name, size, allowed):
            return one(
                name, st.integers(0, 256**size - 1) if allowed is None else st.sampled_from(sorted(allowed))
            )
        case fields.Ascii(name, size):
            return one(name, ascii_text(size, size))
        case fields.Text(name, limit) | fields.RestText(name, limit):
            return one(name, ascii_text(0, limit))
        case fields.Raw(name, size):
            return one(name, st.binary(min_size=size or 0, max_size=20 if size is None else size))
        case fields.Reserved():
            return st.just({})
        case fields.Date(name):
            return one(name, st.dates())
        case fields.Time(name):
            return one(name, st.times().map(lambda time: time.replace(microsecond=0)))
        case fields.Optional(layout):
            return st.just({}) | values_of(layout)
        case fields.Repeated(name, item, least, most):
            each: st.SearchStrategy[Any] = values_of(item)
            if len(item) == 1:
                each = each.map(lambda values: next(iter(values.values())))
            return one(name, st.lists(each, min_size=least, max_size=min(most, 12)).map(tuple))
        case fields.KnownSizeMeters(name, sizes):
            pairs = st.sampled_from(sorted(sizes)).flatmap(
                lambda code: st.tuples(st.just(code), st.integers(0, 100 ** sizes[code] - 1))
            )
            return one(name, st.lists(pairs, max_size=10).map(tuple))
        case fields.SizedMeters(name):
            sized = st.integers(0, 9).flatmap(
                lambda size: st.tuples(
                    st.integers(0, 0xFFFF),
                    st.just(size),
                    st.integers(0, 100**size - 1) if size else st.none(),
                )
            )
            return one(name, st.lists(sized, max_size=12).map(tuple))
        case _:
            raise AssertionError(f"no strategy for {field!r}")


def one(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return values.map(lambda value: {name: value})


def id_of(poll: LongPoll | NoticeKind) -> str:
    return f"{poll.code:02X}_{poll.name}"


REQUESTS = [poll for poll in V603.values() if poll.request is not None]
ANSWERS = [poll for poll in V603.values() if poll.response]


@pytest.mark.parametrize("poll", REQUESTS, ids=id_of)
@FEW
@given(data=st.data(), address=st.integers(0, 127))
def test_a_request_survives_the_wire(poll: LongPoll, address: int, data: st.DataObject) -> None:
    assert poll.request is not None
    values = data.draw(values_of(poll.request))
    frame = encode_request(poll, address, values)
    assert decode_request(V603, frame) == (poll, values)
    assert frame[0] == address
    # Its length is known from its first bytes, and from no fewer than they are.
    known = [request_length(V603, frame[:end]) for end in range(1, len(frame) + 1)]
    assert set(known) <= {0, len(frame)}
    assert known[-1] == len(frame)


@pytest.mark.parametrize("poll", ANSWERS, ids=id_of)
@FEW
@given(data=st.data(), address=st.integers(1, 127))
def test_an_answer_survives_the_wire(poll: LongPoll, address: int, data: st.DataObject) -> None:
    assert poll.response is not None
    values = data.draw(values_of(poll.response))
    frame = encode_answer(poll, address, values)
    assert decode_answer(poll, address, frame) == values
    if isinstance(poll.response_size, int):
        assert len(frame) == poll.response_size
    elif poll.response_size is Size.PREFIXED:
        assert len(frame) == frame[2] + 5


@pytest.mark.parametrize("kind", NOTICES_603.values(), ids=id_of)
@FEW
@given(data=st.data(), address=st.integers(1, 127))
def test_an_event_survives_the_wire(kind: NoticeKind, address: int, data: st.DataObject) -> None:
    facts = tuple(data.draw(values_of(kind.fields)).values())
    assert decode_event(NOTICES_603, address, encode_event(address, kind, facts)) == (kind, facts)


@pytest.mark.parametrize("poll", ANSWERS, ids=id_of)
@FEW
@given(data=st.data())
def test_a_shortened_or_lengthened_answer_is_not_an_answer(poll: LongPoll, data: st.DataObject) -> None:
    assert poll.response is not None
    frame = encode_answer(poll, 1, data.draw(values_of(poll.response)))
    end = data.draw(st.integers(0, len(frame) - 1))
    for wrong in (frame[:end], frame + data.draw(st.binary(min_size=1, max_size=3))):
        with pytest.raises(DecodeError):
            decode_answer(poll, 1, wrong)
        # A length that is wrong is noticed even where the CRC says nothing.
        if poll.response_size is not Size.PREFIXED and len(wrong) >= 2 and len(wrong) != len(frame) - 2:
            with pytest.raises(DecodeError):
                decode_answer(poll, 1, append_crc(wrong))


@settings(max_examples=300)
@given(garbage=st.binary(max_size=80), command=st.integers(0, 255), good_crc=st.booleans())
def test_garbage_is_refused_in_one_way_only(garbage: bytes, command: int, good_crc: bool) -> None:
    frame = bytes((1, command)) + garbage
    frame = append_crc(frame) if good_crc else frame
    poll = V603.get(command)
    decoders: list[Callable[[], object]] = [
        lambda: decode_request(V603, frame),
        lambda: decode_event(NOTICES_603, 1, frame),
    ]
    if poll is not None:
        decoders.append(lambda: decode_answer(poll, 1, frame))
    for decode in decoders:
        try:
            decode()
        except DecodeError as error:
            assert isinstance(error.reason, Reason)
            assert 0 <= error.offset <= len(error.data)


@pytest.mark.parametrize(
    ("field", "data", "reason", "offset"),
    [
        (fields.Bcd("x", 2), "12", Reason.TOO_SHORT, 1),
        (fields.Bcd("x", 2), "12 3A", Reason.BAD_BCD, 1),
        (fields.Bcd("x", 2), "A1 30", Reason.BAD_BCD, 0),
        (fields.Bcd("x", 1), "12 34", Reason.TRAILING, 1),
        (fields.Binary("x", 1, frozenset({0, 1})), "02", Reason.BAD_VALUE, 0),
        (fields.Ascii("x", 3), "41 42 80", Reason.BAD_TEXT, 2),
        (fields.Text("x", 3), "04 41 42 43 44", Reason.BAD_LENGTH, 0),
        (fields.Text("x", 3), "03 41 42", Reason.TOO_SHORT, 3),
        (fields.RestText("x", 1), "41 42", Reason.BAD_TEXT, 1),
        (fields.Date("x"), "02 29 20 25", Reason.BAD_VALUE, 0),
        (fields.Date("x"), "13 01 20 25", Reason.BAD_VALUE, 0),
        (fields.Date("x"), "00 00 00 00", Reason.BAD_VALUE, 0),
        (fields.Time("x"), "24 00 00", Reason.BAD_VALUE, 0),
        (fields.Time("x"), "23 5F 00", Reason.BAD_BCD, 1),
        (fields.Repeated("x", (fields.Binary("y", 2),), least=1), "", Reason.BAD_LENGTH, 0),
        (fields.Repeated("x", (fields.Binary("y", 2),)), "01 02 03", Reason.TOO_SHORT, 3),
        (
            fields.Repeated("x", (fields.Binary("y"),), most=2, counted=True),
            "03 01 02 03",
            Reason.BAD_LENGTH,
            0,
        ),
        (fields.Repeated("x", (fields.Binary("y"),), counted=True), "02 01", Reason.TOO_SHORT, 2),
        (fields.KnownSizeMeters("x", {0: 4}), "01 00 00 00 00", Reason.BAD_VALUE, 0),
        (fields.SizedMeters("x"), "00 00 0A", Reason.BAD_LENGTH, 2),
        (fields.SizedMeters("x"), "00 00 02 12", Reason.TOO_SHORT, 4),
    ],
)
def test_a_wrong_field_says_what_is_wrong_and_where(
    field: Field, data: str, reason: Reason, offset: int
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_fields((field,), bytes.fromhex(data))
    assert (caught.value.reason, caught.value.offset) == (reason, offset)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (fields.Bcd("x", 2), 10_000),
        (fields.Bcd("x", 2), -1),
        (fields.Bcd("x", 2), None),
        (fields.Binary("x", 1), 256),
        (fields.Binary("x", 1, frozenset({0, 1})), 2),
        (fields.Ascii("x", 3), "AB"),
        (fields.Ascii("x", 3), "ABÄ"),
        (fields.Text("x", 3), "ABCD"),
        (fields.Raw("x", 2), b"A"),
        (fields.Date("x"), "2025-01-01"),
        (fields.Time("x"), 5),
        (fields.Repeated("x", (fields.Binary("y"),), least=1), ()),
        (fields.KnownSizeMeters("x", {0: 4}), ((1, 5),)),
        (fields.SizedMeters("x"), ((0, 10, 5),)),
        (fields.SizedMeters("x"), ((0, 2, 10_000),)),
    ],
)
def test_a_value_that_does_not_fit_is_refused_before_it_is_sent(field: Field, value: object) -> None:
    with pytest.raises(EncodeError):
        encode_fields((field,), {"x": value})


def test_sizes_of_bodies_are_known_where_every_field_has_one() -> None:
    assert total_size((fields.Bcd("a", 5), fields.Binary("b"), fields.Reserved(2))) == 8
    assert total_size((fields.Bcd("a", 5), fields.Text("b", 3))) is None


def test_reserved_bytes_are_sent_as_zero_and_not_looked_at() -> None:
    layout = (fields.Reserved(2), fields.Date("day"))
    assert encode_fields(layout, {"day": datetime.date(2026, 3, 15)}) == bytes.fromhex("00 00 03 15 20 26")
    assert decode_fields(layout, bytes.fromhex("FF EE 03 15 20 26")) == {"day": datetime.date(2026, 3, 15)}


def test_a_poll_without_declared_fields_can_be_neither_built_nor_read() -> None:
    with pytest.raises(EncodeError):
        encode_request(V603[0x72], 1, {})
    with pytest.raises(DecodeError) as caught:
        decode_request(V603, bytes.fromhex("01 72 02 FF 00 0F 22"))
    assert caught.value.reason is Reason.NO_LAYOUT
