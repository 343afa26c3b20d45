"""Small worlds of groups: counts of (group, item) pairs, and everything that one user can change in a few groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.worlds import Finding, SmallDistribution, SmallHistogram, cached

from podium.audit.exact.claims import Kind, comparison
from podium.audit.exact.exhaustive import DistributionOf
from podium.exact import Number
from podium.histogram import Histogram
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.groups.lockstep import FoundItems
from podium.mechanisms.weights import Weights
from podium.planning.memory_table import PairsReader
from podium.privacy.costs import Cost, worst_case
from podium.privacy.guarantee import Guarantee, total
from podium.release import GroupedRelease

__all__ = [
    "GroupTables",
    "GroupWorld",
    "by_group",
    "check_groups",
    "grouped_distribution",
    "shown",
    "with_and_without_a_clip",
    "worst_of_groups",
]


def by_group(counts: Mapping[str, int], *, known: bool = False) -> dict[str, Histogram]:
    """The histograms of the pairs "Xa", "Xb", "Ya": the first letter names the group."""
    groups: dict[str, dict[str, int]] = {}
    for pair, count in counts.items():
        groups.setdefault(pair[0], {})[pair[1:]] = count
    return {group: Histogram(items, known=known) for group, items in groups.items()}


def grouped_distribution(mechanism: GroupedTopK, *, known: bool = False) -> DistributionOf:
    """The exact distribution of a grouped mechanism on counts of pairs."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        return mechanism.distribution(by_group(counts, known=known), exact=True)

    return distribution


def with_and_without_a_clip(mechanism: Any) -> tuple[Cost, Cost]:
    """The worst cost of a mechanism that pays for one clip of all groups, and that of what it runs at the clip."""
    both, alone = worst_case(mechanism.worst_case), worst_case(mechanism.inner.worst_case)
    assert both.delta == alone.delta
    assert mechanism.guarantee == total(mechanism.worst_case)
    return both, alone


class GroupTables:
    """Groups as runs in rounds read them, each a small table of pairs in memory; ``calls`` says what was asked."""

    def __init__(self, tables: Mapping[str, PairsReader]) -> None:
        self._tables = tables
        self.calls: list[str] = []

    def discover(self, stage_of: Any, without: Mapping[Any, Any]) -> Iterator[tuple[Any, FoundItems]]:
        self.calls.append("discover")
        for group, table in self._tables.items():
            stage = stage_of(group)
            release = None if stage is None else table.discover(stage, without.get(group, ()))
            if release is not None and release.items:
                yield group, FoundItems(release.items, release.values or ())

    def sizes(self, items: Mapping[Any, Any], edges: tuple[int, ...]) -> dict[Any, tuple[int, ...]]:
        self.calls.append("sizes")
        return {group: self._tables[group].sizes(some, edges) for group, some in items.items()}

    def sums(self, items: Mapping[Any, Any], weights: Mapping[Any, Any]) -> dict[Any, tuple[int, ...]]:
        self.calls.append("sums")
        steps = {group: Weights(some, unit=some[0][1]) for group, some in weights.items()}
        return {group: self._tables[group].sums(some, steps[group]) for group, some in items.items()}


def shown(release: GroupedRelease) -> tuple[Any, ...]:
    """What came out of each group that is shown, as in an exact distribution."""
    return tuple((group, found.outcome) for group, found in release.lists.items())


@dataclass(frozen=True)
class GroupWorld:
    """All counts 0..largest of these pairs above ``lift``; one user adds pairs of at most ``groups`` groups.

    To each of these pairs the user adds an amount from 1 to ``most``: 1 where users are counted.
    """

    pairs: Sequence[str]
    largest: int
    groups: int
    max_items: int | None = None
    lift: Mapping[str, int] | None = None
    most: int = 1

    def histograms(self) -> Iterator[SmallHistogram]:
        """Every histogram of pairs."""
        base = self.lift or {}
        for counts in itertools.product(range(self.largest + 1), repeat=len(self.pairs)):
            yield {pair: count + base.get(pair, 0) for pair, count in zip(self.pairs, counts, strict=True)}

    def amounts(self) -> Iterator[dict[str, int]]:
        """Everything that a user may add."""
        for basket in self.baskets():
            for added in itertools.product(range(1, self.most + 1), repeat=len(basket)):
                yield dict(zip(sorted(basket), added, strict=True))

    def baskets(self) -> Iterator[frozenset[str]]:
        """Every set of pairs that a user may have."""
        for size in range(1, min(self.max_items or len(self.pairs), len(self.pairs)) + 1):
            for chosen in itertools.combinations(self.pairs, size):
                if len({pair[0] for pair in chosen}) <= self.groups:
                    yield frozenset(chosen)


def worst_of_groups(
    distribution: DistributionOf, world: GroupWorld, claim: Guarantee | Number, kind: Kind = "guarantee"
) -> Finding:
    """The pair of neighbours on which the claim comes closest to failing, or fails most."""
    compare, lookup = comparison(claim, kind), cached(distribution)
    found = []
    for counts in world.histograms():
        for added in world.amounts():
            more = {pair: count + added.get(pair, 0) for pair, count in counts.items()}
            finding = compare(lookup(counts), lookup(more))
            text = f"{finding.text}\n  p: {counts}\n  q: {more}"
            found.append(Finding(finding.excess, finding.violated, text))
    return max(found, key=lambda finding: (finding.violated, finding.excess))


def check_groups(
    distribution: DistributionOf, world: GroupWorld, claim: Guarantee | Number, kind: Kind = "guarantee"
) -> Finding:
    """The same, as an assertion that nothing fails."""
    worst = worst_of_groups(distribution, world, claim, kind)
    assert not worst.violated, worst.text
    return worst
