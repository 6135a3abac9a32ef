"""Twin devices: what a real device does on its wire, with its physics. A twin never sees the firmware."""
