"""One question, one answer, no ledger: for a table that is asked about once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, overload

from podium.curator.answering import answer
from podium.curator.asking import Options, Preview, ask, question_about
from podium.exact import Number
from podium.planning.plan import allowance_for
from podium.query import Question, parse_sql
from podium.release import Release
from podium.sources import Source, open_source

__all__ = ["sql", "top"]

_Asking: TypeAlias = Callable[[Source], Question]


@overload
def top(
    source: object,
    *,
    item: str | Iterable[str],
    user: str,
    k: int = ...,
    epsilon: Number,
    delta: Number = ...,
    where: str | None = ...,
    counts: bool = ...,
    max_items_per_user: int | None = ...,
    domain: object = ...,
    domain_size: int | None = ...,
    k_bar: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
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
    where: str | None = ...,
    counts: bool = ...,
    max_items_per_user: int | None = ...,
    domain: object = ...,
    domain_size: int | None = ...,
    k_bar: int | None = ...,
    mechanism: str = ...,
    table: str | None = ...,
    types: Mapping[str, str] | None = ...,
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
    where: str | None = None,
    counts: bool = False,
    max_items_per_user: int | None = None,
    domain: object = None,
    domain_size: int | None = None,
    k_bar: int | None = None,
    mechanism: str = "auto",
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    dry_run: bool = False,
) -> Release | Preview:
    """The k items with the most distinct users, private for every user: one shot, no ledger.

    ``epsilon`` and ``delta`` are the total of this release. ``source`` is a file, a glob, a URL with ``table``, or a
    frame. Without ``domain`` or ``domain_size`` the items are found in the data, which needs a delta above 0.
    ``counts`` measures the count of each returned item with half of the budget. ``mechanism="set"`` says that their
    order does not matter, which can be answered better from a known domain. ``dry_run`` returns the plan and the SQL
    instead, and reads nothing. Nothing remembers that the question was asked: use ``Curator`` where a table is asked
    about more than once.
    """
    options = Options(
        counts=counts,
        max_items_per_user=max_items_per_user,
        domain=domain,
        domain_size=domain_size,
        k_bar=k_bar,
        mechanism=mechanism,
    )
    once = _Once(source, user, epsilon, delta, table=table, types=types)
    return once.ask(lambda opened: question_about(opened, item, k, where), options, dry_run=dry_run)


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
    dry_run: bool = False,
) -> Release | Preview:
    """The same, for a question written as SQL; ``name`` is what its FROM calls the table."""
    once = _Once(source, user, epsilon, delta, table=table, types=types)

    def question(opened: Source) -> Question:
        return parse_sql(text, schema=opened.schema(), table=name, user=user)

    return once.ask(question, Options(max_items_per_user=max_items_per_user), dry_run=dry_run)


class _Once:
    """A source that is opened for one question, and the promise that its answer makes."""

    def __init__(
        self,
        source: object,
        user: str,
        epsilon: Number,
        delta: Number,
        *,
        table: str | None,
        types: Mapping[str, str] | None,
    ) -> None:
        self._source, self._table, self._types = source, table, types
        self._user, self._epsilon, self._delta = user, epsilon, delta

    def ask(self, asking: _Asking, options: Options, *, dry_run: bool) -> Release | Preview:
        """Plan, then answer or show the plan."""
        opened = open_source(self._source, table=self._table, types=self._types)
        try:
            asked = ask(
                opened,
                asking(opened),
                self._user,
                options,
                lambda facts: allowance_for(facts, epsilon=self._epsilon, delta=self._delta),
            )
            return asked.preview(opened) if dry_run else answer(opened, asked)
        finally:
            if opened is not self._source:
                opened.close()
