"""Exact numbers once more as plain ones, for readers that have no fractions. Nothing is ever read back from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from podium.exact import display
from podium.privacy.costs import Cost

__all__ = ["cost_decimals", "value_decimals"]

_DIGITS = 12


def cost_decimals(cost: Cost) -> dict[str, float | None]:
    """Losses, written as decimals that are never below what they are; null where there is no bound."""
    amounts = {"epsilon": cost.epsilon, "rho": cost.rho, "delta": cost.delta}
    return {name: None if value is None else _plain(value) for name, value in amounts.items()}


def value_decimals(values: Iterable[Fraction] | None) -> list[float] | None:
    """Values, each the nearest plain number."""
    return None if values is None else [float(value) for value in values]


def _plain(value: Fraction) -> float | None:
    number = float(display(value, digits=_DIGITS))
    return number if math.isfinite(number) else None
