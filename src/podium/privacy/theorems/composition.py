"""Composition theorems, one function each: the total epsilon of many mechanisms at a given delta.

Unless a docstring says otherwise, the mechanisms may be chosen adaptively (each may depend on the answers so far), but
their epsilons are fixed in advance. Results are exact rationals that are never below the theorem's value. The theorems
for bounded-range selections that need longer computations are in ``adaptive_optimum`` and ``nonadaptive``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, positive_fraction, positive_integer, probability
from podium.privacy.rounding import above, certified_bound, significant_above
from podium.privacy.theorems.bounded_range import bounded_range_renyi, bounded_range_rho, bounded_range_rho_simple
from podium.privacy.theorems.conversion import renyi_epsilon, zcdp_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import flint

__all__ = [
    "DiscretePoint",
    "advanced",
    "basic",
    "bounded_range_curve",
    "bounded_range_three_terms",
    "bounded_range_zcdp",
    "limited_domain_delta",
    "optimal_pure",
    "optimal_pure_delta",
    "optimal_pure_discrete",
    "repeated_curve",
]


def basic(epsilons: Iterable[Number]) -> Fraction:
    """Sum of the epsilons (Dwork, McSherry, Nissim & Smith 2006). Exact, and pure."""
    return sum((count * epsilon for epsilon, count in _tally(epsilons).items()), Fraction(0))


def advanced(epsilons: Iterable[Number], delta: Number) -> Fraction:
    """Advanced composition, Durfee & Rogers 2019, Theorem 3 (after Dwork, Rothblum & Vadhan 2010).

    The smaller of the sum and ``sum e_i tanh(e_i/2) + sqrt(2 sum e_i^2 ln(1/delta))``. Holds for every
    epsilon-DP mechanism.
    """
    tally, target = _tally(epsilons), probability(delta, "delta")
    return _smallest(tally, [lambda: _drift_and_spread(tally, target)])


def bounded_range_three_terms(epsilons: Iterable[Number], delta: Number, *, sharp: bool = False) -> Fraction:
    """Bounded-range composition, Durfee & Rogers 2019, Lemma 4.4 (Theorem 1 for equal epsilons).

    The smallest of the two terms of advanced composition and ``sum e_i^2/2 + sqrt(sum e_i^2/2 ln(1/delta))``.
    With ``sharp`` the first part of the third term is ``sum e_i^2/8``, which holds as well, because the mean
    loss of an epsilon-bounded-range mechanism is at most e^2/8 and its range is e (Hoeffding, Azuma).
    """
    tally, target = _tally(epsilons), probability(delta, "delta")
    squares = _squares(tally)
    drift = squares / 8 if sharp else squares / 2
    return _smallest(
        tally,
        [
            lambda: _drift_and_spread(tally, target),
            lambda: ball(drift) + (ball(squares / 2) * -ball(target).log()).sqrt(),
        ],
    )


def bounded_range_zcdp(epsilons: Iterable[Number], delta: Number, *, simple: bool = False) -> Fraction:
    """Sum of the bounded-range zCDP constants, converted (Canonne, Kamath & Steinke 2020).

    ``simple`` uses e^2/8 for each selection instead of the tight constant. This is the theorem whose sums a
    filter may keep, so it also covers epsilons that are chosen on the way, against a total fixed in advance.
    """
    constant = bounded_range_rho_simple if simple else bounded_range_rho
    rho = sum((count * constant(epsilon) for epsilon, count in _tally(epsilons).items()), Fraction(0))
    return zcdp_epsilon(rho, delta)


def bounded_range_curve(epsilons: Iterable[Number], delta: Number) -> Fraction:
    """Sum of the bounded-range Renyi curves, converted at the best order (docs/proofs/accounting.md)."""
    tally, target = _tally(epsilons), probability(delta, "delta")

    def curve(excess: flint.arb) -> flint.arb:
        terms = (count * bounded_range_renyi(ball(epsilon), excess) for epsilon, count in tally.items())
        return sum(terms, ball(0))

    return min(basic(tally.elements()), renyi_epsilon(curve, target))


def repeated_curve(epsilon: Fraction, k: int, delta: Fraction) -> Fraction:
    """``bounded_range_curve`` for k equal epsilons, whatever k is."""
    return min(k * epsilon, renyi_epsilon(lambda excess: k * bounded_range_renyi(ball(epsilon), excess), delta))


def optimal_pure(epsilon: Number, k: int, delta: Number) -> Fraction:
    """Optimal composition of k epsilon-DP mechanisms (Kairouz, Oh & Viswanath 2015, Theorem 3.3).

    The privacy profile of k randomised responses is linear in ``e^total`` between the points
    ``(k - 2i) epsilon``, so the total at ``delta`` is the logarithm of a quotient of two finite sums.
    """
    single, times, target = positive_fraction(epsilon, "epsilon"), positive_integer(k, "k"), probability(delta, "delta")

    def total() -> flint.arb:
        size = (1 + ball(single).exp()) ** times
        for index, upper, lower in _partial_sums(single, times):
            lower_end = (times - 2 * index) * single
            profile = (upper - lower * ball(lower_end).exp()) / size
            # Undecided counts as reached: at the common end of two pieces both formulas agree.
            if not profile < ball(target):
                return ((upper - ball(target) * size) / lower).log()
            if lower_end <= 0:
                break
        return ball(0)

    return min(times * single, max(Fraction(0), certified_bound(total, above)))


def optimal_pure_delta(epsilon: Number, k: int, total: Number) -> Fraction:
    """The delta at which k epsilon-DP mechanisms are (total, delta)-DP; the same theorem."""
    single, times = positive_fraction(epsilon, "epsilon"), positive_integer(k, "k")
    target = exact_fraction(total, "total")
    used = sum(1 for index in range(times + 1) if (times - 2 * index) * single > target)
    if used == 0:
        return Fraction(0)

    def profile() -> flint.arb:
        upper, lower = next((upper, lower) for index, upper, lower in _partial_sums(single, times) if index == used)
        return (upper - lower * ball(target).exp()) / (1 + ball(single).exp()) ** times

    return certified_bound(profile, significant_above)


@dataclass(frozen=True, slots=True)
class DiscretePoint:
    """One point of the discrete theorem: total ``epsilon = (k - 2 index) e`` holds at ``delta``."""

    index: int
    epsilon: Fraction
    delta: Fraction


def optimal_pure_discrete(epsilon: Number, k: int, delta: Number) -> DiscretePoint:
    """Durfee & Rogers 2019, Lemma A.1: the smallest (k - 2i) epsilon with delta_i <= delta, and its delta_i.

    Their Figure 1 compares other bounds at that delta_i, which can be far smaller than ``delta``.
    """
    single, times, target = positive_fraction(epsilon, "epsilon"), positive_integer(k, "k"), probability(delta, "delta")
    index = int((times - optimal_pure(single, times, target) / single) // 2)
    while True:
        point = (times - 2 * index) * single
        profile = optimal_pure_delta(single, times, point)
        if profile <= target:
            return DiscretePoint(index, point, profile)
        index -= 1


def limited_domain_delta(delta: Number, calls: int) -> Fraction:
    """Failure probability of ``calls`` limited-domain calls with parameter delta: ``1 - (1 + delta)^-calls``.

    Sharper than the 2*calls*delta of Durfee & Rogers 2019, Theorem 2 (docs/proofs/accounting.md). Exact.
    """
    parameter = probability(delta, "delta")
    return 1 - 1 / (1 + parameter) ** positive_integer(calls, "calls")


def _tally(epsilons: Iterable[Number]) -> Counter[Fraction]:
    tally = Counter(epsilons)
    exact: Counter[Fraction] = Counter()
    for epsilon, count in tally.items():
        exact[positive_fraction(epsilon, "epsilon")] += count
    if not exact:
        raise InvalidArgument("epsilons", (), allowed="at least one epsilon above 0")
    return exact


def _squares(tally: Mapping[Fraction, int]) -> Fraction:
    return sum((count * epsilon**2 for epsilon, count in tally.items()), Fraction(0))


def _drift_and_spread(tally: Mapping[Fraction, int], delta: Fraction) -> flint.arb:
    drift = sum((count * ball(epsilon) * (ball(epsilon) / 2).tanh() for epsilon, count in tally.items()), ball(0))
    return drift + (ball(2 * _squares(tally)) * -ball(delta).log()).sqrt()


def _smallest(tally: Counter[Fraction], terms: list[Callable[[], flint.arb]]) -> Fraction:
    return min([basic(tally.elements()), *(certified_bound(term, above) for term in terms)])


def _partial_sums(epsilon: Fraction, k: int) -> Iterator[tuple[int, flint.arb, flint.arb]]:
    """For i = 1, ..., k+1: the sums over l < i of C(k,l) e^((k-l) epsilon) and of C(k,l) e^(l epsilon)."""
    unit = ball(epsilon).exp()
    upper, lower, binomial = ball(0), ball(0), 1
    rising, falling = ball(1), ball(k * epsilon).exp()
    for index in range(k + 1):
        upper += ball(binomial) * falling
        lower += ball(binomial) * rising
        yield index + 1, upper, lower
        binomial = binomial * (k - index) // (index + 1)
        rising, falling = rising * unit, falling / unit
