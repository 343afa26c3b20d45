"""The strategy of a question about events or amounts."""

from __future__ import annotations

from fractions import Fraction

from podium.errors import InvalidArgument
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.planning.facts import Facts, MeasureFacts
from podium.planning.limits import require_noise
from podium.planning.measured_budget import CLIP_SHARE, take_clip_share
from podium.planning.question_budget import AnyBudget, QuestionBudget, RoundsBudget, WholeBudget
from podium.planning.reach import round_up
from podium.planning.strategy import Strategy
from podium.privacy import total
from podium.privacy.rounding import display

__all__ = ["measured_strategy", "reach_of_sums"]


def measured_strategy(facts: Facts, budget: AnyBudget) -> Strategy:
    """Selections by clipped sums within this budget; noise that cannot be drawn is refused."""
    measure = facts.measure
    if measure is None or isinstance(budget, WholeBudget):
        raise InvalidArgument("by", "users", allowed="events or a sum")
    if isinstance(budget, RoundsBudget):
        mechanism, in_rounds = _rounds(facts, measure, budget), True
    else:
        mechanism, in_rounds = _selections(facts, measure, budget), False
    reach = mechanism.reach
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=budget.guarantee or total(mechanism.worst_case),
        why=_why(facts, measure, in_rounds=in_rounds),
        reach=reach,
        reach_sentence=reach_of_sums(facts, measure, reach),
        epsilon_per_item=budget.per_item if isinstance(budget, RoundsBudget) else budget.epsilon_per_item,
        delta_per_call=mechanism.delta,
        theorem=budget.theorem,
        paths=_paths(facts, in_rounds=in_rounds),
    )


def _rounds(facts: Facts, measure: MeasureFacts, budget: RoundsBudget) -> MeasuredTopK:
    rest, share = take_clip_share(facts, budget)
    # As in rounds by users, half of the noise's budget is for values.
    part = rest.mu_squared / (2 if facts.counts else 1)
    require_noise(mu_squared=part)
    return MeasuredTopK(
        facts.k,
        clip=measure.clip,
        rho_clip=share,
        mu_squared=part,
        delta=rest.delta,
        max_items_per_user=facts.max_items_per_user,
        mu_squared_for_values=part if facts.counts else None,
    )


def _selections(facts: Facts, measure: MeasureFacts, budget: QuestionBudget) -> MeasuredTopK:
    if facts.counts and budget.sigma is None:
        raise InvalidArgument(
            "counts",
            True,
            allowed="False with a pure budget (delta=0) where events or sums rank",
            hint="Their values are measured with Gaussian noise, which needs a delta like 1e-6.",
        )
    rest, share = take_clip_share(facts, budget)
    require_noise(epsilon_per_item=rest.epsilon_per_item)
    known = facts.domain_size is not None
    return MeasuredTopK(
        facts.k,
        clip=measure.clip,
        floor=measure.floor,
        rho_clip=share,
        epsilon_per_item=rest.epsilon_per_item,
        delta=Fraction(0) if known else rest.delta_per_call,
        k_bar=None if known else facts.rows,
        max_items_per_user=facts.max_items_per_user,
        known=known,
        mu_squared_for_values=None if rest.sigma is None else facts.k / rest.sigma**2,
        at_least=facts.at_least,
    )


def _why(facts: Facts, measure: MeasureFacts, *, in_rounds: bool) -> str:
    if measure.clip is None:
        share = display(CLIP_SHARE * 100)
        clip = f"{share} percent of its rho pay for choosing how much of each user counts (the clip)"
    else:
        least = f"at least {display(measure.floor * measure.unit)} and " if measure.floor else ""
        clip = f"each user adds {least}at most {display(measure.clip * measure.unit)} to an item, as stated (the clip)"
    if facts.domain_size is not None:
        how = "exponential mechanisms in turn return all k items of the known domain"
    elif in_rounds:
        how = "rounds of Gaussian noise find candidates and measure the border of the list again"
    else:
        how = f"the top {facts.rows} compete against a threshold that hides which items are there"
    return f"Items are ranked by {measure.by}: {clip}; then {how}, with noise in units of the clip."


def reach_of_sums(facts: Facts, measure: MeasureFacts, reach: Fraction) -> str:
    """How large a sum must be, where ``reach`` is in clips."""
    if measure.clip is None:
        amount = f"{round_up(reach)} times the clip"
    else:
        amount = f"{display(reach * (measure.clip - measure.floor) * measure.unit)}"
    if facts.domain_size is not None:
        return f"Items are told apart if their sums differ by well over {amount}."
    return f"An item is found if its sum is well over {amount}."


def _paths(facts: Facts, *, in_rounds: bool) -> str:
    chosen = facts.measure is not None and facts.measure.clip is None
    reads = (8 if in_rounds else 1) + chosen + facts.counts
    return f"One way, which counts the table at most {reads} times, from pairs that are computed once."
