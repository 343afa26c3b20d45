"""What a request must meet before anything is charged for it: room in the totals, a turn, a table, an analyst."""

from __future__ import annotations

from fractions import Fraction

from podium.errors import BudgetExceeded, InvalidArgument
from podium.ledger.account import Account
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Charged, Sum, Terms
from podium.ledger.tables.store import DatasetRecord, Store
from podium.privacy import Cost, Selection
from podium.privacy.rounding import display

__all__ = ["require_analyst", "require_failures", "require_room", "require_schedule", "require_table", "require_turn"]


def require_schedule(store: Store, record: DatasetRecord, schedule: str | None) -> None:
    """A schedule's data set answers only its own questions: others about the same rows would weaken its guarantee."""
    owner = store.registration(record).facts.get("schedule")
    if owner not in (None, schedule):
        raise InvalidArgument(
            "dataset",
            record.account.dataset,
            allowed="for questions of the schedule and window that it was registered for",
            hint="Ask other questions under a data set of their own.",
        )


def require_turn(account: Account, cost: Cost) -> None:
    """Refuse an ordinary question beyond ``max_questions``, or below the minimum price."""
    totals, max_questions = account.totals, account.totals.max_questions
    if max_questions is not None and account.questions >= max_questions:
        hint = (
            f"Its owner allows {max_questions=}; earlier answers are still repeated. The owner may allow more, "
            f"with 'podium budget raise {account.dataset} --max-questions N'."
        )
        raise BudgetExceeded("questions", Fraction(1), Fraction(0), budget=repr(account.dataset), hint=hint)
    if totals.price(cost) < totals.minimum_price:
        measure = "epsilon" if totals.budget.pure else "rho"
        raise InvalidArgument(
            "worst_case",
            f"{measure} {display(totals.price(cost))}",
            allowed=f"{measure} {display(totals.minimum_price)} or more for a question about {account.dataset!r}",
            hint="Ask for more items, or with a larger epsilon: the owner's plan has this minimum price.",
        )


def require_failures(record: DatasetRecord, analyst: str | None) -> None:
    """Refuse to unlock an analyst who has no failed questions."""
    if analyst is not None and not record.state.failures(analyst):
        raise InvalidArgument(
            "analyst",
            analyst,
            allowed=f"an analyst whose questions about {record.account.dataset!r} failed",
            hint="'podium budget show' lists them; without a name everybody is let in again.",
        )


def require_table(account: Account, table: str | None) -> None:
    """Refuse a question that does not name one of the tables of a data set that has several."""
    if (table is None) == bool(account.tables) or (table is not None and table not in account.tables):
        names = " or ".join(map(repr, account.tables))
        allowed = f"{names}, the tables of {account.dataset!r}" if names else f"None: {account.dataset!r} has one table"
        raise InvalidArgument("table", table, allowed=allowed, hint="Name the table that the question is about.")


def require_analyst(account: Account, analyst: str | None) -> None:
    """Refuse a question without an analyst where analysts have caps."""
    if analyst is None and account.totals.per_analyst is not None:
        raise InvalidArgument(
            "analyst",
            None,
            allowed=f"a name, because {account.dataset!r} has a budget per analyst",
            hint="Say who asks.",
        )


def require_room(
    books: Books, held: Sum, charge: Charged, dataset: str, *, whose: str | None = None, session: bool = False
) -> Terms:
    """The terms on which a charge is admitted, or why it is not."""
    problem = books.refusal(charge, held, session=session)
    if problem is None:
        return books.reserve(charge, held, session=session)
    budget = repr(dataset) if whose is None else f"{whose} on {dataset!r}"
    hint = f"{_what_fits(books, held, charge)}; 'podium budget show {dataset}' lists what was spent."
    total = getattr(books.remaining(Sum()), problem.measure)
    raise BudgetExceeded(problem.measure, problem.requested, problem.remaining, budget=budget, hint=hint, total=total)


def _what_fits(books: Books, held: Sum, charge: Charged) -> str:
    """A smaller question that would fit, if the charge is made of selections."""
    others = tuple(event for event in charge.events if not isinstance(event, Selection))
    selections = tuple(event for event in charge.events if isinstance(event, Selection))
    low, high = 0, len(selections)
    while high - low > 1:
        middle = (low + high) // 2
        fits = books.refusal(Charged.of((*others, *selections[:middle]), reserve=True), held) is None
        low, high = (middle, high) if fits else (low, middle)
    if low:
        return f"Only {low} of the {len(selections)} items would fit: ask for fewer, or lower epsilon"
    return "Ask for fewer items, lower epsilon, or ask the owner to raise the total"
