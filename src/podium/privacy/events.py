"""Events: an immutable record of what was run, from which every accountant computes its own cost.

The set of events is closed: a receipt written today must be readable, with the same meaning, by any later
version, so each kind has a name, a version and fixed fields, and nothing is looked up by import path.

Each event knows

- ``epsilon``: a bound on the log-likelihood ratio of what came out (None if there is none, as for a Gaussian);
- ``rho``: its zCDP constant, an exact rational, already rounded up;
- ``delta``: the probability with which neither holds;
- ``renyi(order)``: its Renyi divergence, which is what ``best_bound`` adds up.

Which cost where (a wrong choice is a privacy bug, not a looser bound): only an exponential-mechanism selection
*without* gaps or values is a ``Selection`` or ``SetSelection``. Permute-and-flip, noisy-max with exponential or
Laplace noise, and anything that releases gaps is a ``PureMechanism``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, flag, positive_fraction, positive_integer, probability
from podium.privacy.rounding import above, certified_bound, decimal_repr
from podium.privacy.theorems.bounded_range import bounded_range_renyi, bounded_range_rho
from podium.privacy.theorems.correlated import correlated_move

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ApproximateMechanism",
    "BottomEvent",
    "CorrelatedNoise",
    "Event",
    "GaussianNoise",
    "HiddenItems",
    "LaplaceNoise",
    "LimitedDomainCall",
    "PureMechanism",
    "Selection",
    "SetSelection",
    "is_real_gaussian",
    "limited_domain_events",
]


class _Recorded:
    """What all events share: a rational Renyi divergence from the ball that each kind defines."""

    __slots__ = ()
    kind: ClassVar[str]
    version: ClassVar[int] = 1

    def __repr__(self) -> str:
        return decimal_repr(self)

    def renyi(self, order: Number) -> Fraction:
        """Renyi divergence of this order (above 1), rounded up to a multiple of 2^-64."""
        exact = exact_fraction(order, "order")
        if exact <= 1:
            raise InvalidArgument("order", order, allowed="a number above 1")
        return certified_bound(lambda: self.renyi_ball(ball(exact - 1)), above)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Renyi divergence of order ``1 + excess``, as a ball at the current precision."""
        raise NotImplementedError


def _pure_renyi(epsilon: Fraction, excess: flint.arb) -> flint.arb:
    """The worst epsilon-DP pair is randomised response; written so that large orders do not overflow."""
    unit = ball(epsilon)
    return unit + ((-(2 * excess + 1) * unit).exp().log1p() - (-unit).exp().log1p()) / excess


@dataclass(frozen=True, slots=True, init=False, repr=False)
class _BoundedRange(_Recorded):
    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(epsilon, "epsilon"))

    @property
    def rho(self) -> Fraction:
        """Tight bounded-range zCDP constant, a multiple of 2^-64."""
        return bounded_range_rho(self.epsilon)

    @property
    def delta(self) -> Fraction:
        """Zero: the range is bounded always."""
        return Fraction(0)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Worst bounded-range pair of this order."""
        return bounded_range_renyi(ball(self.epsilon), excess)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Selection(_BoundedRange):
    """One item chosen by the exponential mechanism (weights ``e^(epsilon*count)``), nothing else released."""

    kind: ClassVar[str] = "selection"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BottomEvent(_BoundedRange):
    """The bottom symbol of a limited-domain call: a selection like any other, at the same cost.

    Leaving it free is not private: "nothing passed the threshold" is an answer, and it depends on the data.
    """

    kind: ClassVar[str] = "bottom"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SetSelection(_BoundedRange):
    """A whole set (or sequence) chosen in one exponential-mechanism draw: one cost for all of it."""

    kind: ClassVar[str] = "set_selection"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureMechanism(_Recorded):
    """An epsilon-DP mechanism of which nothing more is known, possibly with a cost that depends on the outcome.

    ``epsilon`` bounds the log-likelihood ratio of *what came out*, ``reserved`` that of every outcome. Only a pure
    ledger may settle for ``epsilon``; zCDP adds up functions of the past, so ``rho`` and the Renyi
    divergence always come from ``reserved``.
    """

    kind: ClassVar[str] = "pure_mechanism"
    epsilon: Fraction
    reserved: Fraction

    def __init__(self, epsilon: Number, *, reserved: Number | None = None) -> None:
        worst = positive_fraction(
            epsilon if reserved is None else reserved, "epsilon" if reserved is None else "reserved"
        )
        paid = exact_fraction(epsilon, "epsilon")
        if paid < 0 or paid > worst:
            raise InvalidArgument(
                "epsilon",
                epsilon,
                allowed=f"a number from 0 to reserved={worst}",
                hint="No outcome may cost more than what was reserved for it.",
            )
        object.__setattr__(self, "epsilon", paid)
        object.__setattr__(self, "reserved", worst)

    @property
    def rho(self) -> Fraction:
        """``reserved^2 / 2`` (Bun & Steinke 2016, Proposition 1.4)."""
        return self.reserved**2 / 2

    @property
    def delta(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Randomised response at ``reserved``."""
        return _pure_renyi(self.reserved, excess)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LaplaceNoise(_Recorded):
    """Laplace noise added to values: ``epsilon`` = L1 sensitivity / scale. Not for selections that use it.

    Discrete Laplace noise has no intermediate losses, so it is charged as any epsilon-DP mechanism; the
    continuous constant would be too small for it.
    """

    kind: ClassVar[str] = "laplace_noise"
    epsilon: Fraction
    discrete: bool

    def __init__(self, epsilon: Number, *, discrete: bool = False) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        object.__setattr__(self, "discrete", flag(discrete, "discrete"))

    @property
    def rho(self) -> Fraction:
        """``epsilon + e^-epsilon - 1`` rounded up to a multiple of 2^-64; discrete: ``epsilon^2 / 2``."""
        if self.discrete:
            return self.epsilon**2 / 2
        # Near zero the rounding to the grid would exceed the simpler bound.
        return min(
            self.epsilon**2 / 2, certified_bound(lambda: ball(self.epsilon) + ball(-self.epsilon).expm1(), above)
        )

    @property
    def delta(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Mironov 2017, Proposition 6; discrete: randomised response."""
        if self.discrete:
            return _pure_renyi(self.epsilon, excess)
        unit, width = ball(self.epsilon), 2 * excess + 1
        inner = ((excess + 1) + excess * (-width * unit).exp()) / width
        return unit + inner.log() / excess


class _Gaussian(_Recorded):
    __slots__ = ()

    @property
    def epsilon(self) -> None:
        """None: the log-likelihood ratio is unbounded."""
        return

    @property
    def rho(self) -> Fraction:
        """Half of the squared distance by which one user moves the values, in units of the noise."""
        raise NotImplementedError

    @property
    def delta(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """``order * rho``."""
        return (excess + 1) * ball(self.rho)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianNoise(_Gaussian):
    """Gaussian or discrete Gaussian noise of scale ``sigma`` on values with this squared L2 sensitivity.

    The square is the parameter because it is the rational one: d counts that each move by at most one have
    the squared sensitivity d.
    """

    kind: ClassVar[str] = "gaussian_noise"
    sigma: Fraction
    sensitivity_squared: Fraction
    discrete: bool

    def __init__(self, sigma: Number, *, sensitivity_squared: Number = 1, discrete: bool = False) -> None:
        squared = positive_fraction(sensitivity_squared, "sensitivity_squared")
        if flag(discrete, "discrete") and squared.denominator != 1:
            raise InvalidArgument(
                "sensitivity_squared",
                sensitivity_squared,
                allowed="an integer where the noise is discrete",
                hint="Discrete noise protects integer values only.",
            )
        object.__setattr__(self, "sigma", positive_fraction(sigma, "sigma"))
        object.__setattr__(self, "sensitivity_squared", squared)
        object.__setattr__(self, "discrete", discrete)

    @property
    def rho(self) -> Fraction:
        """``sensitivity^2 / (2 sigma^2)``, exact; the same for discrete noise (Canonne, Kamath & Steinke 2020)."""
        return self.sensitivity_squared / (2 * self.sigma**2)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CorrelatedNoise(_Gaussian):
    """Real Gaussian noise on ``items`` counts at once: ``sigma`` for each alone, ``shared_sigma`` for all alike.

    One user adds from 0 to 1 to each of at most ``max_items`` of the counts, and takes nothing away: the shared noise
    hides that all of them rise together, which is why the noise of each alone may be smaller. For values that one user
    may both raise and lower the cost is higher (docs/proofs/correlated-counts.md).
    """

    kind: ClassVar[str] = "correlated_noise"
    items: int
    max_items: int
    sigma: Fraction
    shared_sigma: Fraction

    def __init__(self, items: int, max_items: int, sigma: Number, shared_sigma: Number) -> None:
        number, most = positive_integer(items, "items"), positive_integer(max_items, "max_items")
        if most > number:
            raise InvalidArgument("max_items", max_items, allowed=f"an integer from 1 to items={number}")
        shared = exact_fraction(shared_sigma, "shared_sigma")
        if shared < 0:
            raise InvalidArgument("shared_sigma", shared_sigma, allowed="a number, 0 or more")
        object.__setattr__(self, "items", number)
        object.__setattr__(self, "max_items", most)
        object.__setattr__(self, "sigma", positive_fraction(sigma, "sigma"))
        object.__setattr__(self, "shared_sigma", shared)

    @property
    def rho(self) -> Fraction:
        """Half of the largest squared distance, in units of the noise, by which one user moves the counts; exact."""
        return correlated_move(self.items, self.max_items, self.sigma**2, self.shared_sigma**2) / 2


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproximateMechanism(_Recorded):
    """An (epsilon, delta)-DP mechanism: with failure probability delta charged, it is a pure one."""

    kind: ClassVar[str] = "approximate_mechanism"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @property
    def rho(self) -> Fraction:
        """``epsilon^2 / 2``: it is delta-approximate rho-zCDP (Bun & Steinke 2016, section 8)."""
        return self.epsilon**2 / 2

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Randomised response at ``epsilon``, given no failure."""
        return _pure_renyi(self.epsilon, excess)


class _OnlyDelta(_Recorded):
    __slots__ = ()

    @property
    def epsilon(self) -> Fraction:
        """Zero: what else was released is charged by events of its own."""
        return Fraction(0)

    @property
    def rho(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def renyi_ball(self, excess: flint.arb) -> flint.arb:
        """Zero."""
        return ball(0) * excess


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LimitedDomainCall(_OnlyDelta):
    """What one limited-domain call costs once, beside its selections: ``delta/(1+delta)`` for the cut domain."""

    kind: ClassVar[str] = "limited_domain_call"
    delta_parameter: Fraction

    def __init__(self, delta_parameter: Number) -> None:
        object.__setattr__(self, "delta_parameter", probability(delta_parameter, "delta_parameter"))

    @property
    def delta(self) -> Fraction:
        """``delta/(1+delta)`` of the mechanism's parameter; l calls together fail with ``1 - (1+delta)^-l``."""
        return self.delta_parameter / (1 + self.delta_parameter)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HiddenItems(_OnlyDelta):
    """What a public threshold costs once: the chance that an item of only one user passes it.

    Where noise is cut off at the threshold, it is the chance that one user's values lie where they could not without
    the user, or the other way round. The noise on everything else is an event of its own.
    """

    kind: ClassVar[str] = "hidden_items"
    delta: Fraction

    def __init__(self, delta: Number) -> None:
        object.__setattr__(self, "delta", probability(delta, "delta"))


Event: TypeAlias = (
    Selection
    | BottomEvent
    | SetSelection
    | PureMechanism
    | LaplaceNoise
    | GaussianNoise
    | CorrelatedNoise
    | ApproximateMechanism
    | LimitedDomainCall
    | HiddenItems
)


def limited_domain_events(epsilon: Number, delta: Number, *, items: int, bottom: bool) -> tuple[Event, ...]:
    """The receipt of one limited-domain call that returned ``items`` items, and bottom after them or not."""
    if items < 0 or (items == 0 and not bottom):
        raise InvalidArgument("items", items, allowed="1 or more, or 0 with the bottom symbol")
    chosen: Iterable[Event] = [Selection(epsilon)] * items
    ending: Iterable[Event] = [BottomEvent(epsilon)] if bottom else []
    return (LimitedDomainCall(delta), *chosen, *ending)


def is_real_gaussian(event: Event) -> bool:
    """Whether all the loss of an event is that of real Gaussian noise, of which the exact theorem holds."""
    return isinstance(event, CorrelatedNoise) or (isinstance(event, GaussianNoise) and not event.discrete)
