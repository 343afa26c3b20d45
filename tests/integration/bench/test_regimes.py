"""The regimes of the utility bench: cells that do not move, a simulation that is faithful, and how cells are judged."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from bench.utility.regimes import report, run, same_cells
from bench.utility.regimes.cells import FILE, REPORTED, TUNED, even_cells, read_cells, write_cells
from bench.utility.regimes.contestants import BRANCHES, CONTESTANTS, limited_domain
from bench.utility.regimes.formula import by_formula
from bench.utility.regimes.rule import by_rule
from bench.utility.regimes.tables import make_table
from bench.utility.regimes.thresholds import best_call, cutoff_gaussian, cutoff_laplace
from rich.console import Console

from podium.mechanisms import SizedTopK
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.weights import Weights

CELLS = read_cells()
SMALL = {key.name: key for key in CELLS if key.users in (300, 1000)}


def test_the_cells_are_those_that_were_fixed(tmp_path: Path) -> None:
    write_cells(tmp_path / "cells.csv")
    assert (tmp_path / "cells.csv").read_text(encoding="utf-8") == FILE.read_text(encoding="utf-8")
    assert sum(map(len, CELLS.values())) == 2500
    assert not set(TUNED) & set(REPORTED)


def test_thresholds_are_those_of_the_product() -> None:
    mechanism = SizedTopK(10, 1, "1e-6")
    rest = float(mechanism.epsilon_of_branch)
    assert cutoff_laplace(rest, 1e-6) == pytest.approx(float(mechanism.laplace.threshold), rel=1e-9)
    one = TruncatedGaussianHistogram(k=10, sigma=5, delta="5e-7", weights=Weights.spread(32))
    assert cutoff_gaussian(5.0, 5e-7, 32) == pytest.approx(float(one.count_threshold), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "k", "epsilon"),
    [
        ("1,000 users x 1, exponent 1", 10, 3.0),
        ("1,000 users x 10, exponent 1", 10, 3.0),
        ("300 users x 50, exponent 1", 3, 3.0),
    ],
)
def test_the_simulation_finds_what_the_product_finds(name: str, k: int, epsilon: float) -> None:
    table = make_table(SMALL[name])
    places, last = table.last_counts((k,))[k]
    rng, reader, runs = np.random.default_rng(1), table.reader(), 30

    def recall(found: object) -> float:
        return float(np.count_nonzero(table.counts[np.asarray(found, dtype=np.int64)] >= last)) / places

    simulated = [recall(by_rule(table, k, epsilon, 1e-6, rng)[1]) for _ in range(runs)]
    mechanism = SizedTopK(k, str(epsilon), "1e-6")
    released = [recall(mechanism.release(reader).items) for _ in range(runs)]
    spread = max(0.05, float(np.hypot(np.std(simulated), np.std(released)))) / np.sqrt(runs)
    # Rounds of the product are at most a little behind, where their noise is not cut off.
    assert abs(np.mean(simulated) - np.mean(released)) < 0.08 + 6 * spread


def test_a_table_has_a_row_for_each_cell_and_every_contestant() -> None:
    key = SMALL["300 users x 3, exponent 1.5"]
    cells = [cell for cell in CELLS[key] if cell.k in (1, 10) and cell.epsilon in (1.0, 8.0)]
    rows = run.measure_table(key, cells, 4)
    assert [(row["k"], row["epsilon"]) for row in rows] == [(cell.k, cell.epsilon) for cell in cells]
    for row in rows:
        names = {name.partition(" D=")[0] for name in row["recalls"]}
        assert names == {*CONTESTANTS, *BRANCHES, "default", "default before"}
        assert {len(runs) for runs in row["recalls"].values()} == {4}
    summary = report.summarise(rows)
    assert summary["rows"]["synthetic, n <= 3000"]["cells"] == 4
    text = io.StringIO()
    report.show(summary, Console(file=text, width=report.WIDTH))
    assert "Mean recall by k" in text.getvalue()
    assert {goal.met for goal in report.goals(summary)} <= {True, False}


def test_a_cell_is_short_if_the_best_is_surely_better() -> None:
    row = {"row": "subsamples", "data": "msweb", "table": "t", "k": 3, "epsilon": 1.0, "branches": ["rounds"]}
    even = {name: [0.2] * 4 for name in (*CONTESTANTS, *BRANCHES, "default before")}
    best = {**even, "Laplace threshold D=4": [0.9, 0.8] * 2}
    assert report.judge({**row, "recalls": {**best, "default": [0.5] * 4}})["short"]
    assert not report.judge({**row, "recalls": {**best, "default": [0.79] * 4}})["short"]
    assert not report.judge({**row, "recalls": {**best, "default": [0.0, 1.0] * 2}})["short"]
    assert report.judge({**row, "recalls": {**best, "default": [0.5] * 4}})["contestant"] == "Laplace threshold D=4"


@pytest.mark.parametrize("name", ["1,000 users x 1, exponent 1", "1,000 users x 10, exponent 1"])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_first_rule_and_the_default_agree_on_long_lists(name: str, epsilon: float) -> None:
    """Written twice, from the formulas and as the product's decision: with the same noise they find the same."""
    table = make_table(SMALL[name])
    for k in (30, 100):
        first = by_formula(table, k, epsilon, 1e-6, np.random.default_rng(7))
        assert first.tolist() == by_rule(table, k, epsilon, 1e-6, np.random.default_rng(7))[1].tolist()


def test_the_first_rule_pays_nothing_for_sizes_where_one_item_is_wanted() -> None:
    table = make_table(SMALL["1,000 users x 10, exponent 1"])
    first = by_formula(table, 1, 1.0, 1e-6, np.random.default_rng(7))
    assert first.tolist() == limited_domain(table, 1, *best_call(1, 1.0, 1e-6), np.random.default_rng(7)).tolist()


def test_even_tables_have_users_with_the_same_number_of_items() -> None:
    cells = even_cells()
    assert sum(map(len, cells.values())) == 1620
    table = make_table(next(key for key in cells if key.name == "300 users x 10 each, exponent 1.5"))
    assert set(table.sizes.tolist()) == {10}
    assert len(np.unique(np.stack([table.users, table.items]), axis=1).T) == 3000
    assert table.counts[:10].sum() > 10 * table.counts[10:].max()


def test_the_same_cells_are_measured_for_everybody() -> None:
    key = SMALL["300 users x 3, exponent 1.5"]
    cells = [cell for cell in CELLS[key] if cell.k in (1, 1000) and cell.epsilon == 8.0]
    rows = same_cells.summarise(same_cells.measure_cells(key, cells, 3))
    assert rows["synthetic, n <= 3000"]["cells"] == 2
    assert rows["synthetic, n <= 3000, last count >= 2"]["cells"] == 1
    for means in rows.values():
        assert means["ahead"] == pytest.approx(means["default"] - means["first rule"])
    assert [goal.name for goal in same_cells.goals(rows)] == ["default - first rule: synthetic, n <= 3000"]
    behind = {"subsamples": {"ahead": -0.001, "error": 0.002}, "subsamples, tuned": {"ahead": 1.0, "error": 0.0}}
    assert [goal.met for goal in same_cells.goals(behind)] == [False]
