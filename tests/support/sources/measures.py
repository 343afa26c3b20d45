"""What every engine must do with pair values: events, sums of integers, decimals and floats, clipped and exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from tests.support.columns import columns
from tests.support.sources import reference
from tests.support.sources.checks import SALT, Load, check_groups, check_top
from tests.support.sources.data import EVENTS, Table

from podium.errors import InvalidArgument, UnknownColumn
from podium.query.predicate import Missing
from podium.sources import CountQuery, DomainItems, DomainSize, PairValue, Source
from podium.sources.sql import kept_pairs

__all__ = ["MeasureContract"]

TENTH, CENT = Fraction(1, 10), Fraction(1, 100)
BOUNDED: dict[str, Any] = {"max_items_per_user": 3, "salt": SALT}
WEIGHTED: dict[str, Any] = {**BOUNDED, "weights": ((1, 1000), (2, 700), (3, 577))}
CLIPS = (1, 7, 2**31)
KEPT = 2**21

# Sums of whole columns differ by the order of these rows; quotients of single rows do not.
ORDERS = (0.1, 0.2, 0.3, 1e16, -1e16, 0.7, 2.9999999999999996, 0.30000000000000004)
HOSTILE = (
    None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300, -1e300, 1.7976931348623157e308, 5e-324, -5e-324, 0.1, 0.2,
    0.3, 0.29999999999999993, 0.7, 1.1, -0.1, -0.05, 99.95, 2.0**53, 2.0**63, 2.0**64, -(2.0**63), 1e-310, 214748364.7,
)  # fmt: skip


def _minutes() -> Iterator[tuple[Any, ...]]:
    labels = ("a", "b", "c", "d")
    for place, minutes in enumerate(HOSTILE):
        yield place % 9, labels[place % 4], minutes, place
        yield 20 + place, labels[place % 3], minutes, -place
    for place, minutes in enumerate(ORDERS):
        yield 10 + place % 2, "order", minutes, 1
        yield 50 + place, "order", 1.0, 2
    # A user with many rows, rows without a user or an item, and a row that is there twice.
    yield from ((60, "many", 0.25 * (place % 5), 3) for place in range(1000))
    yield from ((None, "a", 5.0, 5), (61, None, 5.0, 5), (62, "a", 0.5, 4), (62, "a", 0.5, 4))


MINUTES = Table(
    "minutes",
    columns({"user_id": "integer", "label": "text", "played": "float", "times": "integer"}),
    tuple(_minutes()),
)


def by(value: PairValue | None, items: tuple[str, ...] = ("label",), **more: Any) -> CountQuery:
    return CountQuery(items, "user_id", value=value, **more)


class MeasureContract:
    """A part of ``SourceContract``, which has the fixtures."""

    has_lists: bool
    has_floats: bool

    @pytest.fixture(scope="class")
    @classmethod
    def minutes(cls, load: Load) -> Source:
        if not cls.has_floats:
            pytest.skip("this source has no float columns")
        return load(MINUTES)

    @pytest.mark.parametrize("clip", CLIPS)
    def test_events(self, events: Source, clip: int) -> None:
        for more in ({}, BOUNDED, {"where": Missing("flag"), **WEIGHTED}, {"without": ("a", "b")}):
            if "weights" not in more or clip < 2**20:
                check_top(events, EVENTS, by(PairValue(clip=clip), **more), (3, 1000))

    @pytest.mark.parametrize("unit", [1, 2, 10**3, Fraction(1, 7), Fraction(3, 2)])
    @pytest.mark.parametrize("floor", [0, -5])
    def test_sums_of_integers(self, events: Source, unit: Fraction, floor: int) -> None:
        check_top(events, EVENTS, by(PairValue("number", Fraction(unit), 7, floor)), (3, 1000))
        check_top(events, EVENTS, by(PairValue("number", Fraction(unit), 2**31, floor), ("day",), **BOUNDED))

    @pytest.mark.parametrize(
        ("column", "unit"), [("amount", CENT), ("amount", 1), ("amount", Fraction(1, 300)), ("amount", Fraction(7, 3))]
    )
    @pytest.mark.parametrize("floor", [0, -(2**31)])
    def test_sums_of_decimals(self, events: Source, column: str, unit: Fraction, floor: int) -> None:
        for clip in (7, 2**31):
            check_top(events, EVENTS, by(PairValue(column, Fraction(unit), clip, floor)))

    @pytest.mark.parametrize("unit", [TENTH, 1, CENT, Fraction(1, 3), 1000])
    @pytest.mark.parametrize("floor", [0, -1000])
    def test_sums_of_floats(self, minutes: Source, unit: Fraction, floor: int) -> None:
        check_top(minutes, MINUTES, by(PairValue("played", Fraction(unit), 3, floor), **BOUNDED))
        check_top(minutes, MINUTES, by(PairValue("played", Fraction(unit), 2**31, floor)))

    def test_the_order_of_rows_does_not_matter(self, load: Load) -> None:
        if not self.has_floats:
            pytest.skip("this source has no float columns")
        query = by(PairValue("played", TENTH, 100))
        expected = reference.ordered(reference.histogram(MINUTES, query))
        for place, rows in enumerate((MINUTES.rows[::-1], (*MINUTES.rows[700:], *MINUTES.rows[:700]))):
            table = replace(MINUTES, name=f"minutes{place}", rows=rows)
            assert reference.ordered(reference.histogram(table, query)) == expected
            check_top(load(table), table, query)

    def test_a_hostile_row_moves_nothing_of_others(self, load: Load) -> None:
        if not self.has_floats:
            pytest.skip("this source has no float columns")
        row = (1000, "hostile", 1.7976931348623157e308, 2**63 - 1)
        table = replace(MINUTES, name="hostile", rows=(*MINUTES.rows, row, (1000, "hostile", -math.inf, -(2**63))))
        source = load(table)
        for column in ("played", "times"):
            for value in (PairValue(column, TENTH, 50), PairValue(column, TENTH, 50, -50)):
                check_top(source, table, by(value))
                before = reference.histogram(MINUTES, by(value))
                after = reference.histogram(table, by(value))
                assert {item: after[item] for item in before} == before

    @pytest.mark.parametrize("bits", [0, 2, 20])
    def test_counts_on_a_grid(self, events: Source, bits: int) -> None:
        for clip in (5, 2**31):
            query = by(PairValue("number", clip=clip, grid_bits=bits))
            check_top(events, EVENTS, query)
            listed = ("a", "A", "nobody")
            check_groups(events, reference.histogram(EVENTS, query, listed), query, DomainItems(listed))

    @pytest.mark.parametrize("floor", [0, -3])
    def test_known_domains(self, events: Source, floor: int) -> None:
        for more in ({}, BOUNDED):
            query = by(PairValue("number", clip=9, floor=floor), ("number",), **more)
            check_groups(events, reference.histogram(EVENTS, query, range(12)), query, DomainSize(12))
            listed = by(PairValue("number", clip=9, floor=floor), **more)
            names = ("a", "nobody", "b", "50%")
            check_groups(events, reference.histogram(EVENTS, listed, names), listed, DomainItems(names))

    def test_weighted_sums(self, events: Source) -> None:
        for value in (PairValue(clip=4), PairValue("number", clip=1000)):
            query = by(value, **WEIGHTED)
            check_top(events, EVENTS, query, (5, 1000))
            check_groups(events, reference.histogram(EVENTS, query), query)

    def test_a_row_counts_once_for_each_of_its_elements(self, events: Source) -> None:
        if not self.has_lists:
            pytest.skip("this engine has no lists")
        for value in (PairValue(), PairValue("number", clip=20)):
            for items in (("tags",), ("codes",), ("flag", "tags")):
                check_top(events, EVENTS, by(value, items))
        twice = [row for row in EVENTS.rows if row[8] and len(set(row[8])) < len(row[8])]
        assert len(twice) > 10

    def test_kept_pairs(self, events: Source) -> None:
        kept = by(PairValue("number", clip=KEPT))
        with events.keep_pairs(kept) as pairs:
            assert pairs.value_histograms(33, 1000) == reference.value_histograms(EVENTS, kept, 33, 1000)
            for clip in (1, 6, 2**19, KEPT):
                smaller = PairValue("number", clip=clip, grid_bits=2 if clip == 6 else None)
                query = by(smaller, **BOUNDED)
                snapshot = pairs.snapshot(query)
                assert snapshot.counts_of_counts() == reference.counts_of_counts(reference.histogram(EVENTS, query))
                top = pairs.snapshot(by(replace(smaller, grid_bits=None), without=("a",), **BOUNDED)).top_rows(1000)
                expected = reference.histogram(EVENTS, by(replace(smaller, grid_bits=None), without=("a",), **BOUNDED))
                rows = top.top(1000)
                assert list(zip(rows.items, rows.counts.tolist(), strict=True)) == reference.ordered(expected)
            self.check_named(pairs)
            for other in (None, PairValue("number", clip=KEPT + 1), PairValue(clip=1), PairValue("number", CENT, 1)):
                with pytest.raises(InvalidArgument, match="the value of the kept pairs"):
                    pairs.snapshot(by(other))

    def check_named(self, pairs: Any) -> None:
        named, weights = ("b", "a", "nobody"), ((1, 1000), (3, 577))
        for clip, few in ((None, 0), (3, kept_pairs.FEW_ITEMS), (2**19, 0)):
            query = by(PairValue("number", clip=clip or KEPT), max_items_per_user=3, salt=SALT, weights=weights)
            expected = reference.histogram(EVENTS, query, named)
            with patch.object(kept_pairs, "FEW_ITEMS", few):
                assert pairs.among(named).sums(weights, clip=clip) == tuple(expected[item] for item in named)
        unweighted = reference.sizes(EVENTS, by(PairValue("number", clip=1)), (1, 2), named)
        assert pairs.among(named).sizes((1, 2)) == unweighted
        with pytest.raises(InvalidArgument, match="with their clip or less"):
            pairs.among(named).sums(weights, clip=KEPT + 1)

    def test_histograms_of_values(self, events: Source) -> None:
        for value in (PairValue(), PairValue("number", clip=2**31, floor=-(2**31)), PairValue("number", clip=5)):
            query = by(replace(value, clip=min(value.clip, 2**31)), ("number", "day"))
            for buckets, resolution in ((2, 1), (41, 2**20), (4, 7)):
                with events.keep_pairs(query) as pairs:
                    found = pairs.value_histograms(buckets, resolution)
                assert found == reference.value_histograms(EVENTS, query, buckets, resolution)

    def test_what_users_add_to_all_other_items(self, events: Source) -> None:
        for value, items in ((PairValue(clip=3), ("number", "day")), (PairValue("number", clip=2**31), ("label",))):
            query = by(value, items)
            with events.keep_pairs(query) as pairs:
                most = tuple(reference.histogram(EVENTS, query))[:2]
                for listed, clip, buckets in (((), 2, 32), (most, value.clip, 32), (most[:1], 1, 2)):
                    found = pairs.rest_totals(listed, clip, buckets)
                    wanted = replace(query, value=replace(value, clip=clip))
                    assert found == reference.rest_totals(EVENTS, wanted, listed, buckets)
                with pytest.raises(InvalidArgument, match="with their clip or less"):
                    pairs.rest_totals((), value.clip + 1, 4)
                with pytest.raises(InvalidArgument, match="buckets"):
                    pairs.rest_totals((), 1, 65)

    @pytest.mark.parametrize(
        ("value", "named"),
        [
            (PairValue("label"), "by='label'"),
            (PairValue("flag"), "by='flag'"),
            (PairValue("user_id"), "by='user_id'"),
            (PairValue("number", Fraction(10**1001)), "unit="),
            (PairValue("number", Fraction(1, 10**1001), 7), "unit="),
        ],
    )
    def test_values_that_cannot_be_summed_are_refused(self, events: Source, value: PairValue, named: str) -> None:
        value = replace(value, clip=min(value.clip, 2**31))
        for refused in (events.check, events.queries):
            with pytest.raises(InvalidArgument, match=named):
                refused(by(value))

    def test_a_column_that_is_not_there_is_refused(self, events: Source) -> None:
        with pytest.raises((UnknownColumn, InvalidArgument), match="by='nothing'"):
            events.check(by(PairValue("nothing", clip=1)))

    def test_the_sql_is_shown(self, events: Source) -> None:
        (sql,) = events.queries(by(PairValue("number", clip=12345)), limit=10)
        assert "12345" in sql
        shown = events.queries(by(PairValue(clip=12345)), limit=10, keep_pairs=True)
        assert "podium_kept" in shown[-1]
