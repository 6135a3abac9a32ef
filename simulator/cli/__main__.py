"""``python -m simulator.cli``: the command ``egm`` where the package is not installed."""

from simulator.cli import main

main()
