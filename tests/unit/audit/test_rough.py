"""The first look in floats agrees with the balls, and says nothing where it cannot know."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from podium.audit.exact.claims import Kind, comparison
from podium.audit.exact.divergence import PRECISION, extreme_ratios, renyi
from podium.audit.exact.rough import MARGIN, OutcomeTable, log_ratios, paired_values, renyi_divergences
from podium.exact import ball, ball_precision
from podium.privacy.guarantee import Guarantee

ORDERS = (Fraction(5, 4), Fraction(2), Fraction(64))


def drawn(generator: random.Random, outcomes: str, largest: int = 10**6) -> dict[str, flint.arb]:
    weights = {outcome: generator.randint(1, largest) for outcome in generator.sample(outcomes, len(outcomes))}
    with ball_precision(PRECISION):
        return {outcome: ball(Fraction(weight, sum(weights.values()))) for outcome, weight in weights.items()}


@pytest.mark.parametrize("shared", [True, False])
def test_floats_agree_with_balls(shared: bool) -> None:
    generator, table = random.Random(7), OutcomeTable()  # noqa: S311 - nothing is released
    for largest in (2, 10**6, 10**200):
        p: Any = drawn(generator, "abcdef", largest)
        q: Any = drawn(generator, "abcdef", largest)
        if shared:
            p, q = table.tabulate(p), table.tabulate(q)
        here, there = paired_values(p, q)
        assert here.tolist() == [float(x) for x in p.values()]
        assert there.tolist() == [float(q[outcome]) for outcome in p]
        ratios, divergences = log_ratios(p, q), renyi_divergences(p, q, np.array([float(order) for order in ORDERS]))
        assert ratios is not None
        assert divergences is not None
        exact = [float((x / q[outcome]).log()) for outcome, x in p.items()]
        assert ratios == pytest.approx(exact, abs=MARGIN / 10)
        assert divergences.tolist() == pytest.approx([float(renyi(p, q, order)) for order in ORDERS], abs=MARGIN / 10)
        (_, low), (_, high) = extreme_ratios(p, q)
        assert (float(low), float(high)) == pytest.approx((min(exact), max(exact)), abs=1e-12)


@pytest.mark.parametrize(
    "there",
    [
        {"a": flint.arb(1)},
        {"a": flint.arb(0.5), "b": flint.arb(0)},
        {"a": flint.arb(0.5), "b": flint.arb(0.25), "c": flint.arb(0.25)},
        {"a": flint.arb(0.5), "b": flint.arb(0.5, 2.0**-30)},
        {"a": flint.arb(1), "b": flint.arb(2) ** -1000},
        {"a": flint.arb(1), "b": flint.arb(2) ** -2000},
    ],
)
def test_floats_say_nothing_about_outcomes_that_they_do_not_know_well(there: dict[str, flint.arb]) -> None:
    here = {"a": flint.arb(0.5), "b": flint.arb(0.5)}
    for p, q in ((here, there), (there, here)):
        assert log_ratios(p, q) is None
        assert renyi_divergences(p, q, np.array([2.0])) is None


@pytest.mark.parametrize("tabulated", [True, False])
@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        (Fraction(1), "pure"),
        (Fraction(2), "bounded_range"),
        (Guarantee.pure(1), "guarantee"),
        (Guarantee.zcdp("0.4420850894864946"), "guarantee"),
    ],
)
def test_a_claim_within_the_margin_is_left_to_the_balls(claim: Any, kind: Kind, tabulated: bool) -> None:
    """Randomised response meets these claims with equality: 1e-11 more is caught, which no float may decide."""
    table = OutcomeTable()
    for more, kept in ((-Fraction(1, 10**11), True), (Fraction(0), True), (Fraction(1, 10**11), False)):
        with ball_precision(PRECISION):
            yes = 1 / (1 + (-ball(1 + more)).exp())
            p: Any = {"yes": yes, "no": 1 - yes}
            q: Any = {"no": yes, "yes": 1 - yes}
        if tabulated:
            p, q = table.tabulate(p), table.tabulate(q)
        assert comparison(claim, kind)(p, q).violated is not kept
