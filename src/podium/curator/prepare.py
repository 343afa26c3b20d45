"""Preparing: from a checked question to a planned one, from public facts only. No row is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podium.curator.stated import StatedGroups, state_domain
from podium.errors import InvalidArgument, QuestionRefused, SourceUnavailable
from podium.histogram import Item
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import MAX_ROUND_WEIGHT, Weights
from podium.planning.facts import Facts, MeasureFacts
from podium.planning.strategy import Strategy
from podium.query import CheckedQuestion, Question
from podium.query.group_columns import groups_sentence
from podium.query.ranked_by import MAX_CLIP, Measure
from podium.randomness import system_bits
from podium.sources import CountQuery, Domain, PairNorm, PairValue, Source
from podium.sources.joined_table import JoinedTable
from podium.user_columns import UserColumns

if TYPE_CHECKING:
    from podium.mechanisms.measures.norm_weights import NormWeights
    from podium.planning.question_plan import Plan
    from podium.release import Release
    from podium.release.asked import Asked

__all__ = [
    "PLACEHOLDER_SALT",
    "PlannedQuestion",
    "column_name",
    "count_facts",
    "facts_of",
    "fresh_salt",
    "hint_at_list_only",
    "kept_clip",
    "pair_norm",
    "pair_value",
    "readable_question",
    "require_readable",
    "state_domain",
]

_SALT_BYTES = 16
_ON_KEPT_PAIRS = (
    Reads.ROUNDS,
    Reads.GROUPS_AT_CLIP,
    Reads.GROUPS_IN_ROUNDS,
    Reads.GROUPS_IN_ROUNDS_AT_CLIP,
    Reads.GROUPS_TOGETHER,
)
_CUT_BEFORE_ROUNDS = (Reads.GROUPS_IN_ROUNDS, Reads.GROUPS_IN_ROUNDS_AT_CLIP)
PLACEHOLDER_SALT = "0" * 2 * _SALT_BYTES
"""Stands for the salt where nothing is read."""


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question with everything that determines its answer.

    ``budget`` is the requested budget and ``ranking_options`` the requested method of a ranking, both as a ledger
    stores them.
    """

    question: CheckedQuestion
    strategy: Strategy
    domain: Domain | None
    user: UserColumns
    budget: Mapping[str, str] = field(default_factory=dict)
    ranking_options: Mapping[str, str | None] | None = None
    max_clip: int | None = None
    """How far pairs are kept while no clip is chosen; None where none is."""
    groups: StatedGroups | None = None
    """The groups that there is a list for; None where there is one list."""
    table: str | None = None
    """The table that is read, where the data set has several."""
    joins: tuple[JoinedTable, ...] = ()
    """What is joined, with the rows of public tables."""
    asked: Asked | None = None
    """The question as a release shows it."""

    def pairs_query(self, salt: str | None = None) -> CountQuery:
        """The pairs that all rounds share, of which none is cut; with groups, those that users keep."""
        question, cut = self.question, None if self.groups is None else self.groups.cut
        value = pair_value(question.measure, self.max_clip)
        if cut is not None and self.strategy.mechanism.reads in _CUT_BEFORE_ROUNDS:
            # Cut once: round by round, other pairs of a user would count in each.
            cut = replace(cut, pairs_per_user=self.strategy.facts.max_items_per_user)
        bounded = cut is not None and cut.bounds
        return CountQuery(
            question.items, self.user, question.where, value=value, groups=cut, salt=salt if bounded else None,
            joins=self.joins,
        )  # fmt: skip

    def count_query(self, salt: str) -> CountQuery:
        """The count; the salt decides which items and groups a user keeps where these are bounded."""
        cap, pairs = self.strategy.facts.max_items_per_user, self.pairs_query(salt)
        return pairs if cap is None else replace(pairs, max_items_per_user=cap, salt=salt)

    def weighted_query(self, weights: Weights | NormWeights, without: tuple[Item, ...], salt: str) -> CountQuery:
        """The count of a round: each user spreads weight over their items, except those in ``without``."""
        query = replace(self.pairs_query(salt), max_items_per_user=weights.cap, salt=salt, without=without)
        if query.groups is not None and query.groups.per_user is not None:
            # A user spreads weight over the items of a group: what they have in others is paid for by itself.
            query = replace(query, groups=replace(query.groups, within_group=True))
        if isinstance(weights, Weights):
            return replace(query, weights=weights.steps)
        return replace(query, norm=pair_norm(weights))

    def first_query(self) -> CountQuery:
        """The first read, with a placeholder for the salt: the engine must accept it before anything is paid."""
        weights = self.strategy.mechanism.first_weights
        return (
            self.count_query(PLACEHOLDER_SALT)
            if weights is None
            else self.weighted_query(weights, (), PLACEHOLDER_SALT)
        )

    def name_values(self, release: Release) -> Release:
        """What SQL calls the values is not part of the question: others may ask for them under another name.

        Nor is how it was put, or when.
        """
        return replace(release, value_name=self.question.value_name, asked=self.asked)

    def plan(self, source: Source, shown_as: str | None = None) -> Plan:
        """The plan with its SQL, in which ``shown_as`` stands for the table."""
        from podium.planning.question_plan import Plan  # noqa: PLC0415 - an answer shows no plan

        asked = self.question.asked
        groups = "" if asked is None else groups_sentence(self.question.per, asked.groups, asked.groups_per_user)
        ranking, edges = self.strategy.ranking, self.strategy.mechanism.first_edges
        if edges is not None:
            queries = source.queries(
                self.pairs_query(), edges=edges, domain=self.domain, keep_pairs=True, shown_as=shown_as
            )
            return Plan.of(self.strategy, queries=queries, user=self.user, groups=groups)
        rows = self._first_rows() if ranking is None else len(ranking.graph.comparisons)
        reads = self.strategy.mechanism.reads
        in_rounds = reads in _ON_KEPT_PAIRS or self.strategy.others is not None
        queries = source.queries(
            self.first_query(), limit=rows, domain=self.domain, keep_pairs=in_rounds, shown_as=shown_as
        )
        return Plan.of(self.strategy, queries=queries, user=self.user, groups=groups)

    def _first_rows(self) -> int | None:
        """How many rows the first count returns; None if it returns counts of counts."""
        from podium.mechanisms.measures.measured_topk import MeasuredTopK  # noqa: PLC0415 - an answer shows no plan

        mechanism = self.strategy.mechanism
        return mechanism.max_rows if isinstance(mechanism, MeasuredTopK) else self.strategy.rows


def pair_value(measure: Measure | None, clip: int | None = None) -> PairValue | None:
    """What a user adds to an item, at most ``clip`` units of it, or the stated clip; None where users are counted."""
    if measure is None:
        return None
    most = measure.clip if clip is None else clip
    return PairValue(measure.column, measure.unit, clip=MAX_CLIP if most is None else most, floor=measure.floor)


def pair_norm(weights: NormWeights) -> PairNorm:
    """What a source is told of a bound on all that a user adds."""
    named = weights.items if weights.named else None
    return PairNorm(weights.clip, weights.bits, weights.most, weights.steps, named)


def kept_clip(source: Source, measure: Measure | None, weights: Weights | NormWeights | None) -> int | None:
    """How far pairs are kept while no clip is chosen; a stated clip that later rounds could not add up is refused."""
    if measure is None:
        return None
    # What is added up as weighted parts of a length is never larger than that.
    largest = source.max_clip(MAX_ROUND_WEIGHT if isinstance(weights, Weights) else 1)
    if measure.clip is None:
        return largest
    if max(measure.clip, -measure.floor) > largest:
        raise InvalidArgument(
            "clip",
            str(measure.amount(measure.clip)),
            allowed=f"at most {measure.amount(largest)} on {source.dialect}",
            hint="Give a smaller clip, or a larger unit.",
        )
    return None


def fresh_salt() -> str:
    """A salt for one question: it decides which items users with too many keep."""
    return system_bits().read(_SALT_BYTES).hex()


def column_name(value: object, role: str) -> str:
    """Check that a column name is text; the column need not exist."""
    if not isinstance(value, str):
        raise InvalidArgument(role, value, allowed="the name of a column")
    return value


def count_facts(
    source: Source,
    question: CheckedQuestion,
    domain: Domain | None,
    user: UserColumns,
    groups: StatedGroups | None = None,
    joins: tuple[JoinedTable, ...] = (),
) -> tuple[Facts, CountQuery]:
    """The public facts of a question, and the plain count that the engine accepted for it."""
    measure = question.measure
    value = pair_value(measure, None if measure is None or measure.clip is not None else source.max_clip())
    cut = None if groups is None else groups.cut
    salt = PLACEHOLDER_SALT if cut is not None and cut.per_user is not None else None
    plain = CountQuery(question.items, user, question.where, value=value, groups=cut, salt=salt, joins=joins)
    # Columns and kinds are checked first; bound and weights follow from the strategy.
    source.check(plain, domain=domain)
    facts = facts_of(question, None if domain is None else source.domain_size(plain, domain), groups, source)
    return facts, plain


def facts_of(question: CheckedQuestion, domain_size: int | None, groups: StatedGroups | None, source: Source) -> Facts:
    """The public facts of a question, from what it says itself and what the engine can add up."""
    measure, asked = question.measure, question.asked or Question(item=question.items)
    return Facts(
        k=question.k,
        domain_size=domain_size,
        max_items_per_user=asked.max_items_per_user,
        counts=question.counts,
        k_bar=asked.k_bar,
        mechanism=_mechanism_on(source, question, domain_size, groups),
        ordered=asked.ordered,
        measure=None if measure is None else MeasureFacts(measure.by, measure.unit, measure.clip, measure.floor),
        at_least=question.at_least,
        others=asked.others,
        groups=None if groups is None else groups.facts,
    )


def _mechanism_on(
    source: Source, question: CheckedQuestion, domain_size: int | None, groups: StatedGroups | None
) -> str:
    """The mechanism that was asked for; selections where this engine cannot add up sums of groups in rounds."""
    measure, stated = question.measure, "auto" if question.asked is None else question.asked.mechanism
    if stated != "auto" or measure is None or groups is None or domain_size is not None:
        return stated
    # While no clip is chosen, rounds keep pairs as far as the chosen one may reach.
    needed = source.max_clip() if measure.clip is None else measure.clip
    return stated if needed <= source.max_clip(MAX_ROUND_WEIGHT) else "limited-domain"


@contextmanager
def hint_at_list_only(question: CheckedQuestion) -> Iterator[None]:
    """Where SQL selects values that the budget cannot pay for, name the same statement without them."""
    try:
        yield
    except InvalidArgument as problem:
        if question.list_only is None or not (problem.name == "counts" or "with counts" in problem.allowed):
            raise
        raise QuestionRefused(
            question.value_name or "the selected count",
            f"its values cannot be measured here ({problem.name}: {problem.allowed})",
            hint=f"The list alone can be had: {question.list_only}",
        ) from None


def readable_question(source: Source, planned: PlannedQuestion, accepted: CountQuery) -> PlannedQuestion:
    """The question as this engine can answer it, which follows from public facts; raises if it cannot."""
    try:
        require_readable(source, planned, accepted)
    except SourceUnavailable:
        from podium.planning.read_once import read_once  # noqa: PLC0415 - most engines keep pairs

        once = read_once(planned.strategy)
        if once is None:
            raise
        planned = replace(planned, strategy=once)
        require_readable(source, planned, accepted)
    return planned


def require_readable(source: Source, planned: PlannedQuestion, accepted: CountQuery | None = None) -> None:
    """Raise unless the engine supports the strategy.

    ``accepted`` is a count that the engine accepted for this question, so the table is not described again.
    """
    query = planned.first_query()
    if query != accepted:
        source.check(query, domain=planned.domain, refresh=accepted is None)
    if planned.strategy.others is not None:
        # Users beside the list are counted on pairs that are kept, as rounds keep them.
        kept = planned.weighted_query(Weights.bounded(1), (), PLACEHOLDER_SALT)
        try:
            source.check(kept, domain=planned.domain, refresh=False)
        except SourceUnavailable:
            raise InvalidArgument(
                "others", True, allowed="False on a source that cannot keep pairs in temporary tables",
                hint="Ask for the values alone: counts=True.",
            ) from None  # fmt: skip
