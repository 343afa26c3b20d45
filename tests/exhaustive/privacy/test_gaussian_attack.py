"""The attack of ``python -m bench ledger``, coarser: it comes up to the proved prices, and refutes every other rule."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from bench.ledger.attack import PROVED, RULES, Attack
from bench.ledger.controls import cancelled, in_reverse, quoted_early, session, uncharged
from bench.ledger.profiles import bounded_range_profile, exact_price, profile, two_points

from podium.privacy import gaussian_delta
from podium.privacy.gaussian.certificate import certify
from podium.privacy.gaussian.prices import exact_price as price_of_the_product
from podium.privacy.theorems import recursion

SMALL = Attack((0.1, 0.2, 0.4), step=0.02, most=0.06, levels=601)
LARGE = Attack((0.5, 1.0, 2.0), step=0.1, most=4.0, levels=401)
REFUTED = {
    "99 % of it": 0.004,
    "a^2": 0.44,
    "2 rho": 0.45,
    "what was left before the step": 0.28,
    "the whole budget": 0.40,
}
"""By how much each rule is passed at least."""


@pytest.mark.parametrize("attack", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("rule", PROVED)
def test_proved_prices_are_reached_and_not_passed(rule: str, attack: Attack) -> None:
    assert -1e-3 < attack.excess(RULES[rule]) <= 1e-9


def test_every_rule_is_proved_or_refuted() -> None:
    assert {*PROVED, *REFUTED} == set(RULES)


@pytest.mark.parametrize("rule", REFUTED)
def test_other_prices_are_refuted(rule: str) -> None:
    assert SMALL.excess(RULES[rule]) > REFUTED[rule]


def test_the_floats_of_the_attack_are_the_product_s_numbers() -> None:
    for half, s in ((0.05, 0.0), (0.05, 0.01), (1.0, 4.0)):
        exact = price_of_the_product(Fraction(str(half)), Fraction(str(s)))
        assert float(exact_price(half, s)) == pytest.approx(float(exact), rel=1e-9)
    for s, g in ((0.25, 0.5), (0.06, 1.0), (4.0, 0.0)):
        assert float(profile(s, g)) == pytest.approx(float(gaussian_delta(str(s), str(g))), rel=1e-9)
    places = np.linspace(0, 0.4, 4001)
    for g in (-0.2, 0.0, 0.1, 0.3):
        forced = two_points(0.4, places) * profile(0, g - 0.4 + places)
        forced += (1 - two_points(0.4, places)) * profile(0, g + places)
        assert float(bounded_range_profile(0.4, g)) == pytest.approx(float(forced.max()), rel=1e-6)


@pytest.mark.parametrize(
    ("node", "deviations", "known"),
    [(1, 0, 1.068), (4, 2, 1.124), (16, 4, 1.109)],
)
def test_a_session_at_one_shot_prices_passes_the_promise(node: int, deviations: float, known: float) -> None:
    assert session(0.4, node, deviations) == pytest.approx(known, abs=0.001)
    assert session(0.4, node, deviations, at_zero=True) < 1


def test_refunds_for_what_did_not_start_pass_the_promise() -> None:
    assert cancelled(0.4, 1) == pytest.approx(1.099, abs=0.001)
    assert cancelled(0.4, 8) == pytest.approx(1.122, abs=0.001)
    assert cancelled(0.4, 8, at_zero=True) <= 1 + 1e-9


def test_other_conditions() -> None:
    assert in_reverse(0.4, 0.2) == pytest.approx(1.037, abs=0.001)
    assert uncharged(0.99, 0.05603, 1) == pytest.approx(6.5e-2, abs=1e-3)
    assert quoted_early(0.1, 0.25) == pytest.approx(math.sqrt(math.pi / 2), abs=0.002)


def test_the_worst_pair_of_a_certificate_is_the_worst_of_all_places() -> None:
    """The closed form of the certificate, against the largest of many places: lower prices fail for both alike."""
    epsilon, s = 0.4, 0.04
    places = np.linspace(0, epsilon, 801)
    m = float(exact_price(epsilon / 2, s))
    for g in (0.0, 0.1, 0.3, 0.6):
        forced = two_points(epsilon, places) * profile(s, g - epsilon + places)
        forced += (1 - two_points(epsilon, places)) * profile(s, g + places)
        assert float(forced.max()) <= float(profile(s + m, g)) * (1 + 1e-12)
    assert certify(Fraction("0.4"), Fraction("0.04"), Fraction(str(m * 1.0001))) is not None
    assert certify(Fraction("0.4"), Fraction("0.04"), Fraction(str(m * 0.9999))) is None


@pytest.mark.parametrize(("epsilon", "node"), [("0.4", 1), ("0.1", 16), ("2", 4)])
def test_the_recursion_of_the_accountant_reaches_the_price_and_does_not_pass_it(epsilon: str, node: int) -> None:
    """One selection next to noise, by code that knows nothing of prices and rounds up: the finer, the closer."""
    half = float(epsilon) / 2
    s = node * half**2
    m = float(exact_price(half, s))
    coarse, fine = (_passed(Fraction(epsilon), s, m, nodes) for nodes in (24, 96))
    assert 0 < fine < 1e-4
    assert coarse > 10 * fine
    assert _passed(Fraction(epsilon), s, 0.99 * m, 96) > 10 * fine


def _passed(epsilon: Fraction, s: float, m: float, nodes: int) -> float:
    """The largest of one step of the recursion over the promise, minus 1, at all nodes up to five deviations."""
    count = round(5 * math.sqrt(s + m) / float(epsilon) * nodes)
    g = float(epsilon) / nodes * np.arange(-nodes, count + nodes + 1)
    constants, scratch = recursion._Constants.of(epsilon, nodes), recursion._Scratch.of(nodes, count + 1)
    found = recursion._advance(constants, profile(s, g), scratch, count + 1)
    return float(np.max(found / profile(s + m, g[nodes:-nodes]))) - 1
