"""Known domains of every shape, and draws of mechanisms on them with replayed bits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

from tests.support.distributions import assert_three_way

from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms.base import Mechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Release

__all__ = ["DATA", "check_three_ways", "distribution", "outcomes", "releases"]

DATA: dict[str, KnownDomain] = {
    "distinct": Histogram({"a": 3, "b": 1, "c": 0}),
    "ties": Histogram({"a": 2, "b": 2, "c": 2, "d": 0}),
    "all zero": Histogram({"a": 0, "b": 0, "c": 0}),
    "unseen": Histogram({1: 4, 3: 2}, domain_size=5),
    "scores": Scores({"a": "0.3", "b": "-0.2", "c": "1/7"}, sensitivity="0.2"),
}


def releases(draw: Callable[[ReplayableBits], Release], seed: int, *, count: int = 700) -> Iterator[Release]:
    bits = ReplayableBits(seed)
    return (draw(bits) for _ in range(count))


def distribution(mechanism: Mechanism, data: KnownDomain) -> dict[Hashable, float]:
    return dict(mechanism.distribution(data).items())


def outcomes(mechanism: Any, data: KnownDomain, seed: int, *, count: int = 700) -> Iterator[Hashable]:
    """What the mechanism releases in draws one after the other."""
    drawn = releases(lambda bits: mechanism.release(data, bits=bits), seed, count=count)
    return (release.outcome for release in drawn)


def check_three_ways(
    mechanism: Callable[[Fraction], Mechanism], data: KnownDomain, seed: int, *, count: int = 5_000
) -> None:
    """Draws of the mechanism at scale 1 follow its distribution, and not that of the mechanism at other scales."""
    drawn = outcomes(mechanism(Fraction(1)), data, seed, count=count)
    assert_three_way(drawn, lambda scale: distribution(mechanism(scale), data), scale=Fraction(1))
