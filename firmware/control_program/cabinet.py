"""What is plugged in: the ports of one cabinet, opened by whoever starts the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from firmware.control_program.options import DEFAULT_DUTIES
from hal.ports.clock import Clock
from hal.ports.entropy import Entropy
from hal.ports.links import ByteLink, WakeupLink
from hal.ports.media import Media
from hal.ports.nvram import Nvram
from hal.ports.pins import InputPins, OutputPins


@dataclass(slots=True)
class SasLine:
    """One SAS line. ``url`` is for people; ``address`` 1..127; ``behaviour`` names a dialect."""

    link: WakeupLink
    url: str
    address: int = 1
    behaviour: str = "reference"
    duties: tuple[str, ...] = DEFAULT_DUTIES


def _go_on() -> None:
    """Memory in RAM is durable at once: nothing to wait for."""


@dataclass(slots=True)
class Cabinet:
    """The machine's hardware.

    ``devices``: name of a row of ``devices.DEVICES`` -> the link to it; what is not there, the cabinet lacks.
    ``pause`` passes a moment while memory becomes durable at power-up and power-down, when the loop does not run.
    """

    nvram: Nvram
    media: Media
    clock: Clock
    entropy: Entropy
    devices: Mapping[str, ByteLink]
    inputs: InputPins
    outputs: OutputPins
    sas_lines: tuple[SasLine, ...]
    pause: Callable[[], None] = _go_on
