"""The bench of the service says what it measured. No assertion on a time: machines are shared and noisy."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.__main__ import BENCHES
from bench.service import run
from bench.service.baseline import TABLE_VARIABLE, create_app
from bench.service.serving import views
from starlette.testclient import TestClient


def test_it_is_registered() -> None:
    assert "service" in BENCHES


def test_rates_and_slowest_hundredths_are_told_as_ratios() -> None:
    measured = {
        "plan": run.Measured([0.001] * 99 + [0.5], elapsed=1.0),
        "without privacy": run.Measured([0.002] * 50, elapsed=1.0),
    }
    assert measured["plan"].rate == 100
    assert 0.4 < measured["plan"].p99 < 0.5
    lines = run.report(measured, run.QUICK).splitlines()
    plan = next(line.split() for line in lines if line.startswith("plan"))
    assert (plan[1], plan[2], plan[4], plan[5]) == ("100.0", "1.0", "2.00", "0.50")


def test_the_baseline_answers_the_same_question_without_privacy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TABLE_VARIABLE, str(views(tmp_path / "views.parquet", users=30)))
    with TestClient(create_app()) as client:
        answer = client.post("/top", json={"item": "article", "k": 3, "where": "user_id <> 'nobody'"})
    assert answer.json() == {"rows": [["a0", 30], ["a1", 15], ["a2", 10]]}


def test_fresh_questions_are_all_different() -> None:
    assert run._fresh() != run._fresh()
