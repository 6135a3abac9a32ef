"""``egm game``: look at games, prove their par sheets, hold them against a profile, play samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import firmware.games
import firmware.profiles
from firmware.games.cycle import disagreements
from firmware.games.law import measure
from firmware.games.par_parser import parse_par_sheet
from firmware.games.par_sheet import ParSheetError
from firmware.games.reel_game import ReelGame
from firmware.profiles.profile import Profile, ProfileError, parse_profile
from simulator.maths.par_report import decimal, par_report, places, render
from simulator.maths.simulation import simulate

app = typer.Typer(
    help="Games: what there is, their exact mathematics, what the law says of them.", no_args_is_help=True
)

LIBRARY = Path(firmware.games.__file__).parent / "library"
PROFILES = Path(firmware.profiles.__file__).parent

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
GameName = Annotated[str, typer.Argument(metavar="GAME", help="Name of a game or path of a par.toml.")]
Games = Annotated[
    list[str] | None, typer.Argument(metavar="GAME", help="Names of games or paths of par.toml files.")
]
Every = Annotated[bool, typer.Option("--all", help="Every game of the library.")]


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the games of the library.

    Example: egm game list
    """
    games = [_game(name) for name in library_names()]
    if as_json:
        _print_json({"games": [_summary(game) for game in games]})
        return
    typer.echo(f"{'game':20}{'title':22}{'number':>7}{'paytable':>10}{'bets':>12}{'return %':>22}")
    for game in games:
        bets = _span([str(bet) for bet in game.bets])
        returns = _span(sorted({decimal(bet.theoretical_return, 3) for bet in game.cycle.bets}))
        typer.echo(
            f"{game.name:20}{game.title:22}{game.number:>7}{game.paytable_id:>10}{bets:>12}{returns:>22}"
        )


@app.command("show")
def show_command(name: GameName, as_json: AsJson = False) -> None:
    """Show what a player sees: bets, lines, the pay glass, the strips.

    Example: egm game show lantern_night
    """
    game = _game(name)
    if as_json:
        _print_json({**_summary(game), "combinations": _pay_glass(game)})
        return
    typer.echo(f"{game.title} ({game.name})")
    typer.echo(f"Denominations  {', '.join(str(cents) for cents in game.denominations)} cents")
    typer.echo(f"Lines          {len(game.sheet.lines)}\n")
    typer.echo(f"{'':30}{'':38}" + "".join(f"{'bet ' + str(bet):>9}" for bet in game.bets))
    for row in _pay_glass(game):
        typer.echo(f"{row['title']:30}{row['symbols']:38}" + "".join(f"{pay:>9}" for pay in row["pays"]))
    wild = game.sheet.wild
    if wild is not None:
        typer.echo(f"\nWild: {wild.symbol}, each one multiplies by {wild.multiplier}")
    typer.echo("\nStrips (virtual stops):")
    for index, reel in enumerate(game.sheet.reels, start=1):
        typer.echo(f"  {index}: " + " ".join(f"{stop.symbol}({stop.weight})" for stop in reel.stops))


@app.command("par")
def par_command(name: GameName, as_json: AsJson = False) -> None:
    """Print the par sheet: cycle, hits and pays of each combination, return, volatility, confidence bounds.

    Example: egm game par lantern_night --json
    """
    report = par_report(_game(name))
    if as_json:
        _print_json(report)
    else:
        typer.echo(render(report))


@app.command("prove")
def prove_command(names: Games = None, every: Every = False, as_json: AsJson = False) -> None:
    """Enumerate the whole cycle and compare it with what the par sheet declares.

    Exit code 1 if a declared figure is not the counted one.

    Example: egm game prove --all
    """
    results = []
    for name in _chosen(names, every):
        game = _game(name)
        results.append({**_summary(game), "disagreements": list(disagreements(game.sheet, game.cycle))})
    proved = not any(result["disagreements"] for result in results)
    if as_json:
        _print_json({"proved": proved, "games": results})
    else:
        for result in results:
            _print_proof(result)
    raise typer.Exit(0 if proved else 1)


@app.command("check")
def check_command(
    names: Games = None,
    profile: Annotated[str, typer.Option(help="Name or path of a profile.")] = "nj",
    every: Every = False,
    as_json: AsJson = False,
) -> None:
    """Hold games against a jurisdiction's profile; without a name, every game of the library.

    Exit code 1 if the profile refuses one; each refusal names its clause.

    Example: egm game check lantern_night --profile nj
    """
    law = _profile(profile)
    results = []
    for name in _chosen(names, every or not names):
        game = _game(name)
        false_figures = disagreements(game.sheet, game.cycle)
        findings = measure(game.sheet, game.cycle, law)
        results.append(
            {
                "name": game.name,
                "refused": bool(false_figures) or any(finding.refused for finding in findings),
                "disagreements": list(false_figures),
                "findings": [
                    {"clauses": list(one.clauses), "message": one.message, "refused": one.refused}
                    for one in findings
                ],
            }
        )
    refused = any(result["refused"] for result in results)
    if as_json:
        _print_json({"profile": law.name, "allowed": not refused, "games": results})
    else:
        for result in results:
            _print_check(result, law)
    raise typer.Exit(1 if refused else 0)


@app.command("simulate")
def simulate_command(
    name: GameName,
    games: Annotated[int, typer.Option(min=1, help="How many games to play.")] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed plays the same games.")] = 1,
    bet: Annotated[int | None, typer.Option(help="Credits a game; without it the largest bet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play a sample with the machine's generator and compare it with the exact return.

    Exit code 1 if the sample is more than four standard deviations away from it.

    Example: egm game simulate lantern_night --games 1000000 --seed 7
    """
    game = _game(name)
    credits_bet = game.max_bet_credits if bet is None else bet
    if credits_bet not in game.bets:
        _refuse(f"{game.name} has no bet of {credits_bet}; there are {', '.join(map(str, game.bets))}")
    sample = simulate(game, credits_bet, games, seed)
    figures = game.cycle.bets[game.bets.index(credits_bet)]
    deviations = sample.deviations(figures)
    if as_json:
        _print_json(
            {
                "name": game.name,
                "bet": credits_bet,
                "games": games,
                "seed": seed,
                "paid": sample.paid,
                "measured_return_percent": round(100 * sample.measured_return, 6),
                "exact_return": str(figures.theoretical_return),
                "exact_return_percent": decimal(figures.theoretical_return),
                "deviations": round(deviations, 4),
                "wins": {str(win): count for win, count in sample.wins.items()},
            }
        )
    else:
        typer.echo(f"{game.title}: {games:,} games at a bet of {credits_bet}, seed {seed}")
        typer.echo(f"  paid {sample.paid:,} of {games * credits_bet:,} credits")
        typer.echo(
            f"  measured {100 * sample.measured_return:.4f} %, "
            f"exact {decimal(figures.theoretical_return)} %: {deviations:+.2f} standard deviations"
        )
    raise typer.Exit(1 if abs(deviations) > 4 else 0)


def library_names() -> list[str]:
    """Names of the games that come with the machine."""
    return sorted(path.parent.name for path in LIBRARY.glob("*/par.toml"))


def _chosen(names: list[str] | None, every: bool) -> list[str]:
    if every:
        return [*library_names(), *(names or [])]
    if not names:
        _refuse(f"name a game ({', '.join(library_names())}), a path of a par.toml, or --all")
    return names


def _game(name: str) -> ReelGame:
    """A game by name or path; anything wrong with it ends the command with exit code 2."""
    path = LIBRARY / name / "par.toml"
    if not path.is_file():
        path = Path(name)
    if path.is_dir():
        path = path / "par.toml"
    if not path.is_file():
        _refuse(f"no game {name!r}; there are {', '.join(library_names())}, or give a path of a par.toml")
    try:
        return ReelGame(parse_par_sheet(_text(path), str(path)))
    except ParSheetError as error:
        _refuse(str(error))


def _profile(name: str) -> Profile:
    """A profile by name or path; anything wrong with it ends the command with exit code 2."""
    path = Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(one.stem for one in PROFILES.glob("*.toml")))
        _refuse(f"no profile {name!r}; there are {known}, or give a path of a .toml")
    try:
        return parse_profile(_text(path), str(path), lambda other: _text(PROFILES / f"{other}.toml"))
    except ProfileError as error:
        _refuse(str(error))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _refuse(f"cannot read {path}: {error}")


def _summary(game: ReelGame) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "number": game.number,
        "paytable_id": game.paytable_id,
        "base_percent": game.base_percent,
        "denominations": list(game.denominations),
        "cycle": game.cycle.size,
        "bets": [
            {
                "credits": bet.credits,
                "lines": game.lines_played(bet.credits),
                "paid": bet.paid,
                "winning": bet.winning,
                "return": str(bet.theoretical_return),
                "return_percent": decimal(bet.theoretical_return),
                "top_award": game.top_award_credits(bet.credits),
            }
            for bet in game.cycle.bets
        ],
    }


def _pay_glass(game: ReelGame) -> list[dict[str, Any]]:
    return [
        {
            "combination": combination.key,
            "title": combination.title,
            "symbols": places(combination),
            "wild": combination.wild.value,
            "pays": list(combination.pays),
        }
        for combination in game.sheet.combinations
    ]


def _print_proof(result: dict[str, Any]) -> None:
    for bet in result["bets"]:
        typer.echo(
            f"{result['name']}: bet {bet['credits']}: {bet['paid']:,} paid in {result['cycle']:,} games, "
            f"return {bet['return_percent']} %"
        )
    for line in result["disagreements"]:
        typer.echo(f"{result['name']}: {line}")
    typer.echo(f"{result['name']}: {'NOT AS DECLARED' if result['disagreements'] else 'as declared'}")


def _print_check(result: dict[str, Any], law: Profile) -> None:
    for line in result["disagreements"]:
        typer.echo(f"{result['name']}: {line}")
    for finding in result["findings"]:
        word = "refused" if finding["refused"] else "note"
        clauses = ", ".join(finding["clauses"]) or "no clause"
        typer.echo(f"{result['name']}: {word}: {clauses}: {finding['message']}")
    typer.echo(f"{result['name']}: {'refused' if result['refused'] else 'allowed'} under {law.name}")


def _span(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, indent=1))


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"egm game: {sentence}", err=True)
    raise typer.Exit(2)
