"""Any small table, any condition, any bound, any weights, any domain: the embedded engine counts like plain Python."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.columns import columns
from tests.support.sources import reference
from tests.support.sources.data import AMOUNTS, DAYS, MOMENTS, NUMBERS, TEXTS, Table

from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Or, Predicate, Wildcard
from podium.sources import CountQuery, DomainItems, DuckDBSource

COLUMNS = columns(
    {
        "user": "text",
        "text": "text",
        "number": "integer",
        "amount": "decimal(2)",
        "flag": "boolean",
        "day": "date",
        "moment": "timestamp",
    }
)
TYPES = (pa.string(), pa.string(), pa.int64(), pa.decimal128(38, 2), pa.bool_(), pa.date32(), pa.timestamp("us"))
SCALARS = tuple(column.name for column in COLUMNS[1:])

texts = st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
values: dict[str, st.SearchStrategy[Any]] = {
    "user": texts,
    "text": texts,
    "number": st.sampled_from(NUMBERS) | st.integers(-(2**63), 2**63 - 1),
    "amount": st.sampled_from(AMOUNTS) | st.decimals(-(10**9), 10**9, places=2),
    "flag": st.booleans(),
    "day": st.sampled_from(DAYS) | st.dates(),
    "moment": st.sampled_from(MOMENTS) | st.datetimes(),
}
constants = values | {
    "number": st.integers() | values["number"],
    "amount": values["amount"] | st.decimals(allow_nan=False, allow_infinity=False, places=4),
}
rows = st.lists(st.tuples(*(values[column.name] | st.none() for column in COLUMNS)), max_size=25)
tables = st.builds(lambda given_rows: Table("t", COLUMNS, tuple(given_rows)), rows)


def comparisons(name: str) -> st.SearchStrategy[Predicate]:
    of = constants[name]
    found: st.SearchStrategy[Predicate] = (
        st.builds(Compare, st.just(name), st.sampled_from(Operator), of)
        | st.builds(OneOf, st.just(name), st.lists(of, min_size=1, max_size=4).map(tuple))
        | st.builds(Between, st.just(name), of, of)
        | st.just(Missing(name))
    )
    if name == "text":
        pieces = st.sampled_from(Wildcard) | st.sampled_from(["%", "_", "!", "\\", "a", "\n"]) | texts
        found |= st.builds(Like, st.just(name), st.lists(pieces, max_size=4).map(tuple))
    return found


conditions = st.recursive(
    st.sampled_from(SCALARS).flatmap(comparisons),
    lambda part: (
        st.builds(Not, part)
        | st.builds(And, st.lists(part, min_size=1, max_size=3).map(tuple))
        | st.builds(Or, st.lists(part, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=6,
)
item_columns = st.lists(st.sampled_from(SCALARS), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def queries(draw: st.DrawFn) -> CountQuery:
    most = draw(st.none() | st.integers(1, 4))
    salt = None if most is None else draw(st.binary(min_size=16, max_size=16)).hex()
    weights = None if most is None else draw(st.none() | steps(most))
    where = draw(st.none() | conditions)
    return CountQuery(draw(item_columns), "user", where=where, max_items_per_user=most, salt=salt, weights=weights)


@st.composite
def steps(draw: st.DrawFn, most: int) -> tuple[tuple[int, int], ...]:
    ends = sorted({*draw(st.sets(st.integers(1, most))), most})
    falling = sorted(draw(st.lists(st.integers(1, 2**31), min_size=len(ends), max_size=len(ends))), reverse=True)
    return tuple(zip(ends, falling, strict=True))


def item_of(query: CountQuery) -> st.SearchStrategy[Any]:
    parts = st.tuples(*(values[name] for name in query.items))
    return parts if len(query.items) > 1 else parts.map(lambda pair: pair[0])


def some_of(table: Table, query: CountQuery, least: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Items that the table has, and others."""
    found = sorted(reference.histogram(table, CountQuery(query.items, "user")), key=repr)
    item = item_of(query)
    each = st.sampled_from(found) | item if found else item
    return st.lists(each, min_size=least, max_size=8, unique_by=repr).map(tuple)


def opened(table: Table) -> DuckDBSource:
    arrays = [pa.array(table.column(name), type_) for name, type_ in zip(table.names, TYPES, strict=True)]
    return DuckDBSource(pa.table(arrays, names=list(table.names)))


@settings(max_examples=60)
@given(table=tables, query=queries(), limit=st.integers(1, 6), data=st.data())
def test_the_top_rows_are_those_of_the_reference(
    table: Table, query: CountQuery, limit: int, data: st.DataObject
) -> None:
    query = replace(query, without=data.draw(some_of(table, query, 0)))
    edges = sorted(data.draw(st.sets(st.integers(1, 6), min_size=1)))
    expected = reference.ordered(reference.histogram(table, query))
    source = opened(table)
    with source.snapshot(query) as snapshot:
        top = snapshot.top_rows(limit).top(limit)
        assert snapshot.sizes(edges) == reference.sizes(table, query, edges)
    source.close()
    assert list(zip(top.items, top.counts.tolist(), strict=True)) == expected[:limit]
    assert top.next_count == (expected[limit][1] if len(expected) > limit else 0)


@settings(max_examples=40)
@given(table=tables, query=queries(), data=st.data())
def test_a_domain_is_counted_and_named_like_the_reference(table: Table, query: CountQuery, data: st.DataObject) -> None:
    domain = data.draw(some_of(table, query, 1))
    counts = reference.histogram(table, query, domain)
    sizes = reference.counts_of_counts(counts)
    places = [(count, rank) for count, size in zip(*sizes, strict=True) for rank in range(size)]
    source = opened(table)
    with source.snapshot(query, domain=DomainItems(domain)) as snapshot:
        assert snapshot.counts_of_counts() == sizes
        assert snapshot.names(places) == reference.ranked_names(counts, places)
    source.close()


def test_the_reference_knows_the_traps() -> None:
    """The reference itself, on cases worked out by hand."""
    assert reference.encoded(Decimal("1.50")) == "1.5"
    assert reference.encoded(Decimal("100.00")) == "100"
    assert reference.encoded("é:") == "2:é:"
    table = Table("t", COLUMNS[:2], (("u", "a"), ("u", "a"), ("v", "a"), (None, "a"), ("v", None), ("v", "A")))
    assert reference.histogram(table, CountQuery(("text",), "user")) == {"a": 2, "A": 1}
    bounded = CountQuery(("text",), "user", max_items_per_user=2, salt="ab" * 16, weights=((1, 5), (2, 3)))
    assert reference.histogram(table, bounded) == {"a": 8, "A": 3}
    assert reference.histogram(table, replace(bounded, without=("a",))) == {"A": 5}
    assert reference.sizes(table, bounded, (1, 2, 3)) == (1, 1, 0)
    unknown = Not(Compare("text", Operator.EQUAL, "a"))
    assert reference.holds(unknown, {"text": None}) is None
    assert reference.holds(Or((unknown, Missing("text"))), {"text": None}) is True
