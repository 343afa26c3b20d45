"""Estimates: what releases say about counts. Post-processing is free; a fresh measurement is paid and honest.

``MeasureTogether`` measures the selected counts in one release, ``MeasureCounts`` one by one, which is what a pure
budget holds. Their noise is fresh, so their intervals hold whatever was selected.
``blue`` and ``gap_estimates`` get more out of the free gaps, but what was selected has lucky noise, so
they are biased upwards; ``lower_bounds`` keeps its confidence only before selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.late_names import late_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from podium.estimates.gaps import gap_confidence, gap_estimates, gap_margin, lower_bounds
    from podium.estimates.linear import Estimate, blue, blue_error_ratio, gap_noise_ratio, inverse_variance
    from podium.estimates.measure import Interval, MeasureCounts, selected_items
    from podium.estimates.others import MeasureOthers
    from podium.estimates.together import MeasureTogether

__all__ = [
    "Estimate",
    "Interval",
    "MeasureCounts",
    "MeasureOthers",
    "MeasureTogether",
    "blue",
    "blue_error_ratio",
    "gap_confidence",
    "gap_estimates",
    "gap_margin",
    "gap_noise_ratio",
    "inverse_variance",
    "lower_bounds",
    "selected_items",
]

__getattr__: Callable[[str], object] = late_names(
    __name__,
    {
        "Estimate": "linear",
        "Interval": "measure",
        "MeasureCounts": "measure",
        "MeasureOthers": "others",
        "MeasureTogether": "together",
        "blue": "linear",
        "blue_error_ratio": "linear",
        "gap_confidence": "gaps",
        "gap_estimates": "gaps",
        "gap_margin": "gaps",
        "gap_noise_ratio": "linear",
        "inverse_variance": "linear",
        "lower_bounds": "gaps",
        "selected_items": "measure",
    },
)
