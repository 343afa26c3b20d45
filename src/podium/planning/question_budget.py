"""What one question may use: calibrated for its own guarantee, or allotted by a ledger's plan."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.mechanisms import AdaptiveTopK
from podium.planning.facts import Facts
from podium.planning.limits import min_epsilon_for_counts
from podium.privacy import Guarantee, Theorem, calibrate_epsilon, split_budget
from podium.privacy.rounding import display

__all__ = ["AnyBudget", "QuestionBudget", "RoundsBudget", "WholeBudget", "divided_budget", "question_budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBudget:
    """What a question may use per selection, per call, and for each count.

    Counts use ``sigma`` with approximate budgets, ``epsilon_per_count`` with pure ones. ``guarantee`` is that of the
    whole question; None if a ledger adds up what is spent.
    """

    epsilon_per_item: Fraction
    delta_per_call: Fraction = Fraction(0)
    sigma: Fraction | None = None
    epsilon_per_count: Fraction | None = None
    pure: bool = False
    guarantee: Guarantee | None = None
    theorem: Theorem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsBudget:
    """What a question in rounds may use: mu^2 of Gaussian noise and delta of thresholds, all rounds together.

    ``per_item`` is set if a ledger plans per item: lists of other lengths with the same plan share answers.
    """

    mu_squared: Fraction
    delta: Fraction
    per_item: Fraction | None = None
    guarantee: Guarantee | None = None
    theorem: Theorem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeBudget:
    """What a question may use if its mechanism divides (epsilon, delta) by itself."""

    epsilon: Fraction
    delta: Fraction


AnyBudget: TypeAlias = QuestionBudget | RoundsBudget | WholeBudget


def question_budget(facts: Facts, *, epsilon: Number, delta: Number) -> AnyBudget:
    """The budget with which a single question is (epsilon, delta)-private by itself."""
    if not facts.undecided:
        return divided_budget(facts, epsilon=epsilon, delta=delta)
    guarantee = _require_delta(facts, epsilon, delta)
    return WholeBudget(epsilon=guarantee.epsilon(), delta=guarantee.cost.delta)


def divided_budget(facts: Facts, *, epsilon: Number, delta: Number) -> QuestionBudget | RoundsBudget:
    """The same in parts that a ledger adds up as rho: what is cheap in epsilon and dear in rho is not used."""
    guarantee = _require_delta(facts, epsilon, delta)
    if facts.adaptive:
        whole = AdaptiveTopK.within(facts.k, epsilon=epsilon, delta=delta)
        return RoundsBudget(
            mu_squared=whole.mu_squared, delta=whole.delta, guarantee=guarantee, theorem=Theorem.GAUSSIAN
        )
    return _calibrate(facts.k, facts.counts, facts.domain_size is None, guarantee)


def _require_delta(facts: Facts, epsilon: Number, delta: Number) -> Guarantee:
    guarantee = Guarantee.of(epsilon, delta)
    if guarantee.cost.delta == 0 and facts.domain_size is None:
        raise InvalidArgument(
            "delta",
            delta,
            allowed="a number with 0 < value < 1",
            hint="An unknown domain cannot be private with delta=0: state the domain, or allow a delta like 1e-6.",
        )
    return guarantee


@lru_cache(maxsize=256)
def _calibrate(k: int, counts: bool, unknown: bool, guarantee: Guarantee) -> QuestionBudget:
    """Calibrate a budget; the search takes a second for some guarantees."""
    epsilon, delta = guarantee.epsilon(), guarantee.cost.delta
    pure = delta == 0
    share = None if unknown else 0
    if not counts:
        plan = calibrate_epsilon(k, epsilon=epsilon, delta=delta, delta_for_calls=share)
        return QuestionBudget(
            epsilon_per_item=plan.epsilon_per_item,
            delta_per_call=plan.delta_per_call,
            pure=pure,
            guarantee=guarantee,
            theorem=plan.theorem,
        )
    if pure:
        half = epsilon / (2 * k)
        return QuestionBudget(
            epsilon_per_item=half, epsilon_per_count=half, pure=True, guarantee=guarantee, theorem=Theorem.BASIC
        )
    minimum = min_epsilon_for_counts(k, delta, share)
    if epsilon < minimum:
        raise InvalidArgument(
            "epsilon",
            epsilon,
            allowed=f"{display(minimum)} or more with counts, k={k} and delta={display(delta)}",
            hint="Less leaves nothing for each count.",
        )
    split = split_budget(k, epsilon=epsilon, delta=delta, delta_for_calls=share)
    return QuestionBudget(
        epsilon_per_item=split.epsilon_per_item,
        delta_per_call=split.delta_per_call,
        sigma=split.sigma,
        guarantee=guarantee,
        theorem=Theorem.ZCDP,
    )
