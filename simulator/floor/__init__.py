"""Host systems of a gaming floor: the other end of the machine's lines. Pure; I/O is elsewhere."""
