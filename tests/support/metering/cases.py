"""A run of every mechanism that reads a histogram: what the meter sees of it is what the mechanism is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.metering.prices import Facts

from podium.histogram import Histogram, Scores
from podium.mechanisms import (
    CanonicalTopK,
    ExponentialTopK,
    ExponentialWithGap,
    GaussianSparseHistogram,
    HybridTopK,
    JointTopK,
    LimitedDomain,
    NoisyTopK,
    OneshotLaplace,
    PermuteAndFlip,
    RisingTopK,
    SetUnionThenTopK,
    SharedVoteTopK,
    TruncatedGaussianHistogram,
    TruncatedLaplaceHistogram,
    TwoReadings,
    Weights,
)

__all__ = ["CASES", "COUNTED", "COUNTS", "KNOWN", "LARGE", "ROWS", "Case"]

COUNTS = {"a": 90, "b": 60, "c": 40, "d": 20, "e": 5, "f": 1}
KNOWN = Histogram(COUNTS)
LARGE = Histogram({7: 90, 3: 60, 12: 20}, domain_size=1000)
ROWS = Histogram.top_rows(["a", "b", "c", "d"], [90, 60, 40, 20], next_count=5)
UNKNOWN = Histogram(COUNTS, known=False)
SCORES = Scores({"a": "3/2", "b": 1, "c": "1/3", "d": 0}, rises_by="1/4", falls_by="1/8")
MOVED = Facts(span=Fraction(3, 8), reach=Fraction(1, 4))
COUNTED = Facts()
BOTH_WAYS = Facts(span=Fraction(2))
SPREAD = Weights.spread(20)


@dataclass(frozen=True, slots=True)
class Case:
    mechanism: Any
    data: Any
    facts: Facts = COUNTED


def _limited(**options: Any) -> LimitedDomain:
    return LimitedDomain(3, 4, "1/3", "1/100", **options)


CASES = [
    Case(ExponentialTopK(3, "1/3"), KNOWN),
    Case(ExponentialTopK(3, "1/3"), LARGE),
    Case(ExponentialTopK(2, "1/3", monotone=False), KNOWN, BOTH_WAYS),
    Case(ExponentialTopK(2, "1/3"), SCORES, MOVED),
    Case(ExponentialWithGap("1/3"), KNOWN),
    Case(ExponentialWithGap("1/3", monotone=False), LARGE, BOTH_WAYS),
    Case(RisingTopK(4, "1/7"), KNOWN),
    Case(RisingTopK(3, "1/7", monotone=False), LARGE, BOTH_WAYS),
    Case(RisingTopK.within(4, epsilon=1, delta="1e-6"), KNOWN),
    *(
        Case(NoisyTopK(3, "1/2", noise=noise, gaps=gaps), KNOWN)  # type: ignore[arg-type]
        for noise, gaps in [
            ("exponential", True),
            ("exponential", False),
            ("laplace", True),
            ("gumbel", None),
            ("logistic", None),
            ("half-logistic", None),
        ]
    ),
    Case(NoisyTopK(2, "1/2", monotone=False), SCORES, MOVED),
    Case(PermuteAndFlip("1/2"), LARGE),
    Case(SharedVoteTopK(3, "1/2", max_items_per_user=20), KNOWN, Facts(weights=Weights.shared(20).steps)),
    Case(SharedVoteTopK(2, 3, max_items_per_user=1), LARGE, Facts(weights=Weights.shared(1).steps)),
    Case(OneshotLaplace(3, "1/2"), KNOWN),
    Case(OneshotLaplace(3, "1/2", monotone=False), SCORES, MOVED),
    Case(JointTopK(3, "1/2"), KNOWN),
    Case(JointTopK(3, "1/2", monotone=False), LARGE, BOTH_WAYS),
    Case(CanonicalTopK(3, "1/2"), KNOWN),
    Case(CanonicalTopK(3, "1/2", noise="exponential", monotone=False), LARGE, BOTH_WAYS),
    Case(CanonicalTopK(2, "1/2", gamma=1), SCORES, MOVED),
    Case(_limited(), ROWS, Facts(changing=4)),
    Case(_limited(max_items_per_user=2), UNKNOWN, Facts(changing=2)),
    Case(_limited(max_items_per_user=2, strict=True), ROWS, Facts(changing=4)),
    Case(_limited(max_items_per_user=2, noise="laplace"), ROWS, Facts(changing=2)),
    Case(LimitedDomain(4, 4, "1/100", "1/100"), ROWS, Facts(changing=4)),
    Case(LimitedDomain(4, 4, 50, "1/100"), ROWS, Facts(changing=4)),
    Case(HybridTopK("30/7", 3, "1/2"), KNOWN, Facts(public=frozenset({Fraction(4)}))),
    Case(HybridTopK(1000, 3, "1/2"), LARGE, Facts(public=frozenset({Fraction(1000)}))),
    Case(HybridTopK(30, 3, "1/2", first="estimates"), KNOWN, Facts(public=frozenset({Fraction(30)}))),
    Case(
        HybridTopK(30, 3, "1/2", first="estimates", monotone=False),
        LARGE,
        Facts(span=Fraction(2), public=frozenset({Fraction(30)})),
    ),
    Case(GaussianSparseHistogram(delta="1/50", sigma=2, max_items_per_user=3), UNKNOWN, Facts(weights=((3, 1),))),
    Case(GaussianSparseHistogram(delta="1e-9", rho="1/9", weights=SPREAD, k=2), UNKNOWN, Facts(weights=SPREAD.steps)),
    Case(TruncatedGaussianHistogram(delta="1/50", sigma=2, max_items_per_user=3), UNKNOWN, Facts(weights=((3, 1),))),
    Case(
        TruncatedGaussianHistogram(delta="1e-9", rho="1/9", weights=SPREAD, k=2), UNKNOWN, Facts(weights=SPREAD.steps)
    ),
    Case(
        TruncatedLaplaceHistogram(epsilon="1/3", delta="1/50", max_items_per_user=20),
        UNKNOWN,
        Facts(weights=Weights.shared(20).steps),
    ),
    Case(
        SetUnionThenTopK(2, "1/3", "1/50", 20, rho="1/9"),
        TwoReadings(Histogram({item: n << 20 for item, n in COUNTS.items()}, known=False), UNKNOWN),
        Facts(weights=SPREAD.steps),
    ),
]
