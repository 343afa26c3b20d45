"""A plan from what is already known of a table: no engine is asked, so the engine may still refuse the question.

Forms show it while somebody types. Only the question, the columns as they were found when the table was opened, and
the totals of the ledger decide; a plan that asks the engine too is ``Curator.plan_question``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace

from podium.curator.comparisons import check_ranking
from podium.curator.curator import Curator
from podium.curator.prepare import facts_of, hint_at_list_only
from podium.curator.pricing import AnyFacts, ledger_strategy
from podium.curator.stated import state_groups
from podium.errors import InvalidArgument, QuestionRefused
from podium.exact import Number
from podium.ledger import Totals
from podium.planning.facts import Facts
from podium.planning.question_plan import Plan
from podium.planning.strategy import Strategy
from podium.privacy import Event
from podium.query import CheckedQuestion, Question, RankingQuestion, check_question
from podium.query.group_columns import groups_sentence

__all__ = ["MAX_K", "Sketch", "sketch_plan"]

MAX_K = 10_000
"""No list is looked for that is longer."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """The plan, and what is needed to make it for another k."""

    plan: Plan
    totals: Totals
    facts: AnyFacts
    epsilon: Number | None

    def affordable_k(self, fits: Callable[[tuple[Event, ...]], bool]) -> int | None:
        """The largest k whose worst case fits, all else as asked; None where a ranking fixes what k may be."""
        if not isinstance(self.facts, Facts):
            return None
        facts = self.facts
        most = MAX_K if facts.domain_size is None else min(MAX_K, facts.domain_size)

        def is_enough(k: int) -> bool:
            try:
                strategy = ledger_strategy(self.totals, replace(facts, k=k), self.epsilon)
            except InvalidArgument:
                # An epsilon may be worth less than the least price once it is shared by so many.
                return False
            return fits(strategy.worst_case)

        enough, too_many = 0, facts.k
        while too_many <= most and is_enough(too_many):
            enough, too_many = too_many, 2 * too_many
        too_many = min(too_many, most + 1)
        while too_many - enough > 1:
            middle = (enough + too_many) // 2
            if is_enough(middle):
                enough = middle
            else:
                too_many = middle
        return enough


def sketch_plan(curator: Curator, question: Question | RankingQuestion, *, epsilon: Number | None = None) -> Sketch:
    """The plan of a question about one table, without its SQL."""
    checked, facts = _facts(curator, question)
    totals = curator.status.totals
    with hint_at_list_only(checked):
        strategy: Strategy = ledger_strategy(totals, facts, epsilon)
    asked = checked.asked
    groups = "" if asked is None else groups_sentence(checked.per, asked.groups, asked.groups_per_user)
    return Sketch(Plan.of(strategy, user=curator.table(question).user, groups=groups), totals, facts, epsilon)


def _facts(curator: Curator, question: Question | RankingQuestion) -> tuple[CheckedQuestion, AnyFacts]:
    table, now = curator.table(question), dt.datetime.now(dt.UTC)
    if isinstance(question, RankingQuestion):
        ranked, facts, _ = check_ranking(table.source, question, table.user, now)
        return ranked, facts
    if table.joined_by(question):
        # The columns of what is joined may have to be looked up.
        raise QuestionRefused("JOIN", "what a join costs is not shown here", hint="The next page shows it.")
    name = table.name or curator.dataset
    checked = check_question(question, table.schema, user=table.user, table=name, now=now)
    return checked, facts_of(
        checked, _domain_size(question), state_groups(table.schema, checked, table.source), table.source
    )


def _domain_size(question: Question) -> int | None:
    if question.domain_size is not None or question.domain is None:
        return question.domain_size
    if isinstance(question.domain, tuple):
        return len(set(question.domain))
    raise InvalidArgument("domain", type(question.domain).__name__, allowed="a list of items")
