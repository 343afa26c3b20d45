"""Which kind of account suits an owner's plan, and the epsilon per item that follows from it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from podium.errors import InvalidArgument
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.bookkeeping.kinds import FILTERS, books_of, limits_of
from podium.privacy import SelectionPlan, Theorem, calibrate_epsilon
from podium.privacy.gaussian.certified import grid

__all__ = ["Choice", "Planned", "choose_filter", "require_filter", "selection_plan"]


class Planned(NamedTuple):
    """What an owner states: the total, the plan, and the cap of each analyst if there is one."""

    epsilon: Fraction
    delta: Fraction
    items: int
    questions: int
    cap: tuple[Fraction, Fraction] | None


class Choice(NamedTuple):
    """A kind of account, and the reason for it."""

    filter: str
    why: str


def require_filter(wanted: object, delta: Fraction) -> str:
    """One of the kinds; a pure total has only one."""
    allowed = FILTERS if delta else FILTERS[:2]
    if wanted not in allowed:
        pure = "" if delta else ", because the total is pure (delta=0)"
        raise InvalidArgument("filter", wanted, allowed=f"{' or '.join(map(repr, allowed))}{pure}")
    return str(wanted)


@lru_cache(maxsize=64)
def choose_filter(planned: Planned) -> Choice:
    """The kind that holds more of the planned questions; sums of rho where both hold the same."""
    if not planned.delta:
        return Choice("zcdp", "a pure total adds up epsilon")
    single = selection_plan("zcdp", planned).epsilon_per_item
    totals = [(planned.epsilon, planned.delta), *([planned.cap] if planned.cap else [])]
    counts = [
        (_held("zcdp", single, epsilon, delta), _held("gaussian", single, epsilon, delta)) for epsilon, delta in totals
    ]
    sums, gaussian = counts[0]
    if gaussian > sums and all(more >= less for less, more in counts):
        return Choice("gaussian", f"holds {gaussian} of the planned items where sums of rho hold {sums}")
    return Choice("zcdp", f"sums of rho hold {sums} of the planned items, a Gaussian filter {gaussian}")


@lru_cache(maxsize=64)
def selection_plan(kind: str, planned: Planned) -> SelectionPlan:
    """The default epsilon per item and delta per question: a plan that an account of this kind holds."""
    by_sums = calibrate_epsilon(
        planned.items, epsilon=planned.epsilon, delta=planned.delta, calls=planned.questions, fixed_in_advance=False
    )
    if kind != "gaussian":
        return by_sums
    books = books_of(limits_of(kind, planned.epsilon, planned.delta))
    basic = planned.epsilon / planned.items
    listed = [epsilon for epsilon in grid() if epsilon > basic]
    low, high = -1, len(listed)
    while high - low > 1:
        middle = (low + high) // 2
        fits = books.holds_noise(planned.items, listed[middle])
        low, high = (middle, high) if fits else (low, middle)
    if low < 0:
        return replace(by_sums, epsilon_per_item=basic, theorem=Theorem.BASIC)
    return replace(by_sums, epsilon_per_item=listed[low], theorem=Theorem.GAUSSIAN)


def _held(kind: str, single: Fraction, epsilon: Fraction, delta: Fraction) -> int:
    return books_of(limits_of(kind, epsilon, delta)).items_left(single, Sum())
