"""Hostile questions are refused before the data is touched, on every entry point, and nothing is spent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.curator.tables import Watched, curator, events
from tests.support.hostile import HOSTILE_CONDITIONS, HOSTILE_STATEMENTS

import podium
from podium import Curator
from podium.errors import InvalidArgument, QuestionRefused, UnknownColumn

QUALIFIED = "views.article = 'a'"
"""In a statement FROM views this names a column, with the table's name before it."""

REFUSALS = (QuestionRefused, UnknownColumn, InvalidArgument)


@pytest.fixture(scope="module")
def opened(made: Path) -> Iterator[tuple[Curator, Watched]]:
    with curator(made) as both:
        yield both


def short(text: str) -> str:
    return text if len(text) < 60 else f"{text[:40]}... ({len(text)})"


@pytest.mark.parametrize("condition", HOSTILE_CONDITIONS, ids=short)
def test_hostile_conditions(opened: tuple[Curator, Watched], condition: str) -> None:
    asked, source = opened
    before = asked.status
    with pytest.raises(REFUSALS) as caught:
        asked.top("article", k=3, where=condition)
    with pytest.raises(REFUSALS) as dry:
        asked.plan("article", k=3, where=condition)
    with pytest.raises(REFUSALS) as alone:
        podium.top(source, item="article", user="user_id", where=condition, k=3, epsilon=1, delta="1e-6")
    assert str(caught.value) == str(dry.value) == str(alone.value)
    if condition.strip() and condition != QUALIFIED:
        statement = (
            f"SELECT article, COUNT(DISTINCT user_id) AS n FROM views WHERE {condition} "
            "GROUP BY article ORDER BY n DESC LIMIT 3"
        )
        with pytest.raises(REFUSALS):
            asked.sql(statement)
    assert source.snapshots == 0
    assert asked.status == before


@pytest.mark.parametrize("statement", HOSTILE_STATEMENTS, ids=short)
def test_hostile_statements(opened: tuple[Curator, Watched], statement: str) -> None:
    asked, source = opened
    before = asked.status
    with pytest.raises(REFUSALS):
        asked.sql(statement)
    assert source.snapshots == 0
    assert asked.status == before


@pytest.mark.parametrize(
    "name", ["article; DROP TABLE views", 'article"', "rows_.article", "1", "", "user_id\x00", "*"]
)
def test_hostile_column_names(opened: tuple[Curator, Watched], name: str) -> None:
    asked, source = opened
    before = asked.status
    for item in (name, ["article", name]):
        with pytest.raises(UnknownColumn, match="is not a column"):
            asked.top(item)
        with pytest.raises(UnknownColumn, match="is not a column"):
            podium.top(source, item=item, user="user_id", epsilon=1, delta="1e-6")
    with pytest.raises(UnknownColumn, match="is not a column"):
        podium.top(source, item="article", user=name, epsilon=1, delta="1e-6")
    assert source.snapshots == 0
    assert asked.status == before


def test_a_quoted_identifier_is_only_a_name(tmp_path: Path) -> None:
    """A column may have any name; it is quoted wherever it is sent."""
    name = 'x"; DROP TABLE t; --'
    path = events(tmp_path / "views.parquet", {"a": 3000}, **{name: "DE"})
    with curator(path) as (asked, source):
        assert asked.top(name, k=1).items == ("DE",)
        assert asked.top("article", k=1, where='"x""; DROP TABLE t; --" = \'DE\'').items == ("a",)
        assert source.snapshots == 2
