"""A list for each group: what was counted is selected from, measured and named; hidden groups are forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from podium.curator.prepare import PlannedQuestion
from podium.curator.rounds import SourceReader
from podium.curator.stated import StatedGroups
from podium.histogram import Histogram, Item
from podium.mechanisms.groups.chosen_clip import GroupedAmounts
from podium.mechanisms.groups.grouped_topk import GroupedTopK, Selected
from podium.mechanisms.measures.clip_choice import RESOLUTION
from podium.planning.facts import GroupFacts
from podium.release import Beside, GroupedRelease, GroupLists, Receipt, Release
from podium.release.groups import group_key

if TYPE_CHECKING:
    from podium.estimates import MeasureCounts, MeasureOthers, MeasureTogether
    from podium.planning.strategy import Strategy

__all__ = ["others_of_groups", "select_at_clip", "select_groups"]


def select_groups(reader: SourceReader, planned: PlannedQuestion) -> GroupedRelease:
    """The lists of all groups, from one read; memory holds only groups that are shown."""
    strategy, groups = planned.strategy, cast(StatedGroups, planned.groups)
    mechanism = cast(GroupedTopK, strategy.mechanism)
    rows = mechanism.max_rows
    counted = reader.grouped_tallies() if rows is None else reader.grouped_rows(rows)
    if groups.listed is not None:
        counted = _all_listed(groups.listed, counted, _nobody(planned, rows))
    shown = [_measured(one, strategy.measure, places=rows is None) for one in mechanism.run(counted)]
    release = mechanism.gather(shown, per=groups.per)
    if strategy.measure is not None:
        release = replace(release, value_kind="counts", parameters={**release.parameters, **_noise(planned)})
    return release if rows is not None else _named(reader, release)


def select_at_clip(reader: SourceReader, planned: PlannedQuestion) -> GroupedRelease:
    """The same by sums at a clip that is chosen from all amounts; values have a clip of their own."""
    strategy, groups = planned.strategy, cast(StatedGroups, planned.groups)
    mechanism, measure = cast(GroupedAmounts, strategy.mechanism), cast("MeasureTogether | None", strategy.measure)
    choice = mechanism.choice
    amounts = choice.release(reader.clip_histograms(choice.buckets, RESOLUTION))
    clips = mechanism.clips_for(amounts, None if measure is None else measure.noise_for(mechanism.k).variance)
    counted = reader.counting_at(clips[0]).grouped_rows(mechanism.max_rows)
    if groups.listed is not None:
        counted = _all_listed(groups.listed, counted, _nobody(planned, mechanism.max_rows))
    shown = {one.group: one.release for one in mechanism.at(clips[0]).run(counted)}
    if measure is None:
        return mechanism.gather(shown.items(), clips, per=groups.per)
    measure = replace(measure, clip=clips[1])
    sums = _sums_of(reader.at_clip(clips[1]), shown)
    measured = [
        _measured(Selected(group, one, Histogram(sums.get(group, {}))), measure, places=False)
        for group, one in shown.items()
    ]
    release = mechanism.gather(measured, clips, values=True, per=groups.per)
    noise = measure.count_parameters(mechanism.k)
    return replace(release, value_kind="counts", parameters={**release.parameters, **noise})


def others_of_groups(reader: SourceReader, strategy: Strategy, release: GroupedRelease) -> GroupedRelease:
    """The release with what is beside each list that it has: a step of its group, by the same queries for all.

    Groups that are not shown cost nothing here: nothing is measured of them. A user is in few of those that are shown.
    """
    step, groups = cast("MeasureOthers", strategy.others), cast(GroupFacts, strategy.facts.groups)
    lists: dict[Item, tuple[Item, ...]] = {group: found.items for group, found in release.lists.items()}
    beside: dict[Item, Beside] = {}
    if not lists:
        return release
    if step.amounts:
        # The same clip as that of the values, so that everything adds up.
        totals = reader.grouped_rest_totals(lists, int(release.parameters["value_clip"]))
        beside = {g: step.release_rest(*totals[g], found.values or ()) for g, found in release.lists.items()}
    else:
        beside = {group: step.release(*numbers) for group, numbers in reader.grouped_users(lists).items()}
    named = ((group, replace(found, beside=beside[group])) for group, found in release.lists.items())
    paid = Receipt((*release.paid.events, *step.events * min(groups.most, len(lists))))
    theorem = f"{release.theorem}; {step.group_proof}: what is beside the list of each group"
    return replace(release, lists=GroupLists(named), paid=paid, theorem=theorem)


def _sums_of(reader: SourceReader, shown: Mapping[Item, Release]) -> dict[Item, dict[Item, int]]:
    """The sums of the items of each group at the clip of this reader, by the same queries for all groups."""
    items = {group: one.items for group, one in shown.items() if one.items}
    if not items:
        return {}
    equal = {group: ((len(some), 1),) for group, some in items.items()}
    sums = reader.grouped_among(items).sums(equal, reader.clip)
    return {group: dict(zip(some, sums[group], strict=True)) for group, some in items.items()}


def _all_listed(
    listed: Iterable[Item], counted: Iterable[tuple[Item, Histogram]], nobody: Histogram
) -> Iterator[tuple[Item, Histogram]]:
    """Every listed group, under the name by which it was listed; those without rows come last."""
    left = {group_key(group): group for group in listed}
    for group, histogram in counted:
        name = left.pop(group_key(group), None)
        if name is not None:
            yield name, histogram
    for group in left.values():
        yield group, nobody


def _nobody(planned: PlannedQuestion, rows: int | None) -> Histogram:
    """The counts of a group without rows."""
    if rows is not None:
        return Histogram.top_rows((), (), next_count=0)
    size = planned.strategy.facts.domain_size or 0
    return Histogram.from_counts_of_counts({0: size}, lambda count, rank: (count, rank))


def _measured(one: Selected, measure: MeasureCounts | MeasureTogether | None, *, places: bool) -> tuple[Item, Release]:
    """What came out of a group with its counts, which are paid for as part of the group; places hold their counts."""
    release = one.release
    if measure is None:
        return one.group, release
    if not release.items:
        return one.group, replace(release, values=(), value_kind="counts")
    items: list[Any] = list(release.items)
    counted = Histogram({place: place[0] for place in items}) if places else one.histogram
    measured = measure.release(counted, release.items)
    paid = Receipt((*release.paid.events, *measured.paid.events))
    return one.group, replace(release, paid=paid, values=measured.values, value_kind="counts")


def _noise(planned: PlannedQuestion) -> dict[str, str]:
    """The noise of every count, which does not depend on how many came out of a group."""
    measure, by = planned.strategy.measure, planned.question.measure
    if measure is None:
        return {}
    # Lists and values have one clip where it is stated.
    clip = {} if by is None else {"value_clip": str(by.clip)}
    return clip | dict(measure.count_parameters(planned.question.k))


def _named(reader: SourceReader, release: GroupedRelease) -> GroupedRelease:
    """The release with names for the (count, rank) places of its items, by two queries for all groups."""
    places: dict[Item, Any] = {group: found.items for group, found in release.lists.items()}
    names = reader.grouped_names(places)
    lists = [
        (group, replace(found, outcome=tuple(names[group][: len(found.outcome)])))
        for group, found in release.lists.items()
    ]
    return replace(release, lists=GroupLists(lists))
