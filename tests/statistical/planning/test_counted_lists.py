"""Short lists with counts on small tables: rounds find what selections cannot, and their counts have intervals."""

from __future__ import annotations

import numpy as np
import pytest

from podium.mechanisms import AdaptiveTopK, LimitedDomain
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import Prior, recall, run_strategy
from podium.planning.question_budget import question_budget
from podium.planning.strategy import strategy_for
from podium.present.intervals import margin_of

RUNS = 12


def mean_recall(facts: Facts, prior: Prior) -> float:
    strategy = strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6"))
    assert type(strategy.mechanism) is (LimitedDomain if facts.mechanism == "limited-domain" else AdaptiveTopK)
    table = PairsReader(*prior.pairs(1))
    releases = [run_strategy(strategy, table) for _ in range(RUNS)]
    assert all(margin_of(release) is not None for release in releases if release.items and facts.adaptive)
    return float(np.mean([recall(release, table.counts) for release in releases]))


# Standard deviations of one run are at most .1, those of a mean .03; means are .95, .52, .96 against .38, .10, .21.
@pytest.mark.parametrize(("users", "each", "k", "between"), [(1000, 3, 5, 0.7), (1000, 3, 10, 0.3), (5000, 1, 10, 0.6)])
def test_counts_do_not_cost_small_tables_their_lists(users: int, each: int, k: int, between: float) -> None:
    prior = Prior(users=users, items=1000, items_per_user=each, skew=0)
    assert mean_recall(Facts(k=k, counts=True), prior) > between
    # The control: successive selections do not get there.
    assert mean_recall(Facts(k=k, counts=True, mechanism="limited-domain"), prior) < between
