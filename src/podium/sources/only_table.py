"""Which table of a source is meant: the one that is named, or the only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from podium.errors import SourceUnavailable

__all__ = ["named_or_only"]

T = TypeVar("T")


def named_or_only(name: str | None, known: Mapping[str, T], source: str, hint: str) -> T:
    """What is known by this name; without a name there must be one table. ``hint`` says how to name one."""
    if name is None and len(known) == 1:
        (name,) = known
    if name is None or name not in known:
        wanted = "table=None does not say which table to read" if name is None else f"table={name!r} is not a table"
        listed = ", ".join(sorted(known)) or "none"
        raise SourceUnavailable(f"{wanted} of source={source}. The tables are: {listed}. {hint}")
    return known[name]
