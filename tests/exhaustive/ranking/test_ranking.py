"""Every small table of comparisons against all its neighbours: what one user moves, and what comes out at the end."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest
from tests.support.comparisons import Tally, added, changed, exact_shares, scored, tallies
from tests.support.worlds import check_pair, check_pure

from podium.mechanisms import ExponentialTopK, NoisyTopK, OneshotLaplace
from podium.ranking import Borda, ComparisonGraph, RankingMethod, Spectral, Wins

TRIANGLE = ComparisonGraph.complete(("a", "b", "c"))
PATH = ComparisonGraph.of_pairs([("a", "b"), ("b", "c")])
MIXINGS = ("0.2", "0.5", "0.8")
HALF = Fraction(1, 2)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("most", [1, 2, None])
@pytest.mark.parametrize(("graph", "per_pair"), [(TRIANGLE, 1), (PATH, 2)])
def test_one_user_moves_no_score_further(graph: ComparisonGraph, per_pair: int, most: int | None, mixing: str) -> None:
    method = Spectral(graph, per_pair, most, mixing=mixing)
    exact, computed = _ideal(method), _computed(method)
    for tally in tallies(graph, per_pair):
        for more in added(tally, most):
            assert _furthest(exact(tally), exact(more)) <= method.ideal_sensitivity
            assert _furthest(computed(tally), computed(more)) <= method.rises_by


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("graph", "per_pair"), [(TRIANGLE, 1), (PATH, 2)])
def test_one_changed_comparison_moves_no_score_further(graph: ComparisonGraph, per_pair: int, mixing: str) -> None:
    method = Spectral(graph, per_pair, mixing=mixing, neighbours="comparison")
    exact, computed = _ideal(method), _computed(method)
    worst = Fraction(0)
    for tally in tallies(graph, per_pair):
        for other in changed(tally):
            worst = max(worst, _furthest(exact(tally), exact(other)))
            assert _furthest(computed(tally), computed(other)) <= method.rises_by
    # The bound is that of this world within a factor of 6; for much mixing it is nearly attained.
    assert method.ideal_sensitivity / 6 < worst <= method.ideal_sensitivity


@pytest.mark.parametrize("mixing", MIXINGS)
def test_computed_scores_are_as_close_to_the_exact_ones_as_stated(mixing: str) -> None:
    for graph, per_pair in ((TRIANGLE, 1), (PATH, 2)):
        method = Spectral(graph, per_pair, mixing=mixing)
        step = Fraction(1, 1 << method.grid_bits)
        for tally in tallies(graph, per_pair):
            for true, shown in zip(exact_shares(method, tally), _computed(method)(tally), strict=True):
                assert -method.error <= true - shown <= method.error + step


def test_no_score_is_above_the_bound_and_some_table_attains_it() -> None:
    for mixing in MIXINGS:
        method = Spectral(TRIANGLE, 1, mixing=mixing)
        shares = {tally: exact_shares(method, tally) for tally in tallies(TRIANGLE, 1)}
        assert max(max(found) for found in shares.values()) == method.largest_score()
        lost = [
            found[loser]
            for tally, found in shares.items()
            for (_, loser), count in zip(TRIANGLE.directed.tolist(), tally, strict=True)
            if count
        ]
        assert max(lost) <= method.largest_score(losses=1)


def test_the_bound_is_nearly_attained_by_larger_tables() -> None:
    """Everybody lost to a, nobody else lost: then one user prefers z to a."""
    graph = ComparisonGraph.complete(range(12))
    method = Spectral(graph, 50, 1, mixing="0.1")
    beaten = {(0, other): 50 for other in range(1, 11)}
    before = exact_shares(method, method.tally(beaten).tolist())
    after = exact_shares(method, method.tally({**beaten, (11, 0): 1}).tolist())
    assert Fraction(9, 10) * method.ideal_sensitivity < _furthest(before, after) <= method.ideal_sensitivity


@pytest.mark.parametrize("most", [1, 2, 3, None])
@pytest.mark.parametrize("kind", [Wins, Borda])
def test_counts_move_as_stated_and_no_less(kind: type[RankingMethod], most: int | None) -> None:
    for graph in (TRIANGLE, PATH):
        method = kind(graph, 2, most)
        values = _computed(method)
        rises, falls = [Fraction(0)], [Fraction(0)]
        for tally in tallies(graph, 1):
            for more in added(tally, most):
                moves = [after - before for before, after in zip(values(tally), values(more), strict=True)]
                rises.append(max(moves))
                falls.append(-min(moves))
        assert (max(rises), max(falls)) == (method.rises_by, method.falls_by)


PATHS: dict[str, tuple[RankingMethod, Any]] = {
    "spectral, in turn": (Spectral(TRIANGLE, 1, 2, mixing="0.5"), ExponentialTopK(2, HALF, monotone=False)),
    "spectral, at once": (Spectral(TRIANGLE, 1, 1, mixing="0.8"), NoisyTopK(1, 4, gaps=False, monotone=False)),
    "spectral, a set": (Spectral(TRIANGLE, 1, 1, mixing="0.8"), OneshotLaplace(1, 4, monotone=False)),
    "borda, in turn": (Borda(TRIANGLE, 1, 2), ExponentialTopK(1, 4, monotone=False)),
    "wins, at once": (Wins(TRIANGLE, 1, 2), NoisyTopK(1, 1, gaps=False, monotone=False)),
}


@pytest.mark.parametrize("path", PATHS)
def test_the_whole_path_keeps_its_promise(path: str) -> None:
    method, mechanism = PATHS[path]
    distribution = _distribution(method, mechanism)
    for tally in tallies(TRIANGLE, 1):
        for more in added(tally, method.max_comparisons_per_user):
            check_pure(distribution(tally), distribution(more), mechanism.guarantee.epsilon())


def test_the_whole_path_keeps_its_zcdp_promise() -> None:
    method, mechanism = Spectral(PATH, 1, 2, mixing="0.8"), ExponentialTopK(2, 3, monotone=False)
    distribution = _distribution(method, mechanism)
    for tally in tallies(PATH, 1):
        for more in added(tally, 2):
            check_pair(distribution(tally), distribution(more), mechanism.guarantee)


@pytest.mark.parametrize(
    "mechanism",
    [
        ExponentialTopK(1, 4, monotone=False),
        NoisyTopK(1, 4, gaps=False, monotone=False),
        OneshotLaplace(1, 4, monotone=False),
    ],
)
def test_half_the_sensitivity_is_rejected(mechanism: Any) -> None:
    distribution = _distribution(Spectral(TRIANGLE, 1, 1, mixing="0.8"), mechanism, factor=HALF)
    assert _violated(distribution, TRIANGLE, 1, 4)


def test_the_sensitivity_of_one_comparison_for_a_user_with_two_is_rejected() -> None:
    method = Spectral(TRIANGLE, 1, 1, mixing="0.8")
    assert _violated(_distribution(method, NoisyTopK(1, 4, gaps=False, monotone=False)), TRIANGLE, 2, 4)


def test_a_walk_that_hardly_mixes_is_rejected_at_the_sensitivity_of_one_that_does() -> None:
    """QSZ's condition on the data, taken for granted."""
    stated, run = Spectral(PATH, 3, 1, mixing="0.5"), Spectral(PATH, 3, 1, mixing="0.01")
    factor = stated.rises_by / run.rises_by
    distribution = _distribution(run, NoisyTopK(1, 4, gaps=False, monotone=False), factor=factor)
    assert _violated(distribution, PATH, 1, 4)


def test_values_for_the_price_of_the_set_are_rejected() -> None:
    """QSZ's Algorithm 1 as printed, which adds fresh noise. Two items, so that what one gains the other loses."""
    two = ComparisonGraph.complete(("a", "b"))
    method, mechanism = Spectral(two, 40, 1, mixing="0.9"), OneshotLaplace(1, 2, monotone=False)
    less, more = scored(method, (0, 40)), scored(method, (1, 40))
    values = [Fraction(place, 20) for place in range(-20, 41)]
    p, q = (
        {
            (item, value): mechanism.density(data, frozenset(item), [value], exact=True)
            for item in "ab"
            for value in values
        }
        for data in (less, more)
    )
    with pytest.raises(AssertionError, match="above the claimed epsilon=2 by"):
        check_pure(p, q, 2)
    check_pure(p, q, 3)


def _ideal(method: Spectral) -> Callable[[Tally], list[Fraction]]:
    return _cut(method, lambda tally: exact_shares(method, tally))


def _computed(method: RankingMethod) -> Callable[[Tally], list[Fraction]]:
    return _cut(method, lambda tally: method.values(np.array(tally, dtype=np.int64)))


def _cut(method: RankingMethod, function: Callable[[Tally], Any]) -> Callable[[Tally], Any]:
    """The same, computed once for all tallies that differ only in what is above the limit of a pair."""
    most = None if isinstance(method, Wins) else method.comparisons_per_pair
    lookup = cache(function)
    return lambda tally: lookup(tally if most is None else tuple(min(count, most) for count in tally))


def _furthest(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return max(abs(here - there) for here, there in zip(left, right, strict=True))


def _distribution(
    method: RankingMethod, mechanism: Any, *, factor: Fraction = Fraction(1)
) -> Callable[[Tally], dict[Any, flint.arb]]:
    return _cut(method, lambda tally: mechanism.distribution(scored(method, tally, factor=factor), exact=True))


def _violated(distribution: Callable[[Tally], Any], graph: ComparisonGraph, most: int, epsilon: int) -> bool:
    for tally in tallies(graph, 1):
        for more in added(tally, most):
            try:
                check_pure(distribution(tally), distribution(more), epsilon)
            except AssertionError:
                return True
    return False
