"""Answering: read the few rows that a strategy needs, select, measure, name. The worst case is reserved by then."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from podium.curator.joined import joins_sentence
from podium.curator.prepare import PlannedQuestion, fresh_salt
from podium.curator.rounds import SourceReader
from podium.curator.timing import delay_to_period
from podium.errors import EntropyFailure, SourceError, SourceFailure
from podium.mechanisms.reader import Reads
from podium.query.ranked_by import Measure
from podium.release import BOTTOM, GroupedRelease, GroupLists, Outcome, RankedList, Receipt, Release
from podium.sources import Source

if TYPE_CHECKING:
    from podium.estimates import MeasureCounts, MeasureTogether
    from podium.planning.strategy import Strategy

__all__ = ["answer", "keep_at_least", "strip_origin"]

E = TypeVar("E", bound=BaseException)
R = TypeVar("R", bound=Release)
_OF_GROUPS_ON_PAIRS = (Reads.GROUPS_IN_ROUNDS, Reads.GROUPS_IN_ROUNDS_AT_CLIP, Reads.GROUPS_TOGETHER)


def answer(source: Source, planned: PlannedQuestion, *, every: Fraction | None = None) -> Release:
    """Return the release, not yet settled, or raise an error that reveals nothing about rows.

    Any error between the read and the release may quote a row, so only errors with a constant text pass. Release or
    error come a multiple of ``every`` seconds after reading began.
    """
    failure: BaseException
    try:
        with delay_to_period(every):
            return _release(source, planned)
    except (SourceError, EntropyFailure) as error:
        failure = error
    except Exception:  # noqa: BLE001 - its text may quote rows
        failure = SourceFailure()
    except BaseException as interruption:  # noqa: BLE001 - raised again below
        failure = interruption
    raise strip_origin(failure)


def strip_origin(error: E) -> E:
    """Remove cause, context and traceback from an error: causes quote rows, and frames hold them."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _release(source: Source, planned: PlannedQuestion) -> Release:
    strategy = planned.strategy
    release = _select(source, planned)
    theorem = release.theorem
    if strategy.theorem is not None:
        theorem = f"{theorem}; {strategy.theorem}: {strategy.theorem.source}"
    # The items of a ranking come from two columns, so they carry the name of neither.
    columns = planned.question.items if strategy.ranking is None else None
    settled = replace(release, guarantee=strategy.guarantee, theorem=theorem, user=planned.user, columns=columns)
    if planned.joins:
        told = joins_sentence(planned.joins)
        settled = replace(settled, parameters={**settled.parameters, "join": told})
    return _in_amounts(keep_at_least(settled, strategy.facts.at_least), planned.question.measure)


def keep_at_least(release: R, least: int | None) -> R:
    """Leave out items whose released value is below the minimum, in units: post-processing, also of the order."""
    if least is None:
        return release
    release = replace(release, parameters={"at_least": str(least), **release.parameters})
    if release.value_kind == "gaps":
        # They say by how much the threshold was passed: it decided already.
        return release
    if isinstance(release, GroupedRelease):
        lists = [
            (group, replace(found, **_large_enough(found.outcome, found.values, least)))
            for group, found in release.lists.items()
        ]
        # An unknown group is shown if an item of it is.
        listed = release.parameters.get("known", "None") != "None"
        return replace(release, lists=GroupLists((group, found) for group, found in lists if listed or found.items))
    return replace(release, **_large_enough(release.outcome, release.values, least))


def _large_enough(outcome: Outcome, values: tuple[Fraction, ...] | None, least: int) -> dict[str, Any]:
    """What is left of an outcome and its values."""
    if values is None:
        return {}
    kept = [value >= least for value in values]
    items = itertools.compress([item for item in outcome if item is not BOTTOM], kept)
    left = (*items, *[symbol for symbol in outcome if symbol is BOTTOM])
    return {"outcome": left, "values": tuple(itertools.compress(values, kept))}


def _in_amounts(release: Release, measure: Measure | None) -> Release:
    """The release with the measure that it ranks by, and values in the units of its column."""
    if measure is None:
        return release
    if isinstance(release, GroupedRelease):
        lists = ((group, _amounts_of(found, measure)) for group, found in release.lists.items())
        release = replace(release, lists=GroupLists(lists))
        return replace(release, parameters={"by": measure.by, "unit": str(measure.unit), **release.parameters})
    values = None if release.values is None else tuple(map(measure.amount, release.values))
    beside = None if release.beside is None else release.beside.in_amounts(measure.unit)
    parameters = {"by": measure.by, "unit": str(measure.unit), **release.parameters}
    return replace(release, values=values, beside=beside, parameters=parameters)


def _amounts_of(found: RankedList, measure: Measure) -> RankedList:
    beside = None if found.beside is None else found.beside.in_amounts(measure.unit)
    values = None if found.values is None else tuple(map(measure.amount, found.values))
    return replace(found, values=values, beside=beside)


def _select(source: Source, planned: PlannedQuestion) -> Release:
    """What the mechanism declares that it reads is read, and it selects."""
    strategy, reader = planned.strategy, SourceReader(source, planned, fresh_salt())
    mechanism: Any = strategy.mechanism
    if mechanism.reads is Reads.GROUPS:
        from podium.curator.group_lists import select_groups  # noqa: PLC0415 - most questions have one list

        with reader.counting():
            return _with_others_in_groups(select_groups(reader, planned), strategy, reader)
    if mechanism.reads is Reads.GROUPS_AT_CLIP:
        from podium.curator.group_lists import select_at_clip  # noqa: PLC0415 - most questions have one list

        with reader.keeping_pairs():
            return _with_others_in_groups(select_at_clip(reader, planned), strategy, reader)
    if mechanism.reads in _OF_GROUPS_ON_PAIRS:
        from podium.curator import group_rounds  # noqa: PLC0415 - most questions have one list

        selects = {
            Reads.GROUPS_IN_ROUNDS: group_rounds.select_in_rounds,
            Reads.GROUPS_IN_ROUNDS_AT_CLIP: group_rounds.select_in_rounds_at_clip,
            Reads.GROUPS_TOGETHER: group_rounds.select_together,
        }
        with reader.keeping_pairs():
            return _with_others_in_groups(selects[mechanism.reads](reader, planned), strategy, reader)
    if mechanism.reads is Reads.ROUNDS:
        with reader.keeping_pairs():
            return _with_others(mechanism.release(reader), strategy, reader)
    if mechanism.reads is Reads.WEIGHTED_COUNTS:
        with reader.keeping_pairs():
            found = reader.discover(mechanism, ()) if planned.domain is None else reader.rank_known(mechanism)
            # What ranks is no count of users, and nobody asked for one.
            return replace(found, values=None, value_kind=None)
    with reader.counting():
        if strategy.ranking is not None:
            from podium.curator.comparisons import rank_items  # noqa: PLC0415 - other questions rank by users

            counted = reader.top_rows(len(strategy.ranking.graph.comparisons))
            return rank_items(counted, mechanism, strategy.ranking, strategy.scores)
        release = mechanism.release(reader.tally() if strategy.rows is None else reader.top_rows(strategy.rows))
        if strategy.measure is not None:
            release = _measure(release, strategy.measure, reader)
        return _with_others(release if planned.domain is None else reader.name(release), strategy, reader)


def _with_others(release: Release, strategy: Strategy, reader: SourceReader) -> Release:
    """The release with the numbers of users beside its list, which is final and named by now."""
    step = strategy.others
    if step is None:
        return release
    final = keep_at_least(release, strategy.facts.at_least)
    if step.amounts:
        # The same clip as that of the values, so that everything adds up.
        found = reader.rest_totals(final.items, int(final.parameters["value_clip"]))
        beside, what = step.release_rest(*found, final.values or ()), "amounts beside a list"
    else:
        users = reader.users()
        beside, what = step.release(users - reader.users_with(final.items), users), "users beside a list"
    paid = Receipt((*final.paid.events, *step.events))
    return replace(final, beside=beside, paid=paid, theorem=f"{final.theorem}; {step.proof}: {what}")


def _with_others_in_groups(release: GroupedRelease, strategy: Strategy, reader: SourceReader) -> GroupedRelease:
    """The release with what is beside the list of each group that is shown; the lists are final by now."""
    if strategy.others is None:
        return release
    from podium.curator.group_lists import others_of_groups  # noqa: PLC0415 - most questions have one list

    final = keep_at_least(release, strategy.facts.at_least)
    return others_of_groups(reader, strategy, final)


def _measure(release: Release, measure: MeasureCounts | MeasureTogether, reader: SourceReader) -> Release:
    # The release keeps the noise distribution: a free replay has no events to tell it.
    parameters = {**release.parameters, **measure.count_parameters(len(release.items))}
    counted = replace(release, parameters=parameters, values=(), value_kind="counts")
    if not release.items:
        return counted
    measured = measure.release(reader.counts(release), release.items)
    return replace(counted, paid=Receipt((*release.paid.events, *measured.paid.events)), values=measured.values)
