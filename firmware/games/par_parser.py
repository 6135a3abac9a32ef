"""Read ``par.toml`` into a ``ParSheet``, refusing whatever is missing, unknown or impossible.

Every refusal is a ``ParSheetError`` with file, key and what is allowed. What the law asks of a sound par
sheet is decided in ``law``; whether its declared figures are true, in ``cycle``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from itertools import pairwise

from firmware.games.par_sheet import (
    ANY_SYMBOL,
    Bet,
    Combination,
    Declared,
    ParSheet,
    ParSheetError,
    Reel,
    Stop,
    Symbol,
    Wild,
    WildUse,
    Window,
)
from firmware.games.toml_table import TomlTable

FORMAT = 1
PLAY_MODE = "reels_and_lines"
TITLE_CHARACTERS_MAX = 20  # sas.md 11, long poll B5: game name 0-20 characters
SAS_CREDITS_MAX = 9999  # sas.md 8, 7E: credits wagered are two BCD bytes
LINES_OF_SYMBOLS_MAX = 1_000_000  # entries of the table of line pays, one for each bet


def parse_par_sheet(text: str, source: str) -> ParSheet:
    """Read one game.

    Args:
        text: the content of a ``par.toml``.
        source: what to call it in errors, usually its path.

    Raises:
        ParSheetError: the text is no TOML, or a key is missing, unknown or out of range.
    """
    try:
        root = TomlTable(source, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ParSheetError(source, "file", f"is not TOML: {error}") from error
    root.integer("format", FORMAT, FORMAT)
    game = root.table("game")
    symbols = tuple(_symbol(table) for table in root.tables("symbols"))
    _unique(root, "symbols", (symbol.key for symbol in symbols))
    names = [symbol.key for symbol in symbols]
    groups = _groups(root, names)
    reels = tuple(_reel(table, names) for table in root.tables("reels"))
    if len(names) ** len(reels) > LINES_OF_SYMBOLS_MAX:
        raise root.error("reels", f"and symbols give more than {LINES_OF_SYMBOLS_MAX:,} lines of symbols")
    window = _window(root.table("window"), reels)
    lines = _lines(root, len(reels), window)
    wild = _wild(root.table("wild"), names) if root.has("wild") else None
    bets = tuple(_bet(table, len(lines)) for table in root.tables("bets"))
    _rising(root, "bets", [bet.credits for bet in bets])
    askable = [*names, *groups, ANY_SYMBOL]
    combinations = tuple(
        _combination(table, askable, len(reels), len(bets), wild is not None)
        for table in root.tables("combinations")
    )
    _unique(root, "combinations", (combination.key for combination in combinations))
    declared = _declared(root.table("declared"), len(bets))
    root.finish()
    sheet = ParSheet(
        source=source,
        name=_name(game),
        title=game.text("title", most=TITLE_CHARACTERS_MAX),
        number=game.integer("number", 1, 9999),
        paytable_id=_paytable_id(game),
        denominations=_denominations(game),
        spin_time_us=game.integer("spin_time_us", 0, 60_000_000),
        symbols=symbols,
        groups=groups,
        reels=reels,
        window=window,
        lines=lines,
        wild=wild,
        bets=bets,
        combinations=combinations,
        declared=declared,
    )
    game.choice("play_mode", [PLAY_MODE])
    game.finish()
    _every_symbol_on_a_reel(root, sheet)
    return sheet


def _name(game: TomlTable) -> str:
    name = game.text("name", most=32)
    if not (name.isascii() and name.replace("_", "a").isalnum() and name == name.lower()):
        raise game.error("name", f"is {name!r}; small letters, digits and _ are allowed")
    return name


def _paytable_id(game: TomlTable) -> str:
    text = game.text("paytable_id", least=6, most=6)
    if not text.isascii():
        raise game.error("paytable_id", f"is {text!r}; six ASCII characters are allowed")
    return text


def _denominations(game: TomlTable) -> tuple[int, ...]:
    values = game.integers("denominations", 1, 1_000_000)
    _rising(game, "denominations", list(values))
    return values


def _rising(table: TomlTable, key: str, values: list[int]) -> None:
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise table.error(key, f"is {values}; must rise from each entry to the next")


def _unique(table: TomlTable, key: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise table.error(key, f"has {name!r} twice")
        seen.add(name)


def _symbol(table: TomlTable) -> Symbol:
    symbol = Symbol(table.text("key", most=32), table.text("title"), table.text("text", most=4))
    if symbol.key == ANY_SYMBOL:
        raise table.error("key", f"is {ANY_SYMBOL!r}, which means every symbol")
    table.finish()
    return symbol


def _groups(root: TomlTable, names: list[str]) -> dict[str, frozenset[str]]:
    if not root.has("groups"):
        return {}
    table = root.table("groups")
    groups: dict[str, frozenset[str]] = {}
    for key in table.keys_in_order():
        members = table.texts(key)
        if key in names or key == ANY_SYMBOL:
            raise table.error(key, "is already the name of a symbol")
        for member in members:
            if member not in names:
                raise table.error(key, f"names {member!r}; known symbols: {', '.join(names)}")
        groups[key] = frozenset(members)
    return groups


def _reel(table: TomlTable, names: list[str]) -> Reel:
    stops = []
    for index, entry in enumerate(table.items("strip"), start=1):
        key = f"strip[{index}]"
        match entry:
            case [str(symbol), int(weight)] if not isinstance(weight, bool) and 1 <= weight <= 10_000:
                if symbol not in names:
                    raise table.error(key, f"shows {symbol!r}; known symbols: {', '.join(names)}")
                stops.append(Stop(symbol, weight))
            case _:
                raise table.error(key, f'is {entry!r}; ["symbol", weight from 1 to 10000] is allowed')
    table.finish()
    return Reel(tuple(stops))


def _window(table: TomlTable, reels: tuple[Reel, ...]) -> Window:
    # A window taller than a strip would show one stop twice.
    rows = table.integer("rows", 1, min(len(reel.stops) for reel in reels))
    window = Window(rows, table.integer("stop_row", 0, rows - 1))
    table.finish()
    return window


def _lines(root: TomlTable, reel_count: int, window: Window) -> tuple[tuple[int, ...], ...]:
    lines = []
    for index, entry in enumerate(root.items("lines"), start=1):
        if (
            not isinstance(entry, list)
            or len(entry) != reel_count
            or not all(isinstance(row, int) and 0 <= row < window.rows for row in entry)
        ):
            raise root.error(
                f"lines[{index}]",
                f"is {entry!r}; {reel_count} rows from 0 (top) to {window.rows - 1} are allowed",
            )
        lines.append(tuple(entry))
    return tuple(lines)


def _wild(table: TomlTable, names: list[str]) -> Wild:
    wild = Wild(table.choice("symbol", names), table.integer("multiplier", 1, 100))
    table.finish()
    return wild


def _bet(table: TomlTable, line_count: int) -> Bet:
    bet = Bet(table.integer("credits", 1, SAS_CREDITS_MAX), table.integer("lines", 1, line_count))
    table.finish()
    return bet


def _combination(
    table: TomlTable, askable: list[str], reel_count: int, bet_count: int, has_wild: bool
) -> Combination:
    symbols = table.texts("symbols")
    if len(symbols) != reel_count:
        raise table.error(
            "symbols", f"has {len(symbols)} places; one for each of {reel_count} reels is needed"
        )
    for symbol in symbols:
        if symbol not in askable:
            raise table.error("symbols", f"asks for {symbol!r}; allowed: {', '.join(askable)}")
    pays = table.integers("pays", 0, 100_000_000)
    if len(pays) != bet_count:
        raise table.error("pays", f"has {len(pays)} entries; one for each of {bet_count} bets is needed")
    if not any(pays):
        raise table.error("pays", "pays nothing at any bet")
    combination = Combination(
        key=table.text("key", most=32),
        title=table.text("title"),
        symbols=symbols,
        in_any_order=table.flag("in_any_order") if table.has("in_any_order") else False,
        wild=WildUse(table.choice("wild", [use.value for use in WildUse])) if has_wild else WildUse.NONE,
        pays=pays,
    )
    table.finish()
    return combination


def _declared(table: TomlTable, bet_count: int) -> Declared:
    most = 10**18
    declared = Declared(
        table.integer("cycle", 1, most), table.integers("winning", 0, most), table.integers("paid", 0, most)
    )
    for key in ("winning", "paid"):
        if len(getattr(declared, key)) != bet_count:
            raise table.error(key, f"needs one entry for each of {bet_count} bets")
    table.finish()
    return declared


def _every_symbol_on_a_reel(root: TomlTable, sheet: ParSheet) -> None:
    shown = {stop.symbol for reel in sheet.reels for stop in reel.stops}
    for symbol in sheet.symbols:
        if symbol.key not in shown:
            raise root.error("symbols", f"has {symbol.key!r}, which no reel shows")
