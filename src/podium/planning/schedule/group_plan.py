"""The plan of a schedule with a list for each group: every list is found in rounds of its own, in its window."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import Number, exact_integer
from podium.planning.facts import Facts
from podium.planning.question_budget import RoundsBudget
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.promise import SchedulePromise
from podium.planning.schedule.schedule_plan import no_delta
from podium.planning.schedule.shares import RemainingBudget, Sharing, Unit
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import Guarantee, Limits, zcdp_epsilon
from podium.privacy.rounding import display

__all__ = ["GroupedSchedulePlan", "plan_grouped_schedule"]

_HINT = (
    "Rows of one period decide with the others in which groups a user counts, so their weight is not that of a user."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedSchedulePlan(SchedulePromise):
    """A schedule with lists for groups; ``first`` and ``last`` are how the first and the last list are found."""

    groups: str
    first: Strategy
    last: Strategy

    def share(self, index: int) -> tuple[Fraction, Fraction]:
        """(rho, delta) of the lists of this period if all before it used their full shares."""
        if self.unit is Unit.USER_PERIOD:
            return _share(Sharing(1, grouped=True), 0, self.limits)
        return _share(self.sharing, index, self.limits)

    def loss(self, periods: int) -> tuple[Fraction, Fraction]:
        """The total (epsilon, delta) of a user with rows in ``periods`` consecutive periods."""
        number = min(exact_integer(periods, "periods", minimum=1), self.schedule.periods)
        if self.unit is Unit.USER or number == 1:
            return self.guarantee.epsilon(), self.guarantee.cost.delta
        # A row is in the lists of one period, which may use all of its total.
        converted = self.guarantee.cost.delta - self.limits.delta
        rho = number * (self.limits.rho or Fraction(0))
        return zcdp_epsilon(rho, converted), converted + number * self.limits.delta

    def facts(self) -> list[tuple[str, str]]:
        """The plan in labelled lines, for people."""
        return [
            *self._first_facts(),
            ("groups", self.groups),
            ("lists", self._lists()),
            ("cost", self._cost()),
            ("every day", self._always()),
        ]

    def _lists(self) -> str:
        text = f"up to {self.k} items in each group. {self.first.reach_sentence}"
        if self.last.reach_sentence == self.first.reach_sentence:
            return text
        return f"{text} In the last list: {self.last.reach_sentence}"

    def _cost(self) -> str:
        rho, delta = self.share(self.sharing.lists[0])
        each = "each list" if not self.sharing.growing else "the first list and more for later ones"
        return (
            f"rho {display(rho)} and delta {display(delta)} for {each}, for all groups together; at most rho "
            f"{display(self.limits.rho or Fraction(0))} {self._carried()}"
        )

    def _list_data(self) -> dict[str, Any]:
        rho, hidden = self.share(self.sharing.lists[0])
        return {
            "groups": self.groups,
            "list_rho": str(rho),
            "list_delta": str(hidden),
            "lists": len(self.sharing.lists),
            "found_from": str(self.first.reach),
        }


def plan_grouped_schedule(
    schedule: Schedule,
    facts: Facts,
    *,
    epsilon: Number,
    delta: Number,
    groups: str,
    unit: str = Unit.USER,
    remeasure: int | None = None,
) -> GroupedSchedulePlan:
    """The plan within (epsilon, delta) of lists that ``facts`` describe; ``groups`` says which these are."""
    protected = Unit.parse(unit)
    alone = protected is Unit.USER_PERIOD
    if alone and schedule.span != 1:
        raise InvalidArgument(
            "unit", protected.value, allowed="'user' where windows overlap and there is a list for each group",
            hint=_HINT,
        )  # fmt: skip
    protected.check_remeasure(remeasure)
    guarantee = Guarantee.of(epsilon, delta)
    if guarantee.cost.delta == 0:
        raise no_delta(delta, "state a delta")
    limits = Limits.of(guarantee)
    sharing = Sharing(schedule.periods, remeasure=remeasure, span=schedule.span, grouped=True)
    shared = Sharing(1, grouped=True) if alone else sharing
    ends = [_share(shared, index, limits) for index in (shared.lists[0], shared.lists[-1])]
    first, last = (strategy_for(facts, RoundsBudget(mu_squared=2 * rho, delta=hidden)) for rho, hidden in ends)
    return GroupedSchedulePlan(
        schedule=schedule,
        unit=protected,
        k=facts.k,
        guarantee=guarantee,
        limits=limits,
        sharing=sharing,
        measure=facts.measure,
        groups=groups,
        first=first,
        last=last,
    )


def _share(sharing: Sharing, index: int, limits: Limits) -> tuple[Fraction, Fraction]:
    """(rho, delta) of a list if all before it used their full shares."""
    return sharing.for_rounds(index, sharing.before_rounds(index, RemainingBudget.of(limits)))
