"""The lemmas behind cut-off noise, in closed forms: what holds given the box that both neighbours have in common.

One coordinate moves by w; given the box both noises lie in [w - A, A]. Gaussian: every hockey stick is at most that of
the whole normals. Laplace: every Renyi divergence is at most that of the whole Laplace noise. Rounds: hockey sticks of
transcripts whose second round depends on the first.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import PRECISION, check_pair

from podium.exact import ball, ball_precision
from podium.mechanisms import TruncatedGaussianHistogram, Weights
from podium.privacy import GaussianNoise, LaplaceNoise, total
from podium.privacy.theorems.gaussian import gaussian_delta

SCALES = [Fraction(text) for text in ("1/4", "1", "5/2", "40")]
EPSILONS = [Fraction(text) for text in ("-2", "-1/4", "-1/100", "0", "1/100", "1/10", "1/2", "1", "2", "4", "8")]
SLACK = flint.arb(2) ** -60


def normal(x: flint.arb) -> flint.arb:
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def hockey_stick_in_the_box(sigma: Fraction, weight: Fraction, bound: Fraction, epsilon: Fraction) -> flint.arb:
    """sup over events of Q_1 - e^eps P_1: the event is y above the point where the log ratio is eps."""
    s, w, a = ball(sigma), ball(weight), ball(bound)
    mass = normal(a / s) - normal((w - a) / s)
    cut = ball(epsilon) * s**2 / w + w / 2
    start = cut.max(w - a).min(a)
    here = normal((a - w) / s) - normal((start - w) / s)
    there = normal(a / s) - normal(start / s)
    return (here - ball(epsilon).exp() * there) / mass


@pytest.mark.parametrize("sigma", SCALES, ids=str)
@pytest.mark.parametrize("weight", [Fraction(1, 3), Fraction(1)], ids=str)
def test_a_box_hides_more_than_whole_normals(sigma: Fraction, weight: Fraction) -> None:
    tight = 0.0
    for bound, epsilon in itertools.product((weight, weight * 5 / 4, 2 * weight, 5 * sigma + weight), EPSILONS):
        mu = weight / sigma
        with ball_precision(256):
            found = hockey_stick_in_the_box(sigma, weight, bound, epsilon)
            whole = normal(ball(mu) / 2 - ball(epsilon / mu)) - ball(epsilon).exp() * normal(
                -ball(mu) / 2 - ball(epsilon / mu)
            )
            assert found <= whole + SLACK, (bound, epsilon)
            if epsilon >= 0:
                assert whole <= ball(gaussian_delta(mu**2, epsilon)) + SLACK
                tight = max(tight, float(found / whole)) if found > SLACK else tight
    # The wide box is nearly all of the normals: nothing smaller than mu would do.
    assert tight > 0.99


def test_noise_that_conditioning_did_not_shrink_would_be_noticed() -> None:
    """Negative control: the box against normals whose mu is a tenth smaller."""
    with ball_precision(256):
        mu = Fraction(9, 10)
        whole = normal(ball(mu) / 2) - normal(-ball(mu) / 2)
        assert hockey_stick_in_the_box(Fraction(1), Fraction(1), Fraction(6), Fraction(0)) > whole


def laplace_renyi_in_the_box(epsilon: Fraction, weight: Fraction, bound: Fraction, order: Fraction) -> flint.arb:
    """ln E_P (dP/dQ)^(a-1) / (a-1) for Lap(1/eps) at 0 against w, both given [w - A, A]."""
    e, w, a = ball(epsilon), ball(weight), ball(bound)
    excess = ball(order - 1)
    mass = 1 - ((w - a) * e).exp() / 2 - (-a * e).exp() / 2
    left = (excess * e * w).exp() * (1 - ((w - a) * e).exp()) / 2
    right = (-excess * e * w).exp() * ((-w * e).exp() - (-a * e).exp()) / 2
    # Between 0 and w the loss is eps (w - 2y).
    rate = (2 * excess + 1) * e
    middle = (excess * e * w).exp() * (1 - (-rate * w).exp()) * e / (2 * rate)
    return ((left + middle + right) / mass).log() / excess


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1), Fraction(4)], ids=str)
def test_a_box_hides_more_than_whole_laplace_noise(epsilon: Fraction) -> None:
    event = LaplaceNoise(epsilon)
    for bound, parts, order in itertools.product(
        map(Fraction, ("1", "3/2", "4", "30")), (1, 2, 7), map(Fraction, ("1.0001", "3/2", "2", "10", "100"))
    ):
        with ball_precision(256):
            found = parts * laplace_renyi_in_the_box(epsilon, Fraction(1, parts), bound, order)
            assert found <= ball(event.renyi(order)) + SLACK
            assert found <= ball(order * event.rho) + SLACK
            if bound == 30 and parts == 1 and epsilon >= 1:
                assert found > ball(event.renyi(order)) * flint.arb(0.999)


SIGMA, DELTA = Fraction(2), Fraction(1, 50)
CELLS = 9


def in_cells(count: Fraction, sigma: Fraction, bound: Fraction) -> list[flint.arb]:
    """Where count + N lies, N ~ N(0, sigma^2) given its size: below the box of 0 and 1, in cells of it, or above."""
    edges = [1 - bound + (2 * bound - 1) * Fraction(step, CELLS) for step in range(CELLS + 1)]
    s, a = ball(sigma), ball(bound)
    low, whole = normal(-a / s), normal(a / s) - normal(-a / s)

    def below(edge: Fraction) -> flint.arb:
        x = edge - count
        return flint.arb(int(x > 0)) if abs(x) >= bound else (normal(ball(x) / s) - low) / whole

    ends = [flint.arb(0), *map(below, edges), flint.arb(1)]
    return [high - before for before, high in itertools.pairwise(ends)]


@pytest.mark.parametrize("rule", [(1, 3, 9, 3, 1), (9, 9, 1, 1, 1), (1, 1, 1, 9, 9), (2, 2, 2, 2, 2)])
def test_a_second_round_may_depend_on_the_first(rule: tuple[int, ...]) -> None:
    """Two rounds about one user: the first decides the sigma of the second, within what is left of mu^2."""
    one = Weights.bounded(1)
    first = TruncatedGaussianHistogram(sigma=SIGMA, delta=DELTA, weights=one)
    budget = 1 / SIGMA**2 + 1
    sides: list[dict[tuple[int, int], flint.arb]] = []
    with ball_precision(PRECISION):
        for count in (Fraction(0), Fraction(1)):
            side = {}
            for cell, chance in enumerate(in_cells(count, SIGMA, first.threshold)):
                # A larger rule spends less: sigma is at least 1, so that the second m is at most 1.
                sigma = Fraction(rule[cell * len(rule) // (CELLS + 2)])
                second = TruncatedGaussianHistogram(sigma=sigma, delta=DELTA, weights=one)
                for inner, more in enumerate(in_cells(count, sigma, second.threshold)):
                    side[cell, inner] = chance * more
            sides.append({outcome: chance for outcome, chance in side.items() if not chance.is_zero()})
    claim = total([GaussianNoise(1, sensitivity_squared=budget), *first.worst_case[1:], *first.worst_case[1:]])
    without, with_user = sides
    check_pair(without, with_user, claim)
    with pytest.raises(AssertionError, match="above the claimed"):
        check_pair(without, with_user, total([GaussianNoise(1, sensitivity_squared=budget), *first.worst_case[1:]]))
