"""A release as a table for other programs: Arrow, pandas, polars, CSV, Parquet.

Columns: those of the groups, where there is a list for each; ``rank`` where the order means something; the item under
the name that it has in the table, where the release knows it, one column for each part; then ``count`` with
``count_low`` and ``count_high``, the same with ``sum`` where amounts were added up or with the name that SQL gave them,
or ``gap``, where values were released. A column of items that is called like one of these gets ``item_`` before its
name, one of groups ``group_``: an answer that was paid for is not refused for that. Items keep their type. Items of
several types, or of a type that Arrow does not have, become text. A group without an item has no row. The whole
release, receipt included, travels in the metadata of the Arrow schema, and so in a Parquet file: ``release_in`` gets it
back.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Callable, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from podium.errors import InvalidArgument, MissingLibrary
from podium.estimates import selected_items
from podium.exact import float_above, float_below
from podium.present.all_lists import all_items, all_values, group_columns, group_parts
from podium.present.beside_groups import beside_groups, list_shares
from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure
from podium.present.text.names import printable, spreadsheet_text
from podium.present.user_shares import Line, Share, beside_lines, shares
from podium.release import Group, GroupedRelease, Release

__all__ = [
    "arrow_table", "csv_text", "pandas_frame", "parquet_bytes", "polars_frame", "release_in", "write_csv",
    "write_parquet",
]  # fmt: skip

Names = str | Sequence[str] | None

_RELEASE_KEY: Final = b"podium.release"
_CONFIDENCE_KEY: Final = b"podium.confidence"
_PLAIN: Final[tuple[type, ...]] = (bool, int, float, str, bytes, Decimal, dt.datetime, dt.date, dt.time)


def arrow_table(release: Release, *, item: Names = None) -> pa.Table:
    """The release as an Arrow table; ``item`` names the column of the items, or one column for each part of them."""
    listed, ranks, values = _rows(release)
    places = {"rank": pa.array(ranks, pa.int64())} if release.ordered else {}
    known = _value_columns(listed, values)
    items = {name: _array(column) for name, column in _item_columns(listed, item).items()}
    lines = _lines(release)
    if lines:
        places, items, numbers = _with_lines(release, [line for _, line in lines], places, items, known)
    else:
        numbers = {name: _numbers(column) for name, column in known.items()}
    own = {*places, *numbers}
    named = {_beside(name, own | items.keys(), own): column for name, column in items.items()}
    groups = _group_columns(release, {*own, *named}, [group for group, _ in lines])
    columns = groups | places | named | numbers
    metadata = {_RELEASE_KEY: release.to_json().encode("utf-8", "surrogatepass")}
    if margin_of(listed) is not None:
        metadata[_CONFIDENCE_KEY] = CONFIDENCE.encode("ascii")
    return pa.table(columns).replace_schema_metadata(metadata)


def release_in(table: pa.Table) -> Release:
    """The release that a table of ours carries, as an Arrow table or read back from Parquet."""
    metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
    if _RELEASE_KEY not in metadata:
        raise InvalidArgument("table", type(table).__name__, allowed="an Arrow table that Release.to_arrow made")
    return Release.from_json(metadata[_RELEASE_KEY].decode("utf-8", "surrogatepass"))


def pandas_frame(release: Release, *, item: Names = None) -> Any:
    """The release as a pandas DataFrame."""
    try:
        import pandas  # noqa: F401, PLC0415 - optional, and slow to import
    except ModuleNotFoundError:
        raise MissingLibrary("pandas", purpose="Release.to_pandas()", extra="pandas") from None
    return arrow_table(release, item=item).to_pandas()


def polars_frame(release: Release, *, item: Names = None) -> Any:
    """The release as a polars DataFrame."""
    try:
        import polars  # noqa: PLC0415 - optional, and slow to import
    except ModuleNotFoundError:
        raise MissingLibrary("polars", purpose="Release.to_polars()", extra="polars") from None
    return polars.from_arrow(arrow_table(release, item=item))


def csv_text(release: Release, *, item: Names = None, spreadsheet_safe: bool = True) -> str:
    """The release as CSV text with a header; text is quoted, numbers are not.

    An item is data, and a spreadsheet would compute one that looks like a formula: unless ``spreadsheet_safe`` is
    False, texts that begin like one have an apostrophe before them, and signs that cannot be seen are spelled out.
    """
    table = arrow_table(release, item=item)
    told: Callable[[object], object] = _safe_cell if spreadsheet_safe else _cell
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(map(told, table.column_names))
    writer.writerows(zip(*(map(told, column.to_pylist()) for column in table.columns), strict=True))
    return written.getvalue()


def write_csv(release: Release, path: Path | str, *, item: Names = None, spreadsheet_safe: bool = True) -> None:
    """Write ``csv_text`` to a file, in UTF-8."""
    text = csv_text(release, item=item, spreadsheet_safe=spreadsheet_safe)
    Path(path).write_text(text, encoding="utf-8", newline="")


def write_parquet(release: Release, path: Path | str, *, item: Names = None) -> None:
    """Write the release to a Parquet file that carries its receipt."""
    pq.write_table(arrow_table(release, item=item), str(path), compression="zstd")


def parquet_bytes(release: Release, *, item: Names = None) -> bytes:
    """The same file, in memory."""
    written = io.BytesIO()
    pq.write_table(arrow_table(release, item=item), written, compression="zstd")
    return written.getvalue()


def _rows(release: Release) -> tuple[Release, Sequence[int], list[Fraction | None]]:
    """The items of all lists as those of one, and for each its place in its own list and its value, if it has one."""
    if isinstance(release, GroupedRelease):
        ranks = [place for found in release.lists.values() for place in range(1, len(found.items) + 1)]
        return all_items(release), ranks, all_values(release)
    values = release.values or ()
    missing = [None] * (len(release.items) - len(values))
    return release, range(1, len(release.items) + 1), [*values, *missing]


def _lines(release: Release) -> list[tuple[Group | None, Line]]:
    """What is beside the lists, each line with its group; empty where nothing was measured there."""
    if not isinstance(release, GroupedRelease):
        return [(None, line) for line in beside_lines(release)]
    return [(found.group, line) for found in beside_groups(release) for line in (found.others, found.total)]


def _with_lines(
    release: Release,
    lines: Sequence[Line],
    places: dict[str, pa.Array],
    items: dict[str, pa.Array],
    known: dict[str, list[Fraction | None]],
) -> tuple[dict[str, pa.Array], dict[str, pa.Array], dict[str, pa.Array]]:
    """The same columns with the shares of the items, and a line for the others and one for the total: no items."""
    part = list_shares(release) if isinstance(release, GroupedRelease) else shares(release)
    name, count = _value_column(release), len(next(iter(items.values())))
    kinds = pa.array([*["item"] * count, *(line.name for line in lines)], pa.string())
    ends = {
        name: [line.value for line in lines],
        f"{name}_low": [line.low for line in lines],
        f"{name}_high": [line.high for line in lines],
    }
    longer = {label: _numbers([*column, *ends.get(label, [None] * len(lines))]) for label, column in known.items()}
    if part is not None:
        every = [*part, *[None] * (len(kinds) - len(part))]
        for label, end in (("share", _middle), ("share_low", _low), ("share_high", _high)):
            longer[label] = pa.array([None if one is None else end(one) for one in every], pa.float64())
    return {"line": kinds, **_lengthened(places, len(lines))}, _lengthened(items, len(lines)), longer


def _middle(share: Share) -> float:
    return float(share.value)


def _low(share: Share) -> float:
    return float_below(share.low)


def _high(share: Share) -> float:
    return float_above(share.high)


def _lengthened(columns: dict[str, pa.Array], number: int) -> dict[str, pa.Array]:
    return {name: pa.concat_arrays([found, pa.nulls(number, found.type)]) for name, found in columns.items()}


def _group_columns(release: Release, taken: Set[str], more: Sequence[Group | None]) -> dict[str, pa.Array]:
    """A column for each part of the groups, under the name that it has in the table; ``more`` follow those of items."""
    columns: dict[str, pa.Array] = {}
    if isinstance(release, GroupedRelease):
        for place, (name, listed) in enumerate(group_columns(release)):
            values = [*listed, *(group_parts(release, group)[place] for group in more)]
            shown = _text(name)
            while shown in taken or shown in columns:
                shown = f"group_{shown}"
            columns[shown] = _array([_native(value) for value in values])
    return columns


def _item_columns(release: Release, names: Names) -> dict[str, list[Any]]:
    items = [_native(item) for item in selected_items(release)]
    parts = {len(item) if isinstance(item, tuple) else 0 for item in items}
    several = len(parts) == 1 and parts != {0}
    known = _known_names(release) if names is None else None
    given = known or (None if names is None else (names,) if isinstance(names, str) else tuple(names))
    # Without items nobody can tell how many parts one has, but the caller.
    width = max(parts) if several else len(given or ()) if not items and given else 1
    if known and len(known) != width:
        given = None
    if given is not None and (len(given) != width or len(set(given)) != width):
        raise InvalidArgument("item", names, allowed=f"{width} distinct name{'s' * (width > 1)}, one per item column")
    if not several and width == 1:
        return {(given or ("item",))[0]: items}
    labels = given or tuple(f"item_{place}" for place in range(1, width + 1))
    return {label: [item[place] for item in items] for place, label in enumerate(labels)}


def _known_names(release: Release) -> tuple[str, ...] | None:
    """The names of the item columns as Arrow can write them, if they stay distinct."""
    names = tuple(map(_text, release.columns or ()))
    return names if names and len(set(names)) == len(names) else None


def _native(item: Any) -> Any:
    """Python's own value for a scalar of numpy."""
    if isinstance(item, tuple):
        return tuple(_native(part) for part in item)
    return item.item() if hasattr(item, "item") and not isinstance(item, _PLAIN) else item


def _value_columns(release: Release, values: list[Fraction | None]) -> dict[str, list[Fraction | None]]:
    if release.value_kind is None:
        return {}
    if release.value_kind == "gaps":
        return {"gap": values}
    name = _value_column(release)
    columns = {name: values}
    margin = margin_of(release)
    if margin is not None:
        ends = [(None, None) if value is None else margin.around(value) for value in values]
        columns[f"{name}_low"] = [low for low, _ in ends]
        columns[f"{name}_high"] = [high for _, high in ends]
    return columns


def _value_column(release: Release) -> str:
    """What the question calls its values, unless another column of ours has that name; or what they measure."""
    named = _text(release.value_name or "")
    return shown_measure(release).column if named in ("", "rank", "line", "share") else named


def _beside(name: str, taken: Set[str], own: Set[str]) -> str:
    """The name of a column of items, which is not one of the release's own."""
    if name not in own:
        return name
    while name in taken:
        name = f"item_{name}"
    return name


def _array(values: list[Any]) -> pa.Array:
    """Values of one plain type keep it; anything else becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds <= set(_PLAIN):
        for build in _BUILDERS:
            try:
                built = build(values)
            except (pa.ArrowException, OverflowError, ValueError, TypeError):
                continue
            # Arrow drops some time zones silently; what does not come back the same becomes text.
            if all(map(_same, built.to_pylist(), values)):
                return built
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


_BUILDERS: Final[tuple[Callable[[list[Any]], pa.Array], ...]] = (
    pa.array,
    lambda values: pa.array(values, pa.uint64()),
)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124 - not a number, twice


def _text(value: object) -> str:
    text = value if isinstance(value, str) else printable(value)
    # Half of a surrogate pair has no UTF-8.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _numbers(values: list[Fraction | None]) -> pa.Array:
    """Integers as int64; others as the nearest double (exact ones are in the release)."""
    if all(value is None or (value.denominator == 1 and abs(value) < 1 << 63) for value in values):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _cell(value: object) -> object:
    """What the CSV writer quotes must be text; decimals keep their digits."""
    return value if value is None or isinstance(value, int | float | str) else _text(value)


def _safe_cell(value: object) -> object:
    """Numbers and dates are written by us; only text is somebody's."""
    return spreadsheet_text(value) if isinstance(value, str) else _cell(value)
