"""The cells of the engines bench, and the goals that are read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.goals import Goal
from bench.measure import Timing

__all__ = [
    "BARE_SUMS", "BOUNDED", "ENGINES", "GROUPS", "GROUPS_IN_ROUNDS", "ROUNDS", "ROUNDS_10", "ROUNDS_COUNTED",
    "SUMS", "SUMS_IN_ROUNDS", "TALLY", "TOP_ROWS",
    "TOP_ROWS_COUNTED", "Cell", "MemoryCell", "Route", "goals",
]  # fmt: skip

ENGINES = ("DuckDB", "PostgreSQL", "ClickHouse", "Spark", "MariaDB")
_IN_PROCESS, _SERVERS = ("DuckDB", "ClickHouse"), ("PostgreSQL", "Spark")

_SAME_MEMORY = 1.25
_ONE_SCAN = 1.0


@dataclass(frozen=True, slots=True)
class Route:
    """A way through podium."""

    name: str


TOP_ROWS = Route("top rows")
TOP_ROWS_COUNTED = Route("top rows, counts")
TALLY = Route("counts of counts")
BOUNDED = Route("bounded")
SUMS, SUMS_IN_ROUNDS, BARE_SUMS = Route("sums"), Route("sums in rounds"), Route("sums, bare query")
GROUPS = Route("groups")
GROUPS_IN_ROUNDS = Route("groups, rounds")
ROUNDS_10 = Route("k=10, rounds")
ROUNDS = {k: Route(f"k={k}") for k in (100, 1000)}
ROUNDS_COUNTED = {k: Route(f"k={k}, counts") for k in (100, 1000)}


@dataclass(frozen=True, slots=True)
class _Limit:
    """How many times the plain query a route may take, in time or, with ``processor``, in processor time."""

    engines: tuple[str, ...]
    route: Route
    at_most: float
    processor: bool = False


_LIMITS = (
    _Limit(_IN_PROCESS, TOP_ROWS, 1.10, processor=True),
    _Limit(_SERVERS, TOP_ROWS, 1.10),
    _Limit(_IN_PROCESS, TALLY, 1.30, processor=True),
    _Limit(_SERVERS, TALLY, 1.30),
    _Limit(("DuckDB",), ROUNDS_10, 2.2, processor=True),
    _Limit(("DuckDB",), ROUNDS[100], 2.5, processor=True),
    _Limit(("DuckDB",), ROUNDS_COUNTED[100], 2.7, processor=True),
    _Limit(("DuckDB",), BOUNDED, 2.0, processor=True),
    _Limit(("DuckDB",), SUMS, 1.3, processor=True),
    _Limit(("ClickHouse",), ROUNDS[100], 3.0, processor=True),
    _Limit(_SERVERS, ROUNDS[100], 3.0),
    _Limit(_IN_PROCESS, GROUPS, 1.5, processor=True),
    _Limit(_SERVERS, GROUPS, 1.5),
)
"""A route that is not here is only reported."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One question on one engine: podium, and the plain query that took turns with it.

    ``processor`` has the seconds of processor time in the same order (podium, plain), of the engine and of the process
    that asks it; None where the system does not say. ``shared`` is how many of the items of the last plain answer were
    in the last private one, and ``scans`` how many times the table was read, as the engine says.
    """

    engine: str
    route: Route
    question: str
    k: int
    rows: int
    podium: Timing
    plain: Timing
    processor: tuple[Timing, Timing] | None
    shared: int
    scans: float

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
            "k": self.k,
            "rows": self.rows,
            "seconds": {"podium": self.podium.seconds, "plain": self.plain.seconds},
            "median_seconds": {"podium": self.podium.median, "plain": self.plain.median},
            "ratio": self.ratio,
            "processor_ratio": self.processor_ratio,
            "processor_seconds": None if self.processor is None else [timing.seconds for timing in self.processor],
            "shared_items": self.shared,
            "scans": self.scans,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        """What ``as_json`` wrote."""
        podium, plain = (Timing(list(data["seconds"][whose])) for whose in ("podium", "plain"))
        read = data["processor_seconds"]
        processor = None if read is None else (Timing(list(read[0])), Timing(list(read[1])))
        route, place = Route(data["route"]), (data["question"], data["k"], data["rows"])
        return cls(data["engine"], route, *place, podium, plain, processor, data["shared_items"], data["scans"])


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """What a question allocated in Python at most, for a table with that many items."""

    route: Route
    items: int
    peak_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"route": self.route.name, "items": self.items, "peak_bytes": self.peak_bytes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MemoryCell:
        """What ``as_json`` wrote."""
        return cls(Route(data["route"]), data["items"], data["peak_bytes"])


def goals(cells: Sequence[Cell], memory: Sequence[MemoryCell]) -> list[Goal]:
    """One goal for each engine and route that has a limit, judged on its worst cell; one for scans, one for memory."""
    timed = [_time_goal(cells, engine, limit) for limit in _LIMITS for engine in limit.engines]
    return [*timed, _scans_goal(cells), _memory_goal(memory)]


def _time_goal(cells: Sequence[Cell], engine: str, limit: _Limit) -> Goal:
    what = "processor time" if limit.processor else "time"
    name, wanted = f"{what} / plain query: {engine}, {limit.route.name}", f"<= {limit.at_most:.2f}"
    ratios = {
        f"{cell.question}, {cell.rows:,} rows": cell.processor_ratio if limit.processor else cell.ratio
        for cell in cells
        if cell.engine == engine and cell.route == limit.route
    }
    judged = [(ratio, where) for where, ratio in ratios.items() if ratio is not None]
    if not judged:
        return Goal(name, wanted, None, None, "")
    worst, where = max(judged)
    return Goal(name, wanted, worst, worst <= limit.at_most, where)


def _scans_goal(cells: Sequence[Cell]) -> Goal:
    name, wanted = "scans of the table by one question, most", f"<= {_ONE_SCAN:.0f}"
    if not cells:
        return Goal(name, wanted, None, None, "")
    worst = max(cells, key=lambda cell: cell.scans)
    return Goal(name, wanted, worst.scans, worst.scans <= _ONE_SCAN, f"{worst.engine}, {worst.question}")


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
