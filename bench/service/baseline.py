"""The same question without privacy: FastAPI and DuckDB, no ledger, no noise, no tokens."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import duckdb
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from podium.service.server import run_workers

__all__ = ["TABLE_VARIABLE", "create_app"]

TABLE_VARIABLE = "PODIUM_BENCH_TABLE"


class Question(BaseModel):
    """The part of a question that matters here."""

    item: str
    k: int
    where: str


def create_app() -> FastAPI:
    """An app for one worker."""
    app = FastAPI()
    connection = duckdb.connect()
    local = threading.local()
    table = os.environ[TABLE_VARIABLE]

    @app.post("/top")
    def top(question: Question) -> dict[str, Any]:
        if not hasattr(local, "cursor"):
            local.cursor = connection.cursor()
        rows = local.cursor.execute(
            f"SELECT {question.item}, COUNT(DISTINCT user_id) AS n FROM '{table}' "  # noqa: S608 - made up here
            f"WHERE {question.where} GROUP BY 1 ORDER BY n DESC, 1 LIMIT {question.k}"
        ).fetchall()
        return {"rows": rows}

    return app


if __name__ == "__main__":
    run_workers(
        uvicorn.Config(
            "bench.service.baseline:create_app", factory=True, port=int(sys.argv[1]), workers=2, log_level="error"
        )
    )
