"""How many lists of how many items a budget is for: stated, asked for at a terminal, or the default plan."""

from __future__ import annotations

import sys

import typer

from podium.cli.console import say

__all__ = ["expected_use", "sits_at_a_terminal"]

_LENGTH = 10
_MAX_DIGITS = 9


def expected_use(items: int | None, questions: int | None) -> tuple[int, int]:
    """The items in all lists together, and the number of lists; what is not stated is asked, where somebody sits."""
    from podium.ledger.budget import DEFAULT_ITEMS, DEFAULT_QUESTIONS

    if items is None and questions is None:
        if sits_at_a_terminal():
            return _asked(DEFAULT_QUESTIONS)
        say(
            f"The budget is planned for {DEFAULT_ITEMS} items in {DEFAULT_QUESTIONS} lists. "
            "If you expect more or fewer, say --items and --questions: the total is shared out by them."
        )
    return (DEFAULT_ITEMS if items is None else items), (DEFAULT_QUESTIONS if questions is None else questions)


def sits_at_a_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(lists: int) -> tuple[int, int]:
    number: int = typer.prompt("How many lists do you expect?", default=lists, value_proc=_number, err=True)
    length: int = typer.prompt("Of how many items each?", default=_LENGTH, value_proc=_number, err=True)
    say(f"The same without questions: --items {number * length} --questions {number}")
    return number * length, number


def _number(text: str | int) -> int:
    """A number from 1; anything else is asked for again."""
    digits = str(text).strip().replace(",", "")
    if not digits.isdecimal() or len(digits) > _MAX_DIGITS or not int(digits):
        raise typer.BadParameter(f"a whole number from 1, not {text!r}")
    return int(digits)
