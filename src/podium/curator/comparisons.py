"""Asking for a ranking: from a table of comparisons (user, winner, loser) to scores. Public inputs come first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from podium.curator.prepare import Asked, Calibrate, checked, column_name
from podium.errors import InvalidArgument
from podium.exact import Number
from podium.histogram import Item
from podium.mechanisms.base import Mechanism
from podium.planning.planner import Allowance
from podium.planning.ranking import RankingFacts, plan_ranking
from podium.query import Question, parse_conditions
from podium.query.schema import Column, Kind
from podium.ranking import ComparisonGraph, RankingMethod
from podium.release import Release
from podium.sources import CountQuery, DomainFile, DomainItems, Source
from podium.sources.domains import item_rows, listed_rows

__all__ = ["RankOptions", "ask_ranking", "ranked"]

_ITEM = "item"
"""What the column of a file that lists the items is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """A ranking as a caller asks for it."""

    winner: str
    loser: str
    k: int
    comparisons_per_pair: int
    items: object = None
    pairs: object = None
    max_comparisons_per_user: int | None = None
    where: str | Iterable[str] | None = None
    method: str = "auto"
    mixing: Number | None = None
    normalisation: int | None = None
    mechanism: str = "auto"


def ask_ranking(source: Source, user: str, options: RankOptions, calibrate: Calibrate) -> Asked:
    """Plan a ranking; raises before anything is paid, and without a look at any row."""
    columns = _columns(source, user, options)
    graph = _graph(options, columns)
    schema = source.schema()
    question = Question(
        (options.winner, options.loser),
        options.k,
        parse_conditions(options.where, schema=schema),
    )
    domain = DomainItems(graph.comparisons)
    probe = CountQuery(question.items, user, question.where)
    source.check(probe, domain=domain)
    facts = RankingFacts(
        graph=graph,
        k=question.k,
        comparisons_per_pair=options.comparisons_per_pair,
        max_comparisons_per_user=options.max_comparisons_per_user,
        method=options.method,
        mixing=options.mixing,
        normalisation=options.normalisation,
        mechanism=options.mechanism,
    )
    # The items are known, and known items are never looked for in rounds.
    plan, method = plan_ranking(facts, cast(Allowance, calibrate(facts.question)))
    return checked(source, Asked(question, plan, domain, user, method), probe)


def ranked(source: Source, asked: Asked, method: RankingMethod) -> Release:
    """Count in the engine who preferred which of each public pair, score, select."""
    most = len(method.graph.comparisons)
    with source.snapshot(asked.reading(), domain=asked.domain) as snapshot:
        top = snapshot.top_rows(most).top(most)
    wins: Mapping[Any, int] = dict(zip(top.items, top.counts.tolist(), strict=True))
    release = cast(Mechanism, asked.plan.mechanism).release(method.scores(wins))
    stated = f"{release.theorem}; {method.theorem}"
    return replace(release, parameters={**release.parameters, **method.describe()}, theorem=stated)


def _columns(source: Source, user: str, options: RankOptions) -> tuple[Column, Column]:
    """The columns of winners and losers: two, of one kind, with single values."""
    names = {"winner": column_name(options.winner, "winner"), "loser": column_name(options.loser, "loser")}
    if len({*names.values(), column_name(user, "user")}) < 3:
        raise InvalidArgument("loser", options.loser, allowed="winner, loser and user as three different columns")
    schema = source.schema()
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


def _graph(options: RankOptions, columns: tuple[Column, Column]) -> ComparisonGraph:
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
    """A list, or a file with a column called item, or with two that are called like those of winners and losers."""
    if isinstance(listed, (str, Path)):
        return listed_rows(DomainFile(listed, named), columns)
    if isinstance(listed, (bytes, Mapping)) or not isinstance(listed, Iterable) or hasattr(listed, "columns"):
        raise InvalidArgument(role, type(listed).__name__, allowed=f"a list of {role}, or the path of a file with one")
    return item_rows((tuple(item) if isinstance(item, list) else item for item in listed), columns, role)
