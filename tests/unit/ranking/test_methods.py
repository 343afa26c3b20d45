"""Scores from comparisons: by hand, by the model that they assume, and for numbers that they cannot take."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.support.comparisons import exact_shares

from podium.errors import InvalidArgument
from podium.ranking import METHODS, Borda, ComparisonGraph, RankingMethod, Spectral, Wins

TRIANGLE = ComparisonGraph.complete(("a", "b", "c"))
COUNTED = {("a", "b"): 3, ("b", "a"): 1, ("b", "c"): 5, ("c", "d"): 9, ("a", "a"): 9}


def values(method: RankingMethod) -> dict[object, Fraction]:
    return dict(zip(method.graph.items, method.values(method.tally(COUNTED)), strict=True))


def test_wins_by_hand() -> None:
    assert values(Wins(TRIANGLE, 4)) == {"a": 3, "b": 6, "c": 0}
    moves = [Wins(TRIANGLE, 4).rises_by, Wins(TRIANGLE, 4, 1).rises_by, Wins(TRIANGLE, 4).falls_by]
    assert moves == [Fraction(2), Fraction(1), Fraction(0)]


def test_shares_of_wins_by_hand() -> None:
    """Five wins of b over c are cut to four; nobody compared a with c."""
    half = Fraction(1, 2)
    expected = {"a": half + Fraction(2, 16), "b": half + Fraction(2, 16), "c": half - Fraction(4, 16)}
    assert values(Borda(TRIANGLE, 4)) == expected
    assert Borda(TRIANGLE, 4, 1).span == Fraction(1, 8)


def test_spectral_scores_are_the_stationary_distribution() -> None:
    method = Spectral(TRIANGLE, 4, mixing="0.1")
    exact = exact_shares(method, method.tally(COUNTED).tolist())
    assert sum(exact) == 1
    for true, shown in zip(exact, values(method).values(), strict=True):
        assert 0 <= true - shown + method.error <= 2 * method.error + Fraction(1, 1 << method.grid_bits)


def test_what_is_above_the_limit_of_a_pair_changes_nothing() -> None:
    for method in (Spectral(TRIANGLE, 4), Borda(TRIANGLE, 4)):
        more = {**COUNTED, ("b", "c"): 500}
        assert method.values(method.tally(more)) == method.values(method.tally(COUNTED))


def test_without_mixing_the_weights_of_the_model_come_back_however_often_pairs_were_compared() -> None:
    """A million expected comparisons; mixing so small that it does not matter."""
    graph = ComparisonGraph.complete(range(6))
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    times = np.random.default_rng(1).integers(1, 10, (6, 6)) * 10**5
    counted = {}
    for winner, loser in graph.directed.tolist():
        compared = times[min(winner, loser), max(winner, loser)]
        counted[winner, loser] = round(compared * weights[winner] / (weights[winner] + weights[loser]))
    method = Spectral(graph, 10**6, mixing="1e-3")
    found = np.array([float(value) for value in method.values(method.tally(counted))])
    assert found == pytest.approx(weights / weights.sum(), abs=0.005)


def test_much_mixing_ranks_like_shares_of_wins() -> None:
    graph = ComparisonGraph.complete(range(8))
    tally = np.random.default_rng(2).integers(0, 50, len(graph.comparisons))
    spectral, shares = Spectral(graph, 50, mixing="0.999"), Borda(graph, 50)
    places = range(8)
    by_walk, by_share = spectral.values(tally), shares.values(tally)
    assert sorted(places, key=lambda place: by_walk[place]) == sorted(places, key=lambda place: by_share[place])


def test_computing_adds_little_to_the_sensitivity() -> None:
    for mixing in ("0.02", "0.2", "0.9"):
        for size, per_pair in ((3, 1), (100, 1000), (300, 1000)):
            method = Spectral(ComparisonGraph.complete(range(size)), per_pair, 1, mixing=mixing)
            assert 1 < method.rises_by / method.ideal_sensitivity < Fraction(1001, 1000)


def test_the_work_does_not_depend_on_the_comparisons() -> None:
    """As many steps, and as many entries of the matrix, with no comparisons as with all of them."""
    method = Spectral(TRIANGLE, 4)
    nothing, everything = (method.values(np.full(6, count, dtype=np.int64)) for count in (0, 4))
    third = Fraction(1, 3)
    step = Fraction(1, 1 << method.grid_bits)
    assert all(abs(value - third) <= method.error + step for value in (*nothing, *everything))


def test_scores_carry_the_sensitivity_of_their_method() -> None:
    for method in (Wins(TRIANGLE, 4, 2), Borda(TRIANGLE, 4, 2), Spectral(TRIANGLE, 4, 2)):
        scores = method.scores(COUNTED)
        assert (scores.rises_by, scores.falls_by) == (method.rises_by, method.falls_by)
        assert scores.span(monotone=True) == method.span
        assert method.name in METHODS
        assert method.describe()["rises_by"] == str(method.rises_by)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"comparisons_per_pair": 0}, "comparisons_per_pair=0 is not valid"),
        ({"comparisons_per_pair": 10**10}, "an integer from 1 to 1,000,000,000"),
        ({"max_comparisons_per_user": 0}, "max_comparisons_per_user=0 is not valid"),
        ({"mixing": 0}, "mixing=0 is not valid"),
        ({"mixing": 1}, "mixing=1 is not valid"),
        ({"mixing": "1e-12"}, "Lower comparisons_per_pair, or raise mixing"),
        ({"normalisation": 1}, "normalisation=1 is not valid. Allowed: at least 2"),
        ({"neighbours": "row"}, "neighbours='row' is not valid"),
    ],
)
def test_numbers_that_no_method_can_take(arguments: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        Spectral(**{"graph": TRIANGLE, "comparisons_per_pair": 4, **arguments})  # type: ignore[arg-type]
