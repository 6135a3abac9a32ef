"""Noise from the operating system's generator, fed by interrupts and the processor's noise source."""

from __future__ import annotations

import os

from hal.ports.entropy import EntropyError


class SystemEntropy:
    """The operating system's entropy. An Entropy."""

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes; waits until the system's pool was filled once since it booted.

        Raises:
            EntropyError: the system gives none.
        """
        try:
            data = os.urandom(size)
        except (OSError, NotImplementedError) as error:
            raise EntropyError(f"The operating system gives no random bytes: {error}.") from error
        if len(data) != size:
            raise EntropyError(f"The operating system gave {len(data)} random bytes of {size}.")
        return data
