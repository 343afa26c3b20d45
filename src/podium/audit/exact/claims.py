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
from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, exact_fraction
from podium.privacy.guarantee import Guarantee

__all__ = ["Comparison", "Finding", "Kind", "comparison", "curve", "headline"]

Kind: TypeAlias = Literal["guarantee", "pure", "bounded_range"]

_ORDERS = (Fraction(5, 4), 2, 4, 16, 64)
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
        return functools.partial(_against_guarantee, guarantee=claim, claims=_Claims.of(claim))
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
    """What a guarantee says, exactly, and in floats for a first look: e^epsilon and delta of every point."""

    points: tuple[tuple[Fraction, Fraction], ...]
    factors: NDArray[np.float64]
    deltas: NDArray[np.float64]

    @classmethod
    def of(cls, guarantee: Guarantee) -> _Claims:
        points = curve(guarantee)
        factors = np.array([math.exp(min(float(epsilon), 50.0)) for epsilon, _ in points])
        return cls(points, factors, np.array([float(delta) for _, delta in points]))


def _against_guarantee(p: ExactDistribution, q: ExactDistribution, guarantee: Guarantee, claims: _Claims) -> Finding:
    findings = []
    cost = guarantee.cost
    # A pure claim is proved by the curve alone; with delta > 0 zCDP is meant in the sense of the curve.
    by_rho = not guarantee.profiles and cost.delta == 0 and (cost.epsilon is None or cost.rho < cost.epsilon**2 / 2)
    for first, second, names in ((p, q, ("p", "q")), (q, p, ("q", "p"))):
        for (epsilon, delta), clear in zip(claims.points, _clearly_kept(first, second, claims), strict=True):
            findings.append(clear or _against_delta(first, second, epsilon, delta, names))
        if by_rho:
            findings += [_against_renyi(first, second, cost.rho, Fraction(order), names) for order in _ORDERS]
    if not findings:
        raise InvalidArgument("claim", str(guarantee), allowed="a guarantee that says something, with delta below 1")
    return max(findings, key=lambda finding: (finding.violated, finding.excess))


def _clearly_kept(p: ExactDistribution, q: ExactDistribution, claims: _Claims) -> list[Finding | None]:
    """Floats settle the claims that hold by far: their error is below 1e-12 (1 + e^epsilon), the margin above it."""
    here = np.array([float(x) for x in p.values()])
    there = np.array([float(q[outcome]) if outcome in q else 0.0 for outcome in p])
    excesses = np.maximum(here - claims.factors[:, np.newaxis] * there, 0.0).sum(axis=1) - claims.deltas
    clear = excesses < -1e-9 * (1.0 + claims.factors)
    return [Finding(excess, False, "") if kept else None for excess, kept in zip(excesses.tolist(), clear, strict=True)]


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
    low, high = extreme_ratios(p, q)
    outcome, size = max(((high[0], high[1]), (low[0], -low[1])), key=_size)
    return _ratio_finding(size, epsilon, f"|log ratio| of outcome {outcome!r}")


def _against_range(p: ExactDistribution, q: ExactDistribution, epsilon: Fraction) -> Finding:
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
