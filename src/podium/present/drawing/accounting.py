"""What the pictures of accounting show: totals and profiles of equal selections, by theorem, as plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from podium.exact import float_above
from podium.privacy import (
    adaptive_optimum,
    adaptive_optimum_delta,
    advanced,
    basic,
    bounded_range_rho,
    bounded_range_three_terms,
    bounded_range_zcdp,
    nonadaptive_optimum,
    nonadaptive_optimum_delta,
    optimal_pure,
    optimal_pure_delta,
    zcdp_delta,
)
from podium.privacy.rounding import display
from podium.privacy.theorems.nonadaptive import MAX_K

__all__ = ["ProfileRows", "TheoremRow", "composition_totals", "profile_deltas"]

_NON_ADAPTIVE = "non-adaptive (not valid)"
_SMALLEST_DELTA = Fraction(1, 10**11)


@dataclass(frozen=True, slots=True)
class TheoremRow:
    """One theorem's numbers, rounded up. ``best`` marks the sharpest that is sound for top-k peeling."""

    name: str
    values: tuple[float, ...]
    best: bool = False
    valid_for_peeling: bool = True


@dataclass(frozen=True, slots=True)
class ProfileRows:
    """delta at each total epsilon, by theorem; and the best total at the delta in question."""

    totals: tuple[float, ...]
    rows: tuple[TheoremRow, ...]
    best_total: float
    best_text: str


@lru_cache(maxsize=8)
def composition_totals(ks: tuple[int, ...], epsilon: Fraction, delta: Fraction) -> tuple[TheoremRow, ...]:
    """The total epsilon of k selections at ``delta``, for each k."""

    def row(name: str, total: Callable[[int], Fraction], *, best: bool = False, valid: bool = True) -> TheoremRow:
        return TheoremRow(name, tuple(float_above(total(k)) for k in ks), best, valid)

    rows = [
        row("basic", lambda k: basic([epsilon] * k)),
        row("advanced", lambda k: advanced([epsilon] * k, delta)),
        row("optimal for pure DP", lambda k: optimal_pure(epsilon, k, delta)),
        row("bounded range, 3 terms", lambda k: bounded_range_three_terms([epsilon] * k, delta)),
        row("zCDP", lambda k: bounded_range_zcdp([epsilon] * k, delta)),
        row("bounded range, adaptive", lambda k: adaptive_optimum(epsilon, k, delta), best=True),
    ]
    if max(ks) <= MAX_K:
        rows.append(row(_NON_ADAPTIVE, lambda k: nonadaptive_optimum(epsilon, k, delta), valid=False))
    return tuple(rows)


@lru_cache(maxsize=8)
def profile_deltas(k: int, epsilon: Fraction, delta: Fraction, *, points: int) -> ProfileRows:
    """delta of k selections at ``points`` totals, up to where the best theorem promises a delta of 1e-11."""
    rho = k * bounded_range_rho(epsilon)
    last = adaptive_optimum(epsilon, k, min(delta, _SMALLEST_DELTA))
    # Multiples of a short decimal keep the exact arithmetic behind the theorems short.
    totals = [Fraction(round(1000 * last * place / points) or 1, 1000) for place in range(1, points + 1)]

    def row(name: str, at: Callable[[Fraction], Fraction], *, best: bool = False, valid: bool = True) -> TheoremRow:
        return TheoremRow(name, tuple(float_above(at(total)) for total in totals), best, valid)

    rows = [
        row("optimal for pure DP", lambda total: optimal_pure_delta(epsilon, k, total)),
        row("zCDP", lambda total: zcdp_delta(rho, total)),
        row("bounded range, adaptive", lambda total: adaptive_optimum_delta(epsilon, k, total), best=True),
    ]
    if k <= MAX_K:
        rows.append(row(_NON_ADAPTIVE, lambda total: nonadaptive_optimum_delta(epsilon, k, total), valid=False))
    best = adaptive_optimum(epsilon, k, delta)
    return ProfileRows(tuple(map(float, totals)), tuple(rows), float_above(best), display(best))
