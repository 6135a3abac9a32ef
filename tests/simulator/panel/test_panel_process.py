"""The panel as a real process, fed by a machine that this test plays: routes, problems, events, its end."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from firmware.control_program.errors import ConfigError
from simulator.panel.channel import OUTSTANDING, EventRing, PanelChannel, Request, encode
from simulator.panel.process import PanelProcess, listen


class PlayedMachine:
    """A machine of fixed answers. ``emit`` sends an event; ``mute``: requests that stay unanswered."""

    def __init__(self, **hello: object) -> None:
        self.process = PanelProcess(
            listen("127.0.0.1", 0), {"version": "9.9", "hosts": [], **hello}, self._answer
        )
        self.asked: list[Request] = []
        self.mute: set[str] = set()
        self.sequence = 0
        self._emitted: list[dict[str, object]] = []
        self._is_stopping = False
        self.process.start()
        self.url = self.process.url
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def emit(self, name: str, *, skip: int = 0, **facts: object) -> int:
        self.sequence += 1 + skip
        self._emitted.append({"sequence": self.sequence, "time_us": 0, "event": name, **facts})
        return self.sequence

    def stop(self) -> None:
        self._is_stopping = True
        self._thread.join()
        self.process.close()

    def _answer(self, request: Request, reply: Any) -> None:
        self.asked.append(request)
        if request.verb in self.mute:
            return
        match request.verb:
            case "sequence":
                reply(200, {"sequence": self.sequence})
            case "vocabulary":
                reply(200, {"events": ["game_started", "game_ended", "playable"]})
            case "press" if request.arguments["button"] != "spin":
                detail = f"no {request.arguments['button']}"
                reply(422, {"title": "Unknown button", "detail": detail, "allowed": ["spin"]})
            case _:
                reply(200, {"verb": request.verb, **request.arguments})

    def _serve(self) -> None:
        while not self._is_stopping:
            channel = self.process.channel
            due_us = self.process.next_deadline_us(0)
            ready = bool(channel and select.select([channel], [], [], 0 if due_us == 0 else 0.01)[0])
            while self._emitted:
                self.process.publish(self._emitted.pop(0))
            self.process.serve(0, ready)
            self.process.collect(0)


@contextmanager
def playing(**hello: object) -> Iterator[PlayedMachine]:
    machine = PlayedMachine(**hello)
    try:
        yield machine
    finally:
        machine.stop()


@pytest.fixture(scope="module")
def machine() -> Iterator[PlayedMachine]:
    with playing() as made:
        yield made


@pytest.fixture(scope="module")
def http(machine: PlayedMachine) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=machine.url, timeout=20, trust_env=False) as client:
        yield client


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    assert body["title"]
    assert body["type"].startswith("urn:egm:problem:")
    return body


def test_a_question_reaches_the_machine_and_its_answer_comes_back(
    machine: PlayedMachine, http: httpx.Client
) -> None:
    assert http.get("/api/state").json() == {"verb": "state"}
    assert http.post("/api/cabinet/door", json={"door": "main", "open": True}).json() == {
        "verb": "door",
        "door": "main",
        "open": True,
    }
    assert machine.asked[-1].arguments == {"door": "main", "open": True}
    assert http.request("DELETE", "/api/fault/sas.wire/crc").json()["target"] == "sas.wire"


def test_the_machines_own_refusal_is_a_problem_with_what_is_allowed(http: httpx.Client) -> None:
    body = problem(http.post("/api/cabinet/press", json={"button": "shoot"}), 422)
    assert body["title"] == "Unknown button"
    assert body["allowed"] == ["spin"]


BAD_BODIES = [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"\xff\xfe", 400, "not JSON"),
    (b"[" * 50_000, 400, "not JSON"),
    (b"[1]", 400, "must be a JSON object"),
    (b"{}", 400, "'cents' is missing"),
    (b'{"cents": "20"}', 400, "'cents' must be a whole number"),
    (b'{"cents": 20.0}', 400, "'cents' must be a whole number"),
    (b'{"cents": true}', 400, "'cents' must be a whole number"),
    (b'{"cents": null}', 400, "'cents' must be a whole number"),
    (b'{"cents": 0}', 422, "1 to"),
    (b'{"cents": 100000000000}', 422, "1 to"),
    (b'{"cents": 2000, "color": "green"}', 400, "no such member as 'color'"),
    (b" " * 70_000, 413, "65536"),
]


@pytest.mark.parametrize(("raw", "status", "words"), BAD_BODIES, ids=lambda value: str(value)[:16])
def test_a_bad_body_is_refused_before_the_machine_hears_of_it(
    machine: PlayedMachine, http: httpx.Client, raw: bytes, status: int, words: str
) -> None:
    asked = len(machine.asked)
    assert words in problem(http.post("/api/cabinet/bill", content=raw), status)["detail"]
    assert len(machine.asked) == asked


def test_wrong_paths_and_methods_are_problems_too(http: httpx.Client) -> None:
    problem(http.get("/api/nothing"), 404)
    wrong = http.get("/api/cabinet/bill")
    assert "POST" in problem(wrong, 405)["detail"]
    assert wrong.headers["allow"] == "POST"


def test_wait_finds_what_has_already_happened_since_the_sequence_number(
    machine: PlayedMachine, http: httpx.Client
) -> None:
    before = machine.sequence
    machine.emit("game_started", wager=5)
    ended = machine.emit("game_ended", win=0)
    found = http.get("/api/wait", params={"event": "game_ended", "after": before, "timeout": 5}).json()
    assert found == {"sequence": ended, "time_us": 0, "event": "game_ended", "win": 0}
    anything = http.get("/api/wait", params={"after": before, "timeout": 5}).json()
    assert anything["event"] == "game_started"
    either = [("event", "game_ended"), ("event", "playable"), ("after", str(before))]
    assert http.get("/api/wait", params=either).json()["sequence"] == ended


def test_wait_without_a_sequence_number_begins_now(machine: PlayedMachine, http: httpx.Client) -> None:
    machine.emit("playable")
    problem(http.get("/api/wait", params={"event": "playable", "timeout": 0.3}), 408)
    later = threading.Timer(0.3, lambda: machine.emit("playable", later=True))
    later.start()
    assert http.get("/api/wait", params={"event": "playable", "timeout": 10}).json()["later"] is True
    later.join()


def test_a_misspelt_wait_is_refused_at_once(http: httpx.Client) -> None:
    body = problem(http.get("/api/wait", params={"event": "game_endet", "timeout": 60}), 422)
    assert "game_ended" in body["allowed"]
    for query in (
        {"timeout": "soon"},
        {"timeout": "nan"},
        {"timeout": 1e9},
        {"after": "-1"},
        {"event_": "x"},
    ):
        problem(http.get("/api/wait", params=query), 400)


def test_the_websocket_tells_each_event_once_and_in_order(machine: PlayedMachine) -> None:
    before = machine.sequence
    old = [machine.emit("game_started") for _ in range(3)]
    url = machine.url.replace("http", "ws")
    with connect(f"{url}api/events?after={before}", proxy=None) as watcher:
        got = [json.loads(watcher.recv(timeout=10))["sequence"] for _ in old]
        new = [machine.emit("game_ended") for _ in range(200)]
        got += [json.loads(watcher.recv(timeout=10))["sequence"] for _ in new]
    assert got == old + new


def test_what_has_left_the_ring_is_gone_with_the_oldest_named(
    machine: PlayedMachine, http: httpx.Client
) -> None:
    before = machine.sequence
    machine.emit("game_started")
    oldest = machine.emit("game_started", skip=5000)  # the machine's own ring has dropped five thousand
    http.get("/api/wait", params={"after": oldest - 1, "timeout": 10}).raise_for_status()
    assert problem(http.get("/api/wait", params={"after": before, "timeout": 1}), 410)["oldest"] == oldest
    url = f"{machine.url.replace('http', 'ws')}api/events?after={before}"
    with pytest.raises(InvalidStatus) as refused, connect(url, proxy=None):
        pass
    assert refused.value.response.status_code == 410
    assert http.get("/api/wait", params={"after": oldest - 1, "timeout": 1}).json()["sequence"] == oldest


def test_the_description_names_every_route(http: httpx.Client) -> None:
    document = http.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert document["info"]["version"] == "9.9"
    named = {"/api/state", "/api/meters", "/api/wait", "/api/events", "/api/vocabulary", "/api/fault"}
    named |= {f"/api/cabinet/{hand}" for hand in ("bill", "press", "door", "key", "stacker", "power")}
    assert named <= set(document["paths"])
    bill = document["paths"]["/api/cabinet/bill"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert bill["properties"]["cents"]["type"] == "integer"


def test_the_page_needs_nothing_from_elsewhere(http: httpx.Client) -> None:
    page = http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "://" not in page.text.replace("https:", "").replace("location", "")


def test_pages_of_other_sites_cannot_be_the_hand(http: httpx.Client) -> None:
    evil = {"Origin": "http://evil.example"}
    problem(http.post("/api/cabinet/press", json={"button": "spin"}, headers=evil), 403)
    own = {"Origin": str(http.base_url).rstrip("/")}
    assert http.post("/api/cabinet/press", json={"button": "spin"}, headers=own).status_code == 200


def test_a_full_queue_and_a_silent_machine_are_said_so() -> None:
    with playing(answer_s_max=2.0) as machine:
        machine.mute.add("meters")
        threads = [threading.Thread(target=_get, args=[f"{machine.url}api/meters"]) for _ in range(64)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 1.9
        while len(machine.asked) < 64 and time.monotonic() < deadline:
            time.sleep(0.01)
        problem(_get(f"{machine.url}api/state"), 503)
        for thread in threads:
            thread.join()
        problem(_get(f"{machine.url}api/meters"), 504)
        assert _get(f"{machine.url}api/state").status_code == 200


def _get(url: str) -> httpx.Response:
    return httpx.get(url, timeout=20, trust_env=False)


def test_a_token_is_asked_of_everybody() -> None:
    with playing(token="open-sesame") as machine:
        url = machine.url
        problem(httpx.get(f"{url}api/state", trust_env=False), 401)
        problem(httpx.get(f"{url}api/state?token=open-sesamf", trust_env=False), 401)
        assert httpx.get(f"{url}api/state?token=open-sesame", trust_env=False).status_code == 200
        bearer = {"Authorization": "Bearer open-sesame"}
        assert httpx.get(f"{url}api/state", headers=bearer, trust_env=False).status_code == 200
        socket_url = url.replace("http", "ws")
        with pytest.raises(InvalidStatus), connect(f"{socket_url}api/events", proxy=None):
            pass
        with connect(f"{socket_url}api/events?token=open-sesame", proxy=None):
            pass


def test_without_testers_there_are_no_hands_and_a_foreign_host_name_is_refused() -> None:
    with playing(tester=False, hosts=["127.0.0.1"]) as machine:
        problem(httpx.post(f"{machine.url}api/cabinet/bill", json={"cents": 100}, trust_env=False), 404)
        assert "/api/fault" not in httpx.get(f"{machine.url}openapi.json", trust_env=False).json()["paths"]
        rebound = {"Host": "rebound.example"}
        problem(httpx.get(f"{machine.url}api/state", headers=rebound, trust_env=False), 403)


def test_half_of_a_surrogate_pair_and_an_address_that_is_none_are_the_callers_fault(
    http: httpx.Client,
) -> None:
    echo = http.post("/api/cabinet/press", content=b'{"button": "\\ud800"}')
    assert problem(echo, 422)["detail"] == "no \ud800"
    problem(http.get("/api/state", headers={"origin": "http://[nowhere"}), 403)
    with playing(hosts=["127.0.0.1"]) as guarded:
        nowhere = {"Host": "[nowhere"}
        problem(httpx.get(f"{guarded.url}api/state", headers=nowhere, trust_env=False), 403)


def test_questions_are_answered_one_a_turn_however_many_a_stopped_machine_finds() -> None:
    """Hosts are served between two of them, and a panel that asked more than may be open lives on."""
    answered: list[Request] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = PanelProcess(listener, {}, lambda request, reply: answered.append(request))
        ours, theirs = socket.socketpair()
        process.channel = PanelChannel(ours, EventRing(), {})
        for number in range(3 * OUTSTANDING):
            theirs.sendall(encode({"ask": number, "verb": "state", "with": {}}))
        for turn in range(1, 3 * OUTSTANDING + 1):
            process.serve(0, is_readable=turn == 1)
            assert len(answered) == turn
            assert process.next_deadline_us(7) in (7, None)
        assert process.channel.is_open
        assert [request.request_id for request in answered] == list(range(3 * OUTSTANDING))
        theirs.close()
        process.close()


def test_the_panel_ends_with_the_machine_and_frees_its_port() -> None:
    machine = PlayedMachine()
    httpx.get(f"{machine.url}api/state", trust_env=False).raise_for_status()
    process = machine.process._process
    assert process is not None
    with connect(f"{machine.url.replace('http', 'ws')}api/events", proxy=None) as watcher:
        machine.stop()
        with pytest.raises(ConnectionClosed):
            watcher.recv(timeout=5)
    assert process.wait(timeout=5) == 0
    port = int(machine.url.rstrip("/").rpartition(":")[2])
    listen("127.0.0.1", port).close()


def test_a_panel_that_was_killed_is_replaced_and_knows_the_events(machine: PlayedMachine) -> None:
    machine.emit("playable", mark=1)
    with httpx.Client(base_url=machine.url, timeout=20, trust_env=False) as client:
        client.get("/api/wait", params={"after": machine.sequence - 1, "timeout": 5}).raise_for_status()
    first = machine.process._process
    assert isinstance(first, subprocess.Popen)
    first.kill()
    deadline = time.monotonic() + 10
    while machine.process._process is first and time.monotonic() < deadline:
        machine.process._replace_due_us = 0
        time.sleep(0.01)
    with httpx.Client(base_url=machine.url, timeout=20, trust_env=False) as client:
        found = client.get("/api/wait", params={"after": machine.sequence - 1, "timeout": 5}).json()
    assert found["mark"] == 1


def test_a_busy_port_is_refused_in_one_sentence() -> None:
    refused = pytest.raises(ConfigError, match="cannot listen there: address already in use")
    with socket.create_server(("127.0.0.1", 0)) as taken, refused:
        listen("127.0.0.1", taken.getsockname()[1])
