"""What every engine must do with contributions: weigh them, leave items out, tell how many items users have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.sources import reference
from tests.support.sources.checks import SALT, SCALARS, Load, check_groups, check_top, rows_of
from tests.support.sources.data import COMPARISONS, EVENTS, TEXTS

from podium.errors import InvalidArgument
from podium.query.predicate import Compare, Missing, Operator
from podium.sources import CountQuery, DomainItems, DomainSize, Snapshot, Source
from podium.sources.sql import kept_pairs

__all__ = ["ContributionContract", "weighted"]

WEIGHTS = ((1, 2**31), (2, 2**30 + 1), (5, 977), (7, 3))
EDGES = (1, 2, 4, 5, 8, 16, 2**40)
HOSTILE = ("'; DROP TABLE events; --", "\\'", "''", "$$", "%s", "{x}", ":a", "\u202e", "NULL", "\\N", "?", "a\tb\r\n")


def weighted(items: Sequence[str], user: str = "user_id", **more: Any) -> CountQuery:
    return CountQuery(tuple(items), user, max_items_per_user=WEIGHTS[-1][0], salt=SALT, weights=WEIGHTS, **more)


def _check_kept(snapshot: Snapshot, counts: dict[Any, int]) -> tuple[Any, ...]:
    """The counts and names of a snapshot; returns the names."""
    sizes = reference.counts_of_counts(counts)
    assert snapshot.counts_of_counts() == sizes
    places = [(count, rank) for count, size in zip(*sizes, strict=True) for rank in range(size)]
    names = snapshot.names(places)
    assert names == reference.ranked_names(counts, places)
    return names


class ContributionContract:
    """A part of ``SourceContract``, which has the fixtures."""

    has_lists: bool

    def skip_without_lists(self) -> None:
        if not self.has_lists:
            pytest.skip("this engine has no lists")

    @pytest.mark.parametrize("item", SCALARS)
    def test_each_user_gives_weights_by_how_many_items_they_have(self, events: Source, item: str) -> None:
        check_top(events, EVENTS, weighted((item,)), (5, 1000))

    def test_weights_of_several_columns(self, events: Source) -> None:
        where = Missing("flag")
        for query in (weighted(("flag", "label"), "user name"), weighted(("label", "day"), where=where)):
            check_top(events, EVENTS, query, (7, 1000))
        query = weighted(("number", "day", "moment"))
        check_groups(events, reference.histogram(EVENTS, query), query)

    def test_weights_of_lists(self, events: Source) -> None:
        self.skip_without_lists()
        check_top(events, EVENTS, weighted(("tags",)), (7, 1000))
        check_top(events, EVENTS, weighted(("codes",), "user name", without=(0, 1, -(2**63))), (7, 1000))

    def test_one_weight_for_all_is_a_multiple_of_the_count(self, events: Source) -> None:
        bounded = CountQuery(("label",), "user_id", max_items_per_user=3, salt=SALT)
        counts = reference.histogram(EVENTS, bounded)
        query = replace(bounded, weights=((3, 2**31),))
        check_groups(events, {item: 2**31 * count for item, count in counts.items()}, query)

    def test_comparisons_of_public_pairs(self, load: Load) -> None:
        """Who preferred which of each pair, both orders listed; what is not listed is no part of a user's share."""
        source = load(COMPARISONS)
        pairs = tuple((one, other) for one in TEXTS[:9:2] for other in TEXTS[:9:2] if one != other)
        for most in (None, 1, 3):
            salt = None if most is None else SALT
            query = CountQuery(("better", "worse"), "who", max_items_per_user=most, salt=salt)
            expected = reference.ordered(reference.histogram(COMPARISONS, query, pairs))
            with source.snapshot(query, domain=DomainItems(pairs)) as snapshot:
                assert rows_of(snapshot, len(pairs)) == (expected, 0)
            assert len(expected) > 5

    def test_weights_in_a_domain(self, events: Source) -> None:
        """How many items a user has is counted after the others are dropped."""
        numbers, labels = weighted(("number",)), weighted(("label",))
        items = ("a", "A", "nobody", "\U0001d11e", "b", "B", "1", "O'Brien")
        check_groups(events, reference.histogram(EVENTS, numbers, range(10)), numbers, DomainSize(10))
        check_groups(events, reference.histogram(EVENTS, labels, items), labels, DomainItems(items))

    @pytest.mark.parametrize("item", SCALARS)
    def test_items_left_out(self, events: Source, item: str) -> None:
        query = CountQuery((item,), "user_id")
        found = [each for each, _ in reference.ordered(reference.histogram(EVENTS, query))]
        without = replace(query, without=(*found[:1], *found[2::3], *found[:1]))
        check_top(events, EVENTS, without, (1, 1000))
        assert len(reference.histogram(EVENTS, without)) < len(found)

    def test_items_left_out_before_users_are_cut(self, events: Source) -> None:
        common = ("a", "A", " ", "a ")
        for query in (
            CountQuery(("label",), "user_id", max_items_per_user=2, salt=SALT, without=common),
            weighted(("label",), "user name", without=(*common, *HOSTILE)),
        ):
            check_top(events, EVENTS, query, (7, 1000))
            check_groups(events, reference.histogram(EVENTS, query), query)

    def test_items_of_several_columns_left_out(self, events: Source) -> None:
        query = CountQuery(("flag", "label"), "user_id")
        pairs = [item for item, _ in reference.ordered(reference.histogram(EVENTS, query))]
        without = (*pairs[:9:2], (not pairs[0][0], "nobody"), *((True, text) for text in HOSTILE))
        check_top(events, EVENTS, replace(query, without=without), (7, 1000))

    def test_texts_left_out_are_themselves_and_nothing_else(self, events: Source) -> None:
        """Neither their case, their accents nor their blanks are taken lightly, and no text is taken for SQL."""
        query = CountQuery(("label",), "user_id", without=(*TEXTS[::2], *HOSTILE))
        check_top(events, EVENTS, query)
        assert set(reference.histogram(EVENTS, query)) & set(TEXTS[1::2])

    def test_many_items_listed_or_left_out(self, events: Source) -> None:
        many = tuple(range(-10_000, 10_000, 2))
        query = CountQuery(("number",), "user_id")
        counts = reference.histogram(EVENTS, query, many)
        with events.snapshot(query, domain=DomainItems(many)) as snapshot:
            assert snapshot.counts_of_counts() == reference.counts_of_counts(counts)
        check_top(events, EVENTS, replace(query, without=many))

    def test_sizes(self, events: Source) -> None:
        for query in (
            CountQuery(("label",), "user_id"),
            CountQuery(("number", "flag"), "user name", where=Compare("number", Operator.MORE, 0)),
            weighted(("label",), without=("a", "A")),
        ):
            sizes = reference.sizes(EVENTS, query, EDGES)
            assert sum(map(bool, sizes)) > 1
            assert sizes[-1] == 0
            with events.snapshot(query) as snapshot:
                assert snapshot.sizes(EDGES) == sizes
                assert snapshot.sizes((3,)) == reference.sizes(EVENTS, query, (3,))

    def test_sizes_of_lists(self, events: Source) -> None:
        self.skip_without_lists()
        query = CountQuery(("tags",), "user_id")
        with events.snapshot(query) as snapshot:
            assert snapshot.sizes(EDGES) == reference.sizes(EVENTS, query, EDGES)

    def test_sizes_beside_other_answers(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id", max_items_per_user=2, salt=SALT)
        items = ("a", "A", "nobody", "b", "B", "i")
        counts = reference.histogram(EVENTS, query, items)
        sizes = reference.sizes(EVENTS, query, EDGES, items)
        with events.snapshot(query, domain=DomainItems(items)) as snapshot:
            assert snapshot.sizes(EDGES) == sizes
            assert snapshot.counts_of_counts() == reference.counts_of_counts(counts)
            assert snapshot.sizes(EDGES) == sizes
        with events.snapshot(query) as snapshot:
            assert rows_of(snapshot, 100)[0] == reference.ordered(reference.histogram(EVENTS, query))
            assert snapshot.sizes(EDGES) == reference.sizes(EVENTS, query, EDGES)

    @pytest.mark.parametrize("items", [("label",), ("number",), ("label", "day"), ("tags",)])
    def test_all_rounds_read_pairs_that_are_kept_once(
        self, events: Source, items: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if "tags" in items:
            self.skip_without_lists()
        plain = CountQuery(items, "user_id", where=Compare("number", Operator.UNEQUAL, 7))
        query = replace(plain, max_items_per_user=WEIGHTS[-1][0], salt=SALT, weights=WEIGHTS)
        with events.keep_pairs(plain) as kept:
            assert kept.snapshot(query).sizes(EDGES) == reference.sizes(EVENTS, plain, EDGES)
            found = _check_kept(kept.snapshot(query), reference.histogram(EVENTS, query))
            without = replace(query, without=found[::3])
            _check_kept(kept.snapshot(without), reference.histogram(EVENTS, without))
            # Each of these tables is made of the one before it, but for the last; of few items none is made.
            somes = (found[:12], found[2:7], found[3:4], found[4:6], found[::2])
            for some, few in zip(somes, (kept_pairs.FEW_ITEMS, 0, 1, 1, 0), strict=True):
                monkeypatch.setattr(kept_pairs, "FEW_ITEMS", few)
                named, cap = kept.among(some), max(8, len(some))
                turned = tuple(3 * reference.histogram(EVENTS, plain, some)[item] for item in some[::-1])
                assert kept.among(some[::-1]).sums(((cap, 3),)) == turned
                weights = replace(plain, weights=((2, 9), (cap, 5)), max_items_per_user=cap, salt=SALT)
                sums = reference.histogram(EVENTS, weights, some)
                assert named.sums(weights.weights or ()) == tuple(sums[item] for item in some)
                assert named.sizes(EDGES) == reference.sizes(EVENTS, plain, EDGES, some)
                assert named.sums(((cap, 1),)) == tuple(reference.histogram(EVENTS, plain, some)[item] for item in some)
            with pytest.raises(InvalidArgument, match="weights="):
                kept.among(found[:12]).sums(((3, 1),))
            with pytest.raises(InvalidArgument, match="query="):
                kept.snapshot(replace(query, where=None))

    def test_pairs_of_a_domain_are_kept_with_the_items_that_nobody_has(self, events: Source) -> None:
        plain, domain = CountQuery(("label",), "user_id"), ("a", "A", "nobody", "b", "i")
        query = replace(plain, max_items_per_user=WEIGHTS[-1][0], salt=SALT, weights=WEIGHTS)
        with events.keep_pairs(plain, domain=DomainItems(domain)) as kept:
            _check_kept(kept.snapshot(query), reference.histogram(EVENTS, query, domain))
            assert kept.among(("nobody", "a")).sums(((2, 1),))[0] == 0

    @pytest.mark.parametrize("edges", [(), (0, 1), (1, 1), (2, 1), (1.5,), tuple(range(1, 102))])
    def test_edges_that_make_no_sense_are_refused(self, events: Source, edges: tuple[int, ...]) -> None:
        query = CountQuery(("label",), "user_id")
        with events.snapshot(query) as snapshot, pytest.raises(InvalidArgument, match="edges="):
            snapshot.sizes(edges)
        with pytest.raises(InvalidArgument, match="edges="):
            events.queries(query, edges=edges)

    @pytest.mark.parametrize(
        ("items", "without"),
        [
            (("label",), (1,)),
            (("label",), (None,)),
            (("number",), (2**63,)),
            (("number",), (1.0,)),
            (("flag", "label"), ("a",)),
            (("flag", "label"), ((True, "a", 1),)),
        ],
    )
    def test_items_of_other_kinds_are_not_left_out(self, events: Source, items: tuple[str, ...], without: Any) -> None:
        with pytest.raises(InvalidArgument, match="without="):
            events.check(CountQuery(items, "user_id", without=without))

    def test_a_nul_is_left_out_where_a_text_may_have_one(self, events: Source) -> None:
        """An engine that cannot hold it cannot have found it, and would fail if it were sent."""
        query = CountQuery(("label",), "user_id", without=("nul\0",))
        if events.dialect in ("duckdb", "clickhouse", "spark"):
            with events.snapshot(query) as snapshot:
                assert len(snapshot.top_rows(1).top(1).items) == 1
            events.check(query)
        else:
            with pytest.raises(InvalidArgument, match="without="):
                events.check(query)

    def test_items_are_left_out_of_a_domain_by_its_owner(self, events: Source) -> None:
        with pytest.raises(InvalidArgument, match="Leave them out of the domain"):
            events.check(CountQuery(("number",), "user_id", without=(1,)), domain=DomainSize(3))
