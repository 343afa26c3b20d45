"""Prices: by how much one step shrinks what is left of a Gaussian budget. Exact rationals, rounded up.

A price holds for a remainder: at least ``node * a^2`` must be left *after* the step, a being half the width of its
losses (``required_remainder``). Nodes are 0 and powers of two. At node 0 any remainder will do, and the price is about
pi/2 times that of the highest nodes. In docs/proofs/gaussian-filter.md pure steps are Theorem 2, steps of bounded range
Theorem 3 at node 0 and one certificate for each price above it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import flint

from podium.errors import InvalidArgument
from podium.exact import ball
from podium.privacy.gaussian.certified import SLACK, certified_epsilon, certified_nodes
from podium.privacy.gaussian.steps import Step
from podium.privacy.rounding import certified_bound, significant_above

__all__ = ["MAX_NODE", "exact_price", "nodes", "price", "required_remainder"]

MAX_NODE = 1 << 14
"""The price at this node is within a hundred-thousandth of the limit of large nodes."""

_PURE_NODES = (0, *(1 << power for power in range(MAX_NODE.bit_length())))


def nodes(step: Step) -> tuple[int, ...]:
    """The nodes at which a step has a price, from 0 on."""
    if step.kind == "gaussian":
        return (0,)
    if step.kind == "pure":
        return _PURE_NODES
    return (0, *certified_nodes(step.size))


@lru_cache(maxsize=4096)
def required_remainder(step: Step, node: int) -> Fraction:
    """What must be left after the step for its price at this node."""
    if node == 0 or step.kind == "gaussian":
        return Fraction(0)
    return node * _priced_as(step, node).half_width ** 2


def price(step: Step, node: int) -> Fraction:
    """What one step costs if at least ``required_remainder(step, node)`` is left after it."""
    if node not in nodes(step):
        allowed = f"a node at which this step has a proved price: {', '.join(map(str, nodes(step)))}"
        raise InvalidArgument("node", node, allowed=allowed)
    if step.kind == "gaussian":
        return step.size
    priced = _priced_as(step, node)
    found = exact_price(priced.half_width, required_remainder(step, node))
    # The inequality is tight where epsilon is 0, so a certificate needs a little more than the exact price.
    return significant_above(found * (1 + SLACK)) if node and step.kind == "bounded_range" else found


@lru_cache(maxsize=4096)
def exact_price(half_width: Fraction, remainder: Fraction) -> Fraction:
    """``4 z^2 - s``, Phi(-z) being the Bayes error of randomised response next to Gaussian noise of mu^2 = s.

    Rounded up to 64 significant bits.
    """

    def difference() -> flint.arb:
        # Phi(-z) = erfc(z/sqrt 2)/2, so 4 z^2 is 8 times the square of the inverse of erfc at twice the error.
        return 8 * (2 * _bayes_error(half_width, remainder)).erfcinv() ** 2 - ball(remainder)

    return certified_bound(difference, significant_above)


def _bayes_error(half_width: Fraction, remainder: Fraction) -> flint.arb:
    width = ball(half_width)
    share = 1 / (1 + width.exp())
    if remainder == 0:
        return share
    root = ball(remainder).sqrt()
    return share * _normal_cdf(width / root - root / 2) + (1 - share) * _normal_cdf(-width / root - root / 2)


def _normal_cdf(x: flint.arb) -> flint.arb:
    """Phi(x)."""
    return (-x / ball(2).sqrt()).erfc() / 2


def _priced_as(step: Step, node: int) -> Step:
    """A step of bounded range above node 0 has the price of the next larger epsilon that has certificates."""
    larger = certified_epsilon(step.size) if node and step.kind == "bounded_range" else None
    return step if larger is None else Step(step.kind, larger)
