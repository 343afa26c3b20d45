"""API v1: data sets, plans, questions, releases, budgets, the chain."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse

import podium
from podium.errors import LedgerLocked, LedgerUnavailable, PodiumError
from podium.present.json import release_document
from podium.present.tables import csv_text, parquet_bytes
from podium.privacy.guarantee import unit_words
from podium.service.api.bodies import BatchBody, QuestionBody
from podium.service.api.examples import PROBLEMS, RELEASE, example
from podium.service.api.records import Record
from podium.service.core import Service
from podium.service.http.access import Access, Caller, access, service
from podium.service.store.tokens import Role, Token
from podium.user_columns import user_data
from podium.wire.problems import problem

__all__ = ["dataset_document", "dataset_documents", "render_release", "router"]

router: APIRouter = APIRouter(prefix="/v1", responses=PROBLEMS)

EntryHash = Annotated[
    str, Path(pattern="^[0-9a-f]{64}$", description="Hash of the ledger entry that settled it.", examples=["0" * 64])
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1, max_length=200,
        description="Repeating a key returns the first answer free of charge. Keys are per analyst.",
    ),
]  # fmt: skip
Prefer = Annotated[str | None, Header(description="respond-async: return a job immediately.", max_length=200)]

Viewing = Annotated[Access, Depends(access(Role.VIEWER))]
Analysing = Annotated[Access, Depends(access(Role.ANALYST))]


class Form(StrEnum):
    """Format of a release."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    CARD = "card"


@router.get("", summary="The version and the token", responses=example({"version": podium.__version__}))
def about(request: Request, token: Caller) -> dict[str, Any]:
    """The version, the caller's token without its secret, and the data sets in its scope."""
    return {
        "service": "podium",
        "version": podium.__version__,
        "token": token.to_json(),
        "datasets": service(request).datasets.visible(token),
    }


@router.get("/datasets", summary="The data sets in the token's scope")
def datasets(request: Request, token: Caller) -> dict[str, Any]:
    """Names, columns, the unit of protection, and what is left."""
    return {"datasets": dataset_documents(service(request), token)}


def dataset_documents(parts: Service, token: Token) -> list[dict[str, Any]]:
    """All data sets in scope; one that cannot be opened is marked as unavailable."""
    found = []
    for name in parts.datasets.visible(token):
        try:
            found.append(dataset_document(parts, name, token))
        except (LedgerUnavailable, LedgerLocked):
            raise
        except PodiumError as error:
            found.append({"name": name, "unavailable": str(error)})
    return found


@router.get("/datasets/{dataset}", summary="One data set")
def dataset(granted: Viewing) -> dict[str, Any]:
    """Its columns, the unit of protection, and what is left."""
    return dataset_document(granted.service, granted.dataset, granted.token)


def dataset_document(parts: Service, name: str, token: Token) -> dict[str, Any]:
    """A data set as JSON."""
    opened = parts.datasets.get(name)
    document = {
        "name": name,
        "user": user_data(opened.user),
        "unit": f"one {unit_words(opened.user)}, with all their rows",
        "columns": opened.tables[0].columns,
        "items": opened.tables[0].item_columns,
        "budget": parts.records.budget(name, token),
    }
    if joins := {table.name: table.joins for table in opened.tables if table.joins}:
        document["joins"] = joins
    if opened.curator.tables:
        versions = parts.datasets.status(name).tables
        described = [
            {
                "name": table.name, "user": table.user, "data_version": versions[table.name].data_version,
                "columns": table.columns, "items": table.item_columns,
            }
            for table in opened.tables
        ]  # fmt: skip
        where = " and ".join(opened.curator.tables)
        document |= {"unit": f"{document['unit']} in {where}", "columns": [], "items": [], "tables": described}
    return document


@router.post("/datasets/{dataset}/plan", summary="What a question would do and cost; free")
async def plan(granted: Analysing, body: QuestionBody) -> dict[str, Any]:
    """The mechanism, the SQL, the maximum cost and the reach. No row is read."""
    granted.service.plans.take(granted.token.id)
    return (await granted.service.plan(granted.dataset, body.request(), granted.token)).to_dict()


@router.post(
    "/datasets/{dataset}/releases",
    summary="Ask a question; it cannot be undone",
    responses={**RELEASE, 202: {"description": "A job was started; its address is in the Location header."}},
)
async def ask(
    request: Request,
    granted: Analysing,
    body: QuestionBody,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """The answer, charged to the budget, or free if the same was asked before on the same data."""
    parts, question = granted.service, body.request()
    parts.questions.take(granted.token.id)
    if prefer is not None and "respond-async" in prefer:
        job = await asyncio.to_thread(parts.start, granted.dataset, question, granted.token, idempotency_key)
        place = str(request.url_for("job", id_=job.id).path)
        return JSONResponse(job.to_json(), 202, {"Location": place, "Preference-Applied": "respond-async"})
    release = await parts.ask(granted.dataset, question, granted.token, idempotency_key)
    place = f"/v1/datasets/{granted.dataset}/releases/{release.paid.entry}"
    return JSONResponse(release_document(release), headers={"Content-Location": place})


@router.post("/datasets/{dataset}/batch/plan", summary="What several questions would do and cost together; free")
async def plan_batch(granted: Analysing, body: BatchBody) -> dict[str, Any]:
    """A plan for each question, what they cost together, and whether that is left. No row is read."""
    granted.service.plans.take(granted.token.id, len(body.questions))
    return (await granted.service.plan_batch(granted.dataset, body.requests(), granted.token)).to_dict()


@router.post("/datasets/{dataset}/batch", summary="Ask several questions, all or none; it cannot be undone")
async def ask_batch(granted: Analysing, body: BatchBody, idempotency_key: IdempotencyKey = None) -> dict[str, Any]:
    """A release or a problem for each question, in their order. Nothing is charged unless all of them fit."""
    granted.service.questions.take(granted.token.id, len(body.questions))
    answers = await granted.service.ask_batch(granted.dataset, body.requests(), granted.token, idempotency_key)
    return {
        "answers": [
            {"problem": problem(one, request_id=f"question-{place}")} if isinstance(one, PodiumError)
            else {"release": release_document(one)}
            for place, one in enumerate(answers.outcomes, start=1)
        ]
    }  # fmt: skip


@router.get("/datasets/{dataset}/releases", summary="What was released so far")
def releases(granted: Viewing) -> dict[str, Any]:
    """The answered questions, newest first, with the hashes for their permalinks."""
    found = granted.service.records.releases(granted.dataset, granted.token)
    return {"releases": [record.summary() for record in found]}


@router.get("/datasets/{dataset}/releases/{entry}", summary="A release by its permalink", responses=RELEASE)
def release(granted: Viewing, entry: EntryHash, format: Form = Form.JSON) -> Response:  # noqa: A002 - as in the CLI
    """The release as JSON, CSV or Parquet, or its card."""
    return render_release(granted.service.records.release(granted.dataset, entry, granted.token), format)


def render_release(record: Record, form: Form) -> Response:
    """A release in one of its formats."""
    items = record.items if len(record.items) > 1 else record.items[0]
    name = f"{record.dataset}-{record.entry[:12]}"
    if form is Form.JSON:
        return JSONResponse(release_document(record.release))
    if form is Form.CARD:
        return JSONResponse(record.release.card().to_dict())
    attachment = {"Content-Disposition": f'attachment; filename="{name}.{form.value}"'}
    if form is Form.CSV:
        return Response(csv_text(record.release, item=items), media_type="text/csv; charset=utf-8", headers=attachment)
    written = parquet_bytes(record.release, item=items)
    return Response(written, media_type="application/vnd.apache.parquet", headers=attachment)


@router.get("/datasets/{dataset}/budget", summary="What is guaranteed, spent and left")
def budget(granted: Viewing) -> dict[str, Any]:
    """Exact numbers are strings."""
    return granted.service.records.budget(granted.dataset, granted.token)


@router.get("/datasets/{dataset}/history", summary="The entries of the chain")
def history(granted: Viewing) -> dict[str, Any]:
    """Every entry, oldest first; only the owner sees who asked, and the details."""
    entries = granted.service.records.history_document(granted.dataset, granted.token)
    return {"dataset": granted.dataset, "entries": entries}


@router.get("/datasets/{dataset}/verification", summary="Verify the chain and recompute every sum")
def verification(
    granted: Viewing,
    receipt: Annotated[list[str] | None, Query(max_length=100, description="Hashes that must be in the chain.")] = None,
) -> dict[str, Any]:
    """Whether the ledger is sound, and the first problem if it is not.

    If analysts have caps, only the owner sees the length and the head of the chain, and receipts of others count as
    missing.
    """
    granted.service.questions.take(granted.token.id)
    return granted.service.records.verification(granted.dataset, receipt or [], granted.token)
