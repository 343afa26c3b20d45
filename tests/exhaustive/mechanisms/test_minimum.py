"""A public minimum: the raised bottom keeps the guarantee in every small world; a filter on true counts does not."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from tests.support.worlds import DistributionOf, SmallDistribution, SmallHistogram, check_world, distribution_of, lifted

from podium.exact import ball
from podium.histogram import Histogram
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.peeling import peeling_distribution
from podium.release import BOTTOM

ITEMS = ("a", "b", "c", "d")
HALF, LOG_2 = Fraction(1, 2), Fraction("0.6931471805599454")


@pytest.mark.parametrize("at_least", [1, "5/2", 12, 40])
@pytest.mark.parametrize(
    ("k", "k_bar", "max_items"), [(1, 1, None), (2, 2, 1), (2, 3, None), (2, PrivateKBar(3), None)]
)
def test_a_raised_bottom_keeps_the_promise(
    k: int, k_bar: int | PrivateKBar, max_items: int | None, at_least: str
) -> None:
    mechanism = LimitedDomain(k, k_bar, HALF, "0.05", max_items_per_user=max_items, at_least=at_least)
    check_world(
        distribution_of(mechanism, known=False), mechanism.guarantee, items=ITEMS[:3], largest=2, max_items=max_items
    )
    lift = {"a": 12, "b": 11}
    around = lifted(distribution_of(mechanism, known=False), lift)
    check_world(around, mechanism.guarantee, items=ITEMS[:3], largest=1, max_items=max_items)


@pytest.mark.parametrize("strict", [False, True])
def test_a_strict_domain_and_sums_keep_it_too(strict: bool) -> None:
    """The same in units of a clip of 2: a user adds 0, 1 or 2 to each sum."""
    plain = LimitedDomain(2, 2, HALF, "0.05", strict=strict, at_least=3)
    check_world(distribution_of(plain, known=False), plain.guarantee, items=ITEMS[:3], largest=3)
    clipped = LimitedDomain(1, 2, HALF, "0.05", strict=strict, clip=2, at_least=3)
    # A world of single steps is part of it: every pair differs by less than the clip.
    check_world(distribution_of(clipped, known=False), clipped.guarantee, items=ITEMS[:3], largest=3)


@pytest.mark.parametrize("at_least", [1, 2, "7/2"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_known_items_with_a_bottom_keep_the_promise_and_need_most_of_it(k: int, at_least: str) -> None:
    mechanism = ExponentialTopK(k, HALF, at_least=at_least)
    law = distribution_of(mechanism)
    check_world(law, mechanism.guarantee, items=ITEMS[:3], largest=3)
    check_world(law, k * HALF, items=ITEMS[:3], largest=3, kind="pure")
    if k == 1:
        check_world(law, HALF, items=ITEMS[:3], largest=3, kind="bounded_range")
    with pytest.raises(AssertionError, match="above"):
        check_world(law, HALF / 2, items=ITEMS[:3], largest=3, kind="pure")


def filtered_first(mechanism: LimitedDomain, least: int) -> DistributionOf:
    """HAVING as a database would do it: items below the minimum leave before the noise."""
    epsilon = mechanism.epsilon_per_item

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        rows = Histogram(counts, known=False).top(mechanism.max_rows)
        able = [(item, count) for item, count in zip(rows.items, rows.counts.tolist(), strict=True) if count >= least]
        names, scores = [item for item, _ in able], [count for _, count in able]
        bottom = Fraction(rows.next_count) + mechanism.margin
        return peeling_distribution(names, scores, epsilon, mechanism.k, bottom=bottom)

    return distribution


def worst(distribution: DistributionOf, lift: Mapping[str, int]) -> float:
    """The largest chance of one neighbour's outcomes that the other does not have e^epsilon times (epsilon = ln 2)."""
    largest = 0.0
    for name in ITEMS[:1]:
        before = distribution(dict(lift))
        after = distribution({**lift, name: lift[name] + 1})
        for p, q in ((before, after), (after, before)):
            excess = sum(float((chance - 2 * q.get(outcome, ball(0))).mid()) for outcome, chance in p.items()
                         if float(chance.mid()) > 2 * float(q.get(outcome, ball(0)).mid()))  # fmt: skip
            largest = max(largest, excess)
    return largest


@pytest.mark.parametrize(
    ("epsilon", "least", "found"),
    [(LOG_2, 8, 0.927536), (Fraction(11, 10), 6, 0.960737), (HALF, 12, 0.960737)],
)
def test_having_before_the_noise_is_rejected(epsilon: Fraction, least: int, found: float) -> None:
    mechanism = LimitedDomain(1, 1, epsilon, "0.1")
    claimed = float(mechanism.guarantee.cost.delta)
    assert claimed == pytest.approx(1 / 11)
    # One item with just too few users: with one more it appears, and is far above bottom. Nothing of that has a chance
    # on the other side, so it counts in full whatever epsilon is.
    lift = {"a": least - 1}
    broken = filtered_first(mechanism, least)
    assert worst(broken, lift) == pytest.approx(found, abs=1e-6)
    with pytest.raises(AssertionError, match="above"):
        check_world(lifted(broken, lift), mechanism.guarantee, items=("a",), largest=1)
    sound = LimitedDomain(1, 1, epsilon, "0.1", at_least=least)
    check_world(lifted(distribution_of(sound, known=False), lift), sound.guarantee, items=("a",), largest=1)
    if epsilon == LOG_2:
        assert worst(distribution_of(sound, known=False), lift) <= claimed


def test_the_published_distribution_of_a_minimum() -> None:
    histogram = Histogram({"0": 130, "1": 118, "2": 90, "3": 60, "4": 12}, known=False)
    found = LimitedDomain(3, 4, "1/5", "1e-6", max_items_per_user=4, at_least=100)
    assert found.bottom_at(4, 12) == 100
    assert float(found.margin + 12) == pytest.approx(89.00902459542082, rel=1e-14)
    law = found.distribution(histogram)
    expected = {
        (BOTTOM,): 0.002266737425867896,
        ("0", "1", BOTTOM): 0.7809874388049210,
        ("0", "1", "2"): 0.1056951562349007,
        ("1", "0", BOTTOM): 0.07284304128280578,
    }
    assert {outcome: law[outcome] for outcome in expected} == pytest.approx(expected, rel=1e-12)
