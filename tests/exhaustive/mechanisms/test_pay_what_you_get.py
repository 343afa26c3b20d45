"""Whole transcripts of two and three adaptive questions, against the promise made before the first."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import PRECISION, DistributionOf, SmallDistribution, SmallHistogram, check_world, lifted

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet
from podium.release import BOTTOM, Outcome

ITEMS = ("a", "b", "c")
HALF = Fraction(1, 2)

Transcript = tuple[tuple[int, Outcome], ...]
Question = tuple[SmallHistogram, int, int | PrivateKBar]
Analyst = Callable[[SmallHistogram, Transcript, int], Question | None]
Price = Callable[[LimitedDomain, Outcome], int]


def charged(mechanism: LimitedDomain, outcome: Outcome) -> int:
    """Every symbol, and a private k_bar."""
    return len(outcome) + isinstance(mechanism.k_bar, PrivateKBar)


def bottom_free(mechanism: LimitedDomain, outcome: Outcome) -> int:
    return sum(symbol is not BOTTOM for symbol in outcome)


def transcripts(plan: PayWhatYouGet, analyst: Analyst, price: Price = charged) -> DistributionOf:
    """The distribution of everything that is seen, when the analyst asks until the plan is used up."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        whole: dict[Transcript, flint.arb] = {}
        with ball_precision(PRECISION):
            extend((), flint.arb(1), plan.k_star, whole, counts)
        return whole

    def extend(
        seen: Transcript, chance: flint.arb, left: int, whole: dict[Transcript, flint.arb], counts: SmallHistogram
    ) -> None:
        question = analyst(counts, seen, left) if left > 0 and len(seen) < plan.l_star else None
        if question is None:
            whole[seen] = chance
            return
        histogram, k, k_bar = question
        mechanism = LimitedDomain(k, k_bar, plan.epsilon_per_item, plan.delta)
        for answer, probability in mechanism._joint_distribution(Histogram(histogram, known=False)).items():
            extend((*seen, answer), chance * probability, left - price(mechanism, answer[1]), whole, counts)

    return distribution


def curious(counts: SmallHistogram, seen: Transcript, left: int) -> Question:
    """First the top 2; then, without what came out, as many as are left, with a k_bar that depends on the answer."""
    if not seen:
        return counts, min(2, left), 2
    known = {item for _, outcome in seen for item in outcome}
    rest = {item: count for item, count in counts.items() if item not in known}
    return rest, min(2, left), 2 if known == {BOTTOM} else 3


def same_again(counts: SmallHistogram, seen: Transcript, left: int) -> Question:
    return counts, 1, 1


def private(counts: SmallHistogram, seen: Transcript, left: int) -> Question | None:
    return (counts, min(2, left - 1), PrivateKBar(3)) if left > 1 else None


@pytest.mark.parametrize("lift", [{}, {"a": 14, "b": 13}])
@pytest.mark.parametrize(("analyst", "k_star", "l_star"), [(curious, 3, 2), (same_again, 2, 2), (private, 4, 2)])
def test_the_whole_transcript_keeps_the_promise(
    analyst: Analyst, k_star: int, l_star: int, lift: dict[str, int]
) -> None:
    plan = PayWhatYouGet(k_star, l_star, HALF, "0.01")
    check_world(lifted(transcripts(plan, analyst), lift), plan.guarantee, items=ITEMS, largest=1)


def test_three_questions_that_use_up_the_plan_in_different_ways() -> None:
    plan = PayWhatYouGet(3, 3, HALF, "0.01")
    check_world(lifted(transcripts(plan, curious), {"a": 14}), plan.guarantee, items=ITEMS[:2], largest=2)


def test_a_free_bottom_symbol_is_rejected() -> None:
    """ "Nothing stands out" said three times is worth three selections."""
    plan = PayWhatYouGet(1, 3, HALF, "1e-5")
    lift = {"a": 27}
    check_world(lifted(transcripts(plan, same_again), lift), plan.guarantee, items=ITEMS[:1], largest=3)
    free = lifted(transcripts(plan, same_again, bottom_free), lift)
    with pytest.raises(AssertionError, match="BOTTOM"):
        check_world(free, plan.guarantee, items=ITEMS[:1], largest=3)


def test_a_free_private_k_bar_is_rejected() -> None:
    plan = PayWhatYouGet(1, 1, 1, "1e-6")
    lift = {"a": 20, "b": 20}

    def asks(counts: SmallHistogram, seen: Transcript, left: int) -> Question:
        return counts, 1, PrivateKBar(3)

    free = lifted(transcripts(plan, asks, lambda _, outcome: len(outcome)), lift)
    with pytest.raises(AssertionError, match="above the claimed"):
        check_world(free, plan.guarantee, items=ITEMS, largest=1)
