"""Known domains of every shape, and draws of mechanisms on them with replayed bits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms.base import Mechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Release

__all__ = ["DATA", "distribution", "releases"]

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
