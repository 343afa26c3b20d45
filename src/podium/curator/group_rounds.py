"""A list for each group, in rounds: what all groups ask next is one query, on pairs that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from podium.curator.prepare import PlannedQuestion
from podium.curator.rounds import SourceReader
from podium.curator.stated import StatedGroups
from podium.histogram import Item
from podium.mechanisms.groups.composite_pairs import GroupedComposite
from podium.mechanisms.groups.finding import find_in_groups
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.groups.lockstep import FoundItems
from podium.mechanisms.groups.rounds_at_clip import GroupedRoundsAtClip
from podium.mechanisms.measures.clip_choice import RESOLUTION
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.release import GroupedRelease, Release
from podium.release.groups import group_key
from podium.sources.group_cut import flat_items

__all__ = ["select_in_rounds", "select_in_rounds_at_clip", "select_together"]

T = TypeVar("T")


def select_in_rounds(reader: SourceReader, planned: PlannedQuestion) -> GroupedRelease:
    """The lists of all groups; memory holds only groups in which something was found."""
    groups, mechanism = cast(StatedGroups, planned.groups), cast(GroupedRounds, planned.strategy.mechanism)
    shown, nothing = mechanism.run(_GroupsReader(reader, planned, mechanism))
    release = mechanism.gather(_as_listed(shown, groups), nothing, listed=groups.listed or (), per=groups.per)
    if planned.question.measure is None:
        return release
    # Lists and values have one clip where it is stated.
    clip = str(mechanism.inner.clip)
    clips = {"clip": clip} | ({"value_clip": clip} if mechanism.inner.counts else {})
    return replace(release, parameters={**release.parameters, **clips})


def select_in_rounds_at_clip(reader: SourceReader, planned: PlannedQuestion) -> GroupedRelease:
    """The same by sums at a clip that is chosen from all amounts; values have a clip of their own."""
    groups, mechanism = cast(StatedGroups, planned.groups), cast(GroupedRoundsAtClip, planned.strategy.mechanism)
    choice = mechanism.choice
    amounts = choice.release(reader.clip_histograms(choice.buckets, RESOLUTION))
    clips = mechanism.clips_for(amounts, planned.max_clip)
    rounds = mechanism.at(clips[0])
    shown, nothing = rounds.run(_GroupsReader(reader.at_clip(clips[0]), planned, rounds))
    if mechanism.mu_squared_for_values is not None:
        shown = mechanism.measured(shown, _plain_sums(reader, shown, clips[1]), clips[1])
    return mechanism.gather(_as_listed(shown, groups), nothing, clips, listed=groups.listed or (), per=groups.per)


def _plain_sums(reader: SourceReader, shown: Mapping[Item, Release], clip: int) -> dict[Item, tuple[int, ...]]:
    """The sums of the items of each group at this clip, by the same queries for all groups."""
    items = {group: one.items for group, one in shown.items() if one.items}
    equal = {group: ((len(some), 1),) for group, some in items.items()}
    return reader.grouped_among(items).sums(equal, clip) if items else {}


def select_together(reader: SourceReader, planned: PlannedQuestion) -> GroupedRelease:
    """The lists of all groups from one noisy histogram of pairs."""
    groups, mechanism = cast(StatedGroups, planned.groups), cast(GroupedComposite, planned.strategy.mechanism)
    shown = mechanism.run(_GroupsReader(reader, planned, mechanism))
    return mechanism.gather(_as_listed(shown, groups), listed=groups.listed or (), per=groups.per)


def _as_listed(shown: Mapping[Item, T], groups: StatedGroups) -> dict[Item, T]:
    """The same under the names by which groups were listed."""
    names = {group_key(group): group for group in groups.listed or ()}
    return {names.get(group_key(group), group): found for group, found in shown.items()}


@dataclass(slots=True)
class _GroupsReader:
    """The kept pairs of a question as runs in rounds read them."""

    reader: SourceReader
    planned: PlannedQuestion
    mechanism: GroupedRounds | GroupedComposite

    def discover(
        self,
        stage_of: Callable[[Item], TruncatedGaussianHistogram | None],
        without: Mapping[Item, tuple[Item, ...]],
    ) -> Iterator[tuple[Item, FoundItems]]:
        """Run the stage of every group with rows; only the names of what was found are read."""
        weights, left_out = (
            self.mechanism.first_weights,
            flat_items(self.planned.pairs_query(self.reader.salt), without),
        )
        snapshot = self.reader.grouped(self.planned.weighted_query(weights, left_out, self.reader.salt))
        found = {one.group: one for one in find_in_groups(snapshot.grouped_tallies(), stage_of)}
        if not found:
            return
        names = snapshot.grouped_names({group: one.places for group, one in found.items()})
        for group, one in found.items():
            yield group, FoundItems(names[group], one.values)

    def sizes(self, items: Mapping[Item, tuple[Item, ...]], edges: tuple[int, ...]) -> Mapping[Item, tuple[int, ...]]:
        """How many users have so many of the items of a group."""
        return self.reader.grouped_among(items).sizes(edges)

    def sums(
        self, items: Mapping[Item, tuple[Item, ...]], weights: Mapping[Item, Sequence[tuple[int, int]]]
    ) -> Mapping[Item, tuple[int, ...]]:
        """The weighted count of each of the items of a group."""
        return self.reader.grouped_among(items).sums(weights, self.reader.clip)
