"""One question, one answer, no ledger: for a table that is asked about once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack

from podium.curator.curator import Curator
from podium.curator.joined import declared_beside
from podium.curator.one_question import OneQuestion
from podium.exact import Number
from podium.planning.question_plan import Plan
from podium.query import Question, QuestionOptions, RankingOptions, RankingQuestion
from podium.query.spelled_options import QUESTION_DEFAULTS, RANKING_DEFAULTS, SQL_DEFAULTS, spell_out
from podium.release import Release
from podium.sources import SOURCE_DEFAULTS, SourceOptions
from podium.sources.declared_types import Types

__all__ = ["plan", "plan_rank", "rank", "sql", "top"]

_TABLE = "table"
"""The name of a table that has none."""


class _Reading(TypedDict, total=False):
    """How a source is read: see ``open_source``."""

    table: str | None
    types: Types | None
    bad_lines: str
    encoding: str
    header: bool


class _Options(QuestionOptions, _Reading):
    """What may be added to a question, and how its source is read."""


class _RankOptions(RankingOptions, _Reading):
    """What may be added to a ranking, and how its source is read."""


_READING = {name: value for name, value in SOURCE_DEFAULTS.items() if name in _Reading.__annotations__}
"""Whoever asks once declares what is joined by naming it."""


@spell_out(QUESTION_DEFAULTS, _READING)
def top(
    source: object,
    *,
    item: str | Iterable[str],
    user: str | Iterable[str],
    epsilon: Number,
    delta: Number = 0,
    **options: Unpack[_Options],
) -> Release:
    """The k items with the most users, events or amounts, private for every user: one shot, no ledger.

    No ledger remembers the question: use ``Curator`` if a table is asked about more than once.

    Args:
        source: A file, a glob, a URL with ``table``, a frame, a DuckDB connection, or an engine's own session.
        item: The column to rank, or several whose values together are one item.
        user: The column that identifies the user, the unit of privacy; or several whose values together do, such as
            ("tenant", "member"): each pair is then one user, and one tenant may be many.
        epsilon: The privacy loss of the whole answer.
        delta: The slack of the guarantee, such as "1e-8"; needed unless the items are known.
        options: ``k`` (10): how many items. ``by``: what ranks them, "users" (distinct users, the default), "events"
            (rows) or "sum(COLUMN)". For the latter two, ``clip`` is the most that one user adds to one item; by
            default 3 % of the budget pays for choosing it. (-a, b) is for sums of negative and positive values.
            ``unit`` is what summed values are rounded down to; columns of floating-point numbers need one. ``where``:
            a condition on rows, or several that must all hold. ``counts``: also measure the value of each returned
            item, with half of the budget. ``ordered=False``: the order does not matter, which can be answered better
            from a known domain. ``domain`` (a list, or a file) or ``domain_size`` (the numbers below it): the items
            that can come back; otherwise they are found in the data, which needs a delta above 0. ``at_least``: leave
            out items with less than that, near but not exactly, because noise decides. ``others``: also the numbers of
            users with none of the items, and of all, or what all other items have, and the total; and shares. A tenth
            of epsilon pays for them. ``per``: a column, or several: one list for each value, in ``release.lists``, each
            with a ``beside`` of its own if ``others`` are asked for. ``groups`` (a list, or a file) are the values, if
            known; each user counts in ``groups_per_user`` (1) of them, or in "all". ``join``: a ``podium.Join``,
            or several: tables about users and public tables, whose columns are then columns of the question.
            ``max_items_per_user``, ``k_bar``, ``mechanism``: for those who know more than the planner. How the source
            is read: ``table`` names the table of a database, ``types`` the types of columns of CSV and JSON files, such
            as {"user_id": "integer"}; ``bad_lines`` is "refuse" or "drop" for lines of a file that are not records;
            ``encoding`` is that of a file, and ``header=False`` says that the first line of a CSV file is a row.

    Example:
        >>> podium.top("views.parquet", item="article", user="user_id", k=10, epsilon=1, delta="1e-8")
    """
    asked: dict[str, Any] = {**options}
    with _open(source, _TABLE, user, OneQuestion(epsilon, delta), asked) as curator:
        return curator.ask(Question.of(item, **asked))


@spell_out(SQL_DEFAULTS, _READING)
def sql(
    source: object,
    text: str,
    *,
    name: str,
    user: str | Iterable[str],
    epsilon: Number,
    delta: Number = 0,
    **options: Unpack[_Options],
) -> Release:
    """The same as ``top``, for a question written as SQL; ``name`` is what its FROM calls the table."""
    asked: dict[str, Any] = {**options}
    with _open(source, name, user, OneQuestion(epsilon, delta), asked, text) as curator:
        return curator.ask(Question.of(sql=text, **asked))


@spell_out(QUESTION_DEFAULTS, _READING)
def plan(
    source: object,
    *,
    item: str | Iterable[str] = (),
    sql: str | None = None,
    name: str = _TABLE,
    user: str | Iterable[str],
    epsilon: Number,
    delta: Number = 0,
    **options: Unpack[_Options],
) -> Plan:
    """What ``top`` would do with the same arguments, or ``sql`` with its text and name, and cost. No row is read."""
    asked: dict[str, Any] = {**options}
    with _open(source, name, user, OneQuestion(epsilon, delta), asked, sql) as curator:
        return curator.plan_question(Question.of(item, sql=sql, **asked))


@spell_out(RANKING_DEFAULTS, _READING)
def rank(
    source: object,
    *,
    winner: str,
    loser: str,
    user: str | Iterable[str],
    comparisons_per_pair: int,
    epsilon: Number,
    delta: Number = 0,
    **options: Unpack[_RankOptions],
) -> Release:
    """The k best items of a table of comparisons (user, winner, loser), private for every user: one shot, no ledger.

    What can be compared is public: ``items``, of which all pairs count, or ``pairs``; a list, or a file with a column
    ``item``, or with two columns named like ``winner`` and ``loser``. Other comparisons are dropped. A user's
    comparison of a pair counts once, and at most ``max_comparisons_per_user`` of each user count.

    ``comparisons_per_pair`` is how many users you expect to prefer one item of a pair to the other. Further users have
    no effect, and the noise shrinks as it grows. ``method`` is spectral (Bradley-Terry-Luce scores), borda (average
    shares of wins) or wins; auto takes the method that finds most on synthetic comparisons with these public facts.
    ``mixing`` and ``normalisation`` belong to spectral. ``mechanism`` is exponential or noisy; ``ordered=False`` asks
    for a set. ``scores``: also measure the score of each item, with half of the budget; they come back as ``values``,
    with intervals in every table. The source and how it is read are as for ``top``.
    """
    asked: dict[str, Any] = {**options}
    with _open(source, _TABLE, user, OneQuestion(epsilon, delta), asked) as curator:
        return curator.ask(
            RankingQuestion(winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, **asked)
        )


@spell_out(RANKING_DEFAULTS, _READING)
def plan_rank(
    source: object,
    *,
    winner: str,
    loser: str,
    user: str | Iterable[str],
    comparisons_per_pair: int,
    epsilon: Number,
    delta: Number = 0,
    **options: Unpack[_RankOptions],
) -> Plan:
    """What ``rank`` would do with the same arguments, and cost. No row is read."""
    asked: dict[str, Any] = {**options}
    with _open(source, _TABLE, user, OneQuestion(epsilon, delta), asked) as curator:
        return curator.plan_question(
            RankingQuestion(winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, **asked)
        )


def _open(
    source: object,
    name: str,
    user: str | Iterable[str],
    budget: OneQuestion,
    options: dict[str, Any],
    sql: str | None = None,
) -> Curator:
    """Open a curator for one question; source options are removed from ``options``."""
    reading: SourceOptions = {}
    if options.get("join") is not None:
        reading["joins"], options["join"] = declared_beside(options["join"], sql)
    for option in SourceOptions.__annotations__:
        if option in options:
            reading[option] = options.pop(option)  # type: ignore[literal-required]
    return Curator(source, dataset=name, user=user, ledger=budget, **reading)
