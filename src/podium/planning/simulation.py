"""Seeded simulation of synthetic tables. Nothing here touches private data.

The only module outside ``podium.randomness`` that draws random numbers, and the only reproducible one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["EventTable", "Tournament", "article_events", "gumbel_noise", "tournament", "zipf_pairs"]

_TOPICS = (
    "heat-pumps", "night-trains", "sourdough", "sea-turtles", "old-phones", "city-bikes", "solar-roofs", "wild-bees",
    "chess-openings", "tide-pools", "green-tea", "lost-luggage", "paper-maps", "first-aid", "star-charts",
    "river-swimming", "small-gardens", "used-books", "mountain-huts", "street-food", "jazz-bars", "rain-barrels",
    "tax-forms", "school-lunches", "board-games", "winter-tyres", "ferry-routes", "bread-knives", "moon-phases",
    "apple-trees", "sleep-habits", "house-plants", "phone-bills", "village-fairs", "coffee-grinders",
    "bird-feeders", "subway-art", "lake-ice", "film-cameras", "tool-libraries",
)  # fmt: skip
_ANGLES = (
    "explained", "what-changed", "a-field-guide", "in-numbers", "for-beginners", "the-long-read", "before-and-after",
    "seven-questions", "myths", "what-it-costs", "at-night", "made-simple", "a-short-history", "tested", "compared",
    "on-a-budget", "in-pictures", "the-interview", "five-mistakes", "the-quiz", "revisited", "a-diary", "live",
    "what-we-know", "the-backlash", "in-the-lab", "a-map", "your-letters", "the-winners", "next-year",
)  # fmt: skip
_COUNTRIES = ("DE", "FR", "IT", "ES", "PL", "NL", "SE", "PT")
_COUNTRY_SHARES = (0.31, 0.22, 0.15, 0.12, 0.09, 0.06, 0.03, 0.02)
_QUANTILES, _RANKS = 200, 500


@dataclass(frozen=True, slots=True)
class EventTable:
    """Columns of equal length, one row per event; a user may read an article more than once."""

    user_id: NDArray[np.int64]
    article: NDArray[np.str_]
    country: NDArray[np.str_]


def article_events(*, rows: int = 300_000, users: int = 20_000, exponent: float = 0.9, seed: int = 2019) -> EventTable:
    """Users reading articles: popularity is a power of the rank, activity is log-normal.

    Equal arguments give equal tables.
    """
    draw = np.random.default_rng(seed)
    articles = np.array([f"{topic}-{angle}" for topic in _TOPICS for angle in _ANGLES])
    articles = articles[np.argsort(draw.random(len(articles)))]
    popularity = np.arange(1, len(articles) + 1, dtype=np.float64) ** -exponent
    activity = np.exp(draw.standard_normal(users))
    country_of = _pick(np.array(_COUNTRY_SHARES), draw.random(users))
    who = _pick(activity, draw.random(rows))
    what = _pick(popularity, draw.random(rows))
    return EventTable(who.astype(np.int64) + 1, articles[what], np.array(_COUNTRIES)[country_of[who]])


def zipf_pairs(
    *, users: int, items: int, items_per_user: float, exponent: float, skew: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs (user, item): popularity is rank^-exponent, activity is log-normal.

    ``items_per_user`` is the mean number of distinct items of a user, ``skew`` the standard deviation of the logarithm
    of user activity. A user may have no items. Equal arguments give equal pairs.
    """
    draw = np.random.default_rng(seed)
    popularity = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    popularity /= popularity.sum()
    activity = np.exp(skew * draw.standard_normal(users))
    events = draw.poisson(activity * _events_per_activity(popularity, skew, items_per_user))
    who = np.repeat(np.arange(users), events)
    pairs = np.unique(who * items + _pick(popularity, draw.random(len(who))))
    return pairs // items, pairs % items


@dataclass(frozen=True, slots=True)
class Tournament:
    """Synthetic comparisons: true weights, and how many users preferred the first and the second of each pair."""

    weights: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def tournament(
    edges: NDArray[np.int64],
    *,
    items: int,
    comparisons_per_pair: int,
    seed: int,
    spread: float = 2.0,
    even: float = 0.25,
) -> Tournament:
    """Comparisons of pairs (first, second) by the Bradley-Terry-Luce model: i is preferred to j with w_i/(w_i + w_j).

    Logarithms of weights are uniform in an interval of length ``spread``. A pair is compared
    a_i a_j ``comparisons_per_pair`` times, with a uniform in (``even``, 1). Equal arguments give equal results.
    """
    draw = np.random.default_rng(seed)
    weights = np.exp(spread * draw.random(items))
    seen = even + (1 - even) * draw.random(items)
    one, other = edges[:, 0], edges[:, 1]
    times = np.rint(comparisons_per_pair * seen[one] * seen[other]).astype(np.int64)
    first = draw.binomial(times, weights[one] / (weights[one] + weights[other]))
    return Tournament(weights, first, times - first)


def gumbel_noise(shape: tuple[int, int], *, seed: int) -> NDArray[np.float64]:
    """Standard Gumbel noise, to predict what a mechanism would find. Equal arguments give equal noise."""
    return np.random.default_rng(seed).gumbel(size=shape)


def _events_per_activity(popularity: NDArray[np.float64], skew: float, items_per_user: float) -> float:
    """The events per user for this mean of *distinct* items: an item is missed with probability exp(-events)."""
    # SciPy is slow to import, and most questions do not need it.
    from scipy.optimize import brentq  # noqa: PLC0415
    from scipy.special import ndtri  # noqa: PLC0415

    typical = np.exp(skew * ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES))
    # Tail items of neighbouring ranks are nearly equal, so they share a mean.
    ranks = np.unique(np.geomspace(1, len(popularity) + 1, _RANKS).astype(np.int64))
    alike = np.diff(ranks)
    mean = np.add.reduceat(popularity, ranks[:-1] - 1) / alike

    def shortfall(log_events: float) -> float:
        missed = np.exp(-np.exp(log_events) * typical[:, None] * mean)
        return float(((1 - missed) @ alike).mean()) - items_per_user

    maximum = np.log(1e6 * len(popularity))
    return float(np.exp(brentq(shortfall, np.log(1e-9), maximum))) if shortfall(maximum) > 0 else float(np.exp(maximum))


def _pick(weights: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.intp]:
    edges = np.cumsum(weights)
    picked: NDArray[np.intp] = np.searchsorted(edges, uniform * edges[-1], side="right")
    return np.minimum(picked, len(edges) - 1, out=picked)
