"""Histograms from every kind of input; what is refused, word for word; ties by the item alone."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from podium.errors import InvalidArgument
from podium.histogram import Groups, Histogram, Scores, item_order


class Column:
    """What a pandas or polars column looks like from outside: a list of its values, and an array."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def to_list(self) -> list[Any]:
        return list(self._values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(self._values, dtype=dtype)


class NotAvailable:
    """A missing value that refuses to say whether it equals itself."""

    __hash__ = object.__hash__

    def __ne__(self, other: object) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


def rows(histogram: Histogram, limit: int) -> tuple[tuple[Any, ...], list[int], int]:
    top = histogram.top(limit)
    return top.items, top.counts.tolist(), top.next_count


def named(groups: Groups) -> dict[Any, Any]:
    sizes = [1] * len(groups.scores) if groups.multiplicities is None else groups.multiplicities
    return {
        groups.name(group, member): score
        for group, (score, size) in enumerate(zip(list(groups.scores), sizes, strict=True))
        for member in range(size)
    }


def refused(text: str) -> Any:
    return pytest.raises(InvalidArgument, match=f"^{text}$")


def test_top_rows_come_in_order_with_the_next_count() -> None:
    histogram = Histogram({"d": 1, "b": 3, "a": 5, "c": 2, "e": 0})
    assert rows(histogram, 2) == (("a", "b"), [5, 3], 2)
    assert rows(histogram, 4) == (("a", "b", "c", "d"), [5, 3, 2, 1], 0)
    assert rows(histogram, 9) == (("a", "b", "c", "d"), [5, 3, 2, 1], 0)
    assert rows(Histogram({}), 3) == ((), [], 0)


def test_ties_at_the_cut_are_decided_by_the_item_alone() -> None:
    for order in itertools.permutations("abcd"):
        items, _, next_count = rows(Histogram(dict.fromkeys(order, 2)), 2)
        assert (set(items), next_count) == ({"a", "b"}, 2)
        assert rows(Histogram({**dict.fromkeys(order, 2), "z": 9}), 2)[0] == ("z", "a")


def test_many_ties_at_the_cut() -> None:
    counts = {f"{i:04}": 7 if i % 3 else 8 for i in reversed(range(3000))}
    items, values, next_count = rows(Histogram(counts), 1500)
    assert set(items) == set(sorted(counts, key=lambda item: (-counts[item], item))[:1500])
    assert (values[0], values[-1], next_count) == (8, 7, 7)


def test_the_order_of_items_is_total_over_kinds() -> None:
    day = dt.date(2024, 2, 1)
    mixed = [True, 3, decimal.Decimal("2.5"), "b", "a", b"x", day, dt.time(3), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]
    mixed += [("a", 1), ("a", "b"), None, 1.5]
    ordered = sorted(mixed, key=item_order)
    mixed.reverse()
    assert sorted(mixed, key=item_order) == ordered
    assert ordered.index("a") < ordered.index("b")
    assert ordered.index(decimal.Decimal("2.5")) < ordered.index(3)


@pytest.mark.parametrize(
    ("items", "counts"),
    [
        (["x", "y"], [3, 4]),
        (("x", "y"), iter([3, 4])),
        (np.array(["x", "y"]), np.array([3, 4], dtype=np.uint8)),
        (pa.array(["x", "y"]), pa.array([3, 4])),
        (pa.chunked_array([["x"], ["y"]]), pa.chunked_array([[3], [4]])),
        (Column(["x", "y"]), Column([3, 4])),
        (Column(["x", "y"]), np.array([3, 4], dtype=object)),
    ],
)
def test_columns_of_many_kinds(items: Any, counts: Any) -> None:
    histogram = Histogram.from_arrays(items, counts)
    assert rows(histogram, 5) == (("y", "x"), [4, 3], 0)
    assert all(type(item) is str for item in histogram.top(2).items)


def test_items_of_an_arrow_column_are_python_objects() -> None:
    days = pa.array([dt.date(2024, 1, 2), dt.date(2024, 1, 1)])
    assert rows(Histogram.from_arrays(days, pa.array([1, 1], pa.uint64())), 1)[0] == (dt.date(2024, 1, 1),)


NOT_WHOLE = (
    r"counts='a value that is not an integer' is not valid\. "
    r"Allowed: integers from 0 to 2\^62, one per item\."
)
OUT_OF_RANGE = r"counts='a value out of range' is not valid\. Allowed: integers from 0 to 2\^62, one per item\."


@pytest.mark.parametrize("count", [2.5, 2.0, float("nan"), float("inf"), None, "3", True, Fraction(3), np.float64(3)])
def test_counts_that_are_not_whole_numbers(count: Any) -> None:
    with refused(NOT_WHOLE):
        Histogram({"a": count})
    with refused(NOT_WHOLE):
        Histogram.from_arrays(["a"], [count])


@pytest.mark.parametrize("counts", [np.array([1.0]), pa.array([1.5]), pa.array([None], pa.int64()), Column([0.5])])
def test_columns_of_counts_that_are_not_whole_numbers(counts: Any) -> None:
    with refused(NOT_WHOLE):
        Histogram.from_arrays(["a"], counts)


@pytest.mark.parametrize("count", [-1, 2**62 + 1, 2**70])
def test_counts_out_of_range(count: int) -> None:
    with refused(OUT_OF_RANGE):
        Histogram({"a": count})
    with refused(OUT_OF_RANGE):
        Histogram.from_arrays(["a"], [count])


def test_the_largest_count_is_kept_exactly() -> None:
    assert rows(Histogram({"a": 2**62, "b": 2**62 - 1}), 1) == (("a",), [2**62], 2**62 - 1)


def test_columns_must_match_and_items_be_distinct() -> None:
    with refused(r"counts='2 counts' is not valid\. Allowed: one count for each of 1 items\."):
        Histogram.from_arrays(["a"], [1, 2])
    with refused(r"items='a column with repeated items' is not valid\. Allowed: distinct items\."):
        Histogram.from_arrays(["a", "a"], [1, 2])
    with refused(r"items='a column with repeated items' is not valid\. Allowed: distinct items\."):
        Histogram.top_rows(["a", "a"], [1, 2], next_count=0)
    with refused(r"domain='a list with repeated items' is not valid\. Allowed: distinct items\."):
        Histogram({"a": 1}, domain=["a", "a"])
    with refused(r"counts='array of shape \(1, 2\)' is not valid\. Allowed: integers from 0 to 2\^62, one per item\."):
        Histogram.from_arrays(["a"], np.array([[1, 2]]))


@pytest.mark.parametrize("item", [None, float("nan"), decimal.Decimal("nan"), NotAvailable()])
def test_missing_items_are_refused(item: Any) -> None:
    missing = r"items='a column with missing values' is not valid\. Allowed: distinct items, none of them missing\."
    with refused(missing):
        Histogram.from_arrays(["a", item], [1, 2])


def test_top_rows_of_an_unknown_domain() -> None:
    histogram = Histogram.top_rows(["b", "a"], [2, 5], next_count=1)
    assert not histogram.known
    assert histogram.domain_size is None
    assert rows(histogram, 2) == (("a", "b"), [5, 2], 1)
    assert rows(histogram, 1) == (("a",), [5], 2)
    with refused(r"limit=3 is not valid\. Allowed: at most the 2 rows that were read\."):
        histogram.top(3)
    assert rows(Histogram.top_rows(["a"], [5], next_count=0), 3) == (("a",), [5], 0)
    with refused(r"next_count=3 is not valid\. Allowed: at most the smallest of the counts given\."):
        Histogram.top_rows(["b", "a"], [2, 5], next_count=3)


def test_known_domain_mechanisms_refuse_an_unknown_domain() -> None:
    text = (
        r"histogram='an unknown-domain histogram' is not valid\. Allowed: a histogram with a known domain\. "
        r"Give the domain \(domain=\.\.\. or domain_size=\.\.\.\), or use LimitedDomain\."
    )
    for unknown in (
        Histogram({"a": 1}, known=False),
        Histogram.top_rows(["a"], [1], next_count=0),
        Histogram.from_arrays(["a"], [1], known=False),
        Histogram.from_counts_of_counts({1: 1}, name=lambda count, rank: "a", known=False),
    ):
        with refused(text):
            unknown.groups()


def test_a_stated_domain() -> None:
    listed = Histogram({"a": 2, "x": 9}, domain=["a", "b"])
    assert (named(listed.groups()), listed.domain_size) == ({"a": 2, "b": 0}, 2)
    sized = Histogram({1: 2, 3: 2, 7: 5}, domain_size=6)
    assert named(sized.groups()) == {0: 0, 1: 2, 2: 0, 3: 2, 4: 0, 5: 0}
    assert (len(sized), sized.domain_size) == (2, 6)
    with refused(r"domain_size=3 is not valid\. Allowed: None where domain is given\."):
        Histogram({}, domain=["a"], domain_size=3)
    with refused(r"known=False is not valid\. Allowed: True where a domain is given\."):
        Histogram({}, domain=["a"], known=False)
    with refused(r"domain_size=0 is not valid\. Allowed: an integer, 1 or more\."):
        Histogram({}, domain_size=0)


TABLE = {5: ["e", "h"], 2: ["a", "c", "d"], 0: ["b", "f", "g"]}


def from_table(**more: Any) -> Histogram:
    sizes = {count: len(items) for count, items in TABLE.items()}
    return Histogram.from_counts_of_counts(sizes, lambda count, rank: TABLE[count][rank], **more)


def listed() -> Iterator[tuple[str, int]]:
    return ((item, count) for count, items in TABLE.items() for item in items)


def test_counts_of_counts_are_the_same_histogram() -> None:
    grouped, plain = from_table(), Histogram(dict(listed()))
    for limit in range(1, 10):
        assert rows(grouped, limit) == rows(plain, limit)
    assert named(grouped.groups()) == named(plain.groups())
    assert (grouped.domain_size, plain.domain_size) == (8, 8)
    assert len(grouped) == 5
    assert grouped.span(monotone=True) == 1


def test_counts_of_counts_name_no_more_than_they_must() -> None:
    asked = []

    def name(count: int, rank: int) -> tuple[int, int]:
        asked.append((count, rank))
        return count, rank

    huge = Histogram.from_counts_of_counts({0: 10**30, 7: 2, 3: 10**12}, name)
    assert rows(huge, 4) == (((7, 0), (7, 1), (3, 0), (3, 1)), [7, 7, 3, 3], 3)
    assert len(asked) == 4
    groups = huge.groups()
    assert groups.multiplicities is not None
    assert sorted(groups.multiplicities) == [2, 10**12, 10**30]
    assert huge.domain_size == 10**30 + 10**12 + 2


def test_counts_of_counts_that_make_no_sense() -> None:
    with refused(NOT_WHOLE):
        Histogram.from_counts_of_counts({"5": 1}, lambda count, rank: rank)  # type: ignore[dict-item]
    with refused(r"sizes=-1 is not valid\. Allowed: an integer, 0 or more\."):
        Histogram.from_counts_of_counts({5: -1}, lambda count, rank: rank)


def test_scores_state_their_sensitivity() -> None:
    assert Scores({"a": "0.5"}, sensitivity=2).span(monotone=True) == 4
    assert Scores({"a": "0.5"}, rises_by=1).span(monotone=False) == 1
    assert named(Scores({"a": "0.1"}, sensitivity=1).groups()) == {"a": Fraction(1, 10)}
    with refused(
        r"sensitivity=None is not valid\. Allowed: either sensitivity, or rises_by and falls_by\. State one\."
    ):
        Scores({"a": 1})
    with refused(r"rises_by=-1 is not valid\. Allowed: 0 or more, and more than 0 together with falls_by\."):
        Scores({"a": 1}, rises_by=-1, falls_by=3)


def test_counted_items_are_those_that_somebody_has() -> None:
    unknown = Histogram({"a": 5, "b": 0, "c": 2}, known=False).observed_groups()
    assert list(unknown.scores) == [5, 2]
    assert [unknown.name(group, 0) for group in range(2)] == ["a", "c"]
    everybody = Histogram({"a": 5, "c": 2}).observed_groups()
    assert [everybody.name(group, 0) for group in range(2)] == ["a", "c"]
    sized = Histogram({3: 4}, domain_size=10**9).observed_groups()
    assert (list(sized.scores), sized.name(0, 0)) == ([4], 3)
    grouped = Histogram.from_counts_of_counts({4: 2, 0: 10**9, 1: 3}, lambda count, rank: (count, rank), known=False)
    groups = grouped.observed_groups()
    assert (list(groups.scores), groups.multiplicities, groups.name(1, 2)) == ([4, 1], [2, 3], (1, 2))
