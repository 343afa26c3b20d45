"""Costs that the tests of ledgers charge."""

from __future__ import annotations

from fractions import Fraction

from podium.privacy import Cost

__all__ = ["pure"]


def pure(epsilon: str) -> Cost:
    return Cost(epsilon=epsilon, rho=Fraction(epsilon) ** 2 / 2)
