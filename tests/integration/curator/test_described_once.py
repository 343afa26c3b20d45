"""A question describes its table once, however its strategy reads it: the catalogue of a server is far away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from podium import Budget, Curator
from podium.sources import DuckDBSource

WAYS: list[dict[str, Any]] = [
    {},
    {"max_items_per_user": 2},
    {"mechanism": "adaptive"},
    {"counts": True},
    {"domain": ["i0", "i1", "i2"]},
]


class Described(DuckDBSource):
    """Counts how often the table is described."""

    times = 0

    def _refresh(self) -> None:
        self.times += 1
        super()._refresh()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("described") / "events.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT r AS u, 'i' || (r % 3) AS i FROM range(900) AS made(r)")
    return path


@pytest.mark.parametrize("options", WAYS)
def test_a_question_describes_its_table_once(table: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    source = Described(table, table="t")
    budget = Budget(epsilon=3, delta="1e-6", items=20, questions=4)
    with Curator(source, dataset="t", user="u", ledger=tmp_path / "ledger.db", budget=budget) as curator:
        opened = source.times
        curator.top("i", k=2, **options)
        assert source.times == opened + 1
        curator.plan("i", k=2, **options)
        assert source.times == opened + 2
    source.close()


def test_a_table_that_changed_between_questions_is_described_anew(tmp_path: Path, table: Path) -> None:
    source = Described(table, table="t")
    budget = Budget(epsilon=3, delta="1e-6", items=20, questions=4)
    with Curator(source, dataset="t", user="u", ledger=tmp_path / "ledger.db", budget=budget) as curator:
        before = source.relation()
        curator.plan("i", k=2, max_items_per_user=2)
        assert source.relation() is not before
    source.close()
