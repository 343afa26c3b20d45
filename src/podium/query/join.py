"""Tables that a question may join: what their owner declares, and what a question reads of them.

A table is joined by equality of columns that both sides call the same. Nothing else is possible, and that is why a join
keeps the unit of privacy: either the columns hold every column of the user, so that a row of a user meets rows of the
same user only; or the table is public, and says nothing about users at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.errors import InvalidArgument
from podium.user_columns import UserColumns, each_user_column, user_text

__all__ = ["Join", "declared_joins", "join_named", "join_names", "parse_join", "stored_join"]

_FILE = re.compile(r"\.(parquet|pq|csv|tsv|json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_TEXT = re.compile(
    r"\s*(?P<public>PUBLIC\s+)?(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*)?(?P<table>\S.*?)\s+USING\s*\((?P<using>.+)\)\s*",
    re.IGNORECASE | re.DOTALL,
)
_EXAMPLES = "'users.parquet USING (user_id)' or 'PUBLIC products=products.csv USING (product)'"
MAX_JOINS = 8


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Join:
    """A table that questions may join to the table of events, as its owner declares it.

    ``table`` is another table of the same database, or for files and frames a further file or frame. ``using`` are the
    columns that must be equal, of the same name and kind on both sides. A table about users needs every user column
    among them; every other table must be ``public``: its content is then taken as known to everybody, so nothing in
    it may depend on anybody who is protected. ``name`` is what questions call it, by default the name of the table or
    file. ``types`` are the types of a CSV file's columns, as for a source.
    """

    table: object
    using: tuple[str, ...]
    name: str
    public: bool
    types: Mapping[str, Any] | None

    def __init__(
        self,
        table: object,
        using: str | Iterable[str],
        name: str = "",
        *,
        public: bool = False,
        types: Mapping[str, Any] | None = None,
    ) -> None:
        keys = (using,) if isinstance(using, str) else tuple(using)
        if not keys or not all(isinstance(one, str) for one in keys) or len(set(keys)) != len(keys):
            raise InvalidArgument("using", using, allowed="one or more different columns, by which rows are matched")
        if not isinstance(public, bool):
            raise InvalidArgument("public", public, allowed="True or False")
        name = name or _default_name(table)
        if not _NAME.fullmatch(name):
            raise InvalidArgument(
                "join", name or type(table).__name__, allowed="a name of letters, digits and underscores",
                hint="Name the table: podium.Join(table, using='user_id', name='users'), or NAME=TABLE in text.",
            )  # fmt: skip
        for field, value in (("table", table), ("using", keys), ("name", name), ("public", public), ("types", types)):
            object.__setattr__(self, field, value)

    @property
    def place(self) -> str:
        """Where the table is, as a ledger stores it: an absolute path, or the name of a table."""
        if not isinstance(self.table, (str, Path)):
            return "a frame"
        return str(Path(self.table).resolve()) if Path(self.table).exists() else str(self.table)

    def describe(self) -> dict[str, Any]:
        """The declaration as plain data."""
        types = {} if self.types is None else {"types": {name: str(kind) for name, kind in self.types.items()}}
        public = {"public": True} if self.public else {}
        return {"name": self.name, "table": self.place, "using": list(self.using), **public, **types}

    def sentence(self) -> str:
        """The declaration for people."""
        about = "public" if self.public else "about users"
        return f"{self.name} USING ({', '.join(self.using)}), {about}"

    def require_unit(self, user: UserColumns) -> None:
        """Raise unless the table is public, or each of its rows belongs to one user."""
        missing = [name for name in each_user_column(user) if name not in self.using]
        if self.public or not missing:
            return
        raise InvalidArgument(
            "join", f"{self.name} USING ({', '.join(self.using)})",
            allowed=f"a table about users, matched by {user_text(user)}, or a table that is declared to be public",
            hint=f"Without {', '.join(missing)} among its columns, a row would reach rows of many users. Add it to "
            "USING; or, if nothing in the table depends on anybody who is protected, declare it with PUBLIC "
            "(in Python: public=True).",
        )  # fmt: skip


def _default_name(table: object) -> str:
    if isinstance(table, Path) or (isinstance(table, str) and ("/" in table or _FILE.search(table))):
        return Path(table).name.partition(".")[0]
    return table.rpartition(".")[2] if isinstance(table, str) else ""


def parse_join(text: str) -> Join:
    """A declaration in text: [PUBLIC] [NAME=]TABLE USING (COLUMN, ...)."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InvalidArgument("join", text, allowed=_EXAMPLES, hint="It says by which columns rows are matched.")
    using = tuple(part.strip().strip('"') for part in found["using"].split(","))
    return Join(found["table"].strip(), using, found["name"] or "", public=found["public"] is not None)


def stored_join(data: Mapping[str, Any]) -> Join:
    """The declaration that ``describe`` wrote."""
    types = data.get("types")
    return Join(data["table"], tuple(data["using"]), data["name"], public=bool(data.get("public")), types=types)


def declared_joins(joins: object) -> dict[str, Join]:
    """Declarations by their names: one or several, each a ``Join`` or its text."""
    listed = [joins] if isinstance(joins, (str, Join)) else [] if joins is None else joins
    if not isinstance(listed, Iterable) or isinstance(listed, (bytes, Mapping)):
        raise InvalidArgument("join", joins, allowed=f"a podium.Join, or several, or texts like {_EXAMPLES}")
    declared: dict[str, Join] = {}
    for one in listed:
        if not isinstance(one, (str, Join)):
            raise InvalidArgument("join", one, allowed=f"a podium.Join, or a text like {_EXAMPLES}")
        found = parse_join(one) if isinstance(one, str) else one
        if found.name in declared:
            raise InvalidArgument("join", found.name, allowed="different names", hint="Name each table once.")
        declared[found.name] = found
    return declared


def join_names(value: object) -> tuple[str, ...]:
    """The names in a question's ``join``."""
    if value is None:
        return ()
    names = (value,) if isinstance(value, (str, Join)) or not isinstance(value, Iterable) else tuple(value)
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidArgument(
                "join", name, allowed="the names of declared tables",
                hint="The owner declares a table with its key when the data set is opened: joins=podium.Join(...), or "
                "'podium budget create --join'. A question names it.",
            )  # fmt: skip
    if len(set(names)) != len(names) or len(names) > MAX_JOINS:
        raise InvalidArgument("join", names, allowed=f"at most {MAX_JOINS} different tables")
    return names


def join_named(name: str, declared: Sequence[Join], *, table: str, using: Sequence[str] = ()) -> Join:
    """The declared table of that name; in SQL capital letters do not matter. ``using`` is for what a refusal says."""
    for join in declared:
        if join.name.casefold() == name.casefold():
            return join
    known = ", ".join(join.name for join in declared)
    raise InvalidArgument(
        "join", name, allowed=f"one of {known}" if known else f"no table: none is declared beside {table!r}",
        hint="The owner declares a table with the columns that rows are matched by: "
        f"'{name}=TABLE USING ({', '.join(using) or 'COLUMN'})' in "
        "join= (--join) of a single question, in joins= of a Curator, in 'podium budget create --join', or in the "
        "service's configuration.",
    )  # fmt: skip
