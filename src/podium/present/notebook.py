"""Plans, budgets, curators, ledgers and batches as HTML for notebooks: plain words first, the rest on request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from podium.errors import PodiumError
from podium.present.html import details, fact_rows, frame, release_html, table_html
from podium.present.text.accounts import status_facts
from podium.present.text.closing import budget_sentence, loss_text, protection, used_share
from podium.present.text.plain import plain_status
from podium.sources import pretty_sql
from podium.user_columns import user_text

if TYPE_CHECKING:
    from podium.ledger import Ledger, Status
    from podium.planning.batch_plan import BatchPlan
    from podium.planning.question_plan import Plan
    from podium.query.schema import Column, Schema
    from podium.release.batch_answers import BatchAnswers

__all__ = ["batch_html", "batch_plan_html", "curator_html", "ledger_html", "plan_html", "status_html"]


def plan_html(plan: Plan) -> str:
    """What a question would promise, cost and find; the mechanism and the SQL on request."""
    full = [(label, text) for label, text in plan.facts if label != "sql"]
    queries = "".join(f"<pre>{escape(pretty_sql(query))}</pre>" for query in plan.queries)
    plain = [
        *([("groups", plan.groups)] if plan.groups else []),
        ("this answer", protection(plan.guarantee, plan.user)),
        ("reach", plan.reach_sentence),
    ]
    return frame(fact_rows(plain, "Plan: nothing was read or charged"), details(fact_rows(full), queries))


def status_html(status: Status) -> str:
    """Where a data set stands; the exact sums on request."""
    return frame(_status(status), details(fact_rows(_without_name(status_facts(status)))))


def curator_html(schemas: Mapping[str, Schema], status: Status | None) -> str:
    """The columns that questions may name, and where the budget stands."""
    tables = [
        table_html(
            ("column", "type"), [(column.name, _type(column)) for column in schema.columns], f"Columns of {table}"
        )
        for table, schema in schemas.items()
    ]
    return frame(*tables, *([] if status is None else [_status(status)]))


def ledger_html(ledger: Ledger) -> str:
    """The data sets of a ledger, one row for each."""
    found = [ledger.status(name) for name in ledger.datasets()]
    rows = [
        (
            status.dataset,
            "the users" if status.user is None else f"each {user_text(status.user)}",
            loss_text(status.totals.budget.epsilon, status.totals.budget.delta),
            budget_sentence(status),
        )
        for status in found
    ]
    return frame(
        table_html(("data set", "private for", "all answers together", "so far"), rows, f"Ledger {ledger.name}")
    )


def batch_plan_html(plan: BatchPlan) -> str:
    """What several questions would promise together, and whether they fit; their prices on request."""
    users = {one.user for one in plan.plans}
    together = protection(plan.guarantee, users.pop() if len(users) == 1 else None)
    asked = [(str(place), question) for place, question in enumerate(plan.questions, start=1)]
    plain = [*asked, ("together", together), ("fits", plan.verdict)]
    return frame(fact_rows(plain, "Plan of a batch: nothing was read or charged"), details(fact_rows(plan.facts)))


def batch_html(answers: BatchAnswers) -> str:
    """The answers one below the other; an error in the place of one that failed."""
    return "".join(
        frame(f"<p>{escape(f'{type(one).__name__}: {one}')}</p>") if isinstance(one, PodiumError) else release_html(one)
        for one in answers.outcomes
    )


def _status(status: Status) -> str:
    caption = f"Budget of {status.dataset} (version {status.data_version})"
    used = budget_sentence(status)
    facts = [(label, used if label == "used" else text) for label, text in _without_name(plain_status(status))]
    return _budget_bar(used_share(status)) + fact_rows(facts, caption)


def _budget_bar(used: Fraction) -> str:
    """What is used, as a part of a bar; rounded up, like the percentage below, which screen readers read instead."""
    width = min(100, math.ceil(100 * used))
    shape = "height:.6em;border-radius:.3em;background:"
    filled = f'<div style="width:{width}%;{shape}#4a6fb5"></div>'
    return f'<div style="max-width:30em;margin:.6em 0;{shape}rgba(128,128,128,.3)">{filled}</div>'


def _without_name(facts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, text) for label, text in facts if label != "data set"]


def _type(column: Column) -> str:
    if column.element is not None:
        return f"{column.kind.value}({column.element.value})"
    return f"{column.kind.value}({column.scale})" if column.scale else column.kind.value
