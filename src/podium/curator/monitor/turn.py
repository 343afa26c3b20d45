"""One period: find items if it is time to, then choose the list from items that earlier releases named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from podium.curator.curator import Curator
from podium.curator.monitor.periods import Found, Record, Role
from podium.curator.monitor.windows import Subject, schedule_question
from podium.curator.prepare import PlannedQuestion
from podium.errors import BudgetExceeded, InvalidArgument
from podium.planning.schedule.calendar import Period
from podium.planning.schedule.group_plan import GroupedSchedulePlan
from podium.planning.schedule.schedule_plan import SchedulePlan
from podium.planning.schedule.shares import RemainingBudget, Sharing, Unit, candidates_for
from podium.privacy import Limits
from podium.release import Receipt, Release
from podium.sources import Domain, DomainItems

__all__ = ["Task", "Turn", "empty_list"]

_MIN_SHARE = Fraction(1, 100)
"""A list with less than this part of the planned epsilon would be mostly noise, and is refused."""


@dataclass(frozen=True, slots=True)
class Task:
    """What all periods share."""

    key: str
    subject: Subject
    plan: SchedulePlan | GroupedSchedulePlan
    domain: Domain | None

    @property
    def alone(self) -> bool:
        """Whether a period has its own share, from which nothing is carried forward."""
        return self.plan.unit is Unit.USER_PERIOD

    @property
    def sharing(self) -> Sharing:
        """How the budget is divided: among all periods, or within the share of one."""
        whole = self.plan.sharing
        return Sharing(1, known=self.domain is not None, grouped=whole.grouped) if self.alone else whole

    @property
    def one_list(self) -> SchedulePlan:
        """The plan of a schedule whose lists are chosen from a domain."""
        return cast(SchedulePlan, self.plan)


@dataclass(slots=True)
class Turn:
    """One period. ``found`` is what earlier periods named; this one adds its own.

    ``record`` is what the ledger has about the period, and ``read`` reads it again.
    """

    task: Task
    period: Period
    curator: Curator
    record: Record
    read: Callable[[], Record]
    found: Found

    def release(self) -> Release | None:
        """The list; None if there is nothing to ask, or failed attempts used up the period's own share."""
        self._require_closed()
        try:
            return self._release()
        except BudgetExceeded:
            if self.task.alone:
                return None
            raise

    def _require_closed(self) -> None:
        if self.record.open:
            raise InvalidArgument(
                "period",
                self.period.label,
                allowed="a period that no other process is asking about",
                hint="Run the schedule again later: what that process releases is then free.",
            )

    def _release(self) -> Release | None:
        stored, finding = self.record.release(Role.LIST), self.record.release(Role.FINDING)
        k = self.task.subject.k
        if stored is None and finding is None and self._in_rounds():
            return self._list_in_rounds()
        if stored is None and finding is None and self._must_find():
            finding = self._find()
            self.record = self.read()
            self._require_closed()
            stored = self.record.release(Role.LIST)
        if finding is not None:
            self.found.add_search(finding)
        if stored is not None:
            self.found.add_list(stored)
            return replace(stored, k=k)
        domain, size = self._domain()
        if size == 0:
            # Nothing was ever found. An attempt to find something was paid for; without one nothing is asked.
            return None if finding is None else empty_list(finding, k)
        release = self._list(domain, size, min(k, size))
        events = (*(finding.paid.events if finding else ()), *release.paid.events)
        return replace(release, k=k, paid=Receipt(events, entry=release.paid.entry))

    def _in_rounds(self) -> bool:
        """Decided by the plan and by releases, as everything here."""
        found = self.found
        return self.task.sharing.asks_in_rounds(
            self.task.subject.k, searches=found.searches, lists=found.lists, items=found.items
        )

    def _list_in_rounds(self) -> Release:
        sharing, whole = self.task.sharing, self.task.plan.limits.rho or Fraction(0)
        # Rho grows like the square of epsilon.
        minimum = whole / len(sharing.lists) * _MIN_SHARE**2
        rho, delta = sharing.for_rounds(self._place, self._remaining(), minimum=minimum)
        listed = self._ask(self.task.subject.rounds_question(self.period, rho, delta), Role.LIST)
        self.found.add_list(listed)
        return listed

    def _must_find(self) -> bool:
        """Decided by the plan and by releases: while too little was found, more periods search."""
        if self.task.domain is not None:
            return False
        short = self._domain()[1] < self.task.subject.k
        if self.task.alone and short:
            # The period has a budget of its own, from which no later one is taken.
            return True
        return self.task.plan.sharing.searches(self.period.index, done=self.found.searches, short=short)

    def _domain(self) -> tuple[Domain, int]:
        """The items to choose from: stated, or named by releases of this schedule, never read from rows."""
        if self.task.domain is not None:
            return self.task.domain, self.task.one_list.domain_size
        items = self.found.domain(candidates_for(self.task.subject.k))
        return DomainItems(items), len(items)

    def _find(self) -> Release:
        rho, delta = self.task.sharing.for_finding(self._place, self._remaining())
        # The proof for weights adds or removes a whole user, so it does not cover a part of a user's rows.
        opens = self.period.starts if self.task.alone else self.period.opens
        return self._ask(self.task.subject.finding_question(opens, self.period.closes, rho, delta), Role.FINDING)

    def _list(self, domain: Domain, size: int, k: int) -> Release:
        # Priced for all k items: what a shorter list does not use is carried forward.
        minimum = self.task.one_list.planned_epsilon(self._place) * _MIN_SHARE
        epsilon = self.task.sharing.per_item(self._place, self._remaining(), self.task.subject.k, minimum=minimum)
        pure = self.task.plan.limits.rho is None
        planned = self.task.subject.list_question(self.period, domain, size, epsilon, k=k, pure=pure)
        return self._ask(planned, Role.LIST)

    def _ask(self, planned: PlannedQuestion, role: Role) -> Release:
        attempts = sum(attempt.role is role for attempt in self.record.attempts)
        key = f"{self.task.key} {self.period.label} {role} {attempts + 1}"
        text = schedule_question(planned, self.task.key, self.period.label, role)
        # The period's cap holds only if no entry was added between reading the record and charging.
        return self.curator.answer_planned(
            planned, text=text, key=key, after=self.record.head if self.task.alone else None
        )

    @property
    def _place(self) -> int:
        return 0 if self.task.alone else self.period.index

    def _remaining(self) -> RemainingBudget:
        """What may be used now, from the totals and earlier charges."""
        status = self.curator.status
        left = RemainingBudget(status.remaining.epsilon, status.remaining.rho, status.remaining.delta)
        if not self.task.alone:
            return left
        whole = status.totals.whole
        part = RemainingBudget.of(Limits(whole.epsilon, whole.rho, whole.delta), self.task.plan.parts)
        # All attempts of this period by any process; failed ones stay charged.
        spent = self.record.cost
        return RemainingBudget(
            _rest_of_share(part.epsilon, spent.epsilon, left.epsilon),
            _rest_of_share(part.rho, spent.rho, left.rho),
            max(Fraction(0), min(part.delta - spent.delta, left.delta)),
        )


def empty_list(finding: Release, k: int) -> Release:
    """The list of a period before anything was found: empty, with the receipt of the search."""
    return replace(finding, outcome=(), values=None, value_kind=None, k=k)


def _rest_of_share(part: Fraction | None, spent: Fraction | None, left: Fraction | None) -> Fraction | None:
    """What is left of a share, at most what is left in total; None if this measure is not kept."""
    if part is None or spent is None or left is None:
        return None
    return max(Fraction(0), min(part - spent, left))
