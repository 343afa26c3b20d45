"""Pages: ask, preview the cost, confirm, wait, show the release."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from pydantic import ValidationError

from podium.errors import InvalidArgument, PodiumError, QuestionRefused, UnknownColumn
from podium.ledger import Status
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.planning.question_plan import Plan
from podium.present.all_lists import all_items
from podium.present.intervals import margin_of
from podium.present.plots import plot_release
from podium.present.text.accounts import charged_text, left_text
from podium.present.text.columns import ranking
from podium.present.text.group_lines import group_remarks, grouped_ranking
from podium.present.text.names import why_fewer
from podium.present.text.release_text import mechanism_text, paid_sentence
from podium.privacy.guarantee import unit_words
from podium.query import Question, Schema
from podium.query.group_columns import ALL_GROUPS, TYPED, typed_groups
from podium.release import GroupedRelease, Release
from podium.service.api.bodies import QuestionBody
from podium.service.api.job_routes import JobId, events_of
from podium.service.api.records import Record
from podium.service.api.routes import EntryHash, render_release
from podium.service.api.routes import Form as ReleaseForm
from podium.service.http.access import require_role, service
from podium.service.ops.jobs import Job, JobState
from podium.service.pages.cookies import CurrentSession, Form, PostedForm, View, parse_integer, view
from podium.service.pages.rendering import page
from podium.service.pages.snippets import in_curl, in_python, in_shell
from podium.service.pages.wording import asks_the_same, question_sentence, request_of
from podium.service.store.sessions import new_secret
from podium.service.store.tokens import Role
from podium.user_columns import user_text
from podium.wire.request import QuestionRequest

__all__ = ["router"]

router: APIRouter = APIRouter()

Viewing = Annotated[View, Depends(view(Role.VIEWER))]
Analysing = Annotated[View, Depends(view(Role.ANALYST))]

_NUMBERS = ("k", "max_items_per_user", "domain_size", "k_bar")
_WAIT_SECONDS = 1.5
_MISTAKES = (InvalidArgument, QuestionRefused, UnknownColumn)


def _parse_form(fields: Form) -> QuestionRequest:
    """The question in a form; listed items are one per line."""
    given: dict[str, Any] = {name: value.strip() for name, value in fields.items() if name in _FIELDS}
    for name in _NUMBERS:
        if name in given:
            given[name] = parse_integer(given[name], name)
    for name in ("counts", "others"):
        if name in given:
            given[name] = given[name] == "yes"
    for name in ("domain", "groups"):
        if name in given:
            given[name] = [line.strip() for line in given[name].splitlines() if line.strip()]
    if given.get("groups_per_user", ALL_GROUPS) != ALL_GROUPS:
        given["groups_per_user"] = parse_integer(given["groups_per_user"], "groups_per_user")
    return QuestionRequest.of(**given)


def _with_typed_groups(asked: QuestionRequest, schema: Schema) -> QuestionRequest:
    """The groups that were typed, as values of the kind of their column."""
    question = asked.question
    if not isinstance(question, Question) or not isinstance(question.groups, tuple):
        return asked
    groups = typed_groups(question.groups, question.per, schema, kinds=TYPED)
    return replace(asked, question=replace(question, groups=groups))


def _require_sendable(question: QuestionRequest) -> None:
    """Raise unless the confirmation would accept what is previewed."""
    body = question.to_dict()
    try:
        QuestionBody.model_validate(body)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        number = name in ("epsilon", "clip", "unit", "at_least")
        allowed = "a number without a sign, such as 0.5, 1e-2 or 1/3" if number else "a shorter one"
        raise InvalidArgument(name, body.get(name), allowed=allowed) from None


_FIELDS = (
    "item", "k", "sql", "by", "clip", "unit", "where", "epsilon", "counts", "max_items_per_user", "domain",
    "domain_size", "k_bar", "at_least", "others", "per", "groups", "groups_per_user", "table",
)  # fmt: skip


@router.get("/datasets/{dataset}/ask")
def ask(request: Request, granted: Analysing) -> Response:
    """The form: a column to choose, or SQL."""
    return _ask_page(request, granted, Form(request.query_params))


def _ask_page(
    request: Request, granted: View, fields: Form, *, lines: tuple[str, ...] = (), status: int = 200
) -> Response:
    opened = granted.service.datasets.get(granted.dataset)
    table = opened.table(fields.get("table"))
    budget = granted.service.records.budget(granted.dataset, granted.signed.token)
    return page(
        request, "ask.html", granted.signed, status=status, dataset=granted.dataset,
        user=unit_words(table.user), counted=user_text(table.user), table=table.name,
        tables=opened.curator.tables, columns=table.columns, items=table.item_columns, groups=table.group_columns,
        measures=table.measures, joins=table.joins, fields=fields, lines=lines, budget=budget,
    )  # fmt: skip


async def _plan_link(request: Request, granted: Analysing) -> tuple[QuestionRequest, Plan] | PodiumError:
    """The question of a link and its plan, or its error; async, because planning may have to wait."""
    fields = Form({name: value for name, value in request.query_params.items() if value.strip()})
    granted.service.plans.take(granted.signed.token.id)
    try:
        question = _parse_form(fields)
        curator = granted.service.datasets.get(granted.dataset).curator
        question = _with_typed_groups(question, curator.table(question.question).schema_of(question.question))
        planned = await granted.service.plan(granted.dataset, question, granted.signed.token)
        _require_sendable(question)
    except _MISTAKES as error:
        return error
    return question, planned


@router.get("/datasets/{dataset}/preview")
def preview(
    request: Request,
    granted: Analysing,
    found: Annotated[tuple[QuestionRequest, Plan] | PodiumError, Depends(_plan_link)],
) -> Response:
    """What the question would do and cost; nothing is read or charged, so GET is enough."""
    if isinstance(found, PodiumError):
        fields = Form({name: value for name, value in request.query_params.items() if value.strip()})
        return _ask_page(request, granted, fields, lines=found.lines, status=422)
    question, planned = found
    status = granted.service.records.status(granted.dataset)
    cap, held = status.totals.cap, status.sums.get(granted.signed.token.name, Sum())
    left = status.remaining if cap is None else cap.remaining(held)
    table = granted.service.datasets.get(granted.dataset).curator.table(question.question)
    return page(
        request, "preview.html", granted.signed, dataset=granted.dataset, plan=planned, most=_most(planned, status),
        left=left_text(left),
        asked=question, question=question.to_text(), key=new_secret(),
        user=unit_words(table.user), query=request.url.query,
    )  # fmt: skip


def _most(planned: Plan, status: Status) -> str:
    """What a question may cost, in the measures of its budget; prices of a Gaussian filter depend on what is left."""
    charge = Charged.of(planned.strategy.worst_case, reserve=True)
    charged = Sum.of(charge.cost, status.totals.books.reserve(charge, status.held))
    text = charged_text(status.totals, charged)
    return text if charge.cost.delta else text.removesuffix(" and delta 0")


@router.post("/datasets/{dataset}/ask")
def confirm(request: Request, granted: Analysing, form: PostedForm) -> Response:
    """Ask the question. The page's key makes a second click the same question."""
    parts = granted.service
    parts.questions.take(granted.signed.token.id)
    try:
        question = QuestionBody.model_validate_json(form.get("question", "")).request()
    except ValidationError:
        raise InvalidArgument("question", "this form", allowed="what the preview page sends") from None
    job = parts.start(granted.dataset, question, granted.signed.token, form.get("key"))
    # Most questions are answered quickly enough to skip the waiting page.
    return RedirectResponse(_place(parts.jobs.wait(job, _WAIT_SECONDS)), 303)


def _place(job: Job) -> str:
    if job.state is JobState.DONE:
        return f"/datasets/{job.dataset}/releases/{job.entry}"
    return f"/jobs/{job.id}"


@router.get("/jobs/{id_}.json")
def job_json(request: Request, id_: JobId, signed: CurrentSession) -> dict[str, Any]:
    """The page as JSON."""
    return service(request).jobs.get(id_, signed.token).to_json()


@router.get("/jobs/{id_}/events")
def job_events(request: Request, id_: JobId, signed: CurrentSession) -> StreamingResponse:
    """Events for the page's script, which reloads when the state changes."""
    parts = service(request)
    parts.jobs.get(id_, signed.token)
    parts.check_streams(signed.token)
    return StreamingResponse(events_of(parts, id_, signed.token), media_type="text/event-stream")


@router.get("/jobs/{id_}")
def job(request: Request, id_: JobId, signed: CurrentSession) -> Response:
    """The state of a job; the page reloads until it is answered."""
    found = service(request).jobs.get(id_, signed.token)
    if found.state is JobState.DONE:
        return RedirectResponse(_place(found), 303)
    lines = () if found.problem is None else PodiumError(found.problem["detail"]).lines
    status = 200 if found.problem is None else int(found.problem["status"])
    return page(request, "job.html", signed, job=found, lines=lines, status=status)


@router.post("/jobs/{id_}/cancel")
def cancel(request: Request, id_: JobId, signed: CurrentSession, _: PostedForm) -> Response:
    """Cancel a job."""
    require_role(signed.token, Role.ANALYST)
    parts = service(request)
    parts.jobs.get(id_, signed.token)
    parts.jobs.move(id_, JobState.CANCELLED)
    return RedirectResponse(f"/jobs/{id_}", 303)


@router.get("/datasets/{dataset}/releases/{entry}.card.json")
def release_card(granted: Viewing, entry: EntryHash) -> Response:
    """The card of the release, as a file."""
    return render_release(
        granted.service.records.release(granted.dataset, entry, granted.signed.token), ReleaseForm.CARD
    )


@router.get("/datasets/{dataset}/releases/{entry}.{suffix}")
def release_file(request: Request, granted: Viewing, entry: EntryHash, suffix: str, theme: str = "light") -> Response:
    """The release as a file, or its plot."""
    record = granted.service.records.release(granted.dataset, entry, granted.signed.token)
    if suffix == "svg":
        drawn, _ = _picture(request, record, dark=theme == "dark")
        return Response(drawn, media_type="image/svg+xml")
    try:
        form = ReleaseForm(suffix)
    except ValueError:
        raise InvalidArgument("suffix", suffix, allowed="json, csv, parquet, svg or card.json") from None
    return render_release(record, form)


@router.get("/datasets/{dataset}/releases/{entry}")
def release(request: Request, granted: Viewing, entry: EntryHash) -> Response:
    """The release: list, guarantee, cost, downloads, and how to ask the same elsewhere."""
    record = granted.service.records.release(granted.dataset, entry, granted.signed.token)
    found = record.release
    grouped = isinstance(found, GroupedRelease)
    listed = all_items(found) if isinstance(found, GroupedRelease) else found
    margin = margin_of(listed)
    status = granted.service.records.status(granted.dataset)
    again = _repeat_request(granted, record, str(status.totals.epsilon_per_item))
    counted = bool(found.value_kind == "counts" and listed.items)
    url = granted.service.settings.server.public_url or str(request.base_url).rstrip("/")
    return page(
        request, "release.html", granted.signed, record=record, release=found, dataset=granted.dataset,
        sentence=question_sentence(record.question), **_lists(found, ", ".join(record.items)),
        remarks=group_remarks(found) if isinstance(found, GroupedRelease) else [],
        fewer="" if found.complete or grouped else why_fewer(found), margin="" if margin is None else margin.sentence,
        paid=paid_sentence(found), mechanism=mechanism_text(found), theorems=found.theorem.split("; "),
        alt=_picture(request, record, dark=False)[1] if counted else None,
        user="user" if status.user is None else unit_words(status.user),
        same=[] if again is None else [
            ("Python", in_python(again, url, granted.dataset)), ("curl", in_curl(again, url, granted.dataset)),
            ("command line", in_shell(again, granted.dataset)),
        ],
    )  # fmt: skip


def _lists(release: Release, heading: str) -> dict[str, Any]:
    """The headers, the columns that name a group, and the rows of every list below the texts of its group."""
    if not isinstance(release, GroupedRelease):
        columns = ranking(release, heading)
        rows = list(zip(*(column.cells for column in columns), strict=True))
        return {"headers": [column.name for column in columns], "per": [], "lists": [((), rows)] if rows else []}
    columns = grouped_ranking(release, heading)
    count = len(release.per)
    every = zip(*(column.cells for column in columns), strict=True)
    listed = [[*islice(every, len(found.items))] for found in release.lists.values()]
    lists = [(rows[0][:count], [row[count:] for row in rows]) for rows in listed if rows]
    names = [column.name for column in columns]
    return {"headers": names[count:], "per": names[:count], "lists": lists}


def _repeat_request(granted: View, record: Record, planned: str) -> QuestionRequest | None:
    """The question as it can be repeated for free; None if unknown, or if the table is unreachable."""
    question = request_of(record.question, planned)
    try:
        plan = None if question is None else granted.service.plan_here(granted.dataset, question, granted.signed.token)
    except PodiumError:
        return None
    return question if plan is not None and asks_the_same(plan, record.question) else None


def _picture(request: Request, record: Record, *, dark: bool) -> tuple[str, str]:
    drawn: tuple[str, str] = request.app.state.pictures.get(
        ("release", record.entry, str(dark)), lambda: plot_release(record.release, dark=dark)
    )
    return drawn
