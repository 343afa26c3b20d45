"""Pages: ask, see while typing what it would cost, preview, confirm."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from podium.errors import InvalidArgument, PodiumError, QuestionRefused, UnknownColumn
from podium.ledger import Status
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.planning.question_plan import Plan
from podium.present.text.accounts import charged_text, left_text
from podium.privacy import Event
from podium.privacy.guarantee import unit_words
from podium.query import Question
from podium.service.api.bodies import QuestionBody
from podium.service.pages.budget_bar import BudgetBar, bar_of
from podium.service.pages.cookies import Form, PostedForm, View, view
from podium.service.pages.job_pages import place_of
from podium.service.pages.question_form import is_ranking, read_form, require_sendable
from podium.service.pages.rendering import page
from podium.service.pages.wording import asked_sentence
from podium.service.store.datasets import DescribedTable
from podium.service.store.sessions import new_secret
from podium.service.store.tokens import Role
from podium.sources import pretty_sql
from podium.user_columns import user_text
from podium.wire.request import QuestionRequest

__all__ = ["router"]

router: APIRouter = APIRouter()

Analysing = Annotated[View, Depends(view(Role.ANALYST))]

_WAIT_SECONDS = 1.5
_MISTAKES = (InvalidArgument, QuestionRefused, UnknownColumn)


@router.get("/datasets/{dataset}/ask")
def ask(request: Request, granted: Analysing) -> Response:
    """The form: a column to choose, or SQL."""
    return _form_page(request, granted, "ask.html", Form(request.query_params))


@router.get("/datasets/{dataset}/rank")
def rank(request: Request, granted: Analysing) -> Response:
    """The form for rankings from comparisons."""
    return _form_page(request, granted, "rank.html", Form(request.query_params))


def _form_page(
    request: Request, granted: View, template: str, fields: Form, *, lines: tuple[str, ...] = (), status: int = 200
) -> Response:
    opened = granted.service.datasets.get(granted.dataset)
    table = opened.table(fields.get("table"))
    bar = bar_of(granted.service.records.status(granted.dataset), granted.signed.token)
    return page(
        request, template, granted.signed, status=status, dataset=granted.dataset, bar=bar,
        user=unit_words(table.user), counted=user_text(table.user), table=table.name, tables=opened.curator.tables,
        joins=table.joins, fields=fields, lines=lines, **_choices(table),
    )  # fmt: skip


def _choices(table: DescribedTable) -> dict[str, Any]:
    """What the schema allows to choose from; it is public, and no row is looked at."""
    kinds = {column["name"]: column["kind"] for column in table.columns}
    return {
        "columns": table.columns,
        "items": [(name, f"{name} ({kinds[name]})") for name in table.item_columns],
        "groups": [("", "(one list for all rows)"), *((name, name) for name in table.group_columns)],
        "measures": [("users", "distinct users"), *table.measures],
    }


def _fields_of(request: Request) -> Form:
    return Form({name: value for name, value in request.query_params.items() if value.strip()})


async def _plan_link(request: Request, granted: Analysing) -> tuple[QuestionRequest, Plan] | PodiumError:
    """The question of a link and its plan, or its error; async, because planning may have to wait."""
    granted.service.plans.take(granted.signed.token.id)
    try:
        curator = granted.service.datasets.get(granted.dataset).curator
        question = read_form(_fields_of(request), lambda asked: curator.table(asked).schema_of(asked))
        planned = await granted.service.plan(granted.dataset, question, granted.signed.token)
        require_sendable(question)
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
    fields = _fields_of(request)
    form = "rank" if is_ranking(fields) else "ask"
    if isinstance(found, PodiumError):
        return _form_page(request, granted, f"{form}.html", fields, lines=found.lines, status=422)
    question, planned = found
    status = granted.service.records.status(granted.dataset)
    cap, held = status.totals.cap, status.sums.get(granted.signed.token.name, Sum())
    left = status.remaining if cap is None else cap.remaining(held)
    table = granted.service.datasets.get(granted.dataset).curator.table(question.question)
    return page(
        request, "preview.html", granted.signed, dataset=granted.dataset, plan=planned, left=left_text(left),
        most=_most(planned, status),
        bar=bar_of(status, granted.signed.token, events=planned.strategy.worst_case), sentence=asked_sentence(question),
        sql=question.question.sql if isinstance(question.question, Question) else None,
        question=question.to_text(), key=new_secret(),
        user=unit_words(table.user), query=request.url.query, form=form,
        queries=[pretty_sql(query) for query in planned.queries],
    )  # fmt: skip


def _most(planned: Plan, status: Status) -> str:
    """What a question may cost, in the measures of its budget; prices of a Gaussian filter depend on what is left."""
    charge = Charged.of(planned.strategy.worst_case, reserve=True)
    charged = Sum.of(charge.cost, status.totals.books.reserve(charge, status.held))
    text = charged_text(status.totals, charged)
    return text if charge.cost.delta else text.removesuffix(" and delta 0")


async def _live_plan(request: Request, granted: Analysing) -> dict[str, Any]:
    """What a form that somebody still fills in would cost; neither the engine nor a row is asked."""
    granted.service.live_plans.take(granted.signed.token.id)
    status = granted.service.records.status(granted.dataset)

    def bar(events: tuple[Event, ...]) -> BudgetBar:
        return bar_of(status, granted.signed.token, events=events)

    try:
        curator = granted.service.datasets.get(granted.dataset).curator
        # Not the columns of what it joins: to know them, the engine may have to be asked.
        question = read_form(_fields_of(request), lambda asked: curator.table(asked).schema)
        found, enough = await granted.service.sketch(
            granted.dataset, question, granted.signed.token, lambda events: bar(events).fits
        )
    except _MISTAKES as error:
        return {"lines": error.lines}
    return {"lines": (), "bar": bar(found.strategy.worst_case), "reach": found.reach_sentence, "enough": enough}


@router.get("/datasets/{dataset}/live")
def live(request: Request, granted: Analysing, found: Annotated[dict[str, Any], Depends(_live_plan)]) -> Response:
    """The part of the form that changes while somebody types."""
    return page(request, "live.html", granted.signed, **found)


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
    return RedirectResponse(place_of(parts.jobs.wait(job, _WAIT_SECONDS)), 303)
