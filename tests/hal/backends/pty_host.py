"""A SAS host in a process of its own, for the tests of the pseudo-terminal: pyserial as a user would use it.

``python pty_host.py STYLE PORT FRAMES PAUSE_MS`` sends frames ``N, 72 FF N FF 00`` with N = 1, 2 … and ends.
"""

import sys
import time

import serial

REST_SIZE = 5


def frame(number: int) -> tuple[bytes, bytes]:
    """The marked first byte and the unmarked rest of one message."""
    address = number % 127 + 1
    return bytes([address]), bytes([0x72, 0xFF, address, 0xFF, 0x00])


def toggle(port: str, frames: int, pause: float) -> None:
    """Change the parity of the open port in front of each part."""
    host = serial.Serial(port, 19200, parity=serial.PARITY_SPACE, timeout=0.1)
    for number in range(frames):
        first, rest = frame(number)
        host.parity = serial.PARITY_MARK
        host.write(first)
        time.sleep(pause)
        host.parity = serial.PARITY_SPACE
        host.write(rest)
        time.sleep(pause)
    host.close()


def reopen(port: str, frames: int, pause: float) -> None:
    """Close and open the port between the parts, and ask for what is already set as often as not."""
    for number in range(frames):
        first, rest = frame(number)
        for parity, part in ((serial.PARITY_MARK, first), (serial.PARITY_SPACE, rest)):
            with serial.Serial(port, 19200, parity=parity, timeout=0.1) as host:
                host.write(part)
            time.sleep(pause)


def polls(port: str, frames: int, pause: float) -> None:
    """A foreign poll under mark before each message, and another speed each time."""
    host = serial.Serial(port, 19200, parity=serial.PARITY_SPACE, timeout=0.1)
    for number in range(frames):
        first, rest = frame(number)
        host.parity = serial.PARITY_MARK
        host.write(b"\x82")
        time.sleep(pause)
        host.write(first)
        time.sleep(pause)
        host.parity = serial.PARITY_SPACE
        host.write(rest)
        time.sleep(pause)
        host.baudrate = (9600, 115200, 19200)[number % 3]
    host.close()


def bare(port: str, frames: int, pause: float) -> None:
    """No parity at all."""
    with serial.Serial(port, 19200, timeout=0.1) as host:
        for number in range(frames):
            host.write(b"".join(frame(number)))
            time.sleep(pause)


if __name__ == "__main__":
    style, port, frames, pause_ms = sys.argv[1:]
    {"toggle": toggle, "reopen": reopen, "polls": polls, "bare": bare}[style](
        port, int(frames), float(pause_ms) / 1000
    )
