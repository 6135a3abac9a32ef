"""``egm host`` against a machine's end on a real pseudo-terminal: what it prints and how it ends."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hal.backends.pty_link import PtyLink
from sas_protocol.line_events import BUSY, IGNORE, NACK
from simulator.cli import dispatch, host
from tests.simulator.floor.line_machine import LineMachine


class Served:
    """A machine's end that answers on a pseudo-terminal for as long as a test runs."""

    def __init__(self, path: Path) -> None:
        self.url = f"pty:{path}"
        self.machine = LineMachine()
        self.link = PtyLink(path)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while not self._is_over.is_set():
            now_us = time.monotonic_ns() // 1_000
            runs = self.link.read()
            sent = self.machine.receive(now_us, runs) if runs else self.machine.tick(now_us)
            if sent:
                self.link.write(sent)
            time.sleep(0.0005)

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()
        self.link.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    line = Served(tmp_path / "sas")
    yield line
    line.close()


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run ``egm host WORDS``: exit code, standard output, standard error."""
    code = dispatch(["host", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_poll_prints_news_by_name(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    served.machine.tell(0x11)
    served.machine.tell(0x4A)
    code, out, _ = run(capsys, "poll", served.url, "--every", "20", "--count", "2")
    assert code == 0
    assert [line.split()[1:] for line in out.splitlines()] == [
        ["online"],
        ["11", "slot_door_opened"],
        ["4A", "bill_accepted_20"],
    ]


def test_what_poll_printed_has_left_the_machine(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    served.machine.tell(0x11)
    run(capsys, "poll", served.url, "--count", "1")
    deadline = time.monotonic() + 2
    while served.machine.notices and time.monotonic() < deadline:
        time.sleep(0.005)
    assert served.machine.notices == []


def test_poll_in_real_time_shows_facts_and_leaves_the_line_as_it_was(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    served.machine.tell(0x4F, 37, 4, 12)
    words = ("poll", served.url, "--every", "40", "--real-time", "--for", "0.5", "--json")
    code, out, _ = run(capsys, *words)
    notices = [line for line in map(json.loads, out.splitlines()) if line["kind"] == "notice"]
    assert code == 0
    assert [(notice["code"], notice["name"]) for notice in notices] == [("4F", "bill_accepted")]
    assert not served.machine.end.is_real_time


def test_send_prints_raw_and_decoded(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "send", served.url, "6F", "0000A0")
    assert code == 0
    assert out.splitlines() == [
        "sent      01 6F 04 00 00 A0 00 02 A7  long poll to 1 6F send_extended_meters game=0 "
        "meters=['aft_cashable_to_machine_cents']",
        "received  01 6F 0A 00 00 A0 00 05 00 00 01 50 00 3F 06  answer 6F send_extended_meters game=0 "
        "meters={aft_cashable_to_machine_cents=15000}",
    ]


def test_send_in_json_has_everything(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "send", served.url, "54", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["sent"] == "01 54"
    assert document["answer"]["fields"] == {"version": "602", "serial": "SIM00001"}


@pytest.mark.parametrize(
    ("answer", "words", "code"),
    [(None, "ack", 0), (NACK, "nack", 1), (BUSY, "busy", 1), (IGNORE, "nothing", 1)],
)
def test_send_ends_as_the_machine_answers(
    served: Served, capsys: pytest.CaptureFixture[str], answer: object, words: str, code: int
) -> None:
    served.machine.refuses = {} if answer is None else {0x01: answer}  # type: ignore[dict-item]
    found, out, _ = run(capsys, "send", served.url, "01")
    assert words in out.splitlines()[-1]
    assert found == code


def test_a_broadcast_is_sent_to_all_and_not_waited_for(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "send", served.url, "--broadcast", "7F", "03152026101112")
    assert code == 0
    assert out.splitlines()[0].startswith("sent      00 7F 03 15 20 26 10 11 12")
    assert out.splitlines()[1] == "received  nothing, as is right for a broadcast"


def test_meters_are_read_whole(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "meters", served.url, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["denomination_cents"] == 5
    assert document["meters"]["total_coin_in"] == {
        "code": "00",
        "value": 1234,
        "unit": "credits",
        "cents": 6170,
    }
    assert len(document["meters"]) == 3
    _, text, _ = run(capsys, "meters", served.url)
    assert text.splitlines()[0].split() == ["00", "total_coin_in", "1234", "credits", "61.70"]
    assert text.splitlines()[-1] == "3 meters"


def test_watch_tells_who_is_there_and_what_moves(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    def play() -> None:
        time.sleep(0.4)
        served.machine.meters = {0x00: 1239, 0x05: 8}
        served.machine.tell(0x7F, 0)

    player = threading.Thread(target=play)
    player.start()
    code, out, _ = run(capsys, "watch", served.url, "--every", "40", "--for", "1.2", "--json")
    player.join()
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["fields"]["serial"] for line in lines if line.get("name") == "send_version_and_serial"] == [
        "SIM00001"
    ]
    assert [line["meters"] for line in lines if line["kind"] == "meters"] == [
        {"coin in": 1234, "games": 7},
        {"coin in": 1239, "games": 8},
    ]
    assert not served.machine.end.is_real_time


@pytest.mark.parametrize("verb", ["poll", "watch", "meters"])
def test_a_line_where_nothing_answers_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setattr(host, "PATIENCE_S", 0.2)
    link = PtyLink(tmp_path / "sas")
    code, out, err = run(capsys, verb, f"pty:{tmp_path / 'sas'}", "--address", "5")
    link.close()
    assert (code, out) == (1, "")
    assert err == f"egm host: nothing answers at address 5 on pty:{tmp_path / 'sas'}\n"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("poll", "pty:nowhere"), 2, "egm host: cannot open pty:nowhere: no such file or directory."),
        (("poll", "/etc/hostname"), 2, "it is no serial port"),
        (("meters", "ftp:x"), 2, "is not a line a host can open"),
        (("send", "pty:nowhere", "zz"), 2, "'zz' is not a command and data in hexadecimal"),
        (("send", "pty:nowhere", "--raw", "01"), 2, "a long poll has an address and a command"),
        (("decode", "nowhere"), 2, "cannot read nowhere: No such file"),
        (("poll",), 2, "Missing argument"),
        (("poll", "pty:x", "--address", "128"), 2, "less than or equal to 127"),
    ],
)
def test_wrong_usage_is_one_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, sentence: str
) -> None:
    found, out, err = run(capsys, *words)
    assert (found, out) == (code, "")
    assert sentence in err


def test_decode_reads_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "line.txt"
    recording.write_text(
        "# a short talk\n> 80\n> 01 1A\n< 011A00001234452D # credits\n\n81\n4A\n", encoding="utf-8"
    )
    code, out, _ = run(capsys, "decode", str(recording))
    assert code == 0
    assert out.splitlines() == [
        "80  sync poll",
        "01 1A  long poll to 1 1A send_current_credits",
        "01 1A 00 00 12 34 45 2D  answer 1A send_current_credits value=1234",
        "81  general poll to 1",
        "4A  notice 4A bill_accepted_20",
    ]
    recording.write_text("> 01 1A\n< 01 1A 00 00 12 34 45 2E\n", encoding="utf-8")
    code, out, _ = run(capsys, "decode", str(recording), "--json")
    assert code == 1
    assert json.loads(out.splitlines()[1])["problem"] == "bad crc"
    recording.write_text("> 80\nhello\n", encoding="utf-8")
    code, _, err = run(capsys, "decode", str(recording))
    assert code == 2
    assert ":2: 'hello' is not hexadecimal" in err
