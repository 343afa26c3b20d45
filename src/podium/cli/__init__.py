"""The command line: one file per command, no logic of its own.

Commands import the library when they run, so ``podium --help`` and shell completion stay fast.
"""

import gc
import os

__all__ = ["USUAL_COLLECTION", "main"]

USUAL_COLLECTION = gc.get_threshold()
"""How often Python collects garbage; a command that runs for long goes back to it."""


def main() -> None:
    """Run the command line."""
    # Imports create a hundred thousand long-lived objects; collecting among them takes a tenth of the start-up time.
    gc.set_threshold(200_000)
    # NumPy would start a thread per core for products of large matrices, which no command computes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from podium.cli.commands import app

    app(prog_name="podium")
