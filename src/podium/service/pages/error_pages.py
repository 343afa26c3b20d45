"""Errors as pages for browsers, with the same messages as elsewhere."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from podium.errors import PodiumError
from podium.service.http.negotiation import prefers_page
from podium.service.pages.cookies import session_or_none
from podium.service.pages.rendering import page
from podium.wire.problems import UNEXPECTED, status_of

__all__ = ["error_page", "local_path", "wants_page"]

_MACHINES = ("/v1", "/health", "/ready", "/metrics", "/openapi.json", "/static")
_FILES = (".json", ".csv", ".parquet", ".svg", "/events")


def wants_page(request: Request) -> bool:
    """Whether the request comes from a person's browser, and is not for a file or a program's address."""
    path = request.url.path
    return prefers_page(request.scope) and not path.startswith(_MACHINES) and not path.endswith(_FILES)


def local_path(target: str) -> str:
    """The target if it is a local path, otherwise /: browsers read // and backslashes as another host."""
    plain = target.startswith("/") and not target.startswith("//") and "\\" not in target and target.isprintable()
    return target if plain else "/"


def error_page(request: Request, error: Exception) -> Response:
    """The error as a page; without a session, a redirect to the sign-in page."""
    status = status_of(error)
    if status == 401 and request.method == "GET":
        target = quote(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
        return RedirectResponse(f"/sign-in?next={target}", 303)
    lines = error.lines if isinstance(error, PodiumError) else (UNEXPECTED,)
    shown = page(
        request, "error.html", session_or_none(request), status=status, title=HTTPStatus(status).phrase, lines=lines,
        request_id=request.state.request_id,
    )  # fmt: skip
    retry = getattr(error, "retry_after", None)
    if retry is not None or status == 503:
        shown.headers["Retry-After"] = str(retry or 5)
    return shown
