"""The DAG for Airflow: its command is run as Airflow runs it, and by Airflow itself where that is installed."""

from __future__ import annotations

import ast
import datetime as dt
from pathlib import Path
from typing import Any

import jinja2
import pytest
from tests.integration.schedulers.conftest import EXAMPLES, Run
from tests.support.environments import programs_of

from podium import Release

SHOP = {"SHOP_ORDERS": "orders.csv", "SHOP_LEDGER": "ledger.db", "SHOP_OUTPUT": "top.json"}
BY_AIRFLOW = """
import datetime, sys
from airflow_dag import dag
for night in (17, 18):
    run = dag.test(run_after=datetime.datetime(2026, 11, night, 3, tzinfo=datetime.UTC))
    print("ended:", night, *(task.state for task in run.get_task_instances()))
"""


@pytest.fixture(autouse=True)
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, file in SHOP.items():
        monkeypatch.setenv(name, str(tmp_path / file))


def _arguments() -> dict[str, Any]:
    """What the DAG passes to its operator, as far as these are constants."""
    tree = ast.parse((EXAMPLES / "airflow_dag.py").read_text(encoding="utf-8"))
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "BashOperator"
    )
    return {one.arg: one.value.value for one in call.keywords if one.arg and isinstance(one.value, ast.Constant)}


def test_the_command_publishes_a_list_and_says_when_the_budget_is_spent(run: Run, tmp_path: Path) -> None:
    passed = _arguments()
    templates = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701 - a shell command
    templates.filters["ds"] = lambda moment: moment.strftime("%Y-%m-%d")
    command = templates.from_string(passed["bash_command"])

    def night(day: int) -> int:
        dag_run = {"run_after": dt.datetime(2026, 11, day, 3, tzinfo=dt.UTC)}
        return run("bash", "-c", command.render(dag_run=dag_run)).returncode

    assert night(17) == 0
    published = (tmp_path / "top.json").read_text(encoding="utf-8")
    assert Release.from_json(published).items[0] == "rye"
    assert night(18) == passed["skip_on_exit_code"]
    assert (tmp_path / "top.json").read_text(encoding="utf-8") == published


def test_airflow_runs_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = programs_of("airflow")
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    migrated = run(programs / "airflow", "db", "migrate")
    assert migrated.returncode == 0, migrated.stderr
    ran = run(programs / "python", "-c", BY_AIRFLOW)
    ended = [line for line in ran.stdout.splitlines() if line.startswith("ended:")]
    assert ended == ["ended: 17 success", "ended: 18 skipped"], ran.stdout + ran.stderr
    assert Release.from_json((tmp_path / "top.json").read_text(encoding="utf-8")).items[0] == "rye"
