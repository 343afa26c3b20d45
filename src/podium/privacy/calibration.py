"""Calibration: which epsilon per item, how many items, which sigma fit a given budget.

Every search returns a value that was itself evaluated and found to fit, by a certified upper bound; floats only
propose where to look next. Proposed numbers are rounded down to a few decimal digits, so that what a plan says
is what a person can type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, positive_fraction, positive_integer, probability
from podium.privacy.rounding import decimal_repr
from podium.privacy.theorems.adaptive_optimum import adaptive_optimum, resolution_for, scheduled_optimum
from podium.privacy.theorems.best_bound import Theorem
from podium.privacy.theorems.bounded_range import bounded_range_rho
from podium.privacy.theorems.composition import bounded_range_curve, repeated_curve
from podium.privacy.theorems.conversion import largest_rho, split_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CountPlan",
    "SelectionPlan",
    "calibrate_epsilon",
    "calibrate_items",
    "calibrate_schedule",
    "calibrate_sigma",
    "largest_selection_epsilon",
    "split_budget",
]

_DIGITS = 9
_ROUNDS = 8
_CLOSE = 5e-5
_SIGMA_BITS = 32
_MAX_RECURSION = 2000
_COARSE = ((300, 32), (1000, 16), (10**9, 8))
"""Pairs (number of selections, nodes per epsilon used up to it)."""


@dataclass(frozen=True, slots=True)
class SelectionPlan:
    """``items`` selections (bottom symbols included) in ``calls`` calls, within (epsilon, delta).

    ``delta_per_call`` is the parameter of each limited-domain call (0 if none was set aside for calls): the calls'
    ``delta/(1+delta)`` add up to exactly the share that was kept for them.
    """

    __repr__ = decimal_repr

    items: int
    calls: int
    epsilon: Fraction
    delta: Fraction
    epsilon_per_item: Fraction
    delta_per_call: Fraction
    theorem: Theorem


@dataclass(frozen=True, slots=True)
class CountPlan:
    """A zCDP budget cut in two: selections with ``epsilon_per_item``, Gaussian noise ``sigma`` on each count."""

    __repr__ = decimal_repr

    items: int
    calls: int
    rho: Fraction
    epsilon_per_item: Fraction
    sigma: Fraction
    delta_per_call: Fraction


@dataclass(frozen=True, slots=True)
class _Budget:
    epsilon: Fraction
    delta: Fraction
    calls: int
    share: Fraction  # of delta, for the calls

    @classmethod
    def of(cls, epsilon: Number, delta: Number, calls: int, delta_for_calls: Number | None) -> _Budget:
        total = probability(delta, "delta", zero=True)
        share = total / 2 if delta_for_calls is None else probability(delta_for_calls, "delta_for_calls", zero=True)
        if share > total or (share == total and total > 0):
            raise InvalidArgument("delta_for_calls", delta_for_calls, allowed=f"less than delta={total}")
        return cls(positive_fraction(epsilon, "epsilon"), total, positive_integer(calls, "calls"), share)

    @property
    def rest(self) -> Fraction:
        """The delta for the conversion."""
        return split_delta(self.delta, self.share)

    @property
    def per_call(self) -> Fraction:
        """The parameter d of each call with ``calls * d/(1+d)`` equal to the share, exactly."""
        return self.share / (self.calls - self.share)

    @property
    def rho(self) -> Fraction:
        return largest_rho(self.epsilon, self.rest)

    def by_curve(self, single: Fraction, count: int) -> Fraction:
        """The epsilon of ``count`` selections, by the Renyi curve."""
        return repeated_curve(single, count, self.rest)

    def by_recursion(self, single: Fraction, count: int) -> Fraction:
        """The same, by the adaptive optimum."""
        return adaptive_optimum(single, count, self.rest, resolution=_resolution(count))


def calibrate_epsilon(
    items: int,
    *,
    epsilon: Number,
    delta: Number,
    calls: int = 1,
    delta_for_calls: Number | None = None,
    fixed_in_advance: bool = True,
) -> SelectionPlan:
    """The largest epsilon per item such that ``items`` selections in ``calls`` calls are (epsilon, delta)-DP.

    Half of delta is kept for the calls unless ``delta_for_calls`` says otherwise (0 for known domains). With
    ``fixed_in_advance`` every analyst must stick to the resulting epsilon, and the adaptive optimum may be used; with
    False the plan is one that a filter's sums keep.
    """
    count = positive_integer(items, "items")
    budget = _Budget.of(epsilon, delta, calls, delta_for_calls)
    options = [(budget.epsilon / count, Theorem.BASIC)]
    if budget.rest > 0:
        options.append((largest_selection_epsilon(budget.rho / count), Theorem.ZCDP))
        if fixed_in_advance:
            options.extend(_sharper_epsilons(count, budget, max(options)[0]))
    best, theorem = max(options, key=lambda option: option[0])
    return SelectionPlan(count, budget.calls, budget.epsilon, budget.delta, best, budget.per_call, theorem)


def _sharper_epsilons(count: int, budget: _Budget, start: Fraction) -> list[tuple[Fraction, Theorem]]:
    found = [(_largest(lambda single: budget.by_curve(single, count), budget.epsilon, start), Theorem.RENYI)]
    if count <= _MAX_RECURSION:
        best = _largest(lambda single: budget.by_recursion(single, count), budget.epsilon, max(start, found[0][0]))
        found.append((best, Theorem.ADAPTIVE_OPTIMUM))
    return found


def calibrate_items(
    epsilon_per_item: Number,
    *,
    epsilon: Number,
    delta: Number,
    calls: int = 1,
    delta_for_calls: Number | None = None,
    fixed_in_advance: bool = True,
) -> SelectionPlan:
    """The largest number of selections of this epsilon, in ``calls`` calls, within (epsilon, delta)."""
    single = positive_fraction(epsilon_per_item, "epsilon_per_item")
    budget = _Budget.of(epsilon, delta, calls, delta_for_calls)
    options = [(math.floor(budget.epsilon / single), Theorem.BASIC)]
    if budget.rest > 0:
        options.append((math.floor(budget.rho / bounded_range_rho(single)), Theorem.ZCDP))
        if fixed_in_advance:
            options.extend(_sharper_counts(single, budget, max(options)[0]))
    best, theorem = max(options, key=lambda option: option[0])
    if best == 0:
        raise InvalidArgument(
            "epsilon_per_item", epsilon_per_item, allowed=f"at most the total epsilon={budget.epsilon}"
        )
    return SelectionPlan(best, budget.calls, budget.epsilon, budget.delta, single, budget.per_call, theorem)


def _sharper_counts(single: Fraction, budget: _Budget, start: int) -> list[tuple[int, Theorem]]:
    found = [(_last(lambda count: budget.by_curve(single, count), budget.epsilon, max(1, start)), Theorem.RENYI)]
    if found[0][0] <= _MAX_RECURSION:
        best = _last(lambda count: budget.by_recursion(single, count), budget.epsilon, max(1, found[0][0]))
        found.append((best, Theorem.ADAPTIVE_OPTIMUM))
    return found


def calibrate_schedule(multiples: Sequence[int], *, epsilon: Number, delta: Number, test: Number = 0) -> Fraction:
    """The largest unit such that adaptive selections of ``multiples[j] * unit``, in turn, are (epsilon, delta)-DP.

    As ``calibrate_epsilon`` with epsilons that differ by public factors: the sum, rho, the Renyi curve and the adaptive
    optimum are all tried. With ``test``, what is (epsilon, delta)-DP is one outcome of a test before them together with
    the selections: its log odds move by at most ``test`` (docs/proofs/tested.md, section 4).
    """
    factors = tuple(positive_integer(factor, "multiples") for factor in multiples)
    whole, move = positive_fraction(epsilon, "epsilon"), exact_fraction(test, "test")
    if not 0 <= move < whole:
        raise InvalidArgument("test", test, allowed=f"a number with 0 <= value < epsilon={whole}")
    budget = _Budget.of(whole - move, delta, 1, 0)
    best = budget.epsilon / sum(factors)
    if budget.rest == 0:
        return best
    # rho(e) <= e^2/8: the squares of the epsilons may add up to 8 rho.
    square = 8 * budget.rho / sum(factor**2 for factor in factors)
    best = max(best, _rounded(Fraction(math.isqrt(math.floor(square * 10**40)), 10**20)))

    def by_curve(unit: Fraction) -> Fraction:
        return bounded_range_curve([factor * unit for factor in factors], budget.rest)

    def by_recursion(unit: Fraction) -> Fraction:
        return scheduled_optimum(unit, factors, budget.rest, resolution=per_unit, test=move)

    best = max(best, _largest(by_curve, budget.epsilon, best))
    nodes = _resolution(len(factors))
    if len(factors) <= _MAX_RECURSION and nodes is not None:
        per_unit = max(1, nodes // max(factors))
        best = max(best, _largest(by_recursion, whole, best))
    return best


def calibrate_sigma(rho: Number, *, sensitivity_squared: Number = 1) -> Fraction:
    """The smallest multiple sigma of 2^-32 with ``sensitivity^2 / (2 sigma^2) <= rho``; exact, by an integer root."""
    square = positive_fraction(sensitivity_squared, "sensitivity_squared") / (2 * positive_fraction(rho, "rho"))
    scaled = square * 4**_SIGMA_BITS
    root = math.isqrt(math.ceil(scaled))
    return Fraction(root if root**2 >= scaled else root + 1, 2**_SIGMA_BITS)


def split_budget(
    items: int,
    *,
    epsilon: Number,
    delta: Number,
    calls: int = 1,
    share_for_counts: Number = Fraction(1, 2),
    delta_for_calls: Number | None = None,
) -> CountPlan:
    """Split a budget between choosing ``items`` items and measuring each one's count with Gaussian noise.

    Both parts are sums of rho, so the split keeps inside any filter of this total.
    """
    count = positive_integer(items, "items")
    share = probability(share_for_counts, "share_for_counts")
    budget = _Budget.of(epsilon, delta, calls, delta_for_calls)
    if budget.rest == 0:
        raise InvalidArgument("delta", delta, allowed="a number above 0", hint="Gaussian counts need some delta.")
    sigma = calibrate_sigma(share * budget.rho / count)
    selections = budget.rho / count - 1 / (2 * sigma**2)
    single = largest_selection_epsilon(selections)
    return CountPlan(count, budget.calls, budget.rho, single, sigma, budget.per_call)


def largest_selection_epsilon(rho: Number) -> Fraction:
    """The largest epsilon (to nine digits) of a selection that costs at most ``rho``; 0 if none is that cheap."""
    target = exact_fraction(rho, "rho")
    if target < bounded_range_rho(Fraction(1, 10**12)):
        return Fraction(0)
    # rho(e) <= e^2/8, so this end fits; and rho(e) >= e - ln e - 1 for large e bounds the other one.
    low = _rounded(Fraction(math.isqrt(math.floor(target * 8 * 10**40)), 10**20))
    low = low if bounded_range_rho(low) <= target else Fraction(1, 10**12)
    high = 2 * low + 4 * target + 4
    while high - low > low / 10 ** (_DIGITS + 1):
        middle = (low + high) / 2
        low, high = (middle, high) if bounded_range_rho(middle) <= target else (low, middle)
    return _rounded(low)


def _resolution(count: int) -> int | None:
    """Coarser than for a single bound, because a search asks several times; the loss is about 1/(2 N^2)."""
    return resolution_for(count) if count <= 12 else next(nodes for most, nodes in _COARSE if count <= most)


def _largest(total: Callable[[Fraction], Fraction], limit: Fraction, start: Fraction) -> Fraction:
    """A value with ``total(value) <= limit``, close to the largest one, by secants in logarithms from ``start``."""
    best, ceiling, slope = Fraction(0), math.inf, 1.0
    value = _rounded(start)
    before: tuple[float, float] | None = None
    for _ in range(_ROUNDS):
        reached = total(value)
        if reached <= limit:
            best = max(best, value)
        else:
            ceiling = min(ceiling, float(value))
        place = math.log(value), _log_of(reached, limit)
        if before is not None and abs(place[0] - before[0]) > 1e-9:
            slope = min(4.0, max(0.5, (place[1] - before[1]) / (place[0] - before[0])))
        gap = math.log(limit) - place[1]
        if 0 <= gap < _CLOSE:
            break
        before = place
        proposal = float(value) * math.exp((gap - _CLOSE / 3) / slope)
        if proposal >= ceiling:
            proposal = (float(best) + ceiling) / 2
        value = _rounded(Fraction(proposal))
    return best


def _last(total: Callable[[int], Fraction], limit: Fraction, start: int) -> int:
    """The last integer with ``total(number) <= limit`` (0 if there is none), by secants in logarithms."""
    low, high = 0, 0  # high = 0: nothing too large was seen yet
    value, power = start, 0.7
    before: tuple[float, float] | None = None
    while high == 0 or high - low > 1:
        reached = total(value)
        low, high = (value, high) if reached <= limit else (low, value)
        place = math.log(value), _log_of(reached, limit)
        if before is not None and place[0] != before[0]:
            power = min(2.0, max(0.3, (place[1] - before[1]) / (place[0] - before[0])))
        before = place
        proposal = math.floor(value * math.exp((math.log(limit) - place[1]) / power))
        value = max(low + 1, proposal) if high == 0 else min(high - 1, max(low + 1, proposal))
    return low


def _log_of(reached: Fraction, limit: Fraction) -> float:
    """Where a total stands, for the next proposal; one that delta pays for altogether is zero, which has no log."""
    return math.log(max(reached, limit / 1000))


def _rounded(value: Fraction) -> Fraction:
    context = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
