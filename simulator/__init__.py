"""The other side of every wire: twin devices, host systems, a world with time and faults, hands and tools."""
