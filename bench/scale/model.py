"""A cost model of a question, fitted on what the bench measured.

    core seconds = fixed + a * rows + b * pairs + c * items
        + d * rounds + e * pairs read in rounds + f * rows that leave the engine

Core seconds are processor time, of all threads together: where others use the machine too, the clock says little.
Coefficients are not negative, and errors are relative: a model that is right for a large table and absurd for a small
one is of no use. ``pairs`` are distinct pairs of user and item. A question in rounds keeps them and reads them several
times: ``rounds`` is how often its statements did, and ``read`` this times their number. These and the rows that leave
the engine are counted while a question runs; one query lets k_bar + 1 rows leave.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from bench.scale.questions import LISTS

__all__ = ["TERMS", "Model", "Point", "fit", "points_of"]

TERMS = ("rows", "pairs", "items", "rounds", "read", "leaving")


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement."""

    rows: int
    pairs: int
    items: int
    rounds: int
    read: int
    leaving: int
    core_seconds: float

    @property
    def sizes(self) -> dict[str, int]:
        """What the model asks for."""
        return {term: getattr(self, term) for term in TERMS}

    @property
    def row(self) -> list[float]:
        """Of the matrix."""
        return [1.0, *map(float, self.sizes.values())]


@dataclass(frozen=True, slots=True)
class Model:
    """Core seconds that are always there, and for each of the terms; how far a point is from it, as a share of it."""

    fixed: float
    each: dict[str, float]
    points: int
    worst_error: float

    def core_seconds(self, **sizes: int) -> float:
        """What the model says for such a table, on cores like those that it was fitted on."""
        return self.fixed + sum(self.each[term] * sizes.get(term, 0) for term in TERMS)

    def error(self, point: Point) -> float:
        """How far it is from a measurement, as a share of what was measured."""
        return self.core_seconds(**point.sizes) / point.core_seconds - 1


def fit(points: Sequence[Point]) -> Model:
    """The coefficients with the least sum of squared relative errors."""
    measured = np.array([point.core_seconds for point in points])
    matrix = np.array([point.row for point in points]) / measured[:, None]
    # Columns of sizes from 1 to 1e8 are brought to one scale, or the solver sees zeros.
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    found, _ = nnls(matrix / scale, np.ones(len(points)))
    coefficients = found / scale
    errors = np.abs(matrix @ coefficients - 1)
    each = {term: float(value) for term, value in zip(TERMS, coefficients[1:], strict=True)}
    return Model(float(coefficients[0]), each, len(points), float(errors.max()))


def points_of(report: Mapping[str, Any]) -> list[Point]:
    """The measurements of DuckDB in a file of the scale bench: of lists of users, not of groups and sums."""
    return [
        *(
            _point(cell, cell["podium"], rows=cell["rows"], pairs=cell["pairs"])
            for cell in (*report["largest"], *report["tables"])
            if cell["kind"] == LISTS
        ),
        # In the wide table nearly all rows are pairs of their own, and there are few more of them than items.
        *(_point(cell, cell, rows=cell["items"], pairs=cell["items"]) for cell in report["k_bars"]),
    ]


def _point(cell: Mapping[str, Any], measured: Mapping[str, Any], *, rows: int, pairs: int) -> Point:
    seconds = statistics.median(measured["processor_seconds"])
    rounds = round(measured["kept_reads"])
    return Point(rows, pairs, cell["items"], rounds, rounds * pairs, round(measured["leaving"]), seconds)
