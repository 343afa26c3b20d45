"""Printed mistakes and easy misreadings of the limited domain: the checker that accepts ours rejects each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import (
    DistributionOf,
    SmallDistribution,
    cached,
    check_pair,
    check_world,
    distribution_of,
    lifted,
)

from podium.audit.exact.divergence import PRECISION
from podium.audit.exact.worlds import SmallHistogram, neighbours, world
from podium.exact import ball, ball_precision, dyadic_above, rational_bounds
from podium.histogram import Histogram
from podium.mechanisms.fixed_threshold import FixedThreshold, _positive
from podium.mechanisms.limited_domain.laplace import laplace_cost
from podium.mechanisms.limited_domain.laplace_race import LaplaceRace
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.limited_domain.private_k_bar import k_bar_distribution
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy.events import limited_domain_events
from podium.privacy.guarantee import Guarantee, total
from podium.release import BOTTOM

ITEMS = ("a", "b", "c", "d")
HALF, ONE = Fraction(1, 2), Fraction(1)


def rejected(check: Callable[[], object]) -> str:
    with pytest.raises(AssertionError, match="above") as caught:
        check()
    return str(caught.value)


def logarithm(value: Fraction) -> Fraction:
    """ln(value), rounded up to a multiple of 2^-64 as the library rounds its thresholds."""
    with ball_precision(256):
        return dyadic_above(rational_bounds(ball(value).log())[1], 64)


def top(counts: SmallHistogram, k_bar: int) -> tuple[list[str], list[int], int]:
    rows = Histogram(counts, known=False).top(k_bar)
    return [str(item) for item in rows.items], rows.counts.tolist(), rows.next_count


# Durfee & Rogers, Algorithm 4: the threshold 1 + ln(Delta/eps).


def laplace_distribution(epsilon: Fraction, margin: Fraction, k: int, k_bar: int) -> DistributionOf:
    def distribution(counts: SmallHistogram) -> SmallDistribution:
        items, scores, next_count = top(counts, k_bar)
        with ball_precision(PRECISION):
            return LaplaceRace(items, scores, next_count + margin, 1 / epsilon, k).distribution()

    return distribution


def test_algorithm_4_as_printed_is_rejected() -> None:
    delta = Fraction(1, 10**6)
    claim = total([laplace_cost(1, ONE, delta)])
    printed = laplace_distribution(ONE, 1 + logarithm(ONE / ONE), 1, 1)
    corrected = laplace_distribution(ONE, 1 + logarithm(ONE / delta), 1, 1)
    text = rejected(lambda: check_world(printed, claim, items=ITEMS[:2], largest=1, max_items=1))
    assert "is 0.5," in text
    check_world(corrected, claim, items=ITEMS[:2], largest=1, max_items=1)


def test_laplace_noise_without_the_bound_on_items_is_rejected() -> None:
    mechanism = LimitedDomain(2, 4, HALF / 2, "1e-8", max_items_per_user=1, noise="laplace")
    distribution = distribution_of(mechanism, known=False)
    check_world(distribution, mechanism.guarantee, items=ITEMS, largest=1, max_items=1)
    rejected(lambda: check_world(distribution, mechanism.guarantee, items=ITEMS, largest=1))


# Algorithm 1: min(Delta, k_bar, d - k_bar) where the number d of possible items is public.


@pytest.mark.parametrize("k_bar", [2, 3])
def test_the_items_outside_the_domain_do_not_bound_those_that_leave_it(k_bar: int) -> None:
    """One further item is possible, but items without users do not exist: what leaves makes room for nothing."""
    delta = Fraction(1, 10)
    sound = LimitedDomain(1, k_bar, ONE, delta)

    def printed(counts: SmallHistogram) -> SmallDistribution:
        items, scores, next_count = top(counts, k_bar)
        outside = 1
        bottom = next_count + 1 + logarithm(outside / delta)
        return peeling_distribution(items, scores, ONE, 1, bottom=bottom)

    names = ITEMS[: k_bar + 1]
    check_world(distribution_of(sound, known=False), sound.guarantee, items=names, largest=1)
    rejected(lambda: check_world(printed, sound.guarantee, items=names, largest=1))
    # One user alone has all of them: they come out with k_bar delta/(1 + k_bar delta) instead of delta/(1 + delta).
    alone = dict.fromkeys(names[:k_bar], 1)
    found = 1 - float(next(chance for outcome, chance in printed(alone).items() if outcome == (BOTTOM,)).mid())
    assert found == pytest.approx(k_bar / (k_bar + 10))


# Algorithm 8: the test against the threshold before noise is added.


def test_algorithm_8_as_printed_is_rejected() -> None:
    mechanism = FixedThreshold(1, ONE, "0.1")

    def printed(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(PRECISION):
            distribution: dict[object, flint.arb] = {frozenset(): flint.arb(1)}
            for item, lead in mechanism._leads(Histogram(counts, known=False)).items():
                if lead > 0:
                    passes = _positive(lead * mechanism.epsilon_per_item)
                    distribution = {frozenset(): 1 - passes, frozenset({item}): passes}
            return distribution

    text = rejected(lambda: check_world(printed, mechanism.guarantee, items=ITEMS[:2], largest=3))
    assert "most of it from frozenset({'a'})" in text or "most of it from frozenset({'b'})" in text
    check_world(distribution_of(mechanism, known=False), mechanism.guarantee, items=ITEMS[:2], largest=3)


# Algorithm 6: noise of the wrong sign, and h_(i) for h_(i+1).


def smallest_noisy(scores: Mapping[int, Fraction], rate: Fraction) -> dict[int, flint.arb]:
    """P(i has the smallest score + Gumbel(1/rate)): inclusion and exclusion over those that are smaller."""
    weights = {i: ball(score * rate).exp() for i, score in scores.items()}
    distribution = {}
    for i, own in weights.items():
        others = [weight for j, weight in weights.items() if j != i]
        distribution[i] = sum(
            (
                (-1) ** size * own / sum(chosen, own)
                for size in range(len(others) + 1)
                for chosen in itertools.combinations(others, size)
            ),
            flint.arb(0),
        )
    return distribution


def test_algorithm_6_as_printed_is_rejected() -> None:
    """Its choice of k_bar alone already costs more than twice the eps of a selection."""

    def printed(counts: SmallHistogram) -> SmallDistribution:
        _, scores, _ = top(counts, 5)
        ranked = [*scores, 0, 0, 0, 0, 0]
        with ball_precision(4 * PRECISION):
            return smallest_noisy({i: ranked[i - 1] + logarithm(100 * Fraction(i)) / HALF for i in range(1, 5)}, HALF)

    def corrected(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(PRECISION):
            return k_bar_distribution(Histogram(counts, known=False).top(4), 1, 4, HALF)

    lift = {"a": 12, "b": 8, "c": 4}
    check_world(lifted(corrected, lift), HALF, items=ITEMS, largest=1, kind="bounded_range")
    text = rejected(lambda: check_world(lifted(printed, lift), HALF, items=ITEMS, largest=1, kind="pure"))
    assert "|log ratio| of outcome 1 is 1.36363" in text


@pytest.mark.parametrize(("k", "limit", "lift"), [(1, 3, {"a": 20, "b": 20}), (2, 4, {"a": 20, "b": 20, "c": 5})])
def test_a_private_k_bar_needs_its_own_selection(k: int, limit: int, lift: Mapping[str, int]) -> None:
    mechanism = LimitedDomain(k, PrivateKBar(limit), ONE, "1e-6")
    too_little = total(limited_domain_events(ONE, "1e-6", items=k, bottom=False))

    def joint(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(PRECISION):
            return mechanism._joint_distribution(Histogram(counts, known=False))

    check_world(lifted(joint, lift), mechanism.guarantee, items=ITEMS, largest=1)
    rejected(lambda: check_world(lifted(joint, lift), too_little, items=ITEMS, largest=1))


# Ties broken by the data, and Delta where it does not help.


def gumbel_distribution(
    domain: Callable[[SmallHistogram], tuple[list[str], int]], rate: Fraction, margin: Fraction
) -> DistributionOf:
    """Peeling with up to two selections over a domain that the caller cuts, with the count after it."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        items, next_count = domain(counts)
        with ball_precision(PRECISION):
            return peeling_distribution(items, [counts[item] for item in items], rate, 2, bottom=next_count + margin)

    return distribution


def by_rows(counts: SmallHistogram) -> tuple[list[str], int]:
    """Top 2 with ties in the order of the rows, which one more user can turn around."""
    rows = list(counts) if sum(counts.values()) % 2 else list(reversed(counts))
    ranked = [*sorted((item for item in rows if counts[item]), key=lambda item: -counts[item])]
    return ranked[:2], counts[ranked[2]] if len(ranked) > 2 else 0


def by_item(counts: SmallHistogram) -> tuple[list[str], int]:
    items, _, next_count = top(counts, 2)
    return items, next_count


def first_by_item(counts: SmallHistogram) -> tuple[list[str], int]:
    items, _, next_count = top(counts, 1)
    return items, next_count


def strictly_above(counts: SmallHistogram) -> tuple[list[str], int]:
    items, scores, next_count = top(counts, 2)
    return [item for item, score in zip(items, scores, strict=True) if score > next_count], next_count


def test_ties_broken_by_row_order_are_rejected() -> None:
    rate, delta = Fraction(1, 4), Fraction(1, 100)
    margin = 1 + logarithm(1 / delta) / rate
    claim = total(limited_domain_events(rate, delta, items=2, bottom=False))
    check_world(gumbel_distribution(by_item, rate, margin), claim, items=ITEMS, largest=2, max_items=1)
    rejected(
        lambda: check_world(gumbel_distribution(by_rows, rate, margin), claim, items=ITEMS, largest=2, max_items=1)
    )


def test_the_strict_domain_gets_nothing_from_a_bound_on_items() -> None:
    delta = Fraction(1, 100)
    claim = total(limited_domain_events(HALF, delta, items=2, bottom=False))
    bounded, unbounded = (1 + logarithm(changing / delta) / HALF for changing in (1, 2))
    check_world(gumbel_distribution(strictly_above, HALF, unbounded), claim, items=ITEMS, largest=2, max_items=1)
    rejected(
        lambda: check_world(
            gumbel_distribution(strictly_above, HALF, bounded), claim, items=ITEMS, largest=2, max_items=1
        )
    )


# Replace-one neighbours.


def replacements(counts: SmallHistogram) -> Iterator[SmallHistogram]:
    """One user goes, another comes: subtract one set of items, add another."""
    for fewer in world(ITEMS[:3], 1):
        if all(counts[item] >= fewer[item] for item in counts):
            rest = {item: counts[item] - fewer[item] for item in counts}
            yield from neighbours(rest)


def check_replacements(distribution: DistributionOf, claim: Guarantee) -> None:
    lookup = cached(distribution)
    for counts in world(ITEMS[:3], 2):
        for other in replacements(counts):
            check_pair(lookup(counts), lookup(other), claim)


def test_replacing_a_user_needs_more_than_twice_the_noise() -> None:
    """With a domain of one item, which may lead the count after it by 2 and still be gone on the other side."""
    delta = Fraction(1, 100)
    claim = total(limited_domain_events(HALF, delta, items=2, bottom=False))
    doubled, doubled_for_two = (2 * logarithm(changing / delta) / HALF for changing in (1, 2))
    check_replacements(gumbel_distribution(first_by_item, HALF / 2, 2 + doubled), claim)
    check_replacements(gumbel_distribution(by_item, HALF / 2, 2 + doubled_for_two), claim)
    rejected(lambda: check_replacements(gumbel_distribution(first_by_item, HALF / 2, 1 + doubled), claim))
