"""Ding, Wang, Xiao, Zhang & Kifer 2021, Figures 4-6: what the adaptive sparse vector answers, finds and saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from reproduce import data
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Series, Study, Verdict, judged
from reproduce.thresholds import Answers, Sparse, random_threshold

__all__ = ["STUDY"]

_LIKE = ("BMS-WebView-1 scaled", "Kosarak-116", "T40-generated")
_SMALL = ("BMS-WebView-1", "BMS-WebView-2", "Kosarak-36682")
_SETS = (*_LIKE, *_SMALL)
_GROUPS = {"counts of the paper's size": _LIKE, "stand-ins as they are, 7 to 27 times fewer records": _SMALL}
_LONGEST = {"Kosarak-116": 14}
"""Thresholds lie at ranks up to 8k, so 116 items are enough up to this k."""
_EPSILON = 0.7
_SIZES = {Mode.TINY: (2, 10), Mode.QUICK: (2, 6, 10, 14, 18, 24), Mode.FULL: tuple(range(2, 25, 2))}
_RUNS = {Mode.TINY: 40, Mode.QUICK: 400, Mode.FULL: 10_000}
_KEYS = ("plain", "adaptive")
_ANSWERS = {
    "adaptive answers": "adaptive",
    "adaptive cheap": "adaptive, cheap branch",
    "plain answers": "plain",
}
_QUALITY = {
    "adaptive precision": "precision, adaptive",
    "plain precision": "precision, plain",
    "adaptive f": "F-measure, adaptive",
    "plain f": "F-measure, plain",
    "left": "budget left after k answers",
}
"""What the two figures show of the results, and how their legends name it."""


def _cells(mode: Mode) -> list[Params]:
    sets = _SETS[:1] if mode is Mode.TINY else _SETS
    return [
        {"set": name, "k": k, "runs": _RUNS[mode]}
        for name in sets
        for k in reversed(_SIZES[mode])
        if k <= _LONGEST.get(name, k)
    ]


def _compute(params: Params) -> Result:
    counts, k = data.counts(params["set"]).astype(np.float64), params["k"]
    rng = np.random.default_rng([2021, k])
    vectors = {key: Sparse(k, _EPSILON, adaptive=key == "adaptive", noise="laplace") for key in _KEYS}
    found: dict[str, list[float]] = {}
    for _ in range(params["runs"]):
        threshold = random_threshold(counts, k, rng)
        above = int(np.count_nonzero(counts >= threshold))
        for key, vector in vectors.items():
            answers = vector.run(counts, threshold, rng)
            for name, value in _quality(answers, above).items():
                found.setdefault(f"{key} {name}", []).append(value)
        stopped = vectors["adaptive"].run(counts, threshold, rng, stop=k)
        found.setdefault("left", []).append(1 - vectors["adaptive"].spent(stopped) / _EPSILON)
        found.setdefault("full", []).append(float(len(stopped.items) == k))
    runs = params["runs"]
    return {
        name: {"mean": float(np.mean(values)), "error": float(np.std(values) / np.sqrt(runs))}
        for name, values in found.items()
    }


def _quality(answers: Answers, above: int) -> dict[str, float]:
    """Counts are in descending order, so the items that are truly above come first."""
    number = len(answers.items)
    true = int(np.count_nonzero(answers.items < above))
    precision = true / number if number else 1.0
    recall = true / above
    return {
        "answers": float(number),
        "cheap": float(np.count_nonzero(answers.branches == 2)),
        "precision": precision,
        "f": 2 * precision * recall / (precision + recall) if true else 0.0,
    }


def _report(measured: Measured) -> Report:
    sets = measured.values("set")
    rows = []
    for words, names in _GROUPS.items():
        part = Measured([cell for cell in measured.cells if cell[0]["set"] in names])
        if part.cells:
            makers = (_more_row, _cheap_row, _precision_row, _f_row, _left_row)
            rows += [_in_group(make(part), words, small=names is _SMALL) for make in makers]
    return Report(rows, [_answers_figure(measured, sets), _quality_figure(measured, sets)])


def _in_group(row: Row, words: str, *, small: bool) -> Row:
    why = "So few records leave most counts within the noise of the threshold." if small else ""
    explained = row.verdict is Verdict.DIFFERS and why
    return replace(row, claim=f"{row.claim} ({words})", note=f"{why} {row.note}".strip() if explained else row.note)


def _more_row(measured: Measured) -> Row:
    k = max(measured.values("k"))
    more = {
        params["set"]: found["adaptive answers"]["mean"] - found["plain answers"]["mean"]
        for params, found in measured.where(k=k)
    }
    always = all(found["adaptive answers"]["mean"] >= found["plain answers"]["mean"] for _, found in measured.cells)
    return Row(
        "DW, Section 9.3, Figure 4",
        f"the adaptive sparse vector answers more queries: on average up to 20 more at k={k}",
        "up to 20 more" if k == 24 else "more",
        ", ".join(f"{name}: {value:.1f}" for name, value in more.items()) + f" more at k={k}",
        judged(always and (k != 24 or max(more.values()) >= 18), stand_in=True),
    )


def _cheap_row(measured: Measured) -> Row:
    shares = [found["adaptive cheap"]["mean"] / found["adaptive answers"]["mean"] for _, found in measured.cells]
    return Row(
        "DW, Section 9.3, Figure 4",
        "most queries are answered in the cheap top branch",
        "most",
        f"{min(shares):.0%} to {max(shares):.0%} of the answers, {np.mean(shares):.0%} on average",
        judged(min(shares) > 0.5, stand_in=True),
        "Fewest where few items are clearly above the threshold." if min(shares) <= 0.5 else "",
    )


def _precision_row(measured: Measured) -> Row:
    differences = {
        (params["set"], params["k"]): found["adaptive precision"]["mean"] - found["plain precision"]["mean"]
        for params, found in measured.cells
    }
    (name, k), worst = min(differences.items(), key=lambda entry: entry[1])
    return Row(
        "DW, Figure 5",
        "very little difference in precision",
        "very little",
        f"at most {-min(worst, 0.0):.1%} lower ({name}, k={k})",
        judged(worst > -0.05, stand_in=True),
    )


def _f_row(measured: Measured) -> Row:
    ratios = [found["adaptive f"]["mean"] / found["plain f"]["mean"] for _, found in measured.cells]
    return Row(
        "DW, Figure 5",
        "the F-measure is roughly 1.5 times that of the plain sparse vector",
        "about 1.5x",
        f"{min(ratios):.2f}x to {max(ratios):.2f}x, {np.mean(ratios):.2f}x on average",
        judged(min(ratios) >= 1.25 and max(ratios) <= 1.75, stand_in=True),
    )


def _left_row(measured: Measured) -> Row:
    left = {
        name: np.mean([found["left"]["mean"] for _, found in measured.where(set=name)])
        for name in measured.values("set")
    }
    return Row(
        "DW, Figure 6",
        "roughly 40 % of the budget is left if the adaptive sparse vector stops after k answers",
        "about 40%",
        ", ".join(f"{name}: {value:.0%}" for name, value in left.items()) + ", each over all k",
        judged(all(0.35 <= value <= 0.45 for value in left.values()), stand_in=True),
        "More than (1 - theta)/2 cannot be left, since a cheap answer costs half: 31 % at k=2, 45 % at k=24.",
    )


def _points(measured: Measured, name: str, key: str, label: str) -> Series:
    cells = sorted(((params["k"], found[key]) for params, found in measured.where(set=name)), key=lambda cell: cell[0])
    y = [value["mean"] for _, value in cells]
    bar = [2 * value["error"] for _, value in cells]
    low, high = ([v + sign * b for v, b in zip(y, bar, strict=True)] for sign in (-1, 1))
    return Series(label, [k for k, _ in cells], y, low, high)


def _curves(measured: Measured, name: str, labels: Mapping[str, str]) -> list[Series]:
    return [_points(measured, name, key, label) for key, label in labels.items()]


def _answers_figure(measured: Measured, sets: list[str]) -> Figure:
    panels = [Panel(name, _curves(measured, name, _ANSWERS), x="k", y="queries answered") for name in sets]
    note = f"As Figure 4 of Ding et al. 2021, epsilon {_EPSILON}; bands are two standard errors. " + "; ".join(
        f"{name}: {data.STAND_INS[name]}" for name in sets
    )
    return Figure("sparse-answers", "Answers of the sparse vector", panels, columns=2, notes=[note + "."])


def _quality_figure(measured: Measured, sets: list[str]) -> Figure:
    panels = [
        Panel(name, _curves(measured, name, _QUALITY), x="k", y="share", percent=True, y_range=(0, 1.05))
        for name in sets
    ]
    note = f"As Figures 5 and 6 of Ding et al. 2021, epsilon {_EPSILON}, thresholds at random ranks from 2k to 8k."
    return Figure("sparse-quality", "Precision, F-measure and budget left", panels, columns=2, notes=[note])


STUDY = Study("sparse", "Adaptive sparse vector (Ding et al., Figures 4-6)", _cells, _compute, _report, data=_SETS)
