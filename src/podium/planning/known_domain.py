"""The mechanism for a known domain, from public facts; decisions that depend on data are paid for by the mechanism."""

from __future__ import annotations

from fractions import Fraction

from podium.mechanisms import ExponentialTopK, NoisyTopK, RisingTopK
from podium.mechanisms.tested import TestedTopK
from podium.planning.facts import Facts
from podium.planning.mechanism_choice import ORDERED_BY_COUNTS, Choice
from podium.planning.question_budget import QuestionBudget
from podium.planning.reach import MISS_PROBABILITY, in_turn_sentence, log_over, rising_reach, round_up
from podium.privacy import Guarantee

__all__ = ["choose_for_known_domain"]


def choose_for_known_domain(facts: Facts, budget: QuestionBudget) -> Choice:
    """The mechanism for a known domain within this budget.

    If the order does not matter and the question has a budget of its own, a test pays off: a set chosen at once can use
    the whole epsilon. In a ledger that adds up rho, the set would have to be as cheap as successive selections; with
    counts, part of the budget is theirs; and for one item the two are the same.
    """
    size = facts.domain_size or 1
    if facts.at_least is not None:
        return _choose_with_minimum(facts, facts.at_least, budget)
    whole = None if facts.counts else budget.guarantee
    if whole is not None and not facts.ordered and 1 < facts.k < size:
        return _choose_tested(facts.k, size, whole)
    still = _why_in_order(facts, budget)
    if whole is not None and not budget.pure:
        rising = RisingTopK.within(facts.k, epsilon=whole.epsilon(), delta=whole.cost.delta)
        why = (
            "The domain is known: exponential mechanisms in turn return all k items in order, "
            "and the last ones, which are the hardest to tell apart, get the most of the budget."
        )
        reach = rising_reach(rising, size)
        return Choice(rising, why + still, reach, in_turn_sentence(reach), proves_itself=True)
    reach = log_over(Fraction(facts.k) / MISS_PROBABILITY * size, budget.epsilon_per_item)
    if budget.pure:
        noisy = NoisyTopK(facts.k, facts.k * budget.epsilon_per_item, noise="exponential")
        why = "The domain is known and the budget is pure: one round of exponential noise gives order and gaps."
        return Choice(noisy, why + still, reach, in_turn_sentence(reach))
    peeling = ExponentialTopK(facts.k, budget.epsilon_per_item)
    why = "The domain is known: exponential mechanisms in turn return all k items at the lowest rho."
    return Choice(peeling, why + still, reach, in_turn_sentence(reach))


def _choose_with_minimum(facts: Facts, least: int, budget: QuestionBudget) -> Choice:
    """Selections that can end: what stops them is a symbol with the least score."""
    reach = log_over(Fraction(facts.k) / MISS_PROBABILITY * (facts.domain_size or 1), budget.epsilon_per_item)
    why = (
        "The domain is known, and items with less than a minimum are not wanted: exponential mechanisms in turn, until "
        "the minimum itself is drawn; only what passes is paid for."
    )
    return Choice(
        ExponentialTopK(facts.k, budget.epsilon_per_item, at_least=least), why, reach, in_turn_sentence(reach)
    )


def _choose_tested(k: int, size: int, guarantee: Guarantee) -> Choice:
    tested = TestedTopK(k, guarantee.epsilon(), delta=guarantee.cost.delta)
    why = (
        "The domain is known: a small paid test tells whether the counts lie far enough apart "
        f"to choose all {k} items at once, as a set; if not, they are chosen in turn, in order."
    )
    match tested.in_turn:
        case RisingTopK() as rising:
            reach = rising_reach(rising, size)
        case _:
            reach = log_over(Fraction(k) / MISS_PROBABILITY * size, tested.epsilon_set / k)
    fewer = f"at most {round_up(reach)} fewer users than the k-th"
    sentence = f"Items that are chosen in turn have, with probability 0.95, {fewer}."
    return Choice(tested, why, reach, sentence, proves_itself=True, ordered=False)


def _why_in_order(facts: Facts, budget: QuestionBudget) -> str:
    """Why ``ordered=False`` still gives an order, unless that is obvious from k."""
    if facts.ordered:
        return ""
    if facts.counts:
        return ORDERED_BY_COUNTS
    if budget.guarantee is not None:
        return ""
    if budget.pure:
        return " No order was asked for; a ledger keeps it, so that a longer list answers a shorter one too."
    return " No order was asked for; where a ledger adds up rho a set would be hardly better, so the order is kept."
