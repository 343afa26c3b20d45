"""The sparse vector's sampler follows its exact distribution, and its gaps their density."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

import pytest
from tests.support.distributions import FALSE_ALARM, chances_of_cells, p_value
from tests.support.draws import check_three_ways, outcomes, releases

from podium.histogram import Histogram, Scores
from podium.mechanisms.sparse_vector.scales import SparseNoise
from podium.mechanisms.sparse_vector.technique import Found, SparseVector
from podium.randomness.replay import ReplayableBits

DRAWS = 3000
HISTOGRAM = Histogram({"a": 3, "b": 1, "c": 4, "d": 2})


@pytest.mark.parametrize("noise", ["laplace", "exponential", "geometric"])
@pytest.mark.parametrize("branches", [1, 2])
def test_three_way(noise: SparseNoise, branches: int) -> None:
    check_three_ways(
        lambda scale: SparseVector(2, 2, 2 / scale, noise=noise, branches=branches), HISTOGRAM, 1, count=DRAWS
    )


@pytest.mark.parametrize(
    "histogram",
    [
        Histogram({"a": 2, "b": 2, "c": 2}),
        Histogram({"a": 0, "b": 0}),
        Histogram({"only": 5}),
        Histogram({2: 4}, domain_size=4),
        Scores({"a": "1.5", "b": "-0.25"}, rises_by=2, falls_by="0.5"),
    ],
    ids=["tied", "zero", "one", "unseen", "scores"],
)
def test_other_histograms(histogram: Histogram | Scores) -> None:
    for mechanism in (SparseVector(1, 2, 3), SparseVector("0.5", 1, 3, noise="laplace", branches=3, theta="0.4")):
        distribution = mechanism.distribution(histogram)
        assert p_value(outcomes(mechanism, histogram, 2), distribution) > FALSE_ALARM  # type: ignore[arg-type]


def test_replaced_users_and_more_places_than_items() -> None:
    mechanism = SparseVector(2, 7, 5, monotone=False, noise="geometric")
    distribution = mechanism.distribution(HISTOGRAM)
    assert p_value(outcomes(mechanism, HISTOGRAM, 3), distribution) > FALSE_ALARM  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_gaps_follow_their_density(noise: SparseNoise) -> None:
    mechanism, histogram = SparseVector(2, 1, 2, noise=noise), Histogram({"a": 3})
    margin = float(mechanism.plan().branch(2).margin)
    edges = {1: [0.0, 1.0, 2.0, 4.0, 8.0, 40.0], 2: [margin, margin + 1, margin + 3, margin + 7, margin + 60.0]}
    distribution: dict[Hashable, float] = {(0, 0): mechanism.distribution(histogram)[()]}
    for branch, cuts in edges.items():
        cells = chances_of_cells(
            lambda gap, branch=branch: mechanism.density(histogram, [Found("a", branch)], [gap]),  # type: ignore[misc]
            cuts,
        )
        distribution |= {(branch, low): chance for low, chance in cells.items()}
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-5)
    seen: list[Hashable] = []
    for release in releases(lambda bits: mechanism.release(histogram, bits=bits), 4, count=DRAWS // 2):
        if not release.items:
            seen.append((0, 0))
            continue
        assert release.values is not None
        ((_, branch),) = release.items  # type: ignore[misc]
        seen.append((branch, max(cut for cut in edges[branch] if cut <= release.values[0])))
    assert p_value(seen, distribution) > FALSE_ALARM


def test_integer_gaps_follow_their_probabilities() -> None:
    mechanism, histogram = SparseVector(2, 1, 2, noise="geometric"), Histogram({"a": 3})
    distribution: dict[Hashable, float] = {(): mechanism.distribution(histogram)[()]}
    for branch, gap in itertools.product((1, 2), range(60)):
        distribution[Found("a", branch), gap] = mechanism.density(histogram, [Found("a", branch)], [gap])
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-9)
    bits = ReplayableBits(5)
    releases = (mechanism.release(histogram, bits=bits) for _ in range(DRAWS // 2))
    seen = [(*release.items, *map(int, release.values or ())) for release in releases]
    assert p_value(seen, distribution) > FALSE_ALARM


def test_a_stream_has_the_distribution_of_the_batch() -> None:
    mechanism, counts = SparseVector(2, 2, 2), [3, 1, 4, 2]
    bits = ReplayableBits(6)
    seen = []
    for _ in range(1000):
        answers = mechanism.answers(counts, bits=bits)
        seen.append(tuple(Found("abcd"[i], answer.branch) for i, answer in enumerate(answers) if answer.above))
    assert p_value(seen, mechanism.distribution(HISTOGRAM)) > FALSE_ALARM  # type: ignore[arg-type]
