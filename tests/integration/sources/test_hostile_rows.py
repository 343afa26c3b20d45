"""One hostile row changes no question's success, in any engine and format; a bad row in a view fails all alike.

The rows are added all at once: a row that makes a question fail does so in any company.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.sources.databases import DATABASES, Database, open_database
from tests.integration.sources.hostile_rows import (
    FILE_ROWS,
    FILES,
    GOOD,
    INSIDE,
    ROWS,
    Question,
    columns,
    conditions,
    fails,
    questions,
    written,
)

from podium.query.predicate import Compare, Operator
from podium.sources import Source

PLACES = [*FILES, *(f"{name} {form}" for name in DATABASES for form in ("table", "view"))]
CELLS: dict[str, dict[str, str]] = {}
"""For each place, what became of each row; filled by the tests of this module and printed by the last."""

SAME, NOT_HELD = "same", "cannot be stored"
SHORT = {SAME: "same", NOT_HELD: "-"}
ASKED = [*questions(), *columns()]


def succeeds(source: Source, asked: list[Question]) -> bool:
    return not any(fails(source, question) for question in asked)


@pytest.mark.parametrize("form", FILES)
def test_hostile_rows_in_a_file_or_frame(form: str, tmp_path: Path) -> None:
    appended = FILE_ROWS.get(form, {})

    def append(path: Path) -> None:
        for add in appended.values():
            add(path)

    with written(form, GOOD, tmp_path) as source:
        assert succeeds(source, ASKED)
    with written(form, [*GOOD, *ROWS.values()], tmp_path, append) as source:
        assert succeeds(source, ASKED)
    CELLS[form] = dict.fromkeys((*ROWS, *appended), SAME)


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


def test_every_place_holds_every_row() -> None:
    """The table of all of the above; a cell that no test filled is an error."""
    rows = [*ROWS, *(name for added in FILE_ROWS.values() for name in added)]
    wide = max(map(len, rows))
    for number, place in enumerate(PLACES):
        print(f"{chr(ord('A') + number)}  {place}")  # noqa: T201 - the table is what this test is for
    print(" " * wide, *(f"{chr(ord('A') + number):^6}" for number in range(len(PLACES))))  # noqa: T201
    for row in rows:
        became = (SHORT.get(CELLS[place].get(row, ""), "other") for place in PLACES)
        print(f"{row:<{wide}}", *(f"{cell:^6}" for cell in became))  # noqa: T201
    assert set(CELLS) == set(PLACES)
    assert all(set(ROWS) <= set(CELLS[place]) for place in PLACES)
