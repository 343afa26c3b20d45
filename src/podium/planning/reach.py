"""Reach: how far a count must stand out to come back with probability 0.95, from public facts alone."""

from __future__ import annotations

from fractions import Fraction

import flint

from podium.exact import ball, ball_precision, dyadic_above, rational_bounds
from podium.mechanisms import RisingTopK

__all__ = ["MISS_PROBABILITY", "REACH_BITS", "in_turn_sentence", "log_over", "rising_reach", "round_up"]

MISS_PROBABILITY = Fraction(1, 20)
"""The probability with which an item that far ahead may still be missed."""
REACH_BITS = 10


def log_over(ratio: Fraction, rate: Fraction) -> Fraction:
    """ln(ratio)/rate, rounded up."""
    with ball_precision(96):
        value: flint.arb = ball(ratio).log() / ball(rate)
        return dyadic_above(rational_bounds(value)[1], REACH_BITS)


def rising_reach(turns: RisingTopK, size: int) -> Fraction:
    """The reach where quarters have rates of their own: each may miss with an equal share of the probability.

    When a quarter ends with some of the k places left, that many and one more of the true top k were there for each of
    its choices, and weigh against at most ``size`` items below.
    """
    left, worst = turns.k, Fraction(0)
    for places, epsilon in turns.quarters:
        left -= places
        odds = Fraction(places * size, left + 1) * len(turns.quarters) / MISS_PROBABILITY
        worst = max(worst, log_over(odds, epsilon))
    return worst


def in_turn_sentence(reach: Fraction) -> str:
    """What the reach means where items are chosen from a known domain."""
    return f"Every item returned has, with probability 0.95, at most {round_up(reach)} fewer users than the k-th."


def round_up(value: Fraction) -> str:
    """An integer for people, never smaller than the number."""
    return f"{-(-value.numerator // value.denominator):,}"
