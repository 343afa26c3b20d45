"""What a ledger of each kind adds up to, and how many questions a budget holds: zCDP sums and the Gaussian filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.privacy import (
    adaptive_optimum,
    bounded_range_rho,
    gaussian_epsilon,
    largest_rho,
    nonadaptive_optimum,
    zcdp_epsilon,
)
from podium.privacy.gaussian import GaussianLimits, Step, chain

__all__ = ["BUDGETS", "LEDGERS", "Ledger", "held", "holds", "totals"]

_SELECTIONS = (("0.1", 100), ("0.01", 1000), ("0.5", 20), ("1", 10))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Questions that are asked one after the other, with the deltas at which their total is stated."""

    name: str
    questions: tuple[Step, ...]
    deltas: tuple[str, ...] = ("1e-6",)

    @property
    def rho(self) -> Fraction:
        """What a zCDP ledger adds up to."""
        return sum((question.count * _rho(question) for question in self.questions), Fraction(0))


def _rho(step: Step) -> Fraction:
    if step.kind == "bounded_range":
        return bounded_range_rho(step.size)
    return step.size / 2 if step.kind == "gaussian" else step.size**2 / 2


_NOISE, _FIFTY = Step.gaussian("0.02", count=5), Step.bounded_range("0.1", count=50)
LEDGERS = (
    *(
        Ledger(f"{count} selections of {epsilon}", (Step.bounded_range(epsilon, count=count),), ("1e-6", "1e-8"))
        for epsilon, count in _SELECTIONS
    ),
    Ledger("5 Gaussian of .02, then 50 selections of .1", (_NOISE, _FIFTY)),
    Ledger("50 selections of .1, then 5 Gaussian of .02", (_FIFTY, _NOISE)),
    Ledger("25 pure of .1", (Step.pure("0.1", count=25),)),
    Ledger("Gaussian of .25", (Step.gaussian("0.25"),)),
)
"""The ledgers whose totals are compared."""

BUDGETS = tuple(
    (epsilon, delta, size)
    for epsilon, sizes in ((1, ("0.01", "0.05", "0.1", "0.2")), (3, ("0.01", "0.1", "0.2", "0.5")))
    for delta in ("1e-6", "1e-8")
    for size in sizes
)
"""Budgets, and the epsilon of the selections that they are filled with."""


def held(limit: Callable[[int], bool]) -> int:
    """The largest number of questions that fit."""
    low, high = 0, 1
    while limit(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if limit(middle) else (low, middle)
    return low


def holds(epsilon: int, delta: str, size: str) -> tuple[int, int]:
    """How many selections of this size the Gaussian filter holds, and the zCDP filter, with no delta for calls."""
    budget = GaussianLimits.of(epsilon, delta, 0).mu_squared
    ours = held(lambda count: chain([Step.bounded_range(size, count=count)], budget) is not None)
    return ours, int(largest_rho(epsilon, delta) / bounded_range_rho(size))


def _needed(questions: Sequence[Step]) -> Fraction:
    """The smallest budget of 40 bits that holds these questions, asked one after the other."""

    def fits(units: int) -> bool:
        free = Fraction(units, 1 << 40)
        for question in questions:
            found = chain([question], free)
            if found is None:
                return False
            free -= found.total
        return True

    return Fraction(1 + held(lambda units: not fits(units)), 1 << 40)


def totals(ledger: Ledger) -> list[dict[str, Any]]:
    """The total epsilon of a ledger at each of its deltas, by every way to add it up."""
    needed = _needed(ledger.questions)
    cells = []
    for delta in ledger.deltas:
        cell: dict[str, Any] = {
            "ledger": ledger.name,
            "delta": delta,
            "zcdp": float(zcdp_epsilon(ledger.rho, delta)),
            "gaussian": float(gaussian_epsilon(needed, delta)),
            "limit": float(gaussian_epsilon(2 * ledger.rho, delta)),
            "adaptive": None,
            "nonadaptive": None,
        }
        if len(ledger.questions) == 1 and ledger.questions[0].kind == "bounded_range":
            only = ledger.questions[0]
            cell["adaptive"] = float(adaptive_optimum(only.size, only.count, delta))
            if only.count <= 100:
                cell["nonadaptive"] = float(nonadaptive_optimum(only.size, only.count, delta))
        cells.append(cell)
    return cells
