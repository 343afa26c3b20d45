"""The checker itself: it accepts what is private, also with equality, and rejects what is a little less private."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import (
    PRECISION,
    SmallDistribution,
    SmallHistogram,
    cached,
    check_bounded_range,
    check_pair,
    check_pure,
    check_world,
    hockey_stick,
    neighbours,
    renyi,
    world,
)

from podium.exact import ball, ball_precision
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy.guarantee import Guarantee
from podium.privacy.theorems.bounded_range import bounded_range_rho

EPSILON = Fraction(7, 10)
DELTA = Fraction(1, 1000)


def randomised_response(
    epsilon: Fraction, delta: Fraction = Fraction(0)
) -> tuple[SmallDistribution, SmallDistribution]:
    """The worst (epsilon, delta) pair: with probability delta the truth, else randomised response."""
    with ball_precision(PRECISION):
        yes = ball(1 - delta) / (1 + ball(-epsilon).exp())
        no = ball(1 - delta) / (1 + ball(epsilon).exp())
        here: dict[str, flint.arb] = {"yes": yes, "no": no}
        there: dict[str, flint.arb] = {"yes": no, "no": yes}
        return ({**here, "p": ball(delta)}, {**there, "q": ball(delta)}) if delta else (here, there)


def rejected(check: Callable[[], object], *parts: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check()
    for part in parts:
        assert part in str(caught.value)


def test_a_world_has_every_histogram_and_every_neighbour() -> None:
    histograms = world(("a", "b", "c", "d"), 3)
    pairs = [(counts, more) for counts in histograms for more in neighbours(counts)]
    assert (len(histograms), len(pairs)) == (256, 3840)
    assert len({tuple(counts.values()) for pair in pairs for counts in pair}) == 625
    assert {tuple(more.values()) for more in neighbours({"a": 1, "b": 0, "c": 2}, 1)} == {
        (2, 0, 2),
        (1, 1, 2),
        (1, 0, 3),
    }


def test_randomised_response_is_accepted_at_exactly_its_epsilon() -> None:
    p, q = randomised_response(EPSILON)
    check_pure(p, q, EPSILON)
    check_pair(p, q, Guarantee.pure(EPSILON))
    rejected(lambda: check_pure(p, q, EPSILON / Fraction("1.001")), "|log ratio| of outcome", "epsilon=0.699301")
    rejected(
        lambda: check_pair(p, q, Guarantee.pure(EPSILON / Fraction("1.001"))),
        "hockey-stick divergence",
        "above the claimed",
    )


def test_randomised_response_is_not_of_bounded_range_epsilon() -> None:
    p, q = randomised_response(EPSILON)
    check_bounded_range(p, q, 2 * EPSILON)
    rejected(lambda: check_bounded_range(p, q, EPSILON), "range of the log ratios", "is 1.4,")
    check_pair(p, q, Guarantee.zcdp(EPSILON**2 / 2))
    rejected(lambda: check_pair(p, q, Guarantee.zcdp(bounded_range_rho(EPSILON))), "above")


def test_delta_is_accounted_exactly() -> None:
    p, q = randomised_response(EPSILON, DELTA)
    check_pair(p, q, Guarantee.approximate(EPSILON, DELTA))
    rejected(lambda: check_pair(p, q, Guarantee.approximate(EPSILON, DELTA / Fraction("1.001"))), "'p'", "by 9.99e-07")
    rejected(lambda: check_pair(p, q, Guarantee.approximate(EPSILON / Fraction("1.001"), DELTA)), "hockey-stick")
    rejected(lambda: check_pure(p, q, 100), "inf")
    assert hockey_stick(p, q, EPSILON).overlaps(ball(DELTA))


def test_a_tiny_delta_is_not_lost_in_the_slack() -> None:
    tiny = Fraction(1, 10**30)
    p, q = randomised_response(EPSILON, tiny)
    check_pair(p, q, Guarantee.approximate(EPSILON, tiny))
    rejected(lambda: check_pair(p, q, Guarantee.approximate(EPSILON, tiny / Fraction("1.001"))))


def test_approximate_zcdp_is_checked_as_a_curve() -> None:
    p, q = randomised_response(EPSILON, DELTA)
    check_pair(p, q, Guarantee.approximate_zcdp(EPSILON**2 / 2, DELTA))
    rejected(lambda: check_pair(p, q, Guarantee.approximate_zcdp(EPSILON**2 / 100, DELTA)))
    rejected(lambda: check_pair(p, q, Guarantee.approximate_zcdp(EPSILON**2 / 2, DELTA / 10**6)))


def test_a_profile_is_checked_at_its_points() -> None:
    p, q = randomised_response(EPSILON, DELTA)
    points = [(EPSILON, DELTA), (Fraction(0), hockey_above(p, q))]
    check_pair(p, q, Guarantee.profile(points))
    rejected(lambda: check_pair(p, q, Guarantee.profile([(EPSILON, DELTA * Fraction("0.999"))])))


def hockey_above(p: SmallDistribution, q: SmallDistribution) -> Fraction:
    return Fraction(float(hockey_stick(p, q, 0).mid())) + Fraction(1, 10**12)


def test_the_renyi_divergence_of_randomised_response() -> None:
    p, q = randomised_response(EPSILON)
    with ball_precision(PRECISION):
        e = ball(EPSILON).exp()
        expected = ((e**2 + 1 / e) / (1 + e)).log()
    assert renyi(p, q, 2).overlaps(expected)
    assert not renyi(*randomised_response(EPSILON, DELTA), 2).is_finite()


def exponential(rate: Fraction) -> Callable[[SmallHistogram], SmallDistribution]:
    def distribution(counts: Mapping[str, int]) -> SmallDistribution:
        with ball_precision(PRECISION):
            return peeling_distribution(list(counts), list(counts.values()), rate, 1)

    return distribution


def test_the_exponential_mechanism_is_of_bounded_range_in_every_small_world() -> None:
    distribution = exponential(EPSILON)
    check_world(distribution, EPSILON, largest=2, kind="bounded_range")
    check_world(distribution, Guarantee.pure(EPSILON), largest=2)
    check_world(distribution, Guarantee.zcdp(bounded_range_rho(EPSILON)), largest=2)
    assert check_world(distribution, EPSILON, largest=2, kind="bounded_range").excess == pytest.approx(0, abs=1e-9)


def test_a_rejected_world_shows_its_worst_pair() -> None:
    distribution = exponential(EPSILON * Fraction("1.001"))
    rejected(
        lambda: check_world(distribution, EPSILON, largest=2, kind="bounded_range"),
        "by 0.0007",
        "p: {'a': ",
        "one user more",
    )
    rejected(lambda: check_world(exponential(3 * EPSILON), Guarantee.pure(EPSILON), largest=1), "p: {", "q: {")
    rejected(
        lambda: check_world(exponential(3 * EPSILON), Guarantee.pure(EPSILON), largest=1, kind="pure"), "epsilon=0.7"
    )


def test_max_items_limits_the_neighbours() -> None:
    """Counting how many items a user has: with one item each it is 1-DP, with three it is not."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(PRECISION):
            yes = 1 / (1 + ball(-sum(counts.values())).exp())
            return {"yes": yes, "no": 1 - yes}

    check_world(distribution, Guarantee.pure(1), largest=2, max_items=1)
    rejected(lambda: check_world(distribution, Guarantee.pure(1), largest=2), "above the claimed")


def test_a_distribution_must_sum_to_one_and_is_computed_once() -> None:
    calls = []

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        calls.append(counts)
        return {"only": flint.arb(1)}

    once = cached(distribution)
    assert once({"a": 1}) is once({"a": 1})
    assert len(calls) == 1
    rejected(lambda: cached(lambda _: {"only": flint.arb("0.99")})({"a": 1}), "sums to", "not to 1")
