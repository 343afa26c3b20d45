"""Predicted recall: what a plan would find in a synthetic table that matches a description.

The description is public knowledge, such as "about 50,000 users with 8 items each". No row of a real table is read.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, positive_fraction, positive_integer
from podium.mechanisms.reader import Reads
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.question_budget import question_budget
from podium.planning.simulation import zipf_pairs
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy.documents import Document
from podium.release import Release

__all__ = ["Prediction", "Prior", "predict_recall", "recall", "run_strategy"]

_MAX_PAIRS = 20_000_000
_MAX_ITEMS = 10_000_000
_SEED = 1
_RUNS = 5


@dataclass(frozen=True, slots=True, init=False)
class Prior:
    """A description of a table without looking at it: Zipf popularity, log-normal activity.

    ``items_per_user`` is a mean. ``skew`` is the standard deviation of the logarithm of user activity: 0 if all users
    are alike, 1 for most logs. Item number i is about i^-exponent as popular as the first.
    """

    users: int
    items: int
    items_per_user: float
    exponent: float
    skew: float

    def __init__(
        self, *, users: int, items: int, items_per_user: Number, exponent: Number = 1, skew: Number = 1
    ) -> None:
        put = object.__setattr__
        put(self, "users", positive_integer(users, "users"))
        put(self, "items", positive_integer(items, "items"))
        put(self, "items_per_user", float(positive_fraction(items_per_user, "items_per_user")))
        put(self, "exponent", _bounded_float(exponent, "exponent", 5))
        put(self, "skew", _bounded_float(skew, "skew", 3))
        if self.items > _MAX_ITEMS:
            raise InvalidArgument("items", items, allowed=f"an integer from 1 to {_MAX_ITEMS}")
        # To reach almost all items of a small table would take ever more events.
        if self.items_per_user > self.items * 0.9:
            raise InvalidArgument("items_per_user", items_per_user, allowed=f"at most 0.9 times items={self.items}")
        if self.users * self.items_per_user > _MAX_PAIRS:
            raise InvalidArgument(
                "users",
                users,
                allowed=f"at most {_MAX_PAIRS:,} pairs of a user and an item",
                hint="Fewer users in the same proportions have a lower recall: state what fits and expect more.",
            )

    def sentence(self) -> str:
        """The description in words."""
        return (
            f"{self.users:,} synthetic users with {self.items_per_user:g} of {self.items:,} items on average "
            f"(exponent {self.exponent:g}, skew {self.skew:g})"
        )

    def pairs(self, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Users and items of one such table."""
        return zipf_pairs(
            users=self.users,
            items=self.items,
            items_per_user=self.items_per_user,
            exponent=self.exponent,
            skew=self.skew,
            seed=seed,
        )


@dataclass(frozen=True, slots=True)
class Prediction(Document):
    """Recall at one epsilon: one number for each synthetic table."""

    epsilon: float
    recalls: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The predicted recall."""
        return statistics.fmean(self.recalls)

    @property
    def error(self) -> float:
        """The standard error of the mean; 0 for a single run."""
        return statistics.stdev(self.recalls) / math.sqrt(len(self.recalls)) if len(self.recalls) > 1 else 0.0

    def quantile(self, level: float) -> float:
        """The quantile of the recall over the synthetic tables."""
        return float(np.quantile(self.recalls, level))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"epsilon": self.epsilon, "recall": self.mean, "error": self.error, "runs": list(self.recalls)}


def predict_recall(
    facts: Facts, prior: Prior, *, epsilons: Sequence[Number], delta: Number, runs: int = _RUNS, seed: int = _SEED
) -> tuple[Prediction, ...]:
    """The recall of the plan for these facts, at each epsilon, on synthetic tables; with groups in one of them.

    ``seed`` determines the tables; the noise of the mechanism is fresh, as in a real answer.
    """
    strategies = [
        _of_one_group(strategy_for(facts, question_budget(facts, epsilon=epsilon, delta=delta))) for epsilon in epsilons
    ]
    found: list[list[float]] = [[] for _ in strategies]
    for run in range(positive_integer(runs, "runs")):
        users, items = prior.pairs(seed + run)
        if facts.domain_size is not None:
            # Items outside a known domain are ignored.
            users, items = users[items < facts.domain_size], items[items < facts.domain_size]
        reader = PairsReader(users, items, salt=run, domain_size=facts.domain_size)
        for strategy, recalls in zip(strategies, found, strict=True):
            recalls.append(recall(run_strategy(strategy, reader), reader.counts))
    shown = [float(exact_fraction(epsilon, "epsilon")) for epsilon in epsilons]
    return tuple(Prediction(epsilon, tuple(recalls)) for epsilon, recalls in zip(shown, found, strict=True))


def _of_one_group(strategy: Strategy) -> Strategy:
    """What the strategy does in a group; of one list the strategy itself."""
    mechanism: Any = strategy.mechanism
    if strategy.facts.groups is None:
        return strategy
    if mechanism.reads is Reads.GROUPS_TOGETHER:
        raise InvalidArgument(
            "groups_per_user",
            "all",
            allowed="a number where recall is predicted",
            hint="What is found in a group then depends on how many groups users are in.",
        )
    return replace(strategy, mechanism=mechanism.inner, facts=replace(strategy.facts, groups=None))


def run_strategy(strategy: Strategy, table: PairsReader) -> Release:
    """What the strategy releases about a table in memory, whose items are numbers: for data that is public."""
    mechanism: Any = strategy.mechanism
    if mechanism.reads is Reads.ROUNDS:
        return mechanism.release(table)  # type: ignore[no-any-return]
    if mechanism.reads is Reads.WEIGHTED_COUNTS:
        found = table.discover(mechanism, ()) if strategy.facts.domain_size is None else table.rank_known(mechanism)
        return replace(found, values=None, value_kind=None)
    counted = table.histogram(strategy.facts.domain_size, strategy.facts.max_items_per_user)
    release: Release = mechanism.release(counted)
    if strategy.measure is None or not release.items:
        return release
    values = strategy.measure.release(counted, release.items).values
    return replace(release, values=values, value_kind="counts")


def recall(release: Release, counts: npt.NDArray[np.int64]) -> float:
    """The share of the true top k that came back; ties with the k-th count as correct."""
    k = min(release.k, int(np.count_nonzero(counts)))
    if k == 0:
        return 1.0
    last = np.partition(counts, -k)[-k]
    found = np.array(release.items, dtype=np.int64)
    return int(np.count_nonzero(counts[found[found < len(counts)]] >= last)) / k


def _bounded_float(value: Number, name: str, maximum: int) -> float:
    number = exact_fraction(value, name)
    if not 0 <= number <= maximum:
        raise InvalidArgument(name, value, allowed=f"a number from 0 to {maximum}")
    return float(number)
