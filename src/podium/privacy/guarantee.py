"""Guarantees: what holds for any one user, exactly, and what it means as (epsilon, delta)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, positive_fraction, probability
from podium.privacy.costs import Cost, worst_case
from podium.privacy.documents import StoredDocument
from podium.privacy.events import Event, is_real_gaussian
from podium.privacy.rounding import above, certified_bound, display
from podium.privacy.theorems.best_bound import best_bound
from podium.privacy.theorems.conversion import pure_delta, split_delta, zcdp_delta, zcdp_epsilon
from podium.privacy.theorems.gaussian import gaussian_delta, gaussian_epsilon
from podium.privacy.theorems.profile import Profile
from podium.user_columns import UserColumns

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Guarantee", "total", "unit_name", "unit_words"]

_MIN_PURE, _MIN_EPSILON, _MAX_EPSILON = Fraction(1, 10**30), Fraction(1, 10**12), 10**9
_MIN_DELTA = Fraction(1, 10**100)

_VERSION = 1
_MAX_SUMS = 100_000
_GAUSSIAN_VERSION = 2


def unit_name(user: UserColumns | None) -> str:
    """Who is protected, in a sentence: the column by name, in which nothing can move a cursor; or just a user.

    Several columns are named as a pair, or as a combination.
    """
    if user is None:
        return "user"
    if isinstance(user, str):
        return _column_name(user)
    *some, last = map(_column_name, user)
    return f"{'combination' if some[1:] else 'pair'} of {', '.join(some)} and {last}"


def unit_words(user: UserColumns) -> str:
    """The same where columns need no quotes."""
    return user if isinstance(user, str) else unit_name(user).replace("`", "")


def _column_name(name: str) -> str:
    return f"`{name}`" if name.isprintable() else repr(name)


@dataclass(frozen=True, slots=True)
class Guarantee(StoredDocument):
    """A bound on what any one user, added or removed, can change. Smaller is stronger.

    Build one with ``pure``, ``approximate``, ``zcdp``, ``approximate_zcdp`` or ``profile``. The sum ``a + b`` is what
    holds when both mechanisms run, the second possibly chosen after seeing the first's answer. A pure loss is
    also a zCDP loss, and both are carried along, so that sums do not depend on the order of adding.

    ``gaussian`` says that all the loss is that of real Gaussian noise whose scales, or a bound on whose sum of mu^2,
    were fixed beforehand, so that the exact theorem applies with mu^2 = 2 rho: it gives a smaller epsilon than the
    rho alone.

    ``events`` are what a mechanism may run, fixed beforehand: with them ``epsilon(delta=...)`` is what ``best_bound``
    gives. They are neither stored nor added up, and a release has none.

    ``a <= b`` means that a implies b. Two guarantees may be incomparable. True is a proof; False may
    also mean that the conversion of a zCDP loss is too coarse to show it, as it is for epsilons close to 0.
    """

    cost: Cost
    profiles: tuple[Profile, ...] = field(default=(), kw_only=True)
    gaussian: bool = field(default=False, kw_only=True)
    events: tuple[Event, ...] = field(default=(), kw_only=True, compare=False)

    @classmethod
    def pure(cls, epsilon: Number) -> Guarantee:
        """epsilon-differential privacy; it implies epsilon^2/2-zCDP (Bun & Steinke 2016)."""
        loss = positive_fraction(epsilon, "epsilon")
        return cls(Cost(epsilon=loss, rho=loss**2 / 2))

    @classmethod
    def approximate(cls, epsilon: Number, delta: Number) -> Guarantee:
        """(epsilon, delta)-differential privacy; delta = 0 is the pure kind."""
        loss = positive_fraction(epsilon, "epsilon")
        return cls(Cost(epsilon=loss, rho=loss**2 / 2, delta=probability(delta, "delta", zero=True)))

    @classmethod
    def of(cls, epsilon: Number, delta: Number) -> Guarantee:
        """(epsilon, delta) as stated for a question, a schedule or a data set, in the range that can be planned.

        Within this range, every mechanism that a plan picks can be calibrated, sampled and recorded at a cost that
        depends on public numbers only, so no sampler refuses later. Outside it, an answer would be pure noise or
        would protect nobody.
        """
        loss, slack = positive_fraction(epsilon, "epsilon"), probability(delta, "delta", zero=True)
        if not (_MIN_EPSILON if slack else _MIN_PURE) <= loss <= _MAX_EPSILON:
            allowed = "1e-12 to 1e9 where delta is above 0" if slack else "1e-30 to 1e9 where delta is 0"
            raise InvalidArgument("epsilon", epsilon, allowed=f"a number from {allowed}", hint="A usual choice is 1.")
        if 0 < slack < _MIN_DELTA:
            raise InvalidArgument(
                "delta",
                delta,
                allowed="0, or a number of at least 1e-100 and below 1",
                hint="A usual choice is one over the square of the number of users.",
            )
        return cls.approximate(epsilon, delta)

    @classmethod
    def zcdp(cls, rho: Number) -> Guarantee:
        """Zero-concentrated differential privacy: every Renyi divergence of order a is at most a*rho."""
        return cls(Cost(epsilon=None, rho=positive_fraction(rho, "rho")))

    @classmethod
    def approximate_zcdp(cls, rho: Number, delta: Number) -> Guarantee:
        """rho-zCDP except with probability delta (Bun & Steinke 2016, Definition 8.1)."""
        return cls(Cost(epsilon=None, rho=positive_fraction(rho, "rho"), delta=probability(delta, "delta", zero=True)))

    @classmethod
    def profile(cls, points: Iterable[tuple[Number, Number]]) -> Guarantee:
        """A general privacy profile: (epsilon, delta) pairs that all hold."""
        return cls(Cost.nothing(), profiles=(Profile(points),))

    @property
    def rho(self) -> Fraction | None:
        """The zCDP constant (up to ``cost.delta``); None if only a profile is known."""
        return None if self.profiles else self.cost.rho

    def epsilon(self, *, delta: Number | None = None) -> Fraction:
        """The smallest epsilon that this guarantee gives at ``delta`` (its own delta if none is given).

        Rounded up to a multiple of 2^-64 where it is not exact.
        """
        target = self._own_delta() if delta is None else probability(delta, "delta", zero=True)
        value = self._epsilon_at(target)
        if value is None:
            raise InvalidArgument(
                "delta",
                delta,
                allowed=f"a number above the {display(self._own_delta())} at which this guarantee fails",
                hint="A zCDP loss has no finite epsilon at delta = 0; a usual choice is 1e-6.",
            )
        best = _best_epsilon(self.events, target) if self.events else None
        return value if best is None else min(value, best)

    def delta(self, *, epsilon: Number) -> Fraction:
        """The smallest delta that this guarantee gives at ``epsilon``, rounded up to 64 significant bits."""
        target = exact_fraction(epsilon, "epsilon")
        if target < 0:
            raise InvalidArgument("epsilon", epsilon, allowed="a number, 0 or more")
        if not self.profiles:
            return _cost_delta(self.cost, target, gaussian=self.gaussian)
        front = reduce(Profile.combine, self.profiles)
        if self.cost == Cost.nothing():
            return front.delta(target)
        options = [loss + _cost_delta(self.cost, target - at) for at, loss in front.points if at <= target]
        return min([Fraction(1), *options])

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        profiles = tuple(sorted(self.profiles + other.profiles))
        kinds = {part.gaussian for part in (self, other) if part.cost.rho or part.cost.epsilon != 0}
        return Guarantee(self.cost + other.cost, profiles=profiles, gaussian=kinds == {True} and not profiles)

    def __le__(self, other: Guarantee) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        if self.profiles == other.profiles and self.cost <= other.cost and (self.gaussian or not other.gaussian):
            return True
        claims = other._claims()
        return bool(claims) and all(self._holds_at(epsilon, delta) for epsilon, delta in claims)

    def __ge__(self, other: Guarantee) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return other <= self

    def __lt__(self, other: Guarantee) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return self <= other and not other <= self

    def __gt__(self, other: Guarantee) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return other < self

    def sentence(self, *, delta: Number | None = None, user: UserColumns | None = None) -> str:
        """The guarantee in words; as one (epsilon, delta) pair if ``delta`` is given. Numbers round up.

        ``user`` is the column whose values are protected, where it is known. Of several columns together none is.
        """
        many = f"; one {_column_name(user[0])} may be many" if isinstance(user, tuple) else ""
        whom = f"for any one {unit_name(user)}, added or removed{many}"
        if delta is not None:
            target = probability(delta, "delta", zero=True)
            return f"{_pair(self.epsilon(delta=target), target)} {whom}"
        if self.cost == Cost.nothing() and not self.profiles:
            return f"independent of the data {whom}"
        if self.cost.delta >= 1:
            return "no guarantee at all: the failure probabilities add up to 1"
        plain = [] if self.cost == Cost.nothing() else [" and ".join(self._parts())]
        return f"{', composed with '.join([*plain, *map(_profile_part, self.profiles)])} {whom}"

    @property
    def stated(self) -> Guarantee:
        """The same without events: what is said of a release does not depend on whether it was stored meanwhile."""
        return replace(self, events=()) if self.events else self

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        cost = repr(self.cost).removeprefix("Cost(").removesuffix(")")
        profiles = f", profiles={list(self.profiles)!r}" if self.profiles else ""
        return f"Guarantee({cost}{profiles}{', gaussian=True' if self.gaussian else ''})"

    def to_dict(self) -> dict[str, Any]:
        """A JSON object with every number as text."""
        pure = None if self.cost.epsilon is None else str(self.cost.epsilon)
        document = {
            "version": _VERSION,
            "epsilon": pure,
            "rho": str(self.cost.rho),
            "delta": str(self.cost.delta),
            "profiles": [[[str(a), str(b)] for a, b in profile.points] for profile in self.profiles],
        }
        # Written only where it says something, so that older readers still read every older kind of guarantee.
        return document | {"version": _GAUSSIAN_VERSION, "gaussian": True} if self.gaussian else document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Guarantee:
        """The guarantee that ``to_dict`` wrote."""
        fields = {"version", "epsilon", "rho", "delta", "profiles"}
        allowed = f"version {_VERSION} with {sorted(fields)}"
        if not isinstance(document, Mapping):
            raise InvalidArgument("guarantee", document, allowed=allowed)
        gaussian = document.get("version") == _GAUSSIAN_VERSION and document.get("gaussian") is True
        if set(document) - ({"gaussian"} if gaussian else set()) != fields or (
            document["version"] != _VERSION and not gaussian
        ):
            raise InvalidArgument("guarantee", dict(document), allowed=allowed)
        cost = Cost(epsilon=document["epsilon"], rho=document["rho"], delta=document["delta"])
        try:
            profiles = [Profile((a, b) for a, b in points) for points in document["profiles"]]
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument("profiles", document["profiles"], allowed="lists of (epsilon, delta) pairs") from None
        if math.prod(len(profile.points) for profile in profiles) > _MAX_SUMS:
            # Composing them would try every choice of one point from each.
            raise InvalidArgument("profiles", f"{len(profiles)} profiles", allowed=f"{_MAX_SUMS} choices of points")
        return cls(cost, profiles=tuple(sorted(profiles)), gaussian=gaussian)

    def _parts(self) -> list[str]:
        epsilon, rho, delta = self.cost.epsilon, self.cost.rho, self.cost.delta
        parts = [] if epsilon is None else [_pair(epsilon, delta)]
        if epsilon is None or rho < epsilon**2 / 2:
            kind = f"{display(_root(2 * rho))}-Gaussian DP" if self.gaussian else f"{display(rho)}-zCDP"
            parts.append(f"{display(delta)}-approximately {kind}" if delta else kind)
        return parts

    def _own_delta(self) -> Fraction:
        return self.cost.delta + sum((profile.points[-1][1] for profile in self.profiles), Fraction(0))

    def _epsilon_at(self, delta: Fraction) -> Fraction | None:
        if not self.profiles:
            return _cost_epsilon(self.cost, delta, gaussian=self.gaussian)
        front = reduce(Profile.combine, self.profiles)
        if self.cost == Cost.nothing():
            return front.epsilon(delta)
        options = ((at, _cost_epsilon(self.cost, delta - loss)) for at, loss in front.points if loss <= delta)
        return min((at + rest for at, rest in options if rest is not None), default=None)

    def _claims(self) -> list[tuple[Fraction, Fraction]]:
        """(epsilon, delta) pairs that together are all that this guarantee says; empty if there are none such."""
        cost = self.cost
        if len(self.profiles) == 1 and cost == Cost.nothing():
            return list(self.profiles[0].points)
        if not self.profiles and cost.epsilon is not None and cost.rho >= cost.epsilon**2 / 2:
            return [(cost.epsilon, cost.delta)]
        return []

    def _holds_at(self, epsilon: Fraction, delta: Fraction) -> bool:
        if self.delta(epsilon=epsilon) <= delta:
            return True
        # Each conversion rounds up once; either of the two is proof enough.
        found = self._epsilon_at(delta)
        return found is not None and found <= epsilon


def total(events: Iterable[Event]) -> Guarantee:
    """What holds for all these events together, whatever came out (basic composition, in both currencies).

    Where all the loss is real Gaussian noise, the exact theorem comes on top. The events must have been fixed
    beforehand for that, as those of one mechanism or of a plan are; costs that were chosen on the way are for a filter.
    """
    tally = Counter(events)
    losses = [event for event in tally if event.rho]
    gaussian = bool(losses) and all(is_real_gaussian(event) for event in losses)
    return Guarantee(worst_case(tally.elements()), gaussian=gaussian)


@lru_cache(maxsize=1024)
def _best_epsilon(events: tuple[Event, ...], delta: Fraction) -> Fraction | None:
    """None where their own deltas add up to more; a guarantee may know that they fail with less together."""
    return None if worst_case(events).delta > delta else best_bound(events, delta).epsilon


def _root(square: Fraction) -> Fraction:
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if exact**2 == square:
        return exact
    return certified_bound(lambda: ball(square).sqrt(), above)


def _pair(epsilon: Fraction, delta: Fraction) -> str:
    if delta == 0:
        return f"{display(epsilon)}-differentially private"
    return f"({display(epsilon)}, {display(delta)})-differentially private"


def _profile_part(profile: Profile) -> str:
    return " and ".join(_pair(epsilon, delta) for epsilon, delta in profile.points)


def _cost_epsilon(cost: Cost, delta: Fraction, *, gaussian: bool = False) -> Fraction | None:
    if cost.delta >= 1 or delta < cost.delta:
        return None
    rest = split_delta(delta, cost.delta)
    options = [] if cost.epsilon is None else [_pure_epsilon(cost.epsilon, rest)]
    if rest > 0 or cost.rho == 0:
        options.append(zcdp_epsilon(cost.rho, rest) if cost.rho else Fraction(0))
    if gaussian and rest > 0:
        options.append(gaussian_epsilon(2 * cost.rho, rest))
    return min(options, default=None)


def _pure_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The profile of randomised response, solved for epsilon: ``ln(e^epsilon - delta (1 + e^epsilon))``."""
    if delta == 0:
        return epsilon
    if delta >= pure_delta(epsilon, Fraction(0)):
        return Fraction(0)
    value = certified_bound(lambda: ball(epsilon) + (-ball(delta) * (1 + ball(-epsilon).exp())).log1p(), above)
    return min(epsilon, max(Fraction(0), value))


def _cost_delta(cost: Cost, epsilon: Fraction, *, gaussian: bool = False) -> Fraction:
    options = [zcdp_delta(cost.rho, epsilon)]
    if gaussian:
        options.append(gaussian_delta(2 * cost.rho, epsilon))
    if cost.epsilon is not None:
        options.append(pure_delta(cost.epsilon, epsilon))
    return min(Fraction(1), cost.delta + (1 - cost.delta) * min(options))
