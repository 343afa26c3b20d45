"""Google's dp-accounting, wherever it covers the same event."""

from __future__ import annotations

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import common, privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant

from podium.privacy import (
    Event,
    GaussianNoise,
    Guarantee,
    LaplaceNoise,
    PureMechanism,
    Selection,
    Theorem,
    adaptive_optimum_delta,
    best_bound,
    optimal_pure_delta,
    zcdp_epsilon,
)

ORDERS = [1 + x for x in np.geomspace(0.01, 2000, 800)]
DELTA = 1e-6


def by_renyi(event: dp_accounting.DpEvent, count: int) -> float:
    accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
    accountant.compose(event, count)
    return float(accountant.get_epsilon(DELTA))


def renyi_candidate(events: list[Event]) -> float:
    bound = best_bound(events, "1e-6")
    return next(float(c.epsilon) for c in bound.considered if c.theorem is Theorem.RENYI and c.epsilon is not None)


@pytest.mark.parametrize(("sigma", "count"), [(5.0, 1), (10.0, 30), (2.0, 4)])
def test_gaussian_by_renyi(sigma: float, count: int) -> None:
    theirs = by_renyi(dp_accounting.GaussianDpEvent(sigma), count)
    ours = renyi_candidate([GaussianNoise(sigma)] * count)
    assert ours == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "count"), [(0.5, 8), (0.1, 100), (1.0, 10)])
def test_laplace_by_renyi(epsilon: float, count: int) -> None:
    theirs = by_renyi(dp_accounting.LaplaceDpEvent(1 / epsilon), count)
    assert renyi_candidate([LaplaceNoise(epsilon)] * count) == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("rho", [0.01, 0.125, 2.0])
def test_zcdp(rho: float) -> None:
    theirs = by_renyi(dp_accounting.ZCDpEvent(rho), 1)
    assert float(zcdp_epsilon(rho, DELTA)) == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 100), (0.5, 10), (1.0, 3)])
def test_optimal_pure_by_loss_distributions(epsilon: float, k: int) -> None:
    """Theirs rounds losses up to a grid, so it lies a little above the exact profile."""
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, 0), value_discretization_interval=epsilon / 64
    )
    many = one.self_compose(k)
    for share in (0.2, 0.45):
        total = share * k * epsilon
        theirs = float(many.get_delta_for_epsilon(total))
        assert float(optimal_pure_delta(epsilon, k, total)) == pytest.approx(theirs, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("t", [0.1, 0.25, 0.4])
def test_adaptive_optimum_covers_any_fixed_pair(t: float) -> None:
    """k copies of one bounded-range pair, composed by their loss distributions, stay below our profile."""
    epsilon, k = 0.5, 20
    p = -np.expm1(-t) / -np.expm1(-epsilon)
    q = p * np.exp(t - epsilon)
    pair = privacy_loss_distribution.from_two_probability_mass_functions(
        {0: np.log(q), 1: np.log1p(-q)},
        {0: np.log(p), 1: np.log1p(-p)},
        pessimistic_estimate=False,
        value_discretization_interval=1e-3,
    )
    many = pair.self_compose(k)
    for total in (1.0, 2.0, 4.0):
        assert float(many.get_delta_for_epsilon(total)) <= float(adaptive_optimum_delta(epsilon, k, total))


def test_every_gaussian_bound_is_above_the_exact_one() -> None:
    exact = dp_accounting.get_epsilon_gaussian(2.0, DELTA)
    ours = float(best_bound([GaussianNoise(2)], "1e-6").epsilon)
    assert exact <= ours <= 1.15 * exact


def test_laplace_bounds_are_above_the_loss_distribution() -> None:
    pld = privacy_loss_distribution.from_laplace_mechanism(5.0, value_discretization_interval=1e-3).self_compose(40)
    theirs = float(pld.get_epsilon_for_delta(DELTA))
    ours = float(best_bound([LaplaceNoise("0.2")] * 40, "1e-6").epsilon)
    assert theirs * 0.999 <= ours <= 1.15 * theirs


def test_a_selection_is_cheaper_than_any_pure_mechanism_of_its_epsilon() -> None:
    selections = best_bound([Selection("0.1")] * 100, "1e-6").epsilon
    pure = best_bound([PureMechanism("0.1")] * 100, "1e-6").epsilon
    assert float(selections) < 0.5 * float(pure)
    assert Guarantee.approximate(selections, "1e-6") < Guarantee.approximate(pure, "1e-6")
