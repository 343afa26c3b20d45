"""Services for the tests, in this process: settings for a small public table, and tokens by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from bench.service.serving import Running, new_token, running, views
from fastapi import FastAPI
from starlette.testclient import TestClient

from podium.errors import PodiumError
from podium.service.app import create_app
from podium.service.core import Service
from podium.service.settings import Settings, read

__all__ = [
    "BUDGET", "FILMS", "RANKING", "Running", "World", "new_token", "running", "settings_for", "views", "votes", "world",
]  # fmt: skip

BUDGET: dict[str, Any] = {"epsilon": 3, "delta": "1e-6", "items": 200, "questions": 20}
GENEROUS: dict[str, Any] = {f"{what}_per_minute": 1_000_000 for what in ("requests", "questions", "failures", "plans")}

FILMS = ["f0", "f1", "f2", "f3"]
RANKING: dict[str, Any] = {"winner": "better", "loser": "worse", "comparisons_per_pair": 500, "items": FILMS, "k": 2}
"""A question about ``votes``, as Python and JSON write it."""


def votes(path: Path) -> Path:
    """Voters who compared every two of four films: f0 beats all others, and f1 the last two."""
    rows = """SELECT 'v' || v AS voter, 'f' || a AS better, 'f' || b AS worse, CAST(v % 100 AS DECIMAL(9, 2)) AS age,
        ['web', 'app'] AS used FROM range(500) AS t(v), range(4) AS s(a), range(4) AS r(b) WHERE a < b"""
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


def settings_for(folder: Path, *, budget: dict[str, Any] | None = None, **changed: Any) -> Settings:
    """The settings of a service for one table in a folder; ``changed`` are further sections."""
    if not (folder / "views.parquet").exists():
        views(folder / "views.parquet")
    document: dict[str, Any] = {
        "ledger": "ledger.db",
        "limits": GENEROUS,
        "datasets": {"views": {"source": "views.parquet", "user": "user_id", "budget": budget or BUDGET}},
        **changed,
    }
    return read(document, folder=folder, environment={})


@dataclass
class World:
    """An app in this process, with tokens by name."""

    app: FastAPI
    client: TestClient
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def service(self) -> Service:
        found: Service = self.app.state.service
        return found

    def give(self, name: str, role: str = "analyst", *datasets: str, days: int = 90) -> str:
        """A token by name, made when it is first asked for."""
        if name not in self.secrets:
            self.secrets[name] = self.service.tokens.create(name, role=role, datasets=datasets or ["*"], days=days)[0]
        return self.secrets[name]

    def call(self, method: str, path: str, body: Any = None, *, who: str | None = "ana", **headers: str) -> Any:
        """One request; the token of ``who`` is an analyst's unless it was made before."""
        if who is not None:
            headers["Authorization"] = f"Bearer {self.give(who)}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(method, path, json=body, headers=named)


@contextmanager
def world(folder: Path, **changed: Any) -> Iterator[World]:
    """An app for ``settings_for(folder)``."""
    app = create_app(settings_for(folder, **changed))
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as client:
        # The app opens its data sets in the background; tests begin when they are open.
        with suppress(PodiumError):
            for name in app.state.service.datasets.names():
                with suppress(PodiumError):
                    app.state.service.datasets.get(name)
        yield World(app, client)
