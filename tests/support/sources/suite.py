"""What every engine must do. A subclass loads tables into its engine; the answers are compared with plain Python.

class TestMyEngine(SourceContract):
    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, my_server) -> Iterator[Load]:
        ...
        yield load          # load(EVENTS, DOMAIN): a source for the first table, the others beside it
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.sources import reference
from tests.support.sources.checks import SALT, SCALARS, Load, check_groups, check_top, rows_of
from tests.support.sources.conditions import CONDITIONS
from tests.support.sources.contributions import ContributionContract, weighted
from tests.support.sources.data import DOMAIN, EMPTY, EVENTS, FLOATS, NAMES, WIDE, utc
from tests.support.sources.groups import GroupContract
from tests.support.sources.joins import JoinContract
from tests.support.sources.measures import MeasureContract
from tests.support.sources.norms import NormContract
from tests.support.sources.users import UserContract

from podium.errors import InvalidArgument, UnknownColumn
from podium.query.predicate import And, Compare, Like, Missing, Operator, Predicate
from podium.sources import CountQuery, Domain, DomainFile, DomainItems, DomainSize, DomainTable, GroupCut, Source

__all__ = ["SourceContract"]


class SourceContract(ContributionContract, MeasureContract, NormContract, GroupContract, UserContract, JoinContract):
    """Subclasses give ``load``, and say what their engine cannot have at all."""

    has_lists = True
    has_wide_dates = True
    has_floats = True
    has_domain_tables = True

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls) -> Load:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def events(cls, load: Load) -> Source:
        return load(EVENTS, DOMAIN) if cls.has_domain_tables else load(EVENTS)

    def test_the_schema_says_kinds(self, events: Source) -> None:
        declared = [column for column in EVENTS.columns if self.has_lists or column.element is None]
        assert [column for column in events.schema().columns if column.name in EVENTS.names] == declared

    @pytest.mark.parametrize("item", SCALARS)
    def test_items_of_every_kind(self, events: Source, item: str) -> None:
        check_top(events, EVENTS, CountQuery((item,), "user_id"), (1, 4, 1000))

    def test_ties_at_the_cut_go_by_binary_order(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id")
        expected = reference.ordered(reference.histogram(EVENTS, query))
        cuts = [cut for cut in range(1, len(expected)) if expected[cut - 1][1] == expected[cut][1]]
        assert len(cuts) > 5
        check_top(events, EVENTS, query, cuts[::5])

    @pytest.mark.parametrize("user", ["user name", "label", "number", "amount", "day", "moment", "flag"])
    def test_users_of_every_kind(self, events: Source, user: str) -> None:
        check_top(events, EVENTS, CountQuery(("number",), user))

    @pytest.mark.parametrize("item", ["tags", "codes"])
    def test_lists_are_unnested(self, events: Source, item: str) -> None:
        self.skip_without_lists()
        check_top(events, EVENTS, CountQuery((item,), "user_id"), (3, 1000))

    def test_several_columns_are_one_item(self, events: Source) -> None:
        check_top(events, EVENTS, CountQuery(SCALARS, "user_id"), (7, 1000))
        check_top(events, EVENTS, CountQuery(("flag", "label"), "user name"), (7, 1000))

    def test_a_list_beside_other_columns(self, events: Source) -> None:
        self.skip_without_lists()
        check_top(events, EVENTS, CountQuery(("day", "tags"), "user_id", where=Missing("flag")), (7, 1000))

    @pytest.mark.parametrize("where", CONDITIONS, ids=lambda where: str(CONDITIONS.index(where)))
    def test_conditions(self, events: Source, where: Predicate) -> None:
        if not self.has_lists and "tags" in repr(where):
            pytest.skip("this engine has no lists")
        check_top(events, EVENTS, CountQuery(("number",), "user_id", where=where))

    @pytest.mark.parametrize("item", SCALARS)
    @pytest.mark.parametrize("most", [1, 3])
    def test_which_items_each_user_keeps(self, events: Source, item: str, most: int) -> None:
        check_top(events, EVENTS, CountQuery((item,), "user_id", max_items_per_user=most, salt=SALT))

    @pytest.mark.parametrize("user", ["user name", "amount", "day", "moment"])
    def test_users_in_the_hash(self, events: Source, user: str) -> None:
        check_top(events, EVENTS, CountQuery(("label", "number"), user, max_items_per_user=2, salt=SALT[::-1]))

    def test_bounded_lists(self, events: Source) -> None:
        self.skip_without_lists()
        check_top(events, EVENTS, CountQuery(("tags",), "user name", max_items_per_user=2, salt=SALT))

    @pytest.mark.parametrize("items", [("label",), ("number",), ("amount", "flag", "day", "moment")])
    def test_counts_of_counts_and_names(self, events: Source, items: tuple[str, ...]) -> None:
        for most in (None, 2):
            query = CountQuery(items, "user_id", max_items_per_user=most, salt=None if most is None else SALT)
            check_groups(events, reference.histogram(EVENTS, query), query)

    @pytest.mark.parametrize("size", [1, 3, 12, 200])
    @pytest.mark.parametrize("most", [None, 1])
    def test_a_domain_given_by_its_size(self, events: Source, size: int, most: int | None) -> None:
        query = CountQuery(("number",), "user_id", max_items_per_user=most, salt=None if most is None else SALT)
        check_groups(events, reference.histogram(EVENTS, query, range(size)), query, DomainSize(size))

    def test_a_domain_too_large_to_list(self, events: Source) -> None:
        query = CountQuery(("number",), "user_id")
        seen = sorted(number for number in reference.histogram(EVENTS, query) if number >= 0)
        size = 2**63 - 1
        with events.snapshot(query, domain=DomainSize(size)) as snapshot:
            counts, sizes = snapshot.counts_of_counts()
            assert (counts[-1], sum(sizes)) == (0, size)
            last = size - 1
            ranks = [0, 3, 10**6, 2**31, 2**60, sizes[-1] - 1]
            names = snapshot.names([(0, rank) for rank in ranks])
        assert names[-1] == last - (last in seen)
        for rank, name in zip(ranks, names, strict=True):
            assert name not in seen
            assert rank == name - sum(number < name for number in seen)

    @pytest.mark.parametrize("item", SCALARS)
    def test_a_domain_given_as_a_list(self, events: Source, item: str) -> None:
        query = CountQuery((item,), "user_id")
        extra = {
            "label": ("nobody", "\u00fcber", "A"),
            "number": (77, -(2**62)),
            "amount": (Decimal("0.99"), 5),
            "flag": (True,),
            "day": (dt.date(2020, 2, 2),),
            "moment": (utc(2020, 2, 2, 2, 2, 2, 222222),),
        }[item]
        items = (*sorted(reference.histogram(EVENTS, query), key=str)[::2], *extra)
        for most in (None, 1):
            bounded = CountQuery((item,), "user_id", max_items_per_user=most, salt=None if most is None else SALT)
            counts = reference.histogram(EVENTS, bounded, items)
            check_groups(events, counts, bounded, DomainItems((*items, items[0])))

    def test_a_domain_of_several_columns(self, events: Source) -> None:
        query = CountQuery(("flag", "label"), "user_id")
        items = ((True, "a"), (False, "a"), (True, "A"), (False, "nobody"), (True, "O'Brien"))
        check_groups(events, reference.histogram(EVENTS, query, items), query, DomainItems(items))

    def test_the_top_rows_of_a_domain_have_no_others(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id")
        items = ("a", "A", "nobody", "\U0001d11e")
        with events.snapshot(query, domain=DomainItems(items)) as snapshot:
            rows, next_count = rows_of(snapshot, 10)
        assert rows == reference.ordered(reference.histogram(EVENTS, query, items))
        assert next_count == 0

    def test_a_domain_in_a_table(self, events: Source) -> None:
        if not self.has_domain_tables:
            pytest.skip("this source is a single table")
        for item, domain in (("label", DomainTable("labels")), ("number", DomainTable("labels", ("code",)))):
            query = CountQuery((item,), "user_id")
            listed = {value for value in DOMAIN.column((domain.columns or (item,))[0]) if value is not None}
            check_groups(events, reference.histogram(EVENTS, query, listed), query, domain)

    def test_a_domain_in_a_file(self, events: Source, tmp_path: Path) -> None:
        names, codes = DOMAIN.column("label"), DOMAIN.column("code")
        pq.write_table(
            pa.table({"label": pa.array(names), "number": pa.array(codes, pa.int64())}), tmp_path / "d.parquet"
        )
        lines = ["number,other", *(f"{'' if code is None else code},x" for code in codes)]
        (tmp_path / "d.csv").write_text("\n".join(lines), encoding="utf-8")
        for item, file in (("label", "d.parquet"), ("number", "d.parquet"), ("number", "d.csv")):
            query = CountQuery((item,), "user_id")
            listed = {value for value in (names if item == "label" else codes) if value is not None}
            counts = reference.histogram(EVENTS, query, listed)
            check_groups(events, counts, query, DomainFile(tmp_path / file))

    def test_an_empty_table(self, load: Load) -> None:
        source = load(EMPTY)
        query = CountQuery(("label",), "user_id")
        check_top(source, EMPTY, query, (1, 10))
        check_groups(source, {}, query)
        check_groups(source, {"a": 0, "b": 0}, query, DomainItems(("b", "a")))
        numbers = CountQuery(("number",), "user_id", max_items_per_user=2, salt=SALT)
        check_groups(source, dict.fromkeys(range(5), 0), numbers, DomainSize(5))
        check_top(source, EMPTY, weighted(("label",), without=("a",)))
        with source.snapshot(query) as snapshot:
            assert snapshot.sizes((1, 2, 4)) == (0, 0, 0)

    def test_a_condition_that_nothing_satisfies(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id", where=Compare("label", Operator.EQUAL, "no such label"))
        check_top(events, EVENTS, query, (3,))
        check_groups(events, {}, query)

    def test_columns_named_like_anything(self, load: Load) -> None:
        source = load(NAMES)
        where = Compare("n", Operator.EQUAL, 1)
        for items, user in (
            (("u", "rows_"), "item0"),
            (("item0",), "u"),
            (("select", 'we"ird'), "Größe"),
            (("n",), "u"),
        ):
            query = CountQuery(items, user, where=where)
            check_top(source, NAMES, query, (1, 10))
            check_groups(source, reference.histogram(NAMES, query), query)

    def test_far_dates(self, load: Load) -> None:
        if not self.has_wide_dates:
            pytest.skip("this engine's dates end earlier")
        source = load(WIDE)
        for item in ("day", "moment"):
            check_top(source, WIDE, CountQuery((item,), "user_id"), (1, 10))
            check_top(source, WIDE, CountQuery((item,), "user_id", max_items_per_user=1, salt=SALT))

    def test_snapshots_do_not_meet(self, events: Source) -> None:
        labels, numbers = CountQuery(("label",), "user_id"), CountQuery(("number",), "user_id")
        domain = DomainItems(("a", "b"))
        with events.snapshot(labels, domain=domain) as first, events.snapshot(numbers) as second:
            first.counts_of_counts()
            second.counts_of_counts()
            groups = reference.counts_of_counts(reference.histogram(EVENTS, labels, ("a", "b")))
            assert first.counts_of_counts() == groups
            assert second.counts_of_counts() == reference.counts_of_counts(reference.histogram(EVENTS, numbers))

    def test_a_snapshot_is_read_in_one_way(self, events: Source) -> None:
        with events.snapshot(CountQuery(("flag",), "user_id")) as snapshot:
            snapshot.top_rows(1)
            for read in (lambda: snapshot.top_rows(1), snapshot.counts_of_counts, lambda: snapshot.names([(1, 0)])):
                with pytest.raises(InvalidArgument, match="already read"):
                    read()

    def test_a_place_without_an_item(self, events: Source) -> None:
        with (
            events.snapshot(CountQuery(("flag",), "user_id")) as snapshot,
            pytest.raises(InvalidArgument, match="places"),
        ):
            snapshot.names([(1, 10**6)])

    def test_many_names_at_once(self, events: Source) -> None:
        query = CountQuery(SCALARS, "user_id")
        counts = reference.histogram(EVENTS, query)
        places = [(1, rank) for rank in range(reference.counts_of_counts(counts)[1][-1])]
        with events.snapshot(query) as snapshot:
            assert snapshot.names(places * 3) == reference.ranked_names(counts, places) * 3
            assert snapshot.names([]) == ()

    def test_the_queries_are_shown_without_running(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id", where=Compare("number", Operator.EQUAL, 10**60))
        (sql,) = events.queries(query, limit=10)
        assert "LIMIT 11" in sql
        others = events.queries(CountQuery(("number",), "user_id"), domain=DomainSize(10))
        assert len(others) >= 3
        (sizes,) = events.queries(weighted(("number",), without=(1,)), edges=(1, 3))
        assert "t >= 3" in sizes.replace('"', "")
        assert "podium_left_out" in sizes
        assert not any("COUNT(DISTINCT" in text.upper() for text in (sql, sizes, *others))
        with pytest.raises(InvalidArgument, match="limit=1 is not valid"):
            events.queries(query, edges=(1,), limit=1)

    def test_another_name_can_stand_for_the_table(self, events: Source) -> None:
        query = CountQuery(("label",), "user_id")
        for domain, limit in ((None, 10), (DomainSize(10), None)):
            items = query if domain is None else CountQuery(("number",), "user_id")
            shown = events.queries(items, limit=limit, domain=domain, shown_as="a name of it")
            assert "a name of it" in shown[0]
            assert not any(part in text for text in shown for part in (events.name, "/", "READ_", "FRAME"))

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            (CountQuery(("labels",), "user_id"), "item='labels'"),
            (CountQuery(("label",), "user"), "user='user'"),
            (CountQuery(("label",), "user_id", where=Missing("labels")), "where='labels'"),
            (CountQuery(("label",), "user_id", groups=GroupCut(("labels",), None)), "per='labels'"),
        ],
    )
    def test_unknown_columns_are_refused(self, events: Source, query: CountQuery, name: str) -> None:
        for refused in (events.check, events.queries):
            with pytest.raises(UnknownColumn, match=name):
                refused(query)

    @pytest.mark.parametrize(
        "where",
        [
            Compare("label", Operator.EQUAL, 1),
            Compare("label", Operator.EQUAL, "nul\0"),
            Compare("label", Operator.EQUAL, "half a pair \ud83d"),
            Compare("number", Operator.EQUAL, "1"),
            Compare("number", Operator.EQUAL, Decimal("1.5")),
            Compare("number", Operator.EQUAL, value=True),
            Compare("amount", Operator.EQUAL, Decimal("NaN")),
            Compare("amount", Operator.EQUAL, Decimal("1e999999")),
            Compare("day", Operator.EQUAL, utc(2020, 1, 1)),
            Compare("moment", Operator.EQUAL, dt.date(2020, 1, 1)),
            Compare("moment", Operator.EQUAL, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
            Like("number", ("1",)),
            And(()),
        ],
    )
    def test_literals_of_other_kinds_are_refused(self, events: Source, where: Predicate) -> None:
        with pytest.raises(InvalidArgument, match="where"):
            events.check(CountQuery(("label",), "user_id", where=where))

    def test_lists_are_refused_where_one_value_is_needed(self, events: Source) -> None:
        self.skip_without_lists()
        for query in (
            CountQuery(("label",), "tags"),
            CountQuery(("tags", "codes"), "user_id"),
            CountQuery(("label",), "user_id", where=Compare("tags", Operator.EQUAL, "a")),
        ):
            with pytest.raises(InvalidArgument):
                events.check(query)

    def test_floats_are_refused_with_a_reason(self, load: Load) -> None:
        if not self.has_floats:
            pytest.skip("this source has no floats")
        source = load(FLOATS)
        for query in (CountQuery(("weight",), "user_id"), CountQuery(("label",), "weight")):
            with pytest.raises(InvalidArgument, match="engines disagree on what is equal"):
                source.check(query)
        with pytest.raises(InvalidArgument, match="where"):
            source.check(CountQuery(("label",), "user_id", where=Compare("weight", Operator.MORE, Decimal(1))))

    @pytest.mark.parametrize(
        ("item", "domain"),
        [
            ("label", DomainSize(3)),
            ("label", DomainItems((1,))),
            ("label", DomainItems((None,))),
            ("number", DomainItems(("1",))),
            ("number", DomainItems((2**63,))),
            ("amount", DomainItems((Decimal("0.001"),))),
        ],
    )
    def test_domains_of_other_kinds_are_refused(self, events: Source, item: str, domain: Domain) -> None:
        with pytest.raises(InvalidArgument, match="domain"):
            events.check(CountQuery((item,), "user_id"), domain=domain)
