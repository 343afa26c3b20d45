"""The columns of a source: listed with a complete command to begin with, and completed by the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.cli.console import on_terminal, print_result

if TYPE_CHECKING:
    from podium.cli.ask import DataOptions
    from podium.query import Column, Schema

__all__ = ["command_to_paste", "complete_column", "complete_measure", "print_columns"]

_PEOPLE = (
    "user", "customer", "client", "visitor", "member", "person", "patient", "account", "subscriber", "listener",
    "reader", "viewer", "player", "student", "employee", "guest", "kunde", "benutzer", "nutzer", "who", "email",
)  # fmt: skip
"""Words in the names of columns that tell whose a row is. Names are public; rows are not looked at."""
_THINGS = (
    "item", "product", "article", "page", "url", "track", "song", "film", "movie", "title", "query", "term", "word",
    "tag", "category", "name", "produkt", "artikel", "what",
)  # fmt: skip
_ITEM_KINDS = ("text", "integer", "boolean", "date", "decimal", "timestamp", "list")


def print_columns(source: str, options: DataOptions) -> None:
    """Print the columns of a source with their types, and a command that asks about two of them."""
    from podium.cli.standard_input import named_source
    from podium.present.text.terminal import plain_table, rich_table
    from podium.sources import open_source

    with named_source(source) as path, closing(open_source(path, **options.reading())) as opened:
        schema, untyped = opened.schema(), getattr(opened, "untyped", False)
    rows = [(column.name, _type_text(column)) for column in schema.columns]
    headers = ("column", "type")
    print_result(rich_table(headers, rows) if on_terminal() else plain_table(headers, rows))
    notes = []
    if untyped:
        notes.append("All columns are read as text unless you say otherwise, for example --types day=date.")
    notes.append(
        "Choose the column to rank (--item) and the column that identifies the people to protect (--user). For example:"
    )
    # A drawn table ends with an empty line of its own.
    print_result("\n" * (not on_terminal()) + "\n".join(notes) + f"\n\n  {command_to_paste(source, schema, options)}")


def _type_text(column: Column) -> str:
    if column.element is not None:
        return f"list({column.element.value})"
    return f"decimal({column.scale})" if column.kind == "decimal" else column.kind.value


def command_to_paste(source: str, schema: Schema, options: DataOptions) -> str:
    """A command that runs as it is: the columns are guessed by their names, and for people to check."""
    user = _likeliest(schema.columns, _PEOPLE, ())
    item = _likeliest([column for column in schema.columns if column.kind in _ITEM_KINDS], _THINGS, (user,))
    given: list[str] = []
    for name, value in (("--table", options.table), ("--encoding", options.files.encoding)):
        given += [name, value] if value not in (None, "utf-8") else []
    for declared in options.files.types or ():
        given += ["--types", declared]
    given += ["--no-header"] if options.files.no_header else []
    given += ["--bad-lines", "drop"] if options.files.bad_lines == "drop" else []
    words = ["podium", "top", source, *given, "--item", item, "--user", user, "-k", "10"]
    return f"{shlex.join(words)} --epsilon 1 --delta 1e-6"


def _likeliest(columns: Sequence[Column], words: Sequence[str], taken: Sequence[str]) -> str:
    """The column whose name has one of these words, or else one that is not taken."""
    free = [column.name for column in columns if column.name not in taken] or ["COLUMN"]
    parts = {name: re.split(r"[\W_]+", name.lower()) for name in free}
    for word in words:
        for name in free:
            if word in parts[name]:
                return name
    return next((name for name in free if any(word in name.lower() for word in words)), free[0])


def complete_column(context: Any, incomplete: str) -> list[str]:
    """Columns of the file on the command line that begin so; a server is never asked, and a broken file has none."""
    return _beginning(_file_columns(context), incomplete)


def complete_measure(context: Any, incomplete: str) -> list[str]:
    """What items can be ranked by: users, events, or the sum of a column of the file."""
    sums = [f"sum({name})" for name in _file_columns(context)]
    return _beginning(["users", "events", *sums], incomplete)


def _beginning(names: Sequence[str], incomplete: str) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _file_columns(context: Any) -> tuple[str, ...]:
    """The names in a file's header or footer; rows are not read."""
    from podium.errors import PodiumError
    from podium.sources import column_names

    encoding = context.params.get("encoding") or "utf-8"
    # Where the line ends with the option to complete, it is not parsed, and the source is one of its words.
    for word in (context.params.get("source"), *context.args):
        if isinstance(word, str) and "://" not in word and Path(word).is_file():
            try:
                return column_names(word, encoding=encoding)
            except PodiumError:
                return ()
    return ()
