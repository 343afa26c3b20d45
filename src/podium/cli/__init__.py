"""The command line: one file per command, no logic of its own.

Commands import the library when they run, so that ``podium --help`` and a completed word do not wait for it.
"""

from podium.cli.commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app(prog_name="podium")
