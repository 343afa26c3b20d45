"""The known-domain bench: its laws are those of the mechanisms, and what it reports is what it measured."""

from __future__ import annotations

import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from bench.known import order, run
from bench.known.data import FILES, DataSet, data_sets
from bench.known.goals import DEFAULT, HINDSIGHT, SET, Cell, goals
from bench.known.picture import draw
from bench.known.recall import Estimate, Recall
from bench.known.report import WIDTH, show
from rich.console import Console

from podium.mechanisms import (
    CanonicalTopK,
    ExponentialTopK,
    JointTopK,
    NoisyTopK,
    PermuteAndFlip,
    RisingTopK,
    TestedTopK,
)
from podium.privacy import best_bound
from podium.release import Outcome

AnyTopK: TypeAlias = CanonicalTopK | ExponentialTopK | JointTopK | NoisyTopK | TestedTopK

SMALL = DataSet("small", np.array([9, 7, 7, 4, 3, 1], dtype=np.int64))
"""Small enough for exact laws; with k=2 three items are right."""


def _expected(mechanism: AnyTopK, data: DataSet) -> float:
    """Recall from the mechanism's own exact law."""
    law = mechanism.distribution(data.histogram)
    return sum(chance * _share(mechanism, data, outcome) for outcome, chance in law.items())


def _share(mechanism: AnyTopK, data: DataSet, outcome: Outcome) -> float:
    return len(set(range(data.right(mechanism.k))).intersection(outcome)) / mechanism.k


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_sets_and_lists_at_once_follow_the_exact_law(k: int, epsilon: str) -> None:
    recall = Recall(SMALL, runs=1)
    for mechanism in (
        CanonicalTopK(k, epsilon),
        CanonicalTopK(k, epsilon, noise="exponential"),
        CanonicalTopK(k, epsilon, gamma=1),
        CanonicalTopK(k, epsilon, gamma=1, noise="exponential"),
        JointTopK(k, epsilon),
    ):
        estimate = recall.of(mechanism)
        assert estimate.error == 0
        assert estimate.mean == pytest.approx(_expected(mechanism, SMALL), abs=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [ExponentialTopK(2, "0.4"), NoisyTopK(2, 1), TestedTopK(2, 1), TestedTopK(2, 1, delta="0.01")],
    ids=["peeling", "oneshot", "tested", "tested with delta"],
)
def test_what_is_simulated_agrees_with_the_exact_law(mechanism: AnyTopK) -> None:
    estimate = Recall(SMALL, runs=40_000).of(mechanism)
    assert 0 < estimate.error < 0.003
    # The seed is fixed, so this cannot fail by chance from one day to the next.
    assert abs(estimate.mean - _expected(mechanism, SMALL)) < 4 * estimate.error


def test_a_large_domain_agrees_with_draws_of_the_product() -> None:
    """Steps of five equal counts, more ranks than one chunk of classes, and neither noise nor entropy wins outright."""
    data = DataSet("steps", np.sort(np.arange(1500, dtype=np.int64) // 5)[::-1].copy())
    for mechanism in (CanonicalTopK(20, "0.5", noise="exponential"), JointTopK(20, "0.5")):
        drawn = np.array([_share(mechanism, data, mechanism.release(data.histogram).outcome) for _ in range(144)])
        expected = Recall(data, runs=1).of(mechanism).mean
        # Fresh secure randomness: 7 standard errors, a false alarm about once in 4e11 runs.
        assert abs(drawn.mean() - expected) < 7 * drawn.std(ddof=1) / 12
        assert 0.02 < expected < 0.98


def test_more_sets_than_a_float_can_count() -> None:
    """Half of 3,000 items have 90 users, the others none, and all other sets together weigh as much as the best.

    They are beyond 1e900, each unlikely, and half right on average: Gumbel noise finds the best one with probability
    1/2, permute-and-flip before all others with the integral of e^-u.
    """
    data = DataSet("two heights", np.repeat(np.array([90, 0], dtype=np.int64), [1500, 1500]))
    epsilon = math.log(math.comb(3000, 1500)) / 45
    recall = Recall(data, runs=1)
    assert recall.of(CanonicalTopK(1500, epsilon)).mean == pytest.approx(0.75, abs=1e-6)
    flip = recall.of(CanonicalTopK(1500, epsilon, noise="exponential"))
    assert flip.mean == pytest.approx(1 - 1 / (2 * math.e), abs=1e-6)


def test_only_known_mechanisms_have_a_recall() -> None:
    with pytest.raises(TypeError, match="no recall for PermuteAndFlip"):
        Recall(SMALL, runs=1).of(PermuteAndFlip(1))


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_everybody_has_the_same_guarantee(delta: str) -> None:
    everybody = run.contestants(5, "1", delta, 100)
    assert tuple(everybody) == (*HINDSIGHT, DEFAULT, SET)
    spent = {name: best_bound(mechanism.worst_case, delta).epsilon for name, mechanism in everybody.items()}
    assert {name: 0.9999 < epsilon <= 1 for name, epsilon in spent.items()} == dict.fromkeys(everybody, True)
    rising = RisingTopK.within(5, epsilon=1, delta=delta)
    assert everybody[DEFAULT] == (everybody["oneshot"] if delta == "0" else rising)
    assert isinstance(everybody[SET], TestedTopK)


def test_the_cliff_is_where_a_canonical_set_falls() -> None:
    data = DataSet("steep", np.array([*range(2000, 1000, -10), *[0] * 3000], dtype=np.int64))
    below, above = run.cliff(data, 10)
    recall = Recall(data, runs=1)
    low, high = (recall.of(CanonicalTopK(10, epsilon)).mean for epsilon in (below, above))
    assert float(below) < float(above) < 1.3 * float(below)
    assert low < 0.52 < high + 0.02
    assert run.cliff(DataSet("flat", np.zeros(50, dtype=np.int64)), 10) == ()


def _cell(data: str, regret: float, *, held_out: bool = False, at_cliff: bool = False) -> Cell:
    recall = {name: Estimate(np.array([0.5])) for name in HINDSIGHT}
    recall["joint"] = Estimate(np.array([0.8, 1.0]))
    recall[DEFAULT] = recall["peeling"]
    recall[SET] = Estimate(recall["joint"].runs + regret)
    return Cell(data, held_out, 10, "1", "0", at_cliff, recall, chance_at_once=0.5)


def test_goals_are_judged_against_the_best_by_hindsight() -> None:
    cells = [_cell("a", -0.005), _cell("b", -0.03), _cell("c", 0.0, held_out=True), _cell("d", -0.5, at_cliff=True)]
    judged = {(goal.group, goal.who): goal for goal in goals(cells)}
    assert list(judged) == [
        (group, who) for group in ("SL", "SL, at cliffs", "held out") for who in (DEFAULT, SET)
    ]  # fmt: skip
    ours = judged["SL", SET]
    assert (ours.cells, ours.failing, ours.met, ours.where) == (2, 1, False, "b epsilon=1")
    assert (ours.worst, ours.mean) == pytest.approx((-0.03, -0.0175))
    # The same random numbers in both: their difference has no error.
    assert ours.worst_standard_error == pytest.approx(0)
    assert judged["SL", DEFAULT].worst_standard_error == pytest.approx(0.1)
    assert judged["held out", SET].met


TINY = run.Plan("tiny", ("1",), {10: 20}, held_out=True, cliffs=True)


@pytest.fixture(name="cells", scope="module")
def _cells() -> list[Cell]:
    data = data_sets()
    if data is None:
        pytest.skip(f"needs {' and '.join(FILES)}: set PODIUM_DATA to the folder that has them")
    return run.run([one for one in data if one.name in {"MEDCOST", "HEPTH", "ADULT"}], TINY)


def test_a_tiny_run_reports_what_it_measured(cells: list[Cell]) -> None:
    assert {cell.data for cell in cells if cell.held_out} == {"ADULT"}
    assert {cell.at_cliff for cell in cells} == {False, True}
    at_one = {(cell.data, cell.delta): cell for cell in cells if cell.epsilon == "1"}
    # The two sides of the cliff: 15 nats below it, 20 above.
    assert at_one["MEDCOST", "1e-6"].chance_at_once < 0.05
    assert at_one["HEPTH", "1e-6"].chance_at_once > 0.99
    text = io.StringIO()
    show(cells, "tiny", TINY.runs, Console(file=text, width=WIDTH))
    assert "known bench (tiny): recall at equal guarantee. Simulated runs: 20 for k=10." in text.getvalue()
    assert text.getvalue().count("met") == 2 * 2 * 4
    assert "ADULT epsilon=1 " in text.getvalue()
    assert "…" not in text.getvalue()
    assert "set" in draw(cells, "1e-6").alt


def test_the_command_writes_json_and_pictures(
    cells: list[Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "run", lambda *_, **__: cells)
    assert run.main(["--quick", "--json", str(tmp_path / "deep" / "known.json"), "--plots", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "deep" / "known.json").read_text(encoding="utf-8"))
    assert set(report) == {"bench", "version", "machine", "settings", "cells", "goals"}
    assert len(report["cells"]) == len(cells)
    assert set(report["cells"][0]["recall"]) == {*HINDSIGHT, DEFAULT, SET}
    assert (tmp_path / "known-pure.png").stat().st_size > 10_000
    assert (tmp_path / "known-approximate.png").stat().st_size > 10_000


def test_the_quality_of_a_ranking() -> None:
    data = DataSet("steps", np.arange(300, 0, -1, dtype=np.int64))
    best = np.arange(100)
    assert order.quality(best, data, 100) == (1.0,) * 5
    assert order.quality(best[::-1], data, 100) == (1.0, 0.0, 0.0, 0.0, -1.0)
    # One of 4,950 pairs is the other way round.
    assert order.quality(np.array([1, 0, *range(2, 100)]), data, 100) == pytest.approx(
        (1.0, 1.0, 1.0, 0.0, 1 - 2 / 4950)
    )
    assert order.quality(best + 10, data, 100) == pytest.approx((0.9, 0.8, 0.0, 0.0, 1.0))


def test_a_set_that_is_put_into_order_is_the_ranking_where_counts_are_far_apart() -> None:
    data = DataSet("wide steps", np.arange(200, 0, -1, dtype=np.int64) * 10**9)
    assert set(order.measure(data, 100, Fraction(1), 1).values()) == {(1.0,) * 5}
    ways = order.measure(data, 100, Fraction(1, 10**15), 1)
    assert list(ways) == ["default", *order.SHARES, order.HEAD_FIRST]
    assert max(ways.values())[0] < 0.9
