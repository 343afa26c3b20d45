"""Sparse histograms of any weights and counts: what comes out obeys the public rules, and costs move as they should."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram
from podium.mechanisms import (
    GaussianSparseHistogram,
    SetUnionThenTopK,
    TruncatedGaussianHistogram,
    TwoReadings,
    Weights,
)
from podium.randomness.replay import ReplayableBits
from podium.release import Release

weightings = st.one_of(
    st.integers(1, 50).map(Weights.bounded),
    st.integers(1, 500).map(Weights.spread),
    st.integers(1, 20).map(lambda m: Weights.floored(m, 20 * m)),
)
sigmas = st.fractions(min_value=Fraction(1, 4), max_value=20, max_denominator=16)
deltas = st.sampled_from(["0.2", "0.01", "1e-6", "1e-30"])
limits = st.none() | st.integers(1, 5)
counts = st.dictionaries(st.integers(0, 40), st.integers(0, 60), max_size=30)


@settings(max_examples=80)
@given(
    kind=st.sampled_from([GaussianSparseHistogram, TruncatedGaussianHistogram]),
    table=counts,
    weights=weightings,
    sigma=sigmas,
    delta=deltas,
    k=st.none() | st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_releases_obey_the_public_rules(
    kind: type[GaussianSparseHistogram],
    table: dict[int, int],
    weights: Weights,
    sigma: Fraction,
    delta: str,
    k: int | None,
    seed: int,
) -> None:
    mechanism = kind(sigma=sigma, delta=delta, weights=weights, k=k)
    sums = {item: count * weights.weight(1) for item, count in table.items()}
    release = mechanism.release(Histogram(sums, known=False), bits=ReplayableBits(seed))
    assert release.values is not None
    assert len(release.items) == len(set(release.items)) == len(release.values)
    assert k is None or len(release.items) <= k
    assert all(table[item] > 0 for item in release.items)  # type: ignore[index]
    assert all(left >= right for left, right in itertools.pairwise(release.values))
    # Rounded down, so a value may lie below the threshold by less than one step of the grid.
    assert all(value > mechanism.count_threshold - Fraction(1, 2**20) for value in release.values)
    if mechanism.noise_bound is not None:
        values = dict(zip(release.items, release.values, strict=True))
        assert all(abs(value - table[item]) <= mechanism.noise_bound + 1 for item, value in values.items())  # type: ignore[index]
        # Twice the cutoff is certain to pass, unless there is no place left.
        assert k is not None or {item for item in table if table[item] > 2 * mechanism.noise_bound} <= set(
            release.items
        )
    assert release.paid.events == mechanism.worst_case
    assert Release.from_json(release.to_json()) == release


@settings(max_examples=60)
@given(weights=weightings, sigma=sigmas, delta=deltas)
def test_costs_and_thresholds_move_as_they_should(weights: Weights, sigma: Fraction, delta: str) -> None:
    here = GaussianSparseHistogram(sigma=sigma, delta=delta, weights=weights)
    quieter = GaussianSparseHistogram(sigma=2 * sigma, delta=delta, weights=weights)
    assert here.guarantee.rho == weights.sensitivity_squared / (2 * sigma**2)
    assert quieter.guarantee < here.guarantee
    assert here.threshold < quieter.threshold or here.threshold < 1
    assert GaussianSparseHistogram(sigma=sigma, delta="1e-40", weights=weights).threshold > here.threshold
    bought = GaussianSparseHistogram(rho=here.guarantee.rho or 1, delta=delta, weights=weights)
    assert bought.sigma == pytest.approx(float(sigma), rel=1e-8)
    assert bought.sigma >= sigma - Fraction(1, 2**32)


@settings(max_examples=40)
@given(table=counts, k=st.integers(1, 6), seed=st.integers(0, 99))
def test_set_unions_choose_among_what_somebody_has(table: dict[int, int], k: int, seed: int) -> None:
    union = SetUnionThenTopK(k, 1, "0.1", 8, sigma=1)
    unit = union.weights.unit
    weighted = Histogram({item: count * unit for item, count in table.items()}, known=False)
    release = union.release(TwoReadings(weighted, Histogram(table, known=False)), bits=ReplayableBits(seed))
    assert all(table[item] > 0 for item in release.items)  # type: ignore[index]
    assert len(release.items) == min(k, int(release.parameters["found"]))
    assert len(release.paid.events) == 2 + len(release.items)
    assert release.paid.rho <= (union.guarantee.rho or 0)
