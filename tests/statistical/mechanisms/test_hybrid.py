"""The hybrids' sampler follows its exact distribution, and its gaps their density."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

import pytest
from tests.support.distributions import FALSE_ALARM, chances_of_cells, p_value
from tests.support.draws import check_three_ways, outcomes, releases

from podium.histogram import Histogram, Scores
from podium.mechanisms.sparse_vector.hybrid import HybridTopK, Priority
from podium.release import BOTTOM

DRAWS = 3000
BOTH: tuple[Priority, ...] = ("identities", "estimates")
HISTOGRAM = Histogram({"a": 3, "b": 1, "c": 4, "d": 2})


@pytest.mark.parametrize("first", BOTH)
def test_three_way(first: Priority) -> None:
    check_three_ways(lambda scale: HybridTopK("2.5", 2, 3 / scale, first=first), HISTOGRAM, 1, count=DRAWS)


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize(
    "histogram",
    [
        Histogram({"a": 2, "b": 2, "c": 2}),
        Histogram({"a": 0, "b": 0}),
        Histogram({"only": 5}),
        Histogram({2: 4, 4: 1}, domain_size=5),
        Scores({"a": "1.5", "b": "-0.25"}, rises_by=2, falls_by="0.5"),
    ],
    ids=["tied", "zero", "one", "unseen", "scores"],
)
def test_other_histograms(first: Priority, histogram: Histogram | Scores) -> None:
    for mechanism in (HybridTopK(1, 2, 3, first=first), HybridTopK(2, 4, 6, first=first, monotone=False)):
        distribution = mechanism.distribution(histogram)
        assert p_value(outcomes(mechanism, histogram, 2), distribution) > FALSE_ALARM  # type: ignore[arg-type]


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("k", [1, 2])
def test_gaps_follow_their_density(first: Priority, k: int) -> None:
    """One item with k=2 always reaches the threshold; two items with k=1 need not."""
    mechanism = HybridTopK(2, k, 2, first=first)
    histogram = Histogram({"a": 3, "b": 2} if k == 1 else {"a": 3})
    whole = mechanism.distribution(histogram)
    edges = [0.0, 0.5, 1.0, 2.0, 3.0, 50.0]
    distribution: dict[Hashable, float] = {(BOTTOM,): whole[BOTTOM,]}
    for outcome in whole:
        if outcome == (BOTTOM,):
            continue
        cells = chances_of_cells(
            lambda gap, outcome=outcome: mechanism.density(histogram, outcome, [gap]),  # type: ignore[misc]
            edges,
        )
        distribution |= {(outcome, low): chance for low, chance in cells.items()}
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-5)
    seen: list[Hashable] = []
    for release in releases(lambda bits: mechanism.release(histogram, bits=bits), 3, count=DRAWS // 2):
        if release.values:
            seen.append((release.outcome, max(edge for edge in edges if edge <= release.values[0])))
        else:
            seen.append((BOTTOM,))
    assert p_value(seen, distribution) > FALSE_ALARM


def test_two_gaps_to_the_threshold_agree_with_their_density() -> None:
    """Estimates first with k items found: the threshold is not the runner-up, and still it is what gaps measure."""
    mechanism = HybridTopK(1, 2, 4, first="estimates")
    histogram = Histogram({"a": 3, "b": 3, "c": 3})
    cuts = [0.0, 1.0, 2.0, 3.0, 4.0]
    cells: dict[Hashable, float] = {}
    for (a, b), (c, d) in itertools.product(itertools.pairwise(cuts), repeat=2):
        if b < d or a < c:
            continue
        cells[a, c] = 6 * _cell(mechanism, histogram, (a, b), (c, d))
    seen: list[Hashable] = []
    for release in releases(lambda bits: mechanism.release(histogram, bits=bits), 4, count=DRAWS // 2):
        assert release.values is not None
        if release.complete and max(release.values) < cuts[-1]:
            seen.append(tuple(max(cut for cut in cuts if cut <= value) for value in release.values))
        else:
            seen.append("other")
    cells["other"] = 1 - sum(cells.values())
    assert p_value(seen, cells) > FALSE_ALARM


def _cell(mechanism: HybridTopK, histogram: Histogram, upper: tuple[float, float], lower: tuple[float, float]) -> float:
    """The probability of a, b in this order with gaps in two intervals: the midpoint rule on smooth enough pieces."""
    steps = 12
    total = 0.0
    for i, j in itertools.product(range(steps), repeat=2):
        first, second = (low + (high - low) * (place + 0.5) / steps for (low, high), place in ((upper, i), (lower, j)))
        if first == second:
            total += mechanism.density(histogram, ("a", "b"), (first, first)) / 2
        elif first > second:
            total += mechanism.density(histogram, ("a", "b"), (first, second))
    return total * (upper[1] - upper[0]) * (lower[1] - lower[0]) / steps**2
