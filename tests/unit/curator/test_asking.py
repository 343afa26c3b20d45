"""What a caller writes and what it means, before any engine or ledger is asked."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.curator.answer import bare
from podium.curator.prepare import Asked, Options
from podium.curator.reuse import answered_by, question_key, question_text
from podium.errors import InvalidArgument, QuestionForfeited
from podium.mechanisms import AdaptiveTopK
from podium.planning.facts import Facts
from podium.planning.question_budget import QuestionBudget, RoundsBudget, question_budget
from podium.planning.strategy import strategy_for
from podium.query import Question
from podium.sources import Domain, DomainFile, DomainItems, DomainSize, DomainTable


def asked(domain: Domain | None = None, user: str = "u", **facts: Any) -> Asked:
    known = Facts(**{"k": 3, "domain_size": None if domain is None else 9, **facts})
    plan = strategy_for(known, question_budget(known, epsilon=1, delta="1e-6"))
    return Asked(Question(("i",), known.k), plan, domain, user)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({}, None),
        ({"domain_size": 7}, DomainSize(7)),
        ({"domain": ["a", "b"]}, DomainItems(("a", "b"))),
        ({"domain": (item for item in "ab")}, DomainItems(("a", "b"))),
        ({"domain": range(3)}, DomainItems((0, 1, 2))),
        ({"domain": "items.csv"}, DomainFile("items.csv")),
        ({"domain": Path("items.csv")}, DomainFile(Path("items.csv"))),
        ({"domain": DomainTable("t")}, DomainTable("t")),
    ],
)
def test_domains_as_written(written: dict[str, Any], meant: Domain | None) -> None:
    assert Options(**written).stated_domain() == meant


def test_a_domain_is_stated_once() -> None:
    with pytest.raises(InvalidArgument, match="domain_size=5 is not valid"):
        Options(domain=["a"], domain_size=5).stated_domain()


def test_the_salt_is_drawn_for_each_reading() -> None:
    bounded = asked(max_items_per_user=2)
    salts = {bounded.reading().salt for _ in range(5)}
    assert len(salts) == 5
    assert all(salt is not None and len(salt) == 64 for salt in salts)
    assert asked().reading().salt is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DomainItems(("a", "b")), DomainItems(("b", "a", "b"))),
        (DomainItems((1, 2)), DomainItems((np.int64(2), np.int64(1)))),
        (DomainItems((("a", 1), ("b", 2))), DomainItems((("b", 2), ("a", 1)))),
        (DomainSize(9), DomainSize(9)),
        (DomainTable("t"), DomainTable("t")),
    ],
)
def test_one_key_for_one_domain(one: Domain, other: Domain) -> None:
    assert question_key(asked(one)) == question_key(asked(other))


def test_keys_tell_questions_apart() -> None:
    keys = [
        question_key(asked(**facts))
        for facts in (
            {},
            {"user": "v"},
            {"counts": True},
            {"max_items_per_user": 2},
            {"domain": DomainSize(9)},
            {"domain": DomainSize(10)},
            {"domain": DomainItems((1, 23))},
            {"domain": DomainItems((12, 3))},
            {"domain": DomainItems(("1", "23"))},
            {"domain": DomainTable("t")},
            {"domain": DomainTable("t", ("c",))},
            {"domain": DomainTable("t"), "domain_size": 8},
            {"domain": DomainFile("no such file")},
        )
    ]
    assert len(set(keys)) == len(keys)


def test_a_file_is_known_by_what_it_holds(tmp_path: Path) -> None:
    one, copy, other = tmp_path / "one.csv", tmp_path / "copy.csv", tmp_path / "other.csv"
    one.write_text("i\na\n", encoding="utf-8")
    copy.write_text("i\na\n", encoding="utf-8")
    other.write_text("i\nb\n", encoding="utf-8")
    assert question_key(asked(DomainFile(one))) == question_key(asked(DomainFile(str(copy))))
    assert question_key(asked(DomainFile(one))) != question_key(asked(DomainFile(other)))
    assert question_key(asked(DomainFile(one))) != question_key(asked(DomainFile(one, ("i",))))


@pytest.mark.parametrize(
    ("before", "now", "suits"),
    [
        ({"k": 3}, {"k": 3}, True),
        ({"k": 10}, {"k": 3}, True),
        ({"k": 2}, {"k": 3}, False),
        ({"k": 200, "mechanism": "limited-domain"}, {"k": 3}, True),
        ({"k": 200, "mechanism": "limited-domain"}, {"k": 3, "k_bar": 2000}, True),
        ({"k": 200, "mechanism": "limited-domain"}, {"k": 3, "k_bar": 1000}, False),
        ({"k": 200, "k_bar": 1000}, {"k": 3}, True),
        ({"k": 200, "k_bar": 999}, {"k": 3}, False),
        ({"k": 3, "k_bar": 50}, {"k": 3, "k_bar": 50}, True),
        ({"k": 3, "domain": DomainSize(9)}, {"k": 2, "domain": DomainSize(9)}, True),
    ],
)
def test_which_answers_contain_this_one(before: dict[str, Any], now: dict[str, Any], suits: bool) -> None:
    assert answered_by(asked(**now))(question_text(asked(**before))) is suits


def by_the_ledger(k: int, **facts: Any) -> Asked:
    """Asked under a plan per item, whose budget grows with the list."""
    known, single, delta = Facts(k=k, **facts), Fraction(1, 10), Fraction(1, 10**7)
    allowance = (
        RoundsBudget(mu_squared=k * single**2, delta=delta, per_item=single)
        if known.adaptive
        else QuestionBudget(epsilon_per_item=single, delta_per_call=delta, sigma=Fraction(30) if known.counts else None)
    )
    return Asked(Question(("i",), k), strategy_for(known, allowance), None, "u")


@pytest.mark.parametrize(
    ("before", "now", "suits"),
    [
        ({"k": 100}, {"k": 50}, True),
        ({"k": 100}, {"k": 50, "mechanism": "adaptive"}, True),
        ({"k": 100, "counts": True}, {"k": 50, "counts": True}, True),
        ({"k": 50}, {"k": 100}, False),
        ({"k": 100, "counts": True}, {"k": 50}, False),
        ({"k": 100, "max_items_per_user": 9}, {"k": 50}, False),
        # Ten items are one selection after the other, and so is whatever has a k_bar.
        ({"k": 100}, {"k": 10}, False),
        ({"k": 100}, {"k": 10, "mechanism": "adaptive"}, True),
        ({"k": 100}, {"k": 50, "k_bar": 1000}, False),
        ({"k": 100, "mechanism": "limited-domain"}, {"k": 50}, False),
        ({"k": 100, "mechanism": "limited-domain"}, {"k": 10}, True),
    ],
)
def test_which_answers_in_rounds_contain_this_one(before: dict[str, Any], now: dict[str, Any], suits: bool) -> None:
    first, second = by_the_ledger(**before), by_the_ledger(**now)
    assert (question_key(first) == question_key(second) and answered_by(second)(question_text(first))) is suits


def test_another_delta_of_the_call_is_another_question() -> None:
    facts = Facts(k=3)
    plans = [strategy_for(facts, QuestionBudget(epsilon_per_item=Fraction(1, 9), delta_per_call=Fraction(1, d))) for d in (8, 9)]
    keys = {question_key(Asked(Question(("i",), 3), plan, None, "u")) for plan in plans}
    assert len(keys) == 2


def test_another_budget_for_all_rounds_is_another_question() -> None:
    keys = set()
    for epsilon in (1, 2):
        facts = Facts(k=100)
        plan = strategy_for(facts, question_budget(facts, epsilon=epsilon, delta="1e-6"))
        keys.add(question_key(Asked(Question(("i",), 100), plan, None, "u")))
    assert len(keys) == 2


def test_a_round_counts_with_its_weights_what_is_not_out_yet() -> None:
    rounds = asked(k=50)
    assert isinstance(rounds.plan.mechanism, AdaptiveTopK)
    weights = rounds.plan.mechanism.first_stage.weights
    salt = rounds.fresh_salt()
    reading = rounds.weighted(weights, ("x",), salt)
    assert (reading.max_items_per_user, reading.salt, reading.without) == (1000, salt, ("x",))
    assert reading.weights == weights.steps
    assert salt != rounds.fresh_salt()


def test_a_bare_error_carries_nothing_along() -> None:
    def fail() -> None:
        try:
            raise ValueError("secret")  # noqa: TRY301
        except ValueError as error:
            raise KeyError("secret") from error

    with pytest.raises(KeyError) as caught:
        fail()
    error = bare(caught.value)
    assert (error.__cause__, error.__context__, error.__traceback__) == (None, None, None)


def test_a_forfeited_question_survives_pickling() -> None:
    plan = asked().plan
    error = QuestionForfeited("views", plan.reach, plan.delta_per_call)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301
