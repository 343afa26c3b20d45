"""A data set's budget as text: where it stands, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from podium.ledger import Entry, Remaining, Status, Totals
from podium.ledger.account import recorded_sum, terms_of
from podium.ledger.bookkeeping.held import Sum
from podium.present.text.names import printable
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.query import QuestionRecord
from podium.query.join import stored_join
from podium.user_columns import UserColumns, user_text

__all__ = [
    "charged_text", "history_rows", "left_sentence", "left_text", "question_facts",
    "source_facts", "status_facts", "status_text", "totals_facts",
    "unit_sentence",
]  # fmt: skip


def status_facts(status: Status) -> list[tuple[str, str]]:
    """Labels and texts: the promise, what is gone, what is left."""
    totals, spent = status.totals, status.held - status.opened
    facts = [
        *source_facts(status),
        ("unit", unit_sentence(status.user, tables=tuple(status.tables))),
        ("promise", status.promise),
        *joins_facts(status),
        *totals_facts(status.totals),
        ("spent", charged_text(totals, spent)),
    ]
    if status.open_reservations:
        facts.append(("reserved", f"{charged_text(totals, status.opened)}, for {status.open_reservations} open"))
    facts += [
        ("left", f"{left_text(status.remaining)}, {left_sentence(status)}"),
        *question_facts(status),
    ]
    facts += [(f"analyst {name}", charged_text(totals, held)) for name, held in status.sums.items()]
    return [*facts, ("head", status.head)]


def source_facts(status: Status) -> list[tuple[str, str]]:
    """The name of a data set and where its rows are."""
    versioned = status.dataset if status.tables else f"{status.dataset} (version {status.data_version})"
    return [("data set", versioned), *_places(status)]


def question_facts(status: Status) -> list[tuple[str, str]]:
    """How many questions were asked and failed, and who may ask no more."""
    facts = [("questions", f"{status.questions_asked} asked, {status.failures} failed")]
    if status.failures_of:
        facts.append(("failed", ", ".join(f"{_who(name)} {count}" for name, count in status.failures_of.items())))
    if status.locked:
        facts.append(("locked", "too many questions failed: the owner must look before another is answered"))
    elif status.locked_out:
        names = ", ".join(_who(name) for name in status.locked_out)
        facts.append(("locked out", f"{names}: too many questions failed; the owner must look before they may ask"))
    return facts


def status_text(status: Status) -> str:
    """The same as lines of plain text."""
    facts = [(label, printable(text)) for label, text in status_facts(status)]
    width = max(len(label) for label, _ in facts)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in facts)


def totals_facts(totals: Totals) -> list[tuple[str, str]]:
    """What a budget allows, and the plan that follows from it."""
    budget, whole = totals.budget, totals.whole
    single = display(totals.epsilon_per_item)
    call = f" and delta {display(totals.delta_per_call)} per question" if totals.delta_per_call else ""
    allowed = f"epsilon {display(budget.epsilon)}" + (f", delta {display(budget.delta)}" if budget.delta else "")
    if whole.rho is not None:
        allowed += f", kept as rho {display(whole.rho)}"
    facts = [
        ("total", allowed),
        ("plan", f"{budget.items} items in {budget.questions} questions: epsilon {single} per item{call}"),
    ]
    if whole.mu_squared is not None:
        facts.append(("filter", f"gaussian, kept as mu^2 {display(whole.mu_squared)}"))
    if totals.max_questions is not None:
        least = f"{'epsilon' if budget.pure else 'rho'} {display(totals.minimum_price)}"
        facts.append(("at most", f"{totals.max_questions} questions, each for {least} or more"))
    return facts


def _places(status: Status) -> list[tuple[str, str]]:
    """Where the rows are: one source, or each table with its version and user column."""
    if not status.tables:
        return [("source", status.source)]
    return [
        (f"table {name}", f"{table.source} (version {table.data_version}, users in {user_text(table.user)})")
        for name, table in status.tables.items()
    ]


def joins_facts(status: Status) -> list[tuple[str, str]]:
    """The tables that questions may join, one line for each."""
    return [
        (f"joins {name}".rstrip(), stored_join(join).sentence())
        for name, joins in status.joins.items()
        for join in joins
    ]


def unit_sentence(user: UserColumns | None, *, tables: Sequence[str] = ()) -> str:
    """Whom a budget protects: the column by name, or several columns, and the tables where there are several."""
    if tables:
        return f"any one {unit_name(user)}, with all rows that they have in {', '.join(tables)} together"
    if user is None:
        return "any one user; which column that is was not written down when the data set was registered"
    if isinstance(user, tuple):
        return f"any one {unit_name(user)}, with all rows that have these values in the columns"
    return f"any one {unit_name(user)}, with all rows that have this value in the column"


def left_sentence(status: Status) -> str:
    """How far the rest goes, at the planned amounts."""
    items, questions = _number(status.items_left, "item"), _number(status.questions_left, "question")
    return f"enough for {items} or {questions}, whichever ends first"


def history_rows(entries: Sequence[Entry]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers and one row per entry, the oldest first."""
    gaussian = any(terms_of(entry) for entry in entries)
    headers = ("entry", "when", "what", "mu^2" if gaussian else "rho", "delta", "question", "hash")
    return headers, [
        (
            str(entry.sequence),
            entry.at[:19],
            entry.kind.value,
            _loss(entry, gaussian=gaussian),
            "" if entry.cost is None else display(entry.cost.delta),
            _question(entry),
            entry.hash[:12],
        )
        for entry in entries
    ]


def _loss(entry: Entry, *, gaussian: bool) -> str:
    if entry.cost is None:
        return ""
    return display(recorded_sum(entry).mu_squared if gaussian else entry.cost.rho)


def _who(analyst: str | None) -> str:
    return "without a name" if analyst is None else analyst


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _question(entry: Entry) -> str:
    if entry.question is None:
        return "" if entry.reservation is None else f"of entry {entry.reservation}"
    asked = QuestionRecord.from_text(entry.question)
    if asked is None:
        return entry.question
    table = "" if asked.table is None else f" in {asked.table}"
    return f"top {asked.k} of {', '.join(asked.items)}{table}{' where ...' if asked.where else ''}"


def charged_text(totals: Totals, charged: Sum) -> str:
    """What is charged, in the measures that the total is kept in."""
    cost = charged.cost
    if totals.budget.pure and cost.epsilon is not None:
        return f"epsilon {display(cost.epsilon)}"
    if totals.budget.filter == "gaussian":
        return f"mu^2 {display(charged.mu_squared)} and delta {display(cost.delta)}"
    return f"rho {display(cost.rho)} and delta {display(cost.delta)}"


def left_text(remaining: Remaining) -> str:
    """The same for what is left."""
    if remaining.mu_squared is not None:
        return f"mu^2 {_at_least(remaining.mu_squared)} and delta {_at_least(remaining.delta)}"
    if remaining.rho is None:
        return f"epsilon {_at_least(remaining.epsilon or Fraction(0))}"
    return f"rho {_at_least(remaining.rho)} and delta {_at_least(remaining.delta)}"


def _at_least(value: Fraction) -> str:
    """What is left, never shown as more than it is: the opposite number rounds up."""
    return display(-value).removeprefix("-")
