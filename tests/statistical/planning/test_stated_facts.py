"""Stating more that is true never makes the answer worse: a domain, a bound, one item per user.

A grid of small tables, each asked with nothing stated and with more and more of what is true of it. Noise is replayed,
so a test that passed passes for ever; how much luck a cell may have follows from the spread of its runs.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from podium.mechanisms import ExponentialTopK, RefinedTopK, RisingTopK
from podium.mechanisms.reader import Reads
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import recall
from podium.planning.question_budget import divided_budget, question_budget
from podium.planning.strategy import strategy_for
from podium.randomness.replay import ReplayableBits
from podium.release import Release

RUNS = 10
LIMIT = 0.01
SURE = 3.5
"""Standard errors of a difference, about those of one cell in four thousand; below it a cell is not surely worse."""


class Shape(NamedTuple):
    """Users with this many items each of a domain of this size, places, and epsilon."""

    users: int
    each: int
    size: int
    k: int
    epsilon: str


GRID = (
    Shape(300, 1, 60, 10, "1"),
    Shape(1500, 1, 60, 4, "0.3"),
    Shape(1500, 2, 200, 50, "1"),
    Shape(1000, 4, 60, 20, "1"),
    Shape(800, 8, 200, 10, "3"),
    Shape(300, 50, 120, 20, "1"),
    Shape(300, 100, 120, 5, "1"),
    Shape(1000, 20, 40, 30, "0.5"),
    Shape(6000, 1, 300, 3, "0.1"),
)


COUNTED = (
    Shape(3000, 1, 300, 10, "1"),
    Shape(2000, 2, 200, 6, "1"),
    Shape(800, 8, 200, 4, "1"),
    Shape(300, 100, 120, 5, "1"),
)


class Asked(NamedTuple):
    """What is stated."""

    domain: bool = False
    bound: bool = False
    counts: bool = False

    def facts(self, shape: Shape) -> Facts:
        return Facts(
            k=shape.k,
            domain_size=shape.size if self.domain else None,
            max_items_per_user=shape.each if self.bound else None,
            counts=self.counts,
        )


@cache
def pairs(shape: Shape) -> tuple[Any, Any]:
    """Different items for each user, the lower numbers more often."""
    draw = np.random.default_rng(shape.users + shape.each)
    noisy = -0.6 * np.log(np.arange(1, shape.size + 1)) + draw.gumbel(size=(shape.users, shape.size))
    items = np.argpartition(-noisy, shape.each - 1, axis=1)[:, : shape.each]
    return np.repeat(np.arange(shape.users), shape.each), items.ravel()


def run(mechanism: Any, facts: Facts, table: PairsReader, bits: ReplayableBits) -> Release:
    """What ``run_strategy`` does, with bits that are replayed."""
    if mechanism.reads is Reads.ROUNDS:
        release: Release = mechanism.release(table, bits=bits)
        return release
    if mechanism.reads is Reads.WEIGHTED_COUNTS:
        found = table.discover(mechanism, ()) if facts.domain_size is None else table.rank_known(mechanism)
        return replace(found, values=None, value_kind=None)
    chosen: Release = mechanism.release(table.histogram(facts.domain_size, facts.max_items_per_user), bits=bits)
    return chosen


@cache
def recalls(shape: Shape, asked: Asked, mechanism: Any = None) -> tuple[float, ...]:
    facts = asked.facts(shape)
    chosen = mechanism or strategy_for(facts, question_budget(facts, epsilon=shape.epsilon, delta="1e-6")).mechanism
    bits = ReplayableBits(shape.k)
    table = PairsReader(*pairs(shape), bits=bits, domain_size=shape.size)
    return tuple(recall(run(chosen, facts, table, bits), table.counts) for _ in range(RUNS))


def shortfall(more: tuple[float, ...], less: tuple[float, ...]) -> float:
    """How much worse the first is than the second beyond luck, in recall."""
    error = math.sqrt((statistics.variance(more) + statistics.variance(less)) / RUNS)
    return statistics.fmean(less) - statistics.fmean(more) - SURE * error


PLAIN, DOMAIN, BOUND, BOTH = Asked(), Asked(domain=True), Asked(bound=True), Asked(domain=True, bound=True)
COUNTS, DOMAIN_COUNTS = Asked(counts=True), Asked(domain=True, counts=True)


@pytest.mark.parametrize("shape", GRID)
def test_what_is_true_never_makes_the_answer_worse(shape: Shape) -> None:
    for more, less in ((DOMAIN, PLAIN), (BOUND, PLAIN), (BOTH, BOUND), (BOTH, DOMAIN)):
        assert shortfall(recalls(shape, more), recalls(shape, less)) <= LIMIT, (more, less)


@pytest.mark.parametrize("shape", COUNTED)
def test_a_domain_never_makes_a_list_with_counts_worse(shape: Shape) -> None:
    assert shortfall(recalls(shape, DOMAIN_COUNTS), recalls(shape, COUNTS)) <= LIMIT


def test_selections_with_counts_are_caught() -> None:
    """Negative control: they find fewer of these items than a question that does not state the domain."""
    shape = COUNTED[0]
    facts = DOMAIN_COUNTS.facts(shape)
    selections = strategy_for(facts, divided_budget(facts, epsilon=shape.epsilon, delta="1e-6")).mechanism
    assert isinstance(selections, ExponentialTopK)
    assert shortfall(recalls(shape, DOMAIN_COUNTS, selections), recalls(shape, COUNTS)) > LIMIT


def test_selections_of_three_known_items_are_caught() -> None:
    """Negative control: everybody has one item, which a question without a domain finds out, and selections do not."""
    shape = Shape(6000, 1, 300, 3, "0.1")
    in_turn = RisingTopK.within(shape.k, epsilon=shape.epsilon, delta="1e-6")
    assert shortfall(recalls(shape, DOMAIN, in_turn), recalls(shape, PLAIN)) > LIMIT


def test_a_domain_gains_on_average() -> None:
    gains = [statistics.fmean(recalls(shape, DOMAIN)) - statistics.fmean(recalls(shape, PLAIN)) for shape in GRID]
    assert statistics.fmean(gains) > 0.1


@pytest.mark.parametrize("wrong", [RisingTopK, RefinedTopK])
def test_one_way_for_all_known_domains_is_caught(wrong: Any) -> None:
    """Negative control: selections in turn lose where users have few items, and rounds where they have most."""
    worse = [
        shape
        for shape in GRID
        if shortfall(
            recalls(shape, DOMAIN, wrong.within(shape.k, epsilon=shape.epsilon, delta="1e-6")), recalls(shape, DOMAIN)
        )
        > LIMIT
    ]
    assert worse
