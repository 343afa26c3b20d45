"""A list for each of fifty countries in one question, and a question about each country alone at the same price.

The share of each country's true top k that comes back, in pairs: the same country, the same table, fresh noise. One
question with ``per`` costs what one of the fifty others costs. Alone, a country is asked about in the same way, and
by podium's default, which for a single list of unknown items may know more about the table.

    python -m bench groups [--quick] [--json FILE]
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

import podium
from bench.command import bench_parser, bench_report, save_report
from bench.goals import Goal, print_goals
from bench.measure import standard_error
from bench.tables import text_table
from podium.planning.simulation import zipf_pairs
from podium.sources import DuckDBSource

__all__ = ["SAME", "Plan", "cells", "goals", "main"]

DEFAULT_JSON = Path("build/bench/groups.json")
SAME = 4.0
"""Two means are the same if they differ by at most this many standard errors."""
_EPSILON, _DELTA = 0.5, "1e-6"
_K = 10
_MECHANISMS = ("adaptive", "limited-domain")
"""What answers in each group, by default and if it is asked for; a question about one country names it."""
_DEFAULT, _ALIKE, _TOGETHER = "alone, default", "alone, alike", "per country"


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How many countries, how many users in each, and how often everything is asked."""

    countries: int = 50
    runs: int = 3
    users: int = 1_000
    items: int = 400
    items_per_user: float = 5


class _World:
    """Countries with users of their own, who prefer the same items to different degrees."""

    def __init__(self, plan: Plan, path: Path) -> None:
        self.names = [f"C{number:02}" for number in range(plan.countries)]
        self._counts: dict[str, Any] = {}
        parts = []
        for number, name in enumerate(self.names):
            users, items = zipf_pairs(
                users=plan.users, items=plan.items, items_per_user=plan.items_per_user, exponent=1, skew=1, seed=number
            )
            self._counts[name] = np.bincount(items, minlength=plan.items)
            owners = users + number * plan.users
            parts.append(pa.table({"user_id": owners, "item": items, "country": [name] * len(items)}))
        pq.write_table(pa.concat_tables(parts), path)

    def recall(self, name: str, found: Sequence[Any]) -> float:
        """The share of the true top k; ties with the k-th are as good."""
        counts = self._counts[name]
        last = np.partition(counts, -_K)[-_K]
        return sum(bool(counts[item] >= last) for item in found) / _K


def cells(plan: Plan) -> list[dict[str, Any]]:
    """For each mechanism the mean recall of each way, and its mean difference to the question about all countries."""
    measured = []
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        path = Path(folder) / "visits.parquet"
        world = _World(plan, path)
        source = DuckDBSource(str(path))
        for mechanism in _MECHANISMS:
            recalls = _recalls(world, source, mechanism, plan.runs)
            for way in [way for way in recalls if way != _TOGETHER]:
                differences = [one - two for one, two in zip(recalls[_TOGETHER], recalls[way], strict=True)]
                measured.append(
                    {
                        "mechanism": mechanism,
                        "way": way,
                        "together": statistics.fmean(recalls[_TOGETHER]),
                        "alone": statistics.fmean(recalls[way]),
                        "difference": statistics.fmean(differences),
                        "error": standard_error(differences),
                        "lists": len(differences),
                    }
                )
        source.close()
    return measured


def _recalls(world: _World, source: DuckDBSource, mechanism: str, runs: int) -> dict[str, list[float]]:
    asked: dict[str, Any] = {"item": "item", "user": "user_id", "k": _K, "epsilon": _EPSILON, "delta": _DELTA}
    found: dict[str, list[float]] = {}
    for _ in range(runs):
        lists = podium.top(source, per="country", mechanism=mechanism, **asked).lists
        for name in world.names:
            where = f"country = '{name}'"
            answers = {
                _TOGETHER: lists[name].items if name in lists else (),
                _ALIKE: podium.top(source, where=where, mechanism=mechanism, **asked).items,
            }
            if mechanism == _MECHANISMS[0]:
                answers[_DEFAULT] = podium.top(source, where=where, **asked).items
            for way, items in answers.items():
                found.setdefault(way, []).append(world.recall(name, items))
    return found


def goals(measured: Sequence[dict[str, Any]]) -> list[Goal]:
    """The recall in a country is that of asking about it alone in the same way, within the error."""
    return [
        Goal(
            f"difference of recall in standard errors, {cell['mechanism']}",
            f"<= {SAME:g}",
            abs(cell["difference"]) / cell["error"] if cell["error"] else 0.0,
            abs(cell["difference"]) <= SAME * cell["error"],
            cell["way"],
        )
        for cell in measured
        if cell["way"] == _ALIKE
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = bench_parser("python -m bench groups", __doc__, DEFAULT_JSON, quick="ten countries, once")
    options = parser.parse_args(argv)
    plan = Plan(countries=10, runs=1) if options.quick else Plan()
    measured = cells(plan)
    rows = []
    for cell in measured:
        difference = f"{cell['difference']:+.3f} ±{cell['error']:.3f}"
        numbers = (f"{cell['together']:.3f}", f"{cell['alone']:.3f}", difference, str(cell["lists"]))
        rows.append([cell["mechanism"], cell["way"], *numbers])
    title = "Recall in a country: one question about all of them, and a question about each"
    headings = ("mechanism", "asked", "together", "alone", "difference", "lists")
    console = Console()
    console.print(text_table(title, headings, rows, left=0))
    print_goals(goals(measured), console, number=".2f")
    mode = "quick" if options.quick else "full"
    settings = {"mode": mode, "k": _K, "epsilon": _EPSILON, "delta": _DELTA, **dataclasses.asdict(plan)}
    save_report(bench_report("groups", settings, cells=measured, goals=goals(measured)), options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
