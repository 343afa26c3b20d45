"""The statistics behind a sampled violation: exact intervals, views that only post-process, alphas that add up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from podium.audit.statistical.draws import Draws, Recorder
from podium.audit.statistical.evidence import choose_events, lower_bound, repetition_p_value, try_event, upper_bound
from podium.audit.statistical.views import NUMERIC_VIEWS, VIEWS, fit_views


@pytest.mark.parametrize("trials", [1, 20, 500])
@pytest.mark.parametrize("alpha", [0.05, 1e-10])
def test_clopper_pearson_inverts_the_binomial_tails(trials: int, alpha: float) -> None:
    for successes in {0, 1, trials // 2, trials}:
        low, high = (float(f(np.array([successes]), trials, alpha)[0]) for f in (lower_bound, upper_bound))
        assert low <= successes / trials <= high
        if successes:
            assert stats.binom.sf(successes - 1, trials, low) == pytest.approx(alpha, rel=1e-6)
        else:
            assert low == 0
        if successes < trials:
            assert stats.binom.cdf(successes, trials, high) == pytest.approx(alpha, rel=1e-6)
        else:
            assert high == 1


def draws_of(values: object) -> tuple[Recorder, Draws]:
    recorder = Recorder()
    return recorder, recorder.record(values)


def test_an_event_is_chosen_and_bounded_on_different_draws() -> None:
    recorder = Recorder()
    left, right = (recorder.record(["x"] * a + ["y"] * b) for a, b in ((90, 10), (20, 80)))
    events = choose_events(left, right, [(1.0, 0.0)], delta=0.0, alpha=1e-3, views=VIEWS)
    forward = next(event for event in events if not event.flipped)
    assert forward.describe(recorder) == "outcomes: 'x'"
    fresh = recorder.record(["x"] * 50 + ["z"] * 50), recorder.record(["y"] * 100)
    test = try_event(forward, *fresh, alpha=1e-3, pair="p", stage=1, recorder=recorder)
    assert (test.hits, test.draws) == ((50, 0), 100)
    assert test.p_low == pytest.approx(float(lower_bound(np.array([50]), 100, 5e-4)[0]))
    assert test.refutes([(Fraction(1), Fraction(0))])
    assert not test.refutes([(Fraction(5), Fraction(0))])
    assert test.epsilon(0.0) == pytest.approx(math.log(test.p_low / test.q_high))
    assert test.epsilon(0.9) == 0


def test_values_are_binned_and_atoms_are_not() -> None:
    recorder, draws = draws_of(np.array([0.0] * 50 + list(np.linspace(1, 2, 100))))
    values = next(view for view in fit_views(draws) if view.name == "values")
    symbols = values.symbols(draws)
    assert len(set(symbols[:50].tolist())) == 1
    assert not set(symbols[:50].tolist()) & set(symbols[50:].tolist())
    assert values.describe(int(symbols[0]), recorder) == "= 0"
    assert values.describe(int(symbols[-1]), recorder).endswith("inf)")


def test_the_place_of_the_lowest_bit() -> None:
    values = [1.0, 0.5, 0.75, 3.0, 1 + 2**-52, 5e-324, 0.0, -0.625]
    _, draws = draws_of(np.array(values))
    places = NUMERIC_VIEWS[0].features(draws.reals)
    assert places is not None
    expected = [
        next(e for e in range(1, -1080, -1) if (Fraction(abs(x)) / Fraction(2) ** e).denominator == 1) if x else 2000
        for x in values
    ]
    assert places[:, 0].tolist() == expected


def test_differences_show_values_that_move_together() -> None:
    noise = np.random.default_rng(3).normal(size=200)
    recorder = Recorder()
    left = recorder.record(np.column_stack([noise, noise]))
    right = recorder.record(np.column_stack([noise + 1, noise]))
    best = choose_events(left, right, [(1.0, 0.0)], delta=0.0, alpha=1e-6, views=VIEWS)[0]
    assert best.view.name == "differences of values"
    assert (best.hits(left), best.hits(right)) == (200, 0)


def test_repetition_is_found_and_chance_is_not() -> None:
    generator = np.random.default_rng(5)
    fresh = generator.integers(0, 4, size=2000)
    assert repetition_p_value(fresh) > 1e-3
    assert repetition_p_value(np.repeat(fresh[:250], 8)) < 1e-20
    assert repetition_p_value(np.zeros(400, dtype=np.int64)) == 1
    assert repetition_p_value(np.arange(5)) == 1
