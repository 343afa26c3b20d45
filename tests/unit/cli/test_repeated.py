"""Options that are given twice: refused by every command, unless they are made to be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from tests.support.command_line import ASK, TOTAL, podium, succeeded

from podium.cli.commands import app
from podium.cli.exit_codes import USAGE

REPEATED = {"--item", "--join", "--per", "--user", "--where", "--types"}
"""Of 'podium top': all that may stand there more than once."""


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that can be run, with the words that name it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, sub in inner.items():
        yield from commands(sub, (*path, name))


FOUND: list[tuple[tuple[str, ...], Any]] = [
    (path, option)
    for path, command in commands(typer.main.get_command(app))
    for option in command.params
    if option.param_type_name == "option" and not option.is_eager
]
OPTIONS = [pytest.param(path, option, id=" ".join([*path, option.opts[0]])) for path, option in FOUND]


def once(option: Any, spelling: str) -> list[str]:
    return [spelling] if option.is_flag else [spelling, "1"]


@pytest.mark.parametrize(("path", "option"), OPTIONS)
def test_a_single_value_refuses_a_second(path: tuple[str, ...], option: Any) -> None:
    """However the option is spelled, and before anything else of the command line is looked at."""
    ran = podium(*path, *once(option, option.opts[0]), *once(option, option.opts[-1]))
    refused = f"{max(option.opts, key=len)} is given 2 times. Allowed: once." in ran.stderr
    assert refused is not option.multiple
    assert ran.exit_code == USAGE or option.multiple


def test_all_commands_were_looked_at() -> None:
    assert len({path for path, _ in FOUND}) >= 20
    top = {option.opts[0] for path, option in FOUND if path == ("top",) and option.multiple}
    assert top == REPEATED


def test_a_second_user_column_is_not_protected_silently() -> None:
    plan = succeeded("top", "views.parquet", *ASK, "--user", "country", *TOTAL, "--dry-run")
    assert "for each pair of `user_id` and `country`, of which one `user_id` may be many" in " ".join(plan.split())
    full = succeeded("top", "views.parquet", *ASK, "--user", "country", *TOTAL, "--dry-run", "--verbose")
    assert "for any one pair of `user_id` and `country`, added or removed; one `user_id` may be many" in full
    ran = podium("top", "views.parquet", *ASK, "--user", "user_id", *TOTAL)
    assert "user='user_id'" in ran.stderr
    assert "Name each column of the unit once." in ran.stderr
    assert ran.stdout == ""


def test_conditions_that_are_repeated_all_hold() -> None:
    ask = ("top", "views.parquet", *ASK, *TOTAL, "--dry-run", "--quiet")
    both = succeeded(*ask, "--where", "country = 'DE'", "--where", "article <> 'x' OR article = 'y'")
    assert both == succeeded(*ask, "--where", "country = 'DE' AND (article <> 'x' OR article = 'y')")
    assert both != succeeded(*ask, "--where", "country = 'DE'")
    assert succeeded(*ask, "--where", "country = 'DE'", "--where", "country = 'DE'") == succeeded(
        *ask, "--where", "country = 'DE'"
    )


def test_a_condition_ends_where_its_text_ends() -> None:
    ran = podium(
        "top", "views.parquet", *ASK, *TOTAL, "--where", "country = 'DE') OR (1 = 1", "--where", "article = 'a'"
    )
    assert "is not SQL that podium can read" in ran.stderr
    many = [part for _ in range(21) for part in ("--where", "country = 'DE'")]
    assert "there are at most 20" in podium("top", "views.parquet", *ASK, *TOTAL, *many).stderr
