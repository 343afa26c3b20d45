"""Prediction recall: synthetic tables are as described, and the plan that would answer is what is tried on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from podium.errors import InvalidArgument
from podium.mechanisms import AdaptiveTopK, LimitedDomain
from podium.planning.facts import Facts, GroupFacts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import Prediction, Prior, predict_recall, recall, run_strategy
from podium.planning.question_budget import question_budget
from podium.planning.strategy import Strategy, strategy_for
from podium.release import Release

SURE: dict[str, Any] = {"epsilon": 10**6, "delta": "1e-6"}


def planned(facts: Facts) -> Strategy:
    return strategy_for(facts, question_budget(facts, **SURE))


@pytest.mark.parametrize(
    "described",
    [
        {"users": 20_000, "items": 5_000, "items_per_user": 6},
        {"users": 3_000, "items": 200, "items_per_user": "12.5", "skew": 0},
        {"users": 3_000, "items": 100, "items_per_user": 50, "exponent": 0, "skew": "0.5"},
    ],
)
def test_a_table_is_as_described(described: dict[str, Any]) -> None:
    prior = Prior(**described)
    users, items = prior.pairs(1)
    assert len(np.unique(users * prior.items + items)) == len(users)
    assert (users.min() >= 0, users.max() < prior.users, items.min() >= 0, items.max() < prior.items) == (True,) * 4
    # The standard error of the mean is below 1.5 percent in all three cases.
    assert len(users) / prior.users == pytest.approx(prior.items_per_user, rel=0.06)
    counts = np.bincount(items, minlength=prior.items)
    if prior.exponent:
        assert counts[0] > counts[9] > counts[99]
    else:
        assert counts.max() < 1.2 * counts.min()
    sizes = np.bincount(users, minlength=prior.users)
    assert (float(np.std(sizes)) > prior.items_per_user / 2) is (prior.skew == 1)


def test_the_same_seed_gives_the_same_table() -> None:
    prior = Prior(users=500, items=50, items_per_user=3)
    one, same, other = (prior.pairs(seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert len(one[0]) != len(other[0]) or not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"users": 0}, "users=0 is not valid. Allowed: an integer, 1 or more."),
        ({"items_per_user": 0}, "items_per_user=0 is not valid. Allowed: a number above 0."),
        ({"items_per_user": 91}, "items_per_user=91 is not valid. Allowed: at most 0.9 times items=100."),
        ({"items": 10**8}, "items=100000000 is not valid. Allowed: an integer from 1 to 10000000."),
        ({"exponent": -1}, "exponent=-1 is not valid. Allowed: a number from 0 to 5."),
        ({"skew": "3.5"}, "skew='3.5' is not valid. Allowed: a number from 0 to 3."),
        (
            {"users": 10**7},
            (
                "users=10000000 is not valid. Allowed: at most 20,000,000 pairs of a user and an item. Fewer users in "
                "the same proportions have a lower recall: state what fits and expect more."
            ),
        ),
    ],
)
def test_descriptions_that_cannot_be(described: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Prior(**{"users": 1000, "items": 100, "items_per_user": 3, **described})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("facts", "mechanism"),
    [
        (Facts(k=2, counts=True), LimitedDomain),
        (Facts(k=12, counts=True), AdaptiveTopK),
        (Facts(k=4, mechanism="adaptive", counts=True), AdaptiveTopK),
    ],
)
def test_without_noise_a_plan_finds_the_true_counts(facts: Facts, mechanism: type) -> None:
    users, items = Prior(users=300, items=40, items_per_user=8).pairs(1)
    reader = PairsReader(users, items)
    plan = planned(facts)
    assert isinstance(plan.mechanism, mechanism)
    release = run_strategy(plan, reader)
    assert recall(release, reader.counts) == 1
    assert release.values is not None
    assert [round(value) for value in release.values] == [reader.counts[item] for item in release.items]  # type: ignore[call-overload]


def test_a_known_domain_and_bounded_users() -> None:
    users, items = Prior(users=300, items=40, items_per_user=8).pairs(1)
    reader = PairsReader(users, items)
    known = run_strategy(planned(Facts(k=3, domain_size=60)), reader)
    assert recall(known, reader.counts) == 1
    bounded = run_strategy(planned(Facts(k=40, k_bar=40, max_items_per_user=1, counts=True)), reader)
    assert bounded.values is not None
    # Everybody keeps one item; those that only one user keeps do not come out.
    everybody = len(np.unique(users))
    assert 0.9 * everybody < sum(round(value) for value in bounded.values) <= everybody


def released(items: tuple[int, ...], k: int) -> Release:
    release = run_strategy(planned(Facts(k=k)), PairsReader([], []))
    return Release("x", items, k, release.paid, release.guarantee, "")


@pytest.mark.parametrize(
    ("items", "k", "counts", "share"),
    [
        ((0, 1), 2, [5, 4, 3], 1),
        ((0, 2), 2, [5, 4, 3], 1 / 2),
        # Whatever ties with the k-th is as good as it.
        ((0, 2), 2, [5, 4, 4], 1),
        # An item that nobody has is in no top k, and neither is one beyond the last that somebody has.
        ((0, 1, 7), 5, [5, 4, 0], 1),
        ((), 2, [5, 4, 3], 0),
        ((), 2, [], 1),
    ],
)
def test_recall(items: tuple[int, ...], k: int, counts: list[int], share: float) -> None:
    assert recall(released(items, k), np.array(counts, dtype=np.int64)) == share


def test_more_epsilon_finds_more() -> None:
    prior = Prior(users=1500, items=400, items_per_user=5)
    little, much = predict_recall(Facts(k=20), prior, epsilons=["0.1", 50], delta="1e-6", runs=3)
    assert (little.epsilon, much.epsilon) == (0.1, 50)
    assert len(little.recalls) == len(much.recalls) == 3
    assert little.mean < 0.5
    assert 0.9 < much.mean <= 1


@pytest.mark.parametrize("mechanism", ["adaptive", "limited-domain"])
def test_in_a_group_as_much_is_found_as_in_one_list_at_that_price(mechanism: str) -> None:
    """Of the users of one group: lists for all groups with one group per user are those of one list each."""
    prior = Prior(users=1500, items=400, items_per_user=5)
    alone, grouped, two = (
        predict_recall(Facts(k=20, mechanism=mechanism, groups=some), prior, epsilons=[2], delta="1e-6", runs=8)[0].mean
        for some in (None, GroupFacts(), GroupFacts(per_user=8))
    )
    # A mean of eight has a standard deviation of a fiftieth or less.
    assert abs(alone - grouped) < 0.25
    assert two < grouped
    with pytest.raises(InvalidArgument, match="groups_per_user"):
        predict_recall(Facts(k=20, groups=GroupFacts(None)), prior, epsilons=[2], delta="1e-6")


def test_a_prediction_has_an_error_bar() -> None:
    predicted = Prediction(1.0, (0.8, 0.9, 1.0))
    assert predicted.mean == pytest.approx(0.9)
    assert predicted.error == pytest.approx(0.1 / 3**0.5)
    assert predicted.quantile(0.5) == pytest.approx(0.9)
    assert Prediction(1.0, (0.8,)).error == 0
    assert predicted.to_dict() == {
        "epsilon": 1.0, "recall": predicted.mean, "error": predicted.error, "runs": [0.8, 0.9, 1.0],
    }  # fmt: skip
