"""Shekelyan & Loukides 2022, Figures 2 and 3: scores by Zipf's law, the exponent or epsilon varied."""

from __future__ import annotations

import numpy as np

from reproduce import topk
from reproduce.curves import MECHANISMS, points, series_of, sweep
from reproduce.data import zipf
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Study, judged

__all__ = ["STUDY"]

_ITEMS = 10_000
_EXPONENT = 0.04
_GOALS = ("TOP", "GOOD")
_SIZES = (10, 100, 1000)
_SCALES = {Mode.TINY: (3, 1, 50), Mode.QUICK: (13, 4, 1000), Mode.FULL: (51, 12, 10_000)}
"""Values of the exponent, points per decade of epsilon, runs."""


def _cells(mode: Mode) -> list[Params]:
    exponents, density, runs = _SCALES[mode]
    sizes = (10,) if mode is Mode.TINY else _SIZES
    items = 500 if mode is Mode.TINY else _ITEMS
    common = {"items": items, "runs": runs}
    cells: list[Params] = []
    for mechanism in MECHANISMS:
        cells += [
            {"kind": "exponent", "k": k, "mechanism": mechanism, "number": exponents, **common} for k in reversed(sizes)
        ]
        cells.append({"kind": "epsilon", "k": 10, "mechanism": mechanism, "density": density, **common})
    # Error bars must be able to tell 99.9 % from less, so the check at epsilon 1 is an integral.
    return [*cells, {"kind": "check", "k": 10, **common}]


def _compute(params: Params) -> Result:
    k = params["k"]
    if params["kind"] == "check":
        x = zipf(params["items"], _EXPONENT)
        chances = {}
        for name, (kind, parameter) in MECHANISMS.items():
            exact = kind == "canonical"
            chances[name] = (
                topk.canonical(x, k, 1.0, float(parameter))["TOP"]
                if exact
                else topk.top_probability(x, k, 1.0, str(parameter))
            )
        return chances
    if params["kind"] == "exponent":
        exponents = [float(f"{s:.3g}") for s in np.geomspace(0.002, 1.0, params["number"])]
        scores = [zipf(params["items"], s) for s in exponents]
        found = sweep(scores, [1.0] * len(scores), k, params["mechanism"], runs=params["runs"], seed=2)
        return {"exponent": exponents, **found}
    epsilons = points(1e-4, 1.0, params["density"])
    scores = [zipf(params["items"], _EXPONENT)] * len(epsilons)
    found = sweep(scores, epsilons, k, params["mechanism"], runs=params["runs"], seed=3)
    return {"epsilon": epsilons, **found}


def _report(measured: Measured) -> Report:
    return Report([*_exponent_rows(measured), _check_row(measured), _epsilon_row(measured)], _figures(measured))


def _exponent_rows(measured: Measured) -> list[Row]:
    rows = []
    for k in sorted(measured.values("k", kind="exponent")):
        cells = {mechanism: measured.one(kind="exponent", k=k, mechanism=mechanism) for mechanism in MECHANISMS}
        new, old = (
            np.maximum(cells[one]["TOP"], cells[other]["TOP"])
            for one, other in (("CANONICAL", "CANONICAL, gamma=1"), ("ONESHOT-Exp", "PEELING"))
        )
        place, exponents = int(np.argmax(new - old)), cells["PEELING"]["exponent"]
        area = float(np.trapezoid(new - old, exponents))
        many = new[place] > 3 * old[place]
        held = not many if k == 10 else many
        rows.append(
            Row(
                "SL, Figure 2",
                f"Zipf, epsilon=1, k={k}: how much more likely the new mechanisms find the top k (best of each kind)",
                "not obvious in the figure" if k == 10 else "many times larger",
                f"{area:.1%} on average over the figure, {new[place]:.1%} against {old[place]:.1%} at exponent "
                f"{exponents[place]:g}",
                judged(bool(held)),
                "Only close to exponent 0, at the edge of the figure; over its whole width it is not obvious."
                if not held and area < 0.02
                else "",
            )
        )
    return rows


def _check_row(measured: Measured) -> Row:
    chances = measured.one(kind="check")
    worst = min(chances, key=lambda name: chances[name])
    return Row(
        "SL, Figure 3",
        "Zipf, epsilon=1, exponent 0.04, k=10: all four find the top 10 with at least 99.9 %",
        ">= 99.9 %",
        f"{chances[worst]:.3%} at worst ({worst})",
        judged(chances[worst] >= 0.999),
        "" if chances[worst] >= 0.999 else "The total of the scores is 15^7, as in the authors' script.",
    )


def _epsilon_row(measured: Measured) -> Row:
    def first(mechanism: str) -> float:
        result = measured.one(kind="epsilon", mechanism=mechanism)
        return float(np.interp(0.5, np.maximum.accumulate(result["TOP"]), result["epsilon"]))

    halves = {mechanism: first(mechanism) for mechanism in MECHANISMS}
    new = min(halves["CANONICAL"], halves["CANONICAL, gamma=1"])
    old = min(halves["ONESHOT-Exp"], halves["PEELING"])
    return Row(
        "SL, Figure 3",
        "Zipf, exponent 0.04, k=10: the difference becomes much larger for smaller epsilon",
        "much larger",
        f"{old / new:.2g}x less epsilon for probability 1/2",
        judged(old > 1.5 * new),
    )


def _figures(measured: Measured) -> list[Figure]:
    def panel(title: str, goal: str, kind: str, k: int, x: str) -> Panel:
        found = {name: measured.one(kind=kind, k=k, mechanism=name) for name in MECHANISMS}
        curves = [series_of(name, result[kind], result, goal) for name, result in found.items()]
        return Panel.of_chances(title, curves, x=x, level=0.999)

    panels = [
        panel(f"{goal}-{k}, epsilon = 1", goal, "exponent", k, "exponent s")
        for k in sorted(measured.values("k", kind="exponent"), reverse=True)
        for goal in _GOALS
    ]
    panels += [panel(f"{goal}-10, exponent {_EXPONENT}", goal, "epsilon", 10, "epsilon") for goal in _GOALS]
    note = "As Figures 2 and 3 of Shekelyan & Loukides 2022: 10,000 scores that fall like a power of the rank."
    return [Figure("zipf", "Scores by Zipf's law", panels, columns=2, notes=[note])]


STUDY = Study("zipf", "Zipf's law (Shekelyan & Loukides, Figures 2-3)", _cells, _compute, _report)
