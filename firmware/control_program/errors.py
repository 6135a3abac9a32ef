"""What can be wrong before the machine runs, told in one sentence to the person who can mend it."""

from __future__ import annotations


class ConfigError(Exception):
    """The operator asked for something that cannot be: raised at boot, before any device moves.

    Args:
        problem: one clear sentence without a full stop; it is all that is shown when nothing else is given.
        source: where the value stands: a file name, or ``""`` for the command line.
        key: the option, in the form of its source (``denomination`` in a file, ``--denomination`` else).
        value: what was found there.
        allowed: what may stand there, in words.
    """

    def __init__(
        self, problem: str, *, source: str = "", key: str = "", value: object = None, allowed: str = ""
    ) -> None:
        self.problem = problem
        self.source = source
        self.key = key
        self.value = value
        self.allowed = allowed
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        place = self.key
        if self.key and self.value is not None:
            place = f"{self.key} = {self.value!r}" if self.source else f"{self.key} {self.value}"
        words = ": ".join(part for part in (self.source, place, self.problem) if part)
        return f"{words}; allowed: {self.allowed}" if self.allowed else words
