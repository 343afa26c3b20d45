"""API v1: questions that run in the background."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import StreamingResponse

from podium.service.api.examples import PROBLEMS
from podium.service.core import Service
from podium.service.http.access import Caller, require_role, service
from podium.service.ops.jobs import JobState
from podium.service.store.tokens import Role, Token

__all__ = ["JobId", "events_of", "router"]

router: APIRouter = APIRouter(prefix="/v1/jobs", responses=PROBLEMS)

JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="From the Location header of the 202 response.")]

_POLL_SECONDS = 0.25
_POLLS_PER_KEEPALIVE = 60


@router.get("/{id_}", summary="State of a job", name="job")
def job(request: Request, id_: JobId, token: Caller) -> dict[str, Any]:
    """Queued, reading, done, failed or cancelled; once done, with the hash of the release."""
    require_role(token, Role.ANALYST)
    return service(request).jobs.get(id_, token).to_json()


@router.delete("/{id_}", summary="Cancel a job")
def cancel(request: Request, id_: JobId, token: Caller) -> dict[str, Any]:
    """Free while it is queued. If it is already reading, the answer is settled and kept; asking again is then free."""
    require_role(token, Role.ANALYST)
    parts = service(request)
    parts.jobs.get(id_, token)
    parts.jobs.move(id_, JobState.CANCELLED)
    return parts.jobs.get(id_, token).to_json()


@router.get(
    "/{id_}/events",
    summary="State of a job, as server-sent events",
    responses={200: {"content": {"text/event-stream": {}}, "description": "One event per state, until the job ends."}},
)
async def events(request: Request, id_: JobId, token: Caller) -> StreamingResponse:
    """Events named ``state``, whose data is the job."""
    require_role(token, Role.ANALYST)
    parts = service(request)
    await asyncio.to_thread(parts.jobs.get, id_, token)
    parts.check_streams(token)
    return StreamingResponse(events_of(parts, id_, token), media_type="text/event-stream")


async def events_of(parts: Service, id_: str, token: Token) -> AsyncIterator[str]:
    """The events, one per observed state."""
    parts.streams[token.id] += 1
    try:
        async for event in _events(parts, id_, token):
            yield event
    finally:
        parts.streams[token.id] -= 1


async def _events(parts: Service, id_: str, token: Token) -> AsyncIterator[str]:
    last, polls = None, 0
    while True:
        found = await asyncio.to_thread(parts.jobs.get, id_, token)
        if found.state is not last:
            last = found.state
            yield f"event: state\ndata: {json.dumps(found.to_json())}\n\n"
        elif polls % _POLLS_PER_KEEPALIVE == 0:
            yield ": still there\n\n"
        if found.state.final:
            return
        polls += 1
        await asyncio.sleep(_POLL_SECONDS)
