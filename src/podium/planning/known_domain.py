"""Which mechanism for a known domain: a function of public facts; what depends on the data, the mechanism pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.mechanisms import ExponentialTopK, NoisyTopK, RisingTopK
from podium.mechanisms.base import Mechanism
from podium.mechanisms.tested import TestedTopK
from podium.planning.facts import Facts

if TYPE_CHECKING:
    from podium.planning.planner import Allowance

__all__ = ["known_mechanism"]


def known_mechanism(facts: Facts, allowance: Allowance) -> tuple[Mechanism, str]:
    """The mechanism for a known domain within this allowance, and why.

    Where the order does not matter and one question has a budget of its own, a test pays: a set chosen at once can use
    its whole epsilon. Where a ledger adds up rho that set would have to be as cheap as the selections in turn; where
    counts are measured too, part of the budget is theirs; and with one item both ways are the same.
    """
    promise = allowance.promise
    unordered = facts.mechanism == "set"
    if (
        unordered
        and promise is not None
        and not facts.counts
        and facts.domain_size is not None
        and 1 < facts.k < facts.domain_size
    ):
        tested = TestedTopK(facts.k, promise.epsilon(), delta=promise.cost.delta)
        why = (
            "The domain is known: a small paid test tells whether the counts lie far enough apart "
            f"to choose all {facts.k} items at once, as a set; if not, they are chosen in turn, in order."
        )
        return tested, why
    still = _why_in_order(facts, allowance)
    if allowance.pure:
        noisy = NoisyTopK(facts.k, facts.k * allowance.epsilon_per_item, noise="exponential")
        why = "The domain is known and the budget is pure: one round of exponential noise gives order and gaps."
        return noisy, why + still
    if promise is not None and not facts.counts:
        rising = RisingTopK.within(facts.k, epsilon=promise.epsilon(), delta=promise.cost.delta)
        why = (
            "The domain is known: exponential mechanisms in turn return all k items in order, "
            "and the last ones, which are the hardest to tell apart, get the most of the budget."
        )
        return rising, why + still
    peeling = ExponentialTopK(facts.k, allowance.epsilon_per_item)
    return peeling, "The domain is known: exponential mechanisms in turn return all k items at the lowest rho." + still


def _why_in_order(facts: Facts, allowance: Allowance) -> str:
    """Why whoever asked for a set gets a ranking, where that is not plain from k."""
    if facts.mechanism != "set":
        return ""
    if facts.counts:
        return " A set was asked for; counts are measured too, so the items come in order."
    if allowance.promise is not None:
        return ""
    if allowance.pure:
        return " A set was asked for; a ledger keeps the order, so that a longer list answers a shorter one too."
    return " A set was asked for; where a ledger adds up rho it would be hardly better, so the order is kept."
