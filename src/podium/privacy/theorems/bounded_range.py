"""Bounded range: what one selection by the exponential mechanism costs.

A mechanism is epsilon-bounded-range if its log-likelihood ratios on neighbours fit in an interval of length
epsilon (Durfee & Rogers 2019, Definition 4.2). That is stronger than epsilon-DP, where they fit in one of
length 2*epsilon, and it is why a selection costs about a quarter of what its epsilon suggests.

With ``S(v) = ln(sinh(v/2) / (v/2))`` the worst pair of order ``1 + a`` has the divergence
``((a+1) S((a+1) epsilon) - a S(a epsilon) - S(epsilon)) / a``, and the limit at a = 0 is the zCDP constant.
Both are proved in docs/proofs/accounting.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import flint

from podium.exact import Number, ball, positive_fraction
from podium.privacy.rounding import GRID_BITS, above, certified_bound

__all__ = ["bounded_range_renyi", "bounded_range_rho", "bounded_range_rho_simple"]


def bounded_range_rho(epsilon: Number) -> Fraction:
    """Tight zCDP constant of one epsilon-bounded-range mechanism, rounded up to a multiple of 2^-64.

    Theorem: it is rho-zCDP with ``rho = x - 1 - ln x``, ``x = epsilon / (e^epsilon - 1)``, and with no smaller
    rho (Kullback-Leibler divergence of the worst pair; docs/proofs/accounting.md).
    """
    return _rho(positive_fraction(epsilon, "epsilon"))


def bounded_range_rho_simple(epsilon: Number) -> Fraction:
    """The simpler bound epsilon^2/8 (Hoeffding's lemma; Cesar & Rogers 2021), exact."""
    return positive_fraction(epsilon, "epsilon") ** 2 / 8


@lru_cache(maxsize=4096)
def _rho(epsilon: Fraction) -> Fraction:
    simple = epsilon**2 / 8
    # Far below the grid x - 1 - ln x cancels completely, and the answer is one grid step either way.
    if simple <= Fraction(1, 2**GRID_BITS):
        return above(simple)
    return certified_bound(lambda: _kullback_leibler(ball(epsilon)), above)


def _kullback_leibler(epsilon: flint.arb) -> flint.arb:
    # -ln x = epsilon + ln(1 - e^-epsilon) - ln epsilon, written so that nothing overflows for large epsilon.
    decay = (-epsilon).exp()
    gap = -(-epsilon).expm1()
    return epsilon * decay / gap - 1 + epsilon + gap.log() - epsilon.log()


def bounded_range_renyi(epsilon: flint.arb, excess: flint.arb) -> flint.arb:
    """Renyi divergence of order ``1 + excess`` of the worst epsilon-bounded-range pair, as a ball.

    The worst pair has loss ``epsilon - t`` with probability ``(1 - e^-t)/(1 - e^-epsilon)`` and ``-t``
    otherwise; the supremum over t has the closed form above. The linear parts of S cancel up to
    ``excess * epsilon`` and are taken out, so that large orders do not overflow.
    """
    order = excess + 1
    parts = order * _tail(order * epsilon) - excess * _tail(excess * epsilon) - _tail(epsilon)
    return epsilon + parts / excess


def _tail(value: flint.arb) -> flint.arb:
    """``S(v) - v/2 = ln((1 - e^-v) / v)``."""
    return (-(-value).expm1() / value).log()
