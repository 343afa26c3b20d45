"""Two exact distributions against a claim: a guarantee's whole curve, a pure epsilon, or a bounded range.

"Kept" is a proof for the pair that was compared, up to the slack of ``podium.audit.exact.divergence``; "violated" is a
counterexample.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

from podium.audit.exact.divergence import (
    PRECISION,
    SLACK,
    ExactDistribution,
    Ratio,
    extreme_ratios,
    hockey_stick,
    largest_part,
    renyi,
)
from podium.audit.exact.rough import MARGIN, log_ratios, paired_values, renyi_divergences
from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, exact_fraction
from podium.privacy.guarantee import Guarantee

__all__ = ["Comparison", "Finding", "Kind", "comparison", "curve", "headline"]

Kind: TypeAlias = Literal["guarantee", "pure", "bounded_range"]

_ORDERS = (Fraction(5, 4), *map(Fraction, (2, 4, 16, 64)))
_ROUGH_ORDERS = np.array([float(order) for order in _ORDERS])
_CONVERSION_DELTA = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one comparison found: ``excess`` is by how much the claim fails, zero or negative if it holds."""

    excess: float
    violated: bool
    text: str


Comparison: TypeAlias = Callable[[ExactDistribution, ExactDistribution], Finding]


def comparison(claim: Guarantee | Number, kind: Kind) -> Comparison:
    """How to hold two distributions against a claim, in both directions.

    ``kind="pure"`` and ``"bounded_range"`` bound log ratios; a number is then the epsilon, and of a guarantee its pure
    part is taken.
    """
    if kind == "guarantee":
        if not isinstance(claim, Guarantee):
            raise InvalidArgument("claim", claim, allowed="a Guarantee where kind='guarantee'")
        return functools.partial(_against_guarantee, claims=_Claims.of(claim))
    epsilon = claim.cost.epsilon if isinstance(claim, Guarantee) else exact_fraction(claim, "claim")
    if epsilon is None:
        raise InvalidArgument("claim", str(claim), allowed="a guarantee with a pure part, or a number")
    if kind not in ("pure", "bounded_range"):
        raise InvalidArgument("kind", kind, allowed="'guarantee', 'pure' or 'bounded_range'")
    return functools.partial(_against_pure if kind == "pure" else _against_range, epsilon=epsilon)


@functools.lru_cache(maxsize=256)
def curve(guarantee: Guarantee) -> tuple[tuple[Fraction, Fraction], ...]:
    """(epsilon, delta) pairs that the guarantee claims: its corners, and a grid where the curve bends."""
    cost = guarantee.cost
    corners = {point for profile in guarantee.profiles for point, _ in profile.points}
    if guarantee.profiles:
        corners = {a + (cost.epsilon or 0) for a in corners} | corners
    elif cost.epsilon is not None:
        corners |= {cost.epsilon * share / 4 for share in range(5)}
    if cost.rho and (cost.epsilon is None or cost.rho < cost.epsilon**2 / 2):
        unit = Fraction(math.isqrt(int(cost.rho * 2 * (1 << 64))), 1 << 32)
        corners |= {cost.rho + unit * step for step in (0, 1, 2, 3, 5)}
    claims = ((epsilon, guarantee.delta(epsilon=epsilon)) for epsilon in sorted(corners))
    return tuple((epsilon, delta) for epsilon, delta in claims if delta < 1)


def headline(claim: Guarantee) -> tuple[Fraction, Fraction]:
    """The one (epsilon, delta) by which people know a claim: at its own delta, or 1e-6 more where that is infinite."""
    own = claim.cost.delta + sum((profile.points[-1][1] for profile in claim.profiles), Fraction(0))
    try:
        return claim.epsilon(), own
    except InvalidArgument:
        delta = own + _CONVERSION_DELTA
        return claim.epsilon(delta=delta), delta


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """What a guarantee says, exactly, and in floats for a first look: e^epsilon and delta of every point.

    ``rho`` is its zCDP bound where that says more than the curve.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    factors: NDArray[np.float64]
    deltas: NDArray[np.float64]
    rho: Fraction | None

    @classmethod
    def of(cls, guarantee: Guarantee) -> _Claims:
        points, cost = curve(guarantee), guarantee.cost
        factors = np.array([math.exp(min(float(epsilon), 50.0)) for epsilon, _ in points])
        # A pure claim is proved by the curve alone; with delta > 0 zCDP is meant in the sense of the curve.
        by_rho = not guarantee.profiles and cost.delta == 0 and (cost.epsilon is None or cost.rho < cost.epsilon**2 / 2)
        if not points and not by_rho:
            allowed = "a guarantee that says something, with delta below 1"
            raise InvalidArgument("claim", str(guarantee), allowed=allowed)
        return cls(points, factors, np.array([float(delta) for _, delta in points]), cost.rho if by_rho else None)


def _against_guarantee(p: ExactDistribution, q: ExactDistribution, claims: _Claims) -> Finding:
    findings: list[Finding] = []
    for first, second, names in ((p, q, ("p", "q")), (q, p, ("q", "p"))):
        findings += _against_curve(first, second, claims, names)
        if claims.rho is not None:
            findings += _against_zcdp(first, second, claims.rho, names)
    return max(findings, key=lambda finding: (finding.violated, finding.excess))


def _against_curve(
    p: ExactDistribution, q: ExactDistribution, claims: _Claims, names: tuple[str, str]
) -> list[Finding]:
    """Floats settle the claims that hold by far: their error is below 1e-12 (1 + e^epsilon), the margin above it."""
    here, there = paired_values(p, q)
    excesses = np.maximum(here - claims.factors[:, np.newaxis] * there, 0.0).sum(axis=1) - claims.deltas
    clear = excesses < -MARGIN * (1.0 + claims.factors)
    return _settle(excesses, clear) + [_against_delta(p, q, *claims.points[i], names) for i in np.flatnonzero(~clear)]


def _against_zcdp(p: ExactDistribution, q: ExactDistribution, rho: Fraction, names: tuple[str, str]) -> list[Finding]:
    rough = renyi_divergences(p, q, _ROUGH_ORDERS)
    if rough is None:
        return [_against_renyi(p, q, rho, order, names) for order in _ORDERS]
    excesses = rough - _ROUGH_ORDERS * float(rho)
    clear = excesses < -MARGIN * (1.0 + _ROUGH_ORDERS * float(rho))
    return _settle(excesses, clear) + [_against_renyi(p, q, rho, _ORDERS[i], names) for i in np.flatnonzero(~clear)]


def _settle(excesses: NDArray[np.float64], clear: NDArray[np.bool_]) -> list[Finding]:
    """One finding for all claims that floats settled: the one that comes closest to failing."""
    return [Finding(float(excesses[clear].max()), False, "")] if clear.any() else []


def _against_delta(
    p: ExactDistribution, q: ExactDistribution, epsilon: Fraction, delta: Fraction, names: tuple[str, str]
) -> Finding:
    found = hockey_stick(p, q, epsilon + SLACK)
    with ball_precision(PRECISION):
        excess = found - ball(delta * (1 + SLACK))
        violated = not excess <= 0
        text = (
            ""
            if not violated
            else (
                f"hockey-stick divergence of {names[0]} from {names[1]} at epsilon={float(epsilon):.6g} is "
                f"{float(found.mid()):.6g}, above the claimed delta={float(delta):.6g} by {float(excess.mid()):.3g}; "
                f"most of it from {largest_part(p, q, epsilon)!r}"
            )
        )
        return Finding(float(excess.upper().mid()), violated, text)


def _against_renyi(
    p: ExactDistribution, q: ExactDistribution, rho: Fraction, order: Fraction, names: tuple[str, str]
) -> Finding:
    found = renyi(p, q, order)
    with ball_precision(PRECISION):
        excess = found - ball(order * rho) - ball(order * SLACK)
        violated = not excess <= 0
        text = (
            f"Renyi divergence of order {float(order):.6g} of {names[0]} from {names[1]} is {float(found.mid()):.6g}, "
            f"above order*rho={float(order * rho):.6g} by {float(excess.mid()):.3g}"
        )
        return Finding(float(excess.upper().mid()), violated, text)


def _against_pure(p: ExactDistribution, q: ExactDistribution, epsilon: Fraction) -> Finding:
    rough = log_ratios(p, q)
    if rough is not None and (excess := float(np.abs(rough).max()) - float(epsilon)) < -MARGIN * (1 + float(epsilon)):
        return Finding(excess, False, "")
    low, high = extreme_ratios(p, q)
    outcome, size = max(((high[0], high[1]), (low[0], -low[1])), key=_size)
    return _ratio_finding(size, epsilon, f"|log ratio| of outcome {outcome!r}")


def _against_range(p: ExactDistribution, q: ExactDistribution, epsilon: Fraction) -> Finding:
    rough = log_ratios(p, q)
    if rough is not None and (excess := float(np.ptp(rough)) - float(epsilon)) < -MARGIN * (1 + float(epsilon)):
        return Finding(excess, False, "")
    low, high = extreme_ratios(p, q)
    with ball_precision(PRECISION):
        size = high[1] - low[1]
    return _ratio_finding(size, epsilon, f"range of the log ratios, from outcome {low[0]!r} to {high[0]!r},")


def _ratio_finding(size: flint.arb, epsilon: Fraction, what: str) -> Finding:
    with ball_precision(PRECISION):
        excess = size - ball(epsilon + SLACK)
        violated = not excess <= 0
        by = float(excess.upper().mid()) if excess.is_finite() else math.inf
        text = f"{what} is {float(size.mid()):.6g}, above the claimed epsilon={float(epsilon):.6g} by {by:.3g}"
        return Finding(by, violated, text)


def _size(ratio: Ratio) -> float:
    return float(ratio[1].mid())
