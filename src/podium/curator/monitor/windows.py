"""The questions of a schedule: rounds of finding, and lists from what was found, each for one window."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

from podium.curator.monitor.periods import Role, question_identity
from podium.curator.prepare import PLACEHOLDER_SALT, PlannedQuestion, kept_clip, pair_value
from podium.curator.reuse import record_of
from podium.curator.stated import StatedGroups, state_groups
from podium.errors import InvalidArgument
from podium.mechanisms import Weights
from podium.planning.facts import Facts, MeasureFacts
from podium.planning.question_budget import QuestionBudget, RoundsBudget
from podium.planning.schedule.calendar import Every, Period, Schedule
from podium.planning.schedule.shares import stage_for
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import total
from podium.query import CheckedQuestion, Column, Kind, Predicate, Question, check_question
from podium.query.canonical import all_of
from podium.query.group_columns import ALL_GROUPS, TYPED, groups_sentence, typed_groups
from podium.query.predicate import Compare, Operator
from podium.query.ranked_by import USERS, Measure
from podium.query.record import subject_json
from podium.release.item_json import encode_item
from podium.sources import CountQuery, Domain, Source
from podium.user_columns import UserColumns, user_key

__all__ = [
    "InGroups",
    "RankedBy",
    "Subject",
    "require_found_in_rounds",
    "schedule_key",
    "schedule_question",
    "subject_of",
]

_WHY = "Items that nobody named before are found by noisy counts above a threshold that hides what one user has."


_NO_CLIP = (
    "All lists of a schedule share one clip, which must not depend on rows. podium top chooses and states a good one "
    "for a single list; by='users' needs none."
)


def require_found_in_rounds(**stated: object) -> None:
    """Raise where a schedule with a list for each group states what such lists do not use."""
    for name, value in stated.items():
        if value is not None:
            shown = value if isinstance(value, int) else f"a {type(value).__name__}"
            raise InvalidArgument(
                name, shown, allowed="None in a schedule with a list for each group",
                hint="The items of every list are found in the rows of its window.",
            )  # fmt: skip


class RankedBy(NamedTuple):
    """What ranks the items of every list, as the caller states it."""

    by: str = USERS
    clip: object = None
    value_unit: object = None


class InGroups(NamedTuple):
    """What there is a list for, as the caller states it; ``bound`` is how many items of a user count, if stated."""

    per: Any = None
    groups: object = None
    groups_per_user: int | str = 1
    bound: int | None = None


_BY_USERS: Final = RankedBy()
_ONE_LIST: Final = InGroups()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a schedule asks about: items, user column, time column, condition, and what ranks if not users.

    With ``groups`` there is a list for each of them, in which at most ``bound`` items of a user count if it is stated.
    """

    items: tuple[str, ...]
    user: UserColumns
    time: Column
    where: Predicate | None
    k: int
    max_items_per_user: int
    measure: Measure | None = None
    groups: StatedGroups | None = None
    bound: int | None = None

    @property
    def group_facts(self) -> Facts:
        """What a plan needs to know of lists for groups."""
        groups = None if self.groups is None else self.groups.facts
        return Facts(k=self.k, max_items_per_user=self.bound, measure=self.measure_facts, groups=groups)

    @property
    def groups_told(self) -> str:
        """Which groups there are lists for, in words."""
        found = self.groups
        if found is None:
            return ""
        told = groups_sentence(found.per, found.listed, found.per_user or ALL_GROUPS)
        return told if found.per_user is None else f"{told}, chosen anew in every window"

    @property
    def measure_facts(self) -> MeasureFacts | None:
        """The measure as planning knows it; its clip is stated."""
        measure = self.measure
        return None if measure is None else MeasureFacts(measure.by, measure.unit, measure.clip, measure.floor)

    def finding_question(
        self, opens: dt.datetime, closes: dt.datetime, rho: Fraction, delta: Fraction
    ) -> PlannedQuestion:
        """A round of finding among the rows between these times."""
        clip = 1 if self.measure is None else self.measure.clip or 1
        stage = stage_for(self.k, self.max_items_per_user, rho, delta, clip=clip)
        size = stage.k or self.k
        strategy = Strategy(
            facts=Facts(
                k=size,
                max_items_per_user=self.max_items_per_user,
                mechanism="adaptive",
                measure=self.measure_facts,
            ),
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
        facts = Facts(k=k, domain_size=size, measure=self.measure_facts)
        strategy = strategy_for(facts, QuestionBudget(epsilon_per_item=epsilon_per_item, pure=pure))
        budget = {"epsilon_per_item": str(epsilon_per_item), "delta": "0"}
        question = self._question(period.opens, period.closes, k)
        return PlannedQuestion(question, strategy, domain, self.user, budget)

    def rounds_question(self, period: Period, rho: Fraction, delta: Fraction) -> PlannedQuestion:
        """The list of a period whose items are found in rounds, with nothing from earlier periods."""
        alone = Facts(k=self.k, max_items_per_user=self.max_items_per_user)
        facts = alone if self.groups is None else self.group_facts
        strategy = strategy_for(facts, RoundsBudget(mu_squared=2 * rho, delta=delta))
        budget = {"rho": str(rho), "delta": str(delta)}
        question = self._question(period.opens, period.closes, self.k)
        return PlannedQuestion(question, strategy, None, self.user, budget, groups=self.groups)

    def first_query(self, period: Period, *, known: bool) -> CountQuery:
        """The first read of a schedule, a round of finding unless the items are ``known``, without a real salt."""
        if self.groups is not None:
            return self.rounds_question(period, Fraction(1), Fraction(1, 10**6)).first_query()
        where = self._question(period.opens, period.closes, self.k).where
        plain = CountQuery(self.items, self.user, where, value=pair_value(self.measure))
        if known:
            return plain
        weights = Weights.spread(self.max_items_per_user)
        return replace(plain, max_items_per_user=weights.cap, salt=PLACEHOLDER_SALT, weights=weights.steps)

    def _question(self, opens: dt.datetime, closes: dt.datetime, k: int) -> CheckedQuestion:
        """The question for a window; its conditions have exactly the column's kind, so no row makes them fail."""
        low, high = (edge.date() if self.time.kind is Kind.DATE else edge for edge in (opens, closes))
        window: list[Predicate] = [
            Compare(self.time.name, Operator.AT_LEAST, low),
            Compare(self.time.name, Operator.LESS, high),
        ]
        where = all_of(window if self.where is None else [*window, self.where])
        per = () if self.groups is None else self.groups.per
        return CheckedQuestion(self.items, k, where, measure=self.measure, per=per)


def subject_of(
    source: Source, *, item: str | Iterable[str], user: UserColumns, time: str, where: str | Iterable[str] | None,
    k: int, max_items_per_user: int, schedule: Schedule, ranked_by: RankedBy = _BY_USERS,
    in_groups: InGroups = _ONE_LIST,
) -> Subject:  # fmt: skip
    """The subject, checked against the schema."""
    question = _checked(source, item, user, where, k, ranked_by, in_groups)
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
    kept_clip(source, question.measure, Weights.spread(max_items_per_user))
    groups = state_groups(source.schema(), question, source)
    return Subject(
        question.items, user, column, question.where, k, max_items_per_user, question.measure, groups,
        None if groups is None else in_groups.bound,
    )  # fmt: skip


def _checked(
    source: Source,
    item: str | Iterable[str],
    user: UserColumns,
    where: str | Iterable[str] | None,
    k: int,
    ranked_by: RankedBy,
    in_groups: InGroups,
) -> CheckedQuestion:
    """The question of every list; its measure has a clip, and does not fall."""
    by, clip, unit = ranked_by
    per, groups, most, _ = in_groups
    per = () if per is None else per
    try:
        asked = Question.of(
            item, k=k, where=where, by=by, clip=clip, unit=unit, per=per, groups=groups, groups_per_user=most
        )
        if isinstance(asked.groups, tuple):
            # From the command line they are texts.
            asked = replace(asked, groups=typed_groups(asked.groups, asked.per, source.schema(), kinds=TYPED))
        question = check_question(asked, source.schema(), user=user, table="")
    except InvalidArgument as problem:
        if problem.name != "unit":
            raise
        # The unit of a schedule is that of privacy.
        raise InvalidArgument("value_unit", unit, allowed=problem.allowed, hint=problem.hint) from None
    measure = question.measure
    if measure is not None and measure.clip is None:
        raise InvalidArgument(
            "clip", None, allowed=f"a number with by={by!r}: the most that one user adds to one item of a list",
            hint=_NO_CLIP,
        )  # fmt: skip
    if measure is not None and measure.floor:
        raise InvalidArgument(
            "clip", clip, allowed="one number above 0 in a schedule", hint="Values below 0 then count 0."
        )
    return question


def schedule_key(subject: Subject, schedule: Schedule, unit: str, domain: str | None) -> str:
    """A key that is equal for equal schedules; the number of periods is left out, because it may grow."""
    described: dict[str, Any] = {
        "subject": subject_json(subject.items, subject.where),
        "user": user_key(subject.user),
        "time": subject.time.name,
        "k": subject.k,
        "start": schedule.start.isoformat(),
        "every": schedule.every.value,
        "span": schedule.span,
        "unit": unit,
        "domain": domain,
    }
    if subject.groups is not None:
        found = subject.groups
        described |= {
            "per": found.per,
            "groups": None if found.listed is None else [encode_item(group) for group in found.listed],
            "groups_per_user": found.per_user or ALL_GROUPS,
        }
    if subject.measure is not None:
        # Schedules by users keep the keys that they had before there were measures.
        measure = subject.measure
        described |= {"by": measure.by, "clip": str(measure.amount(measure.clip or 0)), "value_unit": str(measure.unit)}
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]


def schedule_question(planned: PlannedQuestion, schedule: str, period: str, role: Role) -> str:
    """The question as the ledger stores it."""
    return replace(record_of(planned), schedule=question_identity(schedule, period, role)).to_text()
