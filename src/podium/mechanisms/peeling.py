"""The distribution of peeling: exponential mechanisms in turn, without replacement, until BOTTOM if it takes part."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint

from podium.exact import ball
from podium.histogram import Item
from podium.mechanisms.base import Distribution
from podium.release import BOTTOM

__all__ = ["peeling_distribution"]


def peeling_distribution(
    items: Sequence[Item], scores: Sequence[Fraction | int], rate: Fraction, k: int, *, bottom: Fraction | None = None
) -> Distribution:
    """P(o_1, ..., o_k) = prod_j e^(rate s_(o_j)) / sum over those left; ``bottom`` is the score of BOTTOM.

    Scores are taken relative to the largest, so that no weight overflows.
    """
    top = max([*scores, *([] if bottom is None else [bottom])], default=Fraction(0))
    weights = [ball((Fraction(score) - top) * rate).exp() for score in scores]
    stop = None if bottom is None else ball((bottom - top) * rate).exp()
    distribution: Distribution = {}

    def extend(prefix: tuple[int, ...], probability: flint.arb) -> None:
        left = [i for i in range(len(items)) if i not in prefix]
        if len(prefix) == k or (stop is None and not left):
            distribution[tuple(items[i] for i in prefix)] = probability
            return
        total = sum((weights[i] for i in left), flint.arb(0) if stop is None else stop)
        if stop is not None:
            distribution[(*(items[i] for i in prefix), BOTTOM)] = probability * stop / total
        for i in left:
            extend((*prefix, i), probability * weights[i] / total)

    extend((), flint.arb(1))
    return distribution
