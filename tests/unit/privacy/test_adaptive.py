"""The adaptive optimum: never below a certain lower bound, and within a thousandth of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.privacy import adaptive_optimum, adaptive_optimum_delta, bounded_range_curve, nonadaptive_optimum
from podium.privacy.theorems.adaptive_optimum import resolution_for

# The lower bound is computed in floats; its own rounding is far below this.
ROUNDING = 1e-9


def lower_delta(epsilon: float, k: int, total: float, nodes: int) -> float:
    """delta_k at ``total`` for an adversary who may use only shifts t on a grid: exact, hence too small."""
    step = epsilon / nodes
    grid = total + step * np.arange(-k * nodes, k * nodes + 1, dtype=np.float64)
    hit = np.expm1(-step * np.arange(nodes + 1)) / np.expm1(-epsilon)
    values: NDArray[np.float64] = np.maximum(0.0, -np.expm1(grid))
    for _ in range(k):  # each round needs one epsilon less on both sides
        count = len(values) - 2 * nodes
        lower = sliding_window_view(values, count)[: nodes + 1]
        upper = sliding_window_view(values, count)[nodes:]
        values = np.max(hit[:, None] * lower + (1 - hit[:, None]) * upper, axis=0)
    assert len(values) == 1
    return float(values[0])


@pytest.mark.parametrize(
    ("epsilon", "k", "delta", "nodes"),
    [
        ("0.1", 100, "1e-6", 32),
        ("0.1", 30, "1e-6", 32),
        ("0.5", 20, "1e-6", 32),
        ("1", 8, "1e-4", 100),
        ("2", 5, "1e-3", 200),
        ("0.3", 50, "1e-9", 32),
        ("1", 2, "0.01", 400),
        ("0.2", 1, "1e-5", 1000),
    ],
)
def test_within_a_thousandth_and_never_below(epsilon: str, k: int, delta: str, nodes: int) -> None:
    found = float(adaptive_optimum(epsilon, k, delta))
    assert lower_delta(float(epsilon), k, found, nodes) <= float(delta) * (1 + ROUNDING)
    assert lower_delta(float(epsilon), k, found / 1.001, nodes) > float(delta)


def test_a_bound_for_half_the_selections_would_be_caught() -> None:
    """The check above can fail: k = 50 instead of 100 is far below the truth."""
    assert lower_delta(0.1, 100, float(adaptive_optimum("0.1", 50, "1e-6")), 16) > 1e-4


def test_truth_lies_between_for_the_printed_case() -> None:
    """A long computation found the truth in [2.25083, 2.25098]."""
    found = float(adaptive_optimum("0.1", 100, "1e-6", resolution=96))
    assert 2.25083 <= found <= 2.25083 * 1.001
    assert found <= 2.25099


def test_finer_grids_come_down_to_the_same_number() -> None:
    totals = [float(adaptive_optimum("0.1", 100, "1e-6", resolution=nodes)) for nodes in (12, 24, 48, 96)]
    assert totals == pytest.approx([2.25750, 2.25267, 2.25133, 2.25098], abs=1e-5)
    assert totals == sorted(totals, reverse=True)
    # The excess falls with the square of the step, so the limit can be read off.
    excess = [total - 2.25087 for total in totals]
    for coarse, fine in pairwise(excess):
        assert coarse > 3 * fine


def test_one_selection_is_the_closed_form() -> None:
    """Maximise (1 - y)(1 - b/y)/(1 - e^-epsilon) by hand: y = sqrt(b), total = epsilon + 2 ln(1 - sqrt(...))."""
    with mpmath.workdps(40):
        exact = 1 + 2 * mpmath.log(1 - mpmath.sqrt(mpmath.mpf("1e-6") * (1 - mpmath.exp(-1))))
    found = adaptive_optimum(1, 1, "1e-6")
    assert 0 <= float(found) - float(exact) < 1e-15
    assert float(adaptive_optimum_delta(1, 1, found)) == pytest.approx(1e-6, rel=1e-9)
    assert adaptive_optimum_delta(1, 1, found) <= Fraction(1, 10**6)


@pytest.mark.parametrize("total", ["0.1", "0.4", "0.8", "1.2", "1.5"])
def test_the_profile_of_two_selections(total: str) -> None:
    lower = lower_delta(0.8, 2, float(total), 600)
    upper = float(adaptive_optimum_delta("0.8", 2, total))
    assert lower * (1 - ROUNDING) <= upper <= lower * 1.001


@pytest.mark.parametrize("k", [1, 2, 10, 60])
def test_between_the_non_adaptive_optimum_and_the_curve(k: int) -> None:
    found = adaptive_optimum("0.4", k, "1e-6")
    # The non-adaptive number is certified only to about 2^-40 above its optimum, which is equal for k = 1.
    assert nonadaptive_optimum("0.4", k, "1e-6") <= found * (1 + Fraction(1, 2**39))
    assert found <= bounded_range_curve(["0.4"] * k, "1e-6") * Fraction(1001, 1000)


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12", "1e-40", "1e-200"])
def test_every_size_of_delta_finds_its_window(delta: str) -> None:
    """A window in the wrong place would return something close to k * epsilon."""
    found = adaptive_optimum("0.1", 300, delta, resolution=12)
    assert found <= bounded_range_curve(["0.1"] * 300, delta) * Fraction(1004, 1000)


def test_delta_and_epsilon_are_inverse() -> None:
    for total in ("0.5", "1.5", "2.2"):
        delta = adaptive_optimum_delta("0.1", 100, total, resolution=24)
        back = adaptive_optimum("0.1", 100, delta, resolution=24)
        assert float(back) == pytest.approx(float(total), rel=1e-6)


def test_at_k_epsilon_nothing_is_left() -> None:
    assert adaptive_optimum_delta("0.1", 100, 10) == 0
    assert adaptive_optimum_delta("0.1", 100, "9.999") < Fraction(1, 10**100)


def test_outside_its_range_the_sum_is_returned() -> None:
    assert adaptive_optimum(100, 3, "1e-6") == 300
    assert adaptive_optimum("0.1", 3, "1e-300") == Fraction(3, 10)
    assert resolution_for(10**7) is None
    assert adaptive_optimum("0.1", 10**7, "1e-6") == 10**6


def test_bad_input() -> None:
    with pytest.raises(InvalidArgument, match="total="):
        adaptive_optimum_delta("0.1", 3, -1)
    with pytest.raises(InvalidArgument, match="resolution="):
        adaptive_optimum("0.1", 3, "1e-6", resolution=0)
    with pytest.raises(InvalidArgument, match="k="):
        adaptive_optimum("0.1", 0, "1e-6")
