"""Critical memory in a buffer: for tests and for machines that need not outlive their process."""

from __future__ import annotations

from hal.backends.nvram_bounds import DEFAULT_SIZE, check_range, check_size
from hal.ports.nvram import NvramError


class MemoryNvram:
    """A buffer as an Nvram. It does not model a power cut: what is written is there.

    Args:
        size: number of bytes, a multiple of 512.
        image: the first content, exactly ``size`` bytes; zeros if left out.
        holds_flushes: flushes become durable only when ``release`` says so, as on a slow part.

    Raises:
        NvramError: a size that no part has, or an image of another size.
    """

    def __init__(
        self, size: int = DEFAULT_SIZE, *, image: bytes | None = None, holds_flushes: bool = False
    ) -> None:
        check_size(size)
        if image is not None and len(image) != size:
            raise NvramError(f"The image is {len(image)} bytes, the memory {size}.")
        self._content = bytearray(size) if image is None else bytearray(image)
        self._size = size
        self._holds_flushes = holds_flushes
        self._tickets = 0
        self._durable = 0
        self._failure: str | None = None

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._size

    def fileno(self) -> None:
        """Return ``None``: nothing ever becomes durable behind the loop's back."""
        return

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes. Raises NvramError; ValueError outside the memory."""
        check_range(self._size, offset, size)
        self._require_sound()
        return bytes(self._content[offset : offset + size])

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data`` at ``offset``. Raises NvramError; ValueError outside the memory."""
        check_range(self._size, offset, len(data))
        self._require_sound()
        self._content[offset : offset + len(data)] = data

    def flush(self) -> int:
        """Return the next ticket."""
        self._tickets += 1
        if not self._holds_flushes:
            self._durable = self._tickets
        return self._tickets

    def durable(self) -> int:
        """Return the highest ticket that is durable. Raises NvramError."""
        self._require_sound()
        return self._durable

    def release(self, ticket: int | None = None) -> None:
        """Make held flushes durable, up to ``ticket`` or all of them."""
        upto = self._tickets if ticket is None else min(ticket, self._tickets)
        self._durable = max(self._durable, upto)

    def fail(self, message: str) -> None:
        """Break the part: from now on everything but ``flush`` raises NvramError with ``message``."""
        self._failure = message

    def image(self) -> bytes:
        """Return the whole content."""
        return bytes(self._content)

    def close(self) -> None:
        """Do nothing; other back ends have something to let go of."""

    def _require_sound(self) -> None:
        if self._failure is not None:
            raise NvramError(self._failure)
