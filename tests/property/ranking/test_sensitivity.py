"""Any graph, any comparisons, any user: no score moves further than stated."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.comparisons import exact_shares

from podium.ranking import Borda, ComparisonGraph, RankingMethod, Spectral, Wins


@st.composite
def graphs(draw: st.DrawFn) -> ComparisonGraph:
    """A path through all items, and any other pairs."""
    size = draw(st.integers(2, 6))
    others = [pair for pair in itertools.combinations(range(size), 2) if pair[1] - pair[0] > 1]
    path = [(i, i + 1) for i in range(size - 1)]
    return ComparisonGraph(tuple(range(size)), tuple(path + [pair for pair in others if draw(st.booleans())]))


@st.composite
def neighbours(draw: st.DrawFn, kind: type[RankingMethod]) -> tuple[RankingMethod, list[int], list[int]]:
    """A method, a tally, and the tally with one user more."""
    graph = draw(graphs())
    per_pair, number = draw(st.integers(1, 6)), len(graph.comparisons)
    most = draw(st.integers(1, number))
    options = {}
    if kind is Spectral:
        options = {
            "mixing": draw(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)),
            "normalisation": graph.largest_degree + draw(st.integers(0, 3)),
        }
    method = kind(graph, per_pair, most, **options)
    tally = draw(st.lists(st.integers(0, per_pair + 1), min_size=number, max_size=number))
    chosen = draw(st.sets(st.integers(0, number - 1), max_size=most))
    return method, tally, [count + (place in chosen) for place, count in enumerate(tally)]


@given(neighbours(Spectral))
def test_spectral_scores(case: tuple[Spectral, list[int], list[int]]) -> None:
    method, less, more = case
    for before, after in zip(exact_shares(method, less), exact_shares(method, more), strict=True):
        assert abs(after - before) <= method.ideal_sensitivity
    _check(method, less, more)


@given(st.sampled_from([Borda, Wins]).flatmap(neighbours))
def test_counts(case: tuple[RankingMethod, list[int], list[int]]) -> None:
    _check(*case)


def _check(method: RankingMethod, less: list[int], more: list[int]) -> None:
    before, after = (method.values(np.array(tally, dtype=np.int64)) for tally in (less, more))
    for old, new in zip(before, after, strict=True):
        assert -method.falls_by <= new - old <= method.rises_by
