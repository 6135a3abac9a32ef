"""A line over TCP: clients that come, go, vanish, stop reading; ports that are taken."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

import pytest

from hal.backends.errors import BackendError
from hal.backends.loop_wakeup import LoopWaiter
from hal.backends.tcp_link import TcpByteLink, TcpServer, TcpWakeupLink
from hal.ports.links import LinkError

PATIENCE_SECONDS = 5.0


@pytest.fixture
def link() -> Iterator[TcpByteLink]:
    link = TcpByteLink("127.0.0.1", 0)
    yield link
    link.close()


def port_of(url: str) -> int:
    return int(url.partition("?")[0].rpartition(":")[2])


def connect(link: TcpByteLink | TcpWakeupLink) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port_of(link.url)), timeout=PATIENCE_SECONDS)
    client.settimeout(PATIENCE_SECONDS)
    return client


def wait_for(link: TcpByteLink, data: bytes) -> None:
    found = b""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while len(found) < len(data) and time.monotonic() < give_up:
        found += link.read(4096)
    assert found == data


def test_with_nobody_there_reads_are_empty_and_writes_are_lost(link: TcpByteLink) -> None:
    link.write(b"to nobody")
    assert link.read(10) == b""
    with connect(link) as client:
        client.sendall(b"hello")
        wait_for(link, b"hello")
        link.write(b"welcome")
        assert client.recv(100) == b"welcome"


def test_one_descriptor_wakes_the_loop_for_clients_and_for_bytes(link: TcpByteLink) -> None:
    waiter = LoopWaiter()
    waiter.register(link.fileno())
    deadline = time.monotonic_ns() // 1000 + 5_000_000
    with connect(link) as client:
        assert waiter.wait(deadline) == [link.fileno()]
        assert link.read(10) == b""
        assert waiter.wait(time.monotonic_ns() // 1000) == []
        client.sendall(b"x")
        assert waiter.wait(deadline) == [link.fileno()]
        assert link.read(10) == b"x"
    assert waiter.wait(deadline) == [link.fileno()]  # the client is gone
    assert link.read(10) == b""
    assert waiter.wait(time.monotonic_ns() // 1000) == []
    waiter.close()


def test_a_second_client_is_turned_away_and_the_first_not_disturbed(link: TcpByteLink) -> None:
    with connect(link) as first:
        first.sendall(b"1")
        wait_for(link, b"1")
        with connect(link) as second:
            link.read(10)
            assert second.recv(10) == b""
        link.write(b"still here")
        assert first.recv(100) == b"still here"


def test_clients_may_follow_each_other_for_ever(link: TcpByteLink) -> None:
    for number in range(50):
        with connect(link) as client:
            client.sendall(bytes([number]))
            wait_for(link, bytes([number]))
            link.write(bytes([number]))
            assert client.recv(10) == bytes([number])


def test_a_client_that_resets_the_connection_makes_room(link: TcpByteLink) -> None:
    client = connect(link)
    client.sendall(b"x")
    wait_for(link, b"x")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    link.write(b"into the void")
    assert link.read(10) == b""
    with connect(link) as successor:
        successor.sendall(b"next")
        wait_for(link, b"next")


def test_a_client_that_stops_reading_is_hung_up_on_and_never_waited_for(link: TcpByteLink) -> None:
    with connect(link) as client:
        client.sendall(b"x")
        wait_for(link, b"x")
        started = time.monotonic()
        for _ in range(10_000):
            link.write(bytes(1000))
        assert time.monotonic() - started < 2.0
        received = 0
        with pytest.raises((ConnectionError, StopIteration)):
            while True:
                piece = client.recv(1 << 16)
                received += len(piece)
                if not piece:
                    raise StopIteration
        assert received < 10_000_000
    with connect(link) as successor:
        successor.sendall(b"next")
        wait_for(link, b"next")


def test_no_byte_of_one_client_reaches_the_next(link: TcpByteLink) -> None:
    with connect(link) as client:
        client.sendall(b"x")
        wait_for(link, b"x")
        link.write(b"for the first only")
    link.read(10)
    with connect(link) as successor:
        successor.sendall(b"y")
        wait_for(link, b"y")
        link.write(b"z")
        assert successor.recv(100) == b"z"


def test_a_half_escape_of_one_client_is_not_finished_by_the_next() -> None:
    link = TcpWakeupLink("127.0.0.1", 0, is_marked=True)
    for stream, runs in ((b"\x54\xff\x00", [(b"\x54", False)]), (b"\x01", [(b"\x01", False)])):
        with connect(link) as client:
            client.sendall(stream)
            give_up = time.monotonic() + PATIENCE_SECONDS
            while not (found := link.read()) and time.monotonic() < give_up:
                pass
            assert found == runs
    link.close()


def test_a_busy_port_is_refused_in_one_sentence(link: TcpByteLink) -> None:
    port = port_of(link.url)
    with pytest.raises(BackendError) as caught:
        TcpByteLink("127.0.0.1", port)
    assert str(caught.value) == (
        f"Cannot listen on 127.0.0.1:{port}: address already in use; "
        "choose another address or port (0 picks a free port)."
    )


def test_a_port_is_free_again_at_once(link: TcpByteLink) -> None:
    port = port_of(link.url)
    with connect(link) as client:
        client.sendall(b"x")
        wait_for(link, b"x")
        link.close()  # while connected: the kernel keeps the old connection in TIME_WAIT
    TcpByteLink("127.0.0.1", port).close()


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b"])
def test_an_address_that_is_not_ours_is_refused(host: str) -> None:
    with pytest.raises(BackendError, match=f"Cannot listen on {host}"):
        TcpByteLink(host, 0)


def test_after_closing_the_error_names_the_line() -> None:
    server = TcpServer("127.0.0.1", 0)
    server.close()
    with pytest.raises(LinkError, match=rf"tcp:127.0.0.1:{server.port} is closed"):
        server.receive()


def test_an_ipv6_address_is_shown_in_brackets() -> None:
    try:
        link = TcpWakeupLink("::1", 0, is_marked=True)
    except BackendError:
        pytest.skip("this computer has no IPv6")
    assert link.url == f"tcp:[::1]:{port_of(link.url)}?marked"
    link.close()
