"""A configuration file: TOML text in, parsed options out. A key that nobody reads is an error, not a typo."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from firmware.control_program.errors import ConfigError
from firmware.control_program.options import (
    BY_KEY,
    SAS_TABLE,
    Option,
    SasLineOptions,
    parse_option,
)


def parse(text: str, source: str) -> dict[str, object]:
    """Return option key → value for ``merge``. ``source`` names the file in errors. Raises ConfigError.

    Keys are the long options, parted by ``_`` or ``-``; ``sas`` is a URL or an array of ``[[sas]]`` tables.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        raise ConfigError(f"not TOML: {str(error) or 'too deep'}", source=source) from None
    found: dict[str, object] = {}
    for name, value in document.items():
        key = name.replace("-", "_")
        option = _known(key, name, BY_KEY, source)
        if key in found:
            raise ConfigError("stands twice", source=source, key=name)
        is_tables = key == "sas" and isinstance(value, list)
        found[key] = _sas_tables(value, source) if is_tables else parse_option(option, value, source)
    return found


def _known(key: str, name: str, table: Mapping[str, Option], source: str) -> Option:
    if key not in table:
        raise ConfigError("no such key", source=source, key=name, allowed=", ".join(table))
    return table[key]


def _sas_tables(tables: list[object], source: str) -> tuple[SasLineOptions, ...]:
    return tuple(_sas_table(table, f"{source}: [[sas]] {index}") for index, table in enumerate(tables, 1))


def _sas_table(table: object, source: str) -> SasLineOptions:
    if not isinstance(table, dict):
        raise ConfigError("not a table", source=source, allowed=", ".join(SAS_TABLE))
    values: dict[str, object] = {}
    for name, value in table.items():
        values[name] = parse_option(_known(name, name, SAS_TABLE, source), value, source)
    return SasLineOptions(**values)  # type: ignore[arg-type]
