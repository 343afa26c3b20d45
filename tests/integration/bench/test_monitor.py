"""The monitor bench runs, and what it compares comes out the way it says on a small stream."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest
from bench.monitor import run
from bench.monitor.strategies import STRATEGIES


def test_the_quick_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {kind: str(tmp_path / f"m.{kind}") for kind in ("json", "csv", "png")}
    assert run.main(["--quick", "--json", files["json"], "--csv", files["csv"], "--picture", files["png"]]) == 0
    assert capsys.readouterr().out.count("recall") == len(STRATEGIES)
    with (tmp_path / "m.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * len(STRATEGIES)
    means = {
        name: statistics.fmean(float(row["recall"]) for row in rows if row["strategy"] == name) for name in STRATEGIES
    }
    cells = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["cells"]
    assert {cell["strategy"]: cell["recall"] for cell in cells} == pytest.approx(means, abs=1e-4)
    left = [float(row["left"]) for row in rows if row["strategy"] == "TopKMonitor"]
    assert left == sorted(left, reverse=True)
    assert 0 <= left[-1] < left[0] < 1
    # What is found of so small a stream is chance; the full bench compares.
    assert all(0 <= mean <= 1 for mean in means.values())
    assert means["TopKMonitor"] > 0
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
