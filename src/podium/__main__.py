"""``python -m podium``."""

from podium.cli import main

main()
