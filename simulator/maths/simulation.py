"""Play a game many times with the machine's own generator and scaling, from a seed.

Only for samples: the numbers repeat for the same seed, which a machine with a real device refuses
(rng_and_stats.md 2.6). Draws are asked for in batches that fill one generate request each.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import sqrt

from firmware.core.game_rules import GameRules
from firmware.games.cycle import BetFigures
from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.scaling import DRAWS_MAX, scale


@dataclass(frozen=True, slots=True)
class Sample:
    """What a run of games won. ``wins``: credits won by a game -> how many games."""

    bet_credits: int
    games: int
    wins: dict[int, int]

    @property
    def paid(self) -> int:
        """Credits won in all."""
        return sum(win * count for win, count in self.wins.items())

    @property
    def measured_return(self) -> float:
        """Share of the wagers paid back in this run."""
        return self.paid / (self.games * self.bet_credits)

    def deviations(self, figures: BetFigures) -> float:
        """How many standard deviations of the mean this run is from the exact return."""
        difference = self.measured_return - float(figures.theoretical_return)
        spread = sqrt(figures.variance / self.games)
        return difference / spread if spread else 0.0


def seeded_generator(seed: int) -> CtrDrbg:
    """A generator that gives the same bytes for the same seed, any whole number."""
    material = hashlib.sha512(f"egm simulation seed {seed}".encode()).digest()
    generator = CtrDrbg()
    generator.instantiate(material[:48], material[48:])
    return generator


def draws(seed: int, ranges: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Endless draws, one value for each range, all from one seeded generator."""
    generator = seeded_generator(seed)
    count = len(ranges)
    batch = ranges * (DRAWS_MAX // count)
    while True:
        values = scale(generator.generate, batch)
        for start in range(0, len(values), count):
            yield values[start : start + count]


def simulate(game: GameRules, bet_credits: int, games: int, seed: int) -> Sample:
    """Play ``games`` games at one bet. Raises KeyError for a bet that is not offered."""
    wins: Counter[int] = Counter()
    outcome = game.outcome
    for values in islice(draws(seed, game.ranges(bet_credits)), games):
        wins[outcome(values, bet_credits).win_credits] += 1
    return Sample(bet_credits, games, dict(sorted(wins.items())))
