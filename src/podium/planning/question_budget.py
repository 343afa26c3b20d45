"""What one question may use: calibrated for its own guarantee, or allotted by a ledger's plan."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.planning.facts import Facts
from podium.planning.limits import min_epsilon_for_counts
from podium.privacy import Guarantee, Theorem, calibrate_epsilon, split_budget
from podium.privacy.rounding import display

__all__ = [
    "AnyBudget",
    "QuestionBudget",
    "RoundsBudget",
    "WholeBudget",
    "divided_budget",
    "question_budget",
    "require_delta",
    "require_delta_for_rounds",
    "selections_budget",
]

_MAX_BASIC = 3
"""Beyond this k, sums of rho are better than sums of epsilon for any epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBudget:
    """What a question may use per selection, per call, and for each count.

    Counts use ``sigma`` or ``epsilon_per_count``, the latter with pure budgets and for very short lists. ``guarantee``
    is that of the whole question; None if a ledger adds up what is spent.
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

    A known domain has no thresholds, and ``delta`` is 0.

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
    guarantee = require_delta(facts, epsilon, delta)
    if facts.undecided:
        return WholeBudget(epsilon=guarantee.epsilon(), delta=guarantee.cost.delta)
    if (facts.long_and_known or facts.long_known_and_counted) and guarantee.cost.delta:
        return _rounds_budget(facts, guarantee)
    budget = divided_budget(facts, epsilon=epsilon, delta=delta)
    if facts.measure is not None or facts.groups is not None or isinstance(budget, RoundsBudget):
        return budget
    if budget.sigma is None or facts.k > _MAX_BASIC:
        return budget
    return _simpler_if_better(facts, budget, _split_epsilon(facts.k, facts.domain_size is None, guarantee))


def divided_budget(facts: Facts, *, epsilon: Number, delta: Number) -> QuestionBudget | RoundsBudget:
    """The same in parts that a ledger adds up as rho: what is cheap in epsilon and dear in rho is not used."""
    guarantee = require_delta(facts, epsilon, delta)
    if facts.adaptive:
        return _rounds_budget(facts, guarantee)
    return _calibrate(facts.selections, facts.counts, facts.hides, guarantee)


def selections_budget(number: int, guarantee: Guarantee) -> QuestionBudget:
    """The budget of so many selections from unknown items, without counts."""
    return _calibrate(number, False, True, guarantee)


def require_delta(facts: Facts, epsilon: Number, delta: Number) -> Guarantee:
    """What is promised for a question, which needs a delta if its items are unknown."""
    guarantee = Guarantee.of(epsilon, delta)
    if guarantee.cost.delta == 0 and facts.hides:
        raise InvalidArgument(
            "delta",
            delta,
            allowed="a number with 0 < value < 1",
            hint="Delta is the probability that the bound of epsilon fails. Unless the items are known (--domain), it "
            "must be above 0, and well below one over the number of users: such as 1e-6.",
        )
    return guarantee


def _rounds_budget(facts: Facts, guarantee: Guarantee) -> RoundsBudget:
    from podium.mechanisms import AdaptiveTopK, RefinedTopK  # noqa: PLC0415 - short lists do without rounds

    epsilon, delta = guarantee.epsilon(), guarantee.cost.delta
    if facts.hides:
        whole = AdaptiveTopK.within(facts.k, epsilon=epsilon, delta=delta)
        mu_squared, hidden = whole.mu_squared, whole.delta
    else:
        require_delta_for_rounds(pure=delta == 0)
        mu_squared, hidden = RefinedTopK.within(facts.k, epsilon=epsilon, delta=delta).mu_squared, Fraction(0)
    return RoundsBudget(mu_squared=mu_squared, delta=hidden, guarantee=guarantee, theorem=Theorem.GAUSSIAN)


def require_delta_for_rounds(*, pure: bool) -> None:
    """Raise if rounds are asked for with a pure budget."""
    if pure:
        raise InvalidArgument(
            "mechanism",
            "adaptive",
            allowed="'auto' with a pure budget (delta=0)",
            hint="Rounds are Gaussian noise, which needs a delta like 1e-6.",
        )


def _simpler_if_better(facts: Facts, budget: QuestionBudget, basic: QuestionBudget) -> QuestionBudget:
    """A plain sum of epsilons, if that is better for choosing and for counting: so it is for very short lists."""
    from podium.estimates import MeasureCounts  # noqa: PLC0415 - only counts are measured
    from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts  # noqa: PLC0415

    sigma, single = budget.sigma, basic.epsilon_per_count
    if sigma is None or single is None or basic.epsilon_per_item < budget.epsilon_per_item:
        return budget
    together = CorrelatedCounts.within(facts.k, facts.k / sigma**2, max_items_per_user=facts.max_items_per_user)
    return basic if MeasureCounts(epsilon_per_item=single).variance <= together.variance else budget


def _split_epsilon(k: int, unknown: bool, guarantee: Guarantee) -> QuestionBudget:
    """Half of epsilon for k selections, half for k counts with Laplace noise, all of delta for the call."""
    half, delta = guarantee.epsilon() / (2 * k), guarantee.cost.delta
    return QuestionBudget(
        epsilon_per_item=half,
        # The parameter d of the one call, which fails with probability d/(1+d).
        delta_per_call=delta / (1 - delta) if unknown else Fraction(0),
        epsilon_per_count=half,
        pure=delta == 0,
        guarantee=guarantee,
        theorem=Theorem.BASIC,
    )


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
        return _split_epsilon(k, unknown, guarantee)
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
