"""What ``top``, ``sql`` and ``rank`` share: groups of options, and the path from a question to its answer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.console import progress, say
from podium.cli.file_options import FileOptions, parse_types
from podium.cli.options import (
    AnalystOption,
    AnswerEvery,
    AtLeast,
    Clip,
    Copy,
    DatasetOption,
    Delta,
    DomainSize,
    DryRun,
    Epsilon,
    Force,
    Groups,
    GroupsPerUser,
    JoinOption,
    KBar,
    LedgerOption,
    MaxItemsPerUser,
    Mechanism,
    MechanismOption,
    OutputFile,
    Per,
    PlotFile,
    ReleaseFormat,
    ReleaseFormatOption,
    Table,
    Unit,
    Unordered,
    Where,
    parse_clip,
    parse_groups,
    parse_groups_per_user,
)
from podium.cli.output import Output, print_plan
from podium.cli.standard_input import named_source
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium import Curator
    from podium.query import Question, RankingQuestion
    from podium.query.join import Join

__all__ = ["AnswerOptions", "DataOptions", "OutputOptions", "ask", "type_groups"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """Options of a question besides its items, k and what ranks them."""

    per: Per = None
    where: Where = None
    counts: Annotated[
        bool, typer.Option("--counts", help="Also estimate the value of each item, with half of the budget.")
    ] = False
    others: Annotated[
        bool,
        typer.Option(
            "--others",
            help="Also users with none of the items, or what all other items have; and the total. Implies --counts.",
        ),
    ] = False
    clip: Clip = None
    unit: Unit = None
    at_least: AtLeast = None
    unordered: Unordered = False
    max_items_per_user: MaxItemsPerUser = None
    domain: Annotated[
        Path | None,
        typer.Option(
            "--domain",
            metavar="FILE",
            help="File that lists the items, if known, in a column named like --item.",
        ),
    ] = None
    domain_size: DomainSize = None
    groups: Groups = None
    groups_per_user: GroupsPerUser = "1"
    k_bar: KBar = None
    mechanism: MechanismOption = Mechanism.AUTO

    def options(self) -> dict[str, Any]:
        """The options as fields of a question."""
        return {
            "per": tuple(self.per or ()),
            "where": tuple(self.where or ()),
            "counts": self.counts,
            "others": self.others,
            "ordered": not self.unordered,
            "at_least": self.at_least,
            "clip": parse_clip(self.clip),
            "unit": self.unit,
            "max_items_per_user": self.max_items_per_user,
            "domain": self.domain,
            "domain_size": self.domain_size,
            "groups": parse_groups(self.groups),
            "groups_per_user": parse_groups_per_user(self.groups_per_user),
            "k_bar": self.k_bar,
            "mechanism": self.mechanism.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """How the data is read and where its budget is kept, as given on the command line."""

    epsilon: Epsilon = None
    delta: Delta = None
    ledger: LedgerOption = None
    dataset: DatasetOption = None
    analyst: AnalystOption = None
    table: Table = None
    join: JoinOption = None
    files: FileOptions
    copy: Copy = False
    answer_every: AnswerEvery = None

    def check(self) -> None:
        """Raise if there is a ledger without a data set, or with a delta of its own."""
        if self.ledger is None:
            return
        if self.dataset is None:
            raise InvalidArgument(
                "dataset",
                None,
                allowed="the name of a data set in the ledger",
                hint="Name it with --dataset, or omit --ledger (and the variable PODIUM_LEDGER) to ask just once.",
            )
        if self.delta is not None:
            raise InvalidArgument(
                "delta", self.delta, allowed="none with --ledger", hint="The budget determines the delta of a question."
            )

    def reading(self) -> dict[str, Any]:
        """How the source is read."""
        return {"table": self.table, **self.files.reading()}

    def hint(self, source: str, items: Sequence[str]) -> str | None:
        """A possible reason for a short list from JSON, derived from the command line and not from rows."""
        declared = parse_types(self.files.types) or {}
        undeclared = [item for item in items if item not in declared]
        if not undeclared or not source.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson")):
            return None
        return (
            f"In JSON any name is a column, and a list counts as one item: check {', '.join(undeclared)}, "
            f"or declare a list with --types '{undeclared[0]}=list(text)'."
        )

    @contextmanager
    def curator(
        self, source: str, user: Sequence[str], *, dry_run: bool, declared: Sequence[Join] | None = None
    ) -> Iterator[Curator]:
        """The curator of a registered data set (a mistyped ledger is not created), or of a single question."""
        from podium.curator.curator import Curator
        from podium.curator.one_question import OneQuestion
        from podium.curator.timing import delay_to_period, period_of

        reading: Any = {"user": user, "joins": declared, **self.reading()}
        if self.ledger is None:
            # Without a ledger the whole run is delayed, opening and checking the file included.
            every = None if dry_run else period_of(self.answer_every)
            name = self.dataset or self.table or Path(source).name.partition(".")[0]
            budget = OneQuestion(self.epsilon or "", self.delta or 0)
            with delay_to_period(every), Curator(source, dataset=name, ledger=budget, **reading) as curator:
                yield curator
            return
        from podium.ledger import open_ledger

        with (
            open_ledger(self.ledger, create=False) as ledger,
            Curator(
                source,
                dataset=self.dataset or "",
                ledger=ledger,
                analyst=self.analyst,
                force=self.copy,
                answer_every=self.answer_every,
                **reading,
            ) as curator,
        ):
            yield curator


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where the answer goes, or whether only the plan is shown."""

    form: ReleaseFormatOption = None
    output: OutputFile = None
    force: Force = False
    plot: PlotFile = None
    dry_run: DryRun = False

    def destination(self) -> Output:
        """Where the answer goes; raises unless it can be written there."""
        output = Output.at(self.form, self.output, plot=self.plot)
        output.check(overwrite=self.force or self.dry_run)
        return output


def ask(
    question: Question | RankingQuestion,
    *,
    source: str,
    user: Sequence[str],
    data_options: DataOptions,
    output_options: OutputOptions,
    items: Sequence[str] | None,
) -> None:
    """Ask a single question, or one under a budget, and show the answer."""
    data_options.check()
    output = output_options.destination()
    epsilon = None if data_options.ledger is None else data_options.epsilon
    dry_run = output_options.dry_run
    question, declared = _with_joins(question, data_options)
    with (
        named_source(source) as path,
        progress("planning" if dry_run else "asking"),
        data_options.curator(path, user, dry_run=dry_run, declared=declared) as curator,
    ):
        question = type_groups(question, curator)
        if dry_run:
            planned = curator.plan_question(question, epsilon=epsilon)
            left = None if data_options.ledger is None else curator.status
            print_plan(planned, output_options.form or ReleaseFormat.TABLE, status=left)
            return
        release = curator.ask(question, epsilon=epsilon)
        left = None if data_options.ledger is None else curator.status
    output.write(release, items=items, status=left)
    if not release.complete and (hint := data_options.hint(source, items or ())):
        say(hint)
    if left is not None and not output.is_closed:
        from podium.present.text.closing import budget_sentence

        say(f"{left.dataset}: {budget_sentence(left)}")


def _with_joins(
    question: Question | RankingQuestion, options: DataOptions
) -> tuple[Question | RankingQuestion, tuple[Join, ...] | None]:
    """What --join says: under a budget the names that its owner declared, otherwise the tables themselves."""
    from podium.curator.joined import declared_beside
    from podium.query import Question

    if not options.join:
        return question, None
    if not isinstance(question, Question):
        raise InvalidArgument("join", options.join[0], allowed="nothing in a ranking from comparisons")
    if options.ledger is not None:
        return replace(question, join=tuple(options.join)), None
    declared, names = declared_beside(options.join, question.sql)
    return replace(question, join=names), declared


def type_groups(question: Question | RankingQuestion, curator: Curator) -> Question | RankingQuestion:
    """The groups of the command line, which are text there, as values of the kinds of their columns."""
    from podium.query import Question, check_question
    from podium.query.group_columns import TYPED, typed_groups

    if not isinstance(question, Question) or not isinstance(question.groups, tuple):
        return question
    table = curator.table(question)
    schema, name, joins = table.schema_of(question), table.name or curator.dataset, table.joined_by(question)
    now = dt.datetime.now(dt.UTC)
    per = check_question(question, schema, user=table.user, table=name, now=now, joins=joins).per
    return replace(question, groups=typed_groups(question.groups, per, schema, kinds=TYPED))
