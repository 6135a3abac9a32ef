"""The watchdog: bites a silent loop, and no other."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from hal.backends.watchdog import EXIT_CODE, Watchdog

HANGING = """
import time
from hal.backends.watchdog import Watchdog
watchdog = Watchdog(silence_s=0.3)
watchdog.start()
while True:
    time.sleep(0.001)
"""


def test_a_beating_loop_is_left_alone_and_a_silent_one_is_bitten() -> None:
    bitten = threading.Event()
    watchdog = Watchdog(bitten.set, silence_s=0.3)
    watchdog.start()
    for _ in range(20):
        watchdog.beat()
        assert not bitten.wait(0.05)
    assert bitten.wait(5)


def test_a_stopped_watchdog_bites_nobody() -> None:
    bitten = threading.Event()
    watchdog = Watchdog(bitten.set, silence_s=0.1)
    watchdog.start()
    watchdog.stop()
    assert not bitten.wait(0.5)


def test_a_hung_process_ends_with_its_own_exit_code_even_if_nobody_reads_what_it_says() -> None:
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", HANGING], stderr=subprocess.PIPE)
    assert process.wait(timeout=20) == EXIT_CODE
    assert time.monotonic() - began < 10
    assert process.stderr is not None
    assert b"most recent call first" in process.stderr.read()
    process.stderr.close()
