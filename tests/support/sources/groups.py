"""What every engine must do with groups: cut users to few of them, and count each apart, all in the same queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.sources import reference
from tests.support.sources.checks import SALT, Load, kind_of
from tests.support.sources.data import EVENTS, TEXTS, Table

from podium.errors import InvalidArgument
from podium.query.predicate import Compare, Missing, Operator
from podium.query.schema import Column, Kind
from podium.sources import CountQuery, Domain, DomainItems, DomainSize, DomainTable, GroupCut, PairValue, Source
from podium.user_columns import UserColumns

__all__ = ["GroupContract", "check_lists", "grouped"]

VISITS = Table(
    "visits",
    (Column("user_id", Kind.INTEGER), Column("country", Kind.TEXT), Column("article", Kind.TEXT)),
    (
        (1, "fr", "a"), (1, "fr", "b"), (1, "de", "a"), (1, "de", "a"), (2, "de", "a"), (3, "fr", "a"), (3, None, "b"),
        (4, "it", "c"), (4, "fr", "c"), (4, "de", "c"), (None, "fr", "z"), (5, "fr", None), (6, None, None),
        (7, "FR", "a"), (7, "fr ", "a"), (7, "", "a"), (8, "\uff5e", "a"), (9, "\U0001d11e", "a"), (9, "é", "x"),
    ),
)  # fmt: skip
SHUFFLED = replace(VISITS, name="shuffled", rows=VISITS.rows[::-1])
WEIGHTS = ((1, 1024), (2, 725), (4, 512))


def grouped(
    items: Sequence[str], *columns: str, user: UserColumns = "user_id", within: bool = False, **more: Any
) -> CountQuery:
    """A query whose users count in one group, unless ``per_user`` says otherwise."""
    cut = {name: more.pop(name) for name in ("per_user", "known", "pairs_per_user") if name in more}
    groups = GroupCut(columns, within_group=within, **cut)
    salt = SALT if groups.bounds or "max_items_per_user" in more else None
    return CountQuery(tuple(items), user, groups=groups, salt=salt, **more)


def listing(counts: dict[Any, dict[Any, int]], limit: int) -> list[tuple[Any, list[tuple[Any, int]], int]]:
    """For each group its largest rows, and the count of the next."""
    ordered = ((group, reference.ordered(some)) for group, some in counts.items())
    return [(group, rows[:limit], rows[limit][1] if len(rows) > limit else 0) for group, rows in ordered]


def rows_of(lists: Any, limit: int) -> list[tuple[Any, list[tuple[Any, int]], int]]:
    tops = ((group, histogram.top(limit)) for group, histogram in lists)
    return [(group, list(zip(top.items, top.counts.tolist(), strict=True)), top.next_count) for group, top in tops]


def check_lists(
    source: Source, table: Table, query: CountQuery, limits: Sequence[int] = (3,), domain: Domain | None = None
) -> None:
    """The top rows of every group, in the order of the groups; some lists are longer than a limit, some shorter."""
    listed = domain.items if isinstance(domain, DomainItems) else None
    counts = reference.grouped(table, query, listed)
    for limit in limits:
        with source.snapshot(query, domain=domain) as snapshot:
            found = rows_of(snapshot.grouped_top_rows(limit), limit)
        assert found == listing(counts, limit)
        assert [kind_of(group) for group, _, _ in found] == [kind_of(group) for group in counts]


class GroupContract:
    """A part of ``SourceContract``, which has the fixtures."""

    has_lists: bool
    has_domain_tables: bool
    another_form = False
    """Whether this is an engine that passes the whole contract, with its table in another form."""

    def once_for_an_engine(self) -> None:
        """How pairs are cut, kept and counted does not depend on the form in which an engine has its table."""
        if self.another_form:
            pytest.skip("the same SQL as on another form of this engine")

    @pytest.mark.parametrize("group", ["label", "number", "amount", "flag", "day", "moment"])
    def test_groups_of_every_kind(self, events: Source, group: str) -> None:
        item = "number" if group == "label" else "label"
        check_lists(events, EVENTS, grouped((item,), group))

    @pytest.mark.parametrize("per_user", [2, None])
    def test_each_user_counts_in_few_groups(self, events: Source, per_user: int | None) -> None:
        self.once_for_an_engine()
        check_lists(events, EVENTS, grouped(("label",), "day", per_user=per_user), (3,))
        query = grouped(("number",), "flag", "day", per_user=per_user, user="user name", max_items_per_user=3)
        check_lists(events, EVENTS, query, (3,))
        query = replace(query, groups=GroupCut(("flag", "day"), per_user, within_group=True), max_items_per_user=1)
        check_lists(events, EVENTS, query, (1000,))

    @pytest.fixture(scope="class")
    @classmethod
    def visits(cls, load: Load) -> Source:
        return load(VISITS)

    def test_a_user_in_two_countries_counts_in_one(self, visits: Source, load: Load) -> None:
        self.once_for_an_engine()
        source, query = visits, grouped(("article",), "country")
        check_lists(source, VISITS, query, (1,))
        countries = defaultdict(set)
        for user, (country, _) in reference.grouped_pairs(VISITS, query):
            countries[user].add(country)
        assert [len(some) for some in countries.values()] == [1] * 7
        # Which one depends on nobody else's rows, nor on the order of rows.
        for user in (4, 7):
            alone = replace(query, where=Compare("user_id", Operator.EQUAL, user))
            with source.snapshot(alone) as snapshot:
                assert {group for group, _ in snapshot.grouped_top_rows(5)} == countries[user]
        with source.snapshot(query) as first, load(SHUFFLED).snapshot(query) as second:
            assert rows_of(first.grouped_top_rows(5), 5) == rows_of(second.grouped_top_rows(5), 5)
        other = replace(query, salt=SALT[::-1])
        assert reference.grouped(VISITS, other) != reference.grouped(VISITS, query)
        check_lists(source, VISITS, other)

    def test_known_groups_are_chosen_from(self, visits: Source) -> None:
        """Rows of other groups are dropped before a user's groups are chosen."""
        known = DomainItems(("fr", "it", "nowhere", "fr"))
        query = grouped(("article",), "country", known=known)
        check_lists(visits, VISITS, query)
        assert visits.known_groups(query) == ("fr", "it", "nowhere")
        # Of the fourth user's two it depends on the engine's hash; two others have only the first.
        chosen = reference.chosen_groups(4, [("fr",), ("it",)], query)
        assert set(reference.grouped(VISITS, query)) == {"fr", *(group for (group,) in chosen)}
        with visits.snapshot(query, domain=DomainItems(("b", "c"))) as snapshot:
            found = rows_of(snapshot.grouped_top_rows(2), 2)
        assert found == listing(reference.grouped(VISITS, query, ("b", "c")), 2)

    def test_known_groups_in_a_table(self, events: Source) -> None:
        if not self.has_domain_tables:
            pytest.skip("this source is a single table")
        query = grouped(("number",), "label", known=DomainTable("labels"))
        listed = DomainItems(("a", "A", "nobody", "\U0001d11e", "zero", "\uff5e"))
        with events.snapshot(query) as snapshot:
            found = rows_of(snapshot.grouped_top_rows(3), 3)
        assert found == listing(reference.grouped(EVENTS, replace(query, groups=GroupCut(("label",), known=listed))), 3)
        assert events.known_groups(query) == tuple(sorted(listed.items, key=reference.order))

    def test_a_domain_is_that_of_every_group(self, events: Source) -> None:
        self.once_for_an_engine()
        labels = DomainItems((*TEXTS[:9], "nobody"))
        query = grouped(("label",), "day", max_items_per_user=2, per_user=2)
        check_lists(events, EVENTS, query, domain=labels)
        check_tallies(events, query, reference.grouped(EVENTS, query, labels.items), labels.items, labels)
        numbers = grouped(("number",), "flag", per_user=1)
        inside = range(12)
        check_tallies(events, numbers, reference.grouped(EVENTS, numbers, inside), inside, DomainSize(12))
        check_tallies(events, numbers, reference.grouped(EVENTS, numbers), (), None)

    def test_lists_in_groups(self, events: Source) -> None:
        if not self.has_lists:
            pytest.skip("this engine has no lists")
        check_lists(events, EVENTS, grouped(("tags",), "flag", where=Missing("day"), max_items_per_user=3))
        check_lists(events, EVENTS, grouped(("day", "codes"), "label", value=PairValue(clip=2)))

    def test_events_and_sums_in_groups(self, events: Source) -> None:
        self.once_for_an_engine()
        for value in (PairValue(clip=2), PairValue("number", clip=60), PairValue("number", clip=50, floor=-60)):
            check_lists(events, EVENTS, grouped(("label",), "flag", value=value, max_items_per_user=4), (3,))

    def test_profiles_name_only_the_groups_that_are_asked_for(self, events: Source) -> None:
        self.once_for_an_engine()
        query = grouped(("number",), "label", per_user=3)
        expected = listing(reference.grouped(EVENTS, query), 2)
        with events.snapshot(query) as snapshot:
            found = snapshot.grouped_profiles(2)
            assert [found.profiles[place] for place in found.of_group] == [
                (tuple(count for _, count in rows), more) for _, rows, more in expected
            ]
            assert len(set(found.profiles)) == len(found.profiles) < len(expected)
            assert rows_of(snapshot.grouped_rows([4, 0, 4]), 2) == [expected[0], expected[4]]
            assert rows_of(snapshot.grouped_rows([]), 2) == []

    def test_rounds_of_all_groups(self, events: Source) -> None:
        self.once_for_an_engine()
        rounds = grouped(("number",), "label", per_user=2, within=True, max_items_per_user=4, weights=WEIGHTS)
        kept = replace(rounds, weights=None, max_items_per_user=None)
        counts = reference.grouped(EVENTS, rounds)
        some = {group: list(counts[group])[:3] for group in list(counts)[:-3]}
        without = tuple((group, item) for group, items in some.items() for item in items)
        with events.keep_pairs(kept) as pairs:
            assert rows_of(pairs.snapshot(rounds).grouped_top_rows(4), 4) == listing(counts, 4)
            rest = pairs.snapshot(replace(rounds, without=without))
            check_snapshot_tallies(rest, *left(rounds, kept, without))
            overall = replace(kept, groups=GroupCut(("label",), 2), max_items_per_user=2)
            found = rows_of(pairs.snapshot(overall).grouped_top_rows(4), 4)
            assert found == listing(reference.grouped(EVENTS, overall), 4)
            named = pairs.grouped_among(some)
            expected = of_named(kept, some)
            assert named.sizes((1, 2, 3)) == {
                group: tuple(Counter(map(len, users)).get(t, 0) for t in (1, 2, 3)) for group, users in expected.items()
            }
            steps = {group: ((1, 7 + place), (3, 5)) for place, group in enumerate(some) if place % 2}
            sums = named.sums(steps)
            assert list(sums) == list(steps)
            for group, totals in sums.items():
                weigh = {1: steps[group][0][1], 2: 5, 3: 5}
                users = expected[group]
                assert totals == tuple(sum(weigh[len(s)] for s in users if item in s) for item in some[group])
            there, _ = reference.beside_groups(EVENTS, kept, dict.fromkeys([*some, "nowhere"], ()), 2)
            assert there["nowhere"] == 0 < max(there.values())
            assert pairs.grouped_users([*some, "nowhere"]) == there
            with pytest.raises(InvalidArgument, match="other groups"):
                pairs.snapshot(replace(rounds, salt=SALT[::-1]))

    def test_pairs_are_cut_once_over_all_groups(self, events: Source) -> None:
        """The same pairs of a user count in every query, and whoever has one of them is in one group."""
        self.once_for_an_engine()
        value = PairValue("number", clip=60)
        check_lists(events, EVENTS, grouped(("label",), "flag", per_user=None, pairs_per_user=2, value=value))
        rounds = grouped(
            ("number",), "label", per_user=3, pairs_per_user=2, within=True, max_items_per_user=4, weights=WEIGHTS
        )
        kept = replace(rounds, weights=None, max_items_per_user=None)
        counts, held = reference.grouped(EVENTS, rounds), reference.grouped_pairs(EVENTS, kept)
        uncut = reference.grouped_pairs(EVENTS, replace(kept, groups=GroupCut(("label",), 3)))
        assert max(Counter(user for user, _ in held).values()) == 2 < max(Counter(user for user, _ in uncut).values())
        # As a plain count cuts them with this salt.
        plain = replace(kept, groups=GroupCut(("label",), 3), max_items_per_user=2)
        assert reference.grouped(EVENTS, kept) == reference.grouped(EVENTS, plain)
        check_lists(events, EVENTS, kept)
        some = {group: list(of_group)[:2] for group, of_group in counts.items()}
        without = tuple((group, item) for group, items in list(some.items())[:3] for item in items)
        with events.keep_pairs(kept) as pairs:
            assert rows_of(pairs.snapshot(rounds).grouped_top_rows(4), 4) == listing(counts, 4)
            # Excluding items makes no room for others.
            check_snapshot_tallies(pairs.snapshot(replace(rounds, without=without)), *left(rounds, kept, without))
            expected = of_named(kept, some)
            assert pairs.grouped_among(some).sizes((1, 2)) == {
                group: tuple(Counter(map(len, users)).get(t, 0) for t in (1, 2)) for group, users in expected.items()
            }
            with pytest.raises(InvalidArgument, match="other groups"):
                pairs.snapshot(replace(rounds, groups=GroupCut(("label",), 3, within_group=True)))

    def test_weights_by_the_pairs_of_all_groups(self, events: Source) -> None:
        self.once_for_an_engine()
        every = grouped(("number",), "label", per_user=None)
        weighted = replace(every, max_items_per_user=4, weights=WEIGHTS, salt=SALT)
        with events.keep_pairs(every) as pairs:
            assert rows_of(pairs.snapshot(weighted).grouped_top_rows(4), 4) == listing(
                reference.grouped(EVENTS, weighted), 4
            )

    def test_sums_of_named_pairs_in_groups(self, events: Source) -> None:
        self.once_for_an_engine()
        kept = grouped(("label",), "flag", within=True, value=PairValue("number", clip=100))
        values = reference.grouped_pairs(EVENTS, kept)
        some: dict[Any, list[Any]] = {
            flag: [label for label in TEXTS[:6] if reference.grouped(EVENTS, kept)[flag].get(label)]
            for flag in (False, True)
        }
        with events.keep_pairs(kept) as pairs:
            for clip in (None, 3):
                totals = pairs.grouped_among(some).sums(dict.fromkeys(some, ((6, 2),)), clip)
                for flag, items in some.items():
                    assert totals[flag] == tuple(
                        2 * sum(min(v, clip or v) for (_, full), v in values.items() if full == (flag, item))
                        for item in items
                    )
            fewer: dict[Any, list[Any]] = {True: [], False: some[False]}
            for most, buckets, lists in ((100, 12, some), (3, 3, fewer)):
                at_clip = replace(kept, value=PairValue("number", clip=most))
                users, rests = reference.beside_groups(EVENTS, at_clip, lists, buckets)
                assert pairs.grouped_rest_totals(lists, most, buckets) == rests
                assert pairs.grouped_users(lists) == users
            with pytest.raises(InvalidArgument, match="kept pairs"):
                pairs.grouped_rest_totals(some, 101, 12)
            assert pairs.value_histograms(5, 64) == reference.shares_and_sizes(values, 5, 64)

    def test_rounds_on_sums_of_groups(self, events: Source) -> None:
        """What finds items and what measures borders, at a clip below that of the kept pairs."""
        self.once_for_an_engine()
        value = PairValue("number", clip=7)
        rounds = grouped(("label",), "flag", within=True, max_items_per_user=4, weights=WEIGHTS, value=value)
        kept = replace(rounds, weights=None, max_items_per_user=None, value=PairValue("number", clip=100))
        counts = reference.grouped(EVENTS, rounds)
        assert counts != reference.grouped(EVENTS, replace(rounds, value=kept.value))
        some: dict[Any, list[Any]] = {flag: list(of_flag)[:3] for flag, of_flag in counts.items()}
        values = reference.grouped_pairs(EVENTS, replace(kept, value=value))
        assert {len(items) for of_group in of_named(kept, some).values() for items in of_group} > {1}
        with events.keep_pairs(kept) as pairs:
            check_snapshot_tallies(pairs.snapshot(rounds), counts)
            steps = ((1, 9), (2, 6), (3, 5))
            found = pairs.grouped_among(some).sums(dict.fromkeys(some, steps), value.clip)
        assert found == {flag: weighted_sums(values, flag, items, (9, 6, 5)) for flag, items in some.items()}

    def test_no_groups(self, visits: Source) -> None:
        self.once_for_an_engine()
        query = grouped(("article",), "country", where=Compare("article", Operator.EQUAL, "no such"))
        with visits.snapshot(query) as snapshot:
            assert list(snapshot.grouped_top_rows(3)) == []
        with visits.snapshot(query) as snapshot:
            found = snapshot.grouped_profiles(3)
            assert (found.profiles, found.of_group.tolist()) == ((), [])
        with visits.snapshot(query) as snapshot:
            assert list(snapshot.grouped_tallies()) == []
            assert snapshot.grouped_names({}) == {}

    def test_groups_that_cannot_be_told_apart_are_refused(self, events: Source) -> None:
        refused: list[tuple[CountQuery, str]] = [
            (grouped(("label",), "number", known=DomainItems(("one",))), "groups"),
            (grouped(("label",), "number", known=DomainSize(3)), "groups"),
            (grouped(("label",), "number", "flag", known=DomainItems((1, 2))), "groups"),
        ]
        if self.has_lists:
            refused.append((grouped(("label",), "tags"), "per"))
        for query, name in refused:
            for check in (events.check, events.queries):
                with pytest.raises(InvalidArgument, match=f"^{name}="):
                    check(query)

    def test_the_queries_of_groups_are_shown(self, events: Source) -> None:
        self.once_for_an_engine()
        (top,) = events.queries(grouped(("label",), "day"), limit=10)
        assert "PARTITION BY counted.group0" in top.replace('"', "")
        assert "<= 11" in top
        assert len(events.queries(grouped(("number",), "day"), domain=DomainSize(5))) >= 4
        events.check(grouped(("number",), "day"), domain=DomainSize(5))


def check_tallies(
    source: Source, query: CountQuery, counts: dict[Any, dict[Any, int]], listed: Any, domain: Domain | None
) -> None:
    """The tallies of every group, and the name of every item of some groups."""
    with source.snapshot(query, domain=domain) as snapshot:
        check_snapshot_tallies(snapshot, counts, listed)


def check_snapshot_tallies(snapshot: Any, counts: dict[Any, dict[Any, int]], listed: Any = ()) -> None:
    complete = {group: dict.fromkeys(listed, 0) | some for group, some in counts.items()}
    expected = {group: reference.counts_of_counts(some) for group, some in complete.items()}
    assert [(group, (numbers, sizes)) for group, numbers, sizes in snapshot.grouped_tallies()] == list(expected.items())
    places = {
        group: [(number, rank) for number, size in zip(*tally, strict=True) for rank in range(size)][::-1]
        for group, tally in list(expected.items())[1:]
    }
    names = snapshot.grouped_names(places)
    assert names == {group: reference.ranked_names(complete[group], some) for group, some in places.items()}


def left(rounds: CountQuery, kept: CountQuery, without: tuple[Any, ...]) -> tuple[dict[Any, dict[Any, int]]]:
    """The weighted counts of kept pairs without some items: the groups of a user were chosen before."""
    of_owners = defaultdict(list)
    for user, full in reference.grouped_pairs(EVENTS, kept):
        if full not in without:
            of_owners[user, full[0]].append(full)
    counts: dict[Any, Counter[Any]] = defaultdict(Counter)
    for (user, group), some in of_owners.items():
        chosen = reference.bounded(user, some, rounds)
        counts[group].update({full[1]: reference.weight(len(chosen), rounds) for full in chosen})
    return ({group: dict(counts[group]) for group in sorted(counts, key=reference.order)},)


def of_named(kept: CountQuery, some: dict[Any, list[Any]]) -> dict[Any, list[set[Any]]]:
    """For each group the sets of named items that its users have."""
    sets: dict[Any, dict[Any, set[Any]]] = {group: defaultdict(set) for group in some}
    for user, (group, item) in reference.grouped_pairs(EVENTS, kept):
        if item in some.get(group, ()):
            sets[group][user].add(item)
    return {group: list(users.values()) for group, users in sets.items()}


def weighted_sums(values: Any, group: Any, items: list[Any], weights: Sequence[int]) -> tuple[int, ...]:
    """What users add to these items of a group, weighted by how many of them they have."""
    of_users: dict[Any, dict[Any, int]] = defaultdict(dict)
    for (user, (of, item)), value in values.items():
        if of == group and item in items:
            of_users[user][item] = value
    return tuple(sum(weights[len(some) - 1] * some.get(item, 0) for some in of_users.values()) for item in items)
