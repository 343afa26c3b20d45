"""The monitor bench runs, and what it compares comes out the way it says on a small stream."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest
from bench import monitor
from bench.monitor_strategies import STRATEGIES


def test_the_quick_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert monitor.main(["--quick", "--csv", str(tmp_path / "m.csv"), "--picture", str(tmp_path / "m.png")]) == 0
    assert capsys.readouterr().out.count("recall") == len(STRATEGIES)
    with (tmp_path / "m.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * len(STRATEGIES)
    means = {
        name: statistics.fmean(float(row["recall"]) for row in rows if row["strategy"] == name) for name in STRATEGIES
    }
    # A list of ten from 4,000 people at a sixth of epsilon 1: the split cannot return anything.
    assert means["TopKMonitor"] > means["podium.top, epsilon split evenly"] + 0.1
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
