"""What a host's parity settings say about the ninth bit of the bytes that arrive on a pseudo-terminal. Pure.

The kernel tells two things that are not in one queue: *the settings changed* (at once) and *bytes arrived*
(a moment later). Bytes read while no change is announced belong to the setting we know. When a change is
announced and bytes lie ready beside it, they may have been sent before it or after it. A host writes one
byte under mark and pauses before the rest, so most cases have only one reading; where there are two, the
answer is ``None``: infer from the structure of the messages (serial_ninth_bit.md 2: strong evidence, not
proof).
"""

from __future__ import annotations


class WakeupEvidence:
    """Follow a host's settings: ``True`` is mark parity, ``False`` space, ``None`` any other."""

    def __init__(self) -> None:
        self._setting: bool | None = None
        self._bytes_under_setting = 0
        self._is_doubtful = False
        self._has_host_left = False

    @property
    def setting(self) -> bool | None:
        """The setting last announced."""
        return self._setting

    def changed(self, setting: bool | None, waiting: int) -> None:
        """Take note that the host set ``setting`` while ``waiting`` bytes lay ready to be read."""
        marked_byte_is_late = self._setting is True and setting is False and not self._bytes_under_setting
        if setting is True:
            # A host sends one byte under mark; more are a message's end and the start of the next.
            is_merged = waiting > 1
        elif setting is False:
            # After mark, with the marked byte already read, it is the rest of that message: a quick host.
            is_merged = waiting > 0 and self._setting is not True
        else:
            is_merged = False
        self._is_doubtful = is_merged or marked_byte_is_late
        self._setting = setting
        self._bytes_under_setting = 0
        self._has_host_left = False

    def label(self, size: int) -> bool | None:
        """Return the ninth bit of the ``size`` bytes just read."""
        self._bytes_under_setting += size
        return None if self._is_doubtful or self._has_host_left else self._setting

    def drained(self) -> None:
        """Take note that no byte is left to read: the next one is sent under the setting we know."""
        if self._bytes_under_setting:
            self._is_doubtful = False

    def host_left(self) -> None:
        """Take note that the last host closed the port: what it set says nothing about another one's bytes.

        It may be the same one, between the marked byte and the rest: that much is remembered.
        """
        self._has_host_left = True
