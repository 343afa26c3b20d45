"""A data set with its budget: every question is reserved before rows are read, and settled with its release."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from podium.closed_at_exit import ClosedAtExit
from podium.curator.answer import answer, strip_origin
from podium.curator.asked_about import asked_about
from podium.curator.check_joined import check_joined
from podium.curator.curator_view import CuratorView
from podium.curator.one_question import OneQuestion
from podium.curator.open_tables import OpenTable, Tables
from podium.curator.prepare import (
    PlannedQuestion,
    count_facts,
    hint_at_list_only,
    kept_clip,
    readable_question,
    require_readable,
    state_domain,
)
from podium.curator.pricing import AnyFacts
from podium.curator.stated import StatedGroups, state_groups
from podium.curator.timing import period_of
from podium.errors import InvalidArgument, QuestionForfeited, interruption_note, settlement_note
from podium.exact import Number
from podium.query import CheckedQuestion, Question, QuestionOptions, RankingOptions, RankingQuestion, Schema
from podium.query.batch_question import AnyQuestion, batch_questions
from podium.query.spelled_options import QUESTION_DEFAULTS, RANKING_DEFAULTS, SQL_DEFAULTS, spell_out
from podium.release import Release
from podium.sources import SOURCE_DEFAULTS, CountQuery, Domain, Source, SourceOptions
from podium.user_columns import each_user_column

if TYPE_CHECKING:
    from podium.curator.payment import LedgerAccount
    from podium.curator.question_batch import Batch
    from podium.ledger import Budget, Ledger, Reservation, Status, StoredRelease
    from podium.planning.question_plan import Plan

__all__ = ["Curator"]


class Curator(CuratorView, ClosedAtExit):
    """A table, its user column or columns, and the budget that all releases about it share.

    The first curator of a data set registers it with ``budget``. Later ones need only its name and the same source,
    because a budget protects the users of one table, named by one column, or by several whose values together are one
    user. ``force`` lets the owner use another table, such as a copy. ``ledger`` is a path, a URL or an open ledger.
    Threads and processes may share a ledger, and many threads a curator. ``options`` are those of ``open_source``.

    Several tables of the same users share a budget if ``source`` maps their names to them: {"orders": "orders.parquet",
    "visits": "visits.parquet"}, with ``podium.Table`` where a table has a user column or options of its own. Questions
    then name one, and a curator of one of the tables needs only its source.

    Answers are delayed to a multiple of ``answer_every`` seconds, which limits what their timing reveals.
    """

    _schedule: str | None = None
    _exclusive = False

    @spell_out(SOURCE_DEFAULTS)
    def __init__(
        self,
        source: object,
        *,
        dataset: str,
        user: str | Iterable[str] | Mapping[str, str | Iterable[str]],
        ledger: str | Path | Ledger | OneQuestion,
        budget: Budget | None = None,
        analyst: str | None = None,
        force: bool = False,
        answer_every: Number | None = None,
        **options: Unpack[SourceOptions],
    ) -> None:
        self._period = period_of(answer_every)
        self._dataset = dataset
        with ExitStack() as opened:
            self._tables = Tables(source, user, options, opened)
            if isinstance(ledger, OneQuestion):
                self._account: LedgerAccount | OneQuestion = ledger
                self._opened = opened.pop_all()
                return
            # A single question waits for no ledger.
            from podium.curator.location import join_ledger  # noqa: PLC0415
            from podium.curator.payment import LedgerAccount  # noqa: PLC0415
            from podium.ledger import Ledger, open_ledger  # noqa: PLC0415

            for table in self._tables.all:
                # Checks that the user columns exist and can be compared.
                table.source.check(CountQuery(each_user_column(table.user)[:1], table.user))
            kept = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
            if kept is not ledger:
                opened.callback(kept.close)
            self._account = LedgerAccount(kept, dataset, analyst, self._schedule)
            schedule = self._schedule if self._exclusive else None
            join_ledger(kept, dataset, self._tables, budget=budget, force=force, schedule=schedule)
            status = self.status
            for table in self._tables.all:
                table.adopt_joins(status.joins.get(table.name or "", ()), dataset)
                table.held.at(status.version_of(table.name))
            self._opened = opened.pop_all()

    @property
    def schema(self) -> Schema:
        """The columns that questions may name, and their kinds, of the one table; see ``table``."""
        return self.table().schema

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables; none where there is one that needs no name."""
        return self._tables.names

    @property
    def schemas(self) -> dict[str, Schema]:
        """The columns of every table by its name; a single table has that of the data set."""
        return {table.name or self._dataset: table.schema for table in self._tables.all}

    def table(self, about: str | Question | RankingQuestion | None = None) -> OpenTable:
        """The table of that name, or the one that a question is about, with its schema and user column."""
        if about is None or isinstance(about, str):
            return self._tables.find(about, self._dataset)
        return self._tables.of(about, self._dataset)

    @property
    def dataset(self) -> str:
        """The name of the data set in the ledger."""
        return self._dataset

    @property
    def status(self) -> Status:
        """Totals, charges and what is left."""
        account = self._ledger_account
        return account.ledger.status(account.dataset)

    @spell_out(QUESTION_DEFAULTS)
    def top(
        self,
        item: str | Iterable[str],
        *,
        table: str | None = None,
        epsilon: Number | None = None,
        analyst: str | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Release:
        """The k items with the most users, events or amounts, paid from the data set's budget.

        A question that was answered before on the same version of the data is free; so is a shorter list.

        Args:
            item: The column to rank, or several whose values together are one item.
            table: Which table, where the data set has several.
            epsilon: The privacy loss of this answer; by default the owner's plan sets an epsilon for each item.
            analyst: Who asks, where the budget has caps per analyst.
            idempotency_key: A name for this attempt: a retry with the same key is paid for once.
            options: ``k`` (10), ``by``, ``clip``, ``unit``, ``where``, ``counts``, ``at_least``, ``others``,
                ``ordered``, ``domain``, ``domain_size``, ``max_items_per_user``, ``k_bar`` and ``mechanism``: see
                ``podium.top``.

        Example:
            >>> with podium.Curator("views.parquet", dataset="views", user="user_id", ledger="ledger.db") as curator:
            ...     print(curator.top("article", k=10, where="country = 'DE'"))
        """
        question = Question.of(item, table=table, **options)
        return self.ask(question, epsilon=epsilon, analyst=analyst, idempotency_key=idempotency_key)

    @spell_out(SQL_DEFAULTS)
    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        analyst: str | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Release:
        """The same as ``top``, for a question in SQL: SELECT item, COUNT(DISTINCT user) AS n ... LIMIT k.

        What is selected comes back: ``n`` asks for counts. COUNT(*) ranks by rows, SUM(column) by amounts. FROM names
        the data set, or one of its tables if it has several.
        """
        question = Question.of(sql=text, **options)
        return self.ask(question, epsilon=epsilon, analyst=analyst, idempotency_key=idempotency_key)

    @spell_out(RANKING_DEFAULTS)
    def rank(
        self,
        *,
        winner: str,
        loser: str,
        comparisons_per_pair: int,
        table: str | None = None,
        epsilon: Number | None = None,
        analyst: str | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[RankingOptions],
    ) -> Release:
        """The k best items of a table of comparisons, paid from the data set's budget; arguments as ``podium.rank``."""
        question = RankingQuestion(
            winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, table=table, **options
        )
        return self.ask(question, epsilon=epsilon, analyst=analyst, idempotency_key=idempotency_key)

    @spell_out(QUESTION_DEFAULTS)
    def plan(
        self,
        item: str | Iterable[str] = (),
        *,
        sql: str | None = None,
        table: str | None = None,
        epsilon: Number | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Plan:
        """What ``top`` or ``sql`` would do and cost. Free: no row is read. The SQL names the data set, or its table."""
        question = Question.of(item, sql=sql, table=table, **options)
        return self.plan_question(question, epsilon=epsilon)

    @spell_out(RANKING_DEFAULTS)
    def plan_rank(
        self,
        *,
        winner: str,
        loser: str,
        comparisons_per_pair: int,
        table: str | None = None,
        epsilon: Number | None = None,
        **options: Unpack[RankingOptions],
    ) -> Plan:
        """What ``rank`` would do and cost. Free: no row is read."""
        question = RankingQuestion(
            winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, table=table, **options
        )
        return self.plan_question(question, epsilon=epsilon)

    def ask(
        self,
        question: Question | RankingQuestion,
        *,
        epsilon: Number | None = None,
        analyst: str | None = None,
        idempotency_key: str | None = None,
    ) -> Release:
        """Answer a ``Question`` or ``RankingQuestion``; ``top``, ``sql`` and ``rank`` build one and call this."""
        planned = self._prepare(question, epsilon)
        if isinstance(self._account, OneQuestion):
            release = answer(self._source_of(planned), planned, every=self._period)
        else:
            release = self._answer(self._account, planned, self._account.claim(planned, analyst, idempotency_key))
        return planned.name_values(release)

    def batch(
        self, questions: Iterable[AnyQuestion], *, analyst: str | None = None, idempotency_key: str | None = None
    ) -> Batch:
        """Several questions, priced together by ``plan`` and answered by ``ask``: all are admitted, or none.

        Each is a ``Question``, SQL, or a mapping of options as in JSON, with an ``epsilon`` if it has one of its own.
        Equal questions are paid once. An error of one of them leaves the others as they are.

        Example:
            >>> answers = curator.batch([{"item": "page", "k": 5}, {"item": "country", "counts": True}]).ask()
        """
        from podium.curator.question_batch import Batch  # noqa: PLC0415 - most questions come alone

        account = self._ledger_account
        return Batch(
            questions=batch_questions(questions), account=account, prepare=self._prepare, show=self._show,
            answer=lambda planned, claimed: planned.name_values(self._answer(account, planned, claimed)),
            analyst=analyst, idempotency_key=idempotency_key,
        )  # fmt: skip

    def plan_question(self, question: Question | RankingQuestion, *, epsilon: Number | None = None) -> Plan:
        """What ``ask`` would do with the same question, and cost. Free: no row is read."""
        return self._show(self._prepare(question, epsilon))

    def _show(self, planned: PlannedQuestion) -> Plan:
        shown_as = None if isinstance(self._account, OneQuestion) else planned.table or self._dataset
        return planned.plan(self._source_of(planned), shown_as)

    def answer_planned(self, planned: PlannedQuestion, *, text: str, key: str, after: str | None = None) -> Release:
        """Reserve, answer and settle a schedule's question that is planned already; ``key`` is its permanent name."""
        table = self._tables.find(None, self._dataset)
        planned = replace(planned, table=table.name)
        require_readable(self._current(table), planned)
        account = self._ledger_account
        claimed = account.claim_for_schedule(planned, text=text, key=key, after=after)
        return self._answer(account, planned, claimed)

    @property
    def _ledger_account(self) -> LedgerAccount:
        if isinstance(self._account, OneQuestion):
            raise InvalidArgument("ledger", None, allowed="a ledger: a single question keeps no account")
        return self._account

    def _current(self, table: OpenTable) -> Source:
        """The source, reopened if its files changed and the owner declared a new version of the data."""
        if isinstance(self._account, OneQuestion):
            return table.source
        return table.held.renew(lambda: self.status.version_of(table.name))

    def _source_of(self, planned: PlannedQuestion) -> Source:
        return self._tables.find(planned.table, self._dataset).source

    def _prepare(self, question: Question | RankingQuestion, epsilon: Number | None) -> PlannedQuestion:
        """Check a question, choose a strategy, and check that the engine supports it, all before anything is paid."""
        table = self._tables.of(question, self._dataset)
        source = self._current(table)
        facts: AnyFacts
        domain: Domain | None
        if isinstance(question, RankingQuestion):
            from podium.curator.comparisons import check_ranking  # noqa: PLC0415 - other questions rank by users

            checked, facts, domain = check_ranking(source, question, table.user, dt.datetime.now(dt.UTC))
            accepted = CountQuery(checked.items, table.user, checked.where)
            source.check(accepted, domain=domain)
            return self._plan(source, table, checked, facts, domain, accepted, epsilon, question)
        checked, schema, joined = check_joined(question, table, source, self._dataset, dt.datetime.now(dt.UTC))
        domain = state_domain(question.domain, question.domain_size)
        groups = state_groups(schema, checked, source)
        facts, accepted = count_facts(source, checked, domain, table.user, groups, joined)
        return self._plan(source, table, checked, facts, domain, accepted, epsilon, groups=groups)

    def _plan(
        self,
        source: Source,
        table: OpenTable,
        checked: CheckedQuestion,
        facts: AnyFacts,
        domain: Domain | None,
        accepted: CountQuery,
        epsilon: Number | None,
        ranking: RankingQuestion | None = None,
        groups: StatedGroups | None = None,
    ) -> PlannedQuestion:
        budget: Mapping[str, str] = {}
        alone = isinstance(self._account, OneQuestion)
        with hint_at_list_only(checked):
            if isinstance(self._account, OneQuestion):
                strategy = self._account.strategy(facts)
            else:
                strategy, budget = self._account.strategy(self.status.totals, facts, epsilon)
        planned = PlannedQuestion(
            checked, strategy, domain, table.user, budget, None if ranking is None else ranking.describe(),
            max_clip=kept_clip(source, checked.measure, strategy.mechanism.first_weights),
            groups=groups, table=table.name, joins=accepted.joins,
            asked=asked_about(ranking or checked.asked, source.name if alone else table.name or self._dataset),
        )  # fmt: skip
        return readable_question(source, planned, accepted)

    def _answer(
        self, account: LedgerAccount, planned: PlannedQuestion, claimed: Reservation | StoredRelease
    ) -> Release:
        """Answer and settle. After any failure the reservation stays charged, because rows may have been read.

        If the release was settled all the same, it is replayed, or the error says that it is stored.
        """
        from podium.curator.reuse import replay_release  # noqa: PLC0415 - a single question waits for no ledger
        from podium.curator.settle import settle  # noqa: PLC0415
        from podium.ledger import StoredRelease  # noqa: PLC0415

        k = planned.question.k
        if isinstance(claimed, StoredRelease):
            return replay_release(claimed, k, planned.user, planned.groups)
        failure: BaseException
        try:
            # Settling is delayed too: entries carry their time, and others may watch the ledger.
            # The answer is not a local variable: a traceback frame would show it unsettled.
            return settle(account.ledger, claimed, answer(self._source_of(planned), planned, every=self._period))
        except Exception:  # noqa: BLE001 - the kind of error may depend on rows
            failure = QuestionForfeited(claimed.dataset, claimed.cost.rho, claimed.cost.delta)
        except BaseException as interruption:  # noqa: BLE001 - raised again below
            failure = interruption
        stored = account.give_up(claimed)
        if not isinstance(failure, Exception):
            lost = interruption_note(claimed.dataset, claimed.cost.rho, claimed.cost.delta)
            failure.add_note(lost if stored is None else settlement_note(claimed.dataset))
        elif stored is not None:
            return replay_release(replace(stored, charged=True), k, planned.user, planned.groups)
        raise strip_origin(failure)

    def close(self) -> None:
        """Close the engine and the ledger, if this curator opened them."""
        self._opened.close()
