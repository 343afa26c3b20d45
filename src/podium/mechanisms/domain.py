"""What mechanisms ask of a domain: its size, its items, a few scores, the first by noise; a delta if it is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, probability
from podium.histogram import Groups, Histogram, Item, KnownDomain
from podium.mechanisms.weights import Weights
from podium.randomness import BitSource, grid_bits_for, race

__all__ = [
    "domain_size",
    "exact_scores",
    "list_scores",
    "rank_by_noise",
    "require_items",
    "scores_of",
    "unknown_domain_delta",
]

_MAX_OUTCOMES = 100_000


def unknown_domain_delta(delta: Number) -> Fraction:
    """The delta of a mechanism that finds items which nobody listed: above 0."""
    return probability(delta, "delta", hint="An unknown domain cannot be private with delta=0.")


def exact_scores(groups: Groups) -> list[Fraction]:
    """The score of each group."""
    scores = groups.scores.tolist() if isinstance(groups.scores, np.ndarray) else groups.scores
    return [Fraction(score) for score in scores]


def domain_size(groups: Groups) -> int:
    """How many items the domain has, those that nobody has included. Public: the caller stated the domain."""
    return len(groups.scores) if groups.multiplicities is None else sum(groups.multiplicities)


def require_items(k: int, groups: Groups) -> int:
    """The size of a domain that has at least ``k`` items; an error otherwise."""
    size = domain_size(groups)
    if k > size:
        raise InvalidArgument(
            "k",
            k,
            allowed=f"at most {size}, the number of items in the domain",
            hint="Ask for fewer items, or give the whole domain (domain=... or domain_size=...).",
        )
    return size


def rank_by_noise(
    groups: Groups,
    k: int,
    *,
    noise: Literal["gaussian", "laplace"],
    scale: Fraction,
    weights: Weights,
    bits: BitSource | None,
) -> tuple[tuple[Item, ...], tuple[Fraction, ...]]:
    """The k items of the largest noisy weighted counts, and these, in counts of users with one item.

    ``scale`` is that of the noise on the weighted counts.
    """
    finish = race(
        groups.scores,
        k=k,
        scale=scale,
        noise=noise,
        multiplicities=groups.multiplicities,
        value_bits=grid_bits_for(scale),
        bits=bits,
    )
    items = tuple(map(groups.name, finish.groups, finish.members))
    return items, tuple(value / weights.weight(1) for value in finish.values)


def list_scores(groups: Groups, *, outcomes: int) -> tuple[list[Item], list[Fraction]]:
    """Every item with its score; raises if a distribution over ``outcomes`` outcomes is too large to list."""
    if outcomes > _MAX_OUTCOMES:
        raise InvalidArgument(
            "histogram",
            f"a domain of {domain_size(groups)} items",
            allowed=f"a domain on which at most {_MAX_OUTCOMES} outcomes are possible",
            hint="An exact distribution lists every outcome; release() has no such limit.",
        )
    sizes = [1] * len(groups.scores) if groups.multiplicities is None else groups.multiplicities
    pairs = [
        (groups.name(group, member), score)
        for group, (score, size) in enumerate(zip(exact_scores(groups), sizes, strict=True))
        for member in range(size)
    ]
    return [item for item, _ in pairs], [score for _, score in pairs]


def scores_of(data: KnownDomain, items: Iterable[Item]) -> list[Fraction]:
    """The scores of some items of the domain, without walking through those that nobody has."""
    wanted = list(items)
    groups = data.groups()
    known = _named_scores(groups)
    unseen = data.domain_size if groups.multiplicities is not None and isinstance(data, Histogram) else None
    for item in wanted:
        if item not in known and not (unseen is not None and isinstance(item, int) and 0 <= item < unseen):
            raise InvalidArgument("item", item, allowed="an item of the domain")
    return [known.get(item, Fraction(0)) for item in wanted]


def _named_scores(groups: Groups) -> dict[Item, Fraction]:
    scores = exact_scores(groups)
    if groups.multiplicities is None:
        return {groups.name(group, 0): score for group, score in enumerate(scores)}
    # Groups with members are groups of counts, and only the count 0 can have more members than there are rows.
    return {
        groups.name(group, member): score
        for group, (score, size) in enumerate(zip(scores, groups.multiplicities, strict=True))
        if score
        for member in range(size)
    }
