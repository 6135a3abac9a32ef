"""A memory part whose power can be cut at any operation, with every legal fate for what was not yet durable.

A write or a flush is one operation. At the cut, each 512-byte sector's worth of every write that no durable
flush covers is, by seed, dropped, kept, or torn at any byte, and these pieces reach the part in any order.
Not modelled: writes lost although a durable flush covered them; no program survives a part that lies.
"""

from __future__ import annotations

import random

from hal.ports.nvram import NvramError

SECTOR = 512


class PowerCutError(Exception):
    """The power is gone; everything the program had in RAM is lost."""


class CuttableNvram:
    """``Nvram`` in memory.

    Args:
        size: bytes, whole sectors.
        cut_after: how many operations still work; the next one raises PowerCutError. None: no cut.
        seed: of the fate of writes at the cut.
        lag: how many calls of ``durable`` a flush takes to become durable; 0: at once.
    """

    def __init__(self, size: int, cut_after: int | None = None, seed: int = 0, lag: int = 0) -> None:
        self._durable_image = bytearray(size)
        self._image = bytearray(size)
        self._unflushed: list[tuple[int, bytes]] = []
        self._flushes: list[tuple[int, list[tuple[int, bytes]], int]] = []  # ticket, writes, calls left
        self._ticket = self._durable_ticket = 0
        self._lag = lag
        self._random = random.Random(seed)
        self.cut_after = cut_after
        self.operations = 0
        self.bytes_written = 0
        self.is_broken = False  # every access fails, as a part that went bad does

    @property
    def size(self) -> int:
        return len(self._image)

    def _operation(self) -> None:
        self._check()
        if self.cut_after is not None and self.operations >= self.cut_after:
            raise PowerCutError(f"operation {self.operations}")
        self.operations += 1

    def _check(self) -> None:
        if self.is_broken:
            raise NvramError("the part is broken")

    def read(self, offset: int, size: int) -> bytes:
        self._check()
        if offset < 0 or offset + size > len(self._image):
            raise NvramError(f"read of {size} bytes at {offset}")
        return bytes(self._image[offset : offset + size])

    def write(self, offset: int, data: bytes) -> None:
        if offset < 0 or offset + len(data) > len(self._image):
            raise NvramError(f"write of {len(data)} bytes at {offset}")
        self._check()
        # The write during which the power goes may reach the part like any other.
        self._unflushed.append((offset, data))
        self._operation()
        self._image[offset : offset + len(data)] = data
        self.bytes_written += len(data)

    def flush(self) -> int:
        self._operation()
        self._ticket += 1
        self._flushes.append((self._ticket, self._unflushed, self._lag))
        self._unflushed = []
        if self._lag == 0:
            self._settle()
        return self._ticket

    def durable(self) -> int:
        self._check()
        self._flushes = [(ticket, writes, calls - 1) for ticket, writes, calls in self._flushes]
        self._settle()
        return self._durable_ticket

    def _settle(self) -> None:
        while self._flushes and self._flushes[0][2] <= 0:
            ticket, writes, _ = self._flushes.pop(0)
            for offset, data in writes:
                self._durable_image[offset : offset + len(data)] = data
            self._durable_ticket = ticket

    def reboot(self, cut_after: int | None = None) -> None:
        """Cut the power now, if it is not cut yet, and turn it on: only what survived is there.

        ``cut_after`` counts from here.
        """
        image = self._durable_image
        for offset, data in self._surviving_pieces():
            image[offset : offset + len(data)] = data
        self._image = bytearray(image)
        self._unflushed, self._flushes = [], []
        self._ticket = self._durable_ticket = 0
        self.operations, self.cut_after = 0, cut_after

    def _surviving_pieces(self) -> list[tuple[int, bytes]]:
        pieces: list[tuple[int, bytes]] = []
        writes = [write for _, batch, _ in self._flushes for write in batch] + self._unflushed
        # Half of the cuts treat all writes alike, which mixing alone would almost never do.
        common = self._random.choice((None, None, None, "keep", "drop", "tear"))
        for offset, data in writes:
            position = 0
            while position < len(data):
                size = min(SECTOR - (offset + position) % SECTOR, len(data) - position)
                piece = data[position : position + size]
                fate = common or self._random.choice(("keep", "drop", "tear"))
                if fate == "keep":
                    pieces.append((offset + position, piece))
                elif fate == "tear":
                    at = self._random.randrange(size + 1)
                    if self._random.random() < 0.5:
                        pieces.append((offset + position, piece[:at]))
                    else:
                        pieces.append((offset + position + at, piece[at:]))
                position += size
        self._random.shuffle(pieces)
        return pieces

    def image(self) -> bytes:
        """Return all bytes, as a program reads them."""
        return bytes(self._image)

    def load(self, image: bytes) -> None:
        """Replace all bytes, as a technician with a programmer would."""
        self._image = bytearray(image)
        self._durable_image = bytearray(image)

    def flip(self, offset: int, mask: int = 0xFF) -> None:
        """Change one byte while the power is off (or behind the program's back)."""
        self._image[offset] ^= mask
        self._durable_image[offset] ^= mask

    def clone(self) -> CuttableNvram:
        """Return another part with the same bytes, everything durable, no cut."""
        other = CuttableNvram(len(self._image))
        other.load(self._image)
        return other
