"""What a list for each group costs, and that the number of hidden groups never shows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.groups import shown

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.groups.costliest import costliest
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.groups.screening import Screen
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.privacy.events import BottomEvent, Event, HiddenItems, LimitedDomainCall, Selection, limited_domain_events
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

ONE, DELTA = Fraction(1), Fraction(1, 10**6)


def unknown(counts: dict[str, int]) -> Histogram:
    return Histogram(counts, known=False)


def symbols(number: int, *, bottom: bool = True) -> tuple[Event, ...]:
    """The events of a group of which so many symbols came out."""
    return limited_domain_events(ONE, DELTA, items=number - bottom, bottom=bottom)[1:]


@pytest.mark.parametrize(("groups", "selections"), [(1, 3), (2, 5), (3, 6), (4, 7), (5, 8)])
def test_the_costliest_groups_are_charged_and_hidden_ones_count_one(groups: int, selections: int) -> None:
    """The vector groups-settle: 3, 1, 2 and 1 symbols, of which the single ones are hidden."""
    shown = {"a": symbols(3), "c": symbols(2)}
    assert len(costliest(shown, groups, hidden=(BottomEvent(ONE),))) == selections


def test_hidden_groups_may_cost_more_than_shown_ones() -> None:
    """In rounds, finding nothing uses up everything."""
    hidden: tuple[Event, ...] = (Selection(2), Selection(2))
    assert costliest({"a": symbols(3), "b": symbols(9)}, 2, hidden=hidden) == (*symbols(9), *hidden)


def test_which_equal_groups_are_charged_follows_from_their_names() -> None:
    complete, stopped = symbols(2, bottom=False), symbols(2)
    for groups in ({"a": complete, "b": stopped}, {"b": stopped, "a": complete}):
        assert costliest(groups, 1) == complete


def test_one_group_costs_what_one_list_costs() -> None:
    one = LimitedDomain(3, 10, ONE, DELTA)
    for known in (None, 50):
        grouped = GroupedTopK.selections(3, 10, ONE, DELTA, known=known)
        assert grouped.inner == one
        assert grouped.worst_case == one.worst_case
        assert grouped.guarantee == one.guarantee


def test_two_groups_cost_the_selections_of_two_lists_and_delta_once() -> None:
    grouped = GroupedTopK.selections(3, 10, ONE, DELTA, groups_per_user=2)
    assert grouped.worst_case == (HiddenItems(DELTA), *[Selection(ONE)] * 6)
    assert grouped.delta == DELTA


def test_nobody_is_in_more_groups_than_are_listed() -> None:
    assert GroupedTopK.selections(3, 10, ONE, DELTA, groups_per_user=9, known=1).worst_case == (
        LimitedDomainCall(DELTA),
        *[Selection(ONE)] * 3,
    )


@pytest.mark.parametrize(
    ("max_items", "groups", "changing"), [(None, 1, 10), (None, 5, 50), (20, 5, 20), (3, 5, 3), (70, 5, 50)]
)
def test_the_margin_hides_all_that_a_user_has_in_all_groups(max_items: int | None, groups: int, changing: int) -> None:
    grouped = GroupedTopK.selections(3, 10, ONE, DELTA, groups_per_user=groups, max_items_per_user=max_items)
    alone = LimitedDomain(3, changing, ONE, DELTA)
    assert grouped.inner.margin == alone.margin  # type: ignore[attr-defined]
    assert grouped.delta == DELTA


def test_one_margin_for_all_groups_is_smaller_than_one_for_each() -> None:
    """The vector groups-overall-margin: 169.1 against 185.2 at eps = .1, delta = 1e-6, Delta = 20, g = 5."""
    grouped = GroupedTopK.selections(10, 100, Fraction(1, 10), DELTA, groups_per_user=5, max_items_per_user=20)
    each = LimitedDomain(10, 100, Fraction(1, 10), DELTA / 5, max_items_per_user=20)
    assert float(grouped.inner.margin) == pytest.approx(169.1, abs=0.05)  # type: ignore[attr-defined]
    assert float(each.margin) == pytest.approx(185.2, abs=0.05)


def test_the_number_of_hidden_groups_does_not_show() -> None:
    grouped = GroupedTopK.selections(2, 5, ONE, DELTA, groups_per_user=2)
    large = {"FR": unknown({"a": 900, "b": 800})}
    tiny = {f"hidden {number}": unknown({"x": 1}) for number in range(500)}
    for bits in map(ReplayableBits, range(20)):
        alone, among = grouped.release(large, bits=bits), grouped.release({**tiny, **large}, bits=bits)
        assert shown(alone) == shown(among) == (("FR", ("a", "b")),)
        assert alone == among
        assert alone.paid.events == (HiddenItems(DELTA), Selection(ONE), Selection(ONE), BottomEvent(ONE))


def test_nothing_at_all_costs_a_selection_for_each_group_of_a_user() -> None:
    grouped = GroupedTopK.selections(2, 5, ONE, DELTA, groups_per_user=3)
    for groups in ({}, {"FR": unknown({})}, {"FR": unknown({"a": 0})}, {"FR": unknown({"a": 1})}):
        release = grouped.release(groups, bits=ReplayableBits(1))
        assert shown(release) == ()
        assert release.paid.events == (HiddenItems(DELTA), *[BottomEvent(ONE)] * 3)


def test_listed_groups_are_shown_also_if_they_are_empty() -> None:
    grouped = GroupedTopK.selections(2, 5, ONE, DELTA, known=2)
    release = grouped.release({"DE": unknown({}), "FR": unknown({"a": 900})}, bits=ReplayableBits(1))
    assert shown(release) == (("DE", (BOTTOM,)), ("FR", ("a", BOTTOM)))
    assert release.paid.events == (LimitedDomainCall(DELTA), Selection(ONE), BottomEvent(ONE))


def test_groups_come_in_the_order_of_their_names() -> None:
    grouped = GroupedTopK.selections(1, 5, ONE, DELTA)
    groups = [(group, unknown({"a": 900})) for group in ("b", 7, ("x", 1), "a")]
    assert [group for group, _ in shown(grouped.release(groups))] == [7, "a", "b", ("x", 1)]


def test_sums_are_compared_in_units_of_the_clip() -> None:
    grouped = GroupedTopK.selections(1, 5, ONE, DELTA, clip=100)
    assert shown(grouped.release({"FR": unknown({"a": 1_200})}, bits=ReplayableBits(3))) == ()
    assert shown(grouped.release({"FR": unknown({"a": 9_000})}, bits=ReplayableBits(3))) == (("FR", ("a",)),)


@pytest.mark.parametrize(
    "inner",
    [
        LimitedDomain(1, 5, 1, "1e-6", strict=True),
        LimitedDomain(1, PrivateKBar(5), 1, "1e-6"),
        LimitedDomain(1, 5, 1, "1e-6", max_items_per_user=1, noise="laplace"),
    ],
)
def test_variants_without_a_proof_are_refused(inner: LimitedDomain) -> None:
    with pytest.raises(InvalidArgument, match="inner"):
        GroupedTopK(inner, 1)


def test_known_items_need_known_groups() -> None:
    with pytest.raises(InvalidArgument, match="known"):
        GroupedTopK(ExponentialTopK(1, 1), 1)
    release = GroupedTopK(ExponentialTopK(1, 1), 1, known=2).release({
        "DE": Histogram({"a": 0, "b": 99}), "FR": Histogram({"a": 99, "b": 0})
    })  # fmt: skip
    assert shown(release) == (("DE", ("b",)), ("FR", ("a",)))
    assert release.paid.events == (Selection(1),)


def test_a_row_that_nobody_has_never_comes_out() -> None:
    """Also if its coin would have shown something."""

    class Zeros:
        def read(self, size: int) -> bytes:
            return bytes(size)

        def words(self, count: int) -> NDArray[np.uint64]:
            return np.zeros(count, dtype=np.uint64)

    inner = LimitedDomain(1, 5, ONE, DELTA)
    assert Screen(inner, Zeros()).hides(unknown({"a": 0}))
    assert not Screen(inner, Zeros()).hides(unknown({"a": 1}))
