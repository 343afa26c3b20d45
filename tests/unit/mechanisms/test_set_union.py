"""Set union, then top-k: two stages, two readings, one receipt."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import ExponentialTopK, GaussianSparseHistogram, SetUnionThenTopK, TwoReadings, Weights
from podium.privacy import GaussianNoise, HiddenItems, Selection
from podium.randomness.replay import ReplayableBits
from podium.release import Release

UNION = SetUnionThenTopK(2, "0.5", "0.02", 4, sigma=1)
UNIT = UNION.weights.unit
READINGS = TwoReadings(
    Histogram({"a": 5 * UNIT, "b": 3 * UNIT, "c": 2 * UNIT}, known=False),
    Histogram({"a": 6, "b": 4, "c": 4, "unfound": 9}, known=False),
)


def test_half_of_delta_is_the_thresholds() -> None:
    assert UNION.weights == Weights.spread(4)
    assert UNION.discovery == GaussianSparseHistogram(sigma=1, delta="0.01", weights=Weights.spread(4))
    assert UNION.worst_case == (
        GaussianNoise(1, sensitivity_squared=1), HiddenItems("0.01"), Selection("0.5"), Selection("0.5"),
    )  # fmt: skip
    assert not UNION.guarantee.gaussian
    assert SetUnionThenTopK(2, "0.5", "0.02", 4, rho="0.5") == UNION


def test_the_second_stage_is_peeling_on_what_was_found() -> None:
    assert UNION.selection(7) == ExponentialTopK(2, "0.5")
    assert UNION.selection(1) == ExponentialTopK(1, "0.5")
    assert UNION.selection(0) is None


def test_only_what_was_chosen_is_paid() -> None:
    sure = TwoReadings(Histogram({"a": 50 * UNIT}, known=False), Histogram({"a": 60}, known=False))
    release = UNION.release(sure, bits=ReplayableBits(1))
    assert release.outcome == ("a",)
    assert not release.complete
    assert release.paid.events == (*UNION.discovery.worst_case, Selection("0.5"))
    assert release.guarantee == UNION.guarantee
    assert release.parameters["found"] == "1"
    assert Release.from_json(release.to_json()) == release
    nobody = UNION.release(TwoReadings(Histogram({}, known=False), Histogram({}, known=False)))
    assert (nobody.outcome, nobody.paid.events) == ((), UNION.discovery.worst_case)


def test_items_that_were_not_found_cannot_win() -> None:
    for seed in range(40):
        assert "unfound" not in UNION.release(READINGS, bits=ReplayableBits(seed)).items


def test_the_stages_run_one_after_the_other_give_the_same() -> None:
    found = UNION.discovery.release(READINGS.weighted, bits=ReplayableBits(8))
    counts = Histogram({"a": 6, "b": 4, "c": 4}, domain=found.items)
    staged = UNION.finish(found, counts, bits=ReplayableBits(9))
    assert set(staged.items) <= set(found.items)
    assert len(staged.items) == min(2, len(found.items))


def test_the_distribution_mixes_peeling_over_found_sets() -> None:
    distribution = UNION.distribution(READINGS)
    assert math.fsum(distribution.values()) == pytest.approx(1, abs=1e-14)
    chances = UNION.discovery.inclusion(READINGS.weighted)
    assert distribution["a",] == pytest.approx(chances["a"] * (1 - chances["b"]) * (1 - chances["c"]), rel=1e-13)
    two = chances["a"] * chances["b"] * (1 - chances["c"]) / (1 + math.exp(-1))
    first = 1 / (1 + 2 * math.exp(-1))
    three = chances["a"] * chances["b"] * chances["c"] * first / 2
    assert distribution["a", "b"] == pytest.approx(two + three, rel=1e-13)


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidArgument) as caught:
        UNION.release(Histogram({"a": 1}, known=False))  # type: ignore[arg-type]
    assert str(caught.value) == (
        "histogram='Histogram' is not valid. Allowed: a TwoReadings of weighted sums and plain counts. "
        "TwoReadings(weighted=..., counts=...); or run discovery and selection(...) one after the other."
    )
    many = Histogram({str(i): UNIT for i in range(13)}, known=False)
    with pytest.raises(InvalidArgument, match=r"^histogram='a reading of 13 items' is not valid\. Allowed: at most 12"):
        UNION.distribution(TwoReadings(many, many))
    with pytest.raises(InvalidArgument, match="^sigma=None is not valid"):  # noqa: RUF043
        SetUnionThenTopK(2, "0.5", "0.02", 4)
    with pytest.raises(InvalidArgument, match="^delta=0 is not valid"):  # noqa: RUF043
        SetUnionThenTopK(2, "0.5", 0, 4, sigma=1)
    assert SetUnionThenTopK(2, "0.5", "0.02", 4, sigma=1).epsilon_per_item == Fraction(1, 2)
