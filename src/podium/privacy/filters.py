"""Filters: stop before a total that was fixed in advance is passed, whatever is asked on the way.

"Epsilon spent so far" is not a guarantee: the number of steps and their costs depend on answers. What holds is the
filter's total, from the first question on. So a filter shows what was spent in the currency that adds
up (epsilon for a pure total, rho and delta otherwise), and the epsilon of the *total*.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from podium.errors import BudgetExceeded, BudgetMismatch, InvalidArgument
from podium.exact import Number, probability
from podium.privacy.costs import Cost, actual_cost, worst_case
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee
from podium.privacy.rounding import decimal_repr
from podium.privacy.theorems.conversion import largest_rho, split_delta

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Charge", "Filter", "Limits", "Odometer"]

Charge: TypeAlias = Cost | Event | Iterable[Event]
"""What can be charged: a cost, one event, or a receipt of events."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a filter stops: ``delta`` always, and ``epsilon`` or ``rho``; with both set, either one is enough.

    One limit may be None. With both, the guarantee is (epsilon, delta' + ...)-DP where rho was chosen so that
    its conversion at delta' gives epsilon: a transcript that kept the sum of epsilons has no loss above epsilon at
    all, and one that kept the sum of rhos is covered by the conversion.
    """

    __repr__ = decimal_repr

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction

    @classmethod
    def of(cls, total: Guarantee, *, delta_for_calls: Number | None = None) -> Limits:
        """The limits under which ``total`` holds for everything that passes.

        A pure total keeps the sum of epsilons of what came out. A zCDP total keeps sums of rho and delta
        (Whitehouse, Ramdas, Rogers & Wu 2023). An (epsilon, delta) total keeps either sum; ``delta_for_calls``
        (half, unless given) is for the mechanisms' own deltas, and the rest pays for the conversion.
        """
        cost = total.cost
        if total.profiles:
            raise BudgetMismatch("a privacy profile has no sums to keep. Use a pure, approximate or zCDP total.")
        if cost.epsilon is None:
            _refuse_share(delta_for_calls)
            return cls(None, cost.rho, cost.delta)
        if cost.rho < cost.epsilon**2 / 2:
            raise BudgetMismatch(
                "a total must be of one kind, but this one states an epsilon and a smaller rho at once. Fix a pure, "
                "an (epsilon, delta) or a zCDP total in advance."
            )
        if cost.delta == 0:
            _refuse_share(delta_for_calls)
            return cls(cost.epsilon, None, Fraction(0))
        share = (
            cost.delta / 2 if delta_for_calls is None else probability(delta_for_calls, "delta_for_calls", zero=True)
        )
        if share >= cost.delta:
            raise InvalidArgument("delta_for_calls", delta_for_calls, allowed=f"less than the total delta={cost.delta}")
        return cls(cost.epsilon, largest_rho(cost.epsilon, split_delta(cost.delta, share)), share)

    def excess(self, cost: Cost, held: Cost) -> BudgetExceeded | None:
        """Why ``cost`` does not fit on top of ``held``; None if it does."""
        after = held + cost
        # Costs saturate at delta = 1, which is never inside a limit, so the comparison is exact.
        if after.delta > self.delta:
            return BudgetExceeded("delta", cost.delta, self.delta - held.delta)
        pure = self.epsilon is not None and after.epsilon is not None and after.epsilon <= self.epsilon
        concentrated = self.rho is not None and after.rho <= self.rho
        if pure or concentrated:
            return None
        if self.rho is not None:
            return BudgetExceeded("rho", cost.rho, max(Fraction(0), self.rho - held.rho))
        limit, used = self.epsilon or Fraction(0), held.epsilon or Fraction(0)
        return BudgetExceeded("epsilon", cost.epsilon or Fraction(0), limit - used)

    def check_kind(self, cost: Cost) -> None:
        """Refuse a loss that this kind of total can never carry."""
        if self.rho is None and (cost.epsilon is None or cost.delta > 0):
            what = "an unbounded loss" if cost.epsilon is None else f"delta={float(cost.delta):.3g}"
            raise BudgetMismatch(
                f"{what} cannot be charged to a pure budget. A pure budget carries mechanisms with a finite epsilon "
                "and delta=0 only. Register the data with an approximate or zCDP total to use unknown domains or "
                "Gaussian noise."
            )


class Filter:
    """Keeps what was spent against a total that was fixed in advance.

    Ask ``can_afford`` with the worst case *before* running a mechanism, run it, then ``spend`` what in fact came out.
    The worst case must be known from past answers alone; the actual cost may depend on the answer only through
    the pure costs of ``PureMechanism`` and through how many selections were executed.
    """

    __slots__ = ("_limits", "_lock", "_spent", "_total")

    def __init__(self, total: Guarantee, *, delta_for_calls: Number | None = None) -> None:
        self._total = total
        self._limits = Limits.of(total, delta_for_calls=delta_for_calls)
        self._spent = Cost.nothing()
        self._lock = threading.Lock()

    @property
    def total(self) -> Guarantee:
        """What holds for the whole transcript, from the first question on."""
        return self._total

    @property
    def limits(self) -> Limits:
        """The sums at which the filter stops."""
        return self._limits

    @property
    def spent(self) -> Cost:
        """What was spent so far: a running sum, not a guarantee."""
        return self._spent

    def can_afford(self, worst_case_charge: Charge) -> bool:
        """Whether a mechanism that may cost this much can still be run."""
        cost = _reserve(worst_case_charge)
        self._limits.check_kind(cost)
        return self._limits.excess(cost, self._spent) is None

    def spend(self, actual: Charge) -> Cost:
        """Charge what came out and return the new sum; if it does not fit, charge nothing and raise."""
        cost = _settle(actual)
        self._limits.check_kind(cost)
        with self._lock:
            problem = self._limits.excess(cost, self._spent)
            if problem is not None:
                raise problem
            self._spent = self._spent + cost
            return self._spent

    def __repr__(self) -> str:
        return f"Filter(total={self._total}, spent={self._spent})"


class Odometer:
    """Runs without a single total: says which of several totals, all fixed in advance, has not been passed yet.

    For each level the transcript *up to the step before that level would be passed* keeps that level's guarantee. The
    reading is the smallest level still kept; it grows as more is spent, and never claims the exact sum.
    """

    __slots__ = ("_filters",)

    def __init__(self, levels: Sequence[Guarantee], *, delta_for_calls: Number | None = None) -> None:
        if not levels:
            raise InvalidArgument("levels", (), allowed="at least one guarantee")
        if not all(left <= right for left, right in pairwise(levels)):
            raise InvalidArgument("levels", [str(level) for level in levels], allowed="guarantees from small to large")
        self._filters = [Filter(level, delta_for_calls=delta_for_calls) for level in levels]

    @property
    def reading(self) -> Guarantee | None:
        """The smallest level that everything spent so far has kept; None once all were passed."""
        return self._filters[0].total if self._filters else None

    @property
    def spent(self) -> Cost | None:
        """The running sum; None once every level was passed."""
        return self._filters[0].spent if self._filters else None

    def spend(self, actual: Charge) -> Guarantee | None:
        """Record what came out and return the new reading.

        A level is passed as soon as the *worst case* does not fit: whether to stop must not depend on the
        answer that stopping would have withheld.
        """
        charge = actual if isinstance(actual, Cost) else tuple(_events(actual))
        self._filters = [level for level in self._filters if level.can_afford(charge)]
        for level in self._filters:
            level.spend(charge)
        return self.reading


def _refuse_share(share: Number | None) -> None:
    if share is not None:
        raise BudgetMismatch(
            "delta_for_calls only splits the delta of an (epsilon, delta) total. This total has no delta to split "
            "(pure), or names the calls' delta itself (zCDP). Leave it out."
        )


def _reserve(charge: Charge) -> Cost:
    return charge if isinstance(charge, Cost) else worst_case(_events(charge))


def _settle(charge: Charge) -> Cost:
    return charge if isinstance(charge, Cost) else actual_cost(_events(charge))


def _events(charge: Event | Iterable[Event]) -> Iterable[Event]:
    return charge if isinstance(charge, Iterable) else (charge,)
