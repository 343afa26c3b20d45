"""The cells of the selection bench, and the goals that are read off them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from bench.goals import Goal
from bench.measure import Timing

__all__ = ["RawCell", "TallyCell", "goals"]

_LARGE = 10**6
_DISTINCT = frozenset({"distinct", "distinct-wide"})
_SAME = 2.0


@dataclass(frozen=True, slots=True)
class RawCell:
    """One (shape, d, k) on raw scores. ``memory`` is peak extra bytes over the bytes of the counts."""

    shape: str
    d: int
    k: int
    timings: dict[str, Timing]
    memory: dict[str, float]
    opendp_skipped: str | None

    @property
    def name(self) -> str:
        """How the goals refer to this cell."""
        return f"{self.shape} d={self.d:.0e} k={self.k}".replace("e+0", "e")

    @property
    def ratio_to_numpy(self) -> float:
        """Podium's time over NumPy's: below 1 is faster."""
        return self.timings["podium"].median / self.timings["numpy"].median

    @property
    def times_faster_than_opendp(self) -> float | None:
        """OpenDP's time over podium's, where OpenDP took part."""
        return self.timings["opendp"].median / self.timings["podium"].median if "opendp" in self.timings else None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "shape": self.shape,
            "d": self.d,
            "k": self.k,
            "seconds": {name: timing.seconds for name, timing in self.timings.items()},
            "median_seconds": {name: timing.median for name, timing in self.timings.items()},
            "ratio_to_numpy": self.ratio_to_numpy,
            "times_faster_than_opendp": self.times_faster_than_opendp,
            "opendp_skipped": self.opendp_skipped,
            "memory_multiple": self.memory,
        }


@dataclass(frozen=True, slots=True)
class TallyCell:
    """One (shape, d, k) on counts of counts, with the number of groups that the race really saw."""

    shape: str
    d: int
    k: int
    groups: int
    timing: Timing
    peak_extra_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        found = asdict(self)
        del found["timing"]
        return found | {"seconds": self.timing.seconds, "median_seconds": self.timing.median}


def goals(raw: list[RawCell], tallies: list[TallyCell]) -> list[Goal]:
    """The goals of the ground floor, judged on this run: always the worst cell that a goal speaks of."""

    def at(shapes: Iterable[str], d: int) -> list[RawCell]:
        return [cell for cell in raw if cell.shape in shapes and cell.d == d and cell.k == 100]

    large = [cell for cell in raw if cell.d >= _LARGE]
    small = [cell for cell in raw if cell.d < _LARGE]
    return [
        _at_most("time / NumPy: Zipf, d=1e6, k=100", 1.0, at({"zipf"}, 10**6), _ratio),
        _at_most("time / NumPy: all distinct, d=1e6, k=100", 3.0, at(_DISTINCT, 10**6), _ratio),
        _opendp_goal(at({"zipf"}, 10**5)),
        _at_most("extra memory / counts: every cell with d >= 1e6", 4.0, large, _memory),
        _at_most("extra memory / counts: every cell with d < 1e6", 4.0, small, _memory),
        _independence_goal(tallies),
    ]


def _ratio(cell: RawCell) -> float:
    return cell.ratio_to_numpy


def _memory(cell: RawCell) -> float:
    return cell.memory["podium"]


def _at_most(name: str, limit: float, cells: list[RawCell], value: Callable[[RawCell], float]) -> Goal:
    if not cells:
        return Goal(name, f"<= {limit:g}", None, None, "")
    worst = max(cells, key=value)
    return Goal(name, f"<= {limit:g}", value(worst), value(worst) <= limit, worst.name)


def _opendp_goal(cells: list[RawCell]) -> Goal:
    name, limit = "times faster than OpenDP: Zipf, d=1e5, k=100", 1000.0
    speedups = [(cell.times_faster_than_opendp, cell.name) for cell in cells]
    for speedup, where in speedups:
        if speedup is not None:
            return Goal(name, f">= {limit:g}", speedup, speedup >= limit, where)
    return Goal(name, f">= {limit:g}", None, None, "")


def _independence_goal(tallies: list[TallyCell]) -> Goal:
    """Largest over smallest median among domain sizes. A factor of 2 is noise here; the domains differ by 10^14."""
    name, wanted = "counts of counts: slowest d / fastest d", f"<= {_SAME:g}"
    series: dict[tuple[str, int], list[float]] = {}
    for cell in tallies:
        series.setdefault((cell.shape, cell.k), []).append(cell.timing.median)
    spreads = {key: max(medians) / min(medians) for key, medians in series.items() if len(medians) > 1}
    if not spreads:
        return Goal(name, wanted, None, None, "")
    (shape, k), spread = max(spreads.items(), key=lambda item: item[1])
    return Goal(name, wanted, spread, spread <= _SAME, f"{shape} k={k}")
