"""The clip that is chosen privately, against the best power of two by hindsight, on generated tables of amounts.

The loss is how much of the unclipped mass of the true top 20 a list misses, in percentage points, beyond what the best
clip misses. Amounts are lognormal around a level of the item. Every fourth table of the grid is here, and none that
the rule was fitted to: those are of ``python -m bench measures`` and, for limited domains, others of this grid.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.support.distributions import FALSE_ALARM

from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION, ClipChoice
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.privacy import Selection
from podium.randomness.replay import ReplayableBits

K, K_BAR, DELTA = 20, 1000, "1e-6"
ITEMS, RUNS = 3000, 40
CLIPS = [1 << j for j in range(14)]
SHARE = Fraction(3, 100)
"""Of the question's budget, for choosing the clip."""


@dataclass(frozen=True)
class World:
    """Amounts of (user, item) pairs, one row each."""

    item: NDArray[np.int64]
    user: NDArray[np.int64]
    amount: NDArray[np.int64]

    def sums(self, clip: int | None) -> NDArray[np.int64]:
        amount = self.amount if clip is None else np.minimum(self.amount, clip)
        return np.bincount(self.item, weights=amount, minlength=ITEMS).astype(np.int64)

    def histograms(self) -> tuple[list[int], list[int]]:
        """What the reference in tests/support does, for whole columns."""
        sizes = np.bincount(self.user)
        bucket = np.ceil(np.log2(self.amount)).astype(np.int64)
        cells, numbers = np.unique(self.user * BUCKETS + bucket, return_counts=True)
        parts = numbers * (RESOLUTION // sizes[cells // BUCKETS])
        pairs = np.bincount(cells % BUCKETS, weights=parts, minlength=BUCKETS)
        users = np.bincount(np.ceil(np.log2(sizes[sizes > 0])).astype(np.int64), minlength=BUCKETS)
        return [int(value) for value in pairs], users.tolist()


def generate(users: int, spread: float, differing: float, seed: int) -> World:
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, ITEMS + 1)
    sizes = np.minimum(np.ceil(rng.lognormal(1.5, 0.8, users)).astype(np.int64), 100)
    owner = np.repeat(np.arange(users), sizes)
    item = rng.choice(ITEMS, len(owner), p=popularity / popularity.sum())
    owner, item = np.divmod(np.unique(owner * ITEMS + item), ITEMS)
    level = rng.normal(2.0, differing, ITEMS)
    amount = np.ceil(np.exp(level[item] + spread * rng.normal(size=len(item)))).astype(np.int64)
    return World(item, owner, np.minimum(amount, 2**40))


@dataclass(frozen=True)
class Table:
    """What is asked of a world, whichever domain the question has."""

    whole: NDArray[np.int64]
    clipped: dict[int, NDArray[np.int64]]
    histograms: tuple[list[int], list[int]]
    usual_clip: int
    """What people are told to do: a clip that 95 % of the pairs stay below."""


@functools.cache
def table(users: int, spread: float, differing: float, seed: int) -> Table:
    world = generate(users, spread, differing, seed)
    quantile = 1 << math.ceil(math.log2(np.quantile(world.amount, 0.95)))
    return Table(world.sums(None), {clip: world.sums(clip) for clip in CLIPS}, world.histograms(), quantile)


def mass_by_clip(table: Table, mechanism: LimitedDomain, *, known: bool, rng: np.random.Generator) -> dict[int, float]:
    """The part of the best possible unclipped mass that lists at each clip have, mean of several runs."""
    whole = table.whole
    best = np.sort(whole)[-K:].sum()
    found: dict[int, float] = {}
    for clip, unsorted in table.clipped.items():
        order = np.argsort(-unsorted, kind="stable")
        sums = unsorted[order]
        noise = rng.gumbel(scale=clip / float(mechanism.epsilon_per_item), size=(RUNS, K_BAR + 1))
        scores = sums[:K_BAR] + noise[:, :K_BAR]
        bottom = -np.inf if known else (sums[K_BAR] + clip * float(mechanism.margin) + noise[:, K_BAR])[:, None]
        top = np.argpartition(-scores, K, axis=1)[:, :K]
        inside = np.take_along_axis(scores, top, axis=1) > bottom
        found[clip] = float((whole[order[top]] * inside).sum(axis=1).mean() / best)
    return found


GRID = list(
    itertools.product((5_000, 50_000, 200_000), (0.5, 1.5, 2.5), (0.2, 0.6, 1.0), ("0.05", "0.2", "1")),
)[3::4]


@pytest.mark.parametrize("known", [True, False], ids=["known domain", "limited domain"])
def test_the_clip_loses_little_against_the_best_by_hindsight(known: bool) -> None:
    losses, usual = [], []
    for number, (users, spread, differing, epsilon) in enumerate(GRID):
        rng = np.random.default_rng(number)
        asked = table(users, spread, differing, seed=number)
        mechanism = LimitedDomain(K, K_BAR, epsilon, DELTA)
        masses = mass_by_clip(asked, mechanism, known=known, rng=rng)
        budget = SHARE * K * Selection(epsilon).rho
        amounts = ClipChoice(budget).release(asked.histograms, bits=ReplayableBits(number))
        unknown = {"delta": DELTA, "k_bar": K_BAR}
        question = MeasuredTopK(
            K,
            rho_clip=budget,
            epsilon_per_item=epsilon,
            known=known,
            **({} if known else unknown),  # type: ignore[arg-type]
        )
        clip, _ = question.clips_for(amounts)
        losses.append(100 * (max(masses.values()) - masses[min(clip, CLIPS[-1])]))
        usual.append(100 * (max(masses.values()) - masses[min(asked.usual_clip, CLIPS[-1])]))
    assert np.mean(losses) <= 0.5
    assert max(losses) <= 5
    assert np.mean(usual) > 5 * np.mean(losses), (usual, losses)


def test_the_noise_is_gaussian_of_this_scale_and_no_other() -> None:
    choice, bits = ClipChoice("0.02"), ReplayableBits(3)
    parts, users = [RESOLUTION * j for j in range(BUCKETS)], [1000] * BUCKETS
    exact = [*range(BUCKETS), *users]
    draws = [
        float(noisy - true)
        for _ in range(60)
        for noisy, true in zip(itertools.chain(*choice.noisy((parts, users), bits=bits)), exact, strict=True)
    ]

    def p_value(factor: float) -> float:
        return float(stats.kstest(draws, stats.norm(scale=float(choice.sigma) * factor).cdf).pvalue)

    assert p_value(1.0) > FALSE_ALARM
    assert p_value(0.7) < FALSE_ALARM
    assert p_value(1.3) < FALSE_ALARM
