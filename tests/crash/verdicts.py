"""What must hold after a power cut, seen from inside (the record) and from outside (everybody else)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from firmware.control_program import state_blocks
from firmware.core import game_cycle, tilts
from firmware.core.state import Machine, Rules, new_machine
from firmware.memory import CriticalMemory, Status
from sas_protocol.host_end import LongPollRequest
from sas_protocol.longpolls import control
from simulator.audit import REPEATS_MAX, Audit, settle
from simulator.cabinet.note_path import AcceptorBody
from simulator.whole_machine import SECOND_US, WholeMachine
from tests.crash.cuttable_nvram import CuttableNvram, PowerCutError

KEPT = (
    "credits",
    "cash_in",
    "game",
    "handpay",
    "host_control",
    "marks",
    "settings",
    "meters",
    "game_meters",
    "log",
)
RESTART_CUTS_MAX = 3


def legal_states(machine: WholeMachine, error: BaseException | None, before: list[Machine]) -> list[Machine]:
    """What critical memory may hold after the cut: the last durable state, or the one that was being recorded.

    ``before``: the last durable state of a program that is gone already.
    """
    legal = before if machine.world.machine is None else [machine.program.executor.durable]
    legal = list(legal)
    trace = None if error is None else error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        match trace.tb_frame.f_code.co_name:
            case "_process" if "turn" in local:
                legal.append(local["turn"].machine)
            case "__init__" | "_kept_machine" if isinstance(local.get("machine"), Machine):
                legal.append(local["machine"])
            case "_close_record" if local.get("record") is not None:
                legal.append(local["record"].machine)
        trace = trace.tb_next
    return legal


def recorded(rules: Rules, nvram: CuttableNvram) -> Machine | None:
    """The state that a copy of the memory holds, read without the machine. None: nothing was ever recorded."""
    memory = CriticalMemory(nvram.clone(), state_blocks.BLOCKS)
    report = memory.power_up()
    if report.status is Status.FRESH:
        return None
    assert report.status in (Status.INTACT, Status.REPAIRED), report
    if not any(memory.content(state_blocks.IDENTITY.id)):
        return None
    return state_blocks.restore(new_machine(rules, {}), memory.content)


def differences(found: Machine, due: Machine) -> list[str]:
    """In which kept parts two states differ; queues and what is found anew are left out."""
    parts = [part for part in KEPT if getattr(found, part) != getattr(due, part)]
    if tilts.kept(found.tilts) != tilts.kept(due.tilts):
        parts.append("tilts")
    return parts


def of_record(found: Machine, legal: list[Machine]) -> Iterator[str]:
    """The recorded state is a legal one, and owes every host what that one owes."""
    matching = [due for due in legal if not differences(found, due)]
    if not matching:
        best = min((differences(found, due) for due in legal), key=len)
        yield f"the memory holds a state that never was: {', '.join(best)}"
        return
    yield from min((list(_of_queues(found, due)) for due in matching), key=len)


def _of_queues(found: Machine, due: Machine) -> Iterator[str]:
    for number, (has, owes) in enumerate(zip(found.host_queues, due.host_queues, strict=True)):
        sequences = {notice.sequence for notice in has.pending}
        lost = [notice for notice in owes.pending if notice.sequence not in sequences]
        again = len(sequences) - len(owes.pending)
        if lost:
            yield f"line {number}: notices lost: {lost}"
        if again > REPEATS_MAX:
            yield f"line {number}: {again} notices that the host has acknowledged come again"


@dataclass
class AfterCut:
    """Judges a machine whose power was cut: what is on record, what it comes back to, how it goes on.

    Args:
        machine: as the cut left it; its firmware has not been dropped yet.
        nvram: its critical memory.
        before: while a machine powers up, the last durable state before it; empty for a new memory.
    """

    machine: WholeMachine
    nvram: CuttableNvram
    before: list[Machine]

    def problems(self, error: BaseException | None, seed: int) -> list[str]:
        """Restart on what survived, run to rest, look from all sides, play on, and look again."""
        machine, nvram = self.machine, self.nvram
        chance = random.Random(seed)
        if error is None:
            return self._at_rest()
        legal = legal_states(machine, error, self.before)
        announced_before = len(machine.announced)
        if seed % 2:
            self._forget_what_was_not_saved()
        machine.cut()
        nvram.reboot()
        found = recorded(legal[0].rules, nvram) if legal else None
        problems = [] if found is None else list(of_record(found, legal))
        if found is None and machine.announced:
            problems.append("a machine that ran is not on record")
        machine.run_for(chance.choice((1, 50_000, 1_500_000, 40_000_000)))
        self._restart(chance if seed % 4 == 3 else None)
        problems += self._of_game_in_play(found)
        problems += self._at_rest()
        problems += self._of_announced(announced_before)
        problems += self._play_on()
        return problems + [f"after playing on: {problem}" for problem in self._at_rest()]

    def _forget_what_was_not_saved(self) -> None:
        """The cabinet as a killed process leaves it: as its file has it."""
        kept = self.machine.store.load()
        if kept is None:
            return  # cut before the cabinet was saved for the first time: it is new
        self.machine.twins.acceptor._inside.body = AcceptorBody.from_json(kept["twins"]["acceptor"])  # type: ignore[index]

    def _restart(self, chance: random.Random | None) -> None:
        """Give the power back; with ``chance`` it goes again during the restart, a few times."""
        for _ in range(0 if chance is None else RESTART_CUTS_MAX):
            assert chance is not None
            self.nvram.cut_after = self.nvram.operations + chance.randrange(12)
            try:
                self.machine.power_on()
                self.machine.run_for(chance.randrange(6 * SECOND_US))
            except PowerCutError:
                pass
            self.machine.cut()
            self.nvram.reboot()
        self.machine.power_on()

    def _of_game_in_play(self, found: Machine | None) -> Iterator[str]:
        """A game whose outcome was on record ends with that outcome."""
        if found is None or not isinstance(found.game, game_cycle.Spinning):
            return
        play = found.game.play
        machine = self.machine
        machine.driver.run_while(lambda: machine.program.executor.durable.game_in_play, 10 * SECOND_US)
        after = machine.program.executor.durable.game
        if not isinstance(after, game_cycle.Idle) or after.last != play:
            yield f"the game in play was {play}, it ended as {after}"

    def _at_rest(self) -> list[str]:
        if not settle(self.machine):
            return [f"no rest: {self.machine.world.state()['playable_blocked_by']}"]
        machine = self.machine
        tilt = machine.program.executor.durable.tilts & {
            "memory_failure",
            "program_error",
            "generator_failure",
        }
        found = [f"a cut alone led to {sorted(tilt)}"] if tilt else []
        if machine.events("memory_repaired"):
            found.append("a cut alone was taken for a memory error")
        return found + Audit(machine).problems() + list(self._of_commands())

    def _of_commands(self) -> Iterator[str]:
        """The host's latest acknowledged word about play is in force, unless it has said another since."""
        machine = self.machine
        said = [request.poll for _, request in machine.host.acked if isinstance(request, LongPollRequest)]
        said = [poll for poll in said if poll in (control.SHUTDOWN, control.STARTUP)]
        asked = [poll for poll in machine.host.asked if poll in (control.SHUTDOWN, control.STARTUP)]
        if said and said == asked:
            is_off = "host_disabled" in machine.program.executor.durable.tilts
            if is_off != (said[-1] is control.SHUTDOWN):
                yield f"play off is {is_off} after the acknowledged {said[-1].name}"

    def _of_announced(self, count_before: int) -> Iterator[str]:
        """Credits that were shown are credits that are there, but for what is announced since."""
        before = [one for one in self.machine.announced[:count_before] if one["event"] == "credits_changed"]
        since = [one for one in self.machine.announced[count_before:] if one["event"] == "credits_changed"]
        if (
            before
            and not since
            and self.machine.program.executor.durable.credits.total != before[-1]["total"]
        ):
            # One event may have been recorded and not announced: then the meters must tell of it.
            audit = Audit(self.machine)
            counted = {
                "coin_in": self._announced_cents("game_started", "wager_cents"),
                "bill_in": self._announced_cents("bill_stacked", "cents"),
                "coin_out": self._announced_cents("game_ended", "win_cents") - audit.ledger.jackpots,
                "attendant_paid_cancelled_credits": self._announced_cents("handpay_reset", "cents")
                - audit.meters["attendant_paid_jackpots"],
            }
            moved = [meter for meter, cents in counted.items() if audit.meters[meter] != cents]
            if len(moved) != 1:
                yield f"credits shown were {before[-1]['total']}; unannounced: {moved}"

    def _announced_cents(self, event: str, fact: str) -> int:
        return sum(int(str(one[fact])) for one in self.machine.events(event))

    def _play_on(self) -> Iterator[str]:
        """The attendant puts right what stands open; then a note, a game and a cash-out."""
        machine = self.machine
        hands, tilts_now = machine.world.hands, machine.program.executor
        hands.door("main", False)
        for on in (False, True, False):
            hands.key("reset", on)
            machine.run_for(400_000)
        if "host_disabled" in tilts_now.durable.tilts:
            machine.host.ask(LongPollRequest(control.STARTUP))
        machine.run_for(3 * SECOND_US)
        hands.bill(500)
        machine.run_for(6 * SECOND_US)
        hands.press("spin")
        machine.run_for(2 * SECOND_US)
        hands.press("cash_out")
        machine.run_for(1 * SECOND_US)
        for on in (True, False):
            hands.key("reset", on)
            machine.run_for(400_000)
        if not machine.events("handpay_reset"):
            yield f"the machine does not play on: {machine.world.state()['playable_blocked_by']}"
