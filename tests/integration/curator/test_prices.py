"""What a question costs at least, and how many there may be: refused before anything is reserved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.curator import Curator
from podium.errors import BudgetExceeded, InvalidArgument
from podium.ledger import Budget, open_ledger
from podium.query import Question, RankingQuestion

ITEMS = ["a", "b", "c", "d"]
APPROXIMATE = Budget(epsilon=3, delta="1e-6", items=50, questions=5)
PURE = Budget(epsilon=3, items=50, questions=5)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = "".join(f"{user},{item},{item}x\n" for number, item in enumerate(ITEMS) for user in range(90 - 20 * number))
    path = tmp_path / "orders.csv"
    path.write_text(f"customer,item,other\n{rows}", encoding="utf-8")
    return path


@pytest.fixture(params=["delta", "pure"])
def curator(request: pytest.FixtureRequest, table: Path) -> Iterator[Curator]:
    budget = PURE if request.param == "pure" else APPROXIMATE
    ledger = table.with_name("ledger.db")
    with Curator(table, dataset="orders", user="customer", ledger=ledger, budget=budget) as made:
        yield made


def questions(curator: Curator) -> list[Question | RankingQuestion]:
    known: dict[str, Any] = {"domain": ITEMS}
    asked: list[Question | RankingQuestion] = [
        Question.of("item", k=1, **known),
        Question.of("item", k=3, **known),
        Question.of("item", k=2, counts=True, **known),
        RankingQuestion(
            winner="item", loser="other", items=[*ITEMS, *(f"{item}x" for item in ITEMS)], k=2,
            comparisons_per_pair=10, max_comparisons_per_user=2,
        ),
    ]  # fmt: skip
    if not curator.status.totals.budget.pure:
        sql = "SELECT item, COUNT(DISTINCT customer) AS n FROM orders GROUP BY item ORDER BY n DESC LIMIT 2"
        asked += [
            Question.of("item", k=2),
            Question.of("item", k=20, max_items_per_user=4),
            Question.of(sql=sql),
        ]
    return asked


def test_a_question_that_is_too_cheap_is_refused_with_the_least_epsilon(curator: Curator) -> None:
    for number, question in enumerate(questions(curator)):
        ask = curator.ask if number % 3 else curator.plan_question
        with pytest.raises(InvalidArgument, match=r"A question about this data set costs at least") as caught:
            ask(question, epsilon="1e-6" if number % 2 else "1e-20")
        assert caught.value.name == "epsilon"
        found = re.fullmatch(r"(\S+) or more", caught.value.allowed)
        assert found is not None
        curator.plan_question(question, epsilon=found[1])
        with pytest.raises(InvalidArgument):
            curator.plan_question(question, epsilon=str(float(found[1]) * 0.8))
    assert len(curator._ledger_account.ledger.history("orders")) == 1


def test_as_many_cheap_questions_as_are_allowed(table: Path) -> None:
    """However cheap the questions are, ten times the planned ones are answered, and told again for nothing."""
    budget = Budget(epsilon=3, delta="1e-6", items=50, questions=1)
    with (
        open_ledger(table.with_name("ledger.db")) as ledger,
        Curator(table, dataset="orders", user="customer", ledger=ledger, budget=budget) as curator,
    ):
        for number in range(10):
            curator.top("item", k=1, domain=ITEMS, where=f"customer <> '{number}'", epsilon="0.02")
        with pytest.raises(BudgetExceeded, match="max_questions=10"):
            curator.top("item", k=1, domain=ITEMS, epsilon="0.02")
        again = curator.top("item", k=1, domain=ITEMS, where="customer <> '0'", epsilon="0.02")
        assert again.paid.events == ()
        assert ledger.status("orders").questions_asked == 10
        assert ledger.verify().sound
