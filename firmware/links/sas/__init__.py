"""The machine's end of a SAS line: which polls it answers, from what, and what a command means to the core."""
