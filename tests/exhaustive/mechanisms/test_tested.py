"""TestedTopK in small worlds: test and choice together keep the claim, and the easy mistakes do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.support.symmetry import symmetric
from tests.support.worlds import DistributionOf, SmallDistribution, SmallHistogram, check_world, distribution_of

from podium.exact import ball, ball_precision
from podium.histogram import Histogram
from podium.mechanisms import ExponentialTopK
from podium.mechanisms.tested import TestedTopK
from podium.privacy.guarantee import Guarantee

_FOUR = ("a", "b", "c", "d")


@pytest.mark.parametrize(("k", "share"), [(1, None), (2, None), (2, "1/2"), (3, "1/3")])
def test_the_pure_mechanism(k: int, share: Any) -> None:
    check_world(symmetric(distribution_of(TestedTopK(k, 1, share=share))), 1, items=_FOUR, largest=3, kind="pure")


@pytest.mark.parametrize(("k", "share"), [(1, None), (2, "1/2")])
def test_the_approximate_mechanism(k: int, share: Any) -> None:
    mechanism = TestedTopK(k, 1, delta="0.01", share=share)
    check_world(symmetric(distribution_of(mechanism)), mechanism.guarantee, items=_FOUR, largest=2)


def test_counts_that_move_both_ways_are_kept_too() -> None:
    mechanism = TestedTopK(2, 1, share="1/2", monotone=False)
    found = check_world(distribution_of(mechanism), 1, kind="pure")
    assert found.excess < -0.1


def _with_test(mechanism: TestedTopK, stretch: Fraction) -> DistributionOf:
    """The mechanism with the log odds of the test stretched, and centred where small worlds are on both sides."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        histogram = Histogram(counts)
        slope = 2 * mechanism.epsilon_test / mechanism.epsilon_set
        with ball_precision(192):
            odds = ball(stretch * (mechanism.log_odds(histogram) + slope * 6)).exp()
            at_once = mechanism.at_once.distribution(histogram, exact=True)
            in_turn = mechanism.in_turn.distribution(histogram, exact=True)
            joined: dict[Any, Any] = {outcome: chance * odds / (1 + odds) for outcome, chance in at_once.items()}
            return joined | {outcome: chance / (1 + odds) for outcome, chance in in_turn.items()}

    return distribution


def test_the_test_may_use_its_share_and_no_more() -> None:
    """Only the type of the outcome: which way it went. Its log ratios reach the share where the odds are small."""
    mechanism = TestedTopK(2, 1, share="1/2")

    def way(stretch: Fraction) -> DistributionOf:
        whole = _with_test(mechanism, stretch)

        def distribution(counts: SmallHistogram) -> SmallDistribution:
            with ball_precision(192):
                once = sum((p for o, p in whole(counts).items() if isinstance(o, frozenset)), ball(0))
                return {"at once": once, "in turn": 1 - once}

        return symmetric_way(distribution)

    check_world(way(Fraction(1)), "1/2", items=_FOUR, largest=3, kind="bounded_range")
    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_world(way(Fraction(21, 20)), "1/2", items=_FOUR, largest=3, kind="bounded_range")


def symmetric_way(distribution: DistributionOf) -> DistributionOf:
    """Which way it went does not depend on names, so one histogram of each shape is enough."""
    known: dict[tuple[int, ...], SmallDistribution] = {}

    def lookup(counts: SmallHistogram) -> SmallDistribution:
        key = tuple(sorted(counts.values(), reverse=True))
        if key not in known:
            known[key] = distribution(dict(zip(counts, key, strict=True)))
        return known[key]

    return lookup


def test_wherever_the_odds_are_even() -> None:
    """The centre of the test is a public constant like any other: in small worlds at 0 nats both ways are likely."""
    for mechanism in (TestedTopK(2, 1, share="1/2"), TestedTopK(2, 1, share="1/4")):
        check_world(symmetric(_with_test(mechanism, Fraction(1))), 1, items=_FOUR, largest=3, kind="pure")
    approximate = TestedTopK(2, 1, delta="0.01", share="1/2")
    check_world(symmetric(_with_test(approximate, Fraction(1))), approximate.guarantee, items=_FOUR, largest=2)


def test_a_free_test_is_rejected() -> None:
    """Both ways use 1/2, and so does the test: together more than 1/2."""
    paid = TestedTopK(2, 1, share="1/2")
    with pytest.raises(AssertionError, match="log ratio"):
        check_world(symmetric(_with_test(paid, Fraction(1))), "1/2", items=_FOUR, largest=2, kind="pure")


def test_a_test_charged_as_nothing_in_turn_is_rejected() -> None:
    """k selections at what k, not k + 1, may use, after a test: rejected at delta = 0 where the sums are tight."""
    epsilon, k = Fraction(1), 1

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        histogram = Histogram(counts)
        best, *others = sorted(counts.values(), reverse=True)
        with ball_precision(192):
            odds = ball(epsilon * (best - others[0])).exp()
            turns = ExponentialTopK(k, epsilon).distribution(histogram, exact=True)
            joined: dict[Any, Any] = {outcome: chance / (1 + odds) for outcome, chance in turns.items()}
            return joined | {"at once": odds / (1 + odds)}

    with pytest.raises(AssertionError, match="hockey-stick"):
        check_world(distribution, Guarantee.approximate(1, "0.001"))
