"""Types that the owner declares: for files without types, and for columns stored as another type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from podium.errors import InvalidArgument
from podium.query.schema import Column, Kind
from podium.sources.item_text import COUNTABLE

__all__ = ["Types", "declared_column", "declared_columns"]

Types = Mapping[str, str]
"""From a column's name to its type: text, integer, decimal(scale), boolean, date, timestamp, or list(one of these)."""

_ALLOWED = "text, integer, decimal(digits after the point), boolean, date, timestamp, or list(one of these)"
_TYPE = re.compile(r"(?P<kind>[a-z]+)(?:\((?P<scale>\d{1,2})\))?")
_LIST = re.compile(r"list\((?P<element>.+)\)")
_MAX_SCALE = 38


def declared_column(name: str, type_: str) -> Column:
    """The column that a declaration describes."""
    text = "".join(str(type_).lower().split())
    inner = _LIST.fullmatch(text)
    if inner:
        element = _scalar(name, inner["element"], type_)
        return replace(element, kind=Kind.LIST, element=element.kind)
    return _scalar(name, text, type_)


def _scalar(name: str, text: str, given: str) -> Column:
    found = _TYPE.fullmatch(text)
    if found is None or found["kind"] not in COUNTABLE:
        raise InvalidArgument(f"types[{name!r}]", given, allowed=_ALLOWED)
    kind = Kind(found["kind"])
    if (kind is Kind.DECIMAL) != (found["scale"] is not None) or int(found["scale"] or 0) > _MAX_SCALE:
        hint = "A decimal has a scale from 0 to 38, for example decimal(2); the others have none."
        raise InvalidArgument(f"types[{name!r}]", given, allowed=_ALLOWED, hint=hint)
    return Column(name, kind, scale=int(found["scale"] or 0))


def declared_columns(types: Types | None) -> dict[str, Column]:
    """All declarations, validated."""
    return {name: declared_column(name, type_) for name, type_ in (types or {}).items()}
