"""Nothing committed is unfinished, points into somebody's own computer, or names a package server."""

from __future__ import annotations

import re

import pytest

from tests.tidy.source import tracked_texts

# Written with brackets, so that this file does not offend itself.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FI[X]ME|X[X]X|HA[C]K)\b")
OWN_COMPUTER = re.compile(r"(?<![\w.:/<])/(?:[h]ome|[r]oot|[w]ork|[U]sers|[t]mp)/\w")
PACKAGE_SERVER = re.compile(r"[p]ypi\.org|[p]ythonhosted|--(?:extra-)?[i]ndex-url", re.IGNORECASE)

RULES = {
    "unfinished": UNFINISHED,
    "a path of one computer": OWN_COMPUTER,
    "a package server": PACKAGE_SERVER,
}


def offences(text: str) -> list[str]:
    """Return ``LINE: rule: what`` for each word that breaks a rule."""
    return [
        f"{text.count(chr(10), 0, match.start()) + 1}: {rule}: {match.group()}"
        for rule, pattern in RULES.items()
        for match in pattern.finditer(text)
    ]


def test_no_committed_file_has_a_forbidden_word() -> None:
    texts = tracked_texts()
    assert len(texts) > 50
    assert {name: found for name, text in texts if (found := offences(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "# TO|DO: later",
        "x = 1  # FIX|ME",
        "see /ho|me/ada/notes",
        "PATH=/wo|rk/main",
        "'/t|mp/x'",
        "https://p|ypi.org/simple",
        "pip install --in|dex-url x",
    ],
)
def test_each_forbidden_word_is_caught(text: str) -> None:
    text = text.replace("|", "")
    assert len(offences(f"first line\n{text}\n")) == 1
    assert offences(f"first line\n{text}\n")[0].startswith("2: ")


@pytest.mark.parametrize(
    "text", ["a homely method", "network/work/x", "https://x/home/a", "~/egm-data", "TODOS"]
)
def test_innocent_words_pass(text: str) -> None:
    assert offences(text) == []
