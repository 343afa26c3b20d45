"""``python -m podium``."""

from podium.cli.process import run

run()
