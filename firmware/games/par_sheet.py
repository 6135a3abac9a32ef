"""The par sheet: one game as plain data, exactly as its ``par.toml`` says it.

Nothing is computed here. ``par_parser`` builds it from text, ``cycle`` enumerates it, ``reel_game`` plays it,
``law`` measures it against a profile. All pays and bets are credits; row 0 is the top row of the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

ANY_SYMBOL = "any"
"""Stands in a combination for whatever symbol is there."""


class ParSheetError(Exception):
    """A par sheet cannot be used: says file, key, what stands there and what is allowed."""

    def __init__(self, source: str, key: str, problem: str) -> None:
        super().__init__(f"{source}: {key}: {problem}")
        self.source = source
        self.key = key
        self.problem = problem


class WildUse(Enum):
    """What a wild symbol on the line does for a combination."""

    SUBSTITUTES = "substitutes"  # stands for any symbol the combination asks for, and multiplies its pay
    MULTIPLIES = "multiplies"  # stands for nothing, but multiplies the pay
    NONE = "none"  # counts as itself


@dataclass(frozen=True, slots=True)
class Symbol:
    """One picture on the reels. ``text``: one to four characters for a plain display."""

    key: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """One physical stop. ``weight``: how many of the reel's virtual stops are mapped to it, at least 1."""

    symbol: str
    weight: int


@dataclass(frozen=True, slots=True)
class Reel:
    """A strip from top to bottom; after the last stop comes the first again."""

    stops: tuple[Stop, ...]

    @property
    def total_weight(self) -> int:
        """Number of virtual stops: the range of this reel's draw."""
        return sum(stop.weight for stop in self.stops)


@dataclass(frozen=True, slots=True)
class Window:
    """What is seen of the reels: ``rows`` symbols of each; the drawn stop stands in row ``stop_row``."""

    rows: int
    stop_row: int


@dataclass(frozen=True, slots=True)
class Wild:
    """The wild symbol; each one that helps a win multiplies it by ``multiplier`` (1: only substitutes)."""

    symbol: str
    multiplier: int


@dataclass(frozen=True, slots=True)
class Bet:
    """One wager a player may choose: whole game's credits, and how many lines (the first ones) it plays."""

    credits: int
    lines: int


@dataclass(frozen=True, slots=True)
class Combination:
    """One row of the pay glass.

    ``symbols``: for each reel from the left a symbol, a group or ``any``; with ``in_any_order`` they may
    stand on any reels. ``pays``: credits on one line for each bet, in the order of the bet table, before
    wild symbols multiply.
    """

    key: str
    title: str
    symbols: tuple[str, ...]
    in_any_order: bool
    wild: WildUse
    pays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """What the maker states; ``prove`` compares it with the enumeration.

    ``cycle``: number of equally likely combinations. ``winning``: how many of them pay, for each bet.
    ``paid``: credits paid over one whole cycle, for each bet.
    """

    cycle: int
    winning: tuple[int, ...]
    paid: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ParSheet:
    """A whole game of reels and lines.

    ``lines``: for each line the row it crosses on each reel. ``groups``: name -> symbols a combination may
    ask for under one name. ``denominations``: cents. ``bets``: rising by credits.
    """

    source: str
    name: str
    title: str
    number: int
    paytable_id: str
    denominations: tuple[int, ...]
    spin_time_us: int
    symbols: tuple[Symbol, ...]
    groups: dict[str, frozenset[str]]
    reels: tuple[Reel, ...]
    window: Window
    lines: tuple[tuple[int, ...], ...]
    wild: Wild | None
    bets: tuple[Bet, ...]
    combinations: tuple[Combination, ...]
    declared: Declared

    @property
    def cycle(self) -> int:
        """Number of equally likely combinations of virtual stops."""
        product = 1
        for reel in self.reels:
            product *= reel.total_weight
        return product
