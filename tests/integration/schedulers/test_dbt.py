"""The model for dbt: its function on a relation of DuckDB, and the project by dbt itself where that is installed."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest
from tests.integration.schedulers.conftest import EXAMPLES
from tests.support.environments import programs_of

from podium.errors import BudgetExceeded

MODEL = Path("models") / "top_products.py"
SMALL = 'podium.Budget(epsilon=3, delta="1e-6", items=10, questions=1)'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with a table, and a budget for one list of ten."""
    folder = tmp_path / "dbt"
    shutil.copytree(EXAMPLES / "dbt", folder)
    monkeypatch.chdir(folder)
    runpy.run_path(str(EXAMPLES / "make_orders.py"))["main"]("orders.csv")
    lines = (folder / MODEL).read_text(encoding="utf-8").splitlines()
    lines = [f"BUDGET = {SMALL}" if line.startswith("BUDGET = ") else line for line in lines]
    (folder / MODEL).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def test_the_function_of_the_model(project: Path) -> None:
    top_products = runpy.run_path(str(project / MODEL))["top_products"]
    with duckdb.connect() as connection:
        orders = connection.sql("SELECT customer, product FROM read_csv('orders.csv', all_varchar = true)")
        monday = top_products(orders, ledger="ledger.db", night="monday")
        assert monday.column_names == ["rank", "product"]
        assert monday["product"].to_pylist()[:2] == ["rye", "croissant"]
        assert top_products(orders, ledger="ledger.db", night="monday").equals(monday)
        with pytest.raises(BudgetExceeded):
            top_products(orders, ledger="ledger.db", night="tuesday")


def test_dbt_builds_it(project: Path) -> None:
    dbt = programs_of("dbt") / "dbt"

    def build(night: str) -> tuple[int, list[tuple[int, str]]]:
        given = f"{{orders_file: orders.csv, night: {night}}}"
        ran = subprocess.run(
            [dbt, "build", "--profiles-dir", ".", "--vars", given],
            cwd=project, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        with duckdb.connect(project / "shop.duckdb", read_only=True) as shop:
            rows = shop.sql("SELECT rank, product FROM top_products ORDER BY rank").fetchall()
        assert ("BudgetExceeded" in ran.stdout) == (ran.returncode != 0), ran.stdout + ran.stderr
        return ran.returncode, rows

    code, monday = build("monday")
    assert (code, monday[:2]) == (0, [(1, "rye"), (2, "croissant")])
    assert build("monday") == (0, monday)
    # The budget is spent: the model fails, and the table stays what it was.
    assert build("tuesday") == (1, monday)
