"""An attack on the Gaussian filter: the largest H that any analyst can force, by dynamic programming.

The analyst sees every answer and chooses the next step freely: a selection of bounded range with any place of its
interval of losses on a lattice, randomised response, or Gaussian noise with all that is left. States are what is left
and g, the level less the loss so far. Both are rounded against the analyst, so every value can really be forced. What
is found is compared with the promise, V of what is left: a rule of pricing is refuted where it is larger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from bench.ledger.profiles import Floats, exact_price, profile, two_points

__all__ = ["PROVED", "RULES", "Attack", "Rule"]

Rule: TypeAlias = Callable[[float, Floats, "Attack"], Floats]
"""What remains after a step of this half-width, for each of what was left before it; below 0 if it is refused."""


@dataclass(frozen=True, slots=True)
class Attack:
    """Where the attack looks: epsilons are multiples of ``step``, what is left is one of ``levels`` multiples."""

    epsilons: Sequence[float]
    step: float
    most: float
    levels: int
    pure: bool = True

    @property
    def lattice(self) -> Floats:
        """All that may be left."""
        return np.linspace(0, self.most, self.levels)

    def excess(self, rule: Rule) -> float:
        """The largest forced H over the promised one, minus 1, over all levels and all g from 0 on."""
        lattice, reach = self.lattice, round(max(self.epsilons) / self.step)
        # Losses beyond these are left out, which only makes the attack weaker.
        below, above = 3 * reach, max(3 * reach, round(6 * self.most**0.5 / self.step))
        g = self.step * np.arange(-below - reach, above + reach + 1)
        values = np.zeros((self.levels, len(g)))
        inner = slice(reach, len(g) - reach)
        judged = g[inner] >= 0
        moves = [move for epsilon in self.epsilons for move in self._moves(epsilon, rule)]
        worst = -1.0
        for level, left in enumerate(lattice):
            best = promised = profile(left, g)
            forced = np.zeros(len(g) - 2 * reach)
            for after, chances, offsets in moves:
                if after[level] >= 0:
                    np.maximum(forced, _forced(values[after[level]], chances, offsets, reach), out=forced)
            seen = judged & (promised[inner] > 1e-14)
            worst = max(worst, float(np.max(forced[seen] / promised[inner][seen], initial=0.0)) - 1)
            best = promised.copy()
            best[inner] = np.maximum(best[inner], forced)
            values[level] = best
        return worst

    def _moves(self, epsilon: float, rule: Rule) -> list[tuple[np.ndarray, Floats, tuple[int, int]]]:
        """Levels after the step, chances of the larger loss, and by how much g falls at most and rises at least."""
        width = round(epsilon / self.step)
        chances = two_points(epsilon, self.step * np.arange(width + 1))
        found = [(self._after(epsilon / 2, rule), chances, (width, 0))]
        if self.pure:
            response = np.array([1 / (1 + np.exp(-epsilon))])
            found.append((self._after(epsilon, rule), response, (width, width)))
        return found

    def _after(self, half_width: float, rule: Rule) -> np.ndarray:
        spacing = self.most / (self.levels - 1)
        left = np.floor(rule(half_width, self.lattice, self) / spacing * (1 + 1e-12)).astype(int)
        return np.asarray(np.maximum(left, -1))


def _forced(after: Floats, chances: Floats, offsets: tuple[int, int], reach: int) -> Floats:
    """The best of the two-point steps: the i-th has the losses width - i and -i, or width and -width if it is alone."""
    width, rise = offsets
    windows = np.lib.stride_tricks.sliding_window_view(after, len(after) - 2 * reach)
    count = len(chances)
    larger = windows[reach - width : reach - width + count]
    smaller = windows[reach + rise : reach + rise + count]
    return np.asarray(np.max(chances[:, None] * larger + (1 - chances)[:, None] * smaller, axis=0))


def _by_what_is_left(
    half_width: float, before: Floats, attack: Attack, *, share: float = 1, nodes: bool = False
) -> Floats:
    """The rule of the proof: the largest lattice point that is left after its own price."""
    lattice, unit = attack.lattice, half_width**2
    at = lattice
    if nodes:
        with np.errstate(divide="ignore"):
            power = np.floor(np.log2(lattice / unit))
        at = np.where(power >= 0, unit * 2.0 ** np.minimum(power, 14), 0.0)
    needed = lattice + share * exact_price(half_width, at)
    # Between nodes more that is left costs more; at a node it can cost less, so the last that fits is looked for.
    fitting = np.minimum.accumulate(needed[::-1])[::-1]
    place = np.searchsorted(fitting, before, side="right") - 1
    return np.where(place >= 0, lattice[np.maximum(place, 0)], -1.0)


def _constant(half_width: float, before: Floats, attack: Attack, *, price: Callable[[float, float], float]) -> Floats:
    return before - price(half_width, attack.most)


def _by_what_was_left(half_width: float, before: Floats, attack: Attack) -> Floats:
    return before - exact_price(half_width, before)


def _twice_rho(half_width: float, _: float) -> float:
    x = 2 * half_width / np.expm1(2 * half_width)
    return float(2 * (x - 1 - np.log(x)))


RULES: dict[str, Rule] = {
    "what is left after the step": _by_what_is_left,
    "the same, at nodes": partial(_by_what_is_left, nodes=True),
    "99 % of it": partial(_by_what_is_left, share=0.99),
    "a^2": partial(_constant, price=lambda a, _: a**2),
    "2 rho": partial(_constant, price=_twice_rho),
    "what was left before the step": _by_what_was_left,
    "the whole budget": partial(_constant, price=lambda a, most: float(exact_price(a, most))),
}
"""What a step is priced by."""

PROVED = tuple(RULES)[:2]
"""The others are wrong on purpose."""
