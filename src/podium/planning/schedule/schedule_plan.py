"""The plan of a schedule, from public facts: what comes back, what it costs, and what it guarantees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from podium.errors import InvalidArgument
from podium.exact import Number, exact_integer
from podium.mechanisms import TruncatedGaussianHistogram
from podium.mechanisms.measures.clipped_sums import grid_bits_of
from podium.planning.facts import MAX_K, Facts, MeasureFacts
from podium.planning.reach import MISS_PROBABILITY, log_over, round_up
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.promise import SchedulePromise, some_periods
from podium.planning.schedule.shares import RemainingBudget, Sharing, Unit, candidates_for, stage_for
from podium.privacy import Guarantee, Limits, bounded_range_rho, zcdp_epsilon
from podium.privacy.rounding import display

__all__ = ["DEFAULT_MAX_ITEMS_PER_USER", "SchedulePlan", "no_delta", "plan_schedule"]

DEFAULT_MAX_ITEMS_PER_USER = 1_000
"""How many items of a user count in a round of finding, by default."""
_NORMAL_QUANTILE = Fraction(1645, 1000)
"""A standard normal variable is below it with probability 0.95."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePlan(SchedulePromise):
    """A schedule and how its budget is divided if every period uses its full share."""

    domain_size: int
    epsilon_per_item: Fraction
    lists_rho: Fraction
    stage: TruncatedGaussianHistogram | None

    def planned_epsilon(self, index: int) -> Fraction:
        """The epsilon of each selection in this period's list if every period uses its full share."""
        if not self.sharing.growing:
            return self.epsilon_per_item
        return self.sharing.per_item(index, self.sharing.before_list(index, RemainingBudget.of(self.limits)), self.k)

    @property
    def lead(self) -> Fraction:
        """How many more users than the (k+1)-th an item of the top k needs to come back with probability 0.95.

        That is in the first list. Where events or a sum rank, it is an amount of these.
        """
        return self._lead(self.epsilon_per_item)

    @property
    def last_lead(self) -> Fraction:
        """The same in the last list."""
        return self._lead(self.planned_epsilon(self.sharing.lists[-1]))

    def _lead(self, epsilon: Fraction) -> Fraction:
        others = max(self.domain_size - self.k, 1)
        users = log_over(Fraction(others) / MISS_PROBABILITY, epsilon)
        # Sums are rounded down to a part of the clip: docs/proofs/measures.md, Theorem 7.
        step = Fraction(1, 1 << grid_bits_of(epsilon))
        return users if self.measure is None else (users + step) * self._largest

    @property
    def found_from(self) -> Fraction | None:
        """With how many users who have nothing else an item is found with probability 0.95; None without finding.

        Where events or a sum rank, it is an amount of these.
        """
        if self.stage is None:
            return None
        found = self.stage.count_threshold + _NORMAL_QUANTILE * self.stage.count_sigma
        return found if self.measure is None else found * self.measure.unit

    @property
    def list_rho(self) -> Fraction:
        """The cost of the first list."""
        return self.k * bounded_range_rho(self.epsilon_per_item)

    @property
    def by_epsilon(self) -> bool:
        """Whether the sum of the lists' epsilons keeps the total, because it allows more than their rho."""
        rho = self.lists_rho if self.unit is Unit.USER else self.parts * self.list_rho
        return self.stage is None and self.limits.rho is not None and rho > self.limits.rho

    def loss(self, periods: int) -> tuple[Fraction, Fraction]:
        """The total (epsilon, delta) of a user with rows in ``periods`` consecutive periods."""
        number = exact_integer(periods, "periods", minimum=1)
        total = self.guarantee
        if self.unit is Unit.USER:
            return total.epsilon(), total.cost.delta
        # A row is in `parts` lists, each of which may use one of as many parts of the total.
        lists = max(min(number + self.parts - 1, self.schedule.periods), self.parts)
        times = Fraction(lists, self.parts)
        if self.limits.rho is None or times == 1:
            return times * total.epsilon(), times * total.cost.delta
        converted = total.cost.delta - self.limits.delta
        rho = lists * self.list_rho if self.by_epsilon else times * self.limits.rho
        options = [zcdp_epsilon(rho, converted)]
        if self.stage is None:
            # Without finding there are only lists, whose selections all have an epsilon.
            options.append(lists * self.k * self.epsilon_per_item)
        return min(options), converted + times * self.limits.delta

    def facts(self) -> list[tuple[str, str]]:
        """The plan in labelled lines, for people."""
        return [
            *self._first_facts(),
            *([("in rounds", self._in_rounds())] if self.sharing.in_rounds else []),
            ("lists", self._lists()),
            ("finding", self._finding()),
            ("cost", self._cost()),
            ("every day", self._always()),
        ]

    def _in_rounds(self) -> str:
        return (
            f"each list is found in rounds of its own in the rows of its {self.schedule.every}, while these lists have "
            "half of their items; then as below"
        )

    def _lists(self) -> str:
        last, more = self.sharing.lists[-1], self._more(self.lead)
        epsilon = display(self.epsilon_per_item)
        if self._lists_differ:
            epsilon += f" ({display(self.planned_epsilon(last))} in the last list)"
            more += f" ({self._more(self.last_lead)} in the last list)"
        return (
            f"{self.k} of at most {self.domain_size:,} items, epsilon {epsilon} per item: an "
            f"item of the top {self.k} comes back with probability 0.95 if it has {more} than the one of rank "
            f"{self.k + 1}"
        )

    @property
    def _lists_differ(self) -> bool:
        """Whether the first lists get less of the budget than the last."""
        return display(self.planned_epsilon(self.sharing.lists[-1])) != display(self.epsilon_per_item)

    def _more(self, lead: Fraction) -> str:
        return f"{round_up(lead)} more users" if self.measure is None else f"{display(lead)} more"

    def _finding(self) -> str:
        found = self.found_from
        if found is None:
            return "nothing has to be found: the domain is stated"
        # Weights are proved for whole users, not for a part of their rows: docs/proofs/monitor.md.
        where = f" in a {self.schedule.every}" if self.parts > 1 else ""
        size = f"{round_up(found)} users" if self.measure is None else f"{display(found)} by users"
        return (
            f"{self._rounds()}: an item enters with probability 0.95 from "
            f"{size} who have nothing else{where}, or 10 times as many who have 100 items each"
        )

    def _rounds(self) -> str:
        times = self.sharing.finding
        if len(times) == 1:
            return "once"
        steps = {later - earlier for earlier, later in pairwise(times)}
        if len(steps) == 1:
            return f"{len(times)} times, every {some_periods(steps.pop(), self.schedule)}"
        return f"{len(times)} times, when lists are measured"

    def _cost(self) -> str:
        each = "for the first list and more for later ones" if self._lists_differ else "for each list"
        if self.limits.rho is None:
            first = self.k * self.epsilon_per_item
            return f"epsilon {display(first)} {each}; what is not used is carried forward"
        text = f"rho {display(self.list_rho)} {each}"
        if self.stage is not None:
            search = "the first" if self.sharing.growing and self.sharing.rounds > 1 else "each"
            rho = sum((event.rho for event in self.stage.worst_case), Fraction(0))
            text += f", rho {display(rho)} and delta {display(self.stage.delta)} for {search} round of finding"
        if self.sharing.in_rounds:
            rho, delta = self.sharing.for_rounds(0, RemainingBudget.of(self.limits))
            text = f"rho {display(rho)} and delta {display(delta)} for each list in rounds of its own; then {text}"
        most = f"epsilon {display(self.guarantee.epsilon())}" if self.by_epsilon else f"rho {display(self.limits.rho)}"
        return f"{text}; at most {most} {self._carried()}"

    def _list_data(self) -> dict[str, Any]:
        return {
            "epsilon_per_item": str(self.epsilon_per_item),
            "list_rho": str(self.list_rho),
            "lead": str(self.lead),
            "lists": len(self.sharing.lists),
            "domain_size": self.domain_size,
            "rounds_of_finding": self.sharing.rounds,
            "found_from": None if self.found_from is None else str(self.found_from),
        }


def plan_schedule(
    schedule: Schedule,
    *,
    k: int,
    epsilon: Number,
    delta: Number,
    unit: str = Unit.USER,
    domain_size: int | None = None,
    rediscover: int | None = None,
    remeasure: int | None = None,
    max_items_per_user: int | None = None,
    measure: MeasureFacts | None = None,
) -> SchedulePlan:
    """The plan of a schedule within (epsilon, delta). No row is read."""
    protected = Unit.parse(unit)
    _check_unit(protected, schedule, remeasure)
    number = _check_k(k, domain_size)
    guarantee = Guarantee.of(epsilon, delta)
    if guarantee.cost.delta == 0 and domain_size is None:
        raise no_delta(delta, "state the domain, or a delta")
    limits = Limits.of(guarantee)
    alone = protected is Unit.USER_PERIOD
    sharing = Sharing(
        schedule.periods, rediscover=rediscover, known=domain_size is not None, remeasure=remeasure,
        span=1 if alone else schedule.span,
        # The weights of rounds are proved for whole users, and amounts have no rounds here.
        in_rounds=not alone and measure is None and domain_size is None and Facts(k=number).adaptive,
    )  # fmt: skip
    remaining = RemainingBudget.of(limits, schedule.overlap if alone else 1)
    first = Sharing(1, known=domain_size is not None) if alone else sharing
    stage = None
    if domain_size is None:
        rho, share = first.for_finding(0, remaining)
        bound = max_items_per_user or DEFAULT_MAX_ITEMS_PER_USER
        stage = stage_for(number, bound, rho, share, clip=1 if measure is None else measure.clip or 1)
        remaining = RemainingBudget(None, (remaining.rho or 0) - rho, remaining.delta - share)
    single = first.per_item(0, remaining, number)
    plan = SchedulePlan(
        schedule=schedule,
        unit=protected,
        k=number,
        guarantee=guarantee,
        limits=limits,
        sharing=sharing,
        domain_size=candidates_for(number) if domain_size is None else domain_size,
        epsilon_per_item=single,
        lists_rho=len(sharing.lists) * number * bounded_range_rho(single),
        stage=stage,
        measure=measure,
    )
    if not sharing.growing:
        return plan
    epsilons = map(plan.planned_epsilon, sharing.lists)
    return replace(plan, lists_rho=sum((number * bounded_range_rho(each) for each in epsilons), Fraction(0)))


def _check_unit(protected: Unit, schedule: Schedule, remeasure: int | None) -> None:
    if protected is Unit.USER_PERIOD and schedule.span is None:
        raise InvalidArgument(
            "unit",
            protected.value,
            allowed="'user' with window='growing'",
            hint="Rows of the first period are in every list of a growing window, so the whole schedule counts.",
        )
    protected.check_remeasure(remeasure)


def no_delta(delta: Number, instead: str) -> InvalidArgument:
    """Why items that nobody listed need a delta, and what to say ``instead``."""
    return InvalidArgument(
        "delta",
        delta,
        allowed="a number with 0 < value < 1",
        hint=f"Items that are not known beforehand cannot be found with delta=0: {instead}.",
    )


def _check_k(k: int, domain_size: int | None) -> int:
    """k as an integer within public limits."""
    number = exact_integer(k, "k", minimum=1)
    maximum = MAX_K if domain_size is None else min(MAX_K, exact_integer(domain_size, "domain_size", minimum=1))
    if number > maximum:
        raise InvalidArgument("k", k, allowed=f"an integer from 1 to {maximum}")
    return number
