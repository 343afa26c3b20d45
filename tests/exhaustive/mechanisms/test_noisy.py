"""NoisyTopK and PermuteAndFlip in small worlds: every histogram, every neighbour, every order, gaps in every cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import flint
import pytest
from tests.support.gaps import LINE, SPARSE, check_gaps, gaps_in
from tests.support.symmetry import joint_density, symmetric
from tests.support.worlds import DistributionOf, SmallDistribution, check_pure, check_world

from podium.histogram import Histogram
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.randomness import NOISES, NoiseName

ITEMS = ("a", "b", "c", "d")
ALL: tuple[NoiseName, ...] = tuple(NOISES)


def distribution_of(mechanism: NoisyTopK | PermuteAndFlip) -> DistributionOf:
    return symmetric(lambda counts: mechanism.distribution(Histogram(counts), exact=True))


@pytest.mark.parametrize("noise", ALL)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_pair_keeps_the_promise(noise: NoiseName, k: int) -> None:
    mechanism = NoisyTopK(k, 1, noise=noise)
    check_world(distribution_of(mechanism), mechanism.guarantee, items=ITEMS, largest=3, kind="pure")


@pytest.mark.parametrize("noise", ALL)
def test_every_pair_keeps_the_whole_guarantee(noise: NoiseName) -> None:
    """The curve of (epsilon, delta) pairs and, with Gumbel noise, the Renyi divergences of k * rho(epsilon/k)."""
    mechanism = NoisyTopK(2, "0.8", noise=noise)
    check_world(distribution_of(mechanism), mechanism.guarantee, largest=3)


def test_ranking_the_whole_domain() -> None:
    for noise in ("exponential", "laplace", "gumbel"):
        mechanism = NoisyTopK(3, 2, noise=noise)
        check_world(distribution_of(mechanism), mechanism.guarantee, kind="pure")


def test_the_promise_is_nearly_used_up() -> None:
    """A set of two far behind: its probability really moves by almost epsilon."""
    mechanism = NoisyTopK(2, 1, noise="exponential")
    finding = check_world(distribution_of(mechanism), mechanism.guarantee, items=ITEMS, largest=3, kind="pure")
    assert finding.excess > -0.05


def test_permute_and_flip() -> None:
    for epsilon in ("0.3", 1, 3):
        mechanism = PermuteAndFlip(epsilon)
        check_world(distribution_of(mechanism), mechanism.guarantee, items=ITEMS, largest=3, kind="pure")
    check_world(distribution_of(PermuteAndFlip(1)), PermuteAndFlip(1).guarantee, largest=3)


@pytest.mark.parametrize("noise", ALL)
def test_counts_that_move_both_ways(noise: NoiseName) -> None:
    """Replacing a user: one more here, one less there. Only the doubled span protects that."""
    careful, careless = (distribution_of(NoisyTopK(1, 1, noise=noise, monotone=monotone)) for monotone in (False, True))
    rejected = 0
    for counts in itertools.product((1, 2, 9), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            less = dict(zip("abc", counts, strict=True))
            more = {item: count + step for (item, count), step in zip(less.items(), change, strict=True)}
            check_pure(careful(less), careful(more), 1)
            rejected += is_rejected(careless(less), careless(more))
    assert rejected, "no pair shows why the span matters"


def is_rejected(p: SmallDistribution, q: SmallDistribution) -> bool:
    try:
        check_pure(p, q, 1)
    except AssertionError:
        return True
    return False


def density_of(mechanism: NoisyTopK) -> Callable[..., flint.arb]:
    def density(winners: tuple[int, ...], losers: tuple[int, ...], gaps: tuple[Fraction, ...]) -> flint.arb:
        counts = dict(enumerate((*winners, *losers)))
        return mechanism.density(Histogram(counts), tuple(range(len(winners))), gaps, exact=True)

    return joint_density(density)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize(
    ("k", "items", "largest", "points"),
    [
        (1, ITEMS[:3], 3, LINE),
        (1, ITEMS, 2, LINE),
        (2, ITEMS[:3], 2, LINE),
        (2, ITEMS, 1, SPARSE),
        (3, ITEMS[:3], 1, SPARSE),
    ],
)
def test_order_and_gaps_together_keep_the_promise(
    noise: NoiseName, k: int, items: tuple[str, ...], largest: int, points: tuple[Fraction, ...]
) -> None:
    mechanism = NoisyTopK(k, 1, noise=noise)
    check_gaps(gaps_in(density_of(mechanism), k, points), 1, items=items, largest=largest)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_order_and_gaps_of_counts_that_move_both_ways(noise: NoiseName) -> None:
    distribution = gaps_in(density_of(NoisyTopK(1, 1, noise=noise, monotone=False)), 1, SPARSE)
    for counts in itertools.product((1, 2, 4), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            less = dict(zip("abc", counts, strict=True))
            more = {item: count + step for (item, count), step in zip(less.items(), change, strict=True)}
            check_pure(distribution(less), distribution(more), 1)
