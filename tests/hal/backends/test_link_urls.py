"""Line URLs: what they mean, and one clear sentence for each way to get them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from hal.backends.errors import BackendError
from hal.backends.link_urls import LineUrl, open_byte_link, open_wakeup_link, parse_line_url
from hal.backends.memory_links import MemoryLines
from hal.backends.pty_link import NinthBit


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("pty:egm-data/sas", LineUrl("pty", "egm-data/sas")),
        ("pty:/run/egm/sas?marked", LineUrl("pty", "/run/egm/sas", ninth_bit=NinthBit.MARKED)),
        ("pty:/run/egm/sas?plain", LineUrl("pty", "/run/egm/sas", ninth_bit=NinthBit.PLAIN)),
        ("tcp:127.0.0.1:4001", LineUrl("tcp", "127.0.0.1", 4001)),
        ("tcp:localhost:0?marked", LineUrl("tcp", "localhost", 0, NinthBit.MARKED)),
        ("tcp:[::1]:4001", LineUrl("tcp", "::1", 4001)),
        ("memory:acceptor", LineUrl("memory", "acceptor")),
    ],
)
def test_a_url_is_its_parts(url: str, parts: LineUrl) -> None:
    assert parse_line_url(url) == parts


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "'' is not a line; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        ("/dev/ttyS0", "'/dev/ttyS0' is not a line; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        ("pty", "'pty' is not a line; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        ("serial", "'serial' is not a line; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        (
            "serial:/dev/ttyS0",
            "'serial:/dev/ttyS0': serial: lines are not built yet; "
            "use pty:LINK, tcp:HOST:PORT or memory:NAME.",
        ),
        (
            "rfc2217:localhost:2217",
            "'rfc2217:localhost:2217': rfc2217: lines are not built yet; "
            "use pty:LINK, tcp:HOST:PORT or memory:NAME.",
        ),
        ("pty:", "'pty:' lacks its path; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        ("memory:", "'memory:' lacks its name; write pty:LINK, tcp:HOST:PORT or memory:NAME."),
        (
            "pty:sas?masked",
            "'pty:sas?masked': ?masked is unknown; after pty: and tcp: may stand ?marked or ?plain.",
        ),
        (
            "memory:sas?marked",
            "'memory:sas?marked': ?marked is unknown; after pty: and tcp: may stand ?marked or ?plain.",
        ),
        *(
            (url, f"{url!r} needs a host and a port 0..65535, such as tcp:127.0.0.1:4001.")
            for url in (
                "tcp:",
                "tcp:localhost",
                "tcp::4001",
                "tcp:localhost:",
                "tcp:localhost:sas",
                "tcp:localhost:65536",
                "tcp:localhost:-1",
                "tcp:localhost:²",
            )
        ),
    ],
)
def test_a_wrong_url_is_told_what_is_wrong_and_what_to_write(url: str, sentence: str) -> None:
    for consume in (parse_line_url, open_byte_link, open_wakeup_link):
        with pytest.raises(BackendError) as caught:
            consume(url)
        assert str(caught.value) == sentence


def test_lines_in_memory_need_a_place_to_live() -> None:
    for consume in (open_byte_link, open_wakeup_link):
        with pytest.raises(BackendError, match="exists only inside one process"):
            consume("memory:sas")


def test_a_device_line_has_no_ninth_bit_to_mark(tmp_path: Path) -> None:
    for url in (f"pty:{tmp_path}/gat?marked", "tcp:127.0.0.1:0?marked"):
        with pytest.raises(BackendError, match="this one carries no ninth bit; leave it out"):
            open_byte_link(url)
    assert list(tmp_path.iterdir()) == []


def test_the_url_of_an_opened_line_opens_it_again(tmp_path: Path) -> None:
    for url in (f"pty:{tmp_path}/gat", "tcp:127.0.0.1:0"):
        first = open_byte_link(url)
        real = first.url
        first.close()
        second = open_byte_link(real)
        assert second.url == real
        assert isinstance(second.fileno(), int)
        second.close()


def test_the_machine_gets_the_machines_end() -> None:
    lines = MemoryLines()
    assert open_wakeup_link("memory:sas", lines) is lines.wakeup_pair("sas")[0]
    assert open_byte_link("memory:acceptor", lines) is lines.byte_pair("acceptor")[0]
    assert open_byte_link("memory:acceptor", lines).url == "memory:acceptor"
