"""The symlink by which a host finds a pseudo-terminal: ours while the line lives, gone afterwards.

Numbers of pseudo-terminals are used again, so after a machine was killed its symlink may lead to somebody's
shell. Whether another living machine owns the name is therefore not asked of the file system: each owner
binds an abstract Unix socket made from the path, which the kernel frees when the process ends, however it
ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
from pathlib import Path

from hal.backends.errors import BackendError, reason

_TERMINALS = "/dev/pts/"


class LineSymlink:
    """A symlink at ``link`` to ``target``; a left-over of an earlier run is replaced in one step.

    Raises:
        BackendError: the name is taken by something else or by a running machine, or the folder cannot be
            written.
    """

    def __init__(self, link: Path, target: str) -> None:
        # Not resolve(): the last part is the symlink itself.
        self.path = Path(os.path.abspath(link))  # noqa: PTH100
        self._target = target
        self._refuse_foreign_file()
        self._ownership = _own_name(self.path)
        try:
            self._put_in_place()
        except OSError as error:
            self._ownership.close()
            raise BackendError(
                f"Cannot make the symlink {self.path}: {reason(error)}; "
                "choose a folder that exists and is yours to write."
            ) from error

    def close(self) -> None:
        """Remove the symlink, unless somebody has put something else in its place."""
        with contextlib.suppress(OSError):
            if self.path.is_symlink() and str(self.path.readlink()) == self._target:
                self.path.unlink()
        self._ownership.close()

    def _refuse_foreign_file(self) -> None:
        if self.path.is_symlink():
            is_ours = str(self.path.readlink()).startswith(_TERMINALS) or not self.path.exists()
        else:
            is_ours = not self.path.exists()
        if not is_ours:
            raise BackendError(
                f"{self.path} exists and is not a line of ours; remove it, or give the line another name."
            )

    def _put_in_place(self) -> None:
        # rename() replaces the old link in one step: a host never finds nothing.
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(self._target)
        try:
            fresh.replace(self.path)
        except OSError:
            fresh.unlink()
            raise


def _own_name(path: Path) -> socket.socket:
    """Return the socket that owns ``path``. Raises BackendError if a living process has it."""
    # The folder's real path, so that two ways to one name are one name. Hashed: a socket's name has 107
    # bytes.
    real = path.parent.resolve() / path.name
    name = hashlib.sha256(os.fsencode(real)).hexdigest()
    ownership = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ownership.bind(f"\0egm-line-{name}")
    except OSError as error:
        ownership.close()
        raise BackendError(
            f"{path} is the line of a machine that is running; stop it, or give the line another name."
        ) from error
    return ownership
