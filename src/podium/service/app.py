"""The app: routes, error handlers, and start-up and shutdown of a worker."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Route

import podium
from podium.errors import PodiumError
from podium.service.api import job_routes, owner_routes, routes
from podium.service.core import Service
from podium.service.http.agents_endpoint import AgentsEndpoint
from podium.service.http.middleware import Envelope, problem_body
from podium.service.ops import probes
from podium.service.ops.logs import configure, log
from podium.service.pages import answer_pages, api_pages, ask_pages, job_pages, link_pages, main_pages, owner_pages
from podium.service.pages.error_pages import error_page, wants_page
from podium.service.pages.rendering import Pictures
from podium.service.settings import CONFIG_VARIABLE, Settings, load
from podium.wire.problems import MEDIA_TYPE, status_of
from podium.wire.refusals import Refusal

__all__ = ["create_app", "from_environment"]

_STATIC = Path(__file__).parent / "pages" / "static"
_DESCRIPTION = """\
The top k of a table, private for every user in it. Questions are charged to one budget per data set; repeating a
question is free. Every error is an RFC 9457 problem with the library's own message.
"""


def create_app(settings: Settings) -> FastAPI:
    """Create the app of one worker."""
    parts = Service(settings)
    agents = AgentsEndpoint(parts)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # In the background: questions about one data set need not wait until all others are checked.
        opening = asyncio.create_task(anyio.to_thread.run_sync(_open_all, parts))
        yield
        log("stopping")
        await asyncio.wait([opening])
        await agents.close()
        await anyio.to_thread.run_sync(parts.close)

    app = FastAPI(
        title="podium",
        version=podium.__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = parts
    app.state.pictures = Pictures()
    # Before the API: a browser that opens its address gets a page.
    app.include_router(api_pages.router, include_in_schema=False)
    for router in (probes.router, routes.router, job_routes.router, owner_routes.router):
        app.include_router(router)
    for pages in (main_pages, link_pages, ask_pages, job_pages, answer_pages, owner_pages):
        app.include_router(pages.router, include_in_schema=False)
    app.router.routes.append(Route("/mcp", endpoint=agents, methods=["POST"]))
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_exception_handler(PodiumError, _handle_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_middleware(Envelope, service=parts)
    return app


def from_environment() -> FastAPI:
    """Create the app of a worker that ``podium serve`` started."""
    settings = load(os.environ[CONFIG_VARIABLE])
    configure(settings.server.log_file)
    return create_app(settings)


def _open_all(parts: Service) -> None:
    """Open all data sets; those that fail are tried again when needed."""
    try:
        names = parts.datasets.names()
    except PodiumError as error:
        names = []
        log("not ready", level=logging.WARNING, kind=type(error).__name__, text=str(error))
    for name in names:
        try:
            parts.datasets.get(name)
        except PodiumError as error:
            log("not ready", level=logging.WARNING, dataset=name, kind=type(error).__name__, text=str(error))
    log("started", datasets=names)


async def _handle_error(request: Request, error: Exception) -> Response:
    """Respond to an error of the library or the service."""
    if wants_page(request):
        return error_page(request, error)
    headers = {}
    status = status_of(error)
    retry = getattr(error, "retry_after", None)
    if retry is not None or status == 503:
        headers["Retry-After"] = str(retry or 5)
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="podium"'
    body = problem_body(error, request.state.request_id)
    return Response(body, status, media_type=MEDIA_TYPE, headers=headers)


async def _handle_invalid(request: Request, error: Exception) -> Response:
    """Respond to a malformed body or parameter: say where and what, without echoing the value."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    fields: dict[str, list[Any]] = {}
    for problem in found or [{"loc": ("request",), "msg": "not valid", "type": "value_error"}]:
        fields.setdefault(_field_of(problem), []).append(problem)
    where, problems = next(iter(fields.items()))
    number = "" if len(fields) == 1 else f"There are {len(fields)} such problems. "
    text = (
        f"The request is not valid at {where}: {_told_once(problems)}. {number}"
        "See /openapi.json for what is allowed; nothing was charged."
    )
    return await _handle_error(request, Refusal(422, text, error="InvalidRequest"))


def _field_of(problem: Any) -> str:
    """The part of the request that is wrong: of a field that takes several kinds of values, the field."""
    named = itertools.takewhile(_is_place, problem["loc"])
    return ".".join(map(str, named)) or "request"


def _is_place(part: Any) -> bool:
    """Whether this is a field or a number in a list, and no kind of value that was tried."""
    return isinstance(part, int) or (part.isidentifier() and part not in ("str", "int", "float", "bool"))


def _told_once(problems: Sequence[Any]) -> str:
    """What is wrong with a field: the limit that a value of an allowed kind breaks, or all kinds that are allowed."""
    limits = [one["msg"] for one in problems if not one["type"].endswith("_type") and one["type"] != "literal_error"]
    return limits[0] if limits else ", or: ".join(dict.fromkeys(one["msg"] for one in problems))


async def _handle_http_error(request: Request, error: Exception) -> Response:
    """Respond to an unknown route or method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    texts = {
        404: "There is nothing at this address. Check its spelling; /openapi.json lists all addresses of the API.",
        405: "This address does not support that method. /openapi.json lists the methods it supports. Use one of them.",
    }
    text = texts.get(status, "The request could not be understood. /openapi.json describes what is allowed.")
    refusal = Refusal(status, text, error={404: "NotFound", 405: "MethodNotAllowed"}.get(status, "BadRequest"))
    answer = await _handle_error(request, refusal)
    for name, value in (getattr(error, "headers", None) or {}).items():
        answer.headers[name] = value
    return answer
