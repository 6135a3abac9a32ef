"""The long poll table against an independent transcription of the index (SAS reference 11), and its tidiness."""

from __future__ import annotations

import pytest

from sas_protocol.longpolls import ADDED_IN_603, BY_NAME, V602, V603, Kind, LongPoll, Size
from sas_protocol.longpolls.poll import table

# One line per entry or range: commands, kind, request length, data answer length.
# "len" has a length byte, "-" is ACK/NACK/BUSY only, "?" is not public.
INDEX = """
01-07 S 4 -
08 S 9 -
09 M 7 -
0A-0B S 4 -
0E S 5 -
0F R 2 28
10-18 R 2 8
19 R 2 24
1A R 2 8
1B R 2 24
1C R 2 36
1D R 2 20
1E R 2 28
1F R 2 24
20 R 2 8
21 S 6 6
27 R 2 8
28 R 2 49
2A-2C R 2 8
2D M 6 10
2E S 6 -
2F M len len
31-3C R 2 8
3D R 2 13
3E-47 R 2 8
48 R 2 10
49-4A R 2 8
4C S 10 10
4D S 5 35
4F R 2 len
50 S 5 14
51 R 2 6
52 M 6 22
53 M 6 26
54 R 2 len
55 R 2 6
56 R 2 len
57 R 2 10
58 S 13 5
59 R 2 ?
5A-5C S ? ?
5D R 2 len
5E R 2 ?
5F S 8 ?
62-63 S 10 11
64-65 S 6 12
66 S 5 11
69 S 10 11
6A R 2 8
6B S 6 12
6E S len len
6F M len len
70 R 2 len
71-72 S len len
73 S len len
74 S 8 len
75 S len -
76 S len len
77 S ? ?
7A S len -
7B S len len
7C-7D S len 5
7E R 2 11
7F S 11 -
80 S 11 -
83 M 6 10
84-85 R 2 11
86 S len -
87 R 2 len
8A S 9 -
8B S 15 -
8C M 13 -
8E R 2 10
8F R 2 13
90 R 2 14
94 S 4 5
95-98 M 6 10
99 M 6 22
9A M 6 18
A0 M 6 12
A4 M 6 8
A8 S 5 5
AA S 5 -
AF M len len
B0 S len len
B1 R 2 5
B2 R 2 len
B3 R 2 5
B4 M 8 len
B5 M 6 len
B6-B7 S len len
"""
NEVER_DEFINED = {0x0C, 0x0D, 0x81, 0x82, 0x93, 0xFF}
GLOBAL = {0x75, 0x7A, 0x7B, 0x7C, 0x7D, 0x7F, 0x80, 0x86}
DENOMINATION_AWARE = {0x09, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x2F, 0x6F, 0xAF, 0x56, 0xB5}
ONLY_603 = {0x59, 0x5A, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F, 0x77, 0x7A, 0xB6, 0xB7}
OBSOLETE = {0x1D, 0x27, 0x28, 0x62, 0x63, 0x64, 0x65, 0x66, 0x69, 0x6A, 0x6B}
NOT_PUBLIC = {0x59, 0x5A, 0x5B, 0x5C, 0x5E, 0x5F, 0x77, 0x8B}  # 18.5, those without a layout at all


def indexed() -> dict[int, tuple[str, str, str]]:
    found = {}
    for line in INDEX.split("\n"):
        if line:
            commands, kind, request, answer = line.split()
            first, _, last = commands.partition("-")
            for code in range(int(first, 16), int(last or first, 16) + 1):
                found[code] = (kind, request, answer)
    return found


def written(size: int | Size) -> str:
    return size.value if isinstance(size, Size) else str(size)


def test_the_table_holds_the_whole_index_and_nothing_else() -> None:
    assert set(V603) == set(indexed())
    assert not NEVER_DEFINED & set(V603)


@pytest.mark.parametrize("code", indexed(), ids=lambda code: f"{code:02X}")
def test_kind_and_lengths_are_those_of_the_index(code: int) -> None:
    poll = V603[code]
    assert (poll.kind.value, written(poll.request_size), written(poll.response_size)) == indexed()[code]


def test_flags_are_those_of_the_index() -> None:
    assert {poll.code for poll in V603.values() if poll.is_global} == GLOBAL
    assert {poll.code for poll in V603.values() if poll.is_denomination_aware} == DENOMINATION_AWARE
    assert {poll.code for poll in V603.values() if poll.is_obsolete} == OBSOLETE


def test_602_is_603_without_what_603_added() -> None:
    assert set(ADDED_IN_603) == ONLY_603 == {poll.code for poll in V603.values() if poll.since == 603}
    assert dict(V603) == {**V602, **ADDED_IN_603}
    assert list(V603) == sorted(V603)


def test_layouts_that_are_not_public_are_marked_and_no_others() -> None:
    without = {poll.code for poll in V603.values() if poll.request is None or poll.response is None}
    assert without >= NOT_PUBLIC
    assert {code for code in without if V603[code].note.startswith("(?)")} == NOT_PUBLIC


def test_names_are_unique_words() -> None:
    assert len(BY_NAME) == len(V603)
    assert all(name.replace("_", "").isalnum() and name == name.lower() for name in BY_NAME)


def test_every_entry_names_its_source_and_its_own_key() -> None:
    for code, poll in V603.items():
        assert poll.code == code
        assert poll.source.startswith("SAS reference ")


def test_polls_of_kind_m_begin_and_answer_with_the_game_number() -> None:
    for poll in V603.values():
        if poll.kind is Kind.GAME:
            assert poll.request is not None
            assert poll.response is not None
            assert getattr(poll.request[0], "name", None) == "game"
            assert poll.response == () or getattr(poll.response[0], "name", None) == "game"


def test_a_command_cannot_be_declared_twice() -> None:
    entry = LongPoll(0x01, "twice", Kind.SEND)
    with pytest.raises(ValueError, match="01 is declared twice"):
        table((entry,), (entry,))
