"""A data set with its budget: every question reserved before it is read, settled with its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, overload

from podium.curator.answer import answer, bare
from podium.curator.comparisons import RankOptions, ask_ranking
from podium.curator.held_source import HeldSource
from podium.curator.location import join_ledger, location_of
from podium.curator.prepare import Asked, Options, Preview, ask, checked, column_name, question_about
from podium.curator.pricing import allowance, priced
from podium.curator.reuse import answered_by, question_key, question_text, told_again
from podium.curator.settle import settled
from podium.curator.timing import on_schedule, period_of
from podium.errors import (
    InvalidArgument,
    PodiumError,
    QuestionForfeited,
    ReservationClosed,
    interruption_note,
    settlement_note,
)
from podium.exact import Number
from podium.ledger import Budget, Ledger, Reason, Reservation, Status, StoredRelease, open_ledger
from podium.query import Question, parse_sql
from podium.query.schema import Schema
from podium.release import Release
from podium.sources import CountQuery, Source, open_source

__all__ = ["Curator"]


class Curator:
    """A table, its user column, and the budget that everything released about it must share.

    The first curator of a data set registers it with ``budget``; later ones need only its name, and the same source:
    a budget protects the users of one table, named by one column. ``force`` lets the owner use another table, such as
    a copy. ``ledger`` is
    a path, a URL or an open ledger. Threads and processes may share a ledger, and a curator serves many threads.
    With ``answer_every`` seconds, what becomes of a question that reads rows is settled and told a whole number of
    these periods after the reading began, so that the time of an answer tells less about rows.
    """

    _schedule: str | None = None
    _exclusive = False

    def __init__(
        self,
        source: object,
        *,
        dataset: str,
        user: str,
        ledger: str | Path | Ledger,
        budget: Budget | None = None,
        table: str | None = None,
        types: Mapping[str, str] | None = None,
        bad_lines: str = "refuse",
        encoding: str = "utf-8",
        analyst: str | None = None,
        force: bool = False,
        answer_every: Number | None = None,
    ) -> None:
        self._period = period_of(answer_every)
        with ExitStack() as opened:
            self._held = HeldSource(
                source,
                lambda: open_source(source, table=table, types=types, bad_lines=bad_lines, encoding=encoding),
            )
            opened.callback(self._held.close)
            # The user column as an item too: what is checked is that it exists and can be compared.
            self._source.check(CountQuery((column_name(user, "user"),), user))
            self._ledger = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
            if self._ledger is not ledger:
                opened.callback(self._ledger.close)
            self._dataset = dataset
            self._user = user
            self._analyst = analyst
            location = location_of(source, self._source.name, table)
            join_ledger(
                self._ledger, dataset, self._source, location, user=user, budget=budget, force=force,
                schedule=self._schedule if self._exclusive else None,
            )  # fmt: skip
            self._held.at(self.status.data_version)
            self._opened = opened.pop_all()

    @property
    def _source(self) -> Source:
        return self._held.source

    @property
    def schema(self) -> Schema:
        """The columns that questions may name, and their kinds."""
        return self._source.schema()

    @property
    def dataset(self) -> str:
        """The name under which the budget is kept."""
        return self._dataset

    @property
    def status(self) -> Status:
        """Totals, what is charged, what is left."""
        return self._ledger.status(self._dataset)

    @overload
    def top(
        self,
        item: str | Iterable[str],
        *,
        k: int = ...,
        where: str | Iterable[str] | None = ...,
        epsilon: Number | None = ...,
        counts: bool = ...,
        max_items_per_user: int | None = ...,
        domain: object = ...,
        domain_size: int | None = ...,
        k_bar: int | None = ...,
        mechanism: str = ...,
        analyst: str | None = ...,
        idempotency_key: str | None = ...,
        dry_run: Literal[False] = ...,
    ) -> Release: ...
    @overload
    def top(
        self,
        item: str | Iterable[str],
        *,
        k: int = ...,
        where: str | Iterable[str] | None = ...,
        epsilon: Number | None = ...,
        counts: bool = ...,
        max_items_per_user: int | None = ...,
        domain: object = ...,
        domain_size: int | None = ...,
        k_bar: int | None = ...,
        mechanism: str = ...,
        analyst: str | None = ...,
        idempotency_key: str | None = ...,
        dry_run: Literal[True],
    ) -> Preview: ...
    @overload
    def top(
        self,
        item: str | Iterable[str],
        *,
        k: int = ...,
        where: str | Iterable[str] | None = ...,
        epsilon: Number | None = ...,
        counts: bool = ...,
        max_items_per_user: int | None = ...,
        domain: object = ...,
        domain_size: int | None = ...,
        k_bar: int | None = ...,
        mechanism: str = ...,
        analyst: str | None = ...,
        idempotency_key: str | None = ...,
        dry_run: bool,
    ) -> Release | Preview: ...
    def top(
        self,
        item: str | Iterable[str],
        *,
        k: int = 10,
        where: str | Iterable[str] | None = None,
        epsilon: Number | None = None,
        counts: bool = False,
        max_items_per_user: int | None = None,
        domain: object = None,
        domain_size: int | None = None,
        k_bar: int | None = None,
        mechanism: str = "auto",
        analyst: str | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Release | Preview:
        """The k items with the most distinct users, paid from the data set's budget.

        The epsilon per item follows from the owner's plan unless ``epsilon`` gives this release a total of its own. A
        question that was answered before, on the same version of the data, is answered again free of charge.
        ``dry_run`` returns the plan and the SQL, which names the data set, instead, and touches nothing.
        """
        question = question_about(self._current(), item, k, where)
        options = Options(
            counts=counts,
            max_items_per_user=max_items_per_user,
            domain=domain,
            domain_size=domain_size,
            k_bar=k_bar,
            mechanism=mechanism,
        )
        asked = self._ask(question, options, epsilon)
        return asked.preview(self._source, self._dataset) if dry_run else self._run(asked, analyst, idempotency_key)

    @overload
    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = ...,
        max_items_per_user: int | None = ...,
        analyst: str | None = ...,
        idempotency_key: str | None = ...,
        dry_run: Literal[False] = ...,
    ) -> Release: ...
    @overload
    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = ...,
        max_items_per_user: int | None = ...,
        analyst: str | None = ...,
        idempotency_key: str | None = ...,
        dry_run: bool,
    ) -> Release | Preview: ...
    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        max_items_per_user: int | None = None,
        analyst: str | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Release | Preview:
        """The same, for a question written as SQL: SELECT item, COUNT(DISTINCT user) ... LIMIT k."""
        question = parse_sql(text, schema=self._current().schema(), table=self._dataset, user=self._user)
        options = Options(max_items_per_user=max_items_per_user)
        asked = self._ask(question, options, epsilon)
        return asked.preview(self._source, self._dataset) if dry_run else self._run(asked, analyst, idempotency_key)

    def rank(
        self,
        *,
        winner: str,
        loser: str,
        comparisons_per_pair: int,
        items: object = None,
        pairs: object = None,
        k: int = 10,
        epsilon: Number | None = None,
        max_comparisons_per_user: int | None = None,
        where: str | Iterable[str] | None = None,
        method: str = "auto",
        mixing: Number | None = None,
        normalisation: int | None = None,
        mechanism: str = "auto",
        analyst: str | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Release | Preview:
        """The k best items of a table of comparisons, paid from the data set's budget; arguments as ``podium.rank``."""
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
        source, totals = self._current(), self.status.totals
        asked = priced(totals, epsilon, k, lambda given: ask_ranking(
            source, self._user, options, lambda facts: allowance(totals, facts, given)))  # fmt: skip
        return asked.preview(self._source, self._dataset) if dry_run else self._run(asked, analyst, idempotency_key)

    def _current(self) -> Source:
        return self._held.renew(lambda: self.status.data_version)

    def _ask(self, question: Question, options: Options, epsilon: Number | None) -> Asked:
        totals = self.status.totals
        return priced(totals, epsilon, question.k, lambda given: ask(
            self._source, question, self._user, options, lambda facts: allowance(totals, facts, given)))  # fmt: skip

    def _run(self, asked: Asked, analyst: str | None, idempotency_key: str | None) -> Release:
        k = asked.question.k
        who = self._analyst if analyst is None else analyst
        key = question_key(asked)
        stored = self._ledger.find_release(self._dataset, key, analyst=who, answers=answered_by(asked))
        if stored is not None:
            return told_again(stored, k, self._user)
        claimed = self._ledger.reserve_once(
            self._dataset,
            asked.plan.worst_case,
            question_text(asked),
            analyst=who,
            question_key=key,
            idempotency_key=idempotency_key,
            answers=answered_by(asked),
        )
        if isinstance(claimed, StoredRelease):
            return told_again(claimed, k, self._user)
        return self._paid(asked, claimed) if claimed.fresh else self._repeated(claimed, k, idempotency_key)

    def answer_planned(self, asked: Asked, *, text: str, key: str, after: str | None = None) -> Release:
        """Reserve, answer and settle a question planned elsewhere, which ``key`` names for good: it is paid once."""
        checked(self._current(), asked)
        reservation = self._ledger.reserve(
            self._dataset,
            asked.plan.worst_case,
            text,
            analyst=self._analyst,
            question_key=key,
            idempotency_key=key,
            after=after,
            schedule=self._schedule,
        )
        return (
            self._paid(asked, reservation) if reservation.fresh else self._repeated(reservation, asked.question.k, key)
        )

    def _paid(self, asked: Asked, reservation: Reservation) -> Release:
        """Answer and settle. Whatever goes wrong, rows may have been read: the reservation stays charged.

        What was settled all the same is told, or said to be stored.
        """
        failure: BaseException
        try:
            # Settled on the schedule too: entries tell when they were written, and others may watch the ledger.
            # The answer has no name here: a frame of a traceback would show it, unsettled.
            return settled(self._ledger, reservation, on_schedule(self._period, lambda: answer(self._source, asked)))
        except Exception:  # noqa: BLE001 - which error it was may depend on rows
            failure = QuestionForfeited(reservation.dataset, reservation.cost.rho, reservation.cost.delta)
        except BaseException as interruption:  # noqa: BLE001 - raised again below
            failure = interruption
        stored = self._given_up(reservation)
        if not isinstance(failure, Exception):
            lost = interruption_note(reservation.dataset, reservation.cost.rho, reservation.cost.delta)
            failure.add_note(lost if stored is None else settlement_note(reservation.dataset))
        elif stored is not None:
            return told_again(replace(stored, charged=True), asked.question.k, self._user)
        raise bare(failure)

    def _given_up(self, reservation: Reservation) -> StoredRelease | None:
        """Forfeit; or the release, if it was settled and only the reply was lost."""
        with suppress(PodiumError):
            try:
                self._ledger.forfeit(reservation, Reason.FAILED)
            except ReservationClosed:
                return self._ledger.release_of(reservation)
        return None

    def _repeated(self, reservation: Reservation, k: int, idempotency_key: str | None) -> Release:
        """The same idempotency key again: the first attempt's answer, or what became of it."""
        stored = self._ledger.release_of(reservation)
        if stored is not None:
            return told_again(stored, k, self._user)
        raise InvalidArgument(
            "idempotency_key",
            idempotency_key,
            allowed="a new key for each question",
            hint=f"The first attempt with this key is {reservation.state.value}; ask again with another key.",
        )

    def close(self) -> None:
        """Let go of the engine and the ledger, where this curator opened them."""
        self._opened.close()

    def __enter__(self) -> Curator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
