"""The columns that say who a user is: one, or several whose values together are one user.

A person with an account at each of two shops is two users of ``("shop", "account")``: what is protected is each pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from podium.errors import InvalidArgument

__all__ = [
    "UserColumns",
    "each_user_column",
    "is_user_column",
    "same_users",
    "user_columns",
    "user_data",
    "user_key",
    "user_text",
]

UserColumns: TypeAlias = str | tuple[str, ...]
"""The name of one column, or two or more different names."""

_ALLOWED = "the name of a column, or several different names"


def user_columns(value: object) -> UserColumns:
    """What a caller names: a name, or several; one name in a list is that name."""
    if isinstance(value, str):
        return value
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidArgument("user", value, allowed=_ALLOWED)
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument("user", name, allowed=_ALLOWED, hint="Name each column of the unit once.")
    return names[0] if len(names) == 1 else names


def each_user_column(user: UserColumns) -> tuple[str, ...]:
    """The names, also where there is only one."""
    return (user,) if isinstance(user, str) else user


def is_user_column(name: str, user: UserColumns) -> bool:
    """Whether a column is one of them."""
    return name in each_user_column(user)


def same_users(one: UserColumns, other: UserColumns) -> bool:
    """Whether both name the same users, in whatever order."""
    return set(each_user_column(one)) == set(each_user_column(other))


def user_data(user: UserColumns | None) -> str | list[str] | None:
    """The columns as plain data: text where there is one."""
    return list(user) if isinstance(user, tuple) else user


def user_key(user: UserColumns | None) -> str | list[str] | None:
    """The same, equal for equal users: in the order of the names."""
    return sorted(user) if isinstance(user, tuple) else user


def user_text(user: UserColumns) -> str:
    """The columns as SQL counts them: user_id, or (tenant, member)."""
    return user if isinstance(user, str) else f"({', '.join(user)})"
