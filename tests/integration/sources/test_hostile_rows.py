"""One hostile row changes no question's success, in any engine and format; a bad row in a view fails all alike.

The rows are added all at once: a row that makes a question fail does so in any company.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pyarrow as pa
import pytest
from tests.support.hostile_files import HOSTILE_FILE_ROWS, invalid_text, write_parquet, write_rows
from tests.support.sources.databases import DATABASES, Database, open_database
from tests.support.sources.extremes import COMBINATIONS, make_extremes
from tests.support.sources.hostile_rows import (
    FILES,
    GOOD,
    INSIDE,
    OUTSIDE,
    ROWS,
    Question,
    columns,
    conditions,
    fails,
    questions,
    written,
)

import podium
from podium.errors import SourceFailure, SourceUnavailable
from podium.query.join import Join
from podium.query.predicate import Compare, Operator
from podium.sources import CountQuery, DuckDBSource, Source
from podium.sources.sql.sql_source import SqlSource

BYTES = [row.name for row in HOSTILE_FILE_ROWS if row.format == "csv"]
OBJECTS = [row.name for row in HOSTILE_FILE_ROWS if row.format == "jsonl"]
TEXTS = ["no UTF-8"]
RAW = {
    "CSV": BYTES, "CSV, drop": BYTES, "JSON lines": OBJECTS, "JSON lines, drop": OBJECTS, "JSON array": OBJECTS,
    "Parquet": TEXTS, "Arrow": TEXTS,
}  # fmt: skip
"""Rows that only a file or a buffer can hold: lines that break its own rules, bytes that are no text."""

PLACES = [*FILES, *(f"{name} {form}" for name in DATABASES for form in ("table", "view"))]
CELLS: dict[str, dict[str, str]] = {}
"""For each place, what became of each row; filled by the tests of this module and printed by the last."""
RAW_CELLS: dict[str, dict[str, str]] = {}
"""The same for rows that only a file can hold."""

SAME, NOT_HELD, AT_OPENING = "same", "cannot be stored", "refused when opened"
SHORT = {SAME: "same", NOT_HELD: "-", AT_OPENING: "open"}
ASKED = [*questions(), *columns()]


def succeeds(source: Source, asked: list[Question]) -> bool:
    return not any(fails(source, question) for question in asked)


@pytest.mark.parametrize("form", FILES)
def test_hostile_rows_in_a_file_or_frame(form: str, tmp_path: Path) -> None:
    with written(form, GOOD, tmp_path) as source:
        assert succeeds(source, ASKED)
    with written(form, [*GOOD, *ROWS.values()], tmp_path) as source:
        assert succeeds(source, ASKED)
    CELLS[form] = dict.fromkeys(ROWS, SAME)


FEW = [("1", "a"), ("2", "b")]
NAMED = [
    Question(CountQuery(("i",), "u"), lambda snapshot: snapshot.counts_of_counts()),
    Question(CountQuery(("i",), "u", Compare("u", Operator.EQUAL, "2")), lambda snapshot: snapshot.top_rows(3)),
]


def opened(form: str, row: str | None, folder: Path) -> DuckDBSource:
    """A file or frame with one such row, or without."""
    values = [b"a", b"b", *([] if row is None else [b"\xff"])]
    if form == "Parquet":
        return DuckDBSource(write_parquet(folder / "e.parquet", values, dictionary=False))
    if form == "Arrow":
        return DuckDBSource(pa.table({"u": [str(place) for place in range(len(values))], "i": invalid_text(values)}))
    suffix = {"CSV": "csv", "JSON array": "json"}.get(form.removesuffix(", drop"), "jsonl")
    kind = "csv" if suffix == "csv" else "jsonl"
    added = next((known for known in HOSTILE_FILE_ROWS if (known.format, known.name) == (kind, row)), None)
    path = write_rows(folder / f"e.{suffix}", suffix, FEW, added, 1)
    return DuckDBSource(path, bad_lines="drop" if form.endswith("drop") else "refuse")


@pytest.mark.parametrize("form", RAW)
def test_rows_that_only_a_file_can_hold(form: str, tmp_path: Path) -> None:
    """Refused when the file is opened, before anybody has asked; or every question succeeds, whoever is named."""
    asked = NAMED if form != "Parquet" else NAMED[:1]
    with closing(opened(form, None, tmp_path)) as source:
        assert succeeds(source, asked)
    for row in RAW[form]:
        RAW_CELLS.setdefault(form, {})[row] = AT_OPENING
        with suppress(SourceUnavailable), closing(opened(form, row, tmp_path)) as source:
            RAW_CELLS[form][row] = "fails"
            assert succeeds(source, asked), row
            RAW_CELLS[form][row] = SAME
    if form.endswith("drop"):
        assert set(RAW_CELLS[form].values()) == {SAME}


@pytest.fixture(scope="module", params=DATABASES)
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Database]]:
    with open_database(request.param, tmp_path_factory.mktemp("database")) as database:
        yield request.param, database


def test_hostile_rows_in_a_database(database: tuple[str, Database]) -> None:
    """A view whose own condition keeps a row out never meets it: success whatever is asked, whoever is named."""
    name, engine = database
    engine.make("good", [])
    held = engine.make("hostile", list(ROWS.values()))
    engine.view("hostile_view", "hostile")
    with engine.opened("good") as source:
        assert succeeds(source, ASKED[:1])
    with engine.opened("hostile") as source:
        assert succeeds(source, [*ASKED[:1], *columns()][:: 3 if engine.slow else 1])
    with engine.opened("hostile_view") as source:
        named = [next(questions(where)) for where in conditions()]
        asked = [*columns(), *questions(listed="hostile_view"), *named]
        assert succeeds(source, asked[:: 4 if engine.slow else 1])
    stored = {row: SAME if there else NOT_HELD for row, there in zip(ROWS, held, strict=True)}
    assert stored["outside a view"] == SAME
    CELLS[f"{name} table"] = CELLS[f"{name} view"] = stored


def test_a_bad_row_inside_a_view_fails_all_alike(database: tuple[str, Database]) -> None:
    """Whoever a condition names, and whatever else is asked of the same columns."""
    _, engine = database
    engine.make("bad", [INSIDE])
    engine.view("bad_view", "bad")
    shapes = [*questions(listed="good"), *questions(Compare("user_id", Operator.EQUAL, 1), listed="good")]
    asked = [*shapes, *(next(questions(where)) for where in conditions())]
    with engine.opened("bad_view") as source:
        assert [question for question in asked[:: 2 if engine.slow else 1] if not fails(source, question)] == []
        # What does not read the bad column does not fail, for anybody.
        assert engine.guard or succeeds(source, list(columns())[:2])


def test_extreme_values_go_back_to_the_engine(database: tuple[str, Database]) -> None:
    """Later rounds ask about what the first one found: by the column's own type, whatever the value."""
    name, engine = database
    columns, items = make_extremes(name, engine, "extremes")
    with engine.opened("extremes") as source:
        release = podium.top(
            source, item=columns, user="user_id", k=COMBINATIONS, mechanism="adaptive", epsilon=40, delta="1e-3"
        )
    assert release.mechanism == "AdaptiveTopK"
    assert set(release.items) == items


def test_every_place_holds_every_row() -> None:
    """The table of all of the above; a cell that no test filled is an error."""
    show(CELLS, PLACES, list(ROWS))
    show(RAW_CELLS, list(RAW), list(dict.fromkeys([*BYTES, *OBJECTS])))
    assert set(CELLS) == set(PLACES)
    assert all(set(ROWS) == set(CELLS[place]) for place in PLACES)
    assert {form: list(cells) for form, cells in RAW_CELLS.items()} == RAW
    assert {cell for cells in (CELLS | RAW_CELLS).values() for cell in cells.values()} <= set(SHORT)


def show(cells: dict[str, dict[str, str]], places: list[str], rows: list[str]) -> None:
    wide = max(map(len, rows))
    for number, place in enumerate(places):
        print(f"{chr(ord('A') + number)}  {place}")  # noqa: T201 - the table is what this test is for
    print(" " * wide, *(f"{chr(ord('A') + number):^4}" for number in range(len(places))))  # noqa: T201
    for row in rows:
        became = (SHORT.get(cells[place].get(row, NOT_HELD), "?") for place in places)
        print(f"{row:<{wide}}", *(f"{cell:^4}" for cell in became))  # noqa: T201


def test_a_bad_row_inside_a_joined_view_fails_all_alike(database: tuple[str, Database]) -> None:
    """Also where nobody's rows would meet it, and where one side of the join is empty; one outside changes nothing."""
    called, engine = database
    view = "TEMPORARY VIEW" if called == "Spark" else "VIEW"
    engine.make("met", [])
    numbers = f"SELECT user_id, {engine.cast} AS size FROM {{}} WHERE lower(trim(kind)) = 'num'{engine.guard}"
    for row, name in ((INSIDE, "inner_row"), (OUTSIDE, "outer_row")):
        engine.make(name, [row])
        engine.execute(f"CREATE {view} {name}_view AS {numbers.format(name)}")
    for user in (1, 2):
        engine.execute(f"CREATE {view} only_{user} AS SELECT user_id, label AS tag FROM met WHERE user_id = {user}")
    equal = Operator.EQUAL
    wheres = (None, Compare("user_id", equal, 1), Compare("user_id", equal, -7), Compare("tag", equal, "nothing"))
    for name, fail in (("inner_row", True), ("outer_row", False)):
        for table, other in ((f"{name}_view", "only_1"), ("only_2", f"{name}_view")):
            with engine.opened(table) as source:
                assert isinstance(source, SqlSource)
                source.declare_joins({"other": Join(other, "user_id", "other")})
                joins = source.joined_tables(("other",), ("size", "tag"))
                asked = [CountQuery(("size", "tag"), "user_id", where, joins=joins) for where in wheres]
                asked = asked[:: 2 if engine.slow else 1]
                assert [answers(source, query) for query in asked] == [not fail] * len(asked)


def answers(source: Source, query: CountQuery) -> bool:
    source.check(query)
    with suppress(SourceFailure), source.snapshot(query) as snapshot:
        snapshot.top_rows(5)
        return True
    return False
