"""Plans without the engine: what they say is what the real plan says, and no source is asked anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.service.serving import views

from podium.curator import Curator
from podium.curator.sketch import MAX_K, sketch_plan
from podium.errors import InvalidArgument, QuestionRefused, UnknownColumn
from podium.ledger import Budget
from podium.ledger.bookkeeping.held import Charged
from podium.privacy import Event
from podium.query import Question
from podium.query.join import Join
from podium.sources.duckdb.source import DuckDBSource

QUESTIONS: list[tuple[dict[str, Any], str | None]] = [
    ({"item": "article"}, None),
    ({"item": "article", "counts": True}, None),
    ({"item": "article", "counts": True, "others": True}, None),
    ({"item": "article", "k": 3, "where": "country = 'DE'"}, "0.5"),
    ({"item": "article", "per": "country", "groups_per_user": 2}, None),
    ({"item": "article", "by": "sum(weekday)", "clip": 3}, None),
    ({"item": "article", "k": 2, "domain": ("a0", "a1", "a2", "a1")}, None),
    ({"item": "weekday", "k": 2, "domain_size": 7}, None),
    ({"sql": "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 4"}, None),
]


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    folder = tmp_path_factory.mktemp("sketch")
    views(folder / "views.parquet", users=300)
    budget = Budget(epsilon=3, delta="1e-6")
    with Curator(
        folder / "views.parquet", dataset="views", user="user_id", ledger=folder / "ledger.db", budget=budget
    ) as opened:
        yield opened


@pytest.mark.parametrize(("options", "epsilon"), QUESTIONS)
def test_a_sketch_says_what_the_plan_says_without_the_engine(
    curator: Curator, options: dict[str, Any], epsilon: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Question(**options)
    planned = curator.plan_question(question, epsilon=epsilon)
    for name in ("check", "queries", "domain_size", "snapshot", "keep_pairs"):
        monkeypatch.setattr(DuckDBSource, name, _never)
    found = sketch_plan(curator, question, epsilon=epsilon).plan
    assert (found.at_most, found.mechanism, found.parameters) == (
        planned.at_most,
        planned.mechanism,
        planned.parameters,
    )
    assert (found.reach_sentence, found.groups, found.queries) == (planned.reach_sentence, planned.groups, ())


def _never(*_: object, **__: object) -> None:
    raise AssertionError("a sketch asked the engine")


def test_the_largest_k_is_the_largest(curator: Curator) -> None:
    status = curator.status

    def fits(events: tuple[Event, ...]) -> bool:
        return status.totals.books.refusal(Charged.of(events, reserve=True), status.held) is None

    enough = {
        counts: sketch_plan(curator, Question(item=("article",), counts=counts)).affordable_k(fits)
        for counts in (False, True)
    }
    assert enough == {False: 100, True: 50}
    for counts, k in enough.items():
        assert k is not None
        assert fits(sketch_plan(curator, Question(item=("article",), k=k, counts=counts)).plan.strategy.worst_case)
        assert not fits(
            sketch_plan(curator, Question(item=("article",), k=k + 1, counts=counts)).plan.strategy.worst_case
        )
    # A stated epsilon is for the answer, however long; a domain has only so many items.
    assert sketch_plan(curator, Question(item=("article",)), epsilon="0.5").affordable_k(fits) == MAX_K
    assert sketch_plan(curator, Question(item=("weekday",), k=2, domain_size=7)).affordable_k(fits) == 7
    assert sketch_plan(curator, Question(item=("article",))).affordable_k(lambda _: False) == 0


def test_an_epsilon_may_be_too_little_for_longer_lists(curator: Curator) -> None:
    """Shared by many items, it is worth less than the least price of a question."""
    found = sketch_plan(curator, Question(item=("article",), k=1), epsilon="0.01").affordable_k(lambda _: True)
    assert found is not None
    assert 1 <= found < MAX_K
    assert sketch_plan(curator, Question(item=("article",), k=found), epsilon="0.01").plan.k == found
    with pytest.raises(InvalidArgument, match="epsilon"):
        sketch_plan(curator, Question(item=("article",), k=found + 1), epsilon="0.01")


def test_mistakes_are_those_of_the_plan(curator: Curator) -> None:
    with pytest.raises(UnknownColumn, match="articel"):
        sketch_plan(curator, Question(item=("articel",)))
    with pytest.raises(InvalidArgument, match="epsilon"):
        sketch_plan(curator, Question(item=("article",)), epsilon="1e-9")
    with pytest.raises(QuestionRefused, match="DE"):
        sketch_plan(curator, Question(item=("article",), where=("country = DE",)))


def test_a_question_that_joins_has_no_sketch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of what is joined may have to be looked up."""
    views(tmp_path / "views.parquet", users=20)
    (tmp_path / "topics.csv").write_text("article,topic\na0,news\na1,sport\n", encoding="utf-8")
    joined = Join(str(tmp_path / "topics.csv"), "article", public=True)
    with Curator(
        tmp_path / "views.parquet", dataset="views", user="user_id", ledger=tmp_path / "ledger.db",
        budget=Budget(epsilon=3, delta="1e-6"), joins=joined,
    ) as opened:  # fmt: skip
        question = Question(item=("topic",), k=1, join=("topics",))
        assert opened.plan_question(question).k == 1
        for name in ("check", "joined_schema", "joined_tables", "schema_beside"):
            monkeypatch.setattr(DuckDBSource, name, _never)
        with pytest.raises(QuestionRefused, match="JOIN"):
            sketch_plan(opened, question)
