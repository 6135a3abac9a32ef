"""The error of a back end that cannot be opened: wrong URL, busy port, folder that cannot be written."""

from __future__ import annotations


class BackendError(Exception):
    """Something outside refused us before anything ran. One sentence: what is wrong, and what to do."""


def reason(error: OSError) -> str:
    """Return the operating system's words for ``error`` in lower case, such as ``permission denied``."""
    return (error.strerror or str(error)).lower()
