"""The smallest sound total for a schedule of events, and the theorem that gives it.

A theorem is used only if its conditions hold for every event; otherwise the reason is recorded. Two conditions
matter most. Optimal and bounded-range theorems need epsilons that were *fixed in advance*: if they were chosen
after seeing answers, only a filter's sums are sound. And the non-adaptive optimum is never used, because
peeling is adaptive.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ball, probability
from podium.privacy.costs import Cost, worst_case
from podium.privacy.events import (
    BottomEvent,
    CorrelatedNoise,
    Event,
    GaussianNoise,
    HiddenItems,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
    is_real_gaussian,
)
from podium.privacy.proofs import Proof
from podium.privacy.rounding import display
from podium.privacy.theorems.adaptive_optimum import adaptive_optimum, resolution_for, scheduled_optimum
from podium.privacy.theorems.composition import advanced, bounded_range_three_terms, optimal_pure
from podium.privacy.theorems.conversion import renyi_epsilon, split_delta, zcdp_epsilon
from podium.privacy.theorems.gaussian import gaussian_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import flint

__all__ = ["Bound", "Candidate", "Theorem", "best_bound"]

_MAX_MULTIPLE = 12
"""Epsilons that are multiples of one unit go through the recursion one by one if no multiple is larger."""
_MAX_EVENTS = 20_000
_ONLY_DELTA = (LimitedDomainCall, HiddenItems)


class Theorem(StrEnum):
    """The theorems that ``best_bound`` weighs, in the order in which a tie is decided: simplest first."""

    BASIC = "basic composition"
    ADVANCED = "advanced composition"
    OPTIMAL_PURE = "optimal composition of pure mechanisms"
    THREE_TERMS = "bounded-range composition, three terms"
    THREE_TERMS_SHARP = "bounded-range composition, three terms with e^2/8"
    ZCDP = "zCDP"
    RENYI = "Renyi curve"
    ADAPTIVE_OPTIMUM = "adaptive bounded-range optimum"
    GAUSSIAN = "exact composition of Gaussian noise"

    @property
    def source(self) -> str:
        """Author, year and number."""
        return _SOURCES[self]

    @property
    def proof(self) -> Proof | None:
        """The proof in this repository; None if the cited paper has the whole proof."""
        return _PROOFS.get(self)


_PROOFS = {
    Theorem.ZCDP: Proof("docs/proofs/accounting.md", "section 2"),
    Theorem.ADAPTIVE_OPTIMUM: Proof("docs/proofs/accounting.md", "section 3"),
    # Rounds choose their noise on the way, which a theorem for mu_1, mu_2, ... fixed beforehand does not cover.
    Theorem.GAUSSIAN: Proof("docs/proofs/adaptive.md", "Theorem 2"),
}
_SOURCES = {
    Theorem.BASIC: "Dwork, McSherry, Nissim & Smith 2006",
    Theorem.ADVANCED: "Durfee & Rogers 2019, Theorem 3",
    Theorem.OPTIMAL_PURE: "Kairouz, Oh & Viswanath 2015, Theorem 3.3",
    Theorem.THREE_TERMS: "Durfee & Rogers 2019, Theorem 1",
    Theorem.THREE_TERMS_SHARP: "Durfee & Rogers 2019, Theorem 1, mean loss e^2/8",
    Theorem.ZCDP: "Bun & Steinke 2016; Canonne, Kamath & Steinke 2020",
    Theorem.RENYI: "Mironov 2017; Canonne, Kamath & Steinke 2020",
    Theorem.ADAPTIVE_OPTIMUM: f"{_PROOFS[Theorem.ADAPTIVE_OPTIMUM].file}, after Dong, Durfee & Rogers 2020",
    Theorem.GAUSSIAN: f"Balle & Wang 2018, Theorem 8; {_PROOFS[Theorem.GAUSSIAN]}, after Smith & Thakurta 2022",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One theorem on one schedule: its total epsilon, or why it was refused."""

    theorem: Theorem
    epsilon: Fraction | None
    refused: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Bound:
    """The schedule is (epsilon, delta)-DP by ``theorem``; ``considered`` lists what every theorem gave."""

    epsilon: Fraction
    delta: Fraction
    theorem: Theorem
    considered: tuple[Candidate, ...]


def best_bound(events: Iterable[Event], delta: Number, *, fixed_in_advance: bool = True) -> Bound:
    """The smallest sound total epsilon of these events at ``delta``, and which theorem gave it.

    The mechanisms may be chosen adaptively. ``fixed_in_advance`` says that their *costs* were not: the events are the
    plan (or the most that a stopping rule such as k* and l* lets through), known before the first answer and listed
    in the order in which they run, which matters to the adaptive optimum where epsilons differ. With False the events
    stand for the totals of a filter that was set beforehand, and only sums are sound.

    The events' own deltas are taken out of ``delta`` first; what remains is for the theorem.
    """
    target = probability(delta, "delta", zero=True)
    schedule = _Schedule.of(events, target, fixed_in_advance=fixed_in_advance)
    considered = tuple(_consider(theorem, schedule) for theorem in Theorem)
    sound = [(candidate.epsilon, candidate.theorem) for candidate in considered if candidate.epsilon is not None]
    if not sound:
        raise InvalidArgument(
            "delta",
            delta,
            allowed=f"more than the {display(schedule.cost.delta)} that the events fail with themselves",
            hint="Gaussian noise has no finite epsilon without some delta for the conversion.",
        )
    # Theorems are listed simplest first, and min keeps the first of equals.
    epsilon, theorem = min(sound, key=lambda pair: pair[0])
    return Bound(epsilon, target, theorem, considered)


@dataclass(frozen=True, slots=True)
class _Schedule:
    """Events by kind, without those that cost only delta, and the delta that is left for a theorem."""

    tally: Counter[Event]
    order: tuple[Event, ...]
    cost: Cost
    delta: Fraction
    fixed: bool

    @classmethod
    def of(cls, events: Iterable[Event], delta: Fraction, *, fixed_in_advance: bool) -> _Schedule:
        given = tuple(events)
        cost = worst_case(given)
        losses = tuple(event for event in given if not isinstance(event, _ONLY_DELTA))
        return cls(Counter(losses), losses, cost, split_delta(delta, cost.delta), fixed_in_advance)

    def epsilons(self) -> list[Fraction]:
        """The worst-case epsilon of every event; only asked for when all are finite."""
        return [pure for event in self.tally.elements() if (pure := _reserved(event)) is not None]

    def obstacle(self, *, fixed: bool = True, pure: bool = False, bounded_range: bool = False) -> str:
        """Why a theorem with these conditions does not apply; empty if it does."""
        if self.delta == 0:
            return "no delta is left for it"
        if fixed and not self.fixed:
            return "the epsilons were chosen adaptively; only a filter's sums are sound"
        others = [event for event in self.tally if not isinstance(event, (Selection, BottomEvent, SetSelection))]
        if bounded_range and others:
            return f"{type(others[0]).__name__} is not a bounded-range selection"
        unbounded = [event for event in self.tally if event.epsilon is None]
        if pure and unbounded:
            return f"{type(unbounded[0]).__name__} has no finite epsilon"
        return ""


def _reserved(event: Event) -> Fraction | None:
    return event.reserved if isinstance(event, PureMechanism) else event.epsilon


def _consider(theorem: Theorem, schedule: _Schedule) -> Candidate:
    if not schedule.tally:
        return Candidate(theorem, Fraction(0))
    result = _ATTEMPTS[theorem](schedule)
    if isinstance(result, str):
        return Candidate(theorem, None, refused=result)
    return Candidate(theorem, result)


def _basic(schedule: _Schedule) -> Fraction | str:
    epsilon = schedule.cost.epsilon
    return "an event has no finite epsilon" if epsilon is None else epsilon


def _advanced(schedule: _Schedule) -> Fraction | str:
    return schedule.obstacle(pure=True) or advanced(schedule.epsilons(), schedule.delta)


def _optimal_pure(schedule: _Schedule) -> Fraction | str:
    obstacle = schedule.obstacle(pure=True)
    if obstacle:
        return obstacle
    epsilons = schedule.epsilons()
    if len(epsilons) > _MAX_EVENTS:
        return f"more than {_MAX_EVENTS} events take too long"
    # Stated for equal epsilons; an e-DP mechanism is e'-DP for every larger e'.
    return optimal_pure(max(epsilons), len(epsilons), schedule.delta)


def _three_terms(schedule: _Schedule) -> Fraction | str:
    obstacle = schedule.obstacle(bounded_range=True)
    return obstacle or bounded_range_three_terms(schedule.epsilons(), schedule.delta)


def _three_terms_sharp(schedule: _Schedule) -> Fraction | str:
    obstacle = schedule.obstacle(bounded_range=True)
    return obstacle or bounded_range_three_terms(schedule.epsilons(), schedule.delta, sharp=True)


def _zcdp(schedule: _Schedule) -> Fraction | str:
    return schedule.obstacle(fixed=False) or zcdp_epsilon(schedule.cost.rho, schedule.delta)


def _renyi(schedule: _Schedule) -> Fraction | str:
    def curve(excess: flint.arb) -> flint.arb:
        return sum((count * event.renyi_ball(excess) for event, count in schedule.tally.items()), ball(0))

    return schedule.obstacle() or renyi_epsilon(curve, schedule.delta)


def _adaptive_optimum(schedule: _Schedule) -> Fraction | str:
    obstacle = schedule.obstacle(bounded_range=True)
    if obstacle:
        return obstacle
    epsilons = [pure for event in schedule.order if (pure := _reserved(event)) is not None]
    nodes = resolution_for(len(epsilons))
    if nodes is None:
        return f"{len(epsilons)} selections take too long for the recursion"
    multiples = _multiples(epsilons)
    if 1 < max(multiples) <= _MAX_MULTIPLE:
        unit = max(epsilons) / max(multiples)
        return scheduled_optimum(unit, multiples, schedule.delta, resolution=max(1, nodes // max(multiples)))
    # A smaller range is a range of at most the largest one.
    return adaptive_optimum(max(epsilons), len(epsilons), schedule.delta)


def _multiples(epsilons: Sequence[Fraction]) -> list[int]:
    """The same numbers as multiples of the largest number of which all are whole multiples."""
    shared = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    whole = [int(epsilon * shared) for epsilon in epsilons]
    return [number // math.gcd(*whole) for number in whole]


def _gaussian(schedule: _Schedule) -> Fraction | str:
    obstacle = schedule.obstacle()
    others = [event for event in schedule.tally if not isinstance(event, GaussianNoise | CorrelatedNoise)]
    if obstacle or others:
        return obstacle or f"{type(others[0]).__name__} is not Gaussian noise"
    if not all(map(is_real_gaussian, schedule.tally)):
        return "discrete Gaussian noise has no exact theorem"
    return gaussian_epsilon(2 * schedule.cost.rho, schedule.delta)


_ATTEMPTS: Mapping[Theorem, Callable[[_Schedule], Fraction | str]] = MappingProxyType(
    {
        Theorem.BASIC: _basic,
        Theorem.ADVANCED: _advanced,
        Theorem.OPTIMAL_PURE: _optimal_pure,
        Theorem.THREE_TERMS: _three_terms,
        Theorem.THREE_TERMS_SHARP: _three_terms_sharp,
        Theorem.ZCDP: _zcdp,
        Theorem.RENYI: _renyi,
        Theorem.ADAPTIVE_OPTIMUM: _adaptive_optimum,
        Theorem.GAUSSIAN: _gaussian,
    }
)
