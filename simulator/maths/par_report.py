"""The par sheet as a laboratory reads it, made from the same data that is played.

Exact figures stand as fractions ``n/d``; beside each is a decimal for reading, cut at the last digit shown.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import Any

from firmware.games.cycle import BetFigures
from firmware.games.par_sheet import ANY_SYMBOL, Combination, ParSheet
from firmware.games.reel_game import ReelGame

Z_90 = 1.6448536269514722
"""Two-sided 90 % of the normal distribution: the customary z of a volatility index."""

PLAYS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def decimal(share: Fraction, places: int = 6) -> str:
    """``share`` as a percentage with ``places`` decimals, cut and not rounded."""
    scaled = share * 100 * 10**places
    whole, part = divmod(abs(scaled.numerator) // scaled.denominator, 10**places)
    return f"{'-' if share < 0 else ''}{whole}.{part:0{places}d}"


def par_report(game: ReelGame) -> dict[str, Any]:
    """Everything the par sheet states or the enumeration gives, as JSON-ready data."""
    sheet = game.sheet
    return {
        "name": sheet.name,
        "title": sheet.title,
        "number": sheet.number,
        "paytable_id": sheet.paytable_id,
        "base_percent": game.base_percent,
        "denominations": list(sheet.denominations),
        "spin_time_us": sheet.spin_time_us,
        "cycle": game.cycle.size,
        "reels": [
            {
                "physical_stops": len(reel.stops),
                "virtual_stops": reel.total_weight,
                "strip": [[stop.symbol, stop.weight] for stop in reel.stops],
            }
            for reel in sheet.reels
        ],
        "symbols": symbol_counts(sheet),
        "lines": [list(line) for line in sheet.lines],
        "bets": [_bet(bet, sheet) for bet in game.cycle.bets],
    }


def symbol_counts(sheet: ParSheet) -> list[dict[str, Any]]:
    """For each symbol and reel: on how many physical stops it is shown, by how many virtual stops drawn."""
    physical = [Counter(stop.symbol for stop in reel.stops) for reel in sheet.reels]
    virtual: list[Counter[str]] = []
    for reel in sheet.reels:
        weights: Counter[str] = Counter()
        for stop in reel.stops:
            weights[stop.symbol] += stop.weight
        virtual.append(weights)
    return [
        {
            "symbol": symbol.key,
            "physical": [counts[symbol.key] for counts in physical],
            "virtual": [counts[symbol.key] for counts in virtual],
        }
        for symbol in sheet.symbols
    ]


def _bet(bet: BetFigures, sheet: ParSheet) -> dict[str, Any]:
    deviation = sqrt(bet.variance)
    total = bet.cycle * bet.credits
    titles = {combination.key: combination for combination in sheet.combinations}
    return {
        "credits": bet.credits,
        "wagered": total,
        "paid": bet.paid,
        "return": str(bet.theoretical_return),
        "return_percent": decimal(bet.theoretical_return),
        "hold_percent": decimal(1 - bet.theoretical_return),
        "winning": bet.winning,
        "hit_frequency": str(bet.hit_frequency),
        "hit_frequency_percent": decimal(bet.hit_frequency),
        "variance": str(bet.variance),
        "standard_deviation": round(deviation, 6),
        "volatility_index": round(Z_90 * deviation, 6),
        "confidence_90": [
            {
                "plays": plays,
                "low_percent": round(100 * (float(bet.theoretical_return) - _margin(deviation, plays)), 4),
                "high_percent": round(100 * (float(bet.theoretical_return) + _margin(deviation, plays)), 4),
            }
            for plays in PLAYS
        ],
        "wins": {str(win): count for win, count in bet.wins.items()},
        "awards": [
            {
                "combination": key,
                "title": titles[key].title,
                "symbols": places(titles[key]),
                "multiplier": multiplier,
                "credits": award.credits,
                "hits": award.hits,
                "paid": award.paid,
                "odds_to_one": str(bet.odds((key, multiplier))),
                "return": str(Fraction(award.paid, total)),
                "return_percent": decimal(Fraction(award.paid, total)),
            }
            for (key, multiplier), award in bet.awards.items()
        ],
    }


def _margin(deviation: float, plays: int) -> float:
    return Z_90 * deviation / sqrt(plays)


def places(combination: Combination) -> str:
    """The symbols of a combination in one line of text."""
    words = " ".join("*" if place == ANY_SYMBOL else place for place in combination.symbols)
    return f"{words} (any order)" if combination.in_any_order else words


def render(report: dict[str, Any]) -> str:
    """The report as plain text of at most 100 columns."""
    lines = [
        f"PAR SHEET  {report['title']}  ({report['name']}, game {report['number']:04d}, "
        f"paytable {report['paytable_id']})",
        f"Denominations  {', '.join(str(cents) for cents in report['denominations'])} cents",
        f"Cycle          {report['cycle']:,}",
        f"Base percent   {report['base_percent']} (at the largest bet)",
        "",
        *_reel_lines(report),
    ]
    for bet in report["bets"]:
        lines += ["", *_bet_lines(bet)]
    return "\n".join(lines)


def _reel_lines(report: dict[str, Any]) -> list[str]:
    count = len(report["reels"])
    head = "".join(f"{'reel ' + str(index + 1):>14}" for index in range(count))
    lines = [f"{'stops: virtual (physical)':26}{head}"]
    for row in report["symbols"]:
        cells = (
            f"{virtual} ({physical})"
            for virtual, physical in zip(row["virtual"], row["physical"], strict=True)
        )
        lines.append(f"{row['symbol']:26}" + "".join(f"{cell:>14}" for cell in cells))
    totals = (f"{reel['virtual_stops']} ({reel['physical_stops']})" for reel in report["reels"])
    return [*lines, f"{'total':26}" + "".join(f"{total:>14}" for total in totals)]


def _bet_lines(bet: dict[str, Any]) -> list[str]:
    lines = [
        f"BET {bet['credits']}: return {bet['return_percent']} % = {bet['paid']:,} / {bet['wagered']:,}, "
        f"hold {bet['hold_percent']} %",
        f"  hit frequency {bet['hit_frequency_percent']} % ({bet['winning']:,} winning)",
        f"  standard deviation {bet['standard_deviation']:.4f}, "
        f"volatility index {bet['volatility_index']:.4f} (90 %)",
        f"  {'combination':32}{'x':>4}{'pays':>8}{'hits':>10}{'odds to 1':>14}{'return %':>12}",
    ]
    lines += [
        f"  {award['title'][:31]:32}{award['multiplier']:>4}{award['credits']:>8}{award['hits']:>10,}"
        f"{float(Fraction(award['odds_to_one'])):>14,.2f}{award['return_percent']:>12}"
        for award in bet["awards"]
    ]
    lines.append("  expected return in nine of ten runs of this many plays:")
    lines += [
        f"  {row['plays']:>14,}{row['low_percent']:>12.2f} % to {row['high_percent']:.2f} %"
        for row in bet["confidence_90"]
    ]
    return lines
