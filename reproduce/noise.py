"""Shekelyan & Loukides 2022, Figure 4: the oneshot mechanism with five noise families, without sampling."""

from __future__ import annotations

import math

import numpy as np

from reproduce import data, topk
from reproduce.curves import points
from reproduce.families import FAMILIES
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Series, Study, judged

__all__ = ["STUDY"]

_SIZES = (1, 10, 100, 1000)
_DENSITY = {Mode.TINY: 3, Mode.QUICK: 6, Mode.FULL: 16}


def _cells(mode: Mode) -> list[Params]:
    name, sizes = ("HEPTH", (1,)) if mode is Mode.TINY else ("NETFLIX", _SIZES)
    return [
        {"set": name, "k": k, "family": family, "density": _DENSITY[mode]}
        for k in reversed(sizes)
        for family in FAMILIES
    ]


def _compute(params: Params) -> Result:
    x, k, family = data.counts(params["set"]).astype(np.float64), params["k"], params["family"]
    sure = 2.0 * k * math.log(len(x)) / max(1.0, float(x[k - 1] - x[k]))
    epsilons = points(sure / 100, sure, params["density"])

    def chance(epsilon: float) -> float:
        return topk.top_probability(x, k, epsilon, family)

    return {
        "epsilon": epsilons,
        "TOP": [chance(epsilon) for epsilon in epsilons],
        "half": topk.budget(chance, reach=0.5, start=sure / 3),
        "sure": topk.budget(chance, reach=0.999, start=sure),
    }


def _report(measured: Measured) -> Report:
    sizes = sorted(measured.values("k"))
    budgets = {
        (k, level): {family: measured.one(k=k, family=family)[level] for family in FAMILIES}
        for k in sizes
        for level in ("half", "sure")
    }
    best = {key: min(found, key=lambda family: found[family]) for key, found in budgets.items()}
    spread = max(max(found.values()) / min(found.values()) for found in budgets.values())
    worst = {key: max(found, key=lambda family: found[family]) for key, found in budgets.items()}
    others = sorted({f"k={k}" for (k, _), family in best.items() if family != "exponential"})
    rows = [
        Row(
            "SL, Section 6, Figure 4",
            "exponential noise has the best utility of the five families (least epsilon for 50 % and 99.9 %)",
            "best",
            f"best in {sum(family == 'exponential' for family in best.values())} of {len(best)} cases",
            judged(not others),
            f"Not best at {', '.join(others)}." if others else "",
        ),
        Row(
            "SL, Section 8",
            "all noise distributions perform fairly similarly (largest ratio of budgets)",
            "fairly similar",
            f"at most {spread:.2f}x, the worst is {', '.join(sorted(set(worst.values())))}",
            judged(spread < 2.5),
        ),
    ]
    panels = [
        Panel.of_chances(
            f"TOP-{k}",
            [
                Series(family, (found := measured.one(k=k, family=family))["epsilon"], found["TOP"])
                for family in FAMILIES
            ],
            level=0.999,
        )
        for k in sizes
    ]
    name = measured.values("set")[0]
    note = "As Figure 4 of Shekelyan & Loukides 2022; every point is an integral, not a simulation."
    figure = Figure("noise", f"{name}: the top k at once with five kinds of noise", panels, columns=2, notes=[note])
    return Report(rows, [figure])


STUDY = Study(
    "noise", "Noise families (Shekelyan & Loukides, Figure 4)", _cells, _compute, _report, data=("NETFLIX", "HEPTH")
)
