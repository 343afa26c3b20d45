"""Asking again: which questions share an answer, and how a stored release answers one of them.

Only the question decides, never the outcome: otherwise the price of a question would reveal something about rows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.curator.joined import described_joins
from podium.curator.prepare import PlannedQuestion
from podium.curator.pricing import selections_strategy
from podium.curator.stated import StatedGroups
from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts, MeasureTogether
from podium.histogram import Item, item_order
from podium.ledger import StoredRelease
from podium.ledger.receipts import first_places, lists_of
from podium.mechanisms.base import describe
from podium.mechanisms.reader import Reads
from podium.planning.facts import Facts
from podium.planning.strategy import Strategy
from podium.query import CheckedQuestion, QuestionRecord
from podium.query.canonical import predicate_to_json
from podium.query.group_columns import ALL_GROUPS
from podium.query.ranked_by import Measure
from podium.query.record import subject_json
from podium.release import GroupedRelease, Receipt, Release
from podium.release.item_json import encode_item
from podium.release.release import read_stored
from podium.sources import Domain, DomainFile, DomainItems, DomainSize
from podium.user_columns import UserColumns

__all__ = ["Reusable", "domain_fingerprint", "older_key", "record_of", "replay_release"]

_OLDER_NAMES = frozenset({
    "AdaptiveTopK", "ExponentialTopK", "GaussianSparseHistogram", "LimitedDomain", "NoisyTopK", "OneshotLaplace",
})  # fmt: skip
"""The classes that keys of format 1 name, by the names that they had; a class that is renamed keeps its name here."""


_OLDER_SHORT_LIST = 10
"""Up to this k, the planner of format 1 answered by successive selections."""


def record_of(planned: PlannedQuestion) -> QuestionRecord:
    """The question as a ledger stores it."""
    question, strategy = planned.question, planned.strategy
    asked = question.asked
    return QuestionRecord(
        items=question.items,
        where=predicate_to_json(question.where),
        user=planned.user,
        k=question.k,
        k_bar=strategy.facts.k_bar,
        ordered=strategy.ordered,
        domain=_fingerprint(planned),
        max_items_per_user=strategy.facts.max_items_per_user,
        mechanism="auto" if asked is None else asked.mechanism,
        budget=planned.budget,
        counts=strategy.facts.counts,
        ranking=planned.ranking_options,
        at_least=_stored_least(question),
        others=strategy.others is not None,
        joins=described_joins(planned.joins),
        table=planned.table,
        **_stored_measure(question.measure),
        **_stored_groups(planned.groups),
    )


def _stored_least(question: CheckedQuestion) -> str | None:
    """The minimum in the column's own units: equal for equal numbers of units."""
    least, measure = question.at_least, question.measure
    return None if least is None else str(least if measure is None else measure.amount(least))


def _stored_measure(measure: Measure | None) -> dict[str, Any]:
    """The measure with its clip as it was requested, both in the column's own units."""
    if measure is None:
        return {}
    most = None if measure.clip is None else str(measure.amount(measure.clip))
    clip = [str(measure.amount(measure.floor)), most] if measure.floor else most
    return {"by": measure.by, "clip": clip, "unit": str(measure.unit)}


def _stored_groups(groups: StatedGroups | None) -> dict[str, Any]:
    if groups is None:
        return {}
    listed = None if groups.listed is None else [encode_item(group) for group in groups.listed]
    return {"per": groups.per, "groups": listed, "groups_per_user": groups.per_user or ALL_GROUPS}


@dataclass(frozen=True, slots=True)
class Reusable:
    """Whether the release of another question, given by its text, contains the answer to this one.

    An ordered top 10 contains the top 5; a set answers only for its own k. Where k_bar was not stated, that of the
    longer list is as good; to state the default is to state nothing. Lists of some groups contain those of fewer, and
    lists of all groups in which something came out contain those of any: nothing came out of the others.
    """

    k: int
    k_bar: int | None
    rows: int | None
    ordered: bool
    groups: frozenset[str] | None = None

    @classmethod
    def by(cls, planned: PlannedQuestion) -> Reusable:
        """For the question that is asked now."""
        facts = planned.strategy.facts
        listed = None if planned.groups is None else planned.groups.listed
        groups = None if listed is None else frozenset(json.dumps(encode_item(group)) for group in listed)
        return cls(planned.question.k, facts.k_bar, _rows(facts), facts.ordered, groups)

    def __call__(self, text: str) -> bool:
        """Whether the release of the question with this text answers."""
        other = QuestionRecord.from_text(text)
        if other is None or other.k < self.k:
            return False
        if not other.ordered and (self.ordered or other.k != self.k):
            return False
        # A shorter list has other users beside it.
        if other.others and other.k != self.k:
            return False
        if other.groups is not None and (self.groups is None or not self.groups <= set(map(json.dumps, other.groups))):
            return False
        rows = other.k_bar if other.format == 1 else _stored_rows(other)
        if other.format > 1 and other.k_bar == self.k_bar:
            return True
        # In rounds all items compete, and there is no k_bar.
        if rows is None:
            return other.format == 1 and self.rows is None
        if self.rows is None:
            return False
        return rows == self.rows or (self.k_bar is None and rows == Facts(k=other.k).rows)


def _stored_rows(asked: QuestionRecord) -> int | None:
    if asked.domain is not None:
        return None
    try:
        return _rows(Facts(k=asked.k, k_bar=asked.k_bar, mechanism=asked.mechanism))
    except InvalidArgument:
        return None


def _rows(facts: Facts) -> int | None:
    """How many rows a question competes among; None if all items compete, or the domain is known.

    Lists of up to ten items were answered by selections, whatever a later planner does with them.
    """
    if facts.domain_size is not None or (facts.adaptive and not _was_short(facts)):
        return None
    return facts.rows


def _was_short(facts: Facts) -> bool:
    """Whether the planner of format 1 answered by selections what is answered in rounds now."""
    return facts.adaptive and facts.mechanism == "auto" and facts.k <= _OLDER_SHORT_LIST


def _was_by_selections(strategy: Strategy) -> bool:
    """Whether the planner of format 1 answered by selections what is answered in rounds now; known items always."""
    known = strategy.facts.domain_size is not None and strategy.facts.mechanism == "auto"
    return _was_short(strategy.facts) or (known and strategy.mechanism.reads is Reads.ROUNDS)


def replay_release(stored: StoredRelease, k: int, user: UserColumns, groups: StatedGroups | None = None) -> Release:
    """A stored release, cut to its first k places. It is free, unless this analyst is charged for seeing it first."""
    # Older releases do not name the user column; it is that of the data set.
    release = replace(read_stored(stored.release), user=user)
    receipt = Receipt(release.paid.events if stored.charged else (), entry=stored.hash)
    if isinstance(release, GroupedRelease) and groups is not None and groups.listed is not None:
        release = lists_of(release, groups.listed)
    return replace(release if k == release.k else first_places(release, k), paid=receipt)


def older_key(planned: PlannedQuestion) -> str | None:
    """The key of format 1, under which an earlier podium stored the same question; None if it never had one."""
    question, strategy = planned.question, planned.strategy
    if question.measure is not None or question.at_least is not None or not isinstance(planned.user, str):
        return None
    if strategy.others is not None or strategy.scores is not None or planned.groups is not None or planned.joins:
        return None
    if planned.budget and _was_by_selections(strategy):
        strategy = selections_strategy(strategy.facts, planned.budget)
    name = type(strategy.mechanism).__name__
    if name not in _OLDER_NAMES:
        return None
    facts = {
        **json.loads(subject_json(question.items, question.where)),
        "user": planned.user,
        "domain": _fingerprint(planned),
        "max_items_per_user": strategy.facts.max_items_per_user,
        "mechanism": name,
        "epsilon_per_item": str(strategy.epsilon_per_item),
        "delta": str(strategy.delta_per_call),
        "counts": _older_counts(strategy),
        **_older_ranking(strategy, question.k),
    }
    return json.dumps(facts, sort_keys=True)


def _older_ranking(strategy: Strategy, k: int) -> dict[str, Any]:
    if strategy.ranking is None:
        return {}
    return {"ranking": {**strategy.ranking.describe(), "set_of": None if strategy.ordered else k}}


def _older_counts(strategy: Strategy) -> dict[str, str] | None:
    """How counts are measured. In rounds this follows from the budget, per item or stated."""
    if strategy.mechanism.reads is Reads.ROUNDS:
        squared = describe(strategy.mechanism)["mu_squared"]
        stated = {} if strategy.epsilon_per_item is not None else {"mu_squared": squared}
        return {"rounds": str(strategy.facts.counts), **stated}
    # Counts with Gaussian noise were once measured one by one, at the same price.
    measure = strategy.measure
    if isinstance(measure, MeasureTogether):
        measure = MeasureCounts(sigma=measure.sigma, clip=measure.clip)
    return None if measure is None else describe(measure)


def _fingerprint(planned: PlannedQuestion) -> str | None:
    return None if planned.domain is None else domain_fingerprint(planned.domain, planned.strategy.facts.domain_size)


def domain_fingerprint(domain: Domain, size: int | None) -> str:
    """A fingerprint that is equal for equal public items in any order; a table is identified by name and size."""
    if isinstance(domain, DomainSize):
        return f"0..{domain.size - 1}"
    if isinstance(domain, DomainItems):
        listed = json.dumps(sorted({_item_text(item) for item in domain.items}))
        return "items " + hashlib.sha256(listed.encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(domain, DomainFile) and Path(domain.path).is_file():
        with Path(domain.path).open("rb") as file:
            return f"file {hashlib.file_digest(file, 'sha256').hexdigest()} {domain.columns}"
    return f"{domain} of {size}"


def _item_text(item: Item) -> str:
    if isinstance(item, tuple):
        return json.dumps([_item_text(part) for part in item])
    return f"{item_order(item)[0]} {item}"
