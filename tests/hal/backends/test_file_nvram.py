"""Critical memory in a file: flushing in a thread, locking, creation, and everything a disk can do to it."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hal.backends.file_nvram import FileNvram, Flushing
from hal.backends.nvram_bounds import DEFAULT_SIZE
from hal.ports.nvram import NvramError

SIZE = 4096
PATIENCE_SECONDS = 5.0

HOLDER = """
import sys, time
from pathlib import Path
from hal.backends.file_nvram import FileNvram
nvram = FileNvram(Path(sys.argv[1]), 4096)
nvram.write(0, b"held")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.bin"


class SlowDisk:
    """A disk whose flush waits until it is let go, and may fail."""

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        self.flushes = 0
        self.error: OSError | None = None

    def sync(self, _: int) -> None:
        assert self.gate.acquire(timeout=PATIENCE_SECONDS)
        self.flushes += 1
        if self.error is not None:
            raise self.error


def until(is_so: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.0005)


def is_readable(descriptor: int, seconds: float = 0.0) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


class TestFlushing:
    def test_flush_does_not_wait_and_writes_go_on_meanwhile(self, path: Path) -> None:
        disk = SlowDisk()
        nvram = FileNvram(path, SIZE, sync=disk.sync)
        nvram.write(0, b"one")
        assert nvram.flush() == 1
        nvram.write(0, b"two")
        assert nvram.read(0, 3) == b"two"
        assert nvram.durable() == 0
        disk.gate.release()
        until(lambda: nvram.durable() == 1)
        nvram.close()

    def test_the_loop_is_woken_once_for_each_end_of_a_flush(self, path: Path) -> None:
        disk = SlowDisk()
        nvram = FileNvram(path, SIZE, sync=disk.sync)
        for ticket in (1, 2, 3):
            nvram.flush()
            assert not is_readable(nvram.fileno())
            disk.gate.release()
            assert is_readable(nvram.fileno(), PATIENCE_SECONDS)
            until(lambda ticket=ticket: nvram.durable() == ticket)  # type: ignore[misc]
            until(lambda: nvram.durable() > 0 and not is_readable(nvram.fileno()))
        nvram.close()

    def test_tickets_that_piled_up_share_one_flush(self, path: Path) -> None:
        disk = SlowDisk()
        nvram = FileNvram(path, SIZE, sync=disk.sync)
        for _ in range(10):
            nvram.flush()
        disk.gate.release(2)
        until(lambda: nvram.durable() == 10)
        assert disk.flushes <= 2
        nvram.close()

    def test_no_ticket_is_durable_before_a_flush_that_began_after_it(self, path: Path) -> None:
        disk = SlowDisk()
        nvram = FileNvram(path, SIZE, sync=disk.sync)
        nvram.flush()
        until(lambda: nvram._bell.empty())  # the first flush has begun
        time.sleep(0.005)
        nvram.write(0, b"after the first flush began")
        assert nvram.flush() == 2
        disk.gate.release()
        until(lambda: nvram.durable() == 1)
        time.sleep(0.005)
        assert nvram.durable() == 1
        disk.gate.release()
        until(lambda: nvram.durable() == 2)
        nvram.close()

    def test_closing_finishes_what_was_asked_for(self, path: Path) -> None:
        disk = SlowDisk()
        nvram = FileNvram(path, SIZE, sync=disk.sync)
        nvram.flush()
        threading.Timer(0.02, disk.gate.release).start()
        nvram.close()
        assert disk.flushes == 1
        assert not any(thread.name == "nvram-flush" for thread in threading.enumerate())

    @pytest.mark.parametrize("flushing", Flushing)
    def test_a_failed_flush_is_never_forgotten(self, path: Path, flushing: Flushing) -> None:
        disk = SlowDisk()
        disk.error = OSError(errno.EIO, os.strerror(errno.EIO))
        nvram = FileNvram(path, SIZE, sync=disk.sync, flushing=flushing)
        disk.gate.release()
        assert nvram.flush() == 1
        assert is_readable(nvram.fileno(), PATIENCE_SECONDS)
        disk.error = None  # a second fsync after a failed one reports success for pages that are lost
        disk.gate.release(5)
        message = f"Cannot make {path} durable: input/output error."
        for attempt in (nvram.durable, lambda: nvram.write(0, b"x"), nvram.durable):
            with pytest.raises(NvramError) as caught:
                attempt()
            assert str(caught.value) == message
        assert nvram.flush() == 2
        with pytest.raises(NvramError):
            nvram.durable()
        assert disk.flushes == 1
        assert nvram.read(0, 1) == b"\0"  # a technician may still look
        nvram.close()

    def test_an_adaptive_memory_lets_the_caller_wait_while_the_disk_is_quick(self, path: Path) -> None:
        pauses = dict.fromkeys(range(1, 200), 0.0) | {50: 0.01, 51: 0.01}
        waiting: list[bool] = []  # whether the caller waited, by flush

        def sync(_: int) -> None:
            waiting.append(threading.current_thread() is threading.main_thread())
            time.sleep(pauses[len(waiting)])

        nvram = FileNvram(path, SIZE, sync=sync, flushing=Flushing.ADAPTIVE)
        for ticket in range(1, 150):
            assert nvram.flush() == ticket
            until(lambda ticket=ticket: nvram.durable() == ticket)  # type: ignore[misc]
        nvram.close()
        assert not any(waiting[:32]), "trusted the disk before it had proved quick"
        assert waiting[49], "the caller meets the first slow flush"
        assert not waiting[50], "and only the first"
        assert not any(waiting[50:82])
        assert any(waiting[82:]), "never trusted the disk again"

    def test_the_real_flush_reaches_the_file(self, path: Path) -> None:
        nvram = FileNvram(path, SIZE)
        nvram.write(100, b"kept")
        nvram.flush()
        until(lambda: nvram.durable() == 1)
        nvram.close()
        with opened(path) as again:
            assert again.read(100, 4) == b"kept"


@contextlib.contextmanager
def file_size_limit(limit: int) -> Iterator[None]:
    """No write may go beyond ``limit`` bytes of a file within the block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def opened(path: Path, size: int = SIZE) -> Iterator[FileNvram]:
    nvram = FileNvram(path, size)
    yield nvram
    nvram.close()


class TestCreation:
    def test_a_new_file_has_its_whole_size_on_the_disk_and_is_nobody_elses(self, path: Path) -> None:
        FileNvram(path).close()
        status = path.stat()
        assert status.st_size == DEFAULT_SIZE == 524_288
        assert status.st_blocks * 512 >= DEFAULT_SIZE  # no holes: a later write cannot find the disk full
        assert stat.S_IMODE(status.st_mode) == 0o600

    def test_nothing_but_the_file_is_made(self, path: Path) -> None:
        FileNvram(path, SIZE).close()
        assert [entry.name for entry in path.parent.iterdir()] == ["memory.bin"]

    @pytest.mark.parametrize("present", [0, 1, 511, 512, 4095])
    def test_a_creation_cut_short_is_finished(self, path: Path, present: int) -> None:
        path.write_bytes(bytes(present))
        with opened(path) as nvram:
            assert nvram.read(0, SIZE) == bytes(SIZE)
        assert path.stat().st_size == SIZE

    @pytest.mark.parametrize("present", [1, 512, 4095])
    def test_a_shorter_file_with_content_is_refused_and_left_alone(self, path: Path, present: int) -> None:
        content = bytes(present - 1) + b"\x01"
        path.write_bytes(content)
        with pytest.raises(NvramError, match=rf"memory.bin is {present} bytes, expected 4096: damaged"):
            FileNvram(path, SIZE)
        assert path.read_bytes() == content

    def test_a_longer_file_is_refused_and_left_alone(self, path: Path) -> None:
        path.write_bytes(bytes(SIZE + 1))
        with pytest.raises(NvramError, match="put the right file back, or use another data folder"):
            FileNvram(path, SIZE)
        assert path.stat().st_size == SIZE + 1

    def test_a_full_disk_leaves_nothing_half_made(self, path: Path) -> None:
        # A limit on file size stands in for the full disk: the kernel takes a part and refuses the rest.
        with file_size_limit(100_000), pytest.raises(NvramError) as caught:
            FileNvram(path)
        assert str(caught.value) == (
            f"Cannot make {path} of 524288 bytes: file too large; "
            "free some space, or use another data folder."
        )
        assert not path.exists()
        FileNvram(path).close()

    def test_a_folder_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(NvramError) as caught:
            FileNvram(tmp_path / "nowhere" / "memory.bin")
        assert str(caught.value) == (
            f"Cannot open {tmp_path}/nowhere/memory.bin: no such file or directory; "
            "use a data folder that is yours to write."
        )

    def test_a_folder_in_the_way_is_named(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(NvramError, match="is a directory"):
            FileNvram(path)

    def test_a_folder_that_is_not_ours_to_write_is_named(self) -> None:
        # Nobody may make files in /dev/pts, not even root.
        with pytest.raises(NvramError) as caught:
            FileNvram(Path("/dev/pts/memory.bin"))
        assert str(caught.value) == (
            "Cannot open /dev/pts/memory.bin: permission denied; use a data folder that is yours to write."
        )

    def test_a_refusal_leaves_no_descriptor_and_no_lock(self, path: Path) -> None:
        path.write_bytes(b"x")
        before = sum(1 for _ in Path("/proc/self/fd").iterdir())
        for _ in range(3):
            with pytest.raises(NvramError):
                FileNvram(path, SIZE)
        assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
        path.unlink()
        FileNvram(path, SIZE, lock_timeout=0).close()


class TestInService:
    def test_a_write_that_the_disk_takes_in_part_is_finished_or_an_error(self, path: Path) -> None:
        with opened(path, DEFAULT_SIZE) as nvram:
            limit = file_size_limit(1000)
            with limit, pytest.raises(NvramError, match=r"Cannot write .*: file too large"):
                nvram.write(900, b"x" * 200)
            nvram.write(900, b"y" * 200)
            assert nvram.read(900, 200) == b"y" * 200

    def test_a_file_that_someone_shortens_is_an_error(self, path: Path) -> None:
        with opened(path) as nvram:
            os.truncate(path, 1000)
            assert nvram.read(0, 1000) == bytes(1000)
            with pytest.raises(NvramError, match="has become shorter than 4096 bytes"):
                nvram.read(0, 1001)

    def test_after_closing_every_use_is_an_error(self, path: Path) -> None:
        nvram = FileNvram(path, SIZE)
        nvram.close()
        nvram.close()
        for attempt in (lambda: nvram.read(0, 1), lambda: nvram.write(0, b"x"), nvram.durable):
            with pytest.raises(NvramError, match="is closed"):
                attempt()


class TestLocking:
    def test_a_second_machine_is_refused_in_one_sentence(self, path: Path) -> None:
        with opened(path):
            with pytest.raises(NvramError) as caught:
                FileNvram(path, SIZE, lock_timeout=0)
            assert str(caught.value) == (
                f"{path} is in use by a machine that is running; stop it, or use another data folder."
            )
        FileNvram(path, SIZE, lock_timeout=0).close()

    def test_a_second_process_is_refused_until_the_first_is_killed(self, path: Path) -> None:
        command = [sys.executable, "-c", HOLDER, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(NvramError, match="is in use by a machine that is running"):
                FileNvram(path, SIZE, lock_timeout=0.05)
            holder.send_signal(signal.SIGKILL)
            # Not waited for: the start of the next machine may overlap the end of the killed one.
            with opened(path) as nvram:
                assert nvram.read(0, 4) == b"held"  # written, not flushed, and the kernel still had it

    def test_a_machine_that_is_just_ending_is_waited_for(self, path: Path) -> None:
        first = FileNvram(path, SIZE)
        threading.Timer(0.05, first.close).start()
        FileNvram(path, SIZE, lock_timeout=PATIENCE_SECONDS).close()

    def test_a_file_removed_while_we_waited_for_it_is_made_anew(self, path: Path) -> None:
        first = FileNvram(path, SIZE)

        def leave() -> None:
            path.unlink()
            first.close()

        threading.Timer(0.05, leave).start()
        with opened(path) as nvram:
            nvram.write(0, b"x")
        assert path.read_bytes()[:1] == b"x"
