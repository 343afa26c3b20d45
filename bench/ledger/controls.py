"""What goes wrong where a condition of the ledger is left out: H that is forced, over H that was promised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.ledger.profiles import Floats, bounded_range_profile, exact_price, profile, two_points

__all__ = ["cancelled", "in_reverse", "quoted_early", "session", "uncharged"]

_NODES = np.linspace(-12, 12, 4001)
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()


def session(epsilon: float, node: float, deviations: float, *, at_zero: bool = False) -> float:
    """A selection reserved at the price of its remainder s, run last and chosen after Gaussian noise of mu^2 = s."""
    a, s = epsilon / 2, node * (epsilon / 2) ** 2
    price = float(exact_price(a, 0 if at_zero else s))
    g = deviations * np.sqrt(s + price)
    return _after_noise(s, g, lambda rest: bounded_range_profile(epsilon, rest)) / float(profile(s + price, g))


def cancelled(epsilon: float, node: float, *, at_zero: bool = False) -> float:
    """The same with a selection that is fixed, but run or cancelled, with a refund, as answers on the way suggest."""
    a, s = epsilon / 2, node * (epsilon / 2) ** 2
    price = float(exact_price(a, 0 if at_zero else s))
    worst = 0.0
    for t in np.linspace(0, epsilon, 21):
        chance = two_points(epsilon, t)

        def suits(rest: Floats, t: float = t, chance: Floats = chance) -> Floats:
            run = chance * profile(0, rest - epsilon + t) + (1 - chance) * profile(0, rest + t)
            return np.maximum(run, profile(price, rest))

        for g in np.sqrt(s + price) * np.linspace(0, 5, 11):
            worst = max(worst, _after_noise(s, g, suits) / float(profile(s + price, g)))
    return worst


def in_reverse(first: float, second: float) -> float:
    """Two selections of one call, reserved in one order and run in the other, with nothing left after them."""
    small, large = sorted((first, second))
    reserved = float(exact_price(small / 2, 0))
    reserved += float(exact_price(large / 2, reserved))
    worst = 0.0
    for g in np.linspace(0, large, 41):
        forced = 0.0
        for t in np.linspace(0, small, 41):
            chance = two_points(small, t)
            up, down = (float(bounded_range_profile(large, g + move)) for move in (t - small, t))
            forced = max(forced, float(chance * up + (1 - chance) * down))
        worst = max(worst, forced / float(profile(reserved, g)))
    return worst


def uncharged(epsilon: float, budget: float, total: float) -> float:
    """H at e^total of randomised response that was not charged to the budget, and then noise of all of it."""
    chance = 1 / (1 + np.exp(-epsilon))
    return float(chance * profile(budget, total - epsilon) + (1 - chance) * profile(budget, total + epsilon))


def quoted_early(epsilon: float, budget: float) -> float:
    """One selection over what its price alone would promise, at g = 0."""
    price = float(exact_price(epsilon / 2, budget))
    return float(bounded_range_profile(epsilon, 0.0)) / float(profile(price, 0.0))


def _after_noise(s: float, g: float, rest: Callable[[Floats], Floats]) -> float:
    """The mean of what can be forced once Gaussian noise has shown its loss, by the trapezoidal rule."""
    return float(_WEIGHTS @ rest(g - (s / 2 + np.sqrt(s) * _NODES)))
