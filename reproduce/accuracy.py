"""Durfee & Rogers 2019, Lemmas 8.1, E.1 and E.2: what they say about accuracy, against simulation on real counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reproduce import data
from reproduce.curves import interval
from reproduce.families import Floats
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Series, Study, judged

__all__ = ["STUDY"]

_SETS = ("Retail", "Kosarak-36682", "MSWeb", "MovieTweetings")
_DELTA = 1e-6
_BETA = 0.05
_RUNS = {Mode.TINY: 200, Mode.QUICK: 2000, Mode.FULL: 20_000}
_SHAPES = ((5, 50), (10, 100), (50, 200))
"""k and k_bar."""
_RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
_FIRST_RATES = (1e-4, 1e-3, 1e-2, 1e-1)
_FIRST_DELTAS = (0.5, 0.05, 1e-6)


def _cells(mode: Mode) -> list[Params]:
    runs = _RUNS[mode]
    sets = _SETS[2:3] if mode is Mode.TINY else _SETS
    cells: list[Params] = []
    for name in sets:
        for k, k_bar in _SHAPES:
            common = {"set": name, "k": k, "k_bar": k_bar, "runs": runs}
            cells += [{"kind": "accurate", "epsilon": rate, **common} for rate in _RATES]
            cells.append({"kind": "all k", **common})
        cells += [
            {"kind": "first", "set": name, "k_bar": k_bar, "epsilon": rate, "delta": delta, "runs": runs}
            for k_bar in (10, 100)
            for rate in _FIRST_RATES
            for delta in _FIRST_DELTAS
        ]
    return cells


def _compute(params: Params) -> Result:
    rng = np.random.default_rng(2019)
    if params["kind"] == "first":
        return _first(params, rng)
    h = data.counts(params["set"]).astype(np.float64)
    k, k_bar = params["k"], params["k_bar"]
    next_count = float(h[k_bar]) if len(h) > k_bar else 0.0
    if params["kind"] == "accurate":
        epsilon = params["epsilon"]
        lowest, _ = _outcomes(h, k, k_bar, next_count, epsilon, params["runs"], rng)
        short = np.maximum(h[k - 1] - lowest, 0.0)
        bound = math.log(k * k_bar / _BETA) / epsilon
        return {
            "bound": bound,
            "above": int(np.count_nonzero(short > bound)),
            "quantile": float(np.quantile(short, 1 - _BETA)),
        }
    # The smallest epsilon for which the lemma promises k items.
    epsilon = (math.log(k_bar / _DELTA) + math.log(k / _BETA)) / (float(h[k - 1]) - next_count - 1.0)
    _, complete = _outcomes(h, k, k_bar, next_count, epsilon, params["runs"], rng)
    return {"epsilon": epsilon, "complete": int(np.count_nonzero(complete))}


def _outcomes(
    h: Floats, k: int, k_bar: int, next_count: float, epsilon: float, runs: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """The smallest true count that each run returned (infinite if none), and whether it returned k items."""
    top = h[:k_bar]
    noisy = top + rng.gumbel(scale=1 / epsilon, size=(runs, len(top)))
    bottom = next_count + 1.0 + math.log(k_bar / _DELTA) / epsilon + rng.gumbel(scale=1 / epsilon, size=runs)
    level = np.maximum(np.partition(noisy, -k, axis=1)[:, -k], bottom)
    returned = noisy >= level[:, None]
    return np.where(returned, top, np.inf).min(axis=1), np.count_nonzero(returned, axis=1) == k


def _first(params: Params, rng: np.random.Generator) -> Result:
    """The first item of the limited domain, and of the exponential mechanism on everything: laws and frequencies."""
    h = data.counts(params["set"]).astype(np.float64)
    k_bar, epsilon, delta, runs = params["k_bar"], params["epsilon"], params["delta"], params["runs"]
    bottom = epsilon * (h[k_bar] + 1.0) + math.log(k_bar / delta)
    logs = epsilon * h
    limited = np.append(logs[:k_bar], bottom)
    found = {
        "limited": math.exp(logs[0] - logsumexp(limited)),
        "all": math.exp(logs[0] - logsumexp(logs)),
        "limited_wrong": math.exp(logsumexp(limited[1:-1]) - logsumexp(limited)),
        "all_wrong": math.exp(logsumexp(logs[1:]) - logsumexp(logs)),
        "condition": bool(math.log(k_bar / delta) + epsilon + logs[k_bar] <= logsumexp(logs[k_bar:])),
    }
    winners = np.argmax(limited + rng.gumbel(size=(runs, len(limited))), axis=1)
    hits = int(np.count_nonzero(winners == 0))
    wrong = int(np.count_nonzero((winners > 0) & (winners < k_bar)))
    return {**found, "hits": hits, "wrong": wrong}


def _report(measured: Measured) -> Report:
    rows = [_accurate_row(measured), _complete_row(measured), *_first_rows(measured)]
    return Report(rows, [_figure(measured)])


def _accurate_row(measured: Measured) -> Row:
    shares = [interval(result["above"], params["runs"])[0] for params, result in measured.where(kind="accurate")]
    tight = [result["quantile"] / result["bound"] for _, result in measured.where(kind="accurate")]
    return Row(
        "DR, Lemma 8.1",
        f"with probability 95 % no returned item is further below the true k-th than ln(k k_bar/beta)/epsilon "
        f"({len(shares)} settings on real counts)",
        f"at most {_BETA:.0%} of runs further",
        f"{sum(share > _BETA for share in shares)} settings above {_BETA:.0%}; the 95 % shortfall is at most "
        f"{max(tight):.0%} of the bound",
        judged(all(share <= _BETA for share in shares)),
    )


def _complete_row(measured: Measured) -> Row:
    shares = {
        (params["set"], params["k"]): (result["complete"], params["runs"])
        for params, result in measured.where(kind="all k")
    }
    lowest = min(hits / runs for hits, runs in shares.values())
    return Row(
        "DR, Lemma 8.1",
        "k items come back with probability 95 % at the smallest epsilon for which the lemma promises it",
        f"at least {1 - _BETA:.0%}",
        f"{lowest:.2%} at worst over {len(shares)} settings",
        judged(all(interval(hits, runs)[1] >= 1 - _BETA for hits, runs in shares.values())),
    )


def _first_rows(measured: Measured) -> list[Row]:
    cells = list(measured.where(kind="first"))
    # Where both are certain, or impossible, to the last digit of a float there is nothing to compare.
    apart = [result for _, result in cells if _differ(result["limited"], result["all"])]
    agree = [(result["limited"] > result["all"]) == result["condition"] for result in apart]
    held = sum(result["condition"] for result in apart)
    off = max(
        abs(result[seen] / params["runs"] - result[law])
        / max(math.sqrt(result[law] * (1 - result[law]) / params["runs"]), 1 / params["runs"])
        for params, result in cells
        for seen, law in (("hits", "limited"), ("wrong", "limited_wrong"))
    )
    wrong = [
        result["limited_wrong"] < result["all_wrong"]
        for _, result in cells
        if _differ(result["limited_wrong"], result["all_wrong"])
    ]
    return [
        Row(
            "DR, Lemma E.1",
            "the limited domain finds the true first more often than the exponential mechanism on all items exactly if "
            "k_bar e^epsilon/delta e^(epsilon h(k_bar+1)) is at most the weight of the tail",
            "if and only if",
            f"{sum(agree)} of {len(agree)} settings agree ({held} fulfil it; {len(cells) - len(apart)} more equal to "
            f"12 digits); simulated within {off:.1f} sd",
            judged(all(agree) and off < 5),
        ),
        Row(
            "DR, Lemma E.2",
            "a wrong first item is less likely than with the exponential mechanism on everything",
            "always",
            f"in {sum(wrong)} of {len(wrong)} settings ({len(cells) - len(wrong)} more equal to 12 digits)",
            judged(all(wrong)),
        ),
    ]


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > 1e-12 * max(one, other)


def _figure(measured: Measured) -> Figure:
    panels = []
    for name in measured.values("set", kind="accurate"):
        curves = []
        for k, k_bar in _SHAPES:
            cells = [(params["epsilon"], found) for params, found in measured.where(kind="accurate", set=name, k=k)]
            label = f"k={k}, k_bar={k_bar}"
            curves.append(Series(label, [x for x, _ in cells], [max(found["quantile"], 0.5) for _, found in cells]))
            curves.append(Series(label, [x for x, _ in cells], [found["bound"] for _, found in cells], theory=True))
        panels.append(Panel(name, curves, x="epsilon per item", y="users", x_scale="log", y_scale="log"))
    note = (
        "How far below the true k-th count a returned item can be: the 95 % quantile over the runs with points, the "
        "bound of Durfee & Rogers 2019, Lemma 8.1, as a thin line. Zero is drawn as 0.5."
    )
    return Figure("accuracy", "Accuracy of the limited domain", panels, columns=2, notes=[note])


STUDY = Study("accuracy", "Accuracy (Durfee & Rogers, Lemmas 8.1, E.1, E.2)", _cells, _compute, _report, data=_SETS)
