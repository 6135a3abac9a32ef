"""What the core sees of a game: which numbers to draw, what they show, what they pay.

The core asks; ``firmware.games`` answers from a par sheet. Everything here is pure: the same values at the
same bet give the same outcome for ever, so a recorded draw can be shown and paid again after a power cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LineWin:
    """What one played line won.

    ``line``: 1-based number of the line. ``combination``: its key in the par sheet. ``multiplier``: what
    wild symbols made of the combination's own pay, 1 without. ``positions``: ``(reel, row)`` of the symbols
    that won, both from 0, from the left reel to the right. ``credits``: the pay, multiplier included.
    """

    line: int
    combination: str
    multiplier: int
    positions: tuple[tuple[int, int], ...]
    credits: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One game's result. ``stops``: each reel's physical stop, from 0. ``win_credits``: sum of ``wins``."""

    stops: tuple[int, ...]
    wins: tuple[LineWin, ...]
    win_credits: int


class GameRules(Protocol):
    """One game as the machine offers it. Bets, wins and awards are credits of the player's denomination."""

    @property
    def number(self) -> int:
        """SAS game number, 1..9999."""

    @property
    def name(self) -> str:
        """Key of the game: the name of its directory."""

    @property
    def title(self) -> str:
        """What the player reads; at most 20 characters, which is all SAS B5 carries."""

    @property
    def paytable_id(self) -> str:
        """Six ASCII characters that name this par sheet variant (SAS 1F, 53)."""

    @property
    def base_percent(self) -> str:
        """Theoretical return at the largest bet: four digits, ``9512`` is 95.12 %, cut and not rounded up."""

    @property
    def denominations(self) -> tuple[int, ...]:
        """Player denominations the game may be offered at, cents, rising."""

    @property
    def bets(self) -> tuple[int, ...]:
        """Whole wagers a player may choose, credits a game, rising; ``bet_one`` steps through them."""

    @property
    def max_bet_credits(self) -> int:
        """The last of ``bets``."""

    @property
    def reel_count(self) -> int:
        """How many reels are shown; the length of ``Outcome.stops``."""

    @property
    def spin_time_us(self) -> int:
        """How long the reels turn, the same for every outcome (NJ 13:69E-1.28A(l)5)."""

    def lines_played(self, bet_credits: int) -> int:
        """How many lines a bet plays: lines 1 to this number."""

    def top_award_credits(self, bet_credits: int) -> int:
        """The largest pay of a single combination at this bet."""

    def ranges(self, bet_credits: int) -> tuple[int, ...]:
        """What to draw for one game: value ``i`` is uniform on 0..``ranges[i]`` - 1."""

    def outcome(self, values: tuple[int, ...], bet_credits: int) -> Outcome:
        """Turn drawn values, one for each range, into what is shown and paid.

        Raises KeyError for a bet that is not one of ``bets``, IndexError for a value outside its range.
        """

    def window(self, stops: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
        """Symbol keys as displayed: one tuple a row, top to bottom, each from the left reel to the right."""
