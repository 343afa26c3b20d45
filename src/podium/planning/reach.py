"""Reach: how far a count must stand out to come back with probability 0.95, from public facts only."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import flint

from podium.exact import ball, ball_precision, dyadic_above, rational_bounds

if TYPE_CHECKING:
    from podium.mechanisms.rising import RisingTopK

__all__ = ["MISS_PROBABILITY", "REACH_BITS", "in_turn_sentence", "log_over", "rising_reach", "round_up"]

MISS_PROBABILITY = Fraction(1, 20)
"""The probability that an item within reach is still missed."""
REACH_BITS = 10


def log_over(ratio: Fraction, rate: Fraction) -> Fraction:
    """ln(ratio)/rate, rounded up."""
    with ball_precision(96):
        value: flint.arb = ball(ratio).log() / ball(rate)
        return dyadic_above(rational_bounds(value)[1], REACH_BITS)


def rising_reach(turns: RisingTopK, size: int) -> Fraction:
    """The reach if quarters have different rates: each may miss with an equal share of the probability.

    If a quarter ends with ``left`` of the k places open, at least ``left + 1`` of the true top k were available for
    each of its choices, against at most ``size`` items below.
    """
    left, worst = turns.k, Fraction(0)
    for places, epsilon in turns.quarters:
        left -= places
        odds = Fraction(places * size, left + 1) * len(turns.quarters) / MISS_PROBABILITY
        worst = max(worst, log_over(odds, epsilon))
    return worst


def in_turn_sentence(reach: Fraction) -> str:
    """The reach in words for successive selections from a known domain."""
    return f"Every item returned has, with probability 0.95, at most {round_up(reach)} fewer users than the k-th."


def round_up(value: Fraction) -> str:
    """The number as text, rounded up to an integer."""
    return f"{-(-value.numerator // value.denominator):,}"
