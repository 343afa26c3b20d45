"""Every small table of comparisons against all its neighbours: what one user moves, and what comes out at the end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest
from tests.support.comparisons import Tally, added, changed, exact_shares, scored, tallies
from tests.support.worlds import check_pair, check_pure

from podium.exact import Number, ball
from podium.mechanisms import ExponentialTopK, NoisyTopK, OneshotLaplace
from podium.mechanisms.domain import scores_of
from podium.privacy import GaussianNoise
from podium.ranking import Borda, ComparisonGraph, MeasureScores, RankingMethod, Spectral, Wins

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


@pytest.mark.parametrize("most", [1, 2, None])
@pytest.mark.parametrize("kind", [Wins, Borda, Spectral])
def test_one_user_moves_all_scores_together_no_further(kind: type[RankingMethod], most: int | None) -> None:
    """Of any items; for wins and for shares of wins some table attains the bound for all items."""
    for graph in (TRIANGLE, PATH):
        method = kind(graph, 1, most)
        values = _computed(method)
        for size in (1, 2, 3):
            worst = Fraction(0)
            for tally in tallies(graph, 1):
                for more in added(tally, most):
                    moves = [abs(after - before) for before, after in zip(values(tally), values(more), strict=True)]
                    worst = max(worst, sum(sorted(moves)[-size:], Fraction(0)))
            assert worst <= method.moves_in_all(size)
        # A user with both comparisons of a pair moves no share.
        if kind is Wins or (kind is Borda and graph is TRIANGLE and most is not None):
            assert worst == method.moves_in_all(3)
        if kind is Spectral:
            # Not three times what one score can move.
            assert method.moves_in_all(3) < Fraction(21, 10) * method.rises_by


def test_the_sum_of_squares_is_what_gaussian_noise_is_charged_for() -> None:
    for method in (Wins(TRIANGLE, 1, 2), Borda(TRIANGLE, 1, 2), Spectral(TRIANGLE, 1, 1, mixing="0.8")):
        values, (event,) = _computed(method), MeasureScores.within(method, 3, rho=1).worst_case(3)
        assert isinstance(event, GaussianNoise)
        for tally in tallies(TRIANGLE, 1):
            for more in added(tally, method.max_comparisons_per_user):
                moves = [after - before for before, after in zip(values(tally), values(more), strict=True)]
                assert sum(move**2 for move in moves) <= event.sensitivity_squared
        assert Fraction(999, 1000) < event.rho <= 1


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


SCORED: dict[str, RankingMethod] = {
    "wins": Wins(PATH, 1, 2), "borda": Borda(PATH, 1, 2), "spectral": Spectral(PATH, 1, 1, mixing="0.8"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCORED)
def test_items_and_their_scores_keep_the_sum_of_both_prices(name: str) -> None:
    method = SCORED[name]
    joint = _items_and_scores(method, MeasureScores.within(method, 2, epsilon=1))
    for tally in tallies(PATH, 1):
        for more in added(tally, method.max_comparisons_per_user):
            check_pure(joint(tally), joint(more), 2)


@pytest.mark.parametrize("name", ["wins", "borda"])
def test_noise_for_one_score_is_rejected_for_two(name: str) -> None:
    method = {"wins": Wins(PATH, 1), "borda": Borda(TRIANGLE, 1, 1)}[name]
    whole = MeasureScores.within(method, 2, epsilon=1)
    one = replace(whole, scale=method.moves_each)
    # So little is left for the choice of the items that it hides nothing.
    small = Fraction(1, 100)
    assert _violated(_items_and_scores(method, one, small), method.graph, method.max_per_user, 1 + 2 * small)


def test_noise_for_one_spectral_score_is_too_little_for_two() -> None:
    """Two items, so that what one gains the other loses."""
    two = ComparisonGraph.complete(("a", "b"))
    method = Spectral(two, 40, 1, mixing="0.9")
    less, more = (_computed(method)(tally) for tally in ((0, 40), (1, 40)))
    together = sum(abs(here - there) for here, there in zip(less, more, strict=True))
    assert Fraction(3, 2) * method.moves_each < together <= method.moves_in_all(2)


def _items_and_scores(
    method: RankingMethod, measure: MeasureScores, epsilon_per_item: Fraction = HALF
) -> Callable[[Tally], dict[Any, flint.arb]]:
    """The density of a list of two items with their scores, at corners of a grid."""
    selection = ExponentialTopK(2, epsilon_per_item, monotone=False)
    # Beyond all scores every ratio is the one at the corner.
    corners = (Fraction(-1), Fraction(10))

    def joint(tally: Tally) -> dict[Any, flint.arb]:
        scores = scored(method, tally)
        found = {}
        for outcome, probability in selection.distribution(scores, exact=True).items():
            true = scores_of(scores, outcome)
            for values in itertools.product(corners, repeat=2):
                far = sum(abs(value - score) for value, score in zip(values, true, strict=True))
                found[outcome, values] = probability * ball(-far / measure.scale).exp()
        return found

    return _cut(method, joint)


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


def _violated(distribution: Callable[[Tally], Any], graph: ComparisonGraph, most: int, epsilon: Number) -> bool:
    for tally in tallies(graph, 1):
        for more in added(tally, most):
            try:
                check_pure(distribution(tally), distribution(more), epsilon)
            except AssertionError:
                return True
    return False
