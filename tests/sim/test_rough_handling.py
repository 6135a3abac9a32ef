"""A running machine handled roughly: signals at any moment, closed streams, spoilt folders, a killed panel."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest

from firmware.control_program.options import (
    DEFAULT_DUTIES,
    MachineOptions,
    RunOptions,
    SasLineOptions,
    TimeMode,
)
from hal.backends.file_nvram import FileNvram
from hal.ports.nvram import NvramError
from simulator.cli import dispatch
from simulator.hands import Fate
from simulator.run_machine import Runner, assemble, power_on
from simulator.world_store import pack
from tests.sim.egm_process import EgmProcess

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RUN = (sys.executable, "-m", "simulator.cli", "run")


def started(data: Path) -> subprocess.Popen[bytes]:
    """A machine that leads a process group of its own, as the foreground of a terminal does."""
    return subprocess.Popen(
        [*RUN, "--data", str(data), "--panel", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def assert_orderly(process: subprocess.Popen[bytes]) -> None:
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err.decode()
    assert json.loads(out)["event"] == "ready"
    assert b"Traceback" not in err
    assert b"another is started" not in err


@pytest.mark.parametrize("number", STOPS)
def test_a_stop_while_it_starts_is_an_orderly_power_down(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path / "data")
    end = time.monotonic() + 20
    while not (tmp_path / "data" / "machine.lock").exists():
        assert time.monotonic() < end
        time.sleep(0.005)
    os.killpg(process.pid, number)
    assert_orderly(process)


@pytest.mark.parametrize("number", STOPS)
def test_a_stop_to_the_whole_process_group_is_for_the_machine_alone(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The panel's process has hardly begun then: it must not have a moment in which the signal ends it."""
    process = started(tmp_path / "data")
    assert process.stdout is not None
    ready = process.stdout.readline()
    assert json.loads(ready)["event"] == "ready"
    time.sleep(0.05)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err.decode()
    assert b"Traceback" not in err
    assert b"another is started" not in err


def test_closed_standard_streams_do_not_let_the_log_into_a_file(tmp_path: Path) -> None:
    """The first file that is opened would get the number of standard error, and the log with it."""
    data = tmp_path / "data"
    words = [*RUN, "--data", str(data), "--panel", "off", "--sas", "memory:sas"]
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words])
    end = time.monotonic() + 20
    while not (data / "machine.json").exists():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 0
    for file in data.iterdir():
        assert b"power_up" not in file.read_bytes(), file


@pytest.fixture(scope="module")
def egm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EgmProcess]:
    machine = EgmProcess(tmp_path_factory.mktemp("rough") / "data", "--sas", "memory:sas", "--seed", "1")
    try:
        yield machine
    finally:
        if machine.process.poll() is None:
            machine.stop()


def test_a_machine_that_does_not_start_again_says_why_and_stays_dark(egm: EgmProcess) -> None:
    memory = egm.data / "memory.bin"
    egm.hand("power", on=False)
    whole = memory.read_bytes()
    os.truncate(memory, 1000)
    refused = egm.http.post("/api/cabinet/power", json={"on": True})
    assert (refused.status_code, refused.json()["title"]) == (409, "The machine does not start")
    assert "memory.bin has become shorter" in refused.json()["detail"]
    assert egm.get("state")["playable_blocked_by"] == ["power_off"]
    memory.write_bytes(whole)
    sequence = egm.hand("power", on=True)["sequence"]
    egm.wait("power_up", sequence)


def test_without_power_the_names_are_known_and_waited_for(egm: EgmProcess) -> None:
    """The page is made from them: opened while the machine is dark, it must have the button that ends that."""
    names = egm.get("vocabulary")
    egm.hand("power", on=False)
    assert egm.get("vocabulary") == names
    assert names["events"]["door_opened"].count("door opened") > 1
    never_yet = egm.http.get("/api/wait", params={"event": "handpay_pending", "timeout": 0})
    assert never_yet.status_code == 408
    egm.hand("power", on=True)


def test_the_shell_knows_a_machine_that_was_killed_from_one_that_runs(
    egm: EgmProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its port may be another machine's by now: the hands must not go there."""
    at = ["cabinet", "--data", str(egm.data), "state"]
    assert dispatch(at) == 0
    egm.stop(signal.SIGKILL)
    assert (egm.data / "machine.json").exists()
    capfd.readouterr()
    assert dispatch(at) == 2
    assert "was killed" in capfd.readouterr().err
    egm.start()


@pytest.mark.parametrize("url", ["nonsense", "file:///etc", "127.0.0.1:8080"])
def test_a_url_that_is_no_panels_is_refused_in_one_sentence(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["cabinet", "--url", url, "state"]) == 2
    assert capfd.readouterr().err.startswith(f"egm cabinet: {url!r} is no URL")


def test_a_world_that_cannot_be_kept_ends_the_machine_in_one_sentence(egm: EgmProcess) -> None:
    """What is physical must be saved before anybody hears of it: going on would be a promise broken."""
    (egm.data / "world.bin.new").mkdir()
    log = egm.data.parent / "stderr.txt"
    before = len(log.read_bytes())
    with pytest.raises(httpx.HTTPError):
        egm.hand("door", door="main", open=True)
        egm.get("state")
    assert egm.process.wait(timeout=10) == 2
    said = [line for line in log.read_bytes()[before:].decode().splitlines() if " INFO " not in line]
    assert said == [f"egm run: cannot write {egm.data}/world.bin: Is a directory"]
    (egm.data / "world.bin.new").rmdir()
    egm.http.close()
    assert egm.process.stdout is not None
    egm.process.stdout.close()
    egm.start()
    assert egm.get("state")["cabinet"]["doors"]["main"] is False  # nobody had heard of it


SPOILT = {
    "world as deep as a well": ("world.bin", b"[" * 100_000, "damaged"),
    "world whose notes are no counts": ("world.bin", pack({"hands": {"inserted": 5}}), "its notes"),
    "configuration as deep as a well": ("c.toml", b"x = " + b"[" * 5_000, "not TOML"),
    "number of thousands of digits": ("c.toml", b"asset = " + b"9" * 5_000, "not TOML"),
}


@pytest.mark.parametrize(("name", "content", "words"), SPOILT.values(), ids=SPOILT.keys())
def test_spoilt_files_are_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    config = ["--config", str(tmp_path / "c.toml")] if name == "c.toml" else []
    refused(["--data", str(tmp_path), "--sas", "memory:sas", *config], words, capfd)


def refused(words: list[str], expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["run", "--panel", "off", *words]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("egm run: ")
    assert said.err.count("\n") == 1, said.err
    assert expected in said.err


def test_an_endless_configuration_file_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused(["--data", str(tmp_path), "--config", "/dev/zero"], "too long", capfd)


def test_a_folder_on_a_full_disk_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "pwrite", full)
    refused(["--data", str(tmp_path)], "No space left on device", capfd)


def test_a_ready_line_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RUN, "--data", str(tmp_path), "--panel", "off", "--sas", "memory:sas"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )
    assert done.returncode == 2
    assert b"cannot write the ready line to standard output: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_memory_that_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memory.bin")
    with pytest.raises(NvramError, match="no file"):
        FileNvram(tmp_path / "memory.bin")


def test_simulated_time_stands_still_while_the_disk_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 9,999 simulated seconds a second a flush of 30 ms is minutes, and a note's escrow runs out."""

    def slow(descriptor: int) -> None:
        time.sleep(0.03)
        os.fsync(descriptor)

    monkeypatch.setitem(cast("dict[str, object]", FileNvram.__init__.__kwdefaults__), "sync", slow)
    options = RunOptions(
        machine=MachineOptions(seed=1),
        sas=(SasLineOptions("memory:sas", duties=DEFAULT_DUTIES),),
        time=TimeMode("paced", 9_999),
        panel=None,
    )
    assembly = assemble(options, tmp_path)
    runner = Runner(assembly, None, options.time)
    fates: list[Fate] = []
    world = assembly.world

    def told(fate: Fate) -> None:
        fates.append(fate)
        runner.stop()

    def put_in() -> None:
        world.hands.bill(2000, told)

    def heard(event: dict[str, object]) -> None:
        if event["event"] == "playable":
            world.plan(world.clock.now_us(), put_in)

    world.listeners.append(heard)
    try:
        power_on(assembly)
        runner.run()
    finally:
        runner.close()
        assembly.close()
    assert [fate.result for fate in fates] == ["stacked"]
