"""``egm game``: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import dispatch
from tests.firmware.games.sheets import (
    SHIPPED,
    Sheet,
    declared,
    sheet_returning,
    shipped,
    shipped_text,
    text_of,
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run_words(*words: str) -> tuple[int, str, str]:
        code = dispatch(["game", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_words


@pytest.fixture
def save(tmp_path: Path) -> Any:
    def save_sheet(sheet: Sheet) -> str:
        path = tmp_path / "par.toml"
        path.write_text(text_of(sheet))
        return str(path)

    return save_sheet


def bent_declaration() -> Sheet:
    sheet = tomllib.loads(shipped_text("lantern_night"))
    sheet["declared"]["paid"][2] += 1
    return sheet


@pytest.mark.parametrize("command", ["list", "show", "par", "prove", "check", "simulate"])
def test_every_command_has_help_with_an_example(run: Any, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: egm game {command}" in " ".join(out.replace("│", " ").split())


def test_list_names_the_library(run: Any) -> None:
    code, out, _ = run("list", "--json")
    assert code == 0
    assert [game["name"] for game in json.loads(out)["games"]] == SHIPPED
    assert "lantern_night" in run("list")[1]


def test_show_prints_the_pay_glass(run: Any) -> None:
    code, out, _ = run("show", "lantern_night")
    assert code == 0
    (row,) = (line for line in out.splitlines() if line.startswith("Three lanterns"))
    assert row.split()[-3:] == ["1000", "2000", "5000"]
    document = json.loads(run("show", "lantern_night", "--json")[1])
    assert document["combinations"][0]["pays"] == [1000, 2000, 5000]


def test_par_gives_exact_figures_that_add_up(run: Any) -> None:
    report = json.loads(run("par", "lantern_night", "--json")[1])
    game = shipped("lantern_night")
    assert report["cycle"] == 64**3
    assert report["base_percent"] == "9521"
    for bet, figures in zip(report["bets"], game.cycle.bets, strict=True):
        assert Fraction(bet["return"]) == figures.theoretical_return
        assert sum(Fraction(award["return"]) for award in bet["awards"]) == Fraction(bet["return"])
        assert sum(bet["wins"].values()) == report["cycle"]
        assert float(bet["return_percent"]) + float(bet["hold_percent"]) == pytest.approx(100, abs=2e-6)
        assert bet["volatility_index"] == pytest.approx(1.645 * float(figures.variance) ** 0.5, rel=1e-3)
        bounds = bet["confidence_90"]
        assert [row["plays"] for row in bounds] == [10**power for power in range(3, 8)]
        widths = [row["high_percent"] - row["low_percent"] for row in bounds]
        assert widths[0] / widths[2] == pytest.approx(10, rel=1e-3)
    for row in report["symbols"]:
        assert len(row["virtual"]) == 3
    assert [sum(row["virtual"][reel] for row in report["symbols"]) for reel in range(3)] == [64, 64, 64]
    assert [sum(row["physical"][reel] for row in report["symbols"]) for reel in range(3)] == [22, 22, 22]


def test_par_prints_a_sheet(run: Any) -> None:
    code, out, _ = run("par", "lantern_night")
    assert code == 0
    assert "BET 3: return 95.213190 % = 748,787 / 786,432, hold 4.786809 %" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_prove_says_yes_for_what_is_shipped(run: Any) -> None:
    code, out, _ = run("prove", "--all")
    assert code == 0
    assert all(f"{name}: as declared" in out for name in SHIPPED)
    assert json.loads(run("prove", "lantern_night", "--json")[1])["proved"] is True


def test_prove_says_no_where_a_declared_figure_is_false(run: Any, save: Any) -> None:
    path = save(bent_declaration())
    code, out, _ = run("prove", path)
    assert code == 1
    assert "declared.paid at a bet of 3: declared 748,788, counted 748,787" in out
    code, out, _ = run("prove", path, "--json")
    assert (code, json.loads(out)["proved"]) == (1, False)


@pytest.mark.parametrize("profile", ["nj", "pa", "md"])
def test_check_allows_what_is_shipped(run: Any, profile: str) -> None:
    code, out, _ = run("check", "--profile", profile)
    assert code == 0
    assert f"lantern_night: allowed under {profile}" in out


def test_check_refuses_naming_the_clause(run: Any, save: Any) -> None:
    path = save(declared(sheet_returning("84.00")))
    code, out, _ = run("check", path, "--profile", "pa")
    assert code == 1
    assert "test: refused: PA-7-a-min: minimum return: 84.0000 %" in out
    code, out, _ = run("check", path, "--profile", "pa", "--json")
    (result,) = json.loads(out)["games"]
    assert (code, result["refused"], result["findings"][0]["clauses"]) == (1, True, ["PA-7-a-min"])
    assert run("check", path, "--profile", "nj")[0] == 0


def test_check_refuses_false_figures_too(run: Any, save: Any) -> None:
    code, out, _ = run("check", save(bent_declaration()))
    assert code == 1
    assert "declared 748,788" in out


def test_check_takes_a_profile_by_path(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "strict.toml"
    path.write_text(
        'name = "strict"\ntitle = "Strict"\nincludes = "nj"\nincluded_clauses = "kept"\n'
        '[odds_max]\nvalue = 1_000\nunit = "to one"\nclauses = "no clause"\n'
    )
    code, out, _ = run("check", "lantern_night", "--profile", str(path))
    assert code == 1
    assert "no clause: odds: three_lanterns at a bet of 1 is 65,535 to 1, longer than 1,000 to 1" in out


def test_simulate_repeats_for_the_same_seed(run: Any) -> None:
    words = ("simulate", "lantern_night", "--games", "5000", "--bet", "1", "--json")
    code, first, _ = run(*words, "--seed", "5")
    assert code == 0
    assert run(*words, "--seed", "5")[1] == first
    assert run(*words, "--seed", "6")[1] != first
    document = json.loads(first)
    assert sum(document["wins"].values()) == 5000
    assert document["paid"] == sum(int(win) * count for win, count in document["wins"].items())


def test_a_game_may_be_a_path_of_a_file_or_folder(run: Any, save: Any) -> None:
    path = save(declared(sheet_returning("90.00")))
    assert run("prove", path)[0] == 0
    assert run("prove", str(Path(path).parent))[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("prove", "nowhere"), "no game 'nowhere'; there are lantern_night"),
        (("prove",), "name a game (lantern_night"),
        (("check", "--profile", "xx"), "no profile 'xx'; there are md, nj, pa"),
        (("simulate", "lantern_night", "--bet", "9"), "lantern_night has no bet of 9; there are 1, 2, 3"),
    ],
)
def test_wrong_usage_is_one_sentence_and_2(run: Any, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"egm game: {sentence}")
    assert err.count("\n") == 1


def test_an_unsound_par_sheet_is_one_sentence_and_2(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "par.toml"
    path.write_text("format = 2\n")
    code, out, err = run("show", str(path))
    assert (code, out) == (2, "")
    assert err == f"egm game: {path}: format: is 2; a whole number from 1 to 1 is allowed\n"
    path.write_bytes(b"\xff")
    assert run("show", str(path))[0] == 2
