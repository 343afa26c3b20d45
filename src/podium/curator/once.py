"""One question, one answer, no ledger: for a table that is asked about once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, overload

from podium.curator.answer import answer
from podium.curator.comparisons import RankOptions, ask_ranking
from podium.curator.prepare import Asked, Calibrate, Options, Preview, ask, question_about
from podium.exact import Number
from podium.planning.planner import allowance_for
from podium.query import parse_sql
from podium.release import Release
from podium.sources import Source, open_source

__all__ = ["rank", "sql", "top"]

_Asking: TypeAlias = Callable[[Source, Calibrate], Asked]


@overload
def top(
    source: object,
    *,
    item: str | Iterable[str],
    user: str,
    k: int = ...,
    epsilon: Number,
    delta: Number = ...,
    where: str | Iterable[str] | None = ...,
    counts: bool = ...,
    max_items_per_user: int | None = ...,
    domain: object = ...,
    domain_size: int | None = ...,
    k_bar: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: Literal[False] = ...,
) -> Release: ...
@overload
def top(
    source: object,
    *,
    item: str | Iterable[str],
    user: str,
    k: int = ...,
    epsilon: Number,
    delta: Number = ...,
    where: str | Iterable[str] | None = ...,
    counts: bool = ...,
    max_items_per_user: int | None = ...,
    domain: object = ...,
    domain_size: int | None = ...,
    k_bar: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: bool,
) -> Release | Preview: ...
def top(
    source: object,
    *,
    item: str | Iterable[str],
    user: str,
    k: int = 10,
    epsilon: Number,
    delta: Number = 0,
    where: str | Iterable[str] | None = None,
    counts: bool = False,
    max_items_per_user: int | None = None,
    domain: object = None,
    domain_size: int | None = None,
    k_bar: int | None = None,
    mechanism: str = "auto",
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    bad_lines: str = "refuse",
    encoding: str = "utf-8",
    dry_run: bool = False,
) -> Release | Preview:
    """The k items with the most distinct users, private for every user: one shot, no ledger.

    ``epsilon`` and ``delta`` are the total of this release. ``source`` is a file, a glob, a URL with ``table``, or a
    frame; ``types``, ``bad_lines`` and ``encoding`` say how CSV and JSON files are read. Without ``domain`` or
    ``domain_size`` the items are found in the data, which needs a delta above 0.
    ``counts`` measures the count of each returned item with half of the budget. ``mechanism="set"`` says that their
    order does not matter, which can be answered better from a known domain. ``dry_run`` returns the plan and the SQL
    instead, and reads nothing. Of several conditions in ``where`` all must hold. Nothing remembers that the question
    was asked: use ``Curator`` where a table is asked about more than once.
    """
    options = Options(
        counts=counts,
        max_items_per_user=max_items_per_user,
        domain=domain,
        domain_size=domain_size,
        k_bar=k_bar,
        mechanism=mechanism,
    )
    once = _Once(source, epsilon, delta, table=table, types=types, bad_lines=bad_lines, encoding=encoding)
    return once.ask(
        lambda opened, calibrate: ask(opened, question_about(opened, item, k, where), user, options, calibrate),
        dry_run=dry_run,
    )


@overload
def sql(
    source: object,
    text: str,
    *,
    name: str,
    user: str,
    epsilon: Number,
    delta: Number = ...,
    max_items_per_user: int | None = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: Literal[False] = ...,
) -> Release: ...
@overload
def sql(
    source: object,
    text: str,
    *,
    name: str,
    user: str,
    epsilon: Number,
    delta: Number = ...,
    max_items_per_user: int | None = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: bool,
) -> Release | Preview: ...
def sql(
    source: object,
    text: str,
    *,
    name: str,
    user: str,
    epsilon: Number,
    delta: Number = 0,
    max_items_per_user: int | None = None,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    bad_lines: str = "refuse",
    encoding: str = "utf-8",
    dry_run: bool = False,
) -> Release | Preview:
    """The same, for a question written as SQL; ``name`` is what its FROM calls the table."""
    once = _Once(source, epsilon, delta, table=table, types=types, bad_lines=bad_lines, encoding=encoding)

    def asking(opened: Source, calibrate: Calibrate) -> Asked:
        question = parse_sql(text, schema=opened.schema(), table=name, user=user)
        return ask(opened, question, user, Options(max_items_per_user=max_items_per_user), calibrate)

    return once.ask(asking, dry_run=dry_run)


@overload
def rank(
    source: object,
    *,
    winner: str,
    loser: str,
    user: str,
    comparisons_per_pair: int,
    items: object = ...,
    pairs: object = ...,
    k: int = ...,
    epsilon: Number,
    delta: Number = ...,
    max_comparisons_per_user: int | None = ...,
    where: str | Iterable[str] | None = ...,
    method: str = ...,
    mixing: Number | None = ...,
    normalisation: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: Literal[False] = ...,
) -> Release: ...
@overload
def rank(
    source: object,
    *,
    winner: str,
    loser: str,
    user: str,
    comparisons_per_pair: int,
    items: object = ...,
    pairs: object = ...,
    k: int = ...,
    epsilon: Number,
    delta: Number = ...,
    max_comparisons_per_user: int | None = ...,
    where: str | Iterable[str] | None = ...,
    method: str = ...,
    mixing: Number | None = ...,
    normalisation: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
    bad_lines: str = ...,
    encoding: str = ...,
    dry_run: bool,
) -> Release | Preview: ...
def rank(
    source: object,
    *,
    winner: str,
    loser: str,
    user: str,
    comparisons_per_pair: int,
    items: object = None,
    pairs: object = None,
    k: int = 10,
    epsilon: Number,
    delta: Number = 0,
    max_comparisons_per_user: int | None = None,
    where: str | Iterable[str] | None = None,
    method: str = "auto",
    mixing: Number | None = None,
    normalisation: int | None = None,
    mechanism: str = "auto",
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    bad_lines: str = "refuse",
    encoding: str = "utf-8",
    dry_run: bool = False,
) -> Release | Preview:
    """The k best items of a table of comparisons (user, winner, loser), private for every user: one shot, no ledger.

    What can be compared is public: ``items``, of which all pairs count, or ``pairs``; a list, or a file with a column
    ``item``, or with two called like those of winners and losers. Other comparisons are dropped. A user's comparison of
    a pair counts once, and of each user at most ``max_comparisons_per_user`` count.

    ``comparisons_per_pair`` says how many users are expected to prefer one item of a pair to the other: more of them
    change nothing, and the noise shrinks as it grows. ``method`` is spectral (Bradley-Terry-Luce scores), borda
    (average shares of wins) or wins; auto takes what finds most on comparisons made up for these public facts.
    ``mixing`` and ``normalisation`` belong to spectral. ``mechanism`` is exponential, noisy or set (no order).
    """
    options = RankOptions(
        winner=winner,
        loser=loser,
        k=k,
        comparisons_per_pair=comparisons_per_pair,
        items=items,
        pairs=pairs,
        max_comparisons_per_user=max_comparisons_per_user,
        where=where,
        method=method,
        mixing=mixing,
        normalisation=normalisation,
        mechanism=mechanism,
    )
    once = _Once(source, epsilon, delta, table=table, types=types, bad_lines=bad_lines, encoding=encoding)
    return once.ask(lambda opened, calibrate: ask_ranking(opened, user, options, calibrate), dry_run=dry_run)


class _Once:
    """A source that is opened for one question, and the promise that its answer makes."""

    def __init__(
        self,
        source: object,
        epsilon: Number,
        delta: Number,
        *,
        table: str | None,
        types: Mapping[str, str] | None,
        bad_lines: str,
        encoding: str,
    ) -> None:
        self._source = source
        self._open: Callable[[], Source] = lambda: open_source(
            source, table=table, types=types, bad_lines=bad_lines, encoding=encoding
        )
        self._epsilon, self._delta = epsilon, delta

    def ask(self, asking: _Asking, *, dry_run: bool) -> Release | Preview:
        """Plan, then answer or show the plan."""
        opened = self._open()
        try:
            asked = asking(opened, lambda facts: allowance_for(facts, epsilon=self._epsilon, delta=self._delta))
            return asked.preview(opened) if dry_run else answer(opened, asked)
        finally:
            if opened is not self._source:
                opened.close()
