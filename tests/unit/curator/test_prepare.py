"""What a caller writes and what it means, before any engine or ledger is asked."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from podium.curator.answer import strip_origin
from podium.curator.payment import LedgerAccount
from podium.curator.prepare import PlannedQuestion, fresh_salt, state_domain
from podium.curator.pricing import ledger_strategy
from podium.curator.reuse import Reusable, record_of
from podium.curator.stated import StatedGroups
from podium.errors import InvalidArgument, QuestionForfeited
from podium.ledger import Budget, Ledger, Totals
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.mechanisms import AdaptiveTopK, LimitedDomain
from podium.planning.facts import Facts
from podium.planning.question_budget import QuestionBudget, RoundsBudget, question_budget
from podium.planning.strategy import strategy_for
from podium.query import CheckedQuestion, Question
from podium.sources import Domain, DomainFile, DomainItems, DomainSize, DomainTable


def asked(domain: Domain | None = None, user: str = "u", **facts: Any) -> PlannedQuestion:
    known = Facts(**{"k": 3, "domain_size": None if domain is None else 9, **facts})
    strategy = strategy_for(known, question_budget(known, epsilon=1, delta="1e-6"))
    return PlannedQuestion(checked(known), strategy, domain, user)


def checked(facts: Facts) -> CheckedQuestion:
    return CheckedQuestion(("i",), facts.k, asked=Question.of("i", k=facts.k, mechanism=facts.mechanism))


def key_of(planned: PlannedQuestion) -> str:
    return record_of(planned).key


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
    assert state_domain(written.get("domain"), written.get("domain_size")) == meant


def test_a_domain_is_stated_once() -> None:
    with pytest.raises(InvalidArgument, match="domain_size=5 is not valid"):
        state_domain(["a"], 5)


def test_the_salt_is_drawn_for_each_reading() -> None:
    salts = {fresh_salt() for _ in range(5)}
    assert len(salts) == 5
    assert all(len(salt) == 32 for salt in salts)
    salt = fresh_salt()
    assert asked(max_items_per_user=2).count_query(salt).salt == salt
    assert asked().count_query(salt).salt is None
    assert replace(asked(), groups=StatedGroups(("country",), 1)).count_query(salt).salt == salt
    assert replace(asked(), groups=StatedGroups(("country",), None)).count_query(salt).salt is None


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
    assert key_of(asked(one)) == key_of(asked(other))


def test_keys_tell_questions_apart() -> None:
    keys = [
        key_of(asked(**facts))
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
    assert key_of(asked(DomainFile(one))) == key_of(asked(DomainFile(str(copy))))
    assert key_of(asked(DomainFile(one))) != key_of(asked(DomainFile(other)))
    assert key_of(asked(DomainFile(one))) != key_of(asked(DomainFile(one, ("i",))))


@pytest.mark.parametrize(
    ("before", "now", "answers"),
    [
        ({"k": 3}, {"k": 3}, True),
        ({"k": 10}, {"k": 3}, True),
        ({"k": 2}, {"k": 3}, False),
        ({"k": 200}, {"k": 3}, True),
        # To state the default is to state nothing.
        ({"k": 200, "mechanism": "limited-domain"}, {"k": 3, "k_bar": 2000}, True),
        ({"k": 200, "mechanism": "limited-domain"}, {"k": 3, "k_bar": 1000}, False),
        ({"k": 200}, {"k": 3, "k_bar": 2000}, False),
        ({"k": 200, "k_bar": 1000}, {"k": 3}, True),
        ({"k": 20, "k_bar": 1000}, {"k": 20}, False),
        ({"k": 200, "k_bar": 999}, {"k": 3}, False),
        ({"k": 3, "k_bar": 50}, {"k": 3, "k_bar": 50}, True),
        ({"k": 3, "domain": DomainSize(9)}, {"k": 2, "domain": DomainSize(9)}, True),
    ],
)
def test_which_answers_contain_this_one(before: dict[str, Any], now: dict[str, Any], answers: bool) -> None:
    assert Reusable.by(asked(**now))(record_of(asked(**before)).to_text()) is answers


def by_the_ledger(k: int, **facts: Any) -> PlannedQuestion:
    """Asked under a plan per item, whose budget grows with the list."""
    known, single, delta = Facts(k=k, **facts), Fraction(1, 10), Fraction(1, 10**7)
    budget = (
        RoundsBudget(mu_squared=k * single**2, delta=delta, per_item=single)
        if known.adaptive
        else QuestionBudget(epsilon_per_item=single, delta_per_call=delta, sigma=Fraction(30) if known.counts else None)
    )
    requested = {"epsilon_per_item": str(single), "delta": str(delta)}
    return PlannedQuestion(checked(known), strategy_for(known, budget), None, "u", requested)


@pytest.mark.parametrize(
    ("before", "now", "answers"),
    [
        ({"k": 100}, {"k": 50}, True),
        # A short list would be answered by another mechanism, but that is not what was asked for.
        ({"k": 100}, {"k": 10}, True),
        ({"k": 100, "counts": True}, {"k": 50, "counts": True}, True),
        ({"k": 100, "counts": True}, {"k": 10, "counts": True}, True),
        ({"k": 50}, {"k": 100}, False),
        ({"k": 100, "counts": True}, {"k": 50}, False),
        ({"k": 100, "max_items_per_user": 9}, {"k": 50}, False),
        # Who names a mechanism or a k_bar asks another question.
        ({"k": 100}, {"k": 50, "mechanism": "adaptive"}, False),
        ({"k": 100}, {"k": 50, "k_bar": 1000}, False),
        ({"k": 100, "mechanism": "limited-domain"}, {"k": 50}, False),
        ({"k": 100, "mechanism": "limited-domain"}, {"k": 10, "mechanism": "limited-domain"}, True),
    ],
)
def test_which_answers_in_rounds_contain_this_one(before: dict[str, Any], now: dict[str, Any], answers: bool) -> None:
    first, second = by_the_ledger(**before), by_the_ledger(**now)
    assert (key_of(first) == key_of(second) and Reusable.by(second)(record_of(first).to_text())) is answers


def test_a_key_holds_the_budget_that_was_requested() -> None:
    """The owner's plan for each item, or the epsilon of the whole question however it is written."""
    account = LedgerAccount(cast(Ledger, None), "views")
    totals = [Totals.of(Budget(epsilon=3, delta=delta, items=100, questions=20)) for delta in ("1e-6", "1e-7")]
    unknown, known = Facts(k=3), Facts(k=3, domain_size=9)
    keys = [account.strategy(one, unknown, epsilon)[1] for one in totals for epsilon in (None, "0.5", "0.6")]
    assert len({tuple(sorted(key.items())) for key in keys}) == 6
    halved = replace(totals[0], delta_per_call=totals[0].delta_per_call / 2)
    assert account.strategy(halved, unknown, None)[1] != account.strategy(totals[0], unknown, None)[1]
    assert account.strategy(totals[0], unknown, "0.5")[1] == account.strategy(totals[0], unknown, Fraction(1, 2))[1]
    assert account.strategy(totals[0], known, "0.5")[1] == account.strategy(totals[1], known, "0.5")[1]
    assert account.strategy(totals[0], known, "0.5")[1] == {"epsilon": "1/2", "delta": "0"}


@pytest.mark.parametrize(
    ("items", "k", "mechanism"),
    [(100, 2, LimitedDomain), (100, 3, AdaptiveTopK), (3, 3, LimitedDomain), (3, 2, LimitedDomain)],
)
def test_a_ledger_whose_plan_adds_up_epsilons_pays_for_selections(items: int, k: int, mechanism: type) -> None:
    """With few items planned, each has an epsilon whose rho does not fit; rounds have no epsilon to add up."""
    totals = Totals.of(Budget(epsilon=5, delta="1e-6", items=items, questions=3))
    strategy = ledger_strategy(totals, Facts(k=k), None)
    assert type(strategy.mechanism) is mechanism
    assert totals.books.refusal(Charged.of(strategy.worst_case, reserve=True), Sum()) is None


def test_a_round_counts_with_its_weights_what_is_not_out_yet() -> None:
    rounds = asked(k=50, mechanism="adaptive")
    assert isinstance(rounds.strategy.mechanism, AdaptiveTopK)
    weights = rounds.strategy.mechanism.first_stage.weights
    salt = fresh_salt()
    query = rounds.weighted_query(weights, ("x",), salt)
    assert (query.max_items_per_user, query.salt, query.without) == (1000, salt, ("x",))
    assert query.weights == weights.steps
    assert rounds.first_query().weights == weights.steps


def test_a_bare_error_carries_nothing_along() -> None:
    def fail() -> None:
        try:
            raise ValueError("secret")  # noqa: TRY301
        except ValueError as error:
            raise KeyError("secret") from error

    with pytest.raises(KeyError) as caught:
        fail()
    error = strip_origin(caught.value)
    assert (error.__cause__, error.__context__, error.__traceback__) == (None, None, None)


def test_a_forfeited_question_survives_pickling() -> None:
    strategy = asked().strategy
    error = QuestionForfeited("views", strategy.reach, strategy.delta_per_call)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301
