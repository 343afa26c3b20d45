"""Prices: what a question may use under the owner's plan, and its minimum price. Only public facts decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction
from podium.planning.facts import Facts
from podium.planning.question_budget import (
    AnyBudget,
    QuestionBudget,
    RoundsBudget,
    divided_budget,
    question_budget,
    require_delta,
    require_delta_for_rounds,
)
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import Guarantee, bounded_range_rho, calibrate_sigma, total, worst_case
from podium.privacy.rounding import display

if TYPE_CHECKING:
    from podium.ledger import Totals
    from podium.planning.ranking import RankingFacts

__all__ = ["AnyFacts", "ledger_strategy", "selections_strategy", "single_strategy"]

AnyFacts: TypeAlias = "Facts | RankingFacts"

_MAX_SHORT_LIST_IN_EPSILONS = 10
"""Up to this k, selections stay where a plan adds up epsilons, in which rounds are dear."""
_OTHERS_SHARE = Fraction(1, 10)
"""Of the epsilon of a question, for the users beside its list."""
_TRIES = 4
_DIGITS = Context(prec=2, rounding=ROUND_CEILING)


def single_strategy(facts: AnyFacts, *, epsilon: Number, delta: Number) -> Strategy:
    """The strategy of a question that is (epsilon, delta)-private by itself."""
    if isinstance(facts, Facts) and facts.others:
        return _with_others(facts, epsilon, lambda rest, less: single_strategy(rest, epsilon=less, delta=delta), delta)
    if isinstance(facts, Facts) and facts.named:
        from podium.planning.by_name import named_strategy  # noqa: PLC0415 - nearly no question names one

        return named_strategy(facts, require_delta(facts, epsilon, delta))
    # The scores of a ranking are no counts, and rounds are for counts only.
    budget = question_budget if isinstance(facts, Facts) else divided_budget
    return _choose(facts, budget(_question_facts(facts), epsilon=epsilon, delta=delta))


def ledger_strategy(totals: Totals, facts: AnyFacts, epsilon: Number | None) -> Strategy:
    """The strategy within what a ledger allows; raises with a sufficient epsilon if it is below the minimum price."""
    _require_planned(facts)
    if epsilon is None:
        # The plan gives each item more than the minimum price.
        return _strategy_within(totals, facts, None)
    if not _is_too_cheap(totals, positive_fraction(epsilon, "epsilon"), _question_facts(facts).selections):
        strategy = _strategy_within(totals, facts, epsilon)
        if _price(totals, strategy) >= totals.minimum_price:
            return strategy
    enough = _sufficient_epsilon(totals, facts)
    measure, part = ("epsilon", "1/20") if totals.budget.pure else ("rho", "1/400")
    raise InvalidArgument(
        "epsilon",
        epsilon,
        allowed="an epsilon that is worth the least price of a question" if enough is None else f"{enough} or more",
        hint=f"A question about this data set costs at least {measure} {display(totals.minimum_price)}, {part} of what "
        "its owner's plan has for one item.",
    )


def _require_planned(facts: AnyFacts) -> None:
    """Raise if the question names a mechanism that no ledger plans for."""
    if isinstance(facts, Facts) and facts.named:
        raise InvalidArgument(
            "mechanism", facts.mechanism, allowed="'auto', 'limited-domain' or 'adaptive' with a ledger",
            hint="The mechanisms of the papers answer single questions: podium.top, or 'podium top' without --ledger.",
        )  # fmt: skip


def selections_strategy(facts: Facts, requested: Mapping[str, str]) -> Strategy:
    """How a ledger's question would be answered by successive selections."""
    selecting = facts if facts.domain_size is not None else replace(facts, mechanism="limited-domain")
    delta = Fraction(requested["delta"])
    if "epsilon" in requested:
        return strategy_for(selecting, _stated_budget(selecting, requested["epsilon"], delta))
    single = Fraction(requested["epsilon_per_item"])
    return strategy_for(selecting, _planned_budget(selecting, single, delta))


def _with_others(
    facts: Facts, epsilon: Number, choose: Callable[[Facts, Fraction], Strategy], delta: Number | None = None
) -> Strategy:
    """A tenth of epsilon is for what is beside the lists of a user; with a delta the question has its own guarantee."""
    from podium.estimates import MeasureOthers  # noqa: PLC0415 - few questions ask for them

    whole = positive_fraction(epsilon, "epsilon")
    share, groups = whole * _OTHERS_SHARE, 1 if facts.groups is None else facts.groups.most
    chosen = replace(
        choose(replace(facts, others=False), whole - share),
        others=MeasureOthers(epsilon=share / groups, amounts=facts.measure is not None),
    )
    promise = total(chosen.worst_case) if delta is None else Guarantee.of(epsilon, delta)
    return replace(chosen, guarantee=promise)


def _with_planned_others(totals: Totals, facts: Facts) -> Strategy:
    """Each of the two numbers costs what the count of an item costs in the owner's plan."""
    from podium.estimates import MeasureOthers  # noqa: PLC0415 - few questions ask for them

    single = totals.epsilon_per_item
    chosen = _strategy_within(totals, replace(facts, others=False), None)
    if totals.budget.pure:
        beside = MeasureOthers(epsilon=2 * single, amounts=facts.measure is not None)
    elif totals.budget.filter == "gaussian":
        # Discrete Gaussian noise has no price there. Laplace noise of half the epsilon costs what a selection costs.
        beside = MeasureOthers(epsilon=single, amounts=facts.measure is not None)
    else:
        sigma = calibrate_sigma(bounded_range_rho(single))
        beside = MeasureOthers(sigma=sigma, amounts=facts.measure is not None)
    added = replace(chosen, others=beside)
    return replace(added, guarantee=total(added.worst_case))


def _strategy_within(totals: Totals, facts: AnyFacts, epsilon: Number | None) -> Strategy:
    if isinstance(facts, Facts) and facts.others:
        if epsilon is None:
            return _with_planned_others(totals, facts)
        return _with_others(facts, epsilon, lambda rest, less: _strategy_within(totals, rest, less))
    question = _question_facts(facts)
    in_rounds = question.long_and_known and isinstance(facts, Facts) and not totals.budget.pure
    if in_rounds and (epsilon is not None or _is_planned_beside_noise(totals)):
        question = replace(question, mechanism="adaptive")
    return _choose(facts, _without_discrete_noise(totals, question, _ledger_budget(totals, question, epsilon)))


def _choose(facts: AnyFacts, budget: AnyBudget) -> Strategy:
    if isinstance(facts, Facts):
        return strategy_for(facts, budget)
    from podium.planning.ranking import ranking_strategy  # noqa: PLC0415 - other questions rank by users

    return ranking_strategy(facts, cast(QuestionBudget, budget))


def _question_facts(facts: AnyFacts) -> Facts:
    return facts if isinstance(facts, Facts) else facts.question


def _ledger_budget(totals: Totals, facts: Facts, epsilon: Number | None) -> QuestionBudget | RoundsBudget:
    """What the plan, or an epsilon of its own, gives a question like this."""
    pure = totals.budget.pure
    if pure and facts.hides:
        raise InvalidArgument(
            "domain",
            None,
            allowed="a known domain, because the budget of this data set is pure (delta=0)",
            hint="State the items (domain=... or domain_size=...), or register a budget with a delta.",
        )
    if epsilon is not None:
        return _stated_budget(facts, epsilon, totals.delta_per_call)
    if facts.adaptive and not _is_planned_beside_noise(totals) and not _is_long(facts):
        facts = replace(facts, mechanism="limited-domain")
    return _planned_budget(facts, totals.epsilon_per_item, totals.delta_per_call, pure=pure)


def _without_discrete_noise(totals: Totals, facts: Facts, budget: AnyBudget) -> AnyBudget:
    """Signed sums of groups would have discrete Gaussian noise; a Gaussian filter wants Laplace noise of its rho."""
    signed = facts.groups is not None and facts.measure is not None and facts.measure.floor
    if totals.budget.filter != "gaussian" or not signed or not isinstance(budget, QuestionBudget) or not budget.sigma:
        return budget
    return replace(budget, sigma=None, epsilon_per_count=1 / budget.sigma)


def _is_planned_beside_noise(totals: Totals) -> bool:
    """Whether the planned items fit beside noise; a plan of few adds up epsilons, which Gaussian noise has none of."""
    return totals.books.holds_noise(totals.budget.items, totals.epsilon_per_item)


def _is_long(facts: Facts) -> bool:
    """Whether rounds are worth it even then, were asked for, or are the only way."""
    together = facts.groups is not None and facts.groups.per_user is None
    return facts.mechanism == "adaptive" or facts.k > _MAX_SHORT_LIST_IN_EPSILONS or together


def _stated_budget(facts: Facts, epsilon: Number, delta_per_call: Fraction) -> QuestionBudget | RoundsBudget:
    # Half of it is for the call, whose delta is then the planned one.
    delta = 2 * delta_per_call / (1 + delta_per_call)
    return replace(divided_budget(facts, epsilon=epsilon, delta=delta), guarantee=None, theorem=None)


def _planned_budget(
    facts: Facts, single: Fraction, delta_per_call: Fraction, *, pure: bool = False
) -> QuestionBudget | RoundsBudget:
    if facts.adaptive:
        # What k selections would cost, and as much again for counts, as without rounds.
        require_delta_for_rounds(pure=pure)
        rho = facts.selections * bounded_range_rho(single) * (2 if facts.counts else 1)
        delta = delta_per_call / (1 + delta_per_call) if facts.hides else Fraction(0)
        return RoundsBudget(mu_squared=2 * rho, delta=delta, per_item=single)
    if not facts.counts:
        return QuestionBudget(epsilon_per_item=single, delta_per_call=delta_per_call, pure=pure)
    if pure:
        return QuestionBudget(epsilon_per_item=single, epsilon_per_count=single, pure=True)
    sigma = calibrate_sigma(bounded_range_rho(single))
    return QuestionBudget(epsilon_per_item=single, delta_per_call=delta_per_call, sigma=sigma)


def _price(totals: Totals, strategy: Strategy) -> Fraction:
    return totals.price(worst_case(strategy.worst_case))


def _is_too_cheap(totals: Totals, epsilon: Fraction, k: int) -> bool:
    """Whether no strategy for this epsilon can reach the minimum price; saves a long calibration.

    Each of at most 2k + 2 events must itself be (epsilon, delta)-private. A selection of parameter e is not if
    e > epsilon + 8 delta, Gaussian noise is not if mu is (for delta up to 1/10); rho is at most e^2/8 and mu^2/2.
    """
    if totals.budget.pure:
        return epsilon < totals.minimum_price
    delta = totals.delta_per_call
    return delta <= Fraction(1, 10) and (k + 1) * (epsilon + 8 * delta) ** 2 < totals.minimum_price


def _sufficient_epsilon(totals: Totals, facts: AnyFacts) -> Decimal | None:
    """An epsilon of two digits that reaches the minimum price, close to the smallest one that does."""
    # Enough for epsilon/k per item, the worst that composition gives; usually less is enough.
    epsilon = (
        totals.minimum_price
        if totals.budget.pure
        else _root(8 * _question_facts(facts).selections * totals.minimum_price)
    )
    best: Decimal | None = None
    for _ in range(_TRIES):
        tried = _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
        if tried == best:
            return best
        try:
            price = _price(totals, _strategy_within(totals, facts, str(tried)))
        except InvalidArgument as problem:
            if problem.name != "epsilon":
                raise
            return best
        if price >= totals.minimum_price:
            best = tried if best is None else min(best, tried)
        # A price grows with epsilon, or with its square.
        ratio = totals.minimum_price / price if price else Fraction(4)
        epsilon = Fraction(tried) * (ratio if totals.budget.pure else _root(ratio))
    return best


def _root(square: Fraction) -> Fraction:
    """The square root, rounded up at the twelfth decimal."""
    return Fraction(math.isqrt(math.ceil(square * 10**24)) + 1, 10**12)
