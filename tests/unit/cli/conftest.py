"""Every test of the commands runs in a folder of its own, with a small table in it."""

from tests.support.command_line import folder, views

__all__ = ["folder", "views"]
