"""The answer to a host that closed its port behind its poll and is about to open it again. Pure.

Opening a port usually throws away what has arrived (pyserial does so). On a real line the answer starts some
milliseconds after the poll, when such a host is back; ours would be there in microseconds and be thrown away. So it
stays known until the host has shown that it is back, for as long as a host would wait for it.
"""

from __future__ import annotations

KEPT_US = 50_000
"""Longer than the 20 ms in which an answer must begin (SAS 3): a busy computer opens a port slowly."""


class KeptAnswer:
    """What was written since the host's latest bytes. Times are integer microseconds of one clock."""

    def __init__(self) -> None:
        self._data = b""
        self._heard_us = -KEPT_US - 1
        self._is_owed = False
        self.is_host_hasty = False
        """When it last closed the port, the host had not fetched an answer to what it had just sent."""

    def heard(self, now_us: int) -> None:
        """The host has sent something: what it did not fetch until now it does not want."""
        self.forget()
        self._heard_us = now_us

    def is_answer(self, now_us: int) -> bool:
        """Whether what is written now answers a host, rather than nobody."""
        return now_us - self._heard_us <= KEPT_US

    def keep(self, data: bytes, now_us: int, *, is_owed: bool) -> None:
        """Remember ``data``, written just now. ``is_owed``: to a host that is not there or not ready."""
        if self.is_answer(now_us):
            self._data += data
            self._is_owed = self._is_owed or is_owed

    def host_left(self, unread_size: int, now_us: int) -> bool:
        """The host closed the port and left ``unread_size`` bytes; return whether it may come back for them.

        It may if they are the whole answer to its latest bytes.
        """
        is_fetched = bool(self._data) and unread_size == 0
        self.is_host_hasty = self.is_answer(now_us) and not is_fetched
        if not self._data or unread_size != len(self._data):
            self.forget()
            return False
        self._is_owed = True
        return True

    def owed(self) -> bytes:
        """The answer that waits for its host, ``b""`` if none does."""
        return self._data if self._is_owed else b""

    def delivered(self) -> None:
        """The answer lies before a host that has opened the port; owed again only if it leaves it there."""
        self._is_owed = False

    def has_expired(self, now_us: int) -> bool:
        """Whether an answer has waited for too long."""
        return self._is_owed and not self.is_answer(now_us)

    def forget(self) -> None:
        """The answer is of no use any more, or is where it belongs."""
        self._data = b""
        self._is_owed = False
