"""What a question about events or sums pays for choosing its clip, and what is left for the rest."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from podium.errors import InvalidArgument
from podium.planning.facts import Facts
from podium.planning.question_budget import QuestionBudget, RoundsBudget
from podium.privacy import Theorem, bounded_range_rho, calibrate_sigma, split_budget
from podium.privacy.calibration import largest_selection_epsilon

__all__ = ["CLIP_SHARE", "take_clip_share"]

CLIP_SHARE = Fraction(3, 100)
"""The part of a question's rho that pays for choosing the clip."""

B = TypeVar("B", QuestionBudget, RoundsBudget)


def take_clip_share(facts: Facts, budget: B) -> tuple[B, Fraction | None]:
    """The budget without the share of the clip, and that share as rho; None if the clip is stated.

    Selections, Gaussian noise and the clip are added up as rho here, so the rest has the rho that is left.
    """
    if facts.measure is None or facts.measure.clip is not None:
        return budget, None
    if isinstance(budget, RoundsBudget):
        rest = budget.mu_squared * (1 - CLIP_SHARE)
        # mu^2 is twice rho.
        return replace(budget, mu_squared=rest), budget.mu_squared * CLIP_SHARE / 2
    if budget.pure:
        raise InvalidArgument(
            "clip",
            None,
            allowed="a number with a pure budget (delta=0)",
            hint="The clip is chosen with Gaussian noise, which needs a delta like 1e-6.",
        )
    total = _total_rho(facts, budget)
    share, parts = total * CLIP_SHARE, 2 if facts.counts else 1
    part = (total - share) / (facts.selections * parts)
    single = largest_selection_epsilon(part)
    sigma = calibrate_sigma(part) if facts.counts else None
    theorem = None if budget.guarantee is None else Theorem.ZCDP
    return replace(budget, epsilon_per_item=single, sigma=sigma, theorem=theorem), share


def _total_rho(facts: Facts, budget: QuestionBudget) -> Fraction:
    """The rho of all selections and counts; of a question of its own what its guarantee converts to."""
    if budget.guarantee is not None:
        epsilon, delta = budget.guarantee.epsilon(), budget.guarantee.cost.delta
        whole = split_budget(facts.selections, epsilon=epsilon, delta=delta, delta_for_calls=None if facts.hides else 0)
        return whole.rho
    counted = Fraction(0) if budget.sigma is None else 1 / (2 * budget.sigma**2)
    return facts.selections * (bounded_range_rho(budget.epsilon_per_item) + counted)
