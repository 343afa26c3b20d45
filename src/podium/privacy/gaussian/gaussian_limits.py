"""The budget of a Gaussian filter: one number, fixed in advance, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, probability
from podium.privacy.costs import Cost
from podium.privacy.guarantee import Guarantee
from podium.privacy.rounding import decimal_repr, significant_below
from podium.privacy.theorems.conversion import split_delta
from podium.privacy.theorems.gaussian import calibrate_gaussian

__all__ = ["GaussianLimits"]


@dataclass(frozen=True, slots=True)
class GaussianLimits:
    """Where a Gaussian filter stops: at ``mu_squared``, and where failures add up to ``delta_for_calls``.

    What is charged against ``mu_squared`` alone has the profile of Gaussian noise of this mu for every epsilon at once,
    failures apart. A ledger also admits by the sum of epsilons: it promises ``epsilon`` and ``delta``, and no other
    pair. Both are fixed: ``mu_squared`` less what is still free says nothing about what was answered so far.
    """

    __repr__ = decimal_repr

    epsilon: Fraction
    delta: Fraction
    delta_for_calls: Fraction
    mu_squared: Fraction

    @classmethod
    def of(cls, epsilon: Number, delta: Number, share: Number | None = None) -> GaussianLimits:
        """The limits under which (epsilon, delta) holds for everything that passes.

        ``share`` (half of delta, unless given) is for the mechanisms' own failures.
        """
        loss, whole = positive_fraction(epsilon, "epsilon"), probability(delta, "delta")
        used = whole / 2 if share is None else probability(share, "delta_for_calls", zero=True)
        if used >= whole:
            raise InvalidArgument("delta_for_calls", share, allowed=f"less than the total delta={delta}")
        mu = calibrate_gaussian(loss, split_delta(whole, used))
        return cls(loss, whole, used, significant_below(mu**2))

    @property
    def guarantee(self) -> Guarantee:
        """What holds at every epsilon for what was admitted by ``mu_squared`` alone."""
        cost = Cost(epsilon=None, rho=self.mu_squared / 2, delta=self.delta_for_calls)
        return Guarantee(cost, gaussian=True)

    def delta_at(self, epsilon: Number) -> Fraction:
        """The delta that holds at this epsilon; at the epsilon of the limits it is at most their delta."""
        return self.guarantee.delta(epsilon=epsilon)
