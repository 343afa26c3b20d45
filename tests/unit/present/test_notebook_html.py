"""What a notebook shows: HTML in plain words for all that a user meets, with the rest in details."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.grouped_releases import grouped_release
from tests.support.pictures import made
from tests.unit.present.test_html import read

import podium
from podium import Budget, Curator, Question
from podium.errors import SourceFailure
from podium.ledger import open_ledger
from podium.release.batch_answers import BatchAnswers

THEORY = re.compile(r"\b(rho|(?:a|t)?zCDP|bounded[- ]range|sigma)\b", re.IGNORECASE)


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    rows = "".join(f"{n},a<b>{n % 2}\n" for n in range(400))
    (tmp_path / "t.csv").write_text(f"u,the item\n{rows}", encoding="utf-8")
    budget = Budget(epsilon="1/3", delta="1e-6", items=7, questions=3)
    with Curator(tmp_path / "t.csv", dataset="t", user="u", ledger=tmp_path / "l.db", budget=budget) as opened:
        opened.top("the item", k=1)
        yield opened


def plain(html: str) -> str:
    """What is seen before anybody asks for details."""
    read(html)
    assert "Fraction(" not in html
    shown = re.sub(r"<details>.*?</details>|<style>.*?</style>", "", html, flags=re.DOTALL)
    assert THEORY.findall(shown) == []
    assert "None" not in shown
    return " ".join(re.sub(r"<[^>]+>", " ", shown).split())


def test_a_curator_shows_its_columns_and_its_budget(curator: Curator) -> None:
    told = plain(curator._repr_html_())
    assert "the item text" in told
    assert "private for each u: epsilon 0.3334, delta 1e-6 for all answers together" in told
    assert "% of the budget used" in told
    assert repr(curator) == "<Curator of 't': users by u>"


def test_a_status_and_a_ledger_show_what_is_used(curator: Curator, tmp_path: Path) -> None:
    shown = curator.status._repr_html_()
    assert "% of the budget used" in plain(shown)
    (percent,) = set(re.findall(r"(\d+) % of the budget used", shown))
    assert f"width:{percent}%" in shown
    assert "rho" in curator.status._repr_html_()
    with open_ledger(tmp_path / "l.db") as ledger:
        told = plain(ledger._repr_html_())
    assert re.search(r"t each u epsilon 0.3334, delta 1e-6 \d+ % of the budget used, \d+ % left", told)


def test_plans_say_the_price_in_epsilon(curator: Curator, tmp_path: Path) -> None:
    told = plain(curator.plan("the item", k=3)._repr_html_())
    assert re.search(r"this answer private for each u: epsilon 0\.\d+, delta 1e-6", told)
    alone = podium.plan(tmp_path / "t.csv", item="the item", user="u", epsilon=1, delta="1e-6")._repr_html_()
    assert "this answer private for each u: epsilon 1, delta 1e-6" in plain(alone)
    assert "<pre>SELECT" in alone or "<pre>CREATE" in alone


def test_a_batch_and_its_answers(curator: Curator) -> None:
    batch = curator.batch([Question.of(item="the item", k=1)])
    assert repr(batch) == "<Batch of 1 questions about 't': plan() prices, ask() answers>"
    assert "Plan of a batch" in batch.plan()._repr_html_()
    assert repr(batch.plan()).startswith("<BatchPlan of 1 questions: at most ")
    answers = BatchAnswers((made(("a",)), SourceFailure()))
    told = plain(answers._repr_html_())
    assert "Private top 1" in told
    assert "SourceFailure: " in told


def test_releases_end_with_the_plain_line() -> None:
    assert "Private for each user: epsilon 0.1, delta 1e-7." in plain(made(("a",), columns=("x",))._repr_html_())
    assert "Private for each user_id: " in grouped_release()._repr_html_()


def test_a_question_shows_what_it_states() -> None:
    assert repr(Question.of(item="a")) == "Question(item='a', k=10)"
    stated = Question.of(item=("a", "b"), k=3, where="c = 1", by="events", domain=range(50))
    assert repr(stated) == "Question(item=('a', 'b'), k=3, where='c = 1', domain=<50 values>, by='events')"
    assert eval(repr(Question.of(item="a", k=3, per="b", groups=[1, 2])), {"Question": Question}) == Question.of(  # noqa: S307
        item="a", k=3, per="b", groups=[1, 2]
    )
