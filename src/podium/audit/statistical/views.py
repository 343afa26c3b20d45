"""Ways to look at outcomes: each turns a draw into a symbol that can be counted.

Any function of an outcome is post-processing, so a bound found through any view is a bound on the mechanism. Edges of
bins are fitted on the training draws only; the draws that a test is made on have no influence on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.audit.statistical.draws import Draws, Recorder

__all__ = ["NUMERIC_VIEWS", "VIEWS", "FittedView", "View", "fit_views"]

Matrix: TypeAlias = NDArray[np.float64]

_BINS = {1: 48, 2: 12, 3: 6, 4: 4}
_MIN_BINS = 3
_MAX_FEATURES = 8
_ATOM = 0.02
_MAX_ATOMS = 40


@dataclass(frozen=True, slots=True)
class View:
    """A name, and which numbers to look at beside the discrete part; None if there are none to look at."""

    name: str
    features: Callable[[Matrix], Matrix | None]


def _none(reals: Matrix) -> Matrix:
    return reals[:, :0]


def _values(reals: Matrix) -> Matrix | None:
    return reals if reals.shape[1] else None


def _differences(reals: Matrix) -> Matrix | None:
    return np.diff(reals, axis=1) if reals.shape[1] > 1 else None


def _low_bits(reals: Matrix) -> Matrix | None:
    """The place of the lowest set bit: which grid a float lies on. Infinities and zero are on every grid."""
    if not reals.shape[1]:
        return None
    bits = np.ascontiguousarray(reals).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    lowest = np.bitwise_count((mantissa & -mantissa) - 1).astype(np.float64)
    place = np.maximum(exponent, 1) - 1075 + lowest
    place = np.where((reals == 0.0) | np.isinf(reals), 2000.0, place)
    return np.where(np.isnan(reals), np.nan, place)


def _last_bits(reals: Matrix) -> Matrix | None:
    """The last three bits of the mantissa."""
    if not reals.shape[1]:
        return None
    last = (np.ascontiguousarray(reals).view(np.int64) & 7).astype(np.float64)
    return np.where(np.isnan(reals), np.nan, last)


VIEWS = (View("outcomes", _none), View("differences of values", _differences), View("values", _values))
"""What anybody would look at: names, whether values move together, and values; of equally good events the first counts,
because differences last where values may be those of the moment."""

NUMERIC_VIEWS = (View("place of the lowest bit", _low_bits), View("last bits", _last_bits))
"""Traces of floating-point arithmetic (Mironov 2012)."""


def fit_views(training: Draws, views: tuple[View, ...] = VIEWS) -> list[FittedView]:
    """The views that have something to show, with bins fitted on these draws."""
    fitted = []
    for view in views:
        features = view.features(training.reals)
        if features is not None:
            columns = features.shape[1] if features.shape[1] <= _MAX_FEATURES else _MAX_FEATURES
            bins = _BINS.get(columns, _MIN_BINS)
            fitted.append(FittedView(view, [_Scale.fit(features[:, i], bins) for i in range(columns)]))
    return fitted


class FittedView:
    """A view with bins: symbols are integers, the same for all draws of the same recorder."""

    def __init__(self, view: View, scales: list[_Scale]) -> None:
        self.name: str = view.name
        self._features = view.features
        self._scales = scales

    def symbols(self, draws: Draws) -> NDArray[np.int64]:
        """One symbol for each draw."""
        symbols = draws.codes.copy()
        features = self._features(draws.reals)
        for place, scale in enumerate(self._scales):
            here = features is not None and place < features.shape[1]
            column = features[:, place] if here and features is not None else np.full(draws.size, np.nan)
            symbols = symbols * scale.size + scale.places(column)
        return symbols

    def describe(self, symbol: int, recorder: Recorder) -> str:
        """What a symbol stands for."""
        texts = []
        for scale in reversed(self._scales):
            symbol, place = divmod(symbol, scale.size)
            texts.append(scale.describe(place))
        outcome = recorder.describe(symbol)
        shown = "" if self._scales and outcome in ("#", "(#,)") else outcome
        return " ".join([shown, *[text for text in reversed(texts) if text]]).strip()


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where numbers fall: values that repeat often have a place of their own, the others are binned."""

    atoms: NDArray[np.float64]
    edges: NDArray[np.float64]

    @classmethod
    def fit(cls, column: NDArray[np.float64], bins: int) -> _Scale:
        numbers = column[~np.isnan(column)]
        values, counts = np.unique(numbers, return_counts=True)
        often = counts >= max(2.0, _ATOM * len(numbers))
        best = values[often][np.argsort(-counts[often])][:_MAX_ATOMS]
        atoms = np.sort(best)
        rest = numbers[~np.isin(numbers, atoms)]
        rest = rest[np.isfinite(rest)]
        edges = np.unique(np.quantile(rest, np.linspace(0, 1, bins + 1)[1:-1])) if len(rest) else np.empty(0)
        return cls(atoms, edges)

    @property
    def size(self) -> int:
        return len(self.edges) + len(self.atoms) + 2

    def places(self, column: NDArray[np.float64]) -> NDArray[np.int64]:
        places = np.searchsorted(self.edges, column, side="right").astype(np.int64)
        if len(self.atoms):
            near = np.minimum(np.searchsorted(self.atoms, column), len(self.atoms) - 1)
            places = np.where(self.atoms[near] == column, len(self.edges) + 1 + near, places)
        return np.where(np.isnan(column), self.size - 1, places)

    def describe(self, place: int) -> str:
        if place == self.size - 1:
            return ""
        if place > len(self.edges):
            return f"= {self.atoms[place - len(self.edges) - 1]:.6g}"
        low = f"{self.edges[place - 1]:.4g}" if place else "-inf"
        high = f"{self.edges[place]:.4g}" if place < len(self.edges) else "inf"
        return f"in [{low}, {high})"
