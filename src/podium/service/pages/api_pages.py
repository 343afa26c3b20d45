"""The page about the API, for people who open its address in a browser; programs get JSON there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from podium.errors import PodiumError
from podium.service.http.access import service
from podium.service.http.negotiation import prefers_page
from podium.service.pages.cookies import session_or_none
from podium.service.pages.rendering import page
from podium.service.pages.snippets import in_curl, in_python
from podium.service.store.sessions import SignedIn
from podium.wire.request import QuestionRequest

__all__ = ["router"]

_OWN = ("/tokens", "/total", "/data-version", "/unlock")
_ASK = ("/plan", "/releases", "/batch", "/jobs")


class BrowserRoute(APIRoute):
    """A route for browsers only: for other callers it does not exist."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this request is for a page."""
        return super().matches(scope) if prefers_page(scope) else (Match.NONE, {})


router: APIRouter = APIRouter(route_class=BrowserRoute)


@dataclass(frozen=True, slots=True)
class _Address:
    method: str
    path: str
    summary: str


@router.get("/v1")
def api(request: Request) -> Response:
    """What programs may do here; open to visitors who are not signed in, like the description for machines."""
    signed = session_or_none(request)
    url = service(request).settings.server.public_url or str(request.base_url).rstrip("/")
    dataset, item = _example(request, signed)
    asked = QuestionRequest.of(item=item, k=10)
    return page(
        request, "api.html", signed, groups=_grouped(request.app.openapi()),
        python="import podium\n\ntoken = \"podium_...\"\n" + in_python(asked, url, dataset),
        curl=in_curl(asked, url, dataset),
    )  # fmt: skip


def _example(request: Request, signed: SignedIn | None) -> tuple[str, str]:
    """A data set of the reader and a column of it, where there is one."""
    datasets = service(request).datasets
    for name in [] if signed is None else datasets.visible(signed.token):
        with suppress(PodiumError):
            for column in datasets.get(name).tables[0].item_columns:
                return name, column
    return "DATASET", "COLUMN"


def _grouped(document: dict[str, Any]) -> list[tuple[str, list[_Address]]]:
    found: dict[str, list[_Address]] = {"Ask": [], "Look up": [], "For owners": []}
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            if path.startswith("/v1"):
                found[_title(method, path)].append(_Address(method.upper(), path, told["summary"]))
    return list(found.items())


def _title(method: str, path: str) -> str:
    if any(part in path for part in _OWN) or (method == "post" and path == "/v1/datasets"):
        return "For owners"
    return "Ask" if method != "get" and any(part in path for part in _ASK) else "Look up"
