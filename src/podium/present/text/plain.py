"""Plans and budgets in plain words: epsilon, delta and percentages. ``accounts`` and plans have the same in full."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.ledger.account import recorded_sum
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.bookkeeping.remaining import Remaining
from podium.present.text.accounts import (
    history_rows,
    left_sentence,
    question_facts,
    source_facts,
    unit_sentence,
)
from podium.present.text.closing import budget_sentence, loss_text, protected, used_share
from podium.privacy.rounding import display
from podium.user_columns import UserColumns

if TYPE_CHECKING:
    from podium.ledger import Entry, Status, Totals
    from podium.planning.batch_plan import BatchPlan
    from podium.planning.question_plan import Plan

__all__ = ["plain_batch", "plain_history", "plain_plan", "plain_status", "plain_totals", "plan_share"]

_BAR = 20


def plain_plan(plan: Plan, status: Status | None = None) -> list[tuple[str, str]]:
    """What a question would promise and cost, and what it would find; ``status`` is that of its budget, if any."""
    return [
        *([("groups", plan.groups)] if plan.groups else []),
        ("private", _plan_promise(plan, status)),
        ("cost", _plan_cost(plan, status)),
        ("reach", plan.reach_sentence),
    ]


def plain_batch(plan: BatchPlan, status: Status) -> list[tuple[str, str]]:
    """What each question of a batch would cost, what all of them would, and whether that is left."""
    budget, books, whole = status.totals.budget, status.totals.books, status.totals.whole
    lines, added = [], Sum()
    for place, (question, one) in enumerate(zip(plan.questions, plan.plans, strict=True)):
        price = f"paid with {plan.same_as[place] + 1}"
        if plan.same_as[place] == place:
            charge = Charged.of(one.strategy.worst_case, reserve=True)
            step = Sum.of(charge.cost, books.reserve(charge, status.held + added))
            added, price = added + step, f"at most {_percent(whole, step)} of the budget"
        lines.append((str(place + 1), f"{question}: {price}"))
    return [
        *lines,
        ("private", _everything(status.user, budget.epsilon, budget.delta)),
        ("together", f"at most {_percent(whole, added)} of the budget; so far {budget_sentence(status)}"),
        ("fits", plan.verdict),
    ]


def plain_status(status: Status) -> list[tuple[str, str]]:
    """Where a budget stands: what it promises, how much is used, and how far the rest goes."""
    budget = status.totals.budget
    # After the guarantee itself stands what limits it: raises of the total, and caps of analysts.
    _, _, limited = status.promise.partition("; ")
    facts = [
        *source_facts(status),
        ("private", f"{_everything(status.user, budget.epsilon, budget.delta)}{f'; {limited}' if limited else ''}"),
        ("unit", unit_sentence(status.user, tables=tuple(status.tables))),
        ("used", f"{_bar(used_share(status))} {budget_sentence(status)}"),
        ("left", left_sentence(status)),
    ]
    if status.totals.max_questions is not None:
        facts.append(("at most", f"{status.totals.max_questions} questions, however cheap"))
    if status.open_reservations:
        facts.append(("reserved", f"part of what is used, for {status.open_reservations} open"))
    totals = status.totals
    cap = totals.whole if totals.cap is None else totals.cap.remaining(Sum())
    whose = "of their cap" if status.totals.per_analyst else "of the budget"
    analysts = [(f"analyst {name}", f"{_percent(cap, held)} {whose} used") for name, held in status.sums.items()]
    return [*facts, *question_facts(status), *analysts]


def plain_totals(totals: Totals, *, user: UserColumns | None) -> list[tuple[str, str]]:
    """What a budget would promise, and how far it would go."""
    budget = totals.budget
    facts = [
        ("private", _everything(user, budget.epsilon, budget.delta)),
        ("unit", unit_sentence(user)),
        ("plan", f"{budget.items} items in {budget.questions} questions"),
    ]
    if totals.max_questions is not None:
        facts.append(("at most", f"{totals.max_questions} questions, however cheap"))
    return facts


def plain_history(entries: Sequence[Entry], totals: Totals) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers and one row per entry, the oldest first, with prices in percent of the total."""
    headers, rows = history_rows(entries)
    last = headers.index("delta") + 1
    first = last - 2
    shares = ["" if entry.cost is None else _percent(totals.whole, recorded_sum(entry)) for entry in entries]
    return (*headers[:first], "budget", *headers[last:]), [
        (*row[:first], share, *row[last:]) for row, share in zip(rows, shares, strict=True)
    ]


def _everything(user: UserColumns | None, epsilon: Fraction, delta: Fraction) -> str:
    return f"{protected(user).removeprefix('private ')}: {loss_text(epsilon, delta)} for all answers together"


def _plan_promise(plan: Plan, status: Status | None) -> str:
    if status is not None:
        budget = status.totals.budget
        return _everything(plan.user, budget.epsilon, budget.delta)
    cost = plan.guarantee.cost
    if cost.epsilon is None:
        return plan.promise
    return f"{protected(plan.user).removeprefix('private ')}: {loss_text(cost.epsilon, cost.delta)}"


def _plan_cost(plan: Plan, status: Status | None) -> str:
    if status is None:
        answer = "all lists together" if plan.groups else "this one answer"
        return f"all of that, for {answer}; asked twice it is paid twice, unless a budget keeps count"
    most = plan_share(plan, status)
    so_far = f"so far {budget_sentence(status)}"
    return so_far if most is None else f"at most {most} of the budget; {so_far}"


def plan_share(plan: Plan, status: Status) -> str | None:
    """The part of a budget that a plan may cost; None if its price is not known here."""
    books = status.totals.books
    if books.filter == "gaussian" and not plan.made_here:
        return None
    charge = Charged.of(plan.strategy.worst_case if plan.made_here else plan.at_most, reserve=True)
    return _percent(status.totals.whole, Sum.of(charge.cost, books.reserve(charge, status.held)))


def _percent(whole: Remaining, charged: Sum) -> str:
    """The share of a total that an amount takes, in percent with one digit, rounded up."""
    return f"{display(Fraction(math.ceil(whole.share(charged) * 1000), 10))} %"


def _bar(used: Fraction) -> str:
    filled = min(_BAR, math.ceil(used * _BAR))
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]"
