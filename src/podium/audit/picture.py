"""The picture of an audit: what is claimed, what a small world shows exactly, what sampling shows with confidence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from podium.audit.reports import ExactReport, StatisticalReport
from podium.errors import InvalidArgument
from podium.present.plots import require_matplotlib

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = ["plot_audit"]

_POINTS = 60
_FLOOR = 1e-9
_MAX_FLOOR = 1e-3


def plot_audit(
    exact: ExactReport | None = None,
    statistical: StatisticalReport | None = None,
    path: Path | str | None = None,
    *,
    dark: bool = False,
) -> Picture:
    """delta(epsilon): the claimed line, below it the exact profile of a world and the bound that sampling gives.

    A curve above the claimed line refutes the claim. The sampled curve is a lower bound for the true profile at all
    epsilon at once, with the confidence that the picture states.
    """
    require_matplotlib()
    from podium.present.drawing.curves import Curve, Frame, draw_curves  # noqa: PLC0415 - matplotlib is optional

    report = exact or statistical
    if report is None:
        raise InvalidArgument("exact", None, allowed="an exact report, a statistical one, or both")
    widest = 1.25 * float(report.claimed_epsilon)
    grid = [widest * step / _POINTS for step in range(_POINTS + 1)]
    curves = [Curve("claimed", grid, [max(_FLOOR, float(report.claim.delta(epsilon=at))) for at in grid], best=True)]
    notes = [f"Claim: {report.claim}."]
    if exact is not None:
        points = exact.profile
        curves.append(
            Curve("exact, this world", [at.epsilon for at in points], [max(_FLOOR, at.exact) for at in points])
        )
        notes.append(f"Exact: {exact.world}. {exact.verdict}")
    if statistical is not None:
        bounds = [(at, bound) for at in grid if (bound := _sampled(statistical, at)) > _FLOOR]
        if bounds:
            curves.append(Curve("at least, sampled", [at for at, _ in bounds], [bound for _, bound in bounds]))
        where = "" if bounds else " The bound on delta is 0 everywhere."
        notes.append(f"Sampled: confidence 1 - {statistical.alpha:g}. {statistical.verdict}{where}")
    lowest = min(value for curve in curves for value in curve.y)
    picture = draw_curves(
        f"Audit of {report.subject}",
        curves,
        Frame("epsilon ε", "delta δ", y_scale="log", y_range=(max(_FLOOR, min(lowest / 10, _MAX_FLOOR)), 1.0)),
        notes=notes,
        dark=dark,
    )
    if path is not None:
        picture.save(path)
    return picture


def _sampled(report: StatisticalReport, epsilon: float) -> float:
    """delta is at least this at ``epsilon``."""
    return max((test.p_low - math.exp(epsilon) * test.q_high for test in report.tests), default=0.0)
