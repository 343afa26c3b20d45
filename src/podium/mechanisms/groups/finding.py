"""A round that finds items in every group at once: groups share a race wherever their noise has one scale."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, TypeAlias, cast

from podium.histogram import Histogram, Item
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.randomness import BitSource

__all__ = ["FoundPlaces", "Place", "Tally", "find_in_groups"]

Place: TypeAlias = tuple[int, int]
Tally: TypeAlias = tuple[Item, Sequence[int], Sequence[int]]
"""A group, its distinct weighted counts, and how many of its items have each. All of it is private."""
_MAX_GROUPS = 1 << 12
"""How many groups share a race: as many tallies are kept at a time."""


class FoundPlaces(NamedTuple):
    """The items that were found in a group, as places (count, rank), the largest first, with their noisy counts."""

    group: Item
    places: tuple[Place, ...]
    values: tuple[Fraction, ...]


def find_in_groups(
    tallies: Iterable[Tally],
    stage_of: Callable[[Item], TruncatedGaussianHistogram | None],
    *,
    bits: BitSource | None = None,
) -> Iterator[FoundPlaces]:
    """Run the stage of each group on its weighted counts; groups in which nothing is found are left out.

    The noise of every item is its own, so items of many groups may take part in one race. The k of a stage
    only shortens a list, so a group with more items than that takes part alone.
    """
    shared: dict[TruncatedGaussianHistogram, _SharedRace] = {}
    for group, counts, sizes in tallies:
        stage = stage_of(group)
        if stage is None:
            continue
        if stage.k is not None and sum(sizes) > stage.k:
            yield from _alone(group, counts, sizes, stage, bits)
            continue
        race = shared.setdefault(stage, _SharedRace())
        race.add(group, counts, sizes)
        if len(race.groups) == _MAX_GROUPS:
            yield from shared.pop(stage).run(stage, bits)
    for stage, race in shared.items():
        yield from race.run(stage, bits)


def _alone(
    group: Item, counts: Sequence[int], sizes: Sequence[int], stage: TruncatedGaussianHistogram, bits: BitSource | None
) -> Iterator[FoundPlaces]:
    release = stage.release(_places(dict(zip(counts, sizes, strict=True))), bits=bits)
    if release.items:
        yield FoundPlaces(group, cast(tuple[Place, ...], release.items), release.values or ())


@dataclass(slots=True)
class _SharedRace:
    """Groups whose items take part together; ``among`` has for each count the groups that have it, and how often."""

    groups: list[Item] = field(default_factory=list)
    among: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, group: Item, counts: Sequence[int], sizes: Sequence[int]) -> None:
        """Let the items of one more group take part."""
        number = len(self.groups)
        self.groups.append(group)
        for count, size in zip(counts, sizes, strict=True):
            self.among.setdefault(count, []).append((number, size))

    def run(self, stage: TruncatedGaussianHistogram, bits: BitSource | None) -> Iterator[FoundPlaces]:
        """What passes, in each group in the order of the noisy counts."""
        ends = {count: list(accumulate(size for _, size in some)) for count, some in self.among.items()}
        every = TruncatedGaussianHistogram(sigma=stage.sigma, delta=stage.delta, weights=stage.weights, clip=stage.clip)
        release = every.release(_places({count: last[-1] for count, last in ends.items()}), bits=bits)
        found: dict[int, list[tuple[Place, Fraction]]] = {}
        for place, value in zip(release.items, release.values or (), strict=True):
            count, member = cast(Place, place)
            at = bisect_right(ends[count], member)
            number, size = self.among[count][at]
            found.setdefault(number, []).append(((count, member - ends[count][at] + size), value))
        for number in sorted(found):
            places, values = zip(*found[number], strict=True)
            yield FoundPlaces(self.groups[number], places, values)


def _places(sizes: dict[int, int]) -> Histogram:
    return Histogram.from_counts_of_counts(sizes, lambda count, rank: (count, rank), known=False)
