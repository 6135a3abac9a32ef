"""Pure codecs of device wires: a file each, bytes to values and back. No I/O, no clock, no decisions."""
