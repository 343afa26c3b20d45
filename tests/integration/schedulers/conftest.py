"""A folder with a small table, a budget for one list of ten, and the script that publishes it."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.command_line import ROOT, succeeded

EXAMPLES = ROOT / "examples"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with orders.csv and its budget; ``podium`` is on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    runpy.run_path(str(EXAMPLES / "make_orders.py"))["main"]("orders.csv")
    for name in ("nightly.sh", "airflow_dag.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    succeeded(
        "budget", "create", "orders", "--ledger", "ledger.db", "--source", "orders.csv", "--user", "customer",
        "--epsilon", "3", "--delta", "1e-6", "--items", "10", "--questions", "1",
    )  # fmt: skip

    def started(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    return started
