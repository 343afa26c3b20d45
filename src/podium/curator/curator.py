"""A data set with its budget: every question reserved before it is read, settled with its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, overload

from podium.curator.answering import answer, bare
from podium.curator.asking import Asked, Options, Preview, ask, checked, column_name, question_about
from podium.curator.comparing import RankOptions, ask_ranking
from podium.curator.repeating import answered_by, question_key, question_text, told_again
from podium.curator.schedule import on_schedule, period_of
from podium.curator.settling import settled
from podium.errors import (
    InvalidArgument,
    PodiumError,
    QuestionForfeited,
    ReservationClosed,
    interruption_note,
    settled_note,
)
from podium.exact import Number
from podium.ledger import Budget, Ledger, Reason, Reservation, Status, StoredRelease, open_ledger
from podium.ledger.status import require_user
from podium.planning.facts import Facts
from podium.planning.plan import Allowance, GaussianAllowance, allowance_for
from podium.privacy import bounded_range_rho, calibrate_sigma
from podium.query import Question, parse_sql
from podium.release import Release
from podium.sources import Reading, Source, open_source

__all__ = ["Curator"]


class Curator:
    """A table, its user column, and the budget that everything released about it must share.

    The first curator of a data set registers it with ``budget``; later ones need only its name, and the same source:
    a budget protects the users of one table, named by one column. ``insist`` lets the owner use another table, such as
    a copy. ``ledger`` is
    a path, a URL or an open ledger. Threads and processes may share a ledger, and a curator serves many threads.
    With ``answer_every`` seconds, what becomes of a question that reads rows is settled and told a whole number of
    these periods after the reading began, so that the time of an answer tells less about rows.
    """

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
        analyst: str | None = None,
        insist: bool = False,
        answer_every: Number | None = None,
    ) -> None:
        self._period = period_of(answer_every)
        with ExitStack() as opened:
            self._source: Source = open_source(source, table=table, types=types)
            if self._source is not source:
                opened.callback(self._source.close)
            # The user column as an item too: what is checked is that it exists and can be compared.
            self._source.check(Reading((column_name(user, "user"),), user))
            self._ledger = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
            if self._ledger is not ledger:
                opened.callback(self._ledger.close)
            self._dataset = dataset
            self._user = user
            self._analyst = analyst
            self._join(budget, _location(source, self._source.name, table), insist=insist)
            self._opened = opened.pop_all()

    def _join(self, budget: Budget | None, location: str, *, insist: bool) -> None:
        """Register the data set, or make sure that it is the one that was registered."""
        if budget is not None:
            self._ledger.register(self._dataset, budget, source=location, user=self._user, insist=insist)
            return
        status = self._ledger.status(self._dataset)
        require_user(self._dataset, status.user, self._user)
        known = status.source
        if not insist and location not in (known, _location(known, known, None)):
            raise InvalidArgument(
                "source",
                location,
                allowed=f"{known!r}, for whose users dataset={self._dataset!r} was registered",
                hint="Register another data set for another table, or say insist=True if this is a copy of that one.",
            )

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
        ``dry_run`` returns the plan and the SQL instead, and touches nothing.
        """
        question = question_about(self._source, item, k, where)
        options = Options(
            counts=counts,
            max_items_per_user=max_items_per_user,
            domain=domain,
            domain_size=domain_size,
            k_bar=k_bar,
            mechanism=mechanism,
        )
        asked = self._ask(question, options, epsilon)
        return asked.preview(self._source) if dry_run else self._run(asked, analyst, idempotency_key)

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
        question = parse_sql(text, schema=self._source.schema(), table=self._dataset, user=self._user)
        options = Options(max_items_per_user=max_items_per_user)
        asked = self._ask(question, options, epsilon)
        return asked.preview(self._source) if dry_run else self._run(asked, analyst, idempotency_key)

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
        asked = ask_ranking(self._source, self._user, options, lambda facts: self._allowance(facts, epsilon))
        return asked.preview(self._source) if dry_run else self._run(asked, analyst, idempotency_key)

    def _ask(self, question: Question, options: Options, epsilon: Number | None) -> Asked:
        return ask(self._source, question, self._user, options, lambda facts: self._allowance(facts, epsilon))

    def _run(self, asked: Asked, analyst: str | None, idempotency_key: str | None) -> Release:
        k = asked.question.k
        who = self._analyst if analyst is None else analyst
        key = question_key(asked)
        stored = self._ledger.find_release(self._dataset, key, analyst=who, suits=answered_by(asked))
        if stored is not None:
            return told_again(stored, k, self._user)
        claimed = self._ledger.reserve_once(
            self._dataset,
            asked.plan.worst_case,
            question_text(asked),
            analyst=who,
            question_key=key,
            idempotency_key=idempotency_key,
            suits=answered_by(asked),
        )
        if isinstance(claimed, StoredRelease):
            return told_again(claimed, k, self._user)
        return self._paid(asked, claimed) if claimed.fresh else self._repeated(claimed, k, idempotency_key)

    def answer_planned(self, asked: Asked, *, text: str, key: str, after: str | None = None) -> Release:
        """Reserve, answer and settle a question planned elsewhere, which ``key`` names for good: it is paid once."""
        checked(self._source, asked)
        reservation = self._ledger.reserve(
            self._dataset,
            asked.plan.worst_case,
            text,
            analyst=self._analyst,
            question_key=key,
            idempotency_key=key,
            after=after,
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
            failure.add_note(lost if stored is None else settled_note(reservation.dataset))
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

    def _allowance(self, facts: Facts, epsilon: Number | None) -> Allowance | GaussianAllowance:
        totals = self._ledger.status(self._dataset).totals
        pure = totals.budget.pure
        if pure and facts.domain_size is None:
            raise InvalidArgument(
                "domain",
                None,
                allowed="a known domain, because the budget of this data set is pure (delta=0)",
                hint="State the items (domain=... or domain_size=...), or register a budget with a delta.",
            )
        if epsilon is not None:
            # Half of it is for the call, whose own parameter is then the planned one.
            delta = 2 * totals.delta_per_call / (1 + totals.delta_per_call)
            return replace(allowance_for(facts, epsilon=epsilon, delta=delta), promise=None, theorem=None)
        single = totals.epsilon_per_item
        if facts.adaptive:
            # What k selections would cost, and as much again for counts, as without rounds.
            rho = facts.k * bounded_range_rho(single) * (2 if facts.counts else 1)
            delta = totals.delta_per_call / (1 + totals.delta_per_call)
            return GaussianAllowance(mu_squared=2 * rho, delta=delta, per_item=single)
        if not facts.counts:
            return Allowance(epsilon_per_item=single, delta_per_call=totals.delta_per_call, pure=pure)
        if pure:
            return Allowance(epsilon_per_item=single, epsilon_per_count=single, pure=True)
        sigma = calibrate_sigma(bounded_range_rho(single))
        return Allowance(epsilon_per_item=single, delta_per_call=totals.delta_per_call, sigma=sigma)

    def close(self) -> None:
        """Let go of the engine and the ledger, where this curator opened them."""
        self._opened.close()

    def __enter__(self) -> Curator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _location(source: object, name: str, table: str | None) -> str:
    """Where the data is, the same however its path is written: a path in full, and which of several tables."""
    path = isinstance(source, (str, Path)) and "://" not in str(source)
    where = str(Path(name).resolve()) if path or Path(name).exists() else name
    return where if table is None or where.endswith(f"#{table}") else f"{where}#{table}"
