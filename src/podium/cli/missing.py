"""What a command line lacks, named all at once, with what each missing option says and a value to begin with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import typer

__all__ = ["OPTION_MEANINGS", "MissingOptions", "missing_options"]

OPTION_MEANINGS = {
    "source": "SOURCE is a file, a database URL, or - for standard input",
    "questions": "QUESTIONS is a JSON file with a list of questions",
    "item": "--item COL is the column to rank",
    "user": "--user COL is the column that identifies the people to protect",
    "winner": "--winner COL is the item that was preferred",
    "loser": "--loser COL is the other one",
    "comparisons_per_pair": "--comparisons-per-pair N is how many users you expect to compare each two items",
    "time": "--time COL is the column that says when",
    "start": "--start DATE is when the first period begins",
    "periods": "--periods N is how many periods the budget lasts for",
    "epsilon": "--epsilon limits what the answer may reveal about one person; 1 is a common choice",
    "delta": (
        "--delta is the probability that this limit fails: take much less than one over the number of people, such as "
        "--delta 1e-6 (a list of known items, --domain, needs none)"
    ),
    "ledger": "--ledger FILE is where budgets are kept, such as --ledger ledger.db",
    "dataset": "--dataset NAME is the name under which its budget was created",
}
_NEEDED = ("item", "user")
"""Needed wherever a command has them, although 'podium top FILE' alone is a question about the columns."""
_MAY_BE_A_SERVICE = ("mcp",)
"""Commands whose source may be a service, which knows its users; they say themselves what a table lacks."""
_DESCRIBING = frozenset(
    {"source", "table", "types", "bad_lines", "encoding", "no_header", "quiet", "no_color", "debug"}
)
_LISTED = ("domain", "domain_size", "items", "pairs")
"""With one of these the items are known, and delta may be 0."""


class MissingOptions(typer.TyperException):
    """The command line lacks options: their names, and what they say."""

    def __init__(self, names: Collection[str], said: Collection[str], command: str) -> None:
        self.lines: list[str] = [
            f"Missing {', '.join(names)}.",
            *([f"{'. '.join(said)}."] if said else []),
            f"'{command} SOURCE' lists the columns of a table and a complete command."
            if command.endswith(" top")
            else f"'{command} --help' shows the options and an example.",
        ]
        super().__init__(self.lines[0])


def missing_options(context: Any, parameters: Iterable[Any], given: dict[str, Any]) -> MissingOptions | None:
    """The error that names every missing option; None if there are all, or if only the columns are asked for."""
    by_name = {one.name: one for one in parameters}
    stated = {name for name, value in given.items() if value not in (None, (), [])}
    if context.info_name == "top" and "source" in stated and stated <= _DESCRIBING:
        return None
    stated |= {name for name, one in by_name.items() if one.resolve_envvar_value(context)}
    always = () if context.info_name in _MAY_BE_A_SERVICE else _NEEDED
    needed = [name for name, one in by_name.items() if (one.required or name in always) and name not in stated]
    needed += [name for name in _needed_budget(by_name, stated) if name not in needed]
    if not needed:
        return None
    return MissingOptions(
        [_shown(by_name[name]) for name in needed],
        [OPTION_MEANINGS[name] for name in needed if name in OPTION_MEANINGS],
        context.command_path,
    )


def _shown(parameter: Any) -> str:
    """An option by its longest name, an argument as the help calls it."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))


def _needed_budget(parameters: Collection[str], stated: Collection[str]) -> list[str]:
    """Epsilon and delta of a single question: a ledger has them, and known items need no delta."""
    if not {"epsilon", "ledger", "answer_every"} <= set(parameters) or "time" in parameters or "ledger" in stated:
        return []
    needed = [] if "epsilon" in stated else ["epsilon"]
    if "comparisons_per_pair" in parameters or "delta" in stated or any(name in stated for name in _LISTED):
        return needed
    return [*needed, "delta"]
