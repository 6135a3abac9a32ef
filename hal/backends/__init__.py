"""The only modules that touch the outside world: each makes a port of something real, or of memory."""
