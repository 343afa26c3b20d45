"""Gillenwater, Joseph, Munoz Medina & Ribero 2022: the joint mechanism against peeling, on Books and Games."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.histogram import Histogram
from podium.mechanisms import CanonicalTopK, JointTopK
from podium.privacy import calibrate_epsilon
from reproduce import data
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Series, Study, Verdict, judged

__all__ = ["STUDY"]

Ranks: TypeAlias = NDArray[np.intp]

_SETS = ("BOOKS", "GAMES")
_EPSILON, _DELTA = "1", "1e-6"
_SIZES = {Mode.TINY: (5,), Mode.QUICK: (5, 15, 35, 65, 115, 195), Mode.FULL: tuple(range(5, 205, 10))}
_RUNS = {Mode.TINY: 2, Mode.QUICK: 15, Mode.FULL: 50}
_WAYS = ("joint", "peeling, pure DP", "peeling, zCDP", "peeling, our accounting", "canonical")
_MEASURES = {"worst": "largest shortfall", "below": "shortfall below the k-th"}


def _cells(mode: Mode) -> list[Params]:
    sets = _SETS[1:] if mode is Mode.TINY else _SETS
    return [
        {"set": name, "k": k, "way": way, "runs": _RUNS[mode]}
        for name in sets
        for k in reversed(_SIZES[mode])
        for way in _WAYS
    ]


def _compute(params: Params) -> Result:
    counts, k = data.counts(params["set"]), params["k"]
    select = _selector(params["way"], counts, k)
    worst, below = [], []
    for _ in range(params["runs"]):
        chosen = counts[select()]
        worst.append(int(np.max(counts[:k] - chosen)))
        below.append(int(max(0, np.max(counts[k - 1] - chosen))))
    return {
        name: [float(np.quantile(values, level)) for level in (0.25, 0.5, 0.75)]
        for name, values in (("worst", worst), ("below", below))
    }


def _selector(way: str, counts: data.Counts, k: int) -> Callable[[], Ranks]:
    """A function that gives ranks in their released order; a set in the order of its counts."""
    if way in ("joint", "canonical"):
        histogram = Histogram.from_arrays(range(len(counts)), counts)
        mechanism = JointTopK(k, _EPSILON) if way == "joint" else CanonicalTopK(k, _EPSILON)

        def released() -> Ranks:
            ranks = np.array([*mechanism.release(histogram).items], dtype=np.intp)
            return ranks if way == "joint" else np.sort(ranks)

        return released
    rng = np.random.default_rng([2022, k])
    if way == "peeling, pure DP":
        return lambda: _rounds(counts, k, rng)
    rate = _rate(way, k)
    return lambda: _once(counts, k, rate, rng)


def _rate(way: str, k: int) -> float:
    """Epsilon of each selection: as in the authors' script, or by podium's calibration."""
    if way == "peeling, our accounting":
        return float(calibrate_epsilon(k, epsilon=_EPSILON, delta=_DELTA, delta_for_calls=0).epsilon_per_item)
    epsilon, logarithm = float(_EPSILON), -np.log(float(_DELTA))
    return float(max(epsilon / k, (np.sqrt(8 * (logarithm + epsilon)) - np.sqrt(8 * logarithm)) / np.sqrt(k)))


def _once(counts: data.Counts, k: int, rate: float, rng: np.random.Generator) -> Ranks:
    noisy = counts + rng.gumbel(scale=1 / rate, size=len(counts))
    top = np.argpartition(-noisy, k)[:k]
    return top[np.argsort(-noisy[top])]


def _rounds(counts: data.Counts, k: int, rng: np.random.Generator) -> Ranks:
    """k rounds of permute-and-flip with fresh noise, each with epsilon/k."""
    left = counts.astype(np.float64)
    chosen = np.empty(k, dtype=np.intp)
    for place in range(k):
        chosen[place] = int(np.argmax(left + rng.exponential(scale=k / float(_EPSILON), size=len(left))))
        left[chosen[place]] = -np.inf
    return chosen


def _median(measured: Measured, name: str, k: int, way: str) -> float:
    return float(measured.one(set=name, k=k, way=way)["worst"][1])


def _report(measured: Measured) -> Report:
    rows = []
    for name in measured.values("set"):
        sizes = sorted(measured.values("k", set=name))
        errors = {way: [_median(measured, name, k, way) for k in sizes] for way in _WAYS}
        rows += [
            _pure_row(name, sizes, errors),
            _approximate_row(name, sizes, errors, "peeling, zCDP"),
            _approximate_row(name, sizes, errors, "peeling, our accounting"),
            _similar_row(name, errors),
        ]
    return Report(rows, [_figure(measured)])


def _pure_row(name: str, sizes: list[int], errors: dict[str, list[float]]) -> Row:
    better = [joint <= peeled for joint, peeled in zip(errors["joint"], errors["peeling, pure DP"], strict=True)]
    lost = [str(k) for k, won in zip(sizes, better, strict=True) if not won]
    return Row(
        "Gillenwater et al., abstract",
        f"{name}: the joint mechanism outperforms pure peeling (median of the largest shortfall, epsilon {_EPSILON})",
        "outperforms",
        f"at {sum(better)} of {len(better)} values of k from {sizes[0]} to {sizes[-1]}",
        judged(all(better)),
        f"Not at k = {', '.join(lost)}." if lost else "",
    )


def _approximate_row(name: str, sizes: list[int], errors: dict[str, list[float]], way: str) -> Row:
    wins = [k for k, joint, peeled in zip(sizes, errors["joint"], errors[way], strict=True) if joint < peeled]
    ties = [k for k, joint, peeled in zip(sizes, errors["joint"], errors[way], strict=True) if joint == peeled]
    theirs = way == "peeling, zCDP"
    return Row(
        "Gillenwater et al., abstract" if theirs else "beyond Gillenwater et al.",
        f"{name}: the joint mechanism improves on approximate-DP {way} for moderate k (delta {_DELTA})",
        "for moderate k" if theirs else "-",
        f"better at k = {', '.join(map(str, wins)) or 'none'}"
        + (f"; equal at {', '.join(map(str, ties))}" if ties else ""),
        judged(bool(wins)) if theirs else Verdict.BEYOND,
        "" if wins else "Ties where both find the true top k." if ties else "Peeling is never worse here.",
    )


def _similar_row(name: str, errors: dict[str, list[float]]) -> Row:
    pairs = [
        (joint + 1) / (canonical + 1) for joint, canonical in zip(errors["joint"], errors["canonical"], strict=True)
    ]
    return Row(
        "SL, Section 7",
        f"{name}: the joint mechanism is very similar to CANONICAL (largest shortfall + 1, ratio of medians)",
        "very similar",
        f"{min(pairs):.2f} to {max(pairs):.2f}, {np.median(pairs):.2f} in the middle",
        judged(min(pairs) >= 0.5 and max(pairs) <= 2),
        "" if max(pairs) <= 2 else "A set need not have the order right; for large k that is easier.",
    )


def _figure(measured: Measured) -> Figure:
    panels = []
    for name in measured.values("set"):
        for measure, words in _MEASURES.items():
            curves = []
            for way in _WAYS:
                cells = [(params["k"], found[measure]) for params, found in measured.where(set=name, way=way)]
                cells.sort(key=lambda cell: cell[0])
                low, middle, high = ([1 + quantiles[i] for _, quantiles in cells] for i in range(3))
                curves.append(Series(way, [k for k, _ in cells], middle, low, high))
            panels.append(Panel(f"{name}: {words}", curves, x="k", y="users + 1", y_scale="log"))
    note = (
        f"As the experiments of Gillenwater et al. 2022: epsilon {_EPSILON}, delta {_DELTA} where it is used. Largest "
        "shortfall: how far a place is behind the true one. Medians with quartiles. Canonical gives a set."
    )
    return Figure("joint", "The joint mechanism on Books and Games", panels, columns=2, notes=[note])


STUDY = Study("joint", "Joint mechanism (Gillenwater et al., Books and Games)", _cells, _compute, _report, data=_SETS)
