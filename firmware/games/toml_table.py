"""Read one TOML table strictly: every key is asked for by its type and range, none is left over.

A key nobody asked for is an error, so a misspelt one cannot be a silent default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firmware.games.par_sheet import ParSheetError


class TomlTable:
    """One table being read; ``finish`` refuses the keys that were never asked for.

    Args:
        source: what to call the file in errors.
        path: dotted name of this table in the file, empty for the file itself.
        content: what TOML made of it.

    What reads a value raises ParSheetError where it is missing or not allowed.
    """

    def __init__(self, source: str, path: str, content: object) -> None:
        self._source = source
        self._path = path
        if not isinstance(content, dict):
            raise ParSheetError(source, path or "file", "must be a table")
        self._content: dict[str, object] = content
        self._taken: set[str] = set()

    def error(self, key: str, problem: str) -> ParSheetError:
        """Return (not raise) an error about a key of this table."""
        return ParSheetError(self._source, f"{self._path}.{key}" if self._path else key, problem)

    def _take(self, key: str) -> object:
        self._taken.add(key)
        if key not in self._content:
            raise self.error(key, "is missing")
        return self._content[key]

    def has(self, key: str) -> bool:
        """Tell whether an optional key is there."""
        return key in self._content

    def integer(self, key: str, least: int, most: int) -> int:
        """Return a whole number of ``least``..``most``."""
        return self._whole(key, self._take(key), least, most)

    def _whole(self, key: str, value: object, least: int, most: int) -> int:
        # bool is an int to Python; to a par sheet it is a mistake.
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(key, f"is {value!r}; a whole number from {least} to {most} is allowed")
        return value

    def integers(self, key: str, least: int, most: int) -> tuple[int, ...]:
        """Return a list, not empty, of whole numbers of ``least``..``most``."""
        return tuple(self._whole(key, value, least, most) for value in self.items(key))

    def text(self, key: str, least: int = 1, most: int = 80) -> str:
        """Return printable text of ``least``..``most`` characters."""
        return self._words(key, self._take(key), least, most)

    def _words(self, key: str, value: object, least: int = 1, most: int = 80) -> str:
        if not isinstance(value, str) or not value.isprintable() or not least <= len(value) <= most:
            raise self.error(key, f"is {value!r}; text of {least} to {most} characters is allowed")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list, not empty, of printable texts."""
        return tuple(self._words(key, value) for value in self.items(key))

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self._take(key)
        if not isinstance(value, bool):
            raise self.error(key, f"is {value!r}; true or false is allowed")
        return value

    def choice(self, key: str, allowed: Iterable[str]) -> str:
        """Return one of the allowed words."""
        value, words = self._take(key), list(allowed)
        if not isinstance(value, str) or value not in words:
            raise self.error(key, f"is {value!r}; allowed: {', '.join(words)}")
        return value

    def items(self, key: str) -> list[object]:
        """Return a list, not empty, of anything."""
        value = self._take(key)
        if not isinstance(value, list) or not value:
            raise self.error(key, "must be a list with at least one entry")
        return value

    def table(self, key: str) -> TomlTable:
        """Return the table under a key, to be read and finished by the caller."""
        return TomlTable(self._source, f"{self._path}.{key}" if self._path else key, self._take(key))

    def tables(self, key: str) -> Iterator[TomlTable]:
        """Return each table of a list, not empty, to be read and finished by the caller."""
        for index, content in enumerate(self.items(key), start=1):
            yield TomlTable(self._source, f"{key}[{index}]", content)

    def keys_in_order(self) -> list[str]:
        """Return all keys, as the file has them."""
        return list(self._content)

    def finish(self) -> None:
        """Refuse a key that was never asked for."""
        unknown = sorted(set(self._content) - self._taken)
        if unknown:
            raise self.error(unknown[0], f"is not known here; known: {', '.join(sorted(self._taken))}")
