"""The bench of rounds for a known domain: recall against selections in turn, and against an unknown domain.

    python -m bench known_rounds [--quick]

Synthetic users with t different items each, drawn from N items with weights 1/rank^a; epsilon=1, delta=1e-6. ``rising``
is the planner's default for a known domain, ``rounds`` the same question with mechanism="adaptive", ``unknown`` what
rounds give if no domain is stated. Tables are seeded; the noise of rounds is fresh.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from podium.mechanisms import AdaptiveTopK, RefinedTopK, RisingTopK
from podium.planning.memory_table import PairsReader

__all__ = ["CELLS", "Shape", "main", "recalls"]

_SEED, _CHUNK = 7, 500
_BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


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
)


def recalls(shape: Shape, runs: int) -> tuple[float, float, float]:
    """The mean recall of selections in turn, of rounds, and of rounds for an unknown domain."""
    rng = np.random.default_rng(_SEED)
    users, items = _pairs(shape, rng)
    table = PairsReader(users, items, domain_size=shape.size)
    counts = np.bincount(items, minlength=shape.size)
    rising = RisingTopK.within(shape.k, **_BUDGET)
    refined, unknown = (kind.within(shape.k, **_BUDGET) for kind in (RefinedTopK, AdaptiveTopK))
    return (
        float(np.mean([_recall(_in_turn(rising, counts, rng), counts, shape.k) for _ in range(20)])),
        float(np.mean([_recall(refined.release(table).items, counts, shape.k) for _ in range(runs)])),
        float(np.mean([_recall(unknown.release(table).items, counts, shape.k) for _ in range(runs)])),
    )


def _pairs(shape: Shape, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different items for each user: the largest of weights with Gumbel noise."""
    weights = -shape.slope * np.log(np.arange(1, shape.size + 1))
    found = []
    for start in range(0, shape.users, _CHUNK):
        noisy = weights + rng.gumbel(size=(min(_CHUNK, shape.users - start), shape.size))
        found.append(np.argpartition(-noisy, shape.each - 1, axis=1)[:, : shape.each].ravel())
    return np.repeat(np.arange(shape.users), shape.each), np.concatenate(found)


def _in_turn(mechanism: RisingTopK, counts: NDArray[np.int64], rng: np.random.Generator) -> list[int]:
    left, found = counts.astype(float), []
    for places, epsilon in mechanism.quarters:
        if places:
            best = np.argpartition(-(left * float(epsilon) + rng.gumbel(size=len(left))), places - 1)[:places]
            found += [int(item) for item in best]
            left[best] = -np.inf
    return found


def _recall(found: Sequence[Any], counts: NDArray[np.int64], k: int) -> float:
    last = np.partition(counts, -k)[-k]
    return float(np.count_nonzero(counts[np.array(found, dtype=np.int64)] >= last)) / k


def main() -> None:
    """Prints a line for each shape."""
    parser = argparse.ArgumentParser(prog="python -m bench known_rounds", description="Rounds for known domains.")
    parser.add_argument("--quick", action="store_true", help="few runs")
    runs = 3 if parser.parse_args().quick else 30
    table = Table("users", "items each", "domain", "k", "slope", "rising", "rounds", "unknown", title="recall")
    for shape in CELLS:
        table.add_row(*map(str, shape), *(f"{value:.3f}" for value in recalls(shape, runs)))
    Console().print(table)


if __name__ == "__main__":
    main()
