"""Profiles and prices in floats, apart from the product's: what attacks on the Gaussian filter are computed with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

__all__ = ["Floats", "bounded_range_profile", "exact_price", "profile", "two_points"]

Floats = NDArray[np.float64]


def profile(s: float, g: ArrayLike) -> Floats:
    """H at e^g of Gaussian noise of mu^2 = s."""
    g = np.asarray(g, dtype=float)
    if s == 0:
        return np.asarray(np.maximum(0.0, -np.expm1(g)))
    root = np.sqrt(s)
    # As one exponential times a difference, so that tails keep their digits.
    above, below = log_ndtr(root / 2 - g / root), g + log_ndtr(-root / 2 - g / root)
    return np.asarray(-np.exp(above) * np.expm1(below - above))


def exact_price(half_width: float, s: ArrayLike) -> Floats:
    """The price of formula (2) of the proof, at each remainder."""
    s, a = np.asarray(s, dtype=float), half_width
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(s)
        error = (ndtr(a / root - root / 2) + np.exp(a + log_ndtr(-a / root - root / 2))) / (1 + np.exp(a))
    at_zero = 4 * ndtri_exp(-np.logaddexp(0, a)) ** 2
    return np.asarray(np.where(s > 0, 4 * ndtri(error) ** 2 - s, at_zero))


def two_points(epsilon: float, t: ArrayLike) -> Floats:
    """The probability of the loss epsilon - t, where the other loss is -t."""
    return np.asarray(np.expm1(-np.asarray(t, dtype=float)) / np.expm1(-epsilon))


def bounded_range_profile(epsilon: float, g: ArrayLike) -> Floats:
    """H at e^g of the worst pair of bounded range, chosen for this g."""
    g = np.asarray(g, dtype=float)
    inside = np.expm1((np.clip(g, -epsilon, epsilon) - epsilon) / 2) ** 2 / -np.expm1(-epsilon)
    return np.where(g <= -epsilon, -np.expm1(g), np.where(g >= epsilon, 0.0, inside))
