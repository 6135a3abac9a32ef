"""Builds the machine from a cabinet, runs the loop, executes effects in order."""
