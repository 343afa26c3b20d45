"""Evidence from counting: an event is chosen on some draws, and bounded on others.

The event is a set of symbols of a view, those that the training draws show most clearly on one side. On draws that had
no part in the choice, Clopper-Pearson bounds its probability p under one input from below and q under the other from
above, each with error alpha/2. Then p >= p_low and q <= q_high hold together with confidence 1 - alpha, and any
(epsilon, delta) with p_low > e^epsilon q_high + delta is refuted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from podium.audit.reports import EventTest
from podium.audit.statistical.draws import Draws, Recorder
from podium.audit.statistical.views import FittedView, View, fit_views

__all__ = [
    "ChosenEvent",
    "choose_events",
    "distinct_events",
    "float_claims",
    "lower_bound",
    "repetition_p_value",
    "try_event",
    "upper_bound",
]

Counts: TypeAlias = NDArray[np.int64]

_CANDIDATES = 160
_SHOWN = 3
_TINY = 1e-300
_LARGE_EPSILON = 300.0


def lower_bound(successes: Counts, trials: int, alpha: float) -> NDArray[np.float64]:
    """Clopper & Pearson 1934: below it the chance of this many successes or more is at most alpha."""
    bound = special.betaincinv(np.maximum(successes, 1), trials - np.maximum(successes, 1) + 1, alpha)
    return np.where(successes > 0, bound, 0.0)


def upper_bound(successes: Counts, trials: int, alpha: float) -> NDArray[np.float64]:
    """Above it the chance of this many successes or fewer is at most alpha."""
    most = np.minimum(successes, trials - 1)
    bound = special.betainccinv(most + 1, trials - most, alpha)
    return np.where(successes < trials, bound, 1.0)


@dataclass(frozen=True, slots=True)
class ChosenEvent:
    """A set of symbols of a view; ``flipped`` if it is likelier under the right input than under the left.

    ``gain`` is by how much a test on the training draws themselves would exceed the claimed epsilon; ``z_score`` says
    which pairs deserve more draws.
    """

    view: FittedView
    symbols: Counts
    flipped: bool
    gain: float
    z_score: float

    def hits(self, draws: Draws) -> int:
        """How many draws lie in the event."""
        return int(np.isin(self.view.symbols(draws), self.symbols).sum())

    def describe(self, recorder: Recorder) -> str:
        """The first few symbols."""
        shown = [self.view.describe(int(symbol), recorder) for symbol in self.symbols[:_SHOWN]]
        more = f" and {len(self.symbols) - _SHOWN} more" if len(self.symbols) > _SHOWN else ""
        return f"{self.view.name}: {' or '.join(shown)}{more}"


def choose_events(
    left: Draws,
    right: Draws,
    claims: Sequence[tuple[float, float]],
    *,
    delta: float,
    alpha: float,
    views: tuple[View, ...],
) -> list[ChosenEvent]:
    """In each direction the event most likely to refute a claim, and the one with the largest epsilon at ``delta``."""
    curves = (claims, [(0.0, delta)])
    found: list[list[ChosenEvent]] = [[], [], [], []]
    for view in fit_views(left + right, views):
        here, there = view.symbols(left), view.symbols(right)
        symbols, places = np.unique(np.concatenate([here, there]), return_inverse=True)
        x = np.bincount(places[: left.size], minlength=len(symbols))
        y = np.bincount(places[left.size :], minlength=len(symbols))
        for aim, points in enumerate(curves):
            found[aim].append(_best_cut(view, symbols, (x, y), (left.size, right.size), points, alpha, flipped=False))
            found[2 + aim].append(
                _best_cut(view, symbols, (y, x), (right.size, left.size), points, alpha, flipped=True)
            )
    return [max(events, key=lambda event: event.gain) for events in found]


def distinct_events(events: Sequence[ChosenEvent]) -> list[ChosenEvent]:
    """Each event once; what is not tested costs no confidence."""
    found = {(event.view.name, event.flipped, *sorted(event.symbols.tolist())): event for event in events}
    return list(found.values())


def _best_cut(
    view: FittedView,
    symbols: Counts,
    counts: tuple[Counts, Counts],
    sizes: tuple[int, int],
    claims: Sequence[tuple[float, float]],
    alpha: float,
    *,
    flipped: bool,
) -> ChosenEvent:
    """Symbols by likelihood ratio, one more user of each than seen so that rare ones do not lead; then the best cut."""
    x, y = counts
    order = np.argsort(-(x + 1) / (y + 1), kind="stable")
    cuts = np.unique(np.linspace(0, len(order) - 1, _CANDIDATES).astype(np.intp))
    hits = np.cumsum(x[order])[cuts], np.cumsum(y[order])[cuts]
    gains = _gains(hits, sizes, claims, alpha)
    best = int(np.argmax(gains))
    z_score = _z_score(hits, sizes, claims)
    return ChosenEvent(view, symbols[order[: int(cuts[best]) + 1]], flipped, float(gains[best]), z_score)


def _gains(
    hits: tuple[Counts, Counts], sizes: tuple[int, int], claims: Sequence[tuple[float, float]], alpha: float
) -> NDArray[np.float64]:
    """By how much each event would exceed the claimed epsilon, at the point of the curve that suits it best."""
    p = lower_bound(hits[0], sizes[0], alpha / 2)
    q = upper_bound(hits[1], sizes[1], alpha / 2)
    table = [np.log(np.maximum(p - delta, _TINY) / q) - epsilon for epsilon, delta in claims]
    return np.array(table).max(axis=0)  # type: ignore[no-any-return]


def _z_score(hits: tuple[Counts, Counts], sizes: tuple[int, int], claims: Sequence[tuple[float, float]]) -> float:
    """The largest p - e^epsilon q - delta of any event, in standard deviations: what more draws would make of it."""
    p, q = hits[0] / sizes[0], hits[1] / sizes[1]
    spread = (hits[0] + 1) / sizes[0] ** 2, (hits[1] + 1) / sizes[1] ** 2
    return max(
        float(np.max((p - math.exp(e) * q - delta) / np.sqrt(spread[0] + math.exp(2 * e) * spread[1])))
        for e, delta in claims
    )


def try_event(
    event: ChosenEvent, left: Draws, right: Draws, *, alpha: float, pair: str, stage: int, recorder: Recorder
) -> EventTest:
    """Bound a chosen event on draws that had no part in choosing it."""
    first, second = (right, left) if event.flipped else (left, right)
    x, y = event.hits(first), event.hits(second)
    return EventTest(
        pair=pair,
        stage=stage,
        event=event.describe(recorder),
        flipped=event.flipped,
        hits=(x, y),
        draws=first.size,
        alpha=alpha,
        p_low=float(lower_bound(np.array([x]), first.size, alpha / 2)[0]),
        q_high=float(upper_bound(np.array([y]), second.size, alpha / 2)[0]),
    )


def repetition_p_value(symbols: Counts) -> float:
    """Whether neighbouring draws agree more often than draws far apart: Fisher's exact test, one-sided.

    Of every four draws the first two are a pair; the other two go to a pool which is paired across the whole batch. For
    independent draws all these pairs are independent and agree with the same probability.
    """
    quarter = len(symbols) // 4
    if quarter < 2:
        return 1.0
    fours = symbols[: 4 * quarter].reshape(quarter, 4)
    near = int((fours[:, 0] == fours[:, 1]).sum())
    shift = quarter // 2
    far = int((fours[:, 2] == np.roll(fours[:, 3], shift)).sum())
    table = np.array([[near, quarter - near], [far, quarter - far]])
    return float(stats.fisher_exact(table, alternative="greater").pvalue)


def float_claims(claims: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[float, float]]:
    """The curve for choosing events; a test is decided in ``EventTest.refutes`` with rounding on the safe side."""
    return [(min(float(epsilon), _LARGE_EPSILON), float(delta)) for epsilon, delta in claims]
