"""Drivers: one device each, ports and a codec in, facts out. Time arrives as an argument."""
