"""How one budget lasts for a whole schedule: the share of a period is a function of what earlier ones released.

Every list is chosen from items that earlier releases named, so it needs no threshold; a few periods pay for finding
new ones. What a period does not use is shared by the later ones: docs/proofs/monitor.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from podium.errors import BudgetExceeded, InvalidArgument
from podium.exact import exact_integer
from podium.mechanisms import GaussianSparseHistogram, Weights
from podium.planning.facts import MAX_K
from podium.privacy import Limits, largest_selection_epsilon
from podium.privacy.rounding import below, significant_below

__all__ = ["RemainingBudget", "Sharing", "Unit", "candidates_for", "stage_for"]

_FOR_FINDING = Fraction(1, 4)
"""The share of all rounds of finding in the budget; ``python -m bench monitor`` compares others."""
_ROUNDS_OF_FINDING = 8
_CANDIDATES_PER_PLACE, _MIN_CANDIDATES = 10, 100


class Unit(StrEnum):
    """The unit of privacy: all rows of a user, or the rows of a user in one period."""

    USER = "user"
    USER_PERIOD = "user-period"

    @classmethod
    def parse(cls, name: str) -> Unit:
        """The unit of that name."""
        if name not in list(cls):
            raise InvalidArgument(
                "unit",
                name,
                allowed=", ".join(map(repr, map(str, cls))),
                hint="What summed values are rounded down to is value_unit (--value-unit) in a schedule.",
            )
        return cls(name)


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """What may still be spent: rho, or epsilon if every charge so far had one, and delta."""

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction

    @classmethod
    def of(cls, limits: Limits, parts: int = 1) -> RemainingBudget:
        """One of ``parts`` equal parts of a total."""
        return cls(
            None if limits.epsilon is None else limits.epsilon / parts,
            None if limits.rho is None else limits.rho / parts,
            limits.delta / parts,
        )


@dataclass(frozen=True, slots=True, init=False)
class Sharing:
    """The division of a budget among ``periods`` lists and the rounds of finding between them.

    ``rediscover`` is the number of periods from one round of finding to the next; None if the domain is stated. A list
    has weight 1 and a round of finding ``weight``; each gets what is left in proportion to its weight.
    """

    periods: int
    rediscover: int | None

    def __init__(self, periods: int, *, rediscover: int | None = None, known: bool = False) -> None:
        number = exact_integer(periods, "periods", minimum=1)
        usual = -(-number // _ROUNDS_OF_FINDING)
        between = usual if rediscover is None else exact_integer(rediscover, "rediscover", minimum=1)
        if known and rediscover is not None:
            raise InvalidArgument("rediscover", rediscover, allowed="None where the domain is stated")
        object.__setattr__(self, "periods", number)
        object.__setattr__(self, "rediscover", None if known else between)

    @property
    def rounds(self) -> int:
        """How many rounds of finding are planned."""
        return 0 if self.rediscover is None else -(-self.periods // self.rediscover)

    @property
    def weight(self) -> Fraction:
        """The weight of a round of finding; a list has weight 1."""
        return _FOR_FINDING / (1 - _FOR_FINDING) * self.periods / self.rounds if self.rounds else Fraction(0)

    def has_finding(self, index: int) -> bool:
        """Whether a round of finding is planned in this period; more may follow if too little was found."""
        return self.rediscover is not None and index % self.rediscover == 0

    def _later(self, index: int) -> int:
        """How many rounds of finding are planned after this period."""
        return 0 if self.rediscover is None else (self.periods - 1) // self.rediscover - index // self.rediscover

    def for_finding(self, index: int, left: RemainingBudget) -> tuple[Fraction, Fraction]:
        """(rho, delta) of a round of finding in this period, before its list."""
        rounds = 1 + self._later(index)
        weights = self.periods - index + self.weight * rounds
        # An unplanned round leaves as much for another one.
        parts = rounds if self.has_finding(index) else rounds + 1
        rho = below((left.rho or Fraction(0)) * self.weight / weights)
        delta = significant_below(left.delta / parts)
        if rho == 0 or delta == 0:
            raise _budget_error("rho" if rho == 0 else "delta")
        return rho, delta

    def per_item(self, index: int, left: RemainingBudget, k: int, *, minimum: Fraction = Fraction(0)) -> Fraction:
        """The epsilon of each of the k selections in this period's list; raises if it is below ``minimum``."""
        weights = self.periods - index + self.weight * self._later(index)
        options = []
        if left.rho is not None:
            options.append(largest_selection_epsilon(below(left.rho / weights) / k))
        if left.epsilon is not None and not self.rounds:
            options.append(significant_below(left.epsilon / weights / k))
        best = max(options, default=Fraction(0))
        if best == 0 or best < minimum:
            raise _budget_error("epsilon" if left.rho is None else "rho")
        return best


def candidates_for(k: int) -> int:
    """The maximum number of items that a list of k is chosen from, the most recently found first.

    A round of finding is a question, so MAX_K bounds it.
    """
    return min(max(_CANDIDATES_PER_PLACE * k, _MIN_CANDIDATES), MAX_K)


def stage_for(
    k: int, max_items_per_user: int, rho: Fraction, delta: Fraction, *, clip: int = 1
) -> GaussianSparseHistogram:
    """A round of finding: noisy weighted counts or sums of all items, in which all users have equal influence."""
    return GaussianSparseHistogram(
        k=candidates_for(k), rho=rho, delta=delta, weights=Weights.spread(max_items_per_user), clip=clip
    )


def _budget_error(measure: str) -> BudgetExceeded:
    return BudgetExceeded(
        measure,
        Fraction(1, 2**64),
        Fraction(0),
        budget="the schedule",
        hint="Failures or other questions used it up: 'podium budget history' lists them. The owner may raise it.",
    )
