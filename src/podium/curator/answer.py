"""Answering: read the few rows that a plan needs, select, measure, name. Runs only after the worst case is reserved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from podium.curator.comparisons import ranked
from podium.curator.prepare import Asked
from podium.curator.rounds import SourceReader
from podium.errors import EntropyFailure, SourceError, SourceFailure
from podium.estimates import MeasureCounts
from podium.histogram import Histogram
from podium.mechanisms import AdaptiveTopK, GaussianSparseHistogram
from podium.mechanisms.base import describe
from podium.planning.planner import Plan
from podium.release import ItemSet, Receipt, Release
from podium.sources import Snapshot, Source

__all__ = ["answer", "bare"]

E = TypeVar("E", bound=BaseException)


def answer(source: Source, asked: Asked) -> Release:
    """The release, not yet settled; if it fails, an error that says nothing about rows.

    Whatever goes wrong between the read and the release may quote a row, so only errors with a constant text pass.
    """
    failure: BaseException
    try:
        return _answer(source, asked)
    except (SourceError, EntropyFailure) as error:
        failure = error
    except Exception:  # noqa: BLE001 - whatever it is, its text may quote rows
        failure = SourceFailure()
    except BaseException as interruption:  # noqa: BLE001 - raised again below
        failure = interruption
    raise bare(failure)


def bare(error: E) -> E:
    """The error without what it came from: causes quote rows, and frames of a traceback hold them."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _answer(source: Source, asked: Asked) -> Release:
    release = _released(source, asked)
    theorem = asked.plan.theorem
    stated = release.theorem if theorem is None else f"{release.theorem}; {theorem}: {theorem.source}"
    # What a ranking releases is neither of the two columns that were compared.
    columns = asked.question.items if asked.ranking is None else None
    return replace(release, guarantee=asked.plan.promise, theorem=stated, user=asked.user, columns=columns)


def _released(source: Source, asked: Asked) -> Release:
    if asked.ranking is not None:
        return ranked(source, asked, asked.ranking)
    if isinstance(asked.plan.mechanism, AdaptiveTopK):
        return asked.plan.mechanism.release(SourceReader(source, asked, asked.fresh_salt()))
    if isinstance(asked.plan.mechanism, GaussianSparseHistogram):
        return SourceReader(source, asked, asked.fresh_salt()).discover(asked.plan.mechanism, ())
    with source.snapshot(asked.reading(), domain=asked.domain) as snapshot:
        histogram = _histogram(snapshot, asked.plan)
        release = asked.plan.mechanism.release(histogram)
        if asked.plan.measure is not None:
            counted = histogram if asked.domain is None else _at_places(release)
            release = _measured(release, asked.plan.measure, counted)
        if asked.domain is not None:
            release = _named(release, snapshot)
    return release


def _histogram(snapshot: Snapshot, plan: Plan) -> Histogram:
    if plan.rows is not None:
        return snapshot.top_rows(plan.rows)
    counts, sizes = snapshot.counts_of_counts()
    # Winners are called by their place until all of them are named in one query.
    return Histogram.from_counts_of_counts(dict(zip(counts, sizes, strict=True)), lambda count, rank: (count, rank))


def _at_places(release: Release) -> Histogram:
    """The counts of the winners, which are still called by (count, rank)."""
    places: list[Any] = list(release.items)
    return Histogram({place: place[0] for place in places})


def _measured(release: Release, measure: MeasureCounts, histogram: Histogram) -> Release:
    # The law of the noise stays with the release, also where it is told again free of charge, without events.
    law = {f"count_{name}": value for name, value in describe(measure).items()}
    counted = replace(release, parameters={**release.parameters, **law}, values=(), value_kind="counts")
    if not release.items:
        return counted
    measured = measure.release(histogram, release.items)
    return replace(counted, paid=Receipt((*release.paid.events, *measured.paid.events)), values=measured.values)


def _named(release: Release, snapshot: Snapshot) -> Release:
    places: list[Any] = list(release.items)
    names = dict(zip(places, snapshot.names(places), strict=True))
    outcome = tuple(names.get(item, item) for item in release.outcome)
    if release.ordered:
        return replace(release, outcome=outcome)
    # Places lie in the order of true counts, names do not: values go with their names.
    named = ItemSet(outcome)
    by_name = dict(zip(map(names.get, places), release.values or (), strict=False))
    values = None if release.values is None else tuple(by_name[item] for item in named if item in by_name)
    return replace(release, outcome=named, values=values)
