"""Gaussian noise that several counts share in part: how far one user moves them, in units of that noise.

The noise has the covariance v I + w 1 1^T. What a user adds to r counts, c, moves them by c^T (v I + w 1 1^T)^-1 c in
squared length: (|c|^2 - b (sum of c)^2)/v with b = w/(v + r w). It is convex in c, so a user who adds from 0 to 1 to at
most m counts moves them farthest by adding 1 to t of them, t one of 0, ..., m (docs/proofs/correlated-counts.md).
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["correlated_move"]


def correlated_move(items: int, max_items: int, variance: Fraction, shared_variance: Fraction) -> Fraction:
    """The largest (t - b t^2)/variance over t up to ``max_items``; exact."""
    tilt = shared_variance / (variance + items * shared_variance)
    # Concave in t: the largest value at an integer is beside the top of the parabola, or at the end.
    top = max_items if tilt == 0 else min(max_items, int(1 / (2 * tilt)))
    return max((t - tilt * t**2) / variance for t in {top, min(top + 1, max_items)})
