"""What every engine must do where several columns together are one user: keep every two apart, and lose none."""

from __future__ import annotations

import pytest
from tests.support.columns import columns
from tests.support.sources import reference
from tests.support.sources.checks import SALT, Load, check_groups, check_top
from tests.support.sources.data import EVENTS, Table
from tests.support.sources.groups import check_lists, grouped

from podium.errors import InvalidArgument
from podium.query.predicate import Compare, Operator
from podium.query.schema import Kind
from podium.sources import CountQuery, DomainItems, PairValue, Source

__all__ = ["UserContract"]

# Whatever is put between the parts, some two of these users would be the same text without their lengths.
_PAIRS = (
    ("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc"), ("", ""), ("1:a", "b"), ("1", "a:b"), (":1:a", "1"),
    ("1:", "1:"), ("a", "1:b"), ("a,b", "c"), ("a", "b,c"), ("a|", "b"), ("a", "|b"), ("NULL", "a"), ("a", "NULL"),
    ("\u00e9", "x"), ("e\u0301", "x"), ("e", "\u0301x"), ("A", "bc"), ("a ", "bc"), ("a", " bc"), ("\U0001d11e", ":"),
    (None, "a"), ("a", None), (None, None),
)  # fmt: skip
MEMBERS = Table(
    "members",
    columns({"tenant": "text", "member": "text", "page": "text", "number": "integer"}),
    tuple(
        (tenant, member, page, place)
        for place, (tenant, member) in enumerate(_PAIRS)
        for page in ("x", "x", "y", f"own {place}")
    ),
)
_UNIT = ("tenant", "member")


class UserContract:
    """A part of ``SourceContract``, which has the fixtures."""

    @pytest.fixture(scope="class")
    @classmethod
    def members(cls, load: Load) -> Source:
        return load(MEMBERS)

    def test_no_two_pairs_of_values_are_one_user(self, members: Source) -> None:
        query = CountQuery(("page",), _UNIT)
        check_top(members, MEMBERS, query)
        people = len(_PAIRS) - 3
        assert reference.histogram(MEMBERS, query)["x"] == people
        with members.snapshot(query) as snapshot:
            assert snapshot.sizes([1, 2, 4]) == (0, people, 0)

    def test_pairs_are_cut_weighed_and_kept_like_any_user(self, members: Source) -> None:
        for user in (_UNIT, _UNIT[::-1]):
            query = CountQuery(("page",), user, max_items_per_user=1, salt=SALT)
            check_top(members, MEMBERS, query)
            weights = ((1, 1024), (2, 725))
            check_groups(
                members,
                reference.histogram(MEMBERS, CountQuery(("page",), user, None, 2, SALT, weights)),
                CountQuery(("page",), user, None, 2, SALT, weights),
            )
        with members.keep_pairs(CountQuery(("page",), _UNIT)) as kept:
            assert kept.among(("x", "own 3")).sums([(2, 1)]) == (len(_PAIRS) - 3, 1)
            assert kept.snapshot(CountQuery(("page",), _UNIT, without=("x",))).sizes([1, 2]) == (0, len(_PAIRS) - 3)
        check_lists(members, MEMBERS, grouped(("number",), "page", user=_UNIT))

    def test_amounts_of_pairs_are_clipped_apart(self, members: Source) -> None:
        for value in (PairValue(clip=1), PairValue("number", clip=20)):
            check_top(members, MEMBERS, CountQuery(("page",), _UNIT, value=value))

    @pytest.mark.parametrize("user", [
        ("user_id", "day"), ("moment", "flag"), ("amount", "user name"), ("label", "number", "flag"),
    ])  # fmt: skip
    def test_parts_of_every_kind(self, events: Source, user: tuple[str, ...]) -> None:
        item = "label" if "label" not in user else "day"
        where = Compare("number", Operator.AT_LEAST, 1)
        check_top(events, EVENTS, CountQuery((item,), user, where))
        check_top(events, EVENTS, CountQuery((item,), user, max_items_per_user=1, salt=SALT))

    def test_lists_and_domains_of_pairs(self, events: Source) -> None:
        query = CountQuery(("day",), ("user_id", "label"))
        days = tuple(reference.histogram(EVENTS, query))[:3]
        check_groups(events, reference.histogram(EVENTS, query, days), query, DomainItems(days))
        if any(column.kind is Kind.LIST for column in events.schema().columns):
            check_top(events, EVENTS, CountQuery(("tags",), ("user_id", "label")), (5, 1000))
            value = PairValue("number", clip=9)
            check_top(events, EVENTS, CountQuery(("tags",), ("user name", "flag"), value=value), (5, 1000))

    def test_parts_that_cannot_be_compared_are_refused(self, events: Source) -> None:
        if any(column.name == "tags" for column in events.schema().columns):
            with pytest.raises(InvalidArgument, match="user='tags'"):
                events.check(CountQuery(("label",), ("user_id", "tags")))
        with pytest.raises(InvalidArgument, match="per="):
            grouped(("label",), "day", user=("user_id", "day"))
