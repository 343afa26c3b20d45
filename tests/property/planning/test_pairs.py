"""Tables in memory answer as a plain reading of the definition does."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import GaussianSparseHistogram, Weights
from podium.planning.memory_table import PairsReader
from podium.randomness.replay import ReplayableBits

Table = list[tuple[int, int]]
tables = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 14)), max_size=80)
weightings = st.one_of(
    st.integers(1, 6).map(Weights.bounded),
    st.integers(1, 20).map(Weights.spread),
    st.integers(1, 4).map(lambda m: Weights.floored(m, 4 * m)),
)


def reader_of(table: Table, *, salt: int = 0, seed: int = 0) -> PairsReader:
    return PairsReader([u for u, _ in table], [i for _, i in table], salt=salt, bits=ReplayableBits(seed))


def mixed(number: int) -> int:
    product = number * 0x9E3779B97F4A7C15 % 2**64
    return product ^ (product >> 29)


def kept(table: Table, among: set[int], most: int, salt: int) -> dict[int, set[int]]:
    """Each user's items, cut to those that come first in the order of the salt."""
    sets: dict[int, set[int]] = defaultdict(set)
    for user, item in table:
        if item in among:
            sets[user].add(item)
    return {
        user: set(sorted(items, key=lambda item: mixed(mixed(user + salt) + item))[:most])
        for user, items in sets.items()
    }


def weighted(table: Table, among: set[int], weights: Weights, salt: int) -> dict[int, int]:
    sums: dict[int, int] = defaultdict(int)
    for items in kept(table, among, weights.cap, salt).values():
        for item in items:
            sums[item] += weights.weight(len(items))
    return dict(sums)


@settings(max_examples=80)
@given(table=tables, among=st.sets(st.integers(0, 16)), weights=weightings, salt=st.integers(0, 2**40))
def test_sums(table: Table, among: set[int], weights: Weights, salt: int) -> None:
    expected = weighted(table, among, weights, salt)
    items = tuple(sorted(among, reverse=True))
    assert reader_of(table, salt=salt).sums(items, weights) == tuple(expected.get(item, 0) for item in items)


@settings(max_examples=80)
@given(table=tables, among=st.sets(st.integers(0, 16)), edges=st.sets(st.integers(1, 12), min_size=1))
def test_sizes(table: Table, among: set[int], edges: set[int]) -> None:
    sizes = [len(items) for items in kept(table, among, 10**6, 0).values()]
    lower = sorted(edges)
    upper = [*lower[1:], 10**6]
    expected = tuple(sum(low <= size < high for size in sizes) for low, high in zip(lower, upper, strict=True))
    assert reader_of(table).sizes(tuple(among), tuple(lower)) == expected


@settings(max_examples=80)
@given(
    table=tables, without=st.sets(st.integers(0, 16)), weights=weightings, salt=st.integers(0, 9),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_a_discovery_is_that_of_the_weighted_counts(
    table: Table, without: set[int], weights: Weights, salt: int, seed: int
) -> None:
    stage = GaussianSparseHistogram(sigma=Fraction(1, 2), delta="0.4", weights=weights)
    sums = weighted(table, set(range(20)) - without, weights, salt)
    items = sorted(sums)
    expected = stage.release(
        Histogram.from_arrays(items, [sums[item] for item in items], known=False), bits=ReplayableBits(seed)
    )
    found = reader_of(table, salt=salt, seed=seed).discover(stage, tuple(without))
    assert found == expected
    assert not without & set(found.items)


def test_a_user_is_cut_alike_whoever_else_is_there() -> None:
    alone = [(7, item) for item in range(30)]
    crowd = [(user, item) for user in range(7) for item in range(user, 30, 3)]
    weights = Weights.bounded(4)
    everything = tuple(range(30))
    together, others, only = (
        reader_of(table, salt=5).sums(everything, weights) for table in (alone + crowd, crowd, alone)
    )
    assert [a - b for a, b in zip(together, others, strict=True)] == list(only)
    assert sum(only) == 4


def test_users_are_cut_to_different_items() -> None:
    everybody = [(user, item) for user in range(1000) for item in range(30)]
    counts = reader_of(everybody).sums(tuple(range(30)), Weights.bounded(3))
    # 100 each on average, with a standard deviation below 10 if they were drawn at random.
    assert sum(counts) == 3000
    assert 50 < min(counts) <= max(counts) < 150


def test_pairs_that_repeat_count_once_and_counts_are_those_of_users() -> None:
    reader = reader_of([(1, 2), (1, 2), (3, 2), (3, 0)])
    assert reader.counts.tolist() == [1, 0, 2]
    assert reader_of([]).counts.tolist() == []


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"^items='negative numbers' is not valid\. Allowed: numbers from 0"):
        PairsReader([0], [-1])
    with pytest.raises(InvalidArgument, match=r"^items='another number of items than users' is not valid\."):
        PairsReader([0, 1], [1])
