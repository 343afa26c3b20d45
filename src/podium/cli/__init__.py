"""The command line: one file per command, no logic of its own.

Commands import the library when they run, so that ``podium --help`` and a completed word do not wait for it.
"""

import gc

from podium.cli.commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    # Loading makes a hundred thousand objects that stay; to look for garbage among them takes a tenth of the start.
    gc.set_threshold(100_000)
    app(prog_name="podium")
