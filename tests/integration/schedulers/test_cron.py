"""The script for cron: what it prints, its exit codes, and what becomes of the published file."""

from __future__ import annotations

from pathlib import Path

from tests.integration.schedulers.conftest import Run

from podium import Release

SCRIPT = ("./nightly.sh", "orders.csv", "ledger.db", "top.json")


def test_a_list_is_replaced_only_by_another(run: Run, tmp_path: Path) -> None:
    published = tmp_path / "top.json"
    published.write_text("the old list", encoding="utf-8")
    missing = run("./nightly.sh", "missing.csv", *SCRIPT[2:], "monday")
    assert (missing.returncode, published.read_text(encoding="utf-8")) == (4, "the old list")
    first = run(*SCRIPT, "monday")
    # Cron sends a mail about whatever is printed.
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    monday = Release.from_json(published.read_text(encoding="utf-8"))
    assert monday.items[:2] == ("rye", "croissant")
    again = run(*SCRIPT, "monday")
    assert again.returncode == 0
    repeated = Release.from_json(published.read_text(encoding="utf-8"))
    assert repeated.items == monday.items
    assert repeated.paid.rho == 0
    spent = run(*SCRIPT, "tuesday")
    assert (spent.returncode, spent.stdout) == (3, "")
    assert spent.stderr.startswith("BudgetExceeded: ")
    assert Release.from_json(published.read_text(encoding="utf-8")).items == monday.items
    assert {path.name for path in tmp_path.iterdir()} == {
        "airflow_dag.py", "ledger.db", "ledger.db-journal", "nightly.sh", "orders.csv", "top.json",
    }  # fmt: skip
