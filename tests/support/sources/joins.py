"""What every engine must do with joined tables: match as plain Python does, and let no row reach another user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support.sources import reference
from tests.support.sources.checks import SALT, Load, check_groups, check_top
from tests.support.sources.data import Table, utc
from tests.support.sources.groups import check_lists, grouped

from podium.errors import InvalidArgument, PodiumError, UnknownColumn
from podium.query.join import Join
from podium.query.predicate import Compare, Missing, Operator
from podium.query.schema import Column, Kind
from podium.sources import CountQuery, DomainItems, PairValue
from podium.sources.sql.sql_source import SqlSource

__all__ = ["JoinContract", "joined"]

_ARROW = {Kind.INTEGER: pa.int64(), Kind.TEXT: pa.string(), Kind.DATE: pa.date32()}

INTEGER, TEXT = Kind.INTEGER, Kind.TEXT


def table(name: str, columns: dict[str, Kind], *rows: tuple[Any, ...]) -> Table:
    return Table(name, tuple(Column(column, kind) for column, kind in columns.items()), rows)


BUYS = table(
    "buys", {"person": INTEGER, "day": Kind.DATE, "product": TEXT, "pieces": INTEGER, "at": Kind.TIMESTAMP},
    *((person, utc(2024, 1, 1 + person % 3).date(), product, person + place, utc(2024, 1, 1, person))
      for person in range(1, 9) for place, product in enumerate(("a", "A", "a ", "\u00e9", "e\u0301", "b"))
      if (person + place) % 3),
    (None, utc(2024, 1, 1).date(), "a", 1, None), (3, None, None, 2, None),
    (4, utc(2024, 1, 1).date(), "", 2, utc(2024, 1, 1)),
)  # fmt: skip
# Somebody without a row, somebody with three, somebody who bought nothing, and rows of nobody.
PEOPLE = table(
    "people", {"person": INTEGER, "city": TEXT, "age": INTEGER},
    (1, "Rome", 30), (2, "Rome", 40), (3, "Oslo", 30), (3, "Rome", 31), (3, "Oslo", None), (4, None, 50), (5, "", 20),
    (6, "Oslo", 60), (7, "rome", 60), (99, "Rome", 1), (None, "Oslo", 1), (None, None, None),
)  # fmt: skip
# Keys that differ in case, blanks or composition; one that is there twice, one that is missing, one that nobody buys.
PRODUCTS = table(
    "products", {"product": TEXT, "kind": TEXT, "stars": INTEGER},
    ("a", "fruit", 1), ("A", "grade", 2), ("\u00e9", "letter", 3), ("\u00e9", "letter", 4), ("\u00e9", "accent", None),
    (None, "nothing", 5), ("", "empty", 6), ("zzz", "unsold", 7), ("b", None, 8),
)  # fmt: skip
KINDS = table("kinds", {"kind": TEXT, "shelf": TEXT}, ("fruit", "s1"), ("letter", "s2"), ("letter", "s3"), (None, "s4"))
VISITS = table(
    "stays", {"person": INTEGER, "day": Kind.DATE, "hotel": TEXT},
    *((person, utc(2024, 1, 1 + place).date(), f"h{(person + place) % 3}")
      for person in range(1, 6) for place in range(3)),
    (1, None, "h0"), (2, utc(2024, 1, 3).date(), "h9"),
)  # fmt: skip
# Users who are texts, some of whom an engine's own collation would take for one.
OWNERS = table(
    "owners", {"product": TEXT, "town": TEXT},
    ("a", "t1"), ("A", "t2"), ("a ", "t3"), ("\u00e9", "t4"), ("e\u0301", "t5"), ("b", "t1"), (None, "t6"), ("", "t7"),
)  # fmt: skip
HOSTILE = ((1, "Rome", 2**40), (1, "Oslo", -5), (99, "Rome", 7), (2, "everywhere", 0))
BESIDE = (PEOPLE, PRODUCTS, KINDS, VISITS, OWNERS)
DECLARED = {
    "people": Join("people", ("person",)),
    "products": Join("products", ("product",), public=True),
    "kinds": Join("kinds", ("kind",), public=True),
    "stays": Join("stays", ("person", "day")),
    "owners": Join("owners", "product"),
}


def frame(each: Table) -> pa.Table:
    return pa.table({column.name: pa.array(each.column(column.name), _ARROW[column.kind]) for column in each.columns})


def joined(first: Table, *others: tuple[Table, tuple[str, ...]]) -> Table:
    """The inner join in plain Python: rows that agree in every key, none of which is missing."""
    for other, using in others:
        extra = [column for column in other.columns if column.name not in using]
        rows = []
        for row in first.rows:
            left = dict(zip(first.names, row, strict=True))
            for cells in other.rows:
                right = dict(zip(other.names, cells, strict=True))
                if all(left[key] is not None and right[key] is not None and left[key] == right[key] for key in using):
                    rows.append((*row, *(right[column.name] for column in extra)))
        first = replace(first, columns=(*first.columns, *extra), rows=tuple(rows))
    return first


class JoinContract:
    """A part of ``SourceContract``, which has the fixtures."""

    has_domain_tables: bool

    @classmethod
    def declared(cls, load: Load, beside: Sequence[Table]) -> dict[str, Join]:
        """The joins as this engine finds their tables: by name, or as files and frames of its own."""
        if cls.has_domain_tables:
            return {
                name: replace(DECLARED[name], table=each.name)
                for each in beside for name in [each.name.removesuffix("_too")]
            }  # fmt: skip
        found = {}
        for each in beside:
            source = load(each)
            place: object = source.name if Path(source.name).exists() else frame(each)
            types = {c.name: c.kind.value for c in each.columns} if isinstance(place, str) else None
            text = isinstance(place, str) and not place.endswith(".parquet")
            join = DECLARED[each.name.removesuffix("_too")]
            found[join.name] = replace(join, table=place, types=types if text else None)
            source.close()
        return found

    @classmethod
    def opened(cls, load: Load, *beside: Table, name: str = "buys") -> SqlSource:
        source = load(replace(BUYS, name=name), *beside)
        assert isinstance(source, SqlSource)
        source.declare_joins(cls.declared(load, beside))
        return source

    @pytest.fixture(scope="class")
    @classmethod
    def buys(cls, load: Load) -> SqlSource:
        return cls.opened(load, *BESIDE)

    def ask(self, source: SqlSource, names: Sequence[str], query: CountQuery) -> CountQuery:
        joins = source.joined_tables(names, ("city", "age", "kind", "stars", "shelf", "hotel"))
        return replace(query, joins=joins)

    def test_columns_of_joined_tables_are_items_groups_conditions_and_amounts(self, buys: SqlSource) -> None:
        everything = joined(BUYS, (PEOPLE, ("person",)), (PRODUCTS, ("product",)))
        names = ("people", "products")
        young = Compare("age", Operator.AT_MOST, 40)
        for query in (
            CountQuery(("kind",), "person"),
            CountQuery(("city", "product"), "person", young),
            CountQuery(("day",), "person", Missing("stars")),
            CountQuery(("kind",), "person", max_items_per_user=1, salt=SALT),
            CountQuery(("city",), "person", value=PairValue("stars", clip=5)),
            CountQuery(("kind",), "person", value=PairValue(clip=3)),
        ):
            asked = self.ask(buys, names, query)
            buys.check(asked)
            check_top(buys, everything, asked, (2, 1000))
        check_lists(buys, everything, self.ask(buys, names, grouped(("kind",), "city", user="person")))

    def test_text_matches_by_its_bytes_and_nothing_matches_what_is_missing(self, buys: SqlSource) -> None:
        everything = joined(BUYS, (PRODUCTS, ("product",)))
        query = self.ask(buys, ("products",), CountQuery(("kind",), "person"))
        check_top(buys, everything, query)
        found = reference.histogram(everything, query)
        assert {"fruit", "grade", "letter", "accent", "empty"} == set(found)
        assert "nothing" not in found

    def test_users_whom_a_collation_takes_for_one_meet_their_own_rows_only(self, buys: SqlSource) -> None:
        query = self.ask(buys, ("owners",), CountQuery(("town",), "product"))
        check_top(buys, joined(BUYS, (OWNERS, ("product",))), query)
        counts = reference.histogram(joined(BUYS, (OWNERS, ("product",))), query)
        assert counts == {"t1": 2, "t2": 1, "t3": 1, "t4": 1, "t5": 1, "t7": 1}

    def test_a_public_table_may_be_matched_by_a_column_of_another(self, buys: SqlSource) -> None:
        everything = joined(BUYS, (PRODUCTS, ("product",)), (KINDS, ("kind",)))
        check_top(buys, everything, self.ask(buys, ("products", "kinds"), CountQuery(("shelf",), "person")))
        if not buys.schema().is_open:
            with pytest.raises(PodiumError, match="kind"):
                buys.joined_schema(("kinds", "products"))

    def test_tables_about_users_may_have_more_keys(self, buys: SqlSource) -> None:
        everything = joined(BUYS, (VISITS, ("person", "day")), (PEOPLE, ("person",)))
        query = self.ask(buys, ("stays", "people"), CountQuery(("hotel", "city"), "person"))
        check_top(buys, everything, query)
        value = replace(query, value=PairValue("pieces", clip=7))
        check_groups(buys, reference.histogram(everything, value), value)
        one = replace(query, items=("city",))
        cities = tuple(reference.histogram(everything, one))
        check_groups(buys, reference.histogram(everything, one, cities), one, DomainItems(cities))

    def test_pairs_of_joined_rows_are_kept(self, buys: SqlSource) -> None:
        everything = joined(BUYS, (PEOPLE, ("person",)), (PRODUCTS, ("product",)))
        query = self.ask(buys, ("people", "products"), CountQuery(("kind",), "person"))
        counts = reference.histogram(everything, query)
        with buys.keep_pairs(query) as kept:
            names = tuple(counts)
            assert kept.among(names).sums([(len(names), 1)]) == tuple(counts.values())
        with buys.snapshot(query) as snapshot:
            assert snapshot.sizes([1, 3]) == reference.sizes(everything, query, [1, 3])

    def test_rows_of_one_user_reach_no_other(self, buys: SqlSource, load: Load) -> None:
        """With hostile rows of users 1 and 2 in a joined table, every other user counts as before, on every path."""
        worse = replace(PEOPLE, name="people_too", rows=(*PEOPLE.rows, *HOSTILE))
        hostile = self.opened(load, worse, name="buys_too")
        others = Compare("person", Operator.AT_LEAST, 3)
        for query in (
            CountQuery(("city",), "person", others),
            CountQuery(("city", "age"), "person", others, max_items_per_user=2, salt=SALT),
            CountQuery(("city",), "person", others, value=PairValue("age", clip=100)),
        ):
            found = []
            for source in (buys, hostile):
                asked = self.ask(source, ("people",), query)
                with source.snapshot(asked) as snapshot:
                    top = snapshot.top_rows(100).top(100)
                found.append((top.items, top.counts.tolist()))
            assert found[0] == found[1]
        # And each of the two moves counts by no more than one user does.
        query = CountQuery(("city",), "person")
        with buys.snapshot(self.ask(buys, ("people",), query)) as before:
            old = reference_of(before)
        with hostile.snapshot(self.ask(hostile, ("people",), query)) as after:
            new = reference_of(after)
        assert {city: new.get(city, 0) - old.get(city, 0) for city in {*old, *new}} == {
            "Rome": 0, "Oslo": 1, "rome": 0, "": 0, "everywhere": 1,
        }  # fmt: skip

    def test_what_does_not_match_is_refused_before_anything_is_read(self, buys: SqlSource) -> None:
        with pytest.raises(InvalidArgument, match="PUBLIC"):
            Join("people", "city").require_unit("person")
        # Whatever was declared, the engine's own query is refused for users of whom the key says nothing.
        query = self.ask(buys, ("people",), CountQuery(("city",), "day"))
        for asked in (query, replace(query, user=("person", "day"))):
            with pytest.raises(InvalidArgument, match="PUBLIC"):
                buys.check(asked)
        # Nor may a joined table say who a user is.
        query = self.ask(buys, ("products",), CountQuery(("day",), "kind"))
        # In JSON any name is a column of the events, so both tables have this one.
        refused = (InvalidArgument, "rename it") if buys.schema().is_open else (UnknownColumn, "kind")
        with pytest.raises(refused[0], match=refused[1]):
            buys.check(query)


def reference_of(snapshot: Any) -> dict[Any, int]:
    top = snapshot.top_rows(100).top(100)
    return dict(zip(top.items, top.counts.tolist(), strict=True))
