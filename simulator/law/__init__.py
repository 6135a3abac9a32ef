"""The law as data: the clauses, the tests that show them, and what those tests said last."""
