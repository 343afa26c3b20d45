"""What an engine that keeps nothing is asked instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podium.estimates import MeasureOthers
from podium.mechanisms import LimitedDomain, SizedTopK
from podium.planning.facts import Facts
from podium.planning.question_budget import question_budget
from podium.planning.read_once import read_once
from podium.planning.strategy import Strategy, strategy_for


def _strategy(k: int) -> Strategy:
    facts = Facts(k=k)
    strategy = strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6"))
    assert isinstance(strategy.mechanism, SizedTopK)
    return strategy


@pytest.mark.parametrize("k", [1, 2])
def test_selections_answer_short_lists_within_the_same_guarantee(k: int) -> None:
    planned = _strategy(k)
    once = read_once(planned)
    assert once is not None
    assert isinstance(once.mechanism, LimitedDomain)
    assert once.guarantee.epsilon(delta="1e-6") <= planned.guarantee.epsilon(delta="1e-6")


def test_longer_lists_have_no_such_answer() -> None:
    assert read_once(_strategy(3)) is None


def test_what_was_asked_beside_the_list_is_not_left_out() -> None:
    beside = replace(_strategy(1), others=MeasureOthers(epsilon="0.1", amounts=False))
    assert read_once(beside) is None
