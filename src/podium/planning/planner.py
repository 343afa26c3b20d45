"""Plans: which mechanism, with which parameters, and what to expect of it, from public facts alone.

A plan never sees a row. What it predicts follows from the noise, the number of items asked for and the size of
the domain: how far a count must stand out to come back, and what the answer can cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint

from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts
from podium.exact import Number, ball, ball_precision, dyadic_above, rational_bounds
from podium.mechanisms import AdaptiveTopK, LimitedDomain, RisingTopK, TestedTopK
from podium.mechanisms.base import Mechanism, describe
from podium.planning.facts import Facts
from podium.planning.known_domain import known_mechanism
from podium.planning.limits import least_for_counts, require_noise
from podium.privacy import (
    Event,
    Guarantee,
    Theorem,
    bounded_range_rho,
    calibrate_epsilon,
    split_budget,
    total,
    worst_case,
)
from podium.privacy.rounding import display

__all__ = ["Allowance", "GaussianAllowance", "Plan", "allowance_for", "plan_for"]

_MISS = Fraction(1, 20)
_MOST_ITEMS = 1_000
_REACH_BITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one question may use: per selection, per call, and for each count if counts are wanted.

    ``sigma`` is for approximate budgets, ``epsilon_per_count`` for pure ones. ``promise`` is what the whole question
    guarantees where it was calibrated as a whole; None where a ledger adds up what is spent.
    """

    epsilon_per_item: Fraction
    delta_per_call: Fraction = Fraction(0)
    sigma: Fraction | None = None
    epsilon_per_count: Fraction | None = None
    pure: bool = False
    promise: Guarantee | None = None
    theorem: Theorem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianAllowance:
    """What a question in rounds may use: mu^2 of Gaussian noise and delta of thresholds, all rounds together.

    ``per_item`` is set where a ledger plans per item: lists of other lengths that follow from it share its answers.
    """

    mu_squared: Fraction
    delta: Fraction
    per_item: Fraction | None = None
    promise: Guarantee | None = None
    theorem: Theorem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A mechanism, what it needs to read, what it can cost, and why it was picked."""

    facts: Facts
    mechanism: Mechanism | AdaptiveTopK
    measure: MeasureCounts | None
    promise: Guarantee
    why: str
    reach: Fraction
    reach_sentence: str
    epsilon_per_item: Fraction | None
    delta_per_call: Fraction = Fraction(0)
    theorem: Theorem | None = None
    pure: bool = False

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What must be reserved before the data is read."""
        counts = () if self.measure is None else self.measure.events(self.facts.k)
        return (*self.mechanism.worst_case, *counts)

    @property
    def rows(self) -> int | None:
        """How many rows to read from an unknown domain; None where only tallies are read."""
        return self.facts.rows if self.facts.domain_size is None and not self.facts.adaptive else None

    def describe(self) -> str:
        """The mechanism and its parameters, readable."""
        shown = {name: value for name, value in describe(self.mechanism).items() if value != "None"}
        parameters = ", ".join(f"{name}={_decimal(value)}" for name, value in shown.items())
        counts = ""
        if self.measure is not None:
            counts = f", then {self.measure.noise} noise of scale {display(self.measure.scale)} on each count"
        return f"{type(self.mechanism).__name__}({parameters}){counts}"

    def cost_sentence(self) -> str:
        """The most that the answer can cost, and the least."""
        most = worst_case(self.worst_case)
        if self.pure and most.epsilon is not None:
            return f"epsilon {display(most.epsilon)}, whatever comes out"
        text = f"rho {display(most.rho)}" + (f" and delta {display(most.delta)}" if most.delta else "")
        if self.epsilon_per_item is None or self.facts.adaptive:
            # What rounds leave over makes counts more exact.
            less = "nothing is found" if self.facts.counts else "the list is settled before all rounds are run"
            return f"{text}; less rho if {less}"
        if self.facts.domain_size is not None:
            return f"{text}, whatever comes out"
        least = bounded_range_rho(self.epsilon_per_item)
        return f"{text} if k items come back; rho {display(least)} if none does"


def allowance_for(facts: Facts, *, epsilon: Number, delta: Number) -> Allowance | GaussianAllowance:
    """What a single question may use if it is to be (epsilon, delta)-private by itself."""
    promise = Guarantee.of(epsilon, delta)
    if promise.cost.delta == 0 and facts.domain_size is None:
        raise InvalidArgument(
            "delta",
            delta,
            allowed="a number with 0 < value < 1",
            hint="An unknown domain cannot be private with delta=0: state the domain, or allow a delta like 1e-6.",
        )
    if facts.adaptive:
        whole = AdaptiveTopK.within(facts.k, epsilon=epsilon, delta=delta)
        return GaussianAllowance(
            mu_squared=whole.mu_squared, delta=whole.delta, promise=promise, theorem=Theorem.GAUSSIAN
        )
    return _calibrated(facts.k, facts.counts, facts.domain_size is None, promise)


@lru_cache(maxsize=256)
def _calibrated(k: int, counts: bool, unknown: bool, promise: Guarantee) -> Allowance:
    """The search behind an allowance, which takes a second for some budgets."""
    epsilon, delta = promise.epsilon(), promise.cost.delta
    pure = delta == 0
    share = None if unknown else 0
    if not counts:
        plan = calibrate_epsilon(k, epsilon=epsilon, delta=delta, delta_for_calls=share)
        return Allowance(
            epsilon_per_item=plan.epsilon_per_item,
            delta_per_call=plan.delta_per_call,
            pure=pure,
            promise=promise,
            theorem=plan.theorem,
        )
    if pure:
        half = epsilon / (2 * k)
        return Allowance(
            epsilon_per_item=half, epsilon_per_count=half, pure=True, promise=promise, theorem=Theorem.BASIC
        )
    least = least_for_counts(k, delta, share)
    if epsilon < least:
        raise InvalidArgument(
            "epsilon",
            epsilon,
            allowed=f"{display(least)} or more with counts, k={k} and delta={display(delta)}",
            hint="Less leaves nothing for each count.",
        )
    split = split_budget(k, epsilon=epsilon, delta=delta, delta_for_calls=share)
    return Allowance(
        epsilon_per_item=split.epsilon_per_item,
        delta_per_call=split.delta_per_call,
        sigma=split.sigma,
        promise=promise,
        theorem=Theorem.ZCDP,
    )


def plan_for(facts: Facts, allowance: Allowance | GaussianAllowance) -> Plan:
    """The mechanism for these facts, within this allowance; what could not be drawn is refused here."""
    if isinstance(allowance, GaussianAllowance):
        require_noise(mu_squared=allowance.mu_squared)
        return _in_rounds(facts, allowance)
    require_noise(epsilon_per_item=allowance.epsilon_per_item)
    mechanism, why = _mechanism(facts, allowance)
    measure = None
    if facts.counts and allowance.sigma is not None:
        measure = MeasureCounts(sigma=allowance.sigma)
    elif facts.counts:
        measure = MeasureCounts(epsilon_per_item=allowance.epsilon_per_count or allowance.epsilon_per_item)
    reach, sentence = _reach(facts, allowance, mechanism)
    worst = (*mechanism.worst_case, *(() if measure is None else measure.events(facts.k)))
    return Plan(
        facts=facts,
        mechanism=mechanism,
        measure=measure,
        promise=allowance.promise or total(worst),
        why=why,
        reach=reach,
        reach_sentence=sentence,
        epsilon_per_item=allowance.epsilon_per_item,
        delta_per_call=allowance.delta_per_call if facts.domain_size is None else Fraction(0),
        # A mechanism that was given the whole promise has its own theorem.
        theorem=None if isinstance(mechanism, (RisingTopK, TestedTopK)) else allowance.theorem,
        pure=allowance.pure,
    )


def _in_rounds(facts: Facts, allowance: GaussianAllowance) -> Plan:
    most = facts.max_items_per_user or _MOST_ITEMS
    mechanism = AdaptiveTopK(
        facts.k, allowance.mu_squared, allowance.delta, max_items_per_user=most, counts=facts.counts
    )
    reach = mechanism.first_threshold
    busy = dyadic_above(reach * Fraction(316228, 100000), _REACH_BITS)
    return Plan(
        facts=facts,
        mechanism=mechanism,
        measure=None,
        promise=allowance.promise or total(mechanism.worst_case),
        why=(
            "The items are not known beforehand and the list is long: rounds of Gaussian noise find candidates, settle "
            "what is clearly in, and measure only the border again."
        ),
        reach=reach,
        reach_sentence=(
            f"An item is found if it has well over {_whole(reach)} users who have few other items, or well over "
            f"{_whole(busy)} who have about ten."
        ),
        epsilon_per_item=allowance.per_item,
        delta_per_call=allowance.delta,
        theorem=allowance.theorem,
    )


def _mechanism(facts: Facts, allowance: Allowance) -> tuple[Mechanism, str]:
    if facts.domain_size is None:
        limited = LimitedDomain(
            facts.k,
            facts.rows,
            allowance.epsilon_per_item,
            allowance.delta_per_call,
            max_items_per_user=facts.max_items_per_user,
        )
        why = (
            "The items are not known beforehand, so only the true top "
            f"{facts.rows} compete, against a threshold that hides which items are there; only what passes is paid for."
        )
        return limited, why
    return known_mechanism(facts, allowance)


def _reach(facts: Facts, allowance: Allowance, mechanism: Mechanism) -> tuple[Fraction, str]:
    """How far a count must stand out to come back with probability 0.95 (Durfee & Rogers 2019, Lemma 8.1)."""
    size = Fraction(facts.k) / _MISS
    if facts.domain_size is not None or not isinstance(mechanism, LimitedDomain):
        turns = mechanism.in_turn if isinstance(mechanism, TestedTopK) else mechanism
        if isinstance(turns, RisingTopK):
            reach = _rising_reach(turns, facts.domain_size or 1)
        else:
            single = mechanism.epsilon_set / facts.k if isinstance(mechanism, TestedTopK) else None
            reach = _log_over(size * (facts.domain_size or 1), single or allowance.epsilon_per_item)
        if isinstance(mechanism, TestedTopK):
            least = f"at most {_whole(reach)} fewer users than the k-th"
            return reach, f"Items that are chosen in turn have, with probability 0.95, {least}."
        return (
            reach,
            f"Every item returned has, with probability 0.95, at most {_whole(reach)} fewer users than the k-th.",
        )
    reach = mechanism.margin + _log_over(size, allowance.epsilon_per_item)
    return reach, (
        f"With probability 0.95 k items come back, if the k-th has {_whole(reach)} more users than "
        f"the item of rank {facts.rows + 1}."
    )


def _rising_reach(turns: RisingTopK, size: int) -> Fraction:
    """The same where quarters have rates of their own: each may miss with an equal share of the probability.

    When a quarter ends with some of the k places left, that many and one more of the true top k were there for each of
    its choices, and weigh against at most ``size`` items below.
    """
    left, worst = turns.k, Fraction(0)
    for places, epsilon in turns.quarters:
        left -= places
        odds = Fraction(places * size, left + 1) * len(turns.quarters) / _MISS
        worst = max(worst, _log_over(odds, epsilon))
    return worst


def _log_over(ratio: Fraction, rate: Fraction) -> Fraction:
    with ball_precision(96):
        value: flint.arb = ball(ratio).log() / ball(rate)
        return dyadic_above(rational_bounds(value)[1], _REACH_BITS)


def _decimal(value: str) -> str:
    return display(Fraction(value)) if "/" in value else value


def _whole(value: Fraction) -> str:
    return f"{-(-value.numerator // value.denominator):,}"
