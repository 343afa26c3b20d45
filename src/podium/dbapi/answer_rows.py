"""The rows of a release, with the columns that its statement selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from podium.dbapi.type_objects import native_value, type_of, type_of_column
from podium.present.intervals import margin_of
from podium.present.measures import shown_measure
from podium.query.parse.selected import SelectedName
from podium.release import GroupedRelease, Release

if TYPE_CHECKING:
    from podium.query import Schema

__all__ = ["Description", "Row", "described_rows"]

Row = tuple[Any, ...]
Description = tuple[str, type, None, None, None, None, None]


def described_rows(
    release: Release, selected: list[SelectedName], schemas: Callable[[], Mapping[str, Schema]], *, intervals: bool
) -> tuple[list[Description], list[Row]]:
    """The description and the rows; ``intervals`` adds both ends of the interval of the values.

    The order of the rows is the answer. A group without an item has no row. Without rows the types are those of the
    columns in ``schemas``, which are asked for only then: a program must not meet other types when nothing stood out.
    """
    per = release.per if isinstance(release, GroupedRelease) else ()
    names = [*per, *(release.columns or ())]
    folded = [name.casefold() for name in names]
    values = release.value_name or shown_measure(release).column
    places = [len(names) if counted else _place(name, names, folded) for name, counted in selected]
    heads = [values if place == len(names) else names[place] for place in places]
    if intervals and margin_of(release) is not None:
        places += [len(names) + 1, len(names) + 2]
        heads += [f"{values}_low", f"{values}_high"]
    rows = [tuple(row[place] for place in places) for row in _rows(release)]
    if rows:
        kinds = [type_of(row[place] for row in rows) for place in range(len(heads))]
    else:
        columns = {column.name.casefold(): column for schema in schemas().values() for column in schema.columns}
        kinds = [type_of_column(columns.get(folded[place])) if place < len(names) else int for place in places]
    return [(name, kind, None, None, None, None, None) for name, kind in zip(heads, kinds, strict=True)], rows


def _place(name: str, names: list[str], folded: list[str]) -> int:
    """Which column of the answer a statement calls so; unquoted names may differ in case."""
    return names.index(name) if name in names else folded.index(name.casefold())


def _rows(release: Release) -> Iterator[Row]:
    """Groups, items, value and both ends of its interval, or None for each of these."""
    margin = margin_of(release)
    for group, item, value in _entries(release):
        low, high = (None, None) if margin is None or value is None else margin.around(value)
        yield tuple(map(native_value, (*group, *item, value, low, high)))


def _entries(release: Release) -> Iterator[tuple[Row, Row, Fraction | None]]:
    items = len(release.columns or ())
    if not isinstance(release, GroupedRelease):
        for item, value in _listed(release.items, release.values):
            yield (), _parts(item, items), value
        return
    for group, found in release.lists.items():
        for item, value in _listed(found.items, found.values):
            yield _parts(group, len(release.per)), _parts(item, items), value


def _listed(items: tuple[Any, ...], values: tuple[Fraction, ...] | None) -> Iterator[tuple[Any, Fraction | None]]:
    for place, item in enumerate(items):
        yield item, values[place] if values is not None and place < len(values) else None


def _parts(value: Any, columns: int) -> Row:
    return tuple(value) if columns > 1 else (value,)
