"""Rankings: from a table of comparisons (user, winner, loser) to scores. Public inputs are checked first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.curator.prepare import column_name
from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.histogram import Histogram, Item, Scores
from podium.mechanisms.base import Mechanism
from podium.planning.ranking import RankingFacts
from podium.query import CheckedQuestion, RankingQuestion, parse_conditions
from podium.query.schema import Column, Kind, Schema
from podium.ranking import ComparisonGraph, MeasureScores, RankingMethod
from podium.release import Receipt, Release
from podium.sources import DomainFile, DomainItems, Source
from podium.sources.domains import item_rows, listed_rows
from podium.user_columns import UserColumns, each_user_column

__all__ = ["check_ranking", "rank_items"]

_ITEM = "item"
"""The column name in a file that lists the items."""


def check_ranking(
    source: Source, question: RankingQuestion, user: UserColumns, now: dt.datetime
) -> tuple[CheckedQuestion, RankingFacts, DomainItems]:
    """Check a ranking against the schema and return its public facts; raises before anything is paid."""
    columns = _columns(source.schema(), user, question)
    graph = _graph(question, columns)
    where = parse_conditions(question.where, schema=source.schema(), now=now)
    facts = RankingFacts(
        graph=graph,
        k=positive_integer(question.k, "k"),
        comparisons_per_pair=question.comparisons_per_pair,
        max_comparisons_per_user=question.max_comparisons_per_user,
        method=question.method,
        mixing=question.mixing,
        normalisation=question.normalisation,
        mechanism=question.mechanism,
        ordered=question.ordered,
        scores=question.scores,
    )
    checked = CheckedQuestion((question.winner, question.loser), facts.k, where)
    return checked, facts, DomainItems(graph.comparisons)


def rank_items(
    counted: Histogram, mechanism: Mechanism, method: RankingMethod, measure: MeasureScores | None = None
) -> Release:
    """Score by who preferred which of each public pair, as counted in the engine, select, and measure if asked."""
    top = counted.top(len(method.graph.comparisons))
    wins: Mapping[Any, int] = dict(zip(top.items, top.counts.tolist(), strict=True))
    scores = method.scores(wins)
    release = mechanism.release(scores)
    theorem = f"{release.theorem}; {method.theorem}"
    ranked = replace(release, parameters={**release.parameters, **method.describe()}, theorem=theorem)
    return ranked if measure is None else _with_scores(ranked, scores, measure)


def _with_scores(release: Release, scores: Scores, measure: MeasureScores) -> Release:
    """The release with fresh noisy scores of its items, which are final by now."""
    items = release.items
    return replace(
        release,
        values=measure.release(scores, items),
        value_kind="scores",
        parameters={**release.parameters, **measure.count_parameters(len(items))},
        paid=Receipt((*release.paid.events, *measure.worst_case(len(items)))),
        theorem=f"{release.theorem}; {measure.proof}: {measure.noise.capitalize()} noise on the scores",
    )


def _columns(schema: Schema, user: UserColumns, options: RankingQuestion) -> tuple[Column, Column]:
    """The columns of winners and losers: two, of one kind, with single values."""
    names = {"winner": column_name(options.winner, "winner"), "loser": column_name(options.loser, "loser")}
    users = each_user_column(user)
    if len({*names.values(), *users}) < 2 + len(users):
        raise InvalidArgument("loser", options.loser, allowed="winner, loser and user as three different columns")
    winner, loser = (schema.column(name, role=role) for role, name in names.items())
    for role, column in (("winner", winner), ("loser", loser)):
        if column.kind is Kind.LIST:
            raise InvalidArgument(role, column.name, allowed="a column of single values")
    if (winner.kind, winner.scale) != (loser.kind, loser.scale):
        raise InvalidArgument(
            "loser",
            loser.name,
            allowed=f"a column of kind {winner.kind.value}, as {winner.name!r} is",
            hint=f"Column {loser.name!r} is of kind {loser.kind.value}.",
        )
    return winner, loser


def _graph(options: RankingQuestion, columns: tuple[Column, Column]) -> ComparisonGraph:
    if (options.items is None) == (options.pairs is None):
        raise InvalidArgument(
            "items",
            None if options.items is None else "a list, and pairs too",
            allowed="either items, of which all pairs count, or pairs",
            hint="What can be compared must be public, and is never read from the data.",
        )
    if options.items is not None:
        return ComparisonGraph.complete(row[0] for row in _rows(options.items, "items", columns[:1], (_ITEM,)))
    return ComparisonGraph.of_pairs((row[0], row[1]) for row in _rows(options.pairs, "pairs", columns, None))


def _rows(
    listed: object, role: str, columns: tuple[Column, ...], named: tuple[str, ...] | None
) -> list[tuple[Item, ...]]:
    """Read a list, or a file with a column ``item`` or with two columns named like winner and loser."""
    if isinstance(listed, (str, Path)):
        return listed_rows(DomainFile(listed, named), columns)
    if isinstance(listed, (bytes, Mapping)) or not isinstance(listed, Iterable) or hasattr(listed, "columns"):
        raise InvalidArgument(role, type(listed).__name__, allowed=f"a list of {role}, or the path of a file with one")
    return item_rows((tuple(item) if isinstance(item, list) else item for item in listed), columns, role)
