"""From the text of a par sheet to a game that may be offered, or the reasons why not."""

from __future__ import annotations

from firmware.games.cycle import disagreements
from firmware.games.law import Finding, GameLaw, measure
from firmware.games.par_parser import parse_par_sheet
from firmware.games.par_sheet import ParSheetError
from firmware.games.reel_game import ReelGame


class GameRefusedError(Exception):
    """A sound par sheet that the profile does not allow. ``findings``: what it breaks, with clauses."""

    def __init__(self, source: str, findings: tuple[Finding, ...]) -> None:
        super().__init__("; ".join(f"{source}: {finding}" for finding in findings))
        self.source = source
        self.findings = findings


def load_game(text: str, source: str, law: GameLaw) -> ReelGame:
    """Read a game, prove its declared figures and hold it against the law.

    Args:
        text: the content of a ``par.toml``.
        source: what to call it in errors.
        law: the profile it is to be offered under.

    Raises:
        ParSheetError: it cannot be read, or its declared figures are not those of the enumeration.
        GameRefusedError: the law does not allow it; names the clauses.
    """
    game = ReelGame(parse_par_sheet(text, source))
    false_figures = disagreements(game.sheet, game.cycle)
    if false_figures:
        raise ParSheetError(source, "declared", "; ".join(false_figures))
    refusals = tuple(finding for finding in measure(game.sheet, game.cycle, law) if finding.refused)
    if refusals:
        raise GameRefusedError(source, refusals)
    return game
