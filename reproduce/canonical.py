"""Shekelyan & Loukides 2022, Figures 1 and 5-10: how likely the top k is right, great or good, on six data sets."""

from __future__ import annotations

import itertools
import math
import statistics
import time

import numpy as np

from podium.histogram import Histogram
from podium.mechanisms import CanonicalTopK, ExponentialTopK, NoisyTopK
from reproduce import data, topk
from reproduce.curves import MECHANISMS, points, series_of, sweep
from reproduce.families import Floats
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Study, Verdict, judged

__all__ = ["STUDY"]

_SETS = ("NETFLIX", "PATENT", "SEARCHLOGS", "MEDCOST", "INCOME", "HEPTH")
_SIZES = (10, 100, 1000)
_HALF, _SURE = 0.5, 0.999
_CLAIMED = {10: 6, 100: 34, 1000: 81}
_FIGURES = {"NETFLIX": "Figures 1, 5", **{name: f"Figure {place}" for place, name in enumerate(_SETS[1:], start=6)}}
_SCALES = {Mode.TINY: (1, 50), Mode.QUICK: (4, 1000), Mode.FULL: (10, 10_000)}
"""Points per decade of epsilon, and runs."""


def _cells(mode: Mode) -> list[Params]:
    density, runs = _SCALES[mode]
    sets, sizes = (("HEPTH",), (10,)) if mode is Mode.TINY else (_SETS, _SIZES)
    cells: list[Params] = [
        {"kind": "sweep", "set": name, "k": k, "mechanism": mechanism, "density": density, "runs": runs}
        for k in reversed(sizes)
        for name in sets
        for mechanism in MECHANISMS
    ]
    cells += [
        {"kind": "budget", "set": name, "k": k, "reach": reach}
        for name in dict.fromkeys(("NETFLIX", *sets))
        for k in reversed(sizes)
        for reach in ((_HALF, _SURE) if name == "NETFLIX" else (_HALF,))
    ]
    cells += [{"kind": "one", "set": "NETFLIX", "k": max(sizes)}]
    cells += [{"kind": "levels", "k": k} for k in sizes]
    cells += [{"kind": "time", "set": "NETFLIX", "k": max(sizes), "repeats": 3 if mode is Mode.TINY else 9}]
    return cells


def _compute(params: Params) -> Result:
    work = {"sweep": _sweep, "budget": _budget, "one": _at_one, "levels": _levels, "time": _time}
    return work[params["kind"]](params)


def _sweep(params: Params) -> Result:
    x = data.counts(params["set"]).astype(np.float64)
    k = params["k"]
    epsilons = _epsilons(x, k, params["density"])
    found = sweep([x] * len(epsilons), epsilons, k, params["mechanism"], runs=params["runs"], seed=2022)
    return {"epsilon": epsilons, **found}


def _epsilons(x: Floats, k: int, density: int) -> list[float]:
    """From where everything is lost to where one-by-one selection is sure, if the gap at rank k is not 0."""
    high = 3.0 * k * math.log(len(x)) / max(1.0, x[k - 1] - x[k])
    first = topk.budget(lambda epsilon: topk.canonical(x, k, epsilon, 1.0)["GOOD"], reach=0.01, start=high / 100)
    return points(min(first, high / 10) / 4, high, density)


def _budget(params: Params) -> Result:
    """The epsilon from which on the top k has a given probability, for each mechanism, without sampling."""
    x, k = data.counts(params["set"]).astype(np.float64), params["k"]
    # With a tie at rank k nobody can tell the top k from other sets.
    return {} if x[k - 1] == x[k] else _budgets(x, k, params["reach"])


def _at_one(params: Params) -> Result:
    x = data.counts(params["set"]).astype(np.float64)
    return {
        name: topk.canonical(x, params["k"], 1.0, float(parameter))["TOP"]
        for name, (kind, parameter) in MECHANISMS.items()
        if kind == "canonical"
    }


def _levels(params: Params) -> Result:
    """Two levels: k items at one height, as many at another. Everything hangs on the number of sets."""
    k = params["k"]
    return _budgets(np.repeat([1000.0, 0.0], k), k, _SURE)


def _budgets(x: Floats, k: int, reach: float) -> Result:
    start = k * math.log(len(x)) / float(x[0] - x[-1])
    found = {}
    for name, (kind, parameter) in MECHANISMS.items():

        def chance(epsilon: float, kind: str = kind, parameter: float | str = parameter) -> float:
            if kind == "canonical":
                return topk.canonical(x, k, epsilon, float(parameter))["TOP"]
            return topk.top_probability(x, k, epsilon, str(parameter))

        found[name] = topk.budget(chance, reach=reach, start=start)
    return found


def _time(params: Params) -> Result:
    counts, k = data.counts(params["set"]), params["k"]
    histogram = Histogram.from_arrays(range(len(counts)), counts)
    contestants = {
        "CANONICAL": CanonicalTopK(k, 1),
        "CANONICAL, gamma=1": CanonicalTopK(k, 1, gamma=1),
        "ONESHOT-Exp": NoisyTopK(k, 1, gaps=False),
        "PEELING": ExponentialTopK(k, 1 / k),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(params["repeats"]):
        for name, mechanism in contestants.items():
            start = time.process_time()
            mechanism.release(histogram)
            times[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def _report(measured: Measured) -> Report:
    rows = [
        *(_ratio_row(measured, k) for k in sorted(measured.values("k", kind="budget", reach=_SURE))),
        _below_one_row(measured),
        *(_ordering_row(measured, name) for name in measured.values("set", kind="sweep")),
        *(_behind_row(measured, name) for name in MECHANISMS if name.startswith("CANONICAL") if _has_sweeps(measured)),
        _levels_row(measured),
        *_time_rows(measured),
    ]
    return Report(rows, [_figure(measured, name) for name in measured.values("set", kind="sweep")])


def _ratio_row(measured: Measured, k: int) -> Row:
    name = "NETFLIX"
    budgets = measured.one(kind="budget", set=name, k=k, reach=_SURE)
    ours = min(budgets["CANONICAL"], budgets["CANONICAL, gamma=1"])
    theirs = min(budgets["ONESHOT-Exp"], budgets["PEELING"])
    # The authors' plotting script takes the ratio between points 1 % inside the two ends of its arrow.
    inside = (0.99 * theirs + 0.01 * ours) / (0.99 * ours + 0.01 * theirs)
    claimed, ratio = _CLAIMED[k], theirs / ours
    stronger = ratio > 1.2 * claimed
    return Row(
        "SL, Section 7.1",
        f"{name}, k={k}: for the true top k with {_SURE:.1%} the better classical method needs so many times as much",
        f"{claimed}x",
        f"{ratio:.3g}x (epsilon {theirs:.3g} against {ours:.3g})",
        Verdict.STRONGER if stronger else judged(ratio >= claimed),
        "The label of the figure measures 1 % inside the ends of its arrow, which makes a large ratio look smaller: "
        f"so done it is {inside:.3g}x."
        if stronger
        else "",
    )


def _below_one_row(measured: Measured) -> Row:
    (params, chances), *_ = measured.where(kind="one")
    best, other = sorted(chances, key=lambda name: -chances[name])
    budgets = measured.one(kind="budget", set=params["set"], k=params["k"], reach=_SURE)
    return Row(
        "SL, Section 7.1",
        f"{params['set']}: both new methods almost certainly return the true top {params['k']} with epsilon <= 1",
        "almost certainly",
        f"{best} {chances[best]:.2%}, {other} {chances[other]:.2%} at epsilon 1",
        judged(chances[other] >= _SURE),
        ""
        if chances[other] >= _SURE
        else f"By the {_SURE:.1%} line of the figure {other} needs epsilon {budgets[other]:.3g}.",
    )


def _ordering_row(measured: Measured, name: str) -> Row:
    """How many times the epsilon of the better canonical mechanism the better classical one needs for one half."""
    parts, held = [], True
    for k in sorted(measured.values("k", kind="sweep", set=name)):
        halves = measured.one(kind="budget", set=name, k=k, reach=_HALF)
        if not halves:
            parts.append(f"k={k}: never, because ranks k and k+1 are tied")
            continue
        new = min(halves["CANONICAL"], halves["CANONICAL, gamma=1"])
        old = min(halves["ONESHOT-Exp"], halves["PEELING"])
        held = held and old > 2 * new
        parts.append(f"k={k}: {old / new:.3g}x")
    return Row(
        f"SL, {_FIGURES[name]}",
        f"{name}: CANONICAL and CANONICAL gamma=1 reach the true top k with less epsilon (ratio at probability 1/2)",
        "vast improvements",
        ", ".join(parts),
        judged(held),
    )


def _has_sweeps(measured: Measured) -> bool:
    return bool(measured.values("set", kind="sweep"))


def _behind_row(measured: Measured, mechanism: str) -> Row:
    """Where a canonical mechanism is furthest behind the better classical one in GREAT and GOOD."""
    behind = []
    for params, found in measured.where(kind="sweep", mechanism=mechanism):
        others = [
            measured.one(kind="sweep", set=params["set"], k=params["k"], mechanism=name)
            for name in ("ONESHOT-Exp", "PEELING")
        ]
        for goal in ("GREAT", "GOOD"):
            gaps = np.max([other[goal] for other in others], axis=0) - np.array(found[goal])
            behind.append((float(gaps.max()), f"{goal}-{params['k']} on {params['set']}"))
    worst, where = max(behind)
    lost = sorted(name for gap, name in behind if gap > 0.05)
    return Row(
        "SL, Figures 5-10",
        f"{mechanism} is not behind the classical methods in GREAT-k and GOOD-k either (largest deficit)",
        "outperforms",
        f"{worst:.0%} behind at worst ({where}); more than 5 % behind in {len(lost)} of {len(behind)} panels",
        judged(not lost),
        f"Behind in {', '.join(lost)}. Those with k=1000 have a tie at rank k; for the others the reason is open."
        if lost
        else "",
    )


def _levels_row(measured: Measured) -> Row:
    sizes = sorted(measured.values("k", kind="levels"))
    ratios = [
        (found := measured.one(kind="levels", k=k))["PEELING"] / min(found["CANONICAL"], found["CANONICAL, gamma=1"])
        for k in sizes
    ]
    growing = all(one < other for one, other in itertools.pairwise(ratios))
    return Row(
        "SL, abstract, Section 5",
        "choosing the set at once improves on PEELING by a factor that grows like log k where d/k is bounded "
        "(2k items on two levels, budget for 99.9 %)",
        "grows like log k",
        ", ".join(
            f"k={k}: {ratio:.3g}x ({ratio / math.log(k):.2f} ln k)" for k, ratio in zip(sizes, ratios, strict=True)
        ),
        judged(growing),
    )


def _time_rows(measured: Measured) -> list[Row]:
    (params, times), *_ = measured.where(kind="time")
    where = f"{params['set']}, k={params['k']}"
    slow, fast = times["CANONICAL"], times["CANONICAL, gamma=1"]
    return [
        Row(
            "SL, Section 7.3",
            f"CANONICAL is as fast as PEELING, below 1 s on average ({where}, exact sampling here)",
            "about 1x, < 1 s",
            f"{slow / times['PEELING']:.2g}x, {1000 * slow:.1f} ms",
            judged(slow < 1 and slow < 2 * times["PEELING"]),
            "Both take milliseconds; PEELING is not k rounds here but one race, which is faster still."
            if slow >= 2 * times["PEELING"]
            else "",
        ),
        Row(
            "SL, Section 7.3",
            f"CANONICAL gamma=1 is as fast as ONESHOT, below 3 ms on average ({where}, exact sampling here)",
            "about 1x, < 3 ms",
            f"{fast / times['ONESHOT-Exp']:.2g}x, {1000 * fast:.1f} ms",
            judged(fast < 0.003 and fast < 2 * times["ONESHOT-Exp"]),
            ""
            if fast < 0.003
            else "Times depend on the machine; secure and exact noise and the sort are included here.",
        ),
    ]


def _figure(measured: Measured, name: str) -> Figure:
    panels = []
    for k in sorted(measured.values("k", kind="sweep", set=name), reverse=True):
        for goal in topk.GOALS:
            curves = []
            for mechanism in MECHANISMS:
                result = measured.one(kind="sweep", set=name, k=k, mechanism=mechanism)
                curves.append(series_of(mechanism, result["epsilon"], result, goal))
            panels.append(Panel.of_chances(f"{goal}-{k}", curves, level=_SURE))
    runs = max(result["runs"] for _, result in measured.where(kind="sweep", set=name))
    note = (
        f"As {_FIGURES[name]} of Shekelyan & Loukides 2022. CANONICAL exactly, from its class weights; ONESHOT and "
        f"PEELING from {runs:,} runs, bands are 95 % intervals. Dashed line: {_SURE:.1%}."
    )
    return Figure(
        f"canonical-{name.lower()}",
        f"{name}: how likely the selected set is the top k, great or good",
        panels,
        columns=3,
        notes=[note],
    )


STUDY = Study(
    "canonical", "Sets chosen at once (Shekelyan & Loukides, Figures 1, 5-10)", _cells, _compute, _report, data=_SETS
)
