"""What a question says about its groups: one list for each value of ``per``, and in how many of them a user counts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.query.schema import Kind, Schema
from podium.user_columns import UserColumns, is_user_column

__all__ = [
    "ALL_GROUPS",
    "TYPED",
    "DeclaredTable",
    "check_groups",
    "groups_data",
    "groups_sentence",
    "require_groups",
    "require_per",
    "typed_groups",
]


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """The name of a public table that the owner declared: whoever asks names no path."""

    name: str


ALL_GROUPS = "all"
"""A user counts in every group that they have."""
_COLUMN = "a column that divides the rows into groups"
_ADD_PER = "Add per='COLUMN' for a list for each of its values."


def require_groups(item: tuple[str, ...], per: tuple[str, ...], groups: object, groups_per_user: object) -> None:
    """Raise unless these fields of a question fit together; columns are checked against a schema later."""
    if len(set(per)) != len(per):
        raise InvalidArgument("per", per, allowed="distinct columns", hint="Name each column once.")
    for name in per:
        if name in item:
            raise InvalidArgument(
                "per", name, allowed=f"{_COLUMN}, other than the item columns",
                hint="In a list for each item there would be nothing to rank.",
            )  # fmt: skip
    if isinstance(groups, tuple) and not groups:
        raise InvalidArgument(
            "groups", groups, allowed="one or more groups, or None for those that enough users have",
            hint="A list without groups has no answer.",
        )  # fmt: skip
    if groups_per_user == ALL_GROUPS:
        return
    if isinstance(groups_per_user, str):
        raise InvalidArgument("groups_per_user", groups_per_user, allowed=f"an integer, 1 or more, or {ALL_GROUPS!r}")
    positive_integer(groups_per_user, "groups_per_user")


def require_per(per: tuple[str, ...], groups: object, groups_per_user: object, *, sql: bool) -> None:
    """Raise if a question without groups says something about them."""
    if per:
        return
    hint = "Say QUALIFY ROW_NUMBER() OVER (PARTITION BY column ORDER BY n DESC) <= 10." if sql else _ADD_PER
    if groups is not None:
        raise InvalidArgument("groups", groups, allowed="None where there is no per", hint=hint)
    if groups_per_user != 1:
        raise InvalidArgument("groups_per_user", groups_per_user, allowed="1 where there is no per", hint=hint)


def check_groups(per: tuple[str, ...], schema: Schema, *, user: UserColumns) -> None:
    """Raise unless the columns exist, hold one value in each row, and are not the user's."""
    for name in per:
        column = schema.column(name, role="per")
        if is_user_column(name, user):
            raise InvalidArgument(
                "per", name, allowed=f"{_COLUMN}, other than the user column",
                hint="A list for each user would be about that user alone.",
            )  # fmt: skip
        if column.kind is Kind.LIST:
            raise InvalidArgument(
                "per", name, allowed="a column with one value in each row",
                hint=f"Column {name!r} holds lists. It can be ranked as an item, which unnests it.",
            )  # fmt: skip


_FROM_TEXT: Mapping[Kind, Callable[[str], object]] = {
    Kind.INTEGER: int,
    Kind.DECIMAL: Decimal,
    Kind.DATE: dt.date.fromisoformat,
    Kind.TIMESTAMP: dt.datetime.fromisoformat,
    Kind.BOOLEAN: lambda text: {"true": True, "false": False}[text.lower()],
}
_NOT_IN_JSON = (Kind.DATE, Kind.TIMESTAMP, Kind.DECIMAL)
TYPED = tuple(_FROM_TEXT)
"""The kinds whose values can be typed as text."""


def typed_groups(
    groups: Sequence[object], per: Sequence[str], schema: Schema, *, kinds: Iterable[Kind] = _NOT_IN_JSON
) -> tuple[object, ...]:
    """Groups with texts for dates, times and decimals, which JSON does not have, as values of the kind of their column.

    ``kinds`` are those for which text is read. What is no such value stays text, and is refused later.
    """
    found = [schema.column(name, role="per").kind for name in per]
    read = [_FROM_TEXT[kind] if kind in kinds else None for kind in found]
    if len(read) == 1:
        return tuple(_read(read[0], group) for group in groups)
    return tuple(
        tuple(map(_read, read, group)) if isinstance(group, (tuple, list)) and len(group) == len(read) else group
        for group in groups
    )


def _read(read: Callable[[str], object] | None, value: object) -> object:
    if read is None or not isinstance(value, str):
        return value
    try:
        return read(value)
    except (ArithmeticError, KeyError, ValueError):
        return value


def groups_data(groups: object) -> object:
    """Groups as JSON has them: dates, times and decimals as the texts that ``typed_groups`` reads."""
    if isinstance(groups, list | tuple):
        return type(groups)(groups_data(group) for group in groups)
    if isinstance(groups, dt.date | Decimal):
        return groups.isoformat() if isinstance(groups, dt.date) else str(groups)
    return groups


def groups_sentence(per: Sequence[str], groups: object, groups_per_user: object) -> str:
    """What a question says about its groups, for people; empty where there are none."""
    if not per:
        return ""
    which = "those with enough users" if groups is None else "the listed ones, each of which is shown"
    most = "all of theirs" if groups_per_user == ALL_GROUPS else f"at most {groups_per_user}"
    return f"one list for each value of {' and '.join(per)}: {which}; a user counts in {most}"
