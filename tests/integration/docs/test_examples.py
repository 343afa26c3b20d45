"""Every example runs as it is, on the data that it makes up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from podium import Release

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(folder: Path, *arguments: str, code: int = 0) -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout if code == 0 else ran.stderr


def test_all_examples_are_run_here() -> None:
    here = {"make_orders.py", "nightly.py", "top_of_csv.py"}
    in_a_kernel = {"analyst.ipynb", "epsilons.ipynb", "owner.ipynb"}
    on_spark = {"spark_job.py"}
    by_a_page = {"make_messy.py", "make_plays.py", "make_visits.py", "make_votes.py"}
    by_schedulers = {"airflow_dag.py", "dbt", "nightly.sh"}
    known = here | in_a_kernel | on_spark | by_a_page | by_schedulers
    assert {path.name for path in EXAMPLES.iterdir() if path.name != "__pycache__"} == known


def test_the_script() -> None:
    printed = run(EXAMPLES.parent, "examples/top_of_csv.py").splitlines()
    assert printed[0].startswith("most bought: rye, croissant, ")
    assert [line.partition(":")[0] for line in printed[1:3]] == ["rye", "croissant"]
    assert printed[3].endswith(", again: 0.0000 of rho")
    assert printed[4].startswith("everything released about 'orders' together is (3, 1e-6)-differentially private")


def test_the_nightly_list_costs_once_a_night_and_stops_when_spent(tmp_path: Path) -> None:
    run(tmp_path, str(EXAMPLES / "make_orders.py"), "orders.csv")
    create = ("budget", "create", "orders", "--ledger", "ledger.db", "--source", "orders.csv", "--user", "customer")
    run(tmp_path, "-m", "podium", *create, "--epsilon", "2", "--delta", "1e-6", "--items", "6", "--questions", "2")
    ask = (
        str(EXAMPLES / "nightly.py"), "orders.csv", "--ledger", "ledger.db", "--dataset", "orders", "--item", "product",
        "--user", "customer", "-k", "3", "--night",
    )  # fmt: skip
    first = run(tmp_path, *ask, "monday")
    assert first == "published 3 items for monday; enough for 3 items or 1 questions\n"
    assert run(tmp_path, *ask, "monday") == first
    run(tmp_path, *ask, "tuesday")
    latest = (tmp_path / "published" / "latest.json").read_text(encoding="utf-8")
    refused = run(tmp_path, *ask, "wednesday", code=3)
    assert refused.startswith("nothing was published: This answer may cost")
    assert sorted(path.name for path in (tmp_path / "published").iterdir()) == [
        "latest.json", "monday.card.md", "monday.json", "tuesday.card.md", "tuesday.json",
    ]  # fmt: skip
    assert (tmp_path / "published" / "latest.json").read_text(encoding="utf-8") == latest
    assert Release.from_json(latest).items[:2] == ("rye", "croissant")
