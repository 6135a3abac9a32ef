"""Small Protocols through which the firmware sees its hardware.

No port knows a baud rate, a pin number or a file name.
"""
