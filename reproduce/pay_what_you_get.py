"""Durfee & Rogers 2019, Theorem 2: how many questions a budget answers if each pays only for what came out.

Real releases on real events: one question per year of the film, department of the shop, and so on, each for the ten
most popular items, asked in a fixed order until the budget refuses one.
"""

from __future__ import annotations

import functools
import re
from fractions import Fraction

import numpy as np

from podium.errors import BudgetExceeded
from podium.histogram import Histogram
from podium.mechanisms import PayWhatYouGet
from podium.privacy import bounded_range_three_terms, calibrate_items
from reproduce import data
from reproduce.study import Figure, Measured, Mode, Panel, Params, Report, Result, Row, Series, Study, Verdict, judged

__all__ = ["STUDY"]

_QUESTIONS = {
    "MovieTweetings": "year of the film",
    "Retail": "hundred of the article number",
    "Kosarak-36682": "hundred of the page number",
    "GAMES": "initial of the game",
}
_K, _K_BAR = 10, 100
_DELTA = Fraction(1, 10**6)
_CALLS = 400
_RATE = "0.1"
_EPSILONS = (2, 3, 5)
_RUNS = {Mode.TINY: 1, Mode.QUICK: 5, Mode.FULL: 50}
_ORDERS = {"mixed": "in mixed order", "largest": "the slices with most events first"}
_ACCOUNTS = {"theirs": "their accounting", "ours": "our accounting"}


def _cells(mode: Mode) -> list[Params]:
    sets, epsilons = (("MovieTweetings",), (2,)) if mode is Mode.TINY else (tuple(_QUESTIONS), _EPSILONS)
    return [
        {"set": name, "epsilon": epsilon, "account": account, "order": order, "runs": _RUNS[mode]}
        for name in sets
        for epsilon in epsilons
        for account in _ACCOUNTS
        for order in _ORDERS
    ]


@functools.cache
def _histograms(name: str, order: str) -> tuple[Histogram, ...]:
    """One unknown-domain histogram per question; how many pay off depends on what is asked first."""
    events = data.events(name)
    slices = np.array([_slice(name, title) for title in events.names])
    counts = np.bincount(events.item)
    made = []
    for value in np.random.default_rng(2019).permutation(np.unique(slices)):
        members = np.flatnonzero(slices == value)
        names = [events.names[i] for i in members]
        made.append((int(counts[members].sum()), Histogram.from_arrays(names, counts[members], known=False)))
    if order == "largest":
        made.sort(key=lambda entry: -entry[0])
    return tuple(histogram for _, histogram in made)


def _slice(name: str, title: str) -> str:
    if name == "MovieTweetings":
        year = re.search(r"\((\d{4})\)\s*$", title)
        return year.group(1) if year else ""
    return title[:1].upper() if name == "GAMES" else str(int(title) // 100)


def _plan(account: str, epsilon: int) -> tuple[int, Fraction]:
    """How many selections the budget allows, and the delta of a call. Half of delta is for the calls."""
    if account == "ours":
        plan = calibrate_items(_RATE, epsilon=epsilon, delta=_DELTA, calls=_CALLS)
        return plan.items, plan.delta_per_call
    items = epsilon * 10
    while bounded_range_three_terms([_RATE] * (items + 1), _DELTA / 2) <= epsilon:
        items += 1
    # Theorem 2 spends 2 l delta on the calls.
    return items, _DELTA / (4 * _CALLS)


def _compute(params: Params) -> Result:
    items, delta = _plan(params["account"], params["epsilon"])
    histograms = _histograms(params["set"], params["order"])
    answered, found = [], []
    for _ in range(params["runs"]):
        plan = PayWhatYouGet(items, _CALLS, _RATE, delta)
        questions, names = 0, 0
        try:
            while True:
                release = plan.top(histograms[questions % len(histograms)], k=_K, k_bar=_K_BAR)
                questions, names = questions + 1, names + len(release.items)
        except BudgetExceeded:
            answered.append(questions)
            found.append(names)
    return {"selections": items, "fixed": items // _K, "answered": answered, "items": found, "slices": len(histograms)}


def _report(measured: Measured) -> Report:
    rows = [_row(measured, name, order) for order in _ORDERS for name in measured.values("set")]
    rows.append(_account_row(measured))
    panels = []
    for name in measured.values("set"):
        curves = []
        for account, words in _ACCOUNTS.items():
            cells = [
                (params["epsilon"], found) for params, found in measured.where(set=name, account=account, order="mixed")
            ]
            x = [epsilon for epsilon, _ in cells]
            runs = [np.array(found["answered"]) for _, found in cells]
            curves.append(
                Series(
                    f"pay what you get, {words}",
                    x,
                    [float(run.mean()) for run in runs],
                    [float(run.min()) for run in runs],
                    [float(run.max()) for run in runs],
                )
            )
            curves.append(Series(f"pay for k, {words}", x, [found["fixed"] for _, found in cells]))
        panels.append(
            Panel(f"{name}: by {_QUESTIONS[name]}", curves, x="epsilon of the budget", y="questions answered")
        )
    note = (
        f"Top {_K} of each slice, k_bar={_K_BAR}, epsilon {_RATE} per selection, delta {float(_DELTA):.0e} in all, at "
        f"most {_CALLS} calls. Real releases; bands from the least to the most over the runs."
    )
    figure = Figure("pay-what-you-get", "How many questions a budget answers", panels, columns=2, notes=[note])
    return Report(rows, [figure])


def _row(measured: Measured, name: str, order: str) -> Row:
    parts, held = [], True
    for epsilon in measured.values("epsilon", set=name):
        found = measured.one(set=name, epsilon=epsilon, account="theirs", order=order)
        ratio = float(np.mean(found["answered"])) / found["fixed"]
        held = held and ratio > 1
        parts.append(f"epsilon {epsilon}: {ratio:.1f}x ({np.mean(found['answered']):.0f} against {found['fixed']})")
    return Row(
        "DR, Theorem 2",
        f"{name}, top {_K} by {_QUESTIONS[name]}, {_ORDERS[order]}: more questions, as only what came out is paid",
        "more than paying for k",
        ", ".join(parts),
        judged(held),
        ""
        if held
        else f"Where all {_K} items come back each time, k is what is paid: nothing is lost, nothing gained.",
    )


def _account_row(measured: Measured) -> Row:
    gains = []
    for params, theirs in measured.where(account="theirs"):
        ours = measured.one(set=params["set"], epsilon=params["epsilon"], account="ours", order=params["order"])
        gains.append(float(np.mean(ours["answered"])) / float(np.mean(theirs["answered"])))
    return Row(
        "beyond DR, Theorem 2",
        "with our accounting the same budget answers more",
        "-",
        f"{min(gains):.2f}x to {max(gains):.2f}x the questions of theirs",
        Verdict.BEYOND if min(gains) > 1 else Verdict.DIFFERS,
    )


STUDY = Study(
    "pay_what_you_get",
    "Pay what you get (Durfee & Rogers, Theorem 2)",
    _cells,
    _compute,
    _report,
    data=tuple(_QUESTIONS),
)
