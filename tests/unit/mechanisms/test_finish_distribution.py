"""Distributions of a race against quadrature on the real line, and gap densities against shifted races."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

import flint
import mpmath
import numpy as np
import pytest

from podium.exact import ball_precision
from podium.mechanisms.base import Distribution, certified_ball, certified_floats
from podium.mechanisms.finish_distribution import (
    gap_density,
    order_distribution,
    rational_set_distribution,
    set_distribution,
)
from podium.mechanisms.piecewise import ClosedNoise
from podium.randomness import NoiseName

CLOSED: tuple[ClosedNoise, ...] = ("exponential", "laplace")
OFFSETS = [
    (Fraction(3, 2), Fraction(1), Fraction(1), Fraction(0)),
    (Fraction(0), Fraction(0), Fraction(0)),
    (Fraction(-1, 3), Fraction(5, 2), Fraction(1, 7), Fraction(5, 2)),
]


def survival(noise: NoiseName, z: mpmath.mpf) -> mpmath.mpf:
    if noise == "exponential":
        return mpmath.exp(-max(z, mpmath.mpf(0)))
    if noise == "laplace":
        return mpmath.exp(-z) / 2 if z >= 0 else 1 - mpmath.exp(z) / 2
    if noise == "logistic":
        return 1 / (1 + mpmath.exp(z))
    return 2 / (1 + mpmath.exp(max(z, mpmath.mpf(0))))


def density(noise: NoiseName, z: mpmath.mpf) -> mpmath.mpf:
    if noise == "exponential":
        return mpmath.exp(-z) if z >= 0 else mpmath.mpf(0)
    if noise == "laplace":
        return mpmath.exp(-abs(z)) / 2
    if noise == "half-logistic" and z < 0:
        return mpmath.mpf(0)
    return (1 if noise == "logistic" else 2) * mpmath.exp(-abs(z)) / (1 + mpmath.exp(-abs(z))) ** 2


Tails: TypeAlias = Callable[[mpmath.mpf], tuple[mpmath.mpf, mpmath.mpf]]


def tails_of(noise: NoiseName) -> Tails:
    """Density and survival, each computed once: all subsets of the same offsets are integrated over the same points."""
    return functools.cache(lambda z: (density(noise, z), survival(noise, z)))


def by_quadrature(tails: Tails, winners: Sequence[Fraction], losers: Sequence[Fraction]) -> mpmath.mpf:
    """P(all winners above all losers), over the place of the *lowest winner*: not how the code does it."""
    up, down = ([mpmath.mpf(o.numerator) / o.denominator for o in side] for side in (winners, losers))

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        lowest, above = mpmath.mpf(0), [tails(x - o) for o in up]
        for i, (here, _) in enumerate(above):
            lowest += here * mpmath.fprod(higher for j, (_, higher) in enumerate(above) if j != i)
        return lowest * mpmath.fprod(1 - tails(x - o)[1] for o in down)

    places = sorted({*up, *down})
    spread = {place + step for place in places for step in (-60, -6, 0, 6, 60)}
    return mpmath.quad(integrand, sorted(spread))


@pytest.mark.parametrize("noise", ["exponential", "laplace", "logistic", "half-logistic"])
@pytest.mark.parametrize("offsets", OFFSETS[1:])
def test_set_distributions_agree_with_quadrature(noise: NoiseName, offsets: tuple[Fraction, ...]) -> None:
    items, tails = "abcd"[: len(offsets)], tails_of(noise)
    for k in range(1, len(offsets) + 1):
        found = certified_floats(lambda k=k: _set_distribution(items, offsets, noise, k))  # type: ignore[misc]
        assert sum(float(value.mid()) for value in found.values()) == pytest.approx(1, abs=1e-14)
        for chosen in itertools.combinations(range(len(items)), k):
            with mpmath.workdps(20):
                losers = [o for i, o in enumerate(offsets) if i not in chosen]
                expected = by_quadrature(tails, [offsets[i] for i in chosen], losers)
            assert float(found[frozenset(items[i] for i in chosen)].mid()) == pytest.approx(
                float(expected), rel=1e-13, abs=0
            )


def _set_distribution(items: str, offsets: Sequence[Fraction], noise: NoiseName, k: int) -> Distribution:
    if noise in {"logistic", "half-logistic"}:
        return rational_set_distribution(items, offsets, noise, k)
    return set_distribution(items, offsets, cast("ClosedNoise", noise), k)


@pytest.mark.parametrize("noise", CLOSED)
@pytest.mark.parametrize("offsets", OFFSETS)
def test_orders_add_up_to_sets(noise: ClosedNoise, offsets: tuple[Fraction, ...]) -> None:
    items = "abcd"[: len(offsets)]
    for k in range(1, len(offsets) + 1):
        with ball_precision(128):
            orders, sets = order_distribution(items, offsets, noise, k), set_distribution(items, offsets, noise, k)
            sums: dict[frozenset[str], flint.arb] = {}
            for order, value in orders.items():
                sums[frozenset(order)] = sums.get(frozenset(order), flint.arb(0)) + value  # type: ignore[arg-type]
            assert all(sums[chosen].overlaps(value) for chosen, value in sets.items())  # type: ignore[index]
            assert sum(orders.values(), flint.arb(0)).overlaps(flint.arb(1))


@pytest.mark.parametrize("noise", CLOSED)
def test_one_order_against_nested_quadrature(noise: ClosedNoise) -> None:
    """P(v_b > v_a > v_c) = integral over v_a of P(v_b > x) f_a(x) P(v_c < x)."""
    a, b, c = Fraction(1, 2), Fraction(-1, 3), Fraction(1)
    found = certified_floats(lambda: order_distribution("abc", (a, b, c), noise, 2))[("b", "a")]
    with mpmath.workdps(20):
        x, y, z = (mpmath.mpf(o.numerator) / o.denominator for o in (a, b, c))
        expected = mpmath.quad(
            lambda v: survival(noise, v - y) * density(noise, v - x) * (1 - survival(noise, v - z)),
            [-60, y, x, z, 5, 60],
        )
    assert float(found.mid()) == pytest.approx(float(expected), rel=1e-13, abs=0)


def gap_survival(
    noise: ClosedNoise, winners: Sequence[Fraction], losers: Sequence[Fraction], gaps: Sequence[Fraction]
) -> float:
    """P(this order, every gap above its bound): the same order in a race where the bounds are taken off the scores."""
    leads = list(itertools.accumulate(reversed(gaps), initial=Fraction(0)))
    leads = list(reversed(leads[1:] if losers else leads))
    shifted = [offset - lead for offset, lead in zip(winners, leads, strict=True)]
    k = len(winners)
    distribution = certified_floats(lambda: order_distribution(range(k + len(losers)), [*shifted, *losers], noise, k))
    return float(distribution[tuple(range(k))].mid())


@pytest.mark.parametrize("noise", CLOSED)
@pytest.mark.parametrize(
    ("winners", "losers"),
    [
        ((Fraction(2),), (Fraction(0), Fraction(1))),
        ((Fraction(0),), (Fraction(2), Fraction(2))),
        ((Fraction(1), Fraction(2)), (Fraction(0), Fraction(0))),
        ((Fraction(0), Fraction(3)), (Fraction(1),)),
        ((Fraction(1), Fraction(0)), ()),
        ((Fraction(2), Fraction(0), Fraction(1)), ()),
    ],
)
def test_gap_densities_integrate_to_the_distribution_of_shifted_races(
    noise: ClosedNoise, winners: tuple[Fraction, ...], losers: tuple[Fraction, ...]
) -> None:
    """Over boxes in which no sum of gaps crosses a difference of offsets, where the density is smooth."""
    count = len(winners) if losers else len(winners) - 1
    nodes, weights = np.polynomial.legendre.leggauss(6)
    for corner in itertools.product((Fraction(1, 16), Fraction(9, 8)), repeat=count):
        width = Fraction(1, 4)
        total = 0.0
        for index in itertools.product(range(6), repeat=count):
            gaps = [low + width * (1 + Fraction(nodes[i])) / 2 for low, i in zip(corner, index, strict=True)]
            value = certified_ball(lambda gaps=gaps: gap_density(winners, losers, gaps, noise))  # type: ignore[misc]
            total += math.prod(weights[i] * float(width) / 2 for i in index) * float(value.mid())
        expected = 0.0
        for ends in itertools.product((0, 1), repeat=count):
            bounds = [low + width * end for low, end in zip(corner, ends, strict=True)]
            expected += (-1) ** sum(ends) * gap_survival(noise, winners, losers, bounds)
        assert total == pytest.approx(expected, rel=1e-9, abs=0)


def test_negative_gaps_do_not_happen() -> None:
    with ball_precision(64):
        assert gap_density([Fraction(1)], [Fraction(0)], [Fraction(-1, 100)], "laplace").is_zero()


@pytest.mark.parametrize("noise", ["logistic", "half-logistic"])
def test_quadrature_keeps_its_accuracy_far_from_the_contest(noise: NoiseName) -> None:
    offsets = [Fraction(0), Fraction(-90), Fraction(-91), Fraction(-60)]
    found = certified_floats(lambda: _set_distribution("abcd", offsets, noise, 2))
    assert all(value.rel_accuracy_bits() > 40 for value in found.values())
    with ball_precision(128):
        assert sum(found.values(), flint.arb(0)).overlaps(flint.arb(1))
    with mpmath.workdps(30):
        expected = by_quadrature(tails_of(noise), offsets[:2], offsets[2:])
    assert float(found[frozenset("ab")].mid()) == pytest.approx(float(expected), rel=1e-9, abs=0)
