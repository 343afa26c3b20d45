"""Liveness, readiness and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from podium.errors import PodiumError
from podium.service.api.examples import PROBLEMS
from podium.service.http.access import Holder, caller, require_all_datasets, service

__all__ = ["router"]

router: APIRouter = APIRouter(responses={503: PROBLEMS[503]})


@router.get("/health", summary="Liveness: the process responds")
async def health() -> dict[str, str]:
    """Uses no database."""
    return {"status": "alive"}


@router.get("/ready", summary="Readiness: ledger and state are reachable")
def ready(request: Request) -> JSONResponse:
    """For load balancers: 503 while questions cannot be answered."""
    parts = service(request)
    found: dict[str, Any] = {}
    for name, check in (("state", parts.datasets.names), ("ledger", parts.datasets.reach_ledger)):
        try:
            check()
        except PodiumError as error:
            found[name] = type(error).__name__
        else:
            found[name] = "ready"
    sound = all(what == "ready" for what in found.values())
    return JSONResponse({"status": "ready" if sound else "not ready", **found}, 200 if sound else 503)


@router.get("/metrics", summary="Counters for Prometheus", responses={401: PROBLEMS[401], 403: PROBLEMS[403]})
def metrics(request: Request, credentials: Holder) -> Response:
    """Needs an owner's token for all data sets, unless the settings make metrics public."""
    parts = service(request)
    if not parts.settings.server.public_metrics:
        require_all_datasets(caller(request, credentials))
    return Response(parts.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
