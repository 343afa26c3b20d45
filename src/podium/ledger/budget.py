"""Budgets: what the owner of a data set promises in total, and the limits that follow from it.

The owner states an epsilon, a delta and a plan: how many items in how many questions the budget should last for.
The ledger enforces limits on the sums of delta and of rho or epsilon, on the number of questions, and on the minimum
price of a question. It computes them once, at registration, and stores them with the version of the rules, so that
no later version of podium can derive a different limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, positive_fraction, positive_integer, probability
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.bookkeeping.kinds import AnyLimits, books_of, limits_from_dict, limits_of
from podium.ledger.bookkeeping.plans import Choice, Planned, choose_filter, require_filter, selection_plan
from podium.ledger.bookkeeping.remaining import Remaining
from podium.ledger.entries import canonical_json
from podium.privacy import Cost, Guarantee, SelectionPlan, bounded_range_rho
from podium.privacy.documents import StoredDocument
from podium.privacy.rounding import decimal_repr
from podium.storage.labels import exact_text

__all__ = ["DEFAULT_ITEMS", "DEFAULT_QUESTIONS", "RULES", "Budget", "Totals"]

RULES: Final = 2
"""The version of the rules for new data sets. 1: limits on sums; failures lock the data set. 2: also a limit on
questions and a minimum price; failures lock the analyst who caused them, and ten times as many lock everybody."""

_RULES_OF_FILTERS: Final = 3
"""3: the same, and a Gaussian filter. A data set without one is still registered under the second rules."""

DEFAULT_ITEMS: Final = 100
DEFAULT_QUESTIONS: Final = 10
"""The plan of an owner who states none. It is stored like any other, so that it may change for later budgets."""
_QUESTIONS_PER_PLANNED: Final = 10
_MINIMUM_RHO_DIVISOR: Final = 400
_MINIMUM_EPSILON_DIVISOR: Final = 20
"""Twenty squared is four hundred: rho grows with the square of epsilon."""


@dataclass(frozen=True, slots=True, init=False)
class Budget(StoredDocument):
    """A total for everything that is ever released about a data set, and the plan of its owner.

    ``epsilon`` and ``delta`` hold for any one user against all analysts together; without delta the total is pure, and
    unknown domains are refused. ``items`` and ``questions`` (k* and l* of Durfee & Rogers 2019, Algorithm 2) say how
    many selections in how many questions the budget should last for, 100 items in 10 questions if that is not stated;
    the default epsilon per item follows.
    ``filter`` is how charges add up: "zcdp" (sums of rho), "gaussian" (which holds a tenth to a seventh more where no
    step is large), or "auto", the one that holds more of the planned questions. It is chosen once, at registration.
    Half of delta is for the questions, half for the conversion from rho to epsilon. At most ``max_questions``
    are answered, however little each costs; the default is ten times ``questions``. Stored answers, refusals and
    schedules do not count.

    ``epsilon_per_analyst`` caps what one analyst may see: a second guarantee, which holds against that analyst alone
    if nobody shares answers; ``delta_per_analyst`` is ``delta`` unless given.
    """

    __repr__ = decimal_repr

    epsilon: Fraction
    delta: Fraction
    items: int
    questions: int
    epsilon_per_analyst: Fraction | None
    delta_per_analyst: Fraction | None
    max_questions: int
    filter: str

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number | None = None,
        items: int = DEFAULT_ITEMS,
        questions: int = DEFAULT_QUESTIONS,
        epsilon_per_analyst: Number | None = None,
        delta_per_analyst: Number | None = None,
        max_questions: int | None = None,
        filter: str = "zcdp",  # noqa: A002 - the name of the option everywhere
    ) -> None:
        loss = positive_fraction(epsilon, "epsilon")
        failure = probability(0 if delta is None else delta, "delta", zero=True)
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "delta", failure)
        object.__setattr__(self, "items", positive_integer(items, "items"))
        object.__setattr__(self, "questions", positive_integer(questions, "questions"))
        object.__setattr__(self, "epsilon_per_analyst", _cap(epsilon_per_analyst, loss))
        object.__setattr__(self, "delta_per_analyst", _cap_delta(delta_per_analyst, failure, epsilon_per_analyst))
        object.__setattr__(self, "max_questions", _max_questions(max_questions, self.questions))
        object.__setattr__(self, "filter", require_filter(filter, failure))

    @property
    def pure(self) -> bool:
        """Whether the total is pure: an epsilon without a delta."""
        return self.delta == 0

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for every user, whatever is asked, until the total is raised."""
        return Guarantee.approximate(self.epsilon, self.delta)

    @property
    def plan(self) -> SelectionPlan:
        """The default epsilon per item and delta per question: a plan that the ledger's filter holds."""
        return selection_plan(self.choice.filter, self._planned)

    @property
    def choice(self) -> Choice:
        """The kind of filter that a data set is registered with, and the reason."""
        return choose_filter(self._planned) if self.filter == "auto" else Choice(self.filter, "asked for")

    def with_filter_of(self, other: Budget) -> Budget:
        """The same budget; where the choice was left to podium, as it was made for another one."""
        return replace(self, filter=other.filter) if self.filter == "auto" else self

    @property
    def _planned(self) -> Planned:
        loss, slack = self.epsilon_per_analyst, self.delta_per_analyst
        cap = None if loss is None else (loss, slack or Fraction(0))
        return Planned(self.epsilon, self.delta, self.items, self.questions, cap)

    def to_dict(self) -> dict[str, Any]:
        """A JSON object with exact numbers as text."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "items": self.items,
            "questions": self.questions,
            "epsilon_per_analyst": exact_text(self.epsilon_per_analyst),
            "delta_per_analyst": exact_text(self.delta_per_analyst),
            "max_questions": self.max_questions,
            # Left out where it is what all budgets were before there was a choice.
            **({} if self.filter == "zcdp" else {"filter": self.filter}),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Budget:
        """The budget that ``to_dict`` wrote."""
        try:
            return cls(**{"filter": "zcdp", **document})
        except TypeError:
            raise InvalidArgument("budget", document, allowed="what Budget.to_dict wrote") from None


@dataclass(frozen=True, slots=True)
class Totals(StoredDocument):
    """A budget with the limits that were derived from it when it was recorded, under a version of the rules.

    ``minimum_price`` is what the cheapest question may cost: a rho, or an epsilon if the total is pure.
    """

    __repr__ = decimal_repr

    budget: Budget
    limits: AnyLimits
    per_analyst: AnyLimits | None
    epsilon_per_item: Fraction
    delta_per_call: Fraction
    minimum_price: Fraction
    rules: int
    books: Books = field(init=False, compare=False, repr=False)
    """How the total is kept."""
    cap: Books | None = field(init=False, compare=False, repr=False)
    """How the cap of each analyst is kept, if there is one."""
    text: str = field(init=False, compare=False, repr=False)
    """The canonical JSON of the object."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "books", books_of(self.limits))
        object.__setattr__(self, "cap", None if self.per_analyst is None else books_of(self.per_analyst))
        object.__setattr__(self, "text", canonical_json(self.to_dict()))

    @classmethod
    def of(cls, budget: Budget, *, rules: int = RULES) -> Totals:
        """Derive the limits. With a delta, half of it is for the calls, and rho or epsilon is summed."""
        Guarantee.of(budget.epsilon, budget.delta)
        kind = budget.choice.filter
        budget = replace(budget, filter=kind)
        if kind != "zcdp":
            rules = _RULES_OF_FILTERS
        plan, cap = budget.plan, None
        if budget.epsilon_per_analyst is not None:
            cap = limits_of(kind, budget.epsilon_per_analyst, budget.delta_per_analyst or Fraction(0))
        single, limits = plan.epsilon_per_item, limits_of(kind, budget.epsilon, budget.delta)
        by_epsilon, by_rho = single / _MINIMUM_EPSILON_DIVISOR, bounded_range_rho(single) / _MINIMUM_RHO_DIVISOR
        minimum = Fraction(0) if rules == 1 else by_epsilon if budget.pure else by_rho
        return cls(budget, limits, cap, single, plan.delta_per_call, minimum, rules)

    @property
    def max_questions(self) -> int | None:
        """How many questions may be answered; None under rules that did not limit them."""
        return None if self.rules == 1 else self.budget.max_questions

    @property
    def whole(self) -> Remaining:
        """What there is before anything is charged."""
        return self.books.remaining(Sum())

    def price(self, cost: Cost) -> Fraction:
        """What a question costs, in the measure of the minimum price."""
        return (cost.epsilon or Fraction(0)) if self.budget.pure else cost.rho

    def cover(self, other: Totals) -> bool:
        """Whether every limit on sums is at least the other's, of the same kind, and under the same rules."""
        if self.rules != other.rules or (self.per_analyst is None) != (other.per_analyst is None):
            return False
        pairs = [(self.books, other.books)]
        if self.cap is not None and other.cap is not None:
            pairs.append((self.cap, other.cap))
        return all(large.covers(small) for large, small in pairs)

    def to_dict(self) -> dict[str, Any]:
        """A JSON object with exact numbers as text; under the first rules, what was written then."""
        budget, later = self.budget.to_dict(), {"least": str(self.minimum_price), "rules": self.rules}
        if self.rules == 1:
            del budget["max_questions"]
            later = {}
        return {
            "budget": budget,
            "limits": self.books.to_dict(),
            "per_analyst": None if self.cap is None else self.cap.to_dict(),
            "epsilon_per_item": str(self.epsilon_per_item),
            "delta_per_call": str(self.delta_per_call),
            **later,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Totals:
        """The totals that ``to_dict`` wrote, as they were derived then."""
        cap, rules = document["per_analyst"], positive_integer(document.get("rules", 1), "rules")
        if rules > _RULES_OF_FILTERS:
            raise InvalidArgument("rules", rules, allowed=f"up to {_RULES_OF_FILTERS}", hint="Install a newer podium.")
        return cls(
            Budget.from_dict(document["budget"]),
            limits_from_dict(document["limits"]),
            None if cap is None else limits_from_dict(cap),
            exact_fraction(document["epsilon_per_item"], "epsilon_per_item"),
            exact_fraction(document["delta_per_call"], "delta_per_call"),
            exact_fraction(document.get("least", 0), "least"),
            rules,
        )


def _cap(value: Number | None, total: Fraction) -> Fraction | None:
    if value is None:
        return None
    cap = positive_fraction(value, "epsilon_per_analyst")
    if cap > total:
        raise InvalidArgument("epsilon_per_analyst", value, allowed=f"at most the total epsilon={total}")
    return cap


def _cap_delta(value: Number | None, total: Fraction, epsilon: Number | None) -> Fraction | None:
    if epsilon is None:
        if value is None:
            return None
        raise InvalidArgument("delta_per_analyst", value, allowed="None without epsilon_per_analyst")
    cap = total if value is None else probability(value, "delta_per_analyst", zero=True)
    if cap > total or (cap == 0) != (total == 0):
        raise InvalidArgument(
            "delta_per_analyst", value, allowed=f"above 0 and at most delta={total}; 0 if the total is pure"
        )
    return cap


def _max_questions(value: int | None, planned: int) -> int:
    if value is None:
        return _QUESTIONS_PER_PLANNED * planned
    allowed = positive_integer(value, "max_questions")
    if allowed < planned:
        raise InvalidArgument("max_questions", value, allowed=f"at least questions={planned}, which is the plan")
    return allowed
