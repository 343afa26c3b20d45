"""Every page of the service, how to reach it, and which of its addresses are no pages."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi.routing import APIRoute

from podium.service.pages import (
    answer_pages,
    api_pages,
    ask_pages,
    job_pages,
    link_pages,
    main_pages,
    owner_pages,
)

__all__ = ["IN_DOCS", "NO_PAGES", "SCREENS", "Screen", "page_routes"]


@dataclass(frozen=True, slots=True)
class Screen:
    """A page: its name, the route that serves it, and an address, in which names in braces stand for what was made."""

    name: str
    route: str
    path: str
    signed_in: bool = True


_VIEWS = "/datasets/views"
_COUNTS = "item=article&k=10&counts=yes"

SCREENS = (
    Screen("sign-in", "/sign-in", "/sign-in", signed_in=False),
    Screen("link", "/sign-in/link", "/sign-in/link?code=0", signed_in=False),
    Screen("about", "/about", "/about"),
    Screen("api", "/v1", "/v1"),
    Screen("datasets", "/datasets", "/datasets"),
    Screen("dataset", "/datasets/{dataset}", _VIEWS),
    Screen("ask", "/datasets/{dataset}/ask", f"{_VIEWS}/ask"),
    Screen("mistake", "/datasets/{dataset}/preview", f"{_VIEWS}/preview?item=articel&k=3"),
    Screen("preview", "/datasets/{dataset}/preview", f"{_VIEWS}/preview?{_COUNTS}"),
    Screen("preview-sql", "/datasets/{dataset}/preview", f"{_VIEWS}/preview?sql={{sql}}"),
    Screen("too-much", "/datasets/{dataset}/preview", f"{_VIEWS}/preview?item=article&k=400"),
    Screen("rank", "/datasets/{dataset}/rank", "/datasets/votes/rank"),
    Screen("preview-ranking", "/datasets/{dataset}/preview", "/datasets/votes/preview?{ranking}"),
    Screen("answer", "/datasets/{dataset}/releases/{entry}", f"{_VIEWS}/releases/{{counts}}"),
    Screen("answer-groups", "/datasets/{dataset}/releases/{entry}", f"{_VIEWS}/releases/{{groups}}"),
    Screen("answer-list", "/datasets/{dataset}/releases/{entry}", f"{_VIEWS}/releases/{{list}}"),
    Screen("answer-ranking", "/datasets/{dataset}/releases/{entry}", "/datasets/votes/releases/{ranked}"),
    Screen("job", "/jobs/{id_}", "/jobs/{job}"),
    Screen("ledger", "/datasets/{dataset}/ledger", f"{_VIEWS}/ledger"),
    Screen("verify", "/datasets/{dataset}/verify", f"{_VIEWS}/verify?receipt={{counts}}"),
    Screen("owner", "/owner", "/owner"),
    Screen("owner-dataset", "/owner/datasets/{dataset}", "/owner/datasets/views"),
    Screen("revoke", "/owner/tokens/{id_}/revoke", "/owner/tokens/{token}/revoke"),
    Screen("nothing", "/about", "/nothing"),
)

IN_DOCS = (
    Screen("preview", "/datasets/{dataset}/preview", "/datasets/orders/preview?item=product&k=8&counts=yes"),
    Screen("answer", "/datasets/{dataset}/releases/{entry}", "/datasets/orders/releases/{orders}"),
)
"""What the documentation shows: the table of the README."""

NO_PAGES = {
    "/": "leads to the data sets",
    "/about.json": "JSON",
    "/datasets.json": "JSON",
    "/datasets/{dataset}.json": "JSON",
    "/datasets/{dataset}/ledger.json": "JSON",
    "/datasets/{dataset}/ledger.svg": "a picture",
    "/datasets/{dataset}/live": "a part of the pages to ask",
    "/datasets/{dataset}/releases/{entry}.card.json": "JSON",
    "/datasets/{dataset}/releases/{entry}.{suffix}": "a file",
    "/jobs/{id_}.json": "JSON",
    "/jobs/{id_}/events": "events",
}
"""Addresses that are read but are no pages, and what they are."""


def page_routes() -> set[str]:
    """The addresses that browsers read."""
    modules = (main_pages, link_pages, ask_pages, job_pages, answer_pages, owner_pages, api_pages)
    routes = [route for module in modules for route in module.router.routes]
    return {route.path for route in routes if isinstance(route, APIRoute) and "GET" in (route.methods or ())}
