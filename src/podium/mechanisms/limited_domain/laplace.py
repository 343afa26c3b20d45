"""What the limited domain with Laplace noise costs."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import flint

from podium.errors import InvalidArgument
from podium.exact import ball
from podium.privacy.events import ApproximateMechanism
from podium.privacy.rounding import certified_bound, significant_above

__all__ = ["laplace_cost"]


@lru_cache(maxsize=256)
def laplace_cost(changing: int, epsilon: Fraction, delta: Fraction) -> ApproximateMechanism:
    """(D eps, (e^(D eps) + 1) dbar) with D = ``changing`` and dbar = (delta/4)(2 + ln(D/delta)), rounded up.

    Durfee & Rogers 2019, Lemma 6.1, with the exact 2 where the paper has 3.
    """

    def failure() -> flint.arb:
        once = ball(delta) / 4 * (2 + (ball(changing) / ball(delta)).log())
        return (ball(changing * epsilon).exp() + 1) * once

    charged = certified_bound(failure, significant_above)
    if charged >= 1:
        raise InvalidArgument(
            "delta",
            str(delta),
            allowed="so small that (e^(max_items_per_user * epsilon_per_item) + 1) times it stays far below 1",
            hint="Lower delta, max_items_per_user or epsilon_per_item, or use noise='gumbel'.",
        )
    return ApproximateMechanism(changing * epsilon, charged)
