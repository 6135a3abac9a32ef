"""The SAS language: polls, events and meters as tables; a machine end and a host end without I/O."""
