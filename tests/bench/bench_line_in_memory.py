"""SAS exchanges in memory, on one core: line, link and snapshot, without a wire.

The floor is what nobody can avoid: put the poll in, look its answer up by its bytes, take the answer out, over the
same in-memory link.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from firmware.control_program.build import load_profile
from firmware.control_program.options import DEFAULT_DUTIES
from firmware.core.state import OfferedGame, Rules, new_machine
from firmware.games.loader import load_game
from firmware.links.sas.line import SasLink
from firmware.links.sas.view import SasIdentity
from hal.backends.memory_links import MemoryWakeupLink, wakeup_link_pair
from sas_protocol.crc import append_crc
from simulator.run_machine import media
from tests.bench.rows import Row

EXCHANGES = 40_000
ROUNDS = 5
GENERAL_POLL = b"\x81"
TEN_METERS = append_crc(
    bytes((1, 0x6F, 22, 0, 0)) + b"".join(bytes((code, 0)) for code in (0, 1, 2, 3, 4, 5, 6, 7, 0x0B, 0x24))
)
TEN_METERS_TWIN = append_crc(b"\x01\xaf" + TEN_METERS[2:-2])


def main() -> Iterable[Row]:
    """General polls and ten-meter 6F polls a second."""
    general = _rate(_link_exchange(GENERAL_POLL, GENERAL_POLL))
    yield Row("general polls in memory", general, "/s", limit=100_000, sense="at_least")
    yield Row("  of the bare lookup", general, "/s", floor=_rate(_bare_exchange(GENERAL_POLL)))
    meters = _rate(_link_exchange(TEN_METERS, TEN_METERS_TWIN))
    yield Row("ten-meter 6F/AF polls in memory", meters, "/s", limit=40_000, sense="at_least")
    yield Row("  of the bare lookup", meters, "/s", floor=_rate(_bare_exchange(TEN_METERS)))


def _rate(exchange: Callable[[int], None]) -> float:
    """Exchanges a second, the best of a few rounds: the others were disturbed."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for number in range(EXCHANGES):
            exchange(number)
        best = max(best, EXCHANGES / (time.perf_counter() - start))
    return best


def _link_exchange(even: bytes, odd: bytes) -> Callable[[int], None]:
    """A machine's link, synchronised; polls alternate, and each is preceded by what acknowledges the last answer.

    Two equal general polls in a row would be a NACK (SAS 6.2), so the host says ``80`` between, in the same write.
    """
    machine_end, host = wakeup_link_pair()
    link = _synchronised(machine_end, host)
    clock = [1_000_000]

    def exchange(number: int) -> None:
        clock[0] += 40_000
        if even is odd:
            host.write(b"\x80", wakeup=True)
            link.step(clock[0] - 20_000)
        poll = odd if number & 1 else even
        host.write(poll[:1], wakeup=True)
        if len(poll) > 1:
            host.write(poll[1:], wakeup=False)
        link.step(clock[0])
        if not host.read():
            raise RuntimeError("the machine did not answer")

    return exchange


def _bare_exchange(poll: bytes) -> Callable[[int], None]:
    machine, host = wakeup_link_pair()
    answers = {poll: b"\x00" * (3 * len(poll))}

    def exchange(_: int) -> None:
        host.write(poll, wakeup=True)
        asked = b"".join(data for data, _ in machine.read())
        machine.write(answers[asked], wakeup=False)
        if not host.read():
            raise RuntimeError("no answer")

    return exchange


def _synchronised(machine_end: MemoryWakeupLink, host: MemoryWakeupLink) -> SasLink:
    folder = media()
    source = "games/library/lantern_night/par.toml"
    game = load_game(folder.read(source).decode(), source, load_profile(folder, "nj"))
    rules = Rules((OfferedGame(1, game, int(game.base_percent)),), frozenset({"bill_acceptor"}), ("main",), 1)
    machine = new_machine(rules, {"accounting_denomination": 1})
    link = SasLink(
        0,
        machine_end,
        1,
        "reference",
        DEFAULT_DUTIES,
        SasIdentity("602", "SIM00001", "EM", "000"),
        lambda: 0,
        0,
    )
    link.refresh(machine)
    host.write(b"\x80", wakeup=True)
    link.step(500_000)
    host.write(GENERAL_POLL, wakeup=True)
    link.step(600_000)
    host.read()
    return link
