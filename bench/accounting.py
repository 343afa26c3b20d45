"""How long the accounting takes: best_bound up to k = 1000, calibration, conversions.

python bench/accounting.py
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from podium.privacy import (
    Event,
    GaussianNoise,
    LimitedDomainCall,
    Selection,
    adaptive_optimum,
    best_bound,
    calibrate_epsilon,
    calibrate_items,
    split_budget,
    zcdp_epsilon,
)

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5


def median_seconds(task: Callable[[int], object]) -> float:
    """Median over repeats; the task gets the repeat's number, so that caches of earlier repeats do not help it."""
    times = []
    for number in range(REPEATS):
        start = time.perf_counter()
        task(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def schedule(k: int, number: int) -> list[Event]:
    return [LimitedDomainCall("1e-8"), *[Selection(f"0.1{number}")] * k]


def main() -> None:
    tasks: list[tuple[str, Callable[[int], object]]] = [
        ("best_bound, k=10", lambda n: best_bound(schedule(10, n), "1e-6")),
        ("best_bound, k=100", lambda n: best_bound(schedule(100, n), "1e-6")),
        ("best_bound, k=1000", lambda n: best_bound(schedule(1000, n), "1e-6")),
        ("best_bound, k=1000 with counts", lambda n: best_bound([*schedule(1000, n), GaussianNoise(9)], "1e-6")),
        ("adaptive optimum, k=100, N=96", lambda n: adaptive_optimum(f"0.1{n}", 100, "1e-6", resolution=96)),
        ("calibrate epsilon, k=200, l=20", lambda n: calibrate_epsilon(200, epsilon=f"3.{n}", delta="1e-6", calls=20)),
        (
            "calibrate epsilon, k=1000, l=20",
            lambda n: calibrate_epsilon(1000, epsilon=f"3.{n}", delta="1e-6", calls=20),
        ),
        ("calibrate items, epsilon=0.04", lambda n: calibrate_items("0.04", epsilon=f"3.{n}", delta="1e-6", calls=20)),
        ("split budget, k=10", lambda n: split_budget(10, epsilon=f"1.{n}", delta="1e-6")),
        ("zCDP conversion", lambda n: zcdp_epsilon(f"0.1{n}", "1e-6")),
    ]
    print(f"{'task':<34} {'seconds':>9}   (median of {REPEATS})")
    for name, task in tasks:
        print(f"{name:<34} {median_seconds(task):>9.4f}")


if __name__ == "__main__":
    main()
