"""Prices: what a question may use by the owner's plan, and the least that it must cost. Only public facts decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from podium.curator.asking import Asked
from podium.errors import InvalidArgument, PodiumError
from podium.exact import Number, exact_fraction
from podium.ledger import Totals
from podium.planning.facts import Facts
from podium.planning.plan import Allowance, GaussianAllowance, allowance_for
from podium.privacy import bounded_range_rho, calibrate_sigma, worst_case
from podium.privacy.rounding import display

__all__ = ["allowance", "priced"]

_TRIES = 8
_DIGITS = Context(prec=2, rounding=ROUND_CEILING)


def allowance(totals: Totals, facts: Facts, epsilon: Number | None) -> Allowance | GaussianAllowance:
    """What the plan gives a question like this, or what its own epsilon does."""
    pure = totals.budget.pure
    if pure and facts.domain_size is None:
        raise InvalidArgument(
            "domain",
            None,
            allowed="a known domain, because the budget of this data set is pure (delta=0)",
            hint="State the items (domain=... or domain_size=...), or register a budget with a delta.",
        )
    if epsilon is not None:
        # Half of it is for the call, whose own parameter is then the planned one.
        delta = 2 * totals.delta_per_call / (1 + totals.delta_per_call)
        return replace(allowance_for(facts, epsilon=epsilon, delta=delta), promise=None, theorem=None)
    single = totals.epsilon_per_item
    if facts.adaptive:
        # What k selections would cost, and as much again for counts, as without rounds.
        rho = facts.k * bounded_range_rho(single) * (2 if facts.counts else 1)
        delta = totals.delta_per_call / (1 + totals.delta_per_call)
        return GaussianAllowance(mu_squared=2 * rho, delta=delta, per_item=single)
    if not facts.counts:
        return Allowance(epsilon_per_item=single, delta_per_call=totals.delta_per_call, pure=pure)
    if pure:
        return Allowance(epsilon_per_item=single, epsilon_per_count=single, pure=True)
    sigma = calibrate_sigma(bounded_range_rho(single))
    return Allowance(epsilon_per_item=single, delta_per_call=totals.delta_per_call, sigma=sigma)


def priced(totals: Totals, epsilon: Number | None, ask: Callable[[Number | None], Asked]) -> Asked:
    """The question with its plan, if it costs the least price; refused with the least epsilon that would do."""
    asked = ask(epsilon)
    price = _price(totals, asked)
    if epsilon is None or price >= totals.least:
        return asked
    enough = _enough(totals, exact_fraction(epsilon, "epsilon"), price, ask)
    part = "1/20 of the epsilon" if totals.budget.pure else "1/400 of the rho"
    raise InvalidArgument(
        "epsilon",
        epsilon,
        allowed="an epsilon that is worth the least price of a question" if enough is None else f"{enough} or more",
        hint=f"A question about this data set costs at least {_measure(totals)} {display(totals.least)}, {part} that "
        "its owner's plan has for one item.",
    )


def _price(totals: Totals, asked: Asked) -> Fraction:
    return totals.price(worst_case(asked.plan.worst_case))


def _measure(totals: Totals) -> str:
    return "epsilon" if totals.budget.pure else "rho"


def _enough(
    totals: Totals, epsilon: Fraction, price: Fraction, ask: Callable[[Number | None], Asked]
) -> Decimal | None:  # fmt: skip
    """An epsilon of two digits with which the question is not too cheap: a price grows with epsilon, or its square."""
    for _ in range(_TRIES):
        ratio = totals.least / price if price else Fraction(4)
        epsilon *= ratio if totals.budget.pure else Fraction(math.isqrt(math.ceil(ratio * 10**6)) + 1, 10**3)
        enough = _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
        try:
            price = _price(totals, ask(str(enough)))
        except PodiumError:
            return None
        if price >= totals.least:
            return enough
        epsilon = Fraction(enough)
    return None
