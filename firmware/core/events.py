"""The event table: everything that happens in the machine and that others hear of.

A row says under which name the public hears it (interface.md 3), which code a SAS host gets (SAS 7.2), whether
it stands in the event log, and which of its facts ride along to the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventRow:
    """One kind of event.

    Args:
        key: what the core calls it.
        number: its number in the event log, never reused.
        public: its name for the panel and for scripts; "" = only hosts and the log hear it.
        host: SAS exception code, or ``None``.
        host_facts: names of the facts that go to the host with it, in order (SAS 8).
        priority: the host's code is a flag (pending or not) and not a queue entry (SAS 7.1).
        front: goes in front of entries kept from before the power loss (decisions.md "SAS").
        duty: only lines trusted with it get the host's code; "" for all.
        log: kept in the event log with its time (NJ 1.28B(s)).
        own_line: only the host of the line that the fact ``line`` names hears of it.
        text: what the log and the documentation say.
    """

    key: str
    number: int
    public: str
    text: str
    host: int | None = None
    host_facts: tuple[str, ...] = ()
    priority: bool = False
    front: bool = False
    log: bool = False
    duty: str = ""
    own_line: bool = False


_ROWS = (
    EventRow("power_up", 1, "power_up", "power applied", 0x17, front=True, log=True),
    EventRow("power_down", 2, "power_down", "power lost or program stopped", 0x18, front=True, log=True),
    EventRow("playable", 3, "playable", "play is possible"),
    EventRow("unplayable", 4, "unplayable", "play is blocked"),
    EventRow("credits_changed", 5, "credits_changed", "the credit meter changed"),
    EventRow("bill_escrowed", 10, "bill_escrowed", "note in escrow"),
    # In real-time mode the code is 4F with data for every note; outside it each note has its own (SAS 7.2).
    EventRow("bill_stacked", 11, "bill_stacked", "note accepted", 0x4F, ("cents", "count")),
    EventRow("bill_returned", 12, "bill_returned", "note returned"),
    EventRow("bill_rejected", 13, "bill_rejected", "note rejected", 0x2B),
    EventRow("bill_lost", 15, "bill_not_stacked", "a note that was to be stacked was not"),
    EventRow("ticket_returned", 16, "ticket_rejected", "ticket returned: not redeemed by this machine"),
    EventRow("game_started", 20, "game_started", "game started", 0x7E, ("wager_cents", "coin_in_cents", "is_max_bet"), duty="game_events"),
    EventRow("game_ended", 21, "game_ended", "game ended", 0x7F, ("win_cents",), duty="game_events"),
    EventRow("bet_changed", 22, "bet_changed", "bet changed"),
    # Legacy hand pay reporting: entries like any other, so that the host hears of each, in order (SAS 7.1, 15).
    EventRow("handpay_pending", 30, "handpay_pending", "hand pay pending", 0x51, log=True),
    EventRow("handpay_reset", 31, "handpay_reset", "hand pay reset", 0x52, log=True),
    EventRow("cash_out_started", 32, "cash_out_started", "cash out asked for"),
    EventRow("tilt_raised", 40, "tilt_raised", "condition raised"),
    EventRow("tilt_cleared", 41, "tilt_cleared", "condition cleared"),
    EventRow("main_door_opened", 50, "door_opened", "main door opened", 0x11, log=True),
    EventRow("main_door_closed", 51, "door_closed", "main door closed", 0x12, log=True),
    EventRow("drop_door_opened", 52, "door_opened", "drop door opened", 0x13, log=True),
    EventRow("drop_door_closed", 53, "door_closed", "drop door closed", 0x14, log=True),
    EventRow("logic_door_opened", 54, "door_opened", "logic door opened", 0x15, log=True),
    EventRow("logic_door_closed", 55, "door_closed", "logic door closed", 0x16, log=True),
    EventRow("cash_box_door_opened", 56, "door_opened", "cash box door opened", 0x19, log=True),
    EventRow("cash_box_door_closed", 57, "door_closed", "cash box door closed", 0x1A, log=True),
    EventRow("belly_door_opened", 58, "door_opened", "belly door opened", 0x1D, log=True),
    EventRow("belly_door_closed", 59, "door_closed", "belly door closed", 0x1E, log=True),
    # SAS has no code of its own for these three; cabinet_io.md 1 sends 11 and 12 for the top box.
    EventRow("top_box_door_opened", 60, "door_opened", "top box opened", 0x11, log=True),
    EventRow("top_box_door_closed", 61, "door_closed", "top box closed", 0x12, log=True),
    EventRow("acceptor_door_opened", 62, "door_opened", "acceptor door opened", 0x11, log=True),
    EventRow("acceptor_door_closed", 63, "door_closed", "acceptor door closed", 0x12, log=True),
    EventRow("hard_meter_door_opened", 64, "door_opened", "hard meter cover opened", 0x11, log=True),
    EventRow("hard_meter_door_closed", 65, "door_closed", "hard meter cover closed", 0x12, log=True),
    EventRow("key_on", 70, "key_on", "key turned on"),
    EventRow("key_off", 71, "key_off", "key turned off"),
    EventRow("bill_jam", 80, "", "bill jam", 0x28, log=True),
    EventRow("stacker_full", 81, "", "stacker full", 0x27, log=True),
    EventRow("stacker_removed", 82, "stacker_removed", "stacker removed", 0x1B, log=True),
    EventRow("stacker_installed", 83, "stacker_installed", "stacker installed", 0x1C, log=True),
    EventRow("acceptor_failure", 84, "", "bill acceptor hardware failure", 0x29, log=True),
    EventRow("acceptor_cheated", 85, "", "bill acceptor reports a fishing attempt", 0x2C, log=True),
    EventRow("acceptor_lost", 86, "", "bill acceptor does not answer", 0x29, log=True),
    EventRow("stacker_meters_reset", 87, "", "stacker meters reset", 0x7B),
    EventRow("memory_repaired", 90, "memory_repaired", "critical memory error, content recovered", 0x31, log=True),
    EventRow("memory_failed", 91, "memory_failed", "critical memory error, content lost", 0x32, log=True),
    EventRow("program_error", 92, "program_error", "the program found itself wrong", 0x20, log=True),
    EventRow("generator_failed", 93, "generator_failed", "random number generator failed", 0x20, log=True),
    EventRow("host_link_up", 100, "host_link_up", "host line up", log=True),
    # No SAS code of its own: the host finds a general tilt when the line is back (?) (decisions.md "SAS").
    EventRow("host_link_down", 101, "host_link_down", "host line lost", 0x20, log=True, own_line=True),
    EventRow("play_disabled", 102, "play_disabled", "play disabled by a host", log=True),
    EventRow("play_enabled", 103, "play_enabled", "play enabled by a host", log=True),
    EventRow("acceptor_disabled", 104, "acceptor_disabled", "bill acceptor disabled by a host"),
    EventRow("acceptor_enabled", 105, "acceptor_enabled", "bill acceptor enabled by a host"),
    EventRow("clock_set", 106, "clock_set", "clock set", log=True),
    EventRow("setting_changed", 107, "setting_changed", "setting changed", 0x3C, log=True),
)  # fmt: skip

EVENTS: Mapping[str, EventRow] = {row.key: row for row in _ROWS}
BY_NUMBER: Mapping[int, EventRow] = {row.number: row for row in _ROWS}

OVERFLOW_HOST_CODE = 0x70
"""Exception 70: the host's queue overflowed and lost its oldest entry (SAS 7.1)."""
