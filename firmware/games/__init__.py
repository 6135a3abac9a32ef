"""Games as data: the par sheet, its exact mathematics, what the law asks of it, and the play."""
