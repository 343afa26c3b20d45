"""Sums of clipped contributions in every small world: the limited domain in units of the clip, and what breaks it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache

import pytest
from tests.support.worlds import (
    PRECISION,
    SmallDistribution,
    check_bounded_range,
    check_pair,
    hockey_stick,
)

from podium.exact import ball, ball_precision, dyadic_above, rational_bounds
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.peeling import peeling_distribution

ITEMS = ("a", "b", "c")
ONE, HALF, TENTH = Fraction(1), Fraction(1, 2), Fraction(1, 10)
CLIP = 3
CLAIMED = Fraction(1, 11)
"""delta/(1+delta) at delta=1/10."""

Sums = tuple[int, ...]
Distribution = Callable[[Sums], SmallDistribution]


def histogram(sums: Sums) -> Histogram:
    """What a source passes on: sums below 0 count as 0, and items with the sum 0 do not exist."""
    return Histogram({item: max(s, 0) for item, s in zip(ITEMS, sums, strict=True)}, known=False)


def law(mechanism: LimitedDomain) -> Distribution:
    return lru_cache(maxsize=None)(lambda sums: mechanism.distribution(histogram(sums), exact=True))


def pairs(
    contributions: Iterable[int], *, max_items: int | None = None, sums: Iterable[int] = range(4)
) -> Iterator[tuple[Sums, Sums]]:
    """All sums of a small world with all that one user can do to them."""
    vectors = [
        vector
        for vector in itertools.product(tuple(contributions), repeat=len(ITEMS))
        if 0 < sum(amount != 0 for amount in vector) <= (max_items or len(ITEMS))
    ]
    for before in itertools.product(tuple(sums), repeat=len(ITEMS)):
        for vector in vectors:
            yield before, tuple(s + amount for s, amount in zip(before, vector, strict=True))


def worst(distribution: Distribution, neighbours: Iterable[tuple[Sums, Sums]], epsilon: Fraction = ONE) -> float:
    """The largest hockey stick over all pairs, in both directions."""
    return max(
        float(hockey_stick(left, right, epsilon).mid())
        for before, after in neighbours
        for left, right in itertools.permutations((distribution(before), distribution(after)))
    )


# What is promised.


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("max_items", [None, 1, 2])
@pytest.mark.parametrize(("k", "k_bar"), [(1, 1), (1, 2), (2, 2), (2, 3)])
def test_sums_of_contributions_keep_the_promise_of_counts(
    k: int, k_bar: int, max_items: int | None, strict: bool
) -> None:
    mechanism = LimitedDomain(k, k_bar, HALF, "0.05", max_items_per_user=max_items, strict=strict, clip=CLIP)
    distribution, guarantee = law(mechanism), mechanism.guarantee
    for before, after in pairs(range(CLIP + 1), max_items=max_items, sums=range(3)):
        check_pair(distribution(before), distribution(after), guarantee)


@pytest.mark.parametrize("lift", [(60, 0, 0), (60, 57, 0), (60, 58, 58)])
def test_also_where_items_do_come_out(lift: Sums) -> None:
    mechanism = LimitedDomain(2, 2, HALF, "1e-4", clip=CLIP)
    inner, guarantee = law(mechanism), mechanism.guarantee

    def lifted(sums: Sums) -> SmallDistribution:
        return inner(tuple(s + by for s, by in zip(sums, lift, strict=True)))

    for before, after in pairs(range(CLIP + 1), sums=range(2)):
        check_pair(lifted(before), lifted(after), guarantee)


@pytest.mark.parametrize("max_items", [None, 1, 2])
def test_all_of_its_delta_is_needed(max_items: int | None) -> None:
    mechanism = LimitedDomain(1, 2, ONE, TENTH, max_items_per_user=max_items, clip=CLIP)
    found = worst(law(mechanism), pairs(range(CLIP + 1), max_items=max_items))
    assert found == pytest.approx(float(CLAIMED), abs=1e-12)


def test_a_private_k_bar_is_one_bounded_range_selection_more() -> None:
    mechanism = LimitedDomain(1, PrivateKBar(3), ONE, TENTH, clip=CLIP)

    def k_bar(sums: Sums) -> SmallDistribution:
        with ball_precision(PRECISION):
            return dict(mechanism._exact_k_bar_distribution(histogram(sums).top(3)))

    for before, after in pairs(range(CLIP + 1)):
        check_bounded_range(k_bar(before), k_bar(after), ONE)
    distribution, guarantee = law(mechanism), mechanism.guarantee
    for before, after in pairs(range(CLIP + 1), sums=range(2)):
        check_pair(distribution(before), distribution(after), guarantee)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("falls_by", "rises_by"), [(1, 1), (1, 2), (2, 1)])
def test_signed_sums_keep_it_with_the_span_in_place_of_the_clip(falls_by: int, rises_by: int, strict: bool) -> None:
    mechanism = LimitedDomain(2, 2, HALF, "0.05", strict=strict, clip=falls_by + rises_by)
    distribution, guarantee = law(mechanism), mechanism.guarantee
    for before, after in pairs(range(-falls_by, rises_by + 1), sums=range(-1, 3)):
        check_pair(distribution(before), distribution(after), guarantee)


def test_signed_sums_need_all_of_the_delta() -> None:
    mechanism = LimitedDomain(1, 1, ONE, TENTH, clip=2)
    found = worst(law(mechanism), pairs(range(-1, 2), sums=range(-2, 3)))
    assert found == pytest.approx(float(CLAIMED), abs=1e-12)


# What breaks it.


def logarithm(value: Fraction) -> Fraction:
    with ball_precision(256):
        return dyadic_above(rational_bounds(ball(value).log())[1], 64)


def broken(*, k_bar: int, margin: Fraction, clip: int = CLIP, strict: bool = False) -> Distribution:
    """One item by a limited domain with its own margin, in raw units, epsilon=1."""

    @cache
    def distribution(sums: Sums) -> SmallDistribution:
        rows = histogram(sums).top(k_bar)
        kept = [place for place, s in enumerate(rows.counts.tolist()) if not strict or s > rows.next_count]
        scores = [int(rows.counts[place]) for place in kept]
        with ball_precision(PRECISION):
            names = [rows.items[place] for place in kept]
            return peeling_distribution(names, scores, ONE / clip, 1, bottom=rows.next_count + margin)

    return distribution


LOG = logarithm(1 / TENTH)


@pytest.mark.parametrize(
    ("margin", "found"),
    [
        # The contribution of a typical user, not the largest that is possible.
        (CLIP * (HALF + LOG), 0.141537),
        # One unit instead of one clip.
        (1 + CLIP * LOG, 0.163021),
    ],
)
def test_a_margin_below_the_clip_is_not_enough(margin: Fraction, found: float) -> None:
    world = list(pairs(range(CLIP + 1), max_items=1))
    assert worst(broken(k_bar=1, margin=CLIP * (1 + LOG)), world) == pytest.approx(float(CLAIMED), abs=1e-12)
    assert worst(broken(k_bar=1, margin=margin), world) == pytest.approx(found, abs=1e-6)


def test_a_margin_for_one_item_is_not_enough_for_users_with_two() -> None:
    world = list(pairs(range(CLIP + 1), max_items=2))
    assert worst(broken(k_bar=2, margin=CLIP * (1 + LOG)), world) == pytest.approx(1 / 6, abs=1e-6)


def test_the_bound_on_items_does_not_help_the_strict_variant() -> None:
    world = list(pairs(range(CLIP + 1), max_items=1))
    assert worst(broken(k_bar=2, margin=CLIP * (1 + LOG), strict=True), world) == pytest.approx(1 / 6, abs=1e-6)


def test_a_forgotten_clip_is_not_private() -> None:
    """The mechanism for counts on sums: neither its noise nor its margin is wide enough."""
    mechanism = LimitedDomain(1, 1, ONE, TENTH)
    assert worst(law(mechanism), pairs(range(CLIP + 1))) > 4 * CLAIMED


def test_clipping_rows_but_not_their_sum_is_not_private() -> None:
    """Three rows of the clip each."""
    mechanism = LimitedDomain(1, 1, ONE, TENTH, clip=1)
    assert worst(law(mechanism), pairs(range(2), max_items=1)) == pytest.approx(float(CLAIMED), abs=1e-12)
    assert worst(law(mechanism), pairs(range(4), max_items=1)) > 3 * CLAIMED


@pytest.mark.parametrize(("k_bar", "found"), [(3, 0.147903), (8, 0.263360)])
def test_items_with_the_sum_0_must_not_exist(k_bar: int, found: float) -> None:
    """A user with one item of value and many of none would bring all of them."""
    mechanism = LimitedDomain(1, k_bar, ONE, TENTH, max_items_per_user=1, clip=CLIP)
    with ball_precision(PRECISION):
        sums = [CLIP, *[0] * (k_bar - 1)]
        after = peeling_distribution(range(k_bar), sums, mechanism.rate, 1, bottom=mechanism.margin)
        before = peeling_distribution((), (), mechanism.rate, 1, bottom=mechanism.margin)
    assert float(hockey_stick(after, before, ONE).mid()) == pytest.approx(found, abs=1e-6)


def test_a_user_must_not_keep_what_is_popular_with_others() -> None:
    """Three users with {a, b} keep a; one more with {b} makes all of them keep b."""
    mechanism = LimitedDomain(1, 1, ONE, TENTH, max_items_per_user=1)
    found = worst(law(mechanism), [((3, 0, 0), (0, 4, 0))])
    assert found > 3 * CLAIMED


def test_the_largest_contribution_in_the_data_is_no_clip() -> None:
    """Twelve users with one unit each: a user with nine widens the noise of all."""

    def law_of(contributions: Sequence[int]) -> SmallDistribution:
        clip = max(contributions)
        mechanism = LimitedDomain(1, 1, ONE, TENTH, clip=clip)
        return mechanism.distribution(histogram((sum(contributions), 0, 0)), exact=True)

    # A public clip of 9 would do.
    mechanism = LimitedDomain(1, 1, ONE, TENTH, clip=9)
    assert worst(law(mechanism), [((12, 0, 0), (21, 0, 0))]) <= CLAIMED
    left, right = law_of([1] * 12), law_of([1] * 12 + [9])
    assert float(hockey_stick(left, right, ONE).mid()) > 2 * CLAIMED


@pytest.mark.parametrize(
    ("clip", "margin", "found"),
    [
        # The larger of the two directions in place of their sum.
        (1, 1 + LOG, 0.213730),
        # Half of the span.
        (2, 1 + 2 * LOG, 0.141537),
    ],
)
def test_signed_sums_need_the_whole_span(clip: int, margin: Fraction, found: float) -> None:
    world = list(pairs(range(-1, 2), max_items=2, sums=range(-2, 3)))
    assert worst(broken(k_bar=1, margin=margin, clip=clip), world) == pytest.approx(found, abs=1e-6)
