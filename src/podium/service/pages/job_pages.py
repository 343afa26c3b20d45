"""Pages: a question that waits or is being read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from podium.errors import PodiumError
from podium.service.api.job_routes import JobId, events_of
from podium.service.http.access import require_role, service
from podium.service.ops.jobs import Job, JobState
from podium.service.pages.budget_bar import BudgetBar, bar_of
from podium.service.pages.cookies import CurrentSession, PostedForm
from podium.service.pages.rendering import page
from podium.service.store.tokens import Role

__all__ = ["place_of", "router"]

router: APIRouter = APIRouter()


def place_of(job: Job) -> str:
    """Where a job is shown: its release once it is done."""
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
        return RedirectResponse(place_of(found), 303)
    lines = () if found.problem is None else PodiumError(found.problem["detail"]).lines
    status = 200 if found.problem is None else int(found.problem["status"])
    bar = None if found.problem is None else _bar(request, found)
    return page(request, "job.html", signed, job=found, lines=lines, bar=bar, status=status)


def _bar(request: Request, failed: Job) -> BudgetBar | None:
    """What is left, where somebody is told that it was not enough; None while the ledger cannot be read."""
    with suppress(PodiumError):
        return bar_of(service(request).records.status(failed.dataset), failed.token)
    return None


@router.post("/jobs/{id_}/cancel")
def cancel(request: Request, id_: JobId, signed: CurrentSession, _: PostedForm) -> Response:
    """Cancel a job."""
    require_role(signed.token, Role.ANALYST)
    parts = service(request)
    parts.jobs.get(id_, signed.token)
    parts.jobs.move(id_, JobState.CANCELLED)
    return RedirectResponse(f"/jobs/{id_}", 303)
