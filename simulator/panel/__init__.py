"""The web panel: a process of its own, fed by the machine through one socket and ending with it."""
