"""Algorithms that are not private as printed. docs/gallery.md says for each what went wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.audit.gallery.exhibit import Counts, Exhibit
from podium.audit.gallery.textbook_noise import FloatNoise, Numbers, with_float_noise
from podium.audit.targets.neighbours import Pair, worst_pairs
from podium.mechanisms import FixedThreshold, LimitedDomain
from podium.privacy.guarantee import Guarantee

__all__ = ["ERRATA"]


def _ranked(counts: Counts) -> list[str]:
    """Positive items, largest first, ties in the order of the items."""
    return sorted((item for item in counts if counts[item] > 0), key=lambda item: (-counts[item], item))


def _count_at(counts: Counts, rank: int) -> int:
    ranked = sorted(counts.values(), reverse=True)
    return ranked[rank] if rank < len(ranked) else 0


def _named(items: list[str], winners: Any) -> Any:
    return np.array(items, dtype=object)[winners]


def _threshold(noise: FloatNoise, counts: Counts, size: int, *, margin: float) -> Any:
    """Durfee & Rogers, Algorithm 4 for k = k_bar = 1: the best item if its noisy count is above the noisy bottom."""
    ranked = _ranked(counts)
    bottom = _count_at(counts, 1) + margin + noise.laplace(size)
    if not ranked:
        return np.full(size, "bottom")
    above = counts[ranked[0]] + noise.laplace(size) > bottom
    return np.where(above, ranked[0], "bottom")


_ALGORITHM_4 = LimitedDomain(1, 1, 1, "0.01", max_items_per_user=1, noise="laplace")

algorithm_4: Exhibit = Exhibit(
    "durfee-rogers-algorithm-4",
    "A threshold of 1 + ln(Delta/epsilon)",
    "Durfee & Rogers 2019, Algorithm 4 and equation 7, as printed",
    _ALGORITHM_4.guarantee,
    worst_pairs(items=2, k=1, k_bar=1, level=1, max_items_per_user=1),
    with_float_noise(_threshold, margin=1 + math.log(1 / 1)),
    20_000,
    with_float_noise(_threshold, margin=float(_ALGORITHM_4.margin)),
)


def _before_noise(noise: FloatNoise, counts: Counts, size: int, *, tested_before: bool) -> Any:
    """Durfee & Rogers, Algorithm 8 for k = 1: who may take part is decided on the true count."""
    second = _count_at(counts, 1)
    bottom = second + 1 + math.log(1 / (2 * 0.1))
    ranked = [item for item in _ranked(counts)[:1] if counts[item] > (bottom if tested_before else second)]
    if not ranked:
        return np.full(size, "nobody")
    return np.where(counts[ranked[0]] + noise.laplace(size) > bottom, ranked[0], "nobody")


algorithm_8: Exhibit = Exhibit(
    "durfee-rogers-algorithm-8",
    "A true count tested before noise is added",
    "Durfee & Rogers 2019, Algorithm 8, as printed",
    FixedThreshold(1, 1, "0.1").guarantee,
    worst_pairs(items=2, k=1, k_bar=1, level=2),
    with_float_noise(_before_noise, tested_before=True),
    20_000,
    with_float_noise(_before_noise, tested_before=False),
)


def _choice_of_k_bar(noise: FloatNoise, counts: Counts, size: int, *, sign: int, shift: int) -> Any:
    """Durfee & Rogers, Algorithm 6: the rank i = 1..3 with the smallest h_(i) + ln(i/delta) and Gumbel noise."""
    scores = [_count_at(counts, i - 1 + shift) + math.log(100 * i) for i in range(1, 4)]
    noisy = np.array(scores) + sign * noise.gumbel(size, 3)
    return _named(["1", "2", "3"], noisy.argmin(axis=1))


algorithm_6: Exhibit = Exhibit(
    "durfee-rogers-algorithm-6",
    "Gumbel noise with the wrong sign",
    "Durfee & Rogers 2019, Algorithm 6, as printed (the choice of k_bar alone)",
    Guarantee.pure(1),
    worst_pairs(items=3, k=1, k_bar=1, level=2),
    with_float_noise(_choice_of_k_bar, sign=1, shift=0),
    1_000_000,
    with_float_noise(_choice_of_k_bar, sign=-1, shift=1),
)


def _noisy_max(noise: FloatNoise, counts: Counts, size: int, *, rate: float) -> Any:
    noisy = rate * np.array(list(counts.values())) + noise.exponential(size, len(counts))
    return _named(list(counts), noisy.argmax(axis=1))


algorithm_2: Exhibit = Exhibit(
    "shekelyan-loukides-algorithm-2",
    "Divided by the sensitivity twice",
    "Shekelyan & Loukides 2022, Algorithm 2, as printed: counts have sensitivity 1/2 there",
    Guarantee.pure(1),
    worst_pairs(items=3, k=1),
    with_float_noise(_noisy_max, rate=1 / 0.5),
    100_000,
    with_float_noise(_noisy_max, rate=1),
)


def _winner_and_estimate(noise: FloatNoise, scores: Counts, size: int, *, scale: float) -> Any:
    """Qiao, Su & Zhang, Algorithm 1 for k = 1: the winner of a Laplace race, and its score with fresh noise."""
    values: Numbers = np.array(list(scores.values()), dtype=np.float64)
    winners = (values + scale * noise.laplace(size, len(scores))).argmax(axis=1)
    estimates = np.floor(values[winners] + scale * noise.laplace(size)).astype(np.int64)
    return list(zip(_named(list(scores), winners).tolist(), estimates.tolist(), strict=True))


algorithm_1: Exhibit = Exhibit(
    "qiao-su-zhang-algorithm-1",
    "Estimates for the price of the set",
    "Qiao, Su & Zhang 2021, Algorithm 1 and Theorem 2.1, as printed, for scores that move both ways by 1",
    Guarantee.pure(2),
    (Pair("one rises, the other falls", {"a": 0, "b": 3}, {"a": 1, "b": 2}),),
    # lambda = 2 k s / epsilon pays for the set alone; the estimate is k s / lambda = epsilon/2 on top of it.
    with_float_noise(_winner_and_estimate, scale=1.0),
    500_000,
    with_float_noise(_winner_and_estimate, scale=1.5),
)


def _gap(noise: FloatNoise, counts: Counts, size: int, *, rate_of_gap: float) -> Any:
    """Ding et al., Algorithm 8: an exponential mechanism of epsilon = 1/4, and its gap from a logistic distribution."""
    values: Numbers = np.array(list(counts.values()), dtype=np.float64)
    winners = (0.25 * values + noise.gumbel(size, len(counts))).argmax(axis=1)
    weights = np.exp(rate_of_gap * values)
    odds = weights[winners] / (weights.sum() - weights[winners])
    chance = noise.uniform(size)
    gaps = np.log1p(odds * (1 - chance)) - np.log(chance)
    return list(zip(_named(list(counts), winners).tolist(), gaps.tolist(), strict=True))


ding_algorithm_8: Exhibit = Exhibit(
    "ding-algorithm-8",
    "A gap at a scale without epsilon",
    "Ding, Wang, Xiao, Zhang & Kifer 2021, Algorithm 8, as printed",
    Guarantee.pure("0.25"),
    worst_pairs(items=2, k=1),
    with_float_noise(_gap, rate_of_gap=1.0),
    400_000,
    with_float_noise(_gap, rate_of_gap=0.25),
)

ERRATA = (algorithm_4, algorithm_8, algorithm_6, algorithm_2, algorithm_1, ding_algorithm_8)
