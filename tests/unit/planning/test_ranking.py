"""Which scores and which mechanism: from public facts, the same every time, said in one sentence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.mechanisms import ExponentialTopK, NoisyTopK, OneshotLaplace
from podium.planning.question_budget import QuestionBudget, divided_budget
from podium.planning.ranking import RankingFacts, ranking_strategy
from podium.planning.strategy import Strategy
from podium.privacy import Guarantee, total, worst_case
from podium.ranking import ComparisonGraph, MeasureScores, RankingMethod

SMALL = ComparisonGraph.complete(range(8))
PATH = ComparisonGraph(tuple(range(30)), tuple((i, i + 1) for i in range(29)))


def planned(
    epsilon: Any = 1, delta: Any = 0, graph: ComparisonGraph = SMALL, **more: Any
) -> tuple[Strategy, RankingMethod]:
    facts = RankingFacts(**{"graph": graph, "k": 3, "comparisons_per_pair": 100, **more})
    allowance = divided_budget(facts.question, epsilon=epsilon, delta=delta)
    assert isinstance(allowance, QuestionBudget)
    strategy = ranking_strategy(facts, allowance)
    assert strategy.ranking is not None
    return strategy, strategy.ranking


def test_the_sentence_names_what_each_finds_and_what_is_taken() -> None:
    plan, method = planned()
    assert plan.why.startswith(
        "On synthetic Bradley-Terry-Luce comparisons for these public facts, of the true top 3 one"
    )
    assert method.name == "borda"
    assert ": so average shares of wins." in plan.why
    assert planned() == (plan, method)


def test_spectral_scores_are_taken_where_much_is_affordable() -> None:
    plan, method = planned(epsilon=300, graph=PATH, comparisons_per_pair=3000, max_comparisons_per_user=1)
    assert method.name == "spectral"
    assert ": so spectral scores (mixing 0." in plan.why


def test_what_is_asked_for_is_taken() -> None:
    plan, method = planned(method="spectral", mixing="0.3", normalisation=9)
    assert plan.why.startswith("Scores: spectral scores (mixing 0.3), as asked.")
    assert method.describe()["normalisation"] == "9"


def test_too_little_mixing_for_the_arithmetic_is_left_out() -> None:
    _, method = planned(method="spectral", comparisons_per_pair=10**9, max_comparisons_per_user=1)
    assert method.name == "spectral"


@pytest.mark.parametrize(
    ("epsilon", "delta", "mechanism", "expected"),
    [
        (1, 0, "auto", NoisyTopK(3, 1, gaps=False, monotone=False)),
        (1, 0, "noisy", NoisyTopK(3, 1, gaps=False, monotone=False)),
        (3, 0, "exponential", ExponentialTopK(3, 1, monotone=False)),
        (1, 0, None, OneshotLaplace(3, 1, monotone=False)),
        ("0.1", "0.01", None, OneshotLaplace(3, "0.1", monotone=False)),
    ],
)
def test_mechanisms_are_the_general_ones(epsilon: Any, delta: Any, mechanism: str | None, expected: Any) -> None:
    how: dict[str, Any] = {"ordered": False} if mechanism is None else {"mechanism": mechanism}
    assert planned(epsilon, delta, method="borda", **how)[0].mechanism == expected


@pytest.mark.parametrize(("method", "k", "delta"), [("borda", 150, "0.05"), ("borda", 140, 0), ("wins", 150, 0)])
def test_the_approximate_set_is_taken_where_its_scale_is_smaller(method: str, k: int, delta: Any) -> None:
    """Wins only rise, so that the scale without a delta is half as large."""
    graph = ComparisonGraph(tuple(range(400)), tuple((i, i + 1) for i in range(399)))
    plan, _ = planned("0.2", "0.05", graph=graph, k=k, method=method, ordered=False)
    chosen = OneshotLaplace(k, "0.2", delta=delta, monotone=False)
    assert plan.mechanism == chosen
    assert plan.ranking is not None
    scores = plan.ranking.scores(dict.fromkeys(graph.comparisons, 0))
    other = OneshotLaplace(k, "0.2", delta=0 if delta else "0.05", monotone=False)
    assert chosen.scale(scores) < other.scale(scores)


def test_noisy_needs_a_pure_budget() -> None:
    with pytest.raises(InvalidArgument, match="where the budget has a delta"):
        planned(1, "1e-6", method="borda", mechanism="noisy")


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), ("0.5", "1e-6"), (4, "1e-8")])
@pytest.mark.parametrize("method", ["spectral", "borda", "wins"])
def test_list_and_scores_together_keep_the_promise(epsilon: Any, delta: Any, method: str) -> None:
    plan, scores = planned(epsilon, delta, method=method, scores=True, max_comparisons_per_user=4)
    assert isinstance(plan.scores, MeasureScores)
    assert plan.scores.in_all == scores.moves_in_all(3)
    cost = worst_case(plan.worst_case)
    assert plan.guarantee == Guarantee.of(epsilon, delta)
    if delta:
        # Half of rho is for the scores.
        assert Fraction(49, 100) < worst_case(plan.scores.worst_case(3)).rho / cost.rho < Fraction(51, 100)
        assert Fraction(99, 100) * Fraction(epsilon) < total(plan.worst_case).epsilon(delta=delta) <= Fraction(epsilon)
    else:
        assert cost.epsilon == epsilon
