"""``egm rng`` as a user meets it: what it prints, its exit codes, and its one-sentence refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from firmware.rng.generator import Generator, Personalization
from hal.backends.seeded_entropy import SeededEntropy
from simulator.cli import rng
from simulator.cli.rng import app

VECTORS = Path(__file__).parents[2] / "vectors" / "drbg.toml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def seeded(seed: str) -> Generator:
    return Generator(SeededEntropy(seed), Personalization("egm rng", 0), now_us=0)


def test_draws_are_those_of_the_production_call() -> None:
    result = run("sample", "--ranges", "32,22,10000", "--count", "50", "--seed", "7")
    assert result.exit_code == 0
    generator = seeded("7")
    wanted = [generator.draw((32, 22, 10_000)) for _ in range(50)]
    assert [tuple(map(int, line.split())) for line in result.stdout.splitlines()] == wanted


def test_json_draws_say_the_same_and_more() -> None:
    text = run("sample", "--ranges", "32,22", "--count", "5", "--seed", "7")
    document = json.loads(run("sample", "--ranges", "32,22", "--count", "5", "--seed", "7", "--json").stdout)
    assert document["ranges"] == [32, 22]
    assert document["seed"] == "7"
    assert [" ".join(map(str, row)) for row in document["draws"]] == text.stdout.splitlines()


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 200_000])
def test_raw_bytes_are_binary_and_exact(size: int, tmp_path: Path) -> None:
    file = tmp_path / "sample.bin"
    piped = run("sample", "--raw", str(size), "--seed", "1")
    assert run("sample", "--raw", str(size), "--seed", "1", "--output", str(file)).exit_code == 0
    assert file.read_bytes() == piped.stdout_bytes
    assert len(piped.stdout_bytes) == size
    assert piped.stderr == ""
    document = json.loads(run("sample", "--raw", str(size), "--seed", "1", "--json").stdout)
    assert bytes.fromhex(document["hex"]) == piped.stdout_bytes
    assert piped.stdout_bytes[:100] == seeded("1").raw(65_536)[:size][:100]


def test_without_a_seed_no_two_samples_agree() -> None:
    assert run("sample", "--raw", "32").stdout_bytes != run("sample", "--raw", "32").stdout_bytes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sample",), "either --ranges"),
        (("sample", "--raw", "5", "--ranges", "3"), "either --ranges"),
        (("sample", "--raw", "0"), "1 byte or more"),
        (("sample", "--ranges", "3", "--count", "0"), "1 or more"),
        (("sample", "--ranges", "3,x"), "whole numbers"),
        (("sample", "--ranges", "3,0"), "1..2^64"),
        (("sample", "--ranges", "18446744073709551617"), "1..2^64"),
        (("sample", "--ranges", ",".join(["2"] * 8_001)), "at most 8000"),
        (("sample", "--raw", "5", "--output", "/no/such/folder/file"), "No such file"),
        (("vectors", "--file", "/no/such/file"), "No such file"),
        (("test", "--count", "5"), "10,000"),
        (("test", "--ranges", "1"), "2..1,000"),
        (("test", "--level", "100"), "confidence"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_dead_noise_source_is_exit_1_and_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck:
        def read(self, size: int) -> bytes:
            return bytes(size)

    monkeypatch.setattr(rng, "SystemEntropy", Stuck)
    result = run("sample", "--raw", "32")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "repetition count" in result.stderr


def test_the_cases_in_the_program_pass() -> None:
    result = run("vectors")
    assert result.exit_code == 0
    assert result.stdout.endswith("24 passed, 0 failed\n")


def test_all_cases_of_a_file_pass() -> None:
    document = json.loads(run("vectors", "--file", str(VECTORS), "--json").stdout)
    assert (document["passed"], document["failed"], document["failures"]) == (288, 0, [])
    assert len(document["groups"]) == 6


def test_a_wrong_answer_in_a_file_is_exit_1_and_named(tmp_path: Path) -> None:
    first, second = VECTORS.read_text().split("[[case]]")[1:3]
    file = tmp_path / "wrong.toml"
    file.write_text(
        "[[case]]" + first + "[[case]]" + second.replace('returned_bits = "', 'returned_bits = "00')
    )
    result = run("vectors", "--file", str(file))
    assert result.exit_code == 1
    assert "FAILED: CTR_DRBG AES-256 use df, no_reseed, count 1" in result.stdout
    assert result.stdout.endswith("1 passed, 1 failed\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "not toml", "not TOML"),
        (lambda text: "x = 1", "no [[case]]"),
        (lambda text: text.replace('flow = "no_reseed"', 'flow = "sideways"'), "case 1"),
        (lambda text: text.replace("nonce = ", "nonsense = "), "case 1"),
        (lambda text: text.replace("CTR_DRBG AES-256 use df", "Dual_EC_DRBG"), "known are CTR_DRBG"),
        (lambda text: text.replace('nonce = "', 'nonce = "xyz'), "case 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_exit_2(tmp_path: Path, change: Any, words: str) -> None:
    file = tmp_path / "cases.toml"
    file.write_text(change("[[case]]" + VECTORS.read_text().split("[[case]]")[1]))
    result = run("vectors", "--file", str(file))
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_case_that_breaks_a_limit_fails_and_does_not_crash(tmp_path: Path) -> None:
    text = "[[case]]" + VECTORS.read_text().split("[[case]]")[1]
    file = tmp_path / "short.toml"
    file.write_text(text.replace('entropy_input = "3640', 'entropy_input = "40'))
    assert run("vectors", "--file", str(file)).exit_code == 1


def test_outcome_tests_pass_on_the_generator() -> None:
    result = run("test", "--ranges", "22,32", "--count", "20000", "--seed", "1", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["passed"]
    assert {"reel_1_frequency", "reel_2_gap", "reels_1_2_interplay"} <= document["p"].keys()


def test_outcome_tests_fail_on_a_bad_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Generator.draw
    monkeypatch.setattr(Generator, "draw", lambda self, sizes: tuple(v & ~1 for v in honest(self, sizes)))
    result = run("test", "--ranges", "22", "--count", "10000", "--seed", "1")
    assert result.exit_code == 1
    assert "reel_1_frequency" in result.stdout
    assert "UNLIKELY" in result.stdout


@pytest.mark.parametrize("command", ["sample", "vectors", "test"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: egm rng {command}" in result.stdout


def test_fast_outcome_tests_pass_and_repeat_by_seed() -> None:
    arguments = ("test", "--ranges", "22,38", "--count", "300000", "--fast", "--json", "--seed")
    first, again, other = (json.loads(run(*arguments, seed).stdout) for seed in ("1", "1", "2"))
    assert first["passed"]
    assert first == again
    assert first["p"] != other["p"]
