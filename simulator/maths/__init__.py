"""Par-sheet reports and played samples; the exact figures themselves are ``firmware.games.cycle``'s."""
