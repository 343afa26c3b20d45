"""The counts bench: how far released counts are from the true ones, with independent and with correlated noise.

    python -m bench counts [--quick]

Top k with counts at epsilon=1, delta=1e-6 on the public tables of the utility bench, nothing stated. Each list is that
of podium's default; "before" is the standard deviation of independent Gaussian noise at the same cost. The error is the
root mean square over items, runs and tables. The data is looked for in $PODIUM_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.utility.data import SETS, load, missing
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.planning.facts import Facts
from podium.planning.prediction import run_strategy
from podium.planning.question_budget import question_budget
from podium.planning.strategy import strategy_for
from podium.present.intervals import margin_of
from podium.privacy import CorrelatedNoise

__all__ = ["count_errors", "main"]

_KS = (10, 100)


def count_errors(name: str, k: int, runs: int) -> tuple[float, float, float]:
    """The mean squared errors with independent and with correlated noise, and how many 95% intervals held."""
    pairs = load(name)
    facts = Facts(k=k, counts=True)
    strategy = strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6"))
    before, squares, held = [], [], []
    for _ in range(runs):
        release = run_strategy(strategy, pairs.reader())
        if not release.items:
            continue
        errors = np.array(release.values, dtype=float) - pairs.counts[np.array(release.items, dtype=np.int64)]
        if strategy.measure is None:
            (event,) = (event for event in release.paid.events if isinstance(event, CorrelatedNoise))
            noise = CorrelatedCounts(event.items, sigma=event.sigma, shared_sigma=event.shared_sigma)
            width = getattr(margin_of(release), "width", Fraction(0))
        else:
            noise = strategy.measure.noise_for(len(release.items))  # type: ignore[union-attr]
            width = Fraction(noise.margin())
        # Independent noise for the same mu^2 = 2 rho has the variance r/mu^2.
        before.append(noise.items / (2 * float(noise.event.rho)))
        squares.append(float(np.mean(errors**2)))
        held.append(float(np.mean(np.abs(errors) <= float(width))))
    return tuple(float(np.mean(part)) if part else math.nan for part in (before, squares, held))  # type: ignore[return-value]


def main() -> None:
    """Prints a line for each table and k."""
    parser = argparse.ArgumentParser(prog="python -m bench counts", description="Errors of released counts.")
    parser.add_argument("--quick", action="store_true", help="few runs")
    runs = 5 if parser.parse_args().quick else 50
    table = Table("table", "k", "before", "now", "intervals that held", title="root mean square error of counts")
    everything: dict[int, list[tuple[float, float, float]]] = {k: [] for k in _KS}
    for name in SETS:
        if missing(name):
            continue
        for k in _KS:
            found = count_errors(name, k, runs)
            everything[k] += [] if math.isnan(found[0]) else [found]
            table.add_row(name, str(k), f"{math.sqrt(found[0]):.1f}", f"{math.sqrt(found[1]):.1f}", f"{found[2]:.2f}")
    for k, rows in everything.items():
        if rows:
            before, now, held = np.mean(rows, axis=0)
            table.add_row("all", str(k), f"{math.sqrt(before):.1f}", f"{math.sqrt(now):.1f}", f"{held:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
