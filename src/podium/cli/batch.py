"""``podium batch``: several questions, priced together and admitted all or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.ask import type_groups
from podium.cli.console import print_result, progress, say, settings
from podium.cli.exit_codes import exit_code_of
from podium.cli.failures import failure_text
from podium.cli.file_options import parse_types
from podium.cli.options import (
    AnalystOption,
    AnswerEvery,
    BadLines,
    BadLinesOption,
    DryRun,
    Encoding,
    Force,
    Format,
    RequiredDataset,
    RequiredLedger,
    SourceOrTables,
    TextFormatOption,
    Types,
    User,
)
from podium.cli.output import print_facts
from podium.cli.table_options import TablesOption, parse_places
from podium.errors import InvalidArgument, PodiumError

if TYPE_CHECKING:
    from podium import Curator
    from podium.ledger import Status
    from podium.planning.batch_plan import BatchPlan
    from podium.query.batch_question import BatchQuestion
    from podium.release.batch_answers import BatchAnswers

__all__ = ["batch"]


def batch(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="A JSON file: a list of questions, each with the options of 'podium top' or sql."
        ),
    ],
    *,
    source: SourceOrTables = None,
    table: TablesOption = None,
    user: User,
    ledger: RequiredLedger,
    dataset: RequiredDataset,
    analyst: AnalystOption = None,
    types: Types = None,
    bad_lines: BadLinesOption = BadLines.REFUSE,
    encoding: Encoding = "utf-8",
    force: Force = False,
    answer_every: AnswerEvery = None,
    form: TextFormatOption = Format.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Answer several questions under one budget, all or none.

    The worst case of all of them is reserved at once, so that none is answered if they do not fit together. Then each
    is settled by itself. Equal questions are paid once, and repeats of earlier ones are free.

    \b
    Examples of questions.json:
      [{"item": "article", "k": 5}, {"sql": "SELECT country, COUNT(DISTINCT user_id) AS n FROM views ..."}]

    \b
    Example:
      podium batch questions.json --source views.parquet --user user_id --ledger ledger.db --dataset views --dry-run
    """
    from podium import Curator

    reading = {"types": parse_types(types), "bad_lines": bad_lines.value, "encoding": encoding}
    places = parse_places(source, table, reading)
    with (
        progress("planning" if dry_run else "asking"),
        Curator(
            dataset=dataset, user=user, ledger=ledger, analyst=analyst, force=force, answer_every=answer_every, **places
        ) as curator,
    ):  # fmt: skip
        asked = curator.batch(_read(questions, curator))
        if dry_run:
            _print_plan(asked.plan(), curator.status, form)
            return
        titles, answers = asked.plan().questions, asked.ask()
        status = curator.status
    print_result(_json(answers.to_dict()) if form is Format.JSON else _text(titles, answers, status))
    if settings().verbose:
        from podium.present.text.accounts import left_sentence

        say(f"{status.dataset}: {left_sentence(status)}")
    for error in list(answers.errors.values())[:1]:
        raise typer.Exit(exit_code_of(error))


def _read(path: Path, curator: Curator) -> list[BatchQuestion]:
    """The questions of a file; domains are lists there, because a path in it would be read from elsewhere."""
    from podium.query.batch_question import BatchQuestion
    from podium.wire.request import QuestionRequest

    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InvalidArgument("questions", str(path), allowed="a JSON file with a list of questions") from None
    listed = found.get("questions") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(one, (dict, str)) for one in listed):
        raise InvalidArgument(
            "questions", str(path), allowed='a list of questions, such as [{"item": "article", "k": 5}]'
        )
    read = []
    for place, one in enumerate(listed, start=1):
        try:
            request = QuestionRequest.of(**({"sql": one} if isinstance(one, str) else one))
            read.append(BatchQuestion(type_groups(request.question, curator), request.epsilon))
        except PodiumError:
            say(f"question {place} of {path}:")
            raise
    return read


def _print_plan(plan: BatchPlan, status: Status, form: Format) -> None:
    if form is Format.JSON:
        print_result(_json(plan.to_dict()))
        return
    from podium.present.text.plain import plain_batch

    print_facts(plan.facts if settings().verbose else plain_batch(plan, status))


def _text(titles: tuple[str, ...], answers: BatchAnswers, status: Status) -> str:
    """Each answer under its question, and one line for all; or what holds for each of them in full."""
    from podium.present.text.closing import budget_line
    from podium.present.text.release_text import list_text, release_text

    verbose = settings().verbose
    parts = []
    for place, (title, outcome) in enumerate(zip(titles, answers.outcomes, strict=True), start=1):
        shown = release_text if verbose else list_text
        told = failure_text(outcome) if isinstance(outcome, PodiumError) else shown(outcome)
        parts.append(f"{place}. {title}\n\n{told}")
    return "\n\n".join([*parts, *([] if verbose else [budget_line(status, more="podium explain")])])


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)
