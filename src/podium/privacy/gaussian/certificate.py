"""Certificates that a bounded-range step may be charged one price, each for one epsilon, remainder and price.

A step of bounded range epsilon, followed by anything inside Gaussian noise of mu^2 = s, must stay inside Gaussian
noise of mu^2 = s + m: M <= V, where V is the privacy profile of s + m and M that of the worst step next to s. Both are
convex in x = e^g, and M is known in closed form along a curve of nodes, so the ends of cells and a bound on the
curvature of V prove the inequality in between. All numbers are balls. The proof is in docs/proofs/gaussian-filter.md,
section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint

from podium.exact import ball, ball_precision

__all__ = ["certify"]

_BITS = 128
_UNIT = 1 << 24
"""Nodes lie at integer multiples of this part of a half-width."""
_FIRST = _UNIT >> 7
_MAX_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Node:
    g: flint.arb
    x: flint.arb
    slack: flint.arb
    """V - M."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """The balls of one claim."""

    epsilon: flint.arb
    half: flint.arb
    s: flint.arb
    root: flint.arb
    mu: flint.arb

    def node(self, place: int) -> _Node:
        """The node whose worst step has its interval of losses centred ``place`` units below g."""
        c = self.half * place / _UNIT
        g = 2 * c + (self._window(c + self.s / 2) / self._window(abs(c - self.s / 2))).log()
        t = self.half - (g - c)
        share = (-t).expm1() / (-self.epsilon).expm1()
        worst = share * _profile(self.root, c - self.half) + (1 - share) * _profile(self.root, c + self.half)
        return _Node(g, g.exp(), _profile(self.mu, g) - worst)

    def _window(self, x: flint.arb) -> flint.arb:
        """The probability of an interval around x of one step's width; x is not negative."""
        return _tail((x - self.half) / self.root) - _tail((x + self.half) / self.root)

    def curvature(self, node: _Node) -> flint.arb:
        """The second derivative of V in x at a node: the largest from there on."""
        height = (-((self.mu / 2 + node.g / self.mu) ** 2) / 2).exp() / (2 * flint.arb.pi()).sqrt()
        return height / (self.mu * node.x)

    def end(self) -> flint.arb:
        """From this g on the tail of the Gaussian's loss is above that of every step next to s."""
        reach = (self.epsilon + self.s / 2) / self.root - self.mu / 2
        return reach / (1 / self.root - 1 / self.mu)


def certify(epsilon: Fraction, remainder: Fraction, price: Fraction) -> int | None:
    """In how many cells it is proved that an epsilon-bounded-range step costs at most ``price``; None if it is not.

    The remainder is what is left after the step.
    """
    with ball_precision(_BITS):
        claim = _Claim(
            ball(epsilon), ball(epsilon / 2), ball(remainder), ball(remainder).sqrt(), ball(remainder + price).sqrt()
        )
        return _count_cells(claim)


def _count_cells(claim: _Claim) -> int | None:
    place, width, cells = 0, _FIRST, 0
    left, end = claim.node(0), claim.end()
    while not left.g > end:
        right = claim.node(place + width)
        bound = (right.x - left.x) ** 2 / 8 * claim.curvature(left)
        if left.slack > bound and right.slack > bound:
            place, left, cells = place + width, right, cells + 1
            width += width // 4
        else:
            width //= 2
        if width < 4 or cells > _MAX_CELLS:
            return None
    return cells


def _profile(mu: flint.arb, g: flint.arb) -> flint.arb:
    """V at x = e^g: the privacy profile of N(mu, 1) against N(0, 1)."""
    return _tail(g / mu - mu / 2) - g.exp() * _tail(g / mu + mu / 2)


def _tail(x: flint.arb) -> flint.arb:
    """1 - Phi(x)."""
    return (x / flint.arb(2).sqrt()).erfc() / 2
