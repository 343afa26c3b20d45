"""The noise of measured scores: what is drawn against what the price is for, and the intervals that follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.support.distributions import FALSE_ALARM

from podium.histogram import Scores
from podium.randomness.replay import ReplayableBits
from podium.ranking import Borda, ComparisonGraph, MeasureScores, RankingMethod, Spectral, Wins
from podium.ranking.measured_scores import grid_of_scores, margin_of_scores

SIX = ComparisonGraph.complete(range(6))
METHODS: dict[str, RankingMethod] = {
    "wins": Wins(SIX, 400, 3), "borda": Borda(SIX, 400, 3), "spectral": Spectral(SIX, 400, 3, mixing="0.5"),
}  # fmt: skip
WINS = {(first, second): 20 * (7 - first) for first in range(6) for second in range(6) if first != second}
DRAWS = 2_000


def noise_of(method: RankingMethod, measure: MeasureScores) -> list[float]:
    """What was added to the four scores, in every draw."""
    scores, bits = method.scores(WINS), ReplayableBits(7)
    true = dict(zip(SIX.items, method.values(method.tally(WINS)), strict=True))
    assert isinstance(scores, Scores)
    items = (4, 0, 2, 5)
    return [
        float(value - true[item])
        for _ in range(DRAWS)
        for item, value in zip(items, measure.release(scores, items, bits=bits), strict=True)
    ]


@pytest.mark.parametrize("name", METHODS)
def test_scores_have_laplace_noise_of_their_sensitivity_together(name: str) -> None:
    method = METHODS[name]
    measure = MeasureScores.within(method, 4, epsilon=Fraction(1, 2))
    noise = np.array(noise_of(method, measure))
    scale = float(2 * method.moves_in_all(4))
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        assert bool(stats.kstest(noise, stats.laplace(scale=factor * scale).cdf).pvalue > FALSE_ALARM) is fits


def test_scores_have_gaussian_noise_where_rho_is_added_up() -> None:
    method = METHODS["borda"]
    measure = MeasureScores.within(method, 4, rho=Fraction(1, 50))
    noise = np.array(noise_of(method, measure))
    sigma = 5 * float(method.moves_each * method.moves_in_all(4)) ** 0.5
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        assert bool(stats.kstest(noise, stats.norm(scale=factor * sigma).cdf).pvalue > FALSE_ALARM) is fits


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_intervals_cover_as_often_as_they_say_and_half_as_wide_ones_do_not(kind: str) -> None:
    method = METHODS["borda"]
    budget = {"epsilon": 1} if kind == "laplace" else {"rho": Fraction(1, 2)}
    measure = MeasureScores.within(method, 4, **budget)
    width = float(margin_of_scores(measure.noise, measure.scale))
    noise = np.abs(noise_of(method, measure))
    held, narrow = int(np.sum(noise <= width)), int(np.sum(noise <= width / 2))
    assert stats.binom.cdf(held, len(noise), 0.95) > FALSE_ALARM
    assert stats.binom.sf(held - 1, len(noise), 0.96) > FALSE_ALARM
    assert stats.binom.cdf(narrow, len(noise), 0.95) < FALSE_ALARM


def test_the_grid_is_a_millionth_of_the_noise() -> None:
    for scale in (Fraction(1, 10**6), Fraction(1, 3), Fraction(5), Fraction(10**12)):
        step = 1 / Fraction(2) ** grid_of_scores(scale)
        assert step < scale / 2**18
