"""Critical memory in a file, flushed by a thread of its own.

The file has its full size and no holes from the start, so that a flush moves data and never the file
system's own books. Reads and writes go to the kernel at once: what was written survives the death of the
process, and what was flushed survives the power. A flush is a ticket handed to the thread; ``fileno`` turns
readable when tickets are done.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import stat
import threading
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from hal.backends.errors import reason
from hal.backends.nvram_bounds import DEFAULT_SIZE, check_range, check_size
from hal.ports.nvram import NvramError

_CHUNK = 64 * 1024
_LOCK_RETRY_SECONDS = 0.01

_QUICK_SECONDS = 0.002
"""A flush of less than this is no pause for the loop (design.md 3, law 1: a few milliseconds)."""
_QUICK_IN_A_ROW = 32
"""So many quick flushes by the thread, and an adaptive memory trusts the disk again."""


class Flushing(Enum):
    """Who waits for the disk."""

    THREAD = "thread"
    """A thread: ``flush`` never blocks. Costs two thread switches, some 15 µs a flush."""
    ADAPTIVE = "adaptive"
    """The caller while flushes are quick, the thread from the first slow one on until they are quick again.
    Saves the thread switches, which cost most where the processors are busy; ``flush`` may block for one slow
    flush."""
    INLINE = "inline"
    """The caller of ``flush``, always: for tools."""


class FileNvram:
    """A file of ``size`` bytes as an Nvram, locked against every other process until closed.

    Args:
        path: the file; it is made, full of zeros, if there is none. Its folder must exist.
        size: number of bytes, a multiple of 512; a file of another size is refused.
        flushing: who waits for the disk.
        lock_timeout: seconds to wait for a machine that is just ending.
        sync: what makes a descriptor's data durable; raises OSError. Replaced in tests only.

    Raises:
        NvramError: the folder or file cannot be used, the disk is full, the file is in use or has another
            size.
    """

    def __init__(
        self,
        path: Path,
        size: int = DEFAULT_SIZE,
        *,
        flushing: Flushing = Flushing.THREAD,
        lock_timeout: float = 0.5,
        sync: Callable[[int], None] = os.fdatasync,
    ) -> None:
        check_size(size)
        self._path = path
        self._size = size
        self._sync = sync
        self._tickets = 0
        self._durable = 0
        self._failure: str | None = None
        self._is_open = True
        self._file = _open_whole(path, size, lock_timeout)
        self._done = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._is_done_signalled = False
        # Rung with True for each flush, with False for the end.
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._flushing = flushing
        self._quick_in_a_row = 0
        if flushing is not Flushing.INLINE:
            # A daemon: an error that ends the program must not wait for a dead disk.
            self._thread = threading.Thread(target=self._serve_flushes, name="nvram-flush", daemon=True)
            self._thread.start()

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._size

    def fileno(self) -> int:
        """Return the descriptor that is readable once a flush has ended; ``durable`` makes it quiet again."""
        return self._done

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes. Raises NvramError; ValueError outside the memory."""
        check_range(self._size, offset, size)
        self._require_open()
        try:
            data = os.pread(self._file, size, offset)
        except OSError as error:
            raise NvramError(f"Cannot read {self._path}: {reason(error)}.") from error
        if len(data) != size:
            raise NvramError(f"{self._path} has become shorter than {self._size} bytes.")
        return data

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data``. Raises NvramError, for ever after a failed flush; ValueError outside."""
        check_range(self._size, offset, len(data))
        self._require_sound()
        try:
            _write_all(self._file, data, offset)
        except OSError as error:
            raise NvramError(f"Cannot write {self._path}: {reason(error)}.") from error

    def flush(self) -> int:
        """Begin to make every write so far durable; return the ticket. Who waits: see Flushing."""
        self._tickets += 1
        if self._is_caller_to_wait():
            self._flush_until(self._tickets)
        else:
            self._bell.put(True)
        return self._tickets

    def durable(self) -> int:
        """Return the highest ticket that is durable. Raises NvramError if a flush failed."""
        if self._is_done_signalled:
            self._is_done_signalled = False
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self._done)
        self._require_sound()
        return self._durable

    def close(self) -> None:
        """Finish the flushes under way, end the thread, unlock. Harmless when done twice."""
        if self._is_open:
            self._is_open = False
            if self._thread is not None:
                self._bell.put(False)
                self._thread.join()
            os.close(self._done)
            os.close(self._file)

    def _is_caller_to_wait(self) -> bool:
        if self._thread is None:
            return True
        is_trusted = self._flushing is Flushing.ADAPTIVE and self._quick_in_a_row >= _QUICK_IN_A_ROW
        return is_trusted and self._durable == self._tickets - 1  # the thread has nothing left to do

    def _serve_flushes(self) -> None:
        while self._bell.get():
            # One flush covers every write before it: tickets that piled up meanwhile share it.
            if (ticket := self._tickets) > self._durable:
                self._flush_until(ticket)

    def _flush_until(self, ticket: int) -> None:
        if self._failure is None:
            started = time.monotonic()
            try:
                self._sync(self._file)
            except OSError as error:
                # The kernel may have dropped the pages and call a second try a success: never believe it.
                self._failure = f"Cannot make {self._path} durable: {reason(error)}."
            else:
                is_quick = time.monotonic() - started < _QUICK_SECONDS
                self._quick_in_a_row = self._quick_in_a_row + 1 if is_quick else 0
                self._durable = ticket
        os.eventfd_write(self._done, 1)
        # After the write: seen too early, the flag would be taken down with the descriptor left readable.
        self._is_done_signalled = True

    def _require_open(self) -> None:
        if not self._is_open:
            raise NvramError(f"{self._path} is closed.")

    def _require_sound(self) -> None:
        self._require_open()
        if self._failure is not None:
            raise NvramError(self._failure)


def _open_whole(path: Path, size: int, lock_timeout: float) -> int:
    """Return the descriptor of the locked file, made or finished if need be."""
    try:
        file = _open_locked(path, lock_timeout)
    except OSError as error:
        raise NvramError(
            f"Cannot open {path}: {reason(error)}; use a data folder that is yours to write."
        ) from error
    try:
        _make_whole(path, file, size)
    except BaseException:
        os.close(file)
        raise
    return file


def _open_locked(path: Path, lock_timeout: float) -> int:
    """Return the descriptor of the file at ``path``, locked; whoever holds the lock owns the name too."""
    give_up = time.monotonic() + lock_timeout
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The owner before us may have removed the file while we waited for it.
            if path.exists() and path.stat().st_ino == os.fstat(file).st_ino:
                return file
        except BlockingIOError as error:
            if time.monotonic() >= give_up:
                os.close(file)
                raise NvramError(
                    f"{path} is in use by a machine that is running; stop it, or use another data folder."
                ) from error
            time.sleep(_LOCK_RETRY_SECONDS)
        except OSError:
            os.close(file)
            raise
        os.close(file)


def _make_whole(path: Path, file: int, size: int) -> None:
    """Fill a new file with zeros. A shorter file of only zeros is one that a power cut left half made."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise NvramError(f"{path} is no file; remove it, or use another data folder.")
    present = status.st_size
    if present == size:
        return
    if present > size or any(os.pread(file, present, 0)):
        raise NvramError(
            f"{path} is {present} bytes, expected {size}: damaged, or no memory of this machine; "
            "put the right file back, or use another data folder."
        )
    try:
        # Written, not reserved: a first write into reserved blocks costs the file system a commit.
        for offset in range(present, size, _CHUNK):
            _write_all(file, bytes(min(_CHUNK, size - offset)), offset)
        os.fsync(file)
        _sync_folder(path.parent)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise NvramError(
            f"Cannot make {path} of {size} bytes: {reason(error)}; "
            "free some space, or use another data folder."
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(file: int, data: bytes, offset: int) -> None:
    written = os.pwrite(file, data, offset)
    # A regular file takes less than asked only just before it fails: ask again to learn why.
    while written < len(data):
        written += os.pwrite(file, data[written:], offset + written)
