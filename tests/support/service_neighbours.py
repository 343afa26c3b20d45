"""A long conversation with a service, written down so that it can be compared with the same on a neighbouring table.

What is released is random, and what is left of a budget follows from what was released. So the two sides are compared
given the same released outcomes: on the second side rows are read and selected as always, and then the outcome is
replaced by the one of the first side. Whatever still differs came from rows by another way than the release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp
from tests.support.serving import World, views, world
from tests.unit.service.test_pages import signed_in

from podium.curator import answer
from podium.curator.prepare import PlannedQuestion
from podium.release import Release
from podium.sources import Source

BUDGET = {"epsilon": 6, "delta": "1e-5", "items": 400, "questions": 50}
PLACE = "/v1/datasets/views"
TEXTS = ("application/json", "application/problem+json", "text/", "image/svg+xml")
LEFT_OUT = 0
"""The neighbour lacks this user, who read every article."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer, with what is random or tells the time replaced by names in order of appearance."""

    request: str
    status: int
    headers: tuple[tuple[str, str], ...]
    size: int
    body: str


@dataclass
class Outcomes:
    """The releases of the first side, in their order, for the second."""

    recorded: list[tuple[str, Release]] = field(default_factory=list)
    replayed: int | None = None

    def instead_of(self, planned: PlannedQuestion, real: Release) -> Release:
        key = f"{planned.question} {planned.strategy.describe()} {planned.domain}"
        if self.replayed is None:
            self.recorded.append((key, real))
            return real
        question, release = self.recorded[self.replayed]
        assert question == key
        self.replayed += 1
        return release


def conversations(folder: Path, monkeypatch: pytest.MonkeyPatch, leak: Any = None) -> list[list[Exchange]]:
    """The same conversation on a table and on its neighbour; ``leak(app, rows)`` wraps the app."""
    outcomes = Outcomes()
    whole = answer._select

    def released(source: Source, planned: PlannedQuestion) -> Release:
        return outcomes.instead_of(planned, whole(source, planned))

    monkeypatch.setattr(answer, "_select", released)
    sides = []
    for name, without in (("table", None), ("neighbour", LEFT_OUT)):
        # Both lie at the same place: where a table is may be told.
        place = folder / "service"
        place.mkdir()
        views(place / "views.parquet", users=300, without=without)
        with world(place, budget=BUDGET) as here:
            if leak is not None:
                _wrap(here, leak(here.app, place / "views.parquet"))
            sides.append(Conversation(here).held())
        place.rename(folder / name)
        outcomes.replayed = 0
    return sides


def _wrap(here: World, app: ASGIApp) -> None:
    here.client.app = app
    here.client._transport.app = app  # type: ignore[attr-defined]


class Conversation:
    """Hundreds of questions, and a look at everything else now and then."""

    def __init__(self, here: World) -> None:
        self.here = here
        self.exchanges: list[Exchange] = []
        self.names: dict[str, str] = {}
        self.browser = signed_in(here, "owner")
        self.browser.client.app = here.client.app
        self.browser.client._transport = here.client._transport
        here.give("olga", "owner")

    def held(self) -> list[Exchange]:
        for number, body in enumerate(questions()):
            if number % 3 == 0:
                self.note("POST", f"{PLACE}/plan", body)
            answer = self.note("POST", f"{PLACE}/releases", body, who=("ana", "bob")[number % 2])
            if answer.status_code == 200 and number % 12 == 0:
                self.look_at(answer.json()["entry"])
            if number % 50 == 0:
                self.look_around()
        self.look_around()
        return self.exchanges

    def look_at(self, entry: str) -> None:
        for form in ("json", "csv", "parquet", "card"):
            self.note("GET", f"{PLACE}/releases/{entry}?format={form}")
        self.page(f"/datasets/views/releases/{entry}")
        self.page(f"/datasets/views/releases/{entry}.svg")

    def look_around(self) -> None:
        for path in ("", "/budget", "/history", "/releases", "/verification"):
            self.note("GET", f"{PLACE}{path}")
            self.note("GET", f"{PLACE}{path}", who="olga")
        for path in ("/v1/datasets", "/metrics", "/ready"):
            self.note("GET", path, who="olga")
        for path in ("", "/ledger", "/ledger.svg", "/ask", "/verify", "/preview?item=article&k=3"):
            self.page(f"/datasets/views{path}")

    def note(self, method: str, path: str, body: Any = None, *, who: str = "ana") -> Any:
        answer = self.here.call(method, path, body, who=who)
        self._write(f"{who} {method} {path} {json.dumps(body)}", answer)
        return answer

    def page(self, path: str) -> None:
        self._write(f"page {path}", self.browser.get(path))

    def _write(self, request: str, answer: Any) -> None:
        headers = dict(answer.headers)
        length = headers.pop("content-length", None)
        # That of the body as it was; compared is that of the body without what is random.
        assert length in (None, str(len(answer.content)))
        told = sorted((name, self._named(value)) for name, value in headers.items())
        text = headers.get("content-type", "").startswith(TEXTS)
        body = self._named(answer.text) if text else ""
        size = len(body) if text else len(answer.content)
        self.exchanges.append(Exchange(self._named(request), answer.status_code, tuple(told), size, body))

    def _named(self, text: str) -> str:
        """Without ids, hashes and times."""
        told = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00| UTC|Z)?", "(time)", text)
        return re.sub(
            r"\b(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{12})\b",
            lambda found: self.names.setdefault(found[0], f"(id {len(self.names)})"),
            told,
        )


def questions() -> Iterator[dict[str, Any]]:
    """Valid and not, about many users, about one, and about nobody."""
    wheres = [
        None, "user_id = 'u0'", "user_id <> 'u0'", "user_id = 'nobody'", "weekday = 0 AND country = 'DE'",
        "user_id LIKE 'u0%'", "country = 'XX'", "weekday IN (0, 6)", "user_id IN ('u0', 'u1')", "NOT country = 'DE'",
    ]  # fmt: skip
    options: list[dict[str, Any]] = [
        {"item": "article", "k": 3}, {"item": "article", "k": 2}, {"item": "country", "k": 1, "counts": True},
        {"item": ["article", "country"], "k": 2}, {"item": "article", "k": 2, "max_items_per_user": 1},
        {"item": "article", "k": 1, "domain": ["a0", "a9", "nothing"]}, {"item": "weekday", "k": 2, "domain_size": 7},
        {"item": "article", "k": 2, "mechanism": "ExponentialTopK"}, {"item": "article", "k": 900},
        {"item": "weekday", "k": 1, "epsilon": "0.01"},
    ]  # fmt: skip
    for where in wheres:
        for option in options:
            yield option if where is None else {**option, "where": where}
    sql = "SELECT {0}, COUNT(DISTINCT user_id) AS n FROM views WHERE {1} GROUP BY {0} ORDER BY n DESC LIMIT {2}"
    for number, where in enumerate(wheres[1:]):
        yield {"sql": sql.format("article", where, 1 + number % 3)}
        yield {"sql": sql.format("nothing", where, 2)}
    for where in ("user_id = 0", "weekday = 'x'", "article LIKE 'a\\'", "nothing = 1", "1 = 1", "user_id = 'u0' OR"):
        yield {"item": "article", "k": 1, "where": where}
    yield from ({"item": name, "k": 1} for name in ("user_id", "nothing", ""))
