"""``egm``: help, unknown commands, one broken command among sound ones, and the words of ``egm cabinet``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.cli import COMMANDS, Command, dispatch
from simulator.cli.cabinet import cents_of, main, seconds_of


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in COMMANDS)
    assert "example: egm run" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    try:
        code = dispatch([name, "--help"])
    except SystemExit as leaving:  # argparse leaves by itself
        code = int(leaving.code or 0)
    assert code == 0
    said = capsys.readouterr().out
    assert "xample" in said or "--help" in said
    assert f"egm {name}" in said


def test_an_unknown_command_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["fly"]) == 2
    said = capsys.readouterr()
    assert "no such command as 'fly'" in said.err
    assert "cabinet" in said.err
    assert said.out == ""


def test_a_broken_command_breaks_no_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMANDS, "broken", Command("simulator.cli.no_such_module", "does not load"))
    assert dispatch(["broken"]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
    assert dispatch(["--help"]) == 0


def test_the_machine_is_started_without_the_tools_and_the_panels_packages() -> None:
    script = (
        "import sys\n"
        "from simulator.cli import run\n"
        "import simulator.run_machine, simulator.panel.process\n"
        "print([m for m in ('typer', 'rich', 'click', 'httpx', 'starlette', 'uvicorn', 'numpy', 'asyncio')"
        " if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m simulator.cli --help | head -c 1", shell=True, capture_output=True, check=False
    )
    assert done.stderr == b""


def test_amounts_and_times_as_people_write_them() -> None:
    assert [cents_of(text) for text in ("20", "$20", "0.50", "100.00")] == [2000, 2000, 50, 10_000]
    assert [seconds_of(text) for text in ("5", "5s", "500ms", "2m", "1.5s")] == [5, 5, 0.5, 120, 1.5]
    for text in ("", "20.5", "-5", "1e3", "20 $"):
        with pytest.raises(ValueError, match="amount"):
            cents_of(text)
    for text in ("", "5 s", "1h", "-1s", "nan"):
        with pytest.raises(ValueError, match="time"):
            seconds_of(text)


WRONG = [
    (["bill"], "Missing argument"),
    (["bill", "lots"], "amount in dollars"),
    (["door", "main", "ajar"], "neither open nor closed"),
    (["key", "reset", "maybe"], "neither on nor off"),
    (["wait", "playable", "--timeout", "soon"], "not a time"),
    (["juggle"], "No such command"),
    (["state", "--data", "/no/such/folder"], "no machine runs on /no/such/folder"),
    (["state", "--url", "http://127.0.0.1:9/"], "no machine answers at http://127.0.0.1:9/"),
]


@pytest.mark.parametrize(("words", "sentence"), WRONG, ids=lambda value: " ".join(value)[:24])
def test_wrong_words_at_the_cabinet_end_with_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "machine.json").write_text('{"panel": "http://127.0.0.1:9/"}')
    if "--data" not in words and "--url" not in words:
        words = [*words, "--data", str(tmp_path)]
    assert main(words) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""
