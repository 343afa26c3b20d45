"""The cells of the engines bench, and the goals that are read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.measure import Timing
from bench.selection.goals import Goal

__all__ = ["BOUNDED", "ENGINES", "TALLY", "TOP_ROWS", "Cell", "MemoryCell", "Route", "goals"]

ENGINES = ("DuckDB", "PostgreSQL", "Spark")

_SAME_MEMORY = 1.25


@dataclass(frozen=True, slots=True)
class Route:
    """A way through podium, and how many times the plain query it may take; None where that is only reported."""

    name: str
    limit: float | None


TOP_ROWS = Route("top rows", 1.10)
TALLY = Route("counts of counts", 1.30)
BOUNDED = Route("bounded", None)


@dataclass(frozen=True, slots=True)
class Cell:
    """One question on one engine: podium, and the plain query that took turns with it.

    ``processor`` has the seconds of processor time in the same order (podium, plain), where the engine is in this
    process. ``shared`` is how many of the items of the last plain answer were in the last private one.
    """

    engine: str
    route: Route
    question: str
    rows: int
    podium: Timing
    plain: Timing
    processor: tuple[Timing, Timing] | None
    shared: int

    @property
    def ratio(self) -> float:
        """Podium's time over the plain query's: below 1 is faster."""
        return self.podium.median / self.plain.median

    @property
    def processor_ratio(self) -> float | None:
        """The same for processor time, which other people's work disturbs less."""
        return None if self.processor is None else self.processor[0].median / self.processor[1].median

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "engine": self.engine,
            "route": self.route.name,
            "question": self.question,
            "rows": self.rows,
            "seconds": {"podium": self.podium.seconds, "plain": self.plain.seconds},
            "median_seconds": {"podium": self.podium.median, "plain": self.plain.median},
            "ratio": self.ratio,
            "processor_ratio": self.processor_ratio,
            "shared_items": self.shared,
        }


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """What a question allocated in Python at most, for a table with that many items."""

    route: Route
    items: int
    peak_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"route": self.route.name, "items": self.items, "peak_bytes": self.peak_bytes}


def goals(cells: Sequence[Cell], memory: Sequence[MemoryCell]) -> list[Goal]:
    """One goal for each engine and route that has a limit, judged on its worst cell, and one for memory."""
    timed = [_time_goal(cells, engine, route) for route in (TOP_ROWS, TALLY) for engine in ENGINES]
    return [*timed, _memory_goal(memory)]


def _time_goal(cells: Sequence[Cell], engine: str, route: Route) -> Goal:
    name, wanted = f"time / plain query: {engine}, {route.name}", f"<= {route.limit:.2f}"
    mine = [cell for cell in cells if cell.engine == engine and cell.route == route]
    if not mine or route.limit is None:
        return Goal(name, wanted, None, None, "")
    worst = max(mine, key=lambda cell: cell.ratio)
    return Goal(name, wanted, worst.ratio, worst.ratio <= route.limit, f"{worst.question}, {worst.rows:,} rows")


def _memory_goal(cells: Sequence[MemoryCell]) -> Goal:
    """The table with the most items over that with the fewest, on the worse route: the same leaves the engine."""
    name, wanted = "Python's memory: most items / fewest items", f"<= {_SAME_MEMORY:.2f}"
    spreads = {}
    for route in (TOP_ROWS, TALLY):
        peaks = {cell.items: cell.peak_bytes for cell in cells if cell.route == route}
        if len(peaks) > 1:
            spreads[route.name] = peaks[max(peaks)] / peaks[min(peaks)]
    if not spreads:
        return Goal(name, wanted, None, None, "")
    where, spread = max(spreads.items(), key=lambda item: item[1])
    return Goal(name, wanted, spread, spread <= _SAME_MEMORY, where)
