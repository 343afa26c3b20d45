"""The bench of stated facts: what a known domain, and a bound on items per user, do to the default answer.

    python -m bench known_rounds [--quick] [--json FILE]

Synthetic users with t different items each, drawn from N items with weights 1/rank^a; epsilon=1, delta=1e-6. ``in
turn``, ``rounds`` and ``Laplace`` have the whole budget and are what the default for a known domain chooses among;
``default`` pays for that choice. ``bound`` states t as well. Tables are seeded; the noise is fresh.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.measure import machine
from podium.mechanisms import RefinedTopK, RisingTopK, SharedVoteTopK
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import recall, run_strategy
from podium.planning.question_budget import divided_budget, question_budget
from podium.planning.strategy import strategy_for

__all__ = ["ANSWERS", "CELLS", "Shape", "goals", "main", "recalls"]

DEFAULT_JSON = Path("build/bench/known_rounds.json")
_SEED, _CHUNK = 7, 500
_BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
_MAX_PAIRS, _MIN_RUNS = 600_000, 4
"""How many pairs the runs of one cell may count together, and the least number of runs."""
ANSWERS = (
    "in turn", "rounds", "Laplace", "default", "default, bound", "no domain", "no domain, bound",
    "oneshot, delta=0", "default, delta=0",
)  # fmt: skip
LIMIT = 0.01


class Shape(NamedTuple):
    """Users, items of each, items in the domain, places, and how steep the weights are."""

    users: int
    each: int
    size: int
    k: int
    slope: float


CELLS = (
    Shape(20_000, 3, 4096, 100, 1.0),
    Shape(20_000, 20, 4096, 100, 1.0),
    Shape(20_000, 2, 4096, 1000, 1.0),
    Shape(2_000, 3, 4096, 100, 1.0),
    Shape(3_000, 400, 4096, 100, 1.0),
    Shape(3_000, 200, 1000, 50, 0.5),
    Shape(1_000, 4, 60, 20, 0.7),
    Shape(2_000, 150, 300, 20, 0.5),
    Shape(1_000, 400, 1000, 100, 0.5),
    Shape(500, 100, 120, 20, 0.5),
    Shape(2_000, 3, 4096, 10, 1.0),
    Shape(500, 100, 120, 3, 0.3),
    Shape(3_000, 1, 300, 20, 0.8),
    Shape(300, 1, 60, 10, 0.8),
    Shape(1_000, 10, 300, 5, 0.5),
    Shape(5_000, 10, 1000, 300, 0.7),
)


def recalls(shape: Shape, runs: int) -> dict[str, tuple[float, float]]:
    """The mean recall of each answer, and its standard error."""
    rng = np.random.default_rng(_SEED)
    users, items = _pairs(shape, rng)
    table = PairsReader(users, items, domain_size=shape.size)
    counts = np.bincount(items, minlength=shape.size)
    most = max(_MIN_RUNS, min(runs, _MAX_PAIRS // len(items)))
    found: dict[str, tuple[float, float]] = {}
    for name in ANSWERS:
        answer = _answer(name, shape, table)
        measured = [recall(answer(), counts) for _ in range(most)]
        found[name] = statistics.fmean(measured), statistics.stdev(measured) / len(measured) ** 0.5
    return found


def _answer(name: str, shape: Shape, table: PairsReader) -> Callable[[], Any]:
    budget = {**_BUDGET, "delta": 0} if name.endswith("delta=0") else _BUDGET
    if name.startswith("oneshot"):
        # What a ledger does with a pure budget.
        facts = Facts(k=shape.k, domain_size=shape.size)
        plan = strategy_for(facts, divided_budget(facts, **budget))
        return lambda: run_strategy(plan, table)
    if name == "in turn":
        rising = RisingTopK.within(shape.k, **_BUDGET)
        return lambda: table.choose_known(rising, None)
    if name == "rounds":
        refined = RefinedTopK.within(shape.k, **_BUDGET)
        return lambda: refined.release(table)
    if name == "Laplace":
        shared = SharedVoteTopK(shape.k, _BUDGET["epsilon"])
        return lambda: table.rank_known(shared)
    facts = Facts(
        k=shape.k,
        domain_size=None if name.startswith("no domain") else shape.size,
        max_items_per_user=shape.each if name.endswith("bound") else None,
    )
    plan = strategy_for(facts, question_budget(facts, **budget))
    return lambda: run_strategy(plan, table)


def _pairs(shape: Shape, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different items for each user: the largest of weights with Gumbel noise."""
    weights = -shape.slope * np.log(np.arange(1, shape.size + 1))
    found = []
    for start in range(0, shape.users, _CHUNK):
        noisy = weights + rng.gumbel(size=(min(_CHUNK, shape.users - start), shape.size))
        found.append(np.argpartition(-noisy, shape.each - 1, axis=1)[:, : shape.each].ravel())
    return np.repeat(np.arange(shape.users), shape.each), np.concatenate(found)


def goals(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is stated does not make the answer worse; a cell fails below -LIMIT."""
    pairs = (
        ("a domain", "default", "no domain"),
        ("a domain, where the bound is known", "default, bound", "no domain, bound"),
        ("a bound, with a domain", "default, bound", "default"),
        ("a bound, without a domain", "no domain, bound", "no domain"),
    )
    judged = [_judged(f"recall with {said} minus without, worst cell", one, other, cells) for said, one, other in pairs]
    best = ("in turn", "rounds", "Laplace")
    judged += [
        _mean_of(f"mean recall of the default minus that of {name} with all of epsilon", "default", name, cells)
        for name in best
    ]
    return [
        *judged,
        _mean_of("the same at delta=0: minus that of oneshot", "default, delta=0", "oneshot, delta=0", cells),
    ]


def _judged(name: str, one: str, other: str, cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    gains = [cell["recall"][one]["mean"] - cell["recall"][other]["mean"] for cell in cells]
    worst = min(range(len(cells)), key=gains.__getitem__)
    where = ", ".join(f"{key} {cells[worst][key]:,}" for key in ("users", "each", "size", "k"))
    error = sum(cells[worst]["recall"][which]["error"] ** 2 for which in (one, other)) ** 0.5
    return {
        "name": name,
        "wanted": f">= -{LIMIT:g}",
        "measured": gains[worst],
        "met": gains[worst] >= -LIMIT,
        "where": f"{where} (standard error {error:.3f})",
    }


def _mean_of(name: str, one: str, other: str, cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    gain = statistics.fmean(cell["recall"][one]["mean"] - cell["recall"][other]["mean"] for cell in cells)
    return {"name": name, "wanted": ">= 0", "measured": gain, "met": gain >= 0, "where": f"{len(cells)} cells"}


def _cell(shape: Shape, runs: int) -> dict[str, Any]:
    measured = recalls(shape, runs)
    return {
        **shape._asdict(),
        "recall": {name: {"mean": mean, "error": error} for name, (mean, error) in measured.items()},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each shape, and leaves a file for the pages."""
    parser = argparse.ArgumentParser(prog="python -m bench known_rounds", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few runs")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    runs = 8 if options.quick else 40
    table = Table("users", "items each", "domain", "k", "slope", *ANSWERS, title="recall")
    cells = [_cell(shape, runs) for shape in CELLS]
    for shape, cell in zip(CELLS, cells, strict=True):
        table.add_row(*map(str, shape), *(f"{cell['recall'][name]['mean']:.3f}" for name in ANSWERS))
    Console(width=max(Console().width, 170)).print(table)
    report = {
        "bench": "known_rounds",
        "version": 1,
        "machine": machine(),
        "settings": {"mode": "quick" if options.quick else "full", "runs": runs, **_BUDGET},
        "cells": cells,
        "goals": goals(cells),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
