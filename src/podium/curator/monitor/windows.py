"""The questions of a schedule: rounds of finding, and lists from what was found, each for one window."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from podium.curator.monitor.periods import Role, question_identity
from podium.curator.prepare import PLACEHOLDER_SALT, PlannedQuestion
from podium.curator.reuse import record_of
from podium.errors import InvalidArgument
from podium.mechanisms import Weights
from podium.planning.facts import Facts
from podium.planning.question_budget import QuestionBudget
from podium.planning.schedule.calendar import Every, Period, Schedule
from podium.planning.schedule.shares import stage_for
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import total
from podium.query import CheckedQuestion, Column, Kind, Predicate, Question, check_question
from podium.query.canonical import all_of
from podium.query.predicate import Compare, Operator
from podium.query.record import subject_json
from podium.sources import CountQuery, Domain, Source

__all__ = ["Subject", "schedule_key", "schedule_question", "subject_of"]

_WHY = "Items that nobody named before are found by noisy counts above a threshold that hides what one user has."


@dataclass(frozen=True, slots=True)
class Subject:
    """What a schedule asks about: items, user column, time column and condition."""

    items: tuple[str, ...]
    user: str
    time: Column
    where: Predicate | None
    k: int
    max_items_per_user: int

    def finding_question(
        self, opens: dt.datetime, closes: dt.datetime, rho: Fraction, delta: Fraction
    ) -> PlannedQuestion:
        """A round of finding among the rows between these times."""
        stage = stage_for(self.k, self.max_items_per_user, rho, delta)
        size = stage.k or self.k
        strategy = Strategy(
            facts=Facts(k=size, max_items_per_user=self.max_items_per_user, mechanism="adaptive"),
            mechanism=stage,
            measure=None,
            guarantee=total(stage.worst_case),
            why=_WHY,
            reach=stage.count_threshold,
            reach_sentence="",
            epsilon_per_item=None,
            delta_per_call=delta,
        )
        budget = {"rho": str(rho), "delta": str(delta)}
        return PlannedQuestion(self._question(opens, closes, size), strategy, None, self.user, budget)

    def list_question(
        self, period: Period, domain: Domain, size: int, epsilon_per_item: Fraction, *, k: int, pure: bool
    ) -> PlannedQuestion:
        """The list of a period, chosen from a domain of this size."""
        facts = Facts(k=k, domain_size=size)
        strategy = strategy_for(facts, QuestionBudget(epsilon_per_item=epsilon_per_item, pure=pure))
        budget = {"epsilon_per_item": str(epsilon_per_item), "delta": "0"}
        question = self._question(period.opens, period.closes, k)
        return PlannedQuestion(question, strategy, domain, self.user, budget)

    def first_query(self, period: Period, *, known: bool) -> CountQuery:
        """The first read of a schedule, a round of finding unless the items are ``known``, without a real salt."""
        where = self._question(period.opens, period.closes, self.k).where
        if known:
            return CountQuery(self.items, self.user, where)
        weights = Weights.spread(self.max_items_per_user)
        return CountQuery(self.items, self.user, where, weights.cap, PLACEHOLDER_SALT, weights=weights.steps)

    def _question(self, opens: dt.datetime, closes: dt.datetime, k: int) -> CheckedQuestion:
        """The question for a window; its conditions have exactly the column's kind, so no row makes them fail."""
        low, high = (edge.date() if self.time.kind is Kind.DATE else edge for edge in (opens, closes))
        window: list[Predicate] = [
            Compare(self.time.name, Operator.AT_LEAST, low),
            Compare(self.time.name, Operator.LESS, high),
        ]
        return CheckedQuestion(self.items, k, all_of(window if self.where is None else [*window, self.where]))


def subject_of(
    source: Source, *, item: str | Iterable[str], user: str, time: str, where: str | Iterable[str] | None, k: int,
    max_items_per_user: int, schedule: Schedule,
) -> Subject:  # fmt: skip
    """The subject, checked against the schema."""
    asked = Question.of(item, k=k, where=where)
    question = check_question(asked, source.schema(), user=user, table="")
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
    return Subject(question.items, user, column, question.where, k, max_items_per_user)


def schedule_key(subject: Subject, schedule: Schedule, unit: str, domain: str | None) -> str:
    """A key that is equal for equal schedules; the number of periods is left out, because it may grow."""
    described = {
        "subject": subject_json(subject.items, subject.where),
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


def schedule_question(planned: PlannedQuestion, schedule: str, period: str, role: Role) -> str:
    """The question as the ledger stores it."""
    return replace(record_of(planned), schedule=question_identity(schedule, period, role)).to_text()
