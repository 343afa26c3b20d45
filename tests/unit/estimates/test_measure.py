"""Fresh measurements: what they cost, and intervals that hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.estimates import Interval, MeasureCounts, selected_items
from podium.histogram import Histogram, Scores
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.sparse_vector.hybrid import HybridTopK
from podium.mechanisms.sparse_vector.technique import SparseVector
from podium.privacy.events import GaussianNoise, LaplaceNoise
from podium.randomness.replay import ReplayableBits
from podium.release import Release

HISTOGRAM = Histogram({"a": 500, "b": 400, "c": 1})


def laplace_within(epsilon: float, width: int) -> float:
    """P(|X| <= width) of the discrete Laplace, by summing."""
    r = math.exp(-epsilon)
    return (1 - r) / (1 + r) * (1 + 2 * sum(r**x for x in range(1, width + 1)))


def gaussian_within(sigma: float, width: int) -> float:
    """P(|X| <= width) of the discrete Gaussian, by summing."""
    weights = [math.exp(-(x**2) / (2 * sigma**2)) for x in range(int(40 * sigma) + 40)]
    return (2 * sum(weights[: width + 1]) - 1) / (2 * sum(weights) - 1)


def test_costs() -> None:
    laplace, gaussian = MeasureCounts(epsilon_per_item="0.1"), MeasureCounts(sigma=4)
    assert laplace.events(3) == (LaplaceNoise("0.1", discrete=True),) * 3
    assert gaussian.events(2) == (GaussianNoise(4, discrete=True),) * 2
    release = laplace.release(HISTOGRAM, ["a", "c"], bits=ReplayableBits(1))
    assert (release.paid.epsilon, release.paid.rho) == (Fraction(1, 5), Fraction(1, 100))
    assert release.guarantee.cost.epsilon == Fraction(1, 5)
    other = gaussian.release(HISTOGRAM, ["a", "c"], bits=ReplayableBits(1))
    assert (other.paid.epsilon, other.paid.rho) == (None, Fraction(1, 16))
    assert Release.from_json(other.to_json()) == other


def test_within_a_total() -> None:
    assert MeasureCounts.within(4, epsilon="0.5") == MeasureCounts(epsilon_per_item="0.125")
    assert MeasureCounts.within(2, rho="0.25") == MeasureCounts(sigma=2)
    rounded = MeasureCounts.within(3, rho="0.1")
    assert sum(event.rho for event in rounded.events(3)) <= Fraction(1, 10)
    assert rounded.scale - Fraction(1, 1 << 20) < math.sqrt(15) <= rounded.scale


def test_variances() -> None:
    for epsilon in ("0.05", 1, 3):
        r = math.exp(-float(epsilon))
        assert float(MeasureCounts(epsilon_per_item=epsilon).variance) == pytest.approx(2 * r / (1 - r) ** 2, rel=1e-9)
    assert MeasureCounts(sigma="1.5").variance == Fraction(9, 4)


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
def test_margins_cover_and_are_not_wasteful(confidence: str) -> None:
    level = float(confidence)
    for epsilon in ("0.05", "0.5", 3):
        width = MeasureCounts(epsilon_per_item=epsilon).margin(confidence)
        assert laplace_within(float(epsilon), width) >= level - 1e-12
        assert width == 0 or laplace_within(float(epsilon), width - 1) < level
    for sigma in ("0.3", 1, "4.5", 60):
        width = MeasureCounts(sigma=sigma).margin(confidence)
        assert gaussian_within(float(sigma), width) >= level - 1e-12
        assert width <= 1 or gaussian_within(float(sigma), width - 2) < level


def test_intervals() -> None:
    step = MeasureCounts(epsilon_per_item=1)
    release = step.release(HISTOGRAM, ["a", "b", "c"], bits=ReplayableBits(1))
    assert release.values is not None
    width = step.margin("0.9")
    plain = step.intervals(release, confidence="0.9")
    assert plain[0] == Interval(int(release.values[0]) - width, int(release.values[0]) + width)
    assert plain[2].low == 0
    joint = step.intervals(release, confidence="0.9", simultaneous=True)
    wide = step.margin(1 - Fraction(1, 30))
    assert joint[0].high - int(release.values[0]) == wide > width
    assert [estimate.value for estimate in step.estimates(release)] == list(release.values)
    assert {estimate.variance for estimate in step.estimates(release)} == {step.variance}


def test_what_was_selected_can_be_measured() -> None:
    step = MeasureCounts(epsilon_per_item=5)
    for selection in (
        SparseVector(100, 2, 9).release(HISTOGRAM, bits=ReplayableBits(1)),
        HybridTopK(100, 3, 9).release(HISTOGRAM, bits=ReplayableBits(1)),
    ):
        assert selected_items(selection) == ("a", "b")
        assert selected_items(Release.from_json(selection.to_json())) == ("a", "b")
    rows = Histogram.top_rows(["x", "y"], [900, 800], next_count=3)
    selection = LimitedDomain(2, 2, 1, "1e-6").release(rows, bits=ReplayableBits(1))
    measured = step.release(rows, selected_items(selection), bits=ReplayableBits(1))
    assert measured.outcome == ("x", "y")
    assert [round(value, -1) for value in measured.values or ()] == [900, 800]
    everything = Histogram({"x": 7}, known=False)
    assert abs((step.release(everything, ["not there"]).values or ())[0]) < 20
    unseen = Histogram({3: 1}, domain_size=10**12)
    assert abs((step.release(unseen, [10**11]).values or ())[0]) < 20


def test_bad_input() -> None:
    step, other = MeasureCounts(epsilon_per_item=1), MeasureCounts(sigma=1)
    measured = step.release(HISTOGRAM, ["a"])
    cases: list[tuple[Any, str]] = [
        (
            MeasureCounts,
            (
                "sigma=None is not valid. "
                "Allowed: either epsilon_per_item (discrete Laplace) or sigma (discrete Gaussian)."
            ),
        ),
        (
            lambda: MeasureCounts(epsilon_per_item=0),
            "epsilon_per_item=0 is not valid. Allowed: a number above 0.",
        ),
        (lambda: MeasureCounts(sigma="-1"), "sigma='-1' is not valid. Allowed: a number above 0."),
        (
            lambda: MeasureCounts.within(3),
            "rho=None is not valid. Allowed: either epsilon (discrete Laplace) or rho (discrete Gaussian).",
        ),
        (lambda: step.release(HISTOGRAM, []), "items=() is not valid. Allowed: one item or more."),
        (
            lambda: step.release(HISTOGRAM, ["a", "a"]),
            "items=('a', 'a') is not valid. Allowed: distinct items. Each measurement is paid for.",
        ),
        (lambda: step.release(HISTOGRAM, ["z"]), "item='z' is not valid. Allowed: an item of the domain."),
        (
            lambda: step.release(Scores({"a": 1}, sensitivity=1), ["a"]),  # type: ignore[arg-type]
            ("histogram='Scores' is not valid. Allowed: a Histogram, because discrete noise protects integers only."),
        ),
        (
            lambda: step.release(Histogram.top_rows(["x"], [9], next_count=3), ["y"]),
            (
                "items='an item beyond the rows that were read' is not valid. Allowed: items that the release named. "
                "Their counts are read together with the rows of the selection."
            ),
        ),
        (
            lambda: other.intervals(measured),
            "measured='a release with other noise' is not valid. Allowed: a release of this very step.",
        ),
        (
            lambda: step.intervals(SparseVector(5, 1, 1).release(HISTOGRAM)),
            "measured='a release of SparseVector' is not valid. Allowed: what MeasureCounts.release returned.",
        ),
        (
            lambda: step.intervals(measured, confidence=1),
            "confidence=1 is not valid. Allowed: a number with 0 < value < 1.",
        ),
    ]
    for act, text in cases:
        with pytest.raises(InvalidArgument) as caught:
            act()
        assert str(caught.value) == text


# Sums of contributions.


def test_the_example_of_a_sum() -> None:
    step = MeasureCounts(sigma=20, clip=50)
    assert step.scale == 1000
    assert step.margin() == 1960
    assert [event.rho for event in step.events(2)] == [Fraction(1, 800)] * 2
    assert step.events(1) == (GaussianNoise(1000, sensitivity_squared=2500, discrete=True),)
    assert MeasureCounts(epsilon_per_item="0.5", clip=50).scale == 100
    assert MeasureCounts(epsilon_per_item="0.5", clip=50).events(1) == (LaplaceNoise("0.5", discrete=True),)


def test_a_clip_is_in_the_receipt_and_a_count_reads_as_before() -> None:
    histogram = Histogram({"a": 900}, known=True)
    plain, wide = (MeasureCounts(sigma=2, clip=clip).release(histogram, ["a"]) for clip in (1, 3))
    assert plain.parameters == {"noise": "gaussian", "scale": "2"}
    assert wide.parameters == {"noise": "gaussian", "scale": "6", "clip": "3"}


@pytest.mark.parametrize("noise", [{"sigma": 2}, {"epsilon_per_item": "0.5"}])
def test_noise_on_a_sum_costs_what_is_claimed_and_no_less(noise: dict[str, Any]) -> None:
    """The Renyi divergence of order 2 and the log ratios of the exact distributions, for a move by the clip."""
    step = MeasureCounts(**noise, clip=3)
    reach = 120
    weights = {
        x: math.exp(-(x**2) / (2 * float(step.scale) ** 2) if step.noise == "gaussian" else -abs(x) / float(step.scale))
        for x in range(-reach, reach + 1)
    }
    (event,) = step.events(1)

    def cost(move: int) -> float:
        inside = [x for x in weights if x + move in weights]
        if event.epsilon is not None:
            return max(abs(math.log(weights[x + move] / weights[x])) for x in inside) / float(event.epsilon)
        total = sum(weights.values())
        return math.log(sum(weights[x + move] ** 2 / weights[x] for x in inside) / total) / float(event.renyi(2))

    assert cost(3) == pytest.approx(1, abs=1e-6)
    assert cost(4) > 1.3


def test_a_sum_that_also_falls_has_the_larger_sensitivity_and_may_be_negative() -> None:
    step = MeasureCounts(sigma=2, clip=3, falls_by=5)
    assert step.sensitivity == 5
    assert step.scale == 10
    measured = step.release(Histogram({"a": 0}), ["a"], bits=ReplayableBits(1))
    (interval,) = step.intervals(measured)
    assert interval.low < 0
    assert interval.high - interval.low == 2 * step.margin()
    counts = MeasureCounts(sigma=10)
    (count,) = counts.intervals(counts.release(Histogram({"a": 0}), ["a"], bits=ReplayableBits(1)))
    assert count.low == 0
