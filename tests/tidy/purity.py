"""What pure code may not do, seen in its syntax: the half of the rule that an import contract cannot show."""

from __future__ import annotations

import ast
from collections.abc import Iterator

PURE_STANDARD_LIBRARY = frozenset(
    {
        "__future__", "abc", "array", "base64", "binascii", "bisect", "calendar", "collections", "contextlib",
        "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq",
        "hmac", "itertools", "json", "math", "numbers", "operator", "re", "statistics", "string", "struct",
        "textwrap", "tomllib", "types", "typing", "unicodedata", "weakref", "zlib",
    }
)  # fmt: skip
"""Modules that compute and nothing else. A list of what is allowed, so that a forgotten one is refused."""

OURS = frozenset({"firmware", "hal", "sas_protocol", "simulator"})
OTHERS_THAT_COMPUTE = frozenset(
    {"crcmod", "cryptography"}
)  # who may import them: the contracts in pyproject.toml

BANNED_NAMES = frozenset(
    {
        "__builtins__", "__import__", "__loader__", "breakpoint", "compile", "eval", "exec", "exit",
        "globals", "input", "locals", "open", "print", "quit",
    }
)  # fmt: skip
CLOCKS = frozenset({"now", "utcnow", "today"})
"""Attributes of datetime's classes that read the clock. Banned in a module that imports datetime."""
LOCAL_ZONE = frozenset({"astimezone"})
"""Without an argument it reads this computer's time zone."""


def offences(source: str) -> list[str]:
    """Return ``LINE: what`` for each thing in a module's source that pure code may not do."""
    tree = ast.parse(source)
    imports_datetime = any(
        name.partition(".")[0] == "datetime" for node in ast.walk(tree) for name in _imported(node)
    )
    found = []
    for node in _run_time_nodes(tree):
        found += [(node, f"import {name}") for name in _imported(node) if not _may_import(name)]
        match node:
            case ast.Name(id=name) if name in BANNED_NAMES:
                found.append((node, name))
            case ast.Attribute(attr=name) if name in CLOCKS and imports_datetime:
                found.append((node, f".{name}"))
            case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]) if name in LOCAL_ZONE:
                found.append((node, f".{name}()"))
            case ast.Attribute(attr="import_module" | "__subclasses__" | "__globals__" as name):
                found.append((node, f".{name}"))
    return [f"{getattr(node, 'lineno', 0)}: {what}" for node, what in found]


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
    return []


def _may_import(name: str) -> bool:
    return name.partition(".")[0] in PURE_STANDARD_LIBRARY | OURS | OTHERS_THAT_COMPUTE


def _run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk the tree without what stands under ``if TYPE_CHECKING:``, which never runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for alternative in node.orelse:
                yield alternative
                yield from _run_time_nodes(alternative)
            continue
        yield node
        yield from _run_time_nodes(node)
