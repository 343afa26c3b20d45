"""A service with something on every page: two tables, releases of every kind, a question that failed, tokens."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
from bench.service.serving import Running, dataset, new_token, running, views
from playwright.sync_api import Browser, Page
from tools.screens.screens import Screen

__all__ = ["LOOKS", "Shop", "open_screen", "shop", "visitors"]

LOOKS = {
    f"{width}-{scheme}": {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    for width, height in ((1280, 800), (390, 844))
    for scheme in ("light", "dark")
}
"""Widths and colours, as the browser is told."""

_FILMS = ("f0", "f1", "f2", "f3")
_BUDGET = "epsilon = 8\ndelta = 1e-6\nitems = 300\nquestions = 30"
_VOTES = dataset("votes", "votes.parquet", "voter", "epsilon = 40\ndelta = 1e-6")
_BAKERY = dataset("orders", "orders.csv", "customer", "epsilon = 3\ndelta = 1e-6\nitems = 100\nquestions = 20")
_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_SQL = """SELECT article, COUNT(DISTINCT user_id) AS n
FROM views
WHERE country = 'DE'
GROUP BY article
ORDER BY n DESC
LIMIT 10"""


@dataclass(frozen=True, slots=True)
class Shop:
    """A running service, the owner's token, and what the names in addresses stand for."""

    server: Running
    secret: str
    names: dict[str, str]


@contextmanager
def shop(folder: Path, *, bakery: bool = False) -> Iterator[Shop]:
    """The service, with all that its pages can show; with the bakery of the README too, if it is asked for."""
    (folder / "more").mkdir()
    views(folder / "more" / "clicks.parquet", users=200)
    _votes(folder / "votes.parquet")
    if bakery:
        subprocess.run([sys.executable, str(_EXAMPLES / "make_orders.py"), "orders.csv"], cwd=folder, check=True)  # noqa: S603
    budget = f"{_BUDGET}\n{_VOTES}" + _BAKERY * bakery
    with running(folder, workers=1, extra='registration = "more"', budget=budget) as server:
        secret = new_token(server, "olga", "owner")
        for name in ("ana", "ben with a rather long name from the other department"):
            new_token(server, name)
        names = _fill(server, secret)
        if bakery:
            question = {"item": "product", "k": 8, "counts": True}
            names["orders"] = _call(server, secret, "/v1/datasets/orders/releases", question)["entry"]
        yield Shop(server, secret, names)


def _votes(path: Path) -> None:
    rows = """SELECT 'v' || v AS voter, 'f' || a AS better, 'f' || b AS worse
        FROM range(500) AS t(v), range(4) AS s(a), range(4) AS r(b) WHERE a < b"""
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")


def _fill(server: Running, secret: str) -> dict[str, str]:
    """Ask one question of each kind."""
    call = partial(_call, server, secret)
    ask = "/v1/datasets/views/releases"
    ranking: dict[str, Any] = {"winner": "better", "loser": "worse", "k": 2, "comparisons_per_pair": 500}
    counts = call(ask, {"item": "article", "k": 10, "counts": True, "others": True})
    groups = call(ask, {"item": "article", "k": 2, "per": "weekday", "counts": True})
    listed = call(ask, {"item": "article", "k": 5, "where": "country = 'DE'"})
    ranked = call("/v1/datasets/votes/releases", {**ranking, "items": list(_FILMS), "epsilon": "20"})
    job = call(ask, {"item": "country", "k": 400}, Prefer="respond-async")
    tokens = call("/v1/tokens")["tokens"]
    return {
        "counts": counts["entry"],
        "groups": groups["entry"],
        "list": listed["entry"],
        "ranked": ranked["entry"],
        "job": job["id"],
        "token": next(one["id"] for one in tokens if one["name"] == "ana"),
        "sql": urlencode({"": _SQL})[1:],
        "ranking": urlencode({**ranking, "items": "\n".join(_FILMS), "epsilon": "10"}),
    }


def _call(server: Running, secret: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    sent = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{server.url}{path}", data, sent)  # noqa: S310 - our own address
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


@contextmanager
def visitors(browser: Browser, shop: Shop, look: str) -> Iterator[dict[bool, Page]]:
    """Two tabs of one look: one of somebody who is signed in, and one of a visitor."""
    options: dict[str, Any] = LOOKS[look]
    contexts = {signed_in: browser.new_context(**options) for signed_in in (True, False)}
    pages = {signed_in: context.new_page() for signed_in, context in contexts.items()}
    pages[True].goto(f"{shop.server.url}/sign-in")
    pages[True].get_by_label("Token").fill(shop.secret)
    pages[True].get_by_role("button", name="Sign in").click()
    pages[True].get_by_role("heading", name="Data sets").wait_for()
    yield pages
    for context in contexts.values():
        context.close()


def open_screen(pages: dict[bool, Page], shop: Shop, screen: Screen) -> Page:
    """The page of a screen, once it has loaded and told what a question would cost."""
    page = pages[screen.signed_in]
    page.goto(shop.server.url + screen.path.format(**shop.names), wait_until="load")
    if screen.name == "ask":
        page.locator(".live .budget").first.wait_for()
    return page
