"""What the monitor bench is judged by: the means of one run, and no more than what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.goals import Goal

__all__ = ["goals"]

_OURS = "TopKMonitor"
_EVENLY = ("Curator.top, sums split evenly", "podium.top, epsilon split evenly")
_SPREAD = -0.01


def goals(cells: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """Two streams of growing windows, and every stream beside the better of the ways that split the budget evenly."""
    recall = {(cell["stream"], cell["strategy"]): cell["recall"] for cell in cells}
    leads = {
        stream: recall[stream, _OURS] - max(recall[stream, way] for way in _EVENLY)
        for stream in dict.fromkeys(stream for stream, _ in recall)
    }
    worst = min(leads, key=lambda stream: leads[stream])
    return [
        _at_least("12 growing months", recall.get(("drifting, 12 months, growing", _OURS)), 0.90),
        # What 52 weeks of the same year came to when every week was measured.
        _at_least("365 growing days", recall.get(("drifting, 365 days, growing", _OURS)), 0.496),
        Goal(
            "mean recall - best even split: every stream",
            f">= {_SPREAD}",
            leads[worst],
            leads[worst] >= _SPREAD,
            worst,
        ),
    ]


def _at_least(what: str, measured: float | None, wanted: float) -> Goal:
    met = None if measured is None else measured >= wanted
    return Goal(f"mean recall: {what}", f">= {wanted:.3g}", measured, met, _OURS)
