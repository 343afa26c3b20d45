"""Strategies for known domains that depend on how many of the items users have: stated, or paid for."""

from __future__ import annotations

from fractions import Fraction

from podium.mechanisms import SharedVoteTopK, SizedKnownTopK
from podium.mechanisms.rising import RisingTopK
from podium.planning.facts import Facts
from podium.planning.question_budget import WholeBudget
from podium.planning.reach import MISS_PROBABILITY, log_over, rising_reach, round_up
from podium.planning.strategy import Strategy
from podium.privacy import Guarantee

__all__ = ["shared_vote_strategy", "sized_known_strategy"]

_GAP_FIRST = " Nothing of this is asked if an eightieth of epsilon shows that the k-th item is far ahead of the next."
_ONCE = "One way, which reads the table once."
_AT_A_GAP = (
    "The table is read once, and its distinct pairs are counted: once if the list ends at a wide gap; otherwise again, "
)
_COUNTED = "The table is read once, and its distinct pairs are counted: "
_BY_SIZES = (
    "once for the numbers of users, then once with Laplace noise if users have few of the items; once for successive "
    "selections if they have a large part of them; otherwise at most 7 times in rounds."
)
_PURE_BY_SIZES = (
    "once for the numbers of users, then once with Laplace noise if users have few of the items, and with exponential "
    "noise otherwise."
)


def shared_vote_strategy(facts: Facts, budget: WholeBudget) -> Strategy:
    """Laplace noise on all counts, where each user is said to have one item or is cut to one."""
    mechanism = SharedVoteTopK(facts.k, budget.epsilon, max_items_per_user=facts.max_items_per_user or 1)
    reach = _laplace_reach(facts, budget.epsilon)
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=Guarantee.of(budget.epsilon, budget.delta),
        why="The domain is known, and each user counts with one item: Laplace noise on every count serves any k.",
        reach=reach,
        reach_sentence=f"Every item returned has, with probability 0.95, {_fewer(reach)}.",
        paths=_ONCE,
        pure=True,
    )


def sized_known_strategy(facts: Facts, budget: WholeBudget) -> Strategy:
    """A paid choice by how many of the items users have."""
    mechanism = SizedKnownTopK(
        facts.k,
        budget.epsilon,
        budget.delta,
        domain_size=facts.domain_size or 1,
        max_items_per_user=facts.max_items_per_user,
    )
    reach = _laplace_reach(facts, mechanism.epsilon_of_branch)
    match mechanism.in_turn:
        case RisingTopK() as rising:
            in_turn = rising_reach(rising, mechanism.domain_size)
        case noisy:
            in_turn = log_over(Fraction(facts.k) / MISS_PROBABILITY * mechanism.domain_size, noisy.epsilon / facts.k)
    return Strategy(
        facts=facts,
        mechanism=mechanism,
        guarantee=mechanism.guarantee,
        why=(
            "The domain is known, and what tells its items apart best depends on how many of them users have: a "
            "twentieth of epsilon pays for noisy numbers of users by their number of items, and these choose."
            + (_GAP_FIRST if mechanism.asks_gap else "")
        ),
        reach=reach,
        reach_sentence=(
            f"Every item returned has, with probability 0.95, {_fewer(reach)} if nobody has another item, and "
            f"{_fewer(in_turn)} if items are chosen in turn."
        ),
        delta_per_call=budget.delta,
        paths=(_AT_A_GAP if mechanism.asks_gap else _COUNTED) + (_BY_SIZES if budget.delta else _PURE_BY_SIZES),
        whole=True,
        pure=not budget.delta,
    )


def _laplace_reach(facts: Facts, epsilon: Fraction) -> Fraction:
    """Twice what the noise on any item of the domain exceeds, up or down, with probability 0.05."""
    return 2 * log_over((facts.domain_size or 1) / MISS_PROBABILITY, epsilon)


def _fewer(reach: Fraction) -> str:
    return f"at most {round_up(reach)} fewer users than the k-th"
