"""The questions of a schedule: rows of a window, a round of finding, a list from what was found."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from podium.curator.monitor.periods import Role, question_identity
from podium.curator.prepare import SHOWN_SALT, Asked, question_about
from podium.curator.reuse import question_text
from podium.errors import InvalidArgument
from podium.mechanisms import Weights
from podium.planning.facts import Facts
from podium.planning.planner import Allowance, Plan, plan_for
from podium.planning.schedule.calendar import Every, Period, Schedule
from podium.planning.schedule.shares import stage_for
from podium.privacy import total
from podium.query import Column, Kind, Predicate, Question
from podium.query.canonical import all_of
from podium.query.predicate import Compare, Operator
from podium.sources import CountQuery, Domain, Source

__all__ = ["Subject", "schedule_key", "schedule_question", "subject_of"]

_WHY = "Items that nobody named before are found by noisy counts above a threshold that hides what one user has."


@dataclass(frozen=True, slots=True)
class Subject:
    """What a schedule is about: whose items, at which time, under which condition."""

    items: tuple[str, ...]
    user: str
    time: Column
    where: Predicate | None
    k: int
    most: int

    def finding(self, opens: dt.datetime, closes: dt.datetime, rho: Fraction, delta: Fraction) -> Asked:
        """A round of finding among the rows between these times."""
        stage = stage_for(self.k, self.most, rho, delta)
        size = stage.k or self.k
        plan = Plan(
            facts=Facts(k=size, max_items_per_user=self.most, mechanism="adaptive"),
            mechanism=stage,
            measure=None,
            promise=total(stage.worst_case),
            why=_WHY,
            reach=stage.count_threshold,
            reach_sentence="",
            epsilon_per_item=None,
            delta_per_call=delta,
        )
        return Asked(self._question(opens, closes, size), plan, None, self.user)

    def listed(
        self, period: Period, domain: Domain, size: int, epsilon_per_item: Fraction, *, k: int, pure: bool
    ) -> Asked:
        """The list of a period, chosen from a domain of this size."""
        facts = Facts(k=k, domain_size=size)
        plan = plan_for(facts, Allowance(epsilon_per_item=epsilon_per_item, pure=pure))
        return Asked(self._question(period.opens, period.closes, k), plan, domain, self.user)

    def first_reading(self, period: Period, *, known: bool) -> CountQuery:
        """What a schedule reads first, a round of finding unless the items are ``known``; zeros for the salt."""
        where = self._question(period.opens, period.closes, self.k).where
        if known:
            return CountQuery(self.items, self.user, where)
        weights = Weights.spread(self.most)
        return CountQuery(self.items, self.user, where, weights.cap, SHOWN_SALT, weights=weights.steps)

    def _question(self, opens: dt.datetime, closes: dt.datetime, k: int) -> Question:
        """With conditions of exactly the column's kind, made here: no row can make them fail."""
        low, high = (edge.date() if self.time.kind is Kind.DATE else edge for edge in (opens, closes))
        window: list[Predicate] = [
            Compare(self.time.name, Operator.AT_LEAST, low),
            Compare(self.time.name, Operator.LESS, high),
        ]
        return Question(self.items, k, all_of(window if self.where is None else [*window, self.where]))


def subject_of(
    source: Source, *, item: str | Iterable[str], user: str, time: str, where: str | Iterable[str] | None, k: int,
    most: int, schedule: Schedule,
) -> Subject:  # fmt: skip
    """The subject, checked against the schema."""
    question = question_about(source, item, k, where)
    if user in question.items:
        raise InvalidArgument("item", user, allowed="a column other than the user column")
    column = source.schema().column(time, role="time")
    if column.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise InvalidArgument(
            "time",
            time,
            allowed="a column of dates or timestamps",
            hint=f"Column {time!r} is {column.kind}. Columns of CSV files have a type if it is declared: "
            f"types={{{time!r}: 'timestamp'}}, or --types {time}=timestamp.",
        )
    on_days = schedule.every is not Every.HOUR and schedule.start.time() == dt.time()
    if column.kind is Kind.DATE and not on_days:
        raise InvalidArgument(
            "time", time, allowed="a column of timestamps for periods that do not begin at midnight",
            hint=f"Column {time!r} has dates only.",
        )  # fmt: skip
    return Subject(question.items, user, column, question.where, k, most)


def schedule_key(subject: Subject, schedule: Schedule, unit: str, domain: str | None) -> str:
    """The same for the same schedule, however it is written; how many periods it has may grow."""
    described = {
        "subject": Question(subject.items, subject.k, subject.where).subject,
        "user": subject.user,
        "time": subject.time.name,
        "k": subject.k,
        "start": schedule.start.isoformat(),
        "every": schedule.every.value,
        "span": schedule.span,
        "unit": unit,
        "domain": domain,
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]


def schedule_question(asked: Asked, schedule: str, period: str, role: Role) -> str:
    """The whole question, for the ledger."""
    return json.dumps({**json.loads(question_text(asked)), **question_identity(schedule, period, role)}, sort_keys=True)
