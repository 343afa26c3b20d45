"""How one budget lasts for a whole schedule: the share of a period is a function of what earlier ones released.

Every list is chosen from items that earlier releases named, so it needs no threshold; a few periods pay for finding
new ones, and long windows are not measured in every period. What a period does not use is shared by the later ones:
docs/proofs/monitor.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from podium.errors import BudgetExceeded, InvalidArgument
from podium.exact import exact_integer
from podium.mechanisms import TruncatedGaussianHistogram, Weights
from podium.planning.facts import MAX_K
from podium.planning.schedule.refresh import finding_periods, finding_weight, list_periods, list_weight, square_root
from podium.privacy import Limits, largest_selection_epsilon
from podium.privacy.rounding import below, significant_below

__all__ = ["RemainingBudget", "Sharing", "Unit", "candidates_for", "stage_for"]

_FOR_FINDING = Fraction(1, 4)
"""The share of all rounds of finding in the budget; ``python -m bench monitor`` compares others."""
_FOR_FINDING_GROWING = Fraction(3, 5)
"""The same for growing windows, which are measured less often."""
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

    def check_remeasure(self, remeasure: int | None) -> None:
        """Raise if lists were to be repeated in other periods and each period has a budget of its own."""
        if self is Unit.USER_PERIOD and remeasure is not None:
            raise InvalidArgument(
                "remeasure",
                remeasure,
                allowed="None with unit='user-period', where every period has a budget of its own",
            )


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
    """The division of a budget among the lists of a schedule and the rounds of finding between them.

    ``lists`` are the periods in which a list is measured; in the others the last one is repeated. ``finding`` are those
    that begin with a round of finding; none if the domain is stated. Each gets what is left in proportion to its
    weight. A window of one period (``span``) is measured in every period. ``rediscover`` and ``remeasure`` say every
    how many periods new items are looked for and lists are measured.

    Windows that do not overlap share no rows, so what was found in one says less about the next. With ``in_rounds``
    each of them is asked about as a ledger's question would be, while this brings back enough. ``grouped`` lists are
    all found like that, in windows of any length: what was found in one group says nothing about another.
    """

    periods: int
    lists: tuple[int, ...]
    finding: tuple[int, ...]
    growing: bool
    in_rounds: bool
    grouped: bool

    def __init__(
        self, periods: int, *, rediscover: int | None = None, known: bool = False, span: int | None = 1,
        remeasure: int | None = None, in_rounds: bool = False, grouped: bool = False,
    ) -> None:  # fmt: skip
        number = exact_integer(periods, "periods", minimum=1)
        between = None if rediscover is None else exact_integer(rediscover, "rediscover", minimum=1)
        step = None if remeasure is None else exact_integer(remeasure, "remeasure", minimum=1)
        if known and rediscover is not None:
            raise InvalidArgument("rediscover", rediscover, allowed="None where the domain is stated")
        growing = span is None
        lists = list_periods(number, span, step)
        finding = () if known or grouped else finding_periods(lists, number, between, growing=growing)
        # Whoever says how often new items are looked for wants them to be kept.
        rounds = in_rounds and span == 1 and bool(finding) and rediscover is None
        fields = {"periods": number, "lists": lists, "finding": finding, "growing": growing, "in_rounds": rounds}
        for name, value in {**fields, "grouped": grouped}.items():
            object.__setattr__(self, name, value)

    @property
    def rounds(self) -> int:
        """How many rounds of finding are planned."""
        return len(self.finding)

    def has_list(self, index: int) -> bool:
        """Whether a list is measured in this period."""
        return _among(self.lists, index)

    def has_finding(self, index: int) -> bool:
        """Whether a round of finding is planned in this period."""
        return _among(self.finding, index)

    def searches(self, index: int, *, done: int, short: bool) -> bool:
        """Whether this period begins with a round of finding, after ``done`` of them; ``short``: too little was found.

        It is then made more often than planned, but at most twice as often: where there is little to find, searches
        would use up the budget. The rounds of a growing window are close together while it is new.
        """
        if self.has_finding(index):
            return True
        later = _from(self.finding, index)
        return short and not self.growing and bool(later) and done < 2 * (len(self.finding) - len(later))

    def asks_in_rounds(self, k: int, *, searches: int, lists: int, items: int) -> bool:
        """Whether the next list is found in rounds of its own, after ``lists`` of these with so many ``items`` in all.

        It is while they hold half of what they should; one period that shows that the users are too few is enough.
        After a round of finding every list is chosen from what was found.
        """
        if self.grouped:
            return True
        return self.in_rounds and not searches and 2 * items >= k * lists

    def for_rounds(
        self, index: int, left: RemainingBudget, *, minimum: Fraction = Fraction(0)
    ) -> tuple[Fraction, Fraction]:
        """(rho, delta) of a list that is found in rounds of its own; raises if rho is below ``minimum``."""
        later = self._lists_at(index)
        lists, share = len(later), self._for_list(index) / self._sum(later, self._for_list)
        rho, delta = below((left.rho or Fraction(0)) * share), significant_below(left.delta / lists)
        if rho == 0 or rho < minimum or delta == 0:
            raise _budget_error("delta" if delta == 0 else "rho")
        return rho, delta

    def before_rounds(self, index: int, whole: RemainingBudget) -> RemainingBudget:
        """What is left of ``whole`` before this period's list if all before it were found in rounds and used it up."""
        lists = self._lists_at(index)
        share = self._sum(lists, self._for_list) / self._sum(self.lists, self._for_list)
        delta = whole.delta * Fraction(len(lists), len(self.lists))
        return RemainingBudget(None, None if whole.rho is None else whole.rho * share, delta)

    def for_finding(self, index: int, left: RemainingBudget) -> tuple[Fraction, Fraction]:
        """(rho, delta) of a round of finding in this period, before its list."""
        this = self._for_finding(index)
        weights = self._sum(self._lists_at(index), self._for_list) + self._finding_after(index) + this
        # An unplanned round leaves as much for another one.
        parts = 1 + len(_from(self.finding, index + 1)) + (not self.has_finding(index))
        rho = below((left.rho or Fraction(0)) * this / weights)
        delta = significant_below(left.delta / parts)
        if rho == 0 or delta == 0:
            raise _budget_error("rho" if rho == 0 else "delta")
        return rho, delta

    def per_item(self, index: int, left: RemainingBudget, k: int, *, minimum: Fraction = Fraction(0)) -> Fraction:
        """The epsilon of each of the k selections in this period's list; raises if it is below ``minimum``."""
        options = []
        if left.rho is not None:
            options.append(largest_selection_epsilon(below(left.rho * self._list_share(index)) / k))
        if left.epsilon is not None and not self.finding:
            options.append(significant_below(left.epsilon * self._list_share_of_epsilon(index) / k))
        best = max(options, default=Fraction(0))
        if best == 0 or best < minimum:
            raise _budget_error("epsilon" if left.rho is None else "rho")
        return best

    def before_list(self, index: int, whole: RemainingBudget) -> RemainingBudget:
        """What is left of ``whole`` before this period's list if all before it used their full shares."""
        lists = self._lists_from(index)
        share = (lists + self._finding_after(index)) / (self._lists_from(0) + self._finding_after(-1))
        roots = self._roots(_from(self.lists, index)) / self._roots(self.lists)
        return RemainingBudget(
            None if whole.epsilon is None else whole.epsilon * roots,
            None if whole.rho is None else whole.rho * share,
            whole.delta,
        )

    def _list_share(self, index: int) -> Fraction:
        """The share of this period's list in what is left of rho before it."""
        lists = self._sum(self._lists_at(index), self._for_list)
        return self._for_list(index) / (lists + self._finding_after(index))

    def _list_share_of_epsilon(self, index: int) -> Fraction:
        """The same for epsilon: by roots, so that the sum which allows more is the same one in all periods."""
        return square_root(self._for_list(index)) / self._roots(self._lists_at(index))

    def _lists_at(self, index: int) -> tuple[int, ...]:
        """The lists from this period on, its own first, even if only an earlier plan of the schedule had it."""
        later = _from(self.lists, index)
        return later if later[:1] == (index,) else (index, *later)

    def _roots(self, lists: tuple[int, ...]) -> Fraction:
        return self._sum(lists, lambda period: square_root(self._for_list(period)))

    def _for_list(self, index: int) -> Fraction:
        return list_weight(index, self.periods, growing=self.growing)

    def _for_finding(self, index: int) -> Fraction:
        return self._scale * finding_weight(index, self.periods, growing=self.growing)

    @property
    def _scale(self) -> Fraction:
        """The factor of the weights of finding, with which all rounds have their share of the budget."""
        share = _FOR_FINDING_GROWING if self.growing else _FOR_FINDING
        weights = self._sum(self.finding, lambda period: finding_weight(period, self.periods, growing=self.growing))
        return share / (1 - share) * self._lists_from(0) / weights if weights else Fraction(0)

    def _lists_from(self, index: int) -> Fraction:
        return self._sum(_from(self.lists, index), self._for_list)

    def _finding_after(self, index: int) -> Fraction:
        rest = _from(self.finding, index + 1)
        return self._scale * self._sum(rest, lambda period: finding_weight(period, self.periods, growing=self.growing))

    def _sum(self, chosen: tuple[int, ...], weight: Callable[[int], Fraction]) -> Fraction:
        """The sum of the weights of these periods; all weigh the same unless the window grows."""
        return sum(map(weight, chosen), Fraction(0)) if self.growing else Fraction(len(chosen))


def _among(chosen: tuple[int, ...], index: int) -> bool:
    return bool(_from(chosen, index)[:1] == (index,))


def _from(chosen: tuple[int, ...], first: int) -> tuple[int, ...]:
    """The chosen periods from ``first`` on."""
    return chosen[bisect_left(chosen, first) :]


def candidates_for(k: int) -> int:
    """The maximum number of items that a list of k is chosen from, the most recently found first.

    A round of finding is a question, so MAX_K bounds it.
    """
    return min(max(_CANDIDATES_PER_PLACE * k, _MIN_CANDIDATES), MAX_K)


def stage_for(
    k: int, max_items_per_user: int, rho: Fraction, delta: Fraction, *, clip: int = 1
) -> TruncatedGaussianHistogram:
    """A round of finding: noisy weighted counts or sums of all items, in which all users have equal influence."""
    return TruncatedGaussianHistogram(
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
