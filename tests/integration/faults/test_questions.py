"""Questions whose disk, memory or room for spilling ends: forfeited or kept, in words that tell nothing about rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import ASK, podium, write_views
from tests.support.curator.tables import BUDGET, Watched, curator, views
from tests.support.limits import files_no_larger_than

from podium import Curator
from podium.curator import settle
from podium.errors import QuestionForfeited
from podium.sources import CountQuery, Domain, Snapshot, open_source


class Filling(Watched):
    """The disk is full from the moment at which rows are read."""

    def __init__(self, path: Path, shortage: ExitStack, size: Callable[[], int]) -> None:
        super().__init__(open_source(path))
        self._shortage, self._size = shortage, size

    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[Snapshot]:
        self._shortage.enter_context(files_no_larger_than(self._size()))
        return super().snapshot(query, domain=domain)


def test_the_disk_is_full_when_the_answer_should_be_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is released, everything reserved stays charged, and the ledger is sound."""
    monkeypatch.setattr(settle, "PATIENCE", 0.5)
    path, ledger = views(tmp_path / "views.parquet"), tmp_path / "ledger.db"
    with ExitStack() as shortage:
        source = Filling(path, shortage, lambda: 1)
        with Curator(source, dataset="views", user="user_id", ledger=ledger, budget=BUDGET) as made:
            with shortage, pytest.raises(QuestionForfeited, match="Nothing was released") as caught:
                made.top("article", k=2)
            assert caught.value.__cause__ is caught.value.__context__ is None
            status = made.status
            assert status.reserved.rho == caught.value.rho > 0
            assert made._ledger_account.ledger.verify().sound
        source.close()


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "table"])
def test_the_file_of_an_answer_cannot_be_written(tmp_path: Path, form: str) -> None:
    """The answer is paid for, so it goes to stdout; the file is as it was, and asking again is free."""
    write_views(tmp_path)
    ledger, output = tmp_path / "ledger.db", tmp_path / "answer.out"
    place = ["--ledger", str(ledger), "--dataset", "views"]
    source = str(tmp_path / "views.parquet")
    total = ["--epsilon", "5", "--delta", "1e-6", "--items", "100", "--questions", "10"]
    made = podium("budget", "create", "views", "--ledger", str(ledger), "--source", source, "--user", "user_id", *total)
    assert made.exit_code == 0, made.stderr
    ask = ["top", source, *ASK, "-k", "3", *place]
    assert podium(*ask).exit_code == 0
    output.write_text("earlier", encoding="utf-8")
    with files_no_larger_than(10):
        found = podium(*ask, "--format", form, "--output", str(output), "--force")
    assert found.exit_code == 9
    assert "OutputFailed: output=" in found.stderr
    assert json.loads(found.stdout)["outcome"] == ["article-0", "article-1", "article-2"]
    assert output.read_text(encoding="utf-8") == "earlier"
    assert sorted(tmp_path.glob("*.part")) == []
    assert podium(*ask, "--format", form, "--output", str(output), "--force").exit_code == 0
    assert output.read_bytes() != b"earlier"


def many(path: Path) -> Path:
    """More distinct pairs than a few megabytes hold."""
    count = 400_000
    users = pa.array(range(count), pa.int64())
    items = pa.array([f"item {'x' * 40} {i}" for i in range(count)])
    pq.write_table(pa.table({"user_id": users, "article": items}), path)
    return path


@pytest.mark.parametrize(
    ("engine", "largest_file"),
    [
        ({"memory_limit": "12MB", "max_temp_directory_size": "1MB", "threads": "1"}, None),
        ({"memory_limit": "12MB", "threads": "1"}, 1 << 20),
    ],
    ids=["out of memory", "no room to spill"],
)
def test_an_engine_without_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: dict[str, str], largest_file: int | None
) -> None:
    """The engine gives up, the question is forfeited, and its words are the same as for any other failure."""
    path, connect = many(tmp_path / "views.parquet"), duckdb.connect

    def small(database: str, *, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        return connect(database, config=config | engine)

    monkeypatch.setattr(duckdb, "connect", small)
    with curator(path) as (made, _), ExitStack() as shortage:
        if largest_file is not None:
            shortage.enter_context(files_no_larger_than(largest_file))
        with pytest.raises(QuestionForfeited) as caught:
            made.top("article", k=3)
        shortage.close()
        assert caught.value.__cause__ is caught.value.__context__ is None
        assert str(caught.value) == str(QuestionForfeited("views", caught.value.rho, caught.value.delta))
        assert made.status.failures == 1
        assert made._ledger_account.ledger.verify().sound
