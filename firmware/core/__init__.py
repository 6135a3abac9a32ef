"""What the machine decides: a file per subject with a pure ``step``, and the tables."""
