"""Mistakes that anybody can make. docs/gallery.md says for each what went wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.audit.gallery.exhibit import Counts, Exhibit
from podium.audit.gallery.textbook_noise import ClockBits, FloatNoise, with_float_noise
from podium.audit.targets.neighbours import Pair, worst_pairs
from podium.mechanisms import LimitedDomain, PayWhatYouGet
from podium.privacy.guarantee import Guarantee

__all__ = ["EVERYDAY", "time_of_day"]

_COUNT = (Pair("one more user", 0.0, 1.0),)


def _noisy_count(noise: FloatNoise, count: float, size: int, *, scale: float) -> Any:
    return count + scale * noise.laplace(size)


halved_noise: Exhibit = Exhibit(
    "halved-noise",
    "Half of the noise",
    "a scale of 1/(2 epsilon) where 1/epsilon is needed",
    Guarantee.pure(1),
    _COUNT,
    with_float_noise(_noisy_count, scale=0.5),
    20_000,
    with_float_noise(_noisy_count, scale=1.0),
)

naive_floats: Exhibit = Exhibit(
    "naive-float-noise",
    "The right noise in floating point",
    "Mironov 2012: count - log(U) in double precision",
    Guarantee.pure(1),
    _COUNT,
    with_float_noise(_noisy_count, scale=1.0),
    8_000,
    lambda bits: lambda count, size: np.floor((count + FloatNoise(bits).laplace(size)) * 2**20) / 2**20,
    numeric=True,
)


def _winner_and_value(noise: FloatNoise, counts: Counts, size: int, *, value: bool) -> Any:
    """The winner of a Laplace race, and the value that it won with."""
    noisy = np.array(list(counts.values())) + 2.0 * noise.laplace(size, len(counts))
    winners = np.array(list(counts), dtype=object)[noisy.argmax(axis=1)].tolist()
    return list(zip(winners, noisy.max(axis=1).tolist(), strict=True)) if value else winners


winning_value: Exhibit = Exhibit(
    "winning-value",
    "The winner together with the value that it won with",
    "report noisy max that shows its maximum; Qiao, Su & Zhang 2021, section 2, warn of it",
    Guarantee.pure(1),
    worst_pairs(items=4, k=1, level=0),
    with_float_noise(_winner_and_value, value=True),
    400_000,
    with_float_noise(_winner_and_value, value=False),
)

_PLAN = PayWhatYouGet(1, 12, "0.5", "1e-4")
_LEVEL = math.ceil(LimitedDomain(1, 1, "0.5", "1e-4").margin) - 1


def _session(noise: FloatNoise, counts: Counts, size: int, *, charged: bool) -> Any:
    """The same question up to 12 times under a plan for one selection; the outcome is how often "nothing" was said."""
    calls = 1 if charged else _PLAN.l_star
    bottom = float(LimitedDomain(1, 1, "0.5", "1e-4").margin)
    race = 0.5 * (counts["a"] - bottom) + noise.gumbel(size, calls) - noise.gumbel(size, calls)
    found = race > 0
    first = np.where(found.any(axis=1), found.argmax(axis=1), calls)
    return [f"nothing {times} times" for times in first.tolist()]


uncharged_bottom: Exhibit = Exhibit(
    "uncharged-bottom",
    "An answer that says nothing, for free",
    "Durfee & Rogers 2019, Algorithm 2, with the bottom symbol left out of the bill",
    _PLAN.guarantee,
    (
        Pair("near the margin", {"a": _LEVEL - 1}, {"a": _LEVEL}),
        Pair("at the margin", {"a": _LEVEL}, {"a": _LEVEL + 1}),
    ),
    with_float_noise(_session, charged=False),
    400_000,
    with_float_noise(_session, charged=True),
)

_TIES = LimitedDomain(1, 4, "0.25", "0.01", max_items_per_user=1)


def _cut(noise: FloatNoise, counts: Counts, size: int, *, by_rows: bool) -> Any:
    """Limited domain for k = 1, k_bar = 4: which of equal counts are inside the cut depends on rows, or on names."""
    names = sorted(counts)
    # One user more or less turns the order of the rows around.
    rows = names[::-1] if by_rows and sum(counts.values()) % 2 else names
    ranked = sorted(rows, key=lambda item: -counts[item])
    inside, next_count = ranked[:4], counts[ranked[4]]
    scores = np.array([*(counts[item] for item in inside), next_count + float(_TIES.margin)])
    winners = (0.25 * scores + noise.gumbel(size, 5)).argmax(axis=1)
    return np.array([*inside, "bottom"], dtype=object)[winners]


row_order: Exhibit = Exhibit(
    "data-dependent-tie-break",
    "Ties broken by the order of the rows",
    "ORDER BY n DESC LIMIT 4 without a second key",
    _TIES.guarantee,
    worst_pairs(items=8, k=1, k_bar=4, level=3, max_items_per_user=1),
    with_float_noise(_cut, by_rows=True),
    400_000,
    with_float_noise(_cut, by_rows=False),
)

_TWO_COUNTS = (
    Pair("one count moves", {"a": 5, "b": 5}, {"a": 6, "b": 5}),
    Pair("both counts move", {"a": 5, "b": 5}, {"a": 6, "b": 6}),
)


def _two_counts(
    noise: FloatNoise, counts: Counts, size: int, *, fresh: Callable[[FloatNoise, int], tuple[Any, Any]]
) -> Any:
    """Two noisy counts in one session, at epsilon/2 each; ``fresh`` draws the noise of both."""
    first, second = fresh(noise, size)
    return np.column_stack([counts["a"] + 2.0 * first, counts["b"] + 2.0 * second])


def _independent(noise: FloatNoise, size: int) -> tuple[Any, Any]:
    return noise.laplace(size), noise.laplace(size)


def _reused(noise: FloatNoise, size: int) -> tuple[Any, Any]:
    once = noise.laplace(size)
    return once, once


def time_of_day(clock: Callable[[], float] = time.time) -> Exhibit:
    """Two noisy counts, each from a generator that is seeded with the time of day in seconds when it is needed."""

    def by_the_clock(_: FloatNoise, size: int) -> tuple[Any, Any]:
        noises = [[FloatNoise(ClockBits(clock)).laplace(1)[0] for _ in range(2)] for _ in range(size)]
        return np.array(noises)[:, 0], np.array(noises)[:, 1]

    return Exhibit(
        "time-of-day-seed",
        "A generator seeded with the time of day",
        "random.seed(int(time.time())) before each answer",
        Guarantee.pure(1),
        _TWO_COUNTS,
        with_float_noise(_two_counts, fresh=by_the_clock),
        4_000,
        with_float_noise(_two_counts, fresh=_independent),
    )


reused_noise: Exhibit = Exhibit(
    "reused-noise",
    "Noise kept between calls",
    "noise drawn once for a session and cached",
    Guarantee.pure(1),
    _TWO_COUNTS,
    with_float_noise(_two_counts, fresh=_reused),
    4_000,
    with_float_noise(_two_counts, fresh=_independent),
)


def _row_counts(noise: FloatNoise, rows: tuple[tuple[int, str], ...], size: int, *, distinct: bool) -> Any:
    """An exponential mechanism on what a table of (user, item) rows counts: rows, or distinct users."""
    pairs = set(rows) if distinct else rows
    counts = np.array([sum(item == name for _, item in pairs) for name in ("a", "b")])
    winners = (counts + noise.gumbel(size, 2)).argmax(axis=1)
    return np.array(["a", "b"], dtype=object)[winners]


_ROWS = ((1, "a"), (2, "a"), (3, "b"), (4, "b"))

counted_rows: Exhibit = Exhibit(
    "counted-rows",
    "Rows counted, not users",
    "COUNT(*) where COUNT(DISTINCT user_id) was meant",
    Guarantee.pure(1),
    (Pair("a busy user", _ROWS, (*_ROWS, *((5, "b"),) * 5)),),
    with_float_noise(_row_counts, distinct=False),
    20_000,
    with_float_noise(_row_counts, distinct=True),
)


def _pair_of_items(noise: FloatNoise, counts: dict[int, int], size: int, *, by_rank: bool) -> Any:
    """Two items by exponential mechanisms, as a set; 0, 8 and 16 have the same place in a small hash table."""
    names = np.array(list(counts))
    noisy = 0.5 * np.array(list(counts.values())) + noise.gumbel(size, len(counts))
    chosen = np.sort(names[np.argsort(-noisy, axis=1)[:, :2]], axis=1).tolist()
    return [frozenset(sorted(two, key=lambda item: -counts[item]) if by_rank else two) for two in chosen]


set_by_rank: Exhibit = Exhibit(
    "set-filled-by-rank",
    "A set that remembers in which order it was filled",
    "frozenset(item for item in ranking if item in chosen)",
    Guarantee.pure(1),
    (Pair("a tie is broken", {0: 3, 8: 3, 16: 0}, {0: 3, 8: 4, 16: 0}),),
    with_float_noise(_pair_of_items, by_rank=True),
    4_000,
    with_float_noise(_pair_of_items, by_rank=False),
)

EVERYDAY = (
    halved_noise,
    naive_floats,
    winning_value,
    uncharged_bottom,
    row_order,
    time_of_day(),
    reused_noise,
    counted_rows,
    set_by_rank,
)
